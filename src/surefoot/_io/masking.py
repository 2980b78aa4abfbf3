"""Addresses of databases without their passwords, fit to be shown."""

from __future__ import annotations

import re

_USER_INFO = re.compile(r"(\b[a-z][a-z0-9+.\-]*://[^/:@\s'\"]*):[^\s'\"]*@", re.I)
_PARAMETER = re.compile(r"([?&](?:ssl)?password=)[^&\s'\"]*", re.I)


def masked(text: str) -> str:
    """The same text, passwords in addresses replaced by ``***``.

    Examples
    --------
    >>> masked("postgresql://ann:secret@host/db?sslmode=require")
    'postgresql://ann:***@host/db?sslmode=require'
    >>> masked("sqlite:///runs.db")
    'sqlite:///runs.db'
    """
    return _PARAMETER.sub(r"\1***", _USER_INFO.sub(r"\1:***@", text))

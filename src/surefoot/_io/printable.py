"""Names from outside, fit to be shown: control characters and marks escaped, long ones cut in the middle."""

from __future__ import annotations

from typing import Any


def printable(name: object, most: int = 60) -> str:
    """A name in one line of visible characters.

    Examples
    --------
    >>> printable("a\\nb" + chr(0x202E))
    'a\\\\nb\\\\u202e'
    >>> printable("abcdefgh", 5)
    'ab…gh'
    """
    whole = str(name)
    # escaping makes text longer, never shorter: what is cut away need not be escaped
    text = whole if len(whole) <= 2 * most else whole[:most] + whole[-most:]
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    half = (most - 1) // 2
    return text if len(text) <= most and len(whole) <= most else f"{text[:half]}…{text[-(most - 1 - half) :]}"


def printable_value(value: Any) -> str:
    """A value from outside, quoted if it is text."""
    return f"'{printable(value)}'" if isinstance(value, str) else printable(repr(value))

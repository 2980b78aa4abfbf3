"""JSON as text, parsed with its nesting checked."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.files.damage import brief
from surefoot.files.source import BadFile

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.S)
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def parse_json(name: str, content: bytes, what: str, *, hint: str = "", row: int | None = None) -> Any:
    """What JSON text says; ``what`` begins the sentence about text that is none."""
    try:
        check_nesting(content)
        return json.loads(content, object_pairs_hook=_distinct)
    except _Twice as error:
        raise BadFile(str(error), row=row, hint="rename one", file=name) from None
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{what} ({brief(error)})", row=row, hint=hint, file=name) from None


class _Twice(ValueError):
    """An object that names a value twice."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose values are named once: of two, the last would silently win."""
    found = dict(pairs)
    if len(found) < len(pairs):
        known: set[str] = set()
        for name, _ in pairs:
            if name in known:
                raise _Twice(f"an object names '{printable(name)}' twice")
            known.add(name)
    return found


def check_nesting(content: bytes) -> None:
    """Raise ``ValueError`` if lists and objects lie within each other deeper than they may."""
    if content.count(b"[") + content.count(b"{") <= limits.NESTING:
        return
    brackets = np.frombuffer(_STRING.sub(b"", content).translate(None, _OTHERS), dtype=np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    if len(steps) and int(np.cumsum(steps).max()) > limits.NESTING:
        raise ValueError(f"more than {limits.NESTING} levels of lists and objects within each other")

"""Quotes in delimited text: where a quoted cell has line breaks in it, and whether its quote is closed."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

#: A quoted cell: a quote where a cell begins, up to the one that closes it, or to the end. Others are plain characters.
_CELL = rb'(?:(?<=[%s\r\n])|\A)"(?:[^"]++|"")*+("|\Z)'
_ANY = re.compile(_CELL % rb",;\t|")
#: What comes before a quote that opens a cell, or within a quoted cell before the second of two; and bytes in one look.
_BEFORE = np.isin(np.arange(256), [*b',;\t|\r\n"'])
_SOME = 1 << 22


class Swallowed(NamedTuple):
    """Rows that would be read as a part of one cell: where it begins, and what is wrong with its quote."""

    start: int
    #: Line breaks before it that end a row.
    rows: int
    why: str


def find_swallowed(piece: bytes, delimiter: str) -> Swallowed | None:
    """The first cell over several lines whose quote is not closed, or is closed within a cell.

    Examples
    --------
    >>> find_swallowed(b'1,"a"\\n2,"b\\n3,c\\n', ",").rows
    1
    >>> find_swallowed(b'1,"a\\nb"\\n2,5" pipe\\n', ",")
    """
    pattern = re.compile(_CELL % re.escape(delimiter.encode()))
    after = (delimiter.encode(), b"\r", b"\n", b"")
    within = 0
    for cell in pattern.finditer(piece):
        breaks = cell[0].count(b"\n")
        why = "" if cell[1] else "is never closed"
        if breaks and not why and piece[cell.end() : cell.end() + 1] not in after:
            why = "is closed by one within another cell"
        if why:
            return Swallowed(cell.start(), piece.count(b"\n", 0, cell.start()) - within, why)
        within += breaks
    return None


def alternate(piece: Any) -> bool:
    """Whether quotes open and close by turns, as where none stands within a plain cell: then counting them is enough.

    Examples
    --------
    >>> alternate(b'1,"a ""b"" c"\\n2,"d"'), alternate(b'1,5" pipe\\n2,"d"')
    (True, False)
    """
    held = np.frombuffer(piece, np.uint8)
    before = 0
    for start in range(0, len(held), _SOME):
        quotes = start + np.flatnonzero(held[start : start + _SOME] == ord('"'))
        opening = quotes[before % 2 :: 2]
        if not (_BEFORE[held[opening - 1]] | (opening == 0)).all():
            return False
        before += len(quotes)
    return True


def open_from(piece: bytes | bytearray) -> int:
    """Where a quoted cell begins that is not closed in this piece, whatever separates cells; -1 if there is none."""
    return next((cell.start() for cell in _ANY.finditer(piece) if not cell[1]), -1)

"""Quotes in delimited text: where a quoted cell has line breaks in it, and whether its quote is closed."""

from __future__ import annotations

import re
from typing import NamedTuple

#: A quoted cell: a quote where a cell begins, up to the one that closes it, or to the end. Others are plain characters.
_CELL = rb'(?:(?<=[%s\r\n])|\A)"(?:[^"]++|"")*+("|\Z)'
_ANY = re.compile(_CELL % rb",;\t|")


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


def open_from(piece: bytes | bytearray) -> int:
    """Where a quoted cell begins that is not closed in this piece, whatever separates cells; -1 if there is none."""
    return next((cell.start() for cell in _ANY.finditer(piece) if not cell[1]), -1)

"""Ids, groups and slices as text, to the character, whatever a file's column was taken for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from surefoot.files.delimited import DelimitedFile
from surefoot.files.json_lines import JsonLinesFile
from surefoot.files.partitions import PartitionFile
from surefoot.files.source import Source

#: A whole number as a program writes it, which no other text stands for.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,14}")


def whole_numbers(names: Iterable[Any]) -> dict[str, int] | None:
    """Slices that are all whole numbers, by their text; None if any other is among them, such as 007 or 1.0.

    Examples
    --------
    >>> whole_numbers(["10", "9"]), whole_numbers(["10", "09"])
    ({'10': 10, '9': 9}, None)
    """
    held = [str(name) for name in names]
    return {name: int(name) for name in held} if held and all(map(_WHOLE.fullmatch, held)) else None


def keep_as_written(sources: Iterable[Source], name: str) -> None:
    """Read a column of text files as it is written, and not as what it looks like."""
    for source in sources:
        rows = source.rows if isinstance(source, PartitionFile) else source
        if isinstance(rows, DelimitedFile | JsonLinesFile):
            rows.verbatim |= {name}


def text_of_ids(column: Any) -> list[str]:
    """The ids of a column. A missing one is the empty text; 7 and 7.0 are "7", and "007" is another.

    Some programs write text as bytes, which are the same ids.

    Examples
    --------
    >>> import pyarrow as pa
    >>> text_of_ids(pa.array([7.0, 0.5, None])), text_of_ids(pa.array(["7", "007", ""]))
    (['7', '0.5', ''], ['7', '007', ''])
    >>> text_of_ids(pa.array([b"7", b"\\xff"]))
    ['7', '\\\\xff']
    """
    return [text_of_id(value) for value in column.to_pylist()]


def text_of_id(value: Any) -> str:
    """An id as text; see :func:`text_of_ids`."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and value.is_integer():
        # whole numbers beside a missing one are kept as floats by some
        return str(int(value))
    return str(value)

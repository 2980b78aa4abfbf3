"""Tables as CSV files: the paper's as they are printed, percentages as fractions, and ours."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from surefoot._io.writing import write_whole

#: A table: its rows by what they are of, and the numbers of each.
Cells = dict[tuple[str, ...], dict[str, float]]


def printed_table(name: str, keys: int) -> Cells:
    """A table whose first columns say what a row is of."""
    text = (files("surefoot.paper") / "printed" / f"{name}.csv").read_text(encoding="utf-8")
    found: Cells = {}
    for row in csv.DictReader(text.splitlines()):
        items = list(row.items())
        found[tuple(value for _, value in items[:keys])] = {
            name: float(value) for name, value in items[keys:] if _is_number(value)
        }
    return found


def write_table(path: Path, head: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a table of ours, numbers to six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_format(value) for value in row] for row in rows)
    write_whole(path, text.getvalue())


def markdown_table(heads: Sequence[str], rows: Iterable[Iterable[str]], words: int = 1) -> str:
    """A table in Markdown; columns hold numbers but for the first, which hold words."""
    lines = [heads, ["---"] * words + ["---:"] * (len(heads) - words), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _format(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

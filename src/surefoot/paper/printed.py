"""The paper's tables as they are printed; percentages as fractions."""

from __future__ import annotations

import csv
from importlib.resources import files

#: A table: its rows by what they are of, and the numbers of each.
Cells = dict[tuple[str, ...], dict[str, float]]


def printed(name: str, keys: int) -> Cells:
    """A table whose first columns say what a row is of."""
    text = (files("surefoot.paper") / "printed" / f"{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    found: Cells = {}
    for row in rows:
        items = list(row.items())
        found[tuple(value for _, value in items[:keys])] = {
            name: float(value) for name, value in items[keys:] if _is_number(value)
        }
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Tables and panels of the report, to be written by the template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cell:
    """The content of a cell, and the number it is sorted by; by its text if there is none."""

    content: Any
    value: float | None = None

    @property
    def sort_key(self) -> str:
        assert self.value is not None
        return "-Infinity" if math.isnan(self.value) else f"{self.value:.6g}".replace("inf", "Infinity")


@dataclass(frozen=True)
class Row:
    """Cells, and the key of the slice that the row belongs to."""

    cells: Sequence[Cell]
    within: str = ""


@dataclass(frozen=True)
class Body:
    """Rows of one slice, or a group of rows with a heading of its own."""

    rows: Sequence[Row]
    key: str = "all"
    group: str = ""

    @property
    def is_hidden(self) -> bool:
        return self.key != "all" and not self.group


@dataclass(frozen=True)
class HtmlTable:
    """A table: of each column the title and a kind, which starts with n for numbers, t for text, x for unsorted."""

    caption: str
    columns: Sequence[tuple[str, str]]
    bodies: Sequence[Body]
    kind: str = ""


@dataclass(frozen=True)
class Panel:
    """A figure in the report: its finding, what is drawn, the drawing, and the table behind it."""

    id: str
    title: str
    caption: str
    chart: Any
    table: HtmlTable
    #: The title while a slice is shown, and what holds for all rows only.
    neutral: str = ""
    all_only: str = ""


@dataclass(frozen=True)
class Item:
    """A name, a value, and words on it."""

    name: str
    words: str = ""
    value: str = ""
    key: str = ""

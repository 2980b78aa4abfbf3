"""Tables of the report: heads, bodies and cells, to be written by the template."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Head:
    """A column: ``kind`` starts with n for numbers, t for text, x for what is not sorted."""

    words: str
    kind: str

    @property
    def sorts(self) -> bool:
        return not self.kind.startswith("x")


@dataclass(frozen=True)
class Cell:
    """What is shown, and the number it is sorted by."""

    shown: Any
    value: str | None = None


@dataclass(frozen=True)
class Row:
    cells: Sequence[Cell]
    #: The slices that the row belongs to.
    within: str = ""


@dataclass(frozen=True)
class Body:
    rows: Sequence[Row]
    key: str = "all"
    group: str = ""

    @property
    def is_hidden(self) -> bool:
        return self.key != "all" and not self.group


@dataclass(frozen=True)
class Table:
    caption: str
    heads: Sequence[Head]
    bodies: Sequence[Body]
    kind: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure: its finding, what is drawn, the drawing, and the table behind it."""

    id: str
    title: str
    sub: str
    chart: Any
    behind: Table
    #: What it is called while a slice is shown, and what holds for all rows only.
    neutral: str = ""
    all_only: str = ""


@dataclass(frozen=True)
class Item:
    """A name, a value, and words on it."""

    name: str
    words: str = ""
    value: str = ""
    key: str = field(default="")


def cell(shown: Any, value: float | None = None) -> Cell:
    """A cell that is sorted by a number, or by its text."""
    if value is None:
        return Cell(shown)
    return Cell(shown, "-Infinity" if math.isnan(value) else f"{value:.6g}".replace("inf", "Infinity"))


def heads(*pairs: tuple[str, str]) -> list[Head]:
    return [Head(words, kind) for words, kind in pairs]


def rows(cells: Iterable[Sequence[Cell]]) -> list[Row]:
    return [Row(each) for each in cells]

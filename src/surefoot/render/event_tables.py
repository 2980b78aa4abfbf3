"""The tables of an event and of classes in text and Markdown: by predicted probability, and by slice or class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice
from surefoot.assessment.verdict import Verdict
from surefoot.figures.labels import significant
from surefoot.render import event_wording, wording
from surefoot.render.numbers import count, percent, pvalue, ratio, ratio_interval, rough_count
from surefoot.render.severity import severity


@dataclass(frozen=True)
class Column:
    """A column: its title, its cells, on which side they stand, and how soon it goes where there is no room."""

    title: str
    cells: Sequence[str]
    is_number: bool = True
    #: 0 stays; of the others the highest goes first.
    optional: int = 0

    @property
    def width(self) -> int:
        return max(map(len, (self.title, *self.cells)))


@dataclass(frozen=True)
class PlainTable:
    """A table with a title; ``verdicts`` has that of each row, or None, and ``left_out`` counts rows not shown."""

    title: str
    columns: Sequence[Column]
    verdicts: Sequence[Verdict | None]
    left_out: int = 0

    def fitted(self, width: int) -> PlainTable:
        """The table without the columns for which there is no room."""
        columns = list(self.columns)
        while sum(column.width + 2 for column in columns) - 2 > width and any(column.optional for column in columns):
            columns.remove(max(columns, key=lambda column: column.optional))
        return replace(self, columns=columns)

    def lines(self) -> list[str]:
        """The titles and the rows, aligned."""
        rows = [[column.title for column in self.columns]]
        rows += [[column.cells[i] for column in self.columns] for i in range(len(self.verdicts))]
        return [
            "  ".join(
                f"{cell:>{column.width}}" if column.is_number else f"{cell:<{column.width}}"
                for cell, column in zip(row, self.columns, strict=True)
            ).rstrip()
            for row in rows
        ]


def band_table(a: Assessment) -> PlainTable | None:
    """Expected and observed events by predicted probability; None where there is but one band."""
    found = event_wording.bands(a)
    if a.view == "classes" or len(found) < 2:
        return None
    columns = [
        Column("predicted", [event_wording.band_range(band) for band in found], is_number=False),
        Column("weight" if a.risk.is_weighted else "rows", [rough_count(band.rows) for band in found], optional=2),
        Column("expected events", [rough_count(band.expected) for band in found]),
        Column("observed", [rough_count(band.observed) for band in found]),
        Column("observed share", [percent(band.observed / band.rows) for band in found], optional=3),
        Column("O/E", [_ratio(band.observed, band.expected) for band in found], optional=1),
    ]
    return PlainTable("By predicted probability", columns, [None] * len(found))


def slice_table(a: Assessment, most: int) -> PlainTable | None:
    """The slices of an event, or the classes, worst first; None without any."""
    if not a.slices:
        return None
    worst = sorted(a.slices, key=severity)
    kept = worst[:most]
    is_of_classes = a.view == "classes"
    rows = Column("rows", [count(part.risk.n) for part in kept], optional=4)
    columns = [
        Column(printable(a.by, 40), [printable(part.value, 24) for part in kept], is_number=False),
        *([] if is_of_classes else [rows]),
        Column("expected", [rough_count(part.stated) for part in kept]),
        Column("observed", [rough_count(part.seen) for part in kept]),
        Column("O/E", [ratio(part.risk.oe_ratio, *part.risk.oe_interval) for part in kept]),
        Column("95% CI", [oe_interval(part) for part in kept], optional=5),
    ]
    if a.by != "truth":
        columns += [
            Column("verdict", [verdict_words(part) for part in kept], is_number=False, optional=2),
            Column("adj. p", [pvalue(part.pvalue_adjusted) for part in kept], optional=3),
        ]
    return PlainTable(wording.slice_title(a), columns, [part.verdict for part in kept], len(worst) - len(kept))


def oe_interval(part: Slice) -> str:
    """The interval of the O/E ratio; a dash where there is none."""
    low, high = part.risk.oe_interval
    return ratio_interval(low, high) if math.isfinite(low) and math.isfinite(high) else "—"


def verdict_words(part: Slice) -> str:
    """The verdict of a slice with its degree, in few words."""
    if part.verdict is None:
        return ""
    if part.verdict == "no evidence against calibration":
        return "no evidence"
    return part.verdict if part.degree is None else f"{part.degree} {part.verdict}"


def _ratio(observed: float, expected: float) -> str:
    return significant(observed / expected, 2) if expected else ""

"""The table keyed by doubt: every distinct value while they are few, then cells, with the most extreme values apart.

A value is the lesser of doubt and confidence, and which of the two it is: both ends of the scale are kept to the last
bit. Its code holds its bits; the code of a cell the leading ones, so that cells are at most 1.6% wide. However tables
of arrays are merged, the same rows end in the same table: it is exact if and only if all values together are few, and
the values apart are the most extreme of all. A lazy frame may keep fewer apart where many rows share them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt

from surefoot.core.expression import ROW, Expression, Program, lesser, octave_cell, program
from surefoot.core.keys import Codes
from surefoot.core.table import Floats, Sums, Table
from surefoot.core.term import Term

#: The term that counts rows, which every table by doubt holds.
ROWS = "rows by doubt"
#: Distinct values up to which all are kept.
FEW = 4096
#: Values kept apart at either end when there are more.
EXTREMES = 256

#: Doubts at which cells are cut besides: there the bets of the e-value change.
CUTS = (0.1, 0.01, 0.001)
#: Bits that a cell leaves out.
CUT = 46
#: Exact codes of doubts start here; those of confidences are negative; cells lie between.
EXACT = np.int64(1) << 62
#: The cells of confidences, counted down from here.
LAST = 1 << 17
CELLS = LAST + 1


def exact_codes(doubt: Floats, confidence: Floats) -> Codes:
    """A code for each distinct value."""
    return np.where(doubt <= confidence, EXACT + doubt.view(np.int64), -1 - confidence.view(np.int64))


def _cells(lesser: Floats) -> Codes:
    cell = lesser.view(np.int64) >> CUT
    # a cut within a cell makes two of it
    for cut in CUTS:
        cell += lesser >= cut
    return cell


def _cell() -> Expression:
    cell = octave_cell(lesser(ROW.doubt, ROW.confidence))
    for cut in CUTS:
        cell = cell + (lesser(ROW.doubt, ROW.confidence) >= cut)
    # counted down from the end for confidences
    return cell + (LAST - 2.0 * cell) * (ROW.doubt > ROW.confidence)


#: The cell of a row, for engines that do not see the bits of its doubt.
CELL = _cell()


@cache
def cell_program(*, stores_doubt: bool) -> Program:
    """The steps that give the cell of a row."""
    return program([CELL], (), ("doubt",) if stores_doubt else ())


def is_exact(codes: Codes) -> npt.NDArray[np.bool_]:
    return (codes < 0) | (codes >= EXACT)


def cells_of(codes: Codes) -> Codes:
    """The cells that codes lie in."""
    cells = codes.copy()
    of_doubt, of_confidence = codes >= EXACT, codes < 0
    cells[of_doubt] = _cells((codes[of_doubt] - EXACT).view(np.float64))
    cells[of_confidence] = LAST - _cells((-1 - codes[of_confidence]).view(np.float64))
    return cells


def extremes(codes: Codes) -> Codes:
    """Of rising exact codes, those of the smallest confidences and doubts."""
    middle = int(np.searchsorted(codes, 0))
    return np.append(codes[max(0, middle - EXTREMES) : middle], codes[middle : middle + EXTREMES])


@dataclass(frozen=True)
class DoubtTable(Table):
    """Totals by doubt, of bounded size."""

    least_code = -(1 << 63)
    #: Where the rows are at hand: the totals of some terms at every distinct value, however many there are.
    from_rows: Callable[[Sequence[Term]], DoubtTable] | None = field(default=None, repr=False, compare=False)

    def __add__(self, other: Table) -> DoubtTable:
        merged = super().__add__(other)
        return DoubtTable(merged.codes, merged.totals).bounded()

    @property
    def is_exact(self) -> bool:
        """Whether every distinct value stands for itself."""
        return bool(is_exact(self.codes).all())

    def every_value(self, terms: Sequence[Term]) -> DoubtTable:
        """The totals of these terms at every distinct value if the rows are at hand; else those that were kept."""
        return self if self.from_rows is None or self.is_exact else self.from_rows(terms)

    def bounded(self) -> DoubtTable:
        """The same table, in cells if it holds too many values."""
        exact = is_exact(self.codes)
        if exact.all() and len(self.codes) <= FEW:
            return self
        apart = np.isin(self.codes, extremes(self.codes[exact]))
        codes = np.where(apart, self.codes, cells_of(self.codes))
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        stacked = Sums(
            np.array([sums.high[order] for sums in self.totals.values()]),
            np.array([sums.low[order] for sums in self.totals.values()]),
        )
        # neighbours in one cell are added, pair by pair, each addition with what it rounds away, until none are left
        while (codes[1:] == codes[:-1]).any():
            starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
            turn = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
            first = np.flatnonzero(turn % 2 == 0)
            paired = np.append(codes[1:] == codes[:-1], False)[first]
            partner = first[paired] + 1
            high, low = np.zeros((len(self.totals), len(first))), np.zeros((len(self.totals), len(first)))
            high[:, paired], low[:, paired] = stacked.high[:, partner], stacked.low[:, partner]
            stacked = Sums(stacked.high[:, first], stacked.low[:, first]).plus(high, low)
            codes = codes[first]
        return DoubtTable(codes, {name: Sums(stacked.high[i], stacked.low[i]) for i, name in enumerate(self.totals)})

    def exact_values(self) -> tuple[Floats, Floats]:
        """Doubt and confidence of each exact code; nan for cells."""
        doubt, confidence = np.full(len(self.codes), np.nan), np.full(len(self.codes), np.nan)
        of_doubt, of_confidence = self.codes >= EXACT, self.codes < 0
        doubt[of_doubt] = (self.codes[of_doubt] - EXACT).view(np.float64)
        confidence[of_doubt] = 1 - doubt[of_doubt]
        confidence[of_confidence] = (-1 - self.codes[of_confidence]).view(np.float64)
        doubt[of_confidence] = 1 - confidence[of_confidence]
        return doubt, confidence

    def is_doubtful(self) -> npt.NDArray[np.bool_]:
        """Which codes are of doubts above one half, that is, of confidences."""
        return (self.codes < 0) | ((self.codes > LAST // 2) & (self.codes < EXACT))

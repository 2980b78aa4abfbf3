"""Rows in the order of their confidence, as a table by doubt holds them: exactly from rows, in cells from a tally."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot.core.doubt_table import DoubtTable, cells_of, is_exact
from surefoot.core.keys import DOUBT_CELL
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.metrics.terms import ROWS_BY_DOUBT

#: Counted apart, not as total - wrong: under weights the difference can round below zero.
WRONG_WEIGHT_BY_DOUBT = Term("wrong weight by doubt", lambda row: row.weight * row.wrong, DOUBT_CELL)
CORRECT_WEIGHT_BY_DOUBT = Term("correct weight by doubt", lambda row: row.weight * row.correct, DOUBT_CELL)

#: What metrics of the order of confidences are made of.
ORDER = (ROWS_BY_DOUBT, WRONG_WEIGHT_BY_DOUBT, CORRECT_WEIGHT_BY_DOUBT)


class ConfidenceOrder(NamedTuple):
    """The weight that is wrong and that is correct at each confidence, rising.

    Where there are too many values for a tally, some stand for a cell: rows of nearly the same confidence, whose order
    among themselves is not known.
    """

    wrong: Floats
    correct: Floats
    is_cell: npt.NDArray[np.bool_]

    @property
    def weight(self) -> Floats:
        return self.wrong + self.correct

    @property
    def is_exact(self) -> bool:
        """Whether the order of all rows is known."""
        return not self.is_cell.any()

    def falling(self) -> ConfidenceOrder:
        """The same, from the most confident on."""
        return ConfidenceOrder(self.wrong[::-1], self.correct[::-1], self.is_cell[::-1])


def confidence_order(t: Tally) -> ConfidenceOrder:
    """The rows that count, in the order of their confidence."""
    order: ConfidenceOrder = t.cached("order of confidence", lambda: _order(t.table(DOUBT_CELL).every_value(ORDER)))
    return order


def rising(table: DoubtTable) -> npt.NDArray[np.intp]:
    """The places of a table in the order of rising confidence, as far as it is known."""
    # cells rise with doubt, and so do the codes of values within a cell
    return np.lexsort((table.codes, cells_of(table.codes)))[::-1]


def _order(table: DoubtTable) -> ConfidenceOrder:
    wrong, correct = (table.totals[term.name].value for term in (WRONG_WEIGHT_BY_DOUBT, CORRECT_WEIGHT_BY_DOUBT))
    cell, apart = cells_of(table.codes), is_exact(table.codes)
    # values apart from a cell may lie on either side of its rows: then their order is not known, and they join it
    apart &= ~np.isin(cell, table.codes[~apart])
    order = rising(table)
    cell, apart = cell[order], apart[order]
    starts = np.flatnonzero(np.append(True, (cell[1:] != cell[:-1]) | apart[1:]) & (len(cell) > 0))
    wrong, correct = (np.add.reduceat(column[order], starts) for column in (wrong, correct))
    held = wrong + correct > 0
    return ConfidenceOrder(wrong[held], correct[held], ~apart[starts][held])

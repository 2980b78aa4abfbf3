"""What the law of the mistakes is made of: at each doubt, how many rows and how many of them wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.core.doubt_table import DoubtTable
from surefoot.core.keys import DOUBT_CELL
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.metrics.terms import BY_DOUBT, CONFIDENCE_BY_DOUBT, DOUBT_BY_DOUBT, ROWS_BY_DOUBT
from surefoot.predictions.doubt import NARROW_DOUBTS, doubt_of_rounded_text
from surefoot.risk.law.bernoulli_sum import BernoulliSum

#: 1 / doubt is at most this, whatever the doubt: sums of it stay finite.
MOST = 1e300

#: The doubts that rounded confidences of 1 have by convention, whatever type or text they came in.
_CONVENTIONS = (*NARROW_DOUBTS, *(doubt_of_rounded_text(decimals) for decimals in range(1, 10)))

_COLUMNS = ("doubt", "confidence", "rows", "wrong", "surprise", "relief")


@dataclass(frozen=True)
class Counts:
    """Rows by doubt; of a cell, doubt and confidence are the means over its rows.

    Written for overconfidence: ``wrong`` rows are the surprises. Mirrored, correct rows are.
    """

    doubt: Floats
    confidence: Floats
    rows: Floats
    wrong: Floats
    #: The sum of 1 / doubt over wrong rows, and of 1 / confidence over correct ones.
    surprise: Floats
    relief: Floats
    #: Whether no cell holds rows of different doubts.
    is_exact: bool

    @property
    def n(self) -> float:
        return float(self.rows.sum())

    @property
    def right(self) -> Floats:
        return self.rows - self.wrong

    def mirrored(self) -> Counts:
        """The same rows seen from the other side: a correct row is the surprise, and confidence its chance."""
        return Counts(self.confidence, self.doubt, self.rows, self.right, self.relief, self.surprise, self.is_exact)

    def without_rounded(self, rounded: int) -> Counts:
        """Without the rows whose confidence is 1 by rounding, as far as they were right.

        Their doubt is a convention, rather too large than too small. That is on the safe side against overconfidence;
        against underconfidence it would count errors as expected that no model expected.
        """
        if not rounded:
            return self
        places = [i for doubt in _CONVENTIONS for i in np.flatnonzero(np.abs(self.doubt - doubt) <= 0.02 * doubt)]
        place = next((i for i in places if self.rows[i] >= rounded), None)
        if place is None:
            return self
        rows, relief = self.rows.copy(), self.relief.copy()
        gone = min(float(rounded), float(self.right[place]))
        rows[place] -= gone
        relief[place] = max(0.0, relief[place] - gone / max(float(self.confidence[place]), 0.5))
        kept = replace(self, rows=rows, relief=relief)
        return kept._where(rows > 0)

    def certain(self) -> tuple[float, float]:
        """How many rows allow for no surprise at all, and how many of them are one."""
        sure = self.doubt == 0
        return float(self.rows[sure].sum()), float(self.wrong[sure].sum())

    def doubtful(self) -> Counts:
        """Without the rows that allow for no surprise."""
        return self._where(self.doubt > 0)

    def surprises(self) -> Counts:
        """The doubts at which there is a surprise, at the harmonic mean of those that are."""
        held = self._where((self.wrong > 0) & (self.doubt > 0))
        own = held.doubt if held.is_exact else np.minimum(held.wrong / held.surprise, 1.0)
        confidence = held.confidence if held.is_exact else 1 - own
        return Counts(
            np.maximum(own, 1 / MOST), confidence, held.rows, held.wrong, held.surprise, held.relief, held.is_exact
        )

    def _where(self, kept: npt.NDArray[np.bool_]) -> Counts:
        columns: dict[str, Any] = {name: getattr(self, name)[kept] for name in _COLUMNS}
        return Counts(**columns, is_exact=self.is_exact)

    def under_calibration(self) -> BernoulliSum:
        """The rows as the law of CSR sees them: each a surprise by the chance of its doubt, which adds 1 / doubt."""
        return BernoulliSum(self.doubt, self.confidence, 1 / np.maximum(self.doubt, 1 / MOST), self.rows, self.is_exact)


def counts_of(tally: Tally) -> Counts:
    """The counts that a tally holds, rows that claim certainty among them."""
    table: DoubtTable = tally.table(DOUBT_CELL)
    by_doubt = (term for term in BY_DOUBT if term.key == DOUBT_CELL)
    rows, wrong, _, _, surprise, relief = (table.totals[term.name].value for term in by_doubt)
    held = rows > 0
    doubt, confidence = mean_values(table)
    columns = (doubt, confidence, rows, wrong, np.minimum(surprise, MOST), np.minimum(relief, MOST))
    held_columns: dict[str, Any] = {name: column[held] for name, column in zip(_COLUMNS, columns, strict=True)}
    return Counts(**held_columns, is_exact=table.is_exact)


def mean_values(table: DoubtTable) -> tuple[Floats, Floats]:
    """The doubt and the confidence that each place of a table stands for: the means of a cell that holds rows."""
    rows, doubts, confidences = (
        table.totals[term.name].value for term in (ROWS_BY_DOUBT, DOUBT_BY_DOUBT, CONFIDENCE_BY_DOUBT)
    )
    doubt, confidence = table.exact_values()
    upper = table.is_doubtful()
    cells = np.isnan(doubt) & (rows > 0)
    # the lesser from its sum, which holds its digits, and the other from it
    lesser = np.where(upper, confidences, doubts)[cells] / rows[cells]
    doubt[cells] = np.where(upper[cells], 1 - lesser, lesser)
    confidence[cells] = np.where(upper[cells], lesser, 1 - lesser)
    return doubt, confidence

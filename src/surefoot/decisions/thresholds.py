r"""Thresholds that keep a promise on the error rate.

Accept rows whose confidence reaches t. The promise is that, of fresh rows that are accepted, at most a share
:math:`\varepsilon` is wrong. It is tested for every threshold: would so few errors among as many rows be likely if more
were wrong? The level of these tests is such that, with probability ``1 - level``, none of the thresholds that break the
promise passes, whatever the distribution of confidences and errors (see ``docs/theory/act-alone.md``). So the lowest
threshold that passes may be taken, or any other one.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincinv

from surefoot._stats.binomial import at_most
from surefoot._stats.joint_level import joint_level
from surefoot.core.tally import Tally
from surefoot.core.thresholds import THRESHOLD_CELL, THRESHOLDS
from surefoot.metrics.terms import ERRORS_BY_THRESHOLD, ROWS_BY_THRESHOLD

Floats = npt.NDArray[np.float64]
#: Thresholds by their numbers.
Places = npt.NDArray[np.intp]
#: How many times more rows are thought of, where none of these thresholds passes.
_MORE = tuple(1.25**power for power in range(1, 32))
#: How likely an error rate has to be as low as promised for more rows to be worth while.
_HOPE = 0.95
#: Error rates that might be promised in place of another.
_RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True)
class Accepted:
    """Rows and errors among them, at each threshold: of the rows that reach it, or of those that do not."""

    rows: Floats
    errors: Floats
    total: int

    @classmethod
    def of(cls, tally: Tally) -> Accepted:
        """The rows that reach each threshold."""
        table = tally.table(THRESHOLD_CELL)
        sums = np.zeros((2, len(THRESHOLDS)))
        for place, term in enumerate((ROWS_BY_THRESHOLD, ERRORS_BY_THRESHOLD)):
            sums[place, table.codes] = table.totals[term.name].value
        rows, errors = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
        return cls(rows, errors, int(rows[0]))

    @cached_property
    def lowest(self) -> float:
        """The lowest confidence that occurs, to the threshold below it."""
        return float(THRESHOLDS[int(np.flatnonzero(self.is_new)[0])])

    @cached_property
    def is_new(self) -> npt.NDArray[np.bool_]:
        """Where a threshold leaves out other rows than the one above it does."""
        return np.append(self.rows[:-1] > self.rows[1:], self.rows[-1] > 0)

    def refusable(self, share: float, level: float) -> Places:
        """The thresholds below which at least this share is wrong, all together but for a chance of ``level``.

        Of thresholds that refuse the same rows it is the lowest. None is higher than where rows stop to be wrong so
        often: beyond, those far below would make up for rows that are mostly right.
        """
        rows, errors = self.total - self.rows, self.errors[0] - self.errors
        held = at_most(rows - errors, rows, 1 - share) <= joint_level(self.total, 1 - share, level)
        # errors beyond those promised are most where the next rows have just as many
        beyond = errors - share * rows
        most = len(beyond) - 1 - int(np.argmax(beyond[::-1]))
        found = np.flatnonzero(held & np.append(False, self.is_new[:-1]))
        return found[found <= most]

    def level_of_each(self, error: float, level: float) -> float:
        """The level for the test of each threshold."""
        return joint_level(self.total, error, level)

    def passing(self, error: float, level: float) -> Places:
        """The thresholds at which the promise holds, all together but for a chance of ``level``.

        Of thresholds that accept the same rows it is the highest: below, nothing is known.
        """
        held = at_most(self.errors, self.rows, error) <= self.level_of_each(error, level)
        return np.flatnonzero(held & self.is_new)

    def limits(self, error: float, level: float) -> tuple[Floats, Floats]:
        """The rates that the test of each threshold leaves possible; ``upper`` is at most ``error`` where it passes."""
        each = self.level_of_each(error, level)
        correct = self.rows - self.errors
        low, high = np.zeros(len(self.rows)), np.ones(len(self.rows))
        some, right = self.errors > 0, correct > 0
        low[some] = betaincinv(self.errors[some], correct[some] + 1, each)
        high[right] = betaincinv(self.errors[right] + 1, correct[right], 1 - each)
        return low, high

    def limit(self, at: int, error: float, level: float) -> float:
        """The upper one at a single threshold."""
        return float(replace(self, rows=self.rows[[at]], errors=self.errors[[at]]).limits(error, level)[1][0])

    def more_rows(self, error: float, level: float) -> int | None:
        """About how many rows like these might let some threshold pass; None if nothing speaks for it."""
        # where so few errors would be a rare stroke of luck if more than promised were wrong
        right = self.rows - self.errors
        hopeful = (betainc(self.errors + 0.5, right + 0.5, error) >= _HOPE) & (self.rows > 0)
        if not hopeful.any():
            return None
        share = (self.errors + 1) / (self.rows + 2)
        factor = self._enough(share[hopeful], self.rows[hopeful], error, level)
        return None if factor is None else int(self.total * factor)

    def _enough(self, share: Floats, rows: Floats, error: float, level: float) -> float | None:
        """How many times more rows let some threshold pass, if these shares of them are wrong; None if too many."""

        def is_enough(factor: float) -> bool:
            more = np.floor(rows * factor)
            each = joint_level(int(self.total * factor), error, level)
            return bool((at_most(np.ceil(share * more), more, error) <= each).any())

        place = bisect_left(_MORE, True, key=is_enough)
        return _MORE[place] if place < len(_MORE) else None

    def larger_rate(self, error: float, level: float) -> float | None:
        """The smallest larger error rate, of a few, that some threshold would have kept; None if none of them."""
        larger = (rate for rate in _RATES if rate > error)
        return next((rate for rate in larger if len(self.passing(rate, level))), None)

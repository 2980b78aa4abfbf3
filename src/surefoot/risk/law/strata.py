r"""Tails of the number of errors when only sums are known: in each stratum the rows and their expected errors.

Row i errs with chance :math:`q_i`, independently, and S is the number of errors. Of a stratum only its n and the sum of
its q are known. Three facts make that enough for a p-value that is never too small:

- Averaging chances within strata does not lessen P(S >= k) if k is at least E S + 2, nor P(S <= k) if k is at most
  E S - 2 (Gleser 1975). A pair of chances a, b made equal changes P(S >= k) by
  :math:`((a - b)/2)^2 (f(k - 2) - f(k - 1))`, where f is the law of the other rows. Its mode is at most their mean,
  rounded up (Darroch 1964), so from k - 2 >= E S on it falls.
- Averaging over all rows does so from E S + 1 on (Hoeffding 1956).
- The mean of :math:`e^{tS}` grows by averaging, whatever k, so that Chernoff's bound may be made of averages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot._stats.binomial import at_most, more_than
from surefoot.core.table import Floats
from surefoot.risk.law.bernoulli_sum import BernoulliSum
from surefoot.risk.law.null import upper_tail

#: Steps towards the best exponent of Chernoff's bound, each of which is valid; and the largest exponent.
_STEPS, _STEEPEST = 25, 40.0


@dataclass(frozen=True)
class Strata:
    """Sums of many groups at once, in arrays of shape (groups, strata): rows, errors, and expected errors.

    ``least`` are the least expected errors that rounded confidences leave possible; they count against too few errors.
    """

    rows: Floats
    errors: Floats
    expected: Floats
    least: Floats

    def __getitem__(self, which: npt.NDArray[np.bool_ | np.intp] | slice) -> Strata:
        return Strata(self.rows[which], self.errors[which], self.expected[which], self.least[which])

    def __sub__(self, other: Strata) -> Strata:
        """The rows of groups that are not in parts of them."""
        return Strata(
            self.rows - other.rows,
            self.errors - other.errors,
            np.maximum(self.expected - other.expected, 0.0),
            np.maximum(self.least - other.least, 0.0),
        )

    @property
    def n(self) -> Floats:
        """The rows of each group."""
        total: Floats = self.rows.sum(axis=1)
        return total

    @property
    def observed(self) -> Floats:
        """The errors of each group."""
        total: Floats = self.errors.sum(axis=1)
        return total

    @property
    def mean(self) -> Floats:
        """The expected errors of each group."""
        total: Floats = self.expected.sum(axis=1)
        return total

    @property
    def overstatement(self) -> Floats:
        """Mean confidence less accuracy."""
        return (self.observed - self.mean) / np.maximum(self.n, 1)

    @property
    def has_too_many(self) -> npt.NDArray[np.bool_]:
        """Whether a group has more errors than expected."""
        more: npt.NDArray[np.bool_] = self.observed > self.mean
        return more

    @property
    def on_its_side(self) -> Strata:
        """The same, where errors are too few with the expected errors that speak least against that."""
        expected = np.where(self.has_too_many[:, None], self.expected, self.least)
        return Strata(self.rows, self.errors, expected, self.least)


def log_bounds(groups: Strata) -> Floats:
    """The logarithm of Chernoff's bound on the one-sided p-value, on the side to which each group's errors fall."""
    side = groups.on_its_side
    n, k = side.rows, side.observed
    q = np.divide(side.expected, n, out=np.zeros_like(n), where=n > 0).clip(0.0, 1.0)
    over = side.has_too_many
    is_far = np.where(over, k > side.mean, k < side.mean)
    low, high = np.where(over, 0.0, -_STEEPEST), np.where(over, _STEEPEST, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        odds = np.log(q) - np.log1p(-q)
        t = 0.5 * (low + high)
        for step in range(_STEPS):
            chance = 1 / (1 + np.exp(-(odds + t[:, None])))
            mean, variance = (n * chance).sum(axis=1), (n * chance * (1 - chance)).sum(axis=1)
            low, high = np.where(mean < k, t, low), np.where(mean < k, high, t)
            newton = t - (mean - k) / variance
            inside = (newton > low) & (newton < high) & (step > 1)
            t = np.where(inside, newton, 0.5 * (low + high))
        # any t gives a bound
        grown = np.where(q > 0, np.log1p(q * np.expm1(t)[:, None]), 0.0)
        grown = np.where((q == 1) & np.isneginf(grown), t[:, None], grown)
    bound = (n * grown).sum(axis=1) - t * k
    return np.where(is_far, np.minimum(bound, 0.0), 0.0)


def pvalue(group: Strata) -> float:
    """The one-sided p-value of a single group, exact but for what averaging within strata adds."""
    side = group.on_its_side
    n, k, mean = float(side.n[0]), float(side.observed[0]), float(side.mean[0])
    over = bool(group.has_too_many[0])
    if not (k > mean if over else k < mean):
        return 1.0
    if over and k <= 1:
        return min(1.0, mean)
    if abs(k - mean) < 1:
        return 1.0
    share = mean / n
    bound = float(more_than(k - 1, n, share) if over else at_most(k, n, share))
    if abs(k - mean) < 2:
        return min(1.0, bound)
    held = side.rows[0] > 0
    count, expected = side.rows[0][held], side.expected[0][held]
    q = np.minimum(expected / count, 1.0)
    chances = BernoulliSum(q, 1 - q, np.ones(len(q)), count)
    if not over:
        chances = BernoulliSum(chances.q, chances.p, chances.weight, count)
    return min(1.0, bound, upper_tail(chances, k if over else n - k).p)

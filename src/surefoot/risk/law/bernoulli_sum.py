"""A sum of independent events, each with a probability and a weight, and its upper tail."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats

#: The capped companion of the test lets no row add more than this share of the number of rows.
CAP = 0.1
#: Sums this close to s, relative to it, are s: the order of additions must not decide.
SAME = 1e-11
#: The same where rows are few: only what rounding makes, so that a heavy row does not swallow light ones.
ROUNDING = 2.0**-44
OF_SUMS = 2.0**-50
_FEW, _WIDE = 256, 2.0**20


@dataclass(frozen=True)
class BernoulliSum:
    """A weighted sum of independent events: for rows that are alike, their probability ``p``, ``q = 1 - p``, the weight
    that an event adds, and how many rows there are.
    """

    p: Floats
    q: Floats
    weight: Floats
    count: Floats
    #: Whether rows that stand together have the very same probability, not a similar one.
    is_exact: bool = True

    def __getitem__(self, which: npt.NDArray[np.bool_]) -> BernoulliSum:
        return BernoulliSum(self.p[which], self.q[which], self.weight[which], self.count[which], self.is_exact)

    @property
    def total(self) -> float:
        """What all of them add if all fire."""
        return float((self.count * self.weight).sum())

    @property
    def mean(self) -> float:
        """What they add on average."""
        return float((self.count * self.p * self.weight).sum())

    @property
    def deviation(self) -> float:
        """The standard deviation of what they add."""
        return float(np.linalg.norm(np.sqrt(self.count * self.p * self.q) * self.weight))

    @property
    def log_odds(self) -> Floats:
        return np.log(self.p) - np.log(self.q)

    def capped(self, most: float) -> BernoulliSum:
        """The same rows, none of which adds more than ``most``: their chances stay what they are."""
        return replace(self, weight=np.minimum(self.weight, most))


@dataclass(frozen=True)
class Tail:
    """P(S >= s), and the same with half of P(S = s)."""

    p: float
    mid: float


def same_for(rows: BernoulliSum) -> float:
    """How close to s, relative to it, a sum of these rows is s.

    Doubts that were written in decimals, as 1 less a confidence, tie up to the rounding of that; where weights are far
    apart, there are no such ties, and only sums round.
    """
    if float(rows.count.sum()) > _FEW:
        return SAME
    is_wide = bool(len(rows.weight)) and float(rows.weight.max()) > _WIDE * float(rows.weight.min())
    return OF_SUMS if is_wide else ROUNDING

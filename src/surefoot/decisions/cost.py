r"""The threshold of least expected cost.

To act on a wrong prediction costs ``cost_error``, to review a row ``cost_review``. It pays to act on rows
that are wrong less often than :math:`\rho` = cost_review / cost_error. At the best threshold, the rows of every range
right below it are wrong at least that often, and those of every range right above it at most that often. Thresholds for
which either is refuted are left out of the interval, by tests that hold for all ranges together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot._stats.binomial import at_most, limits
from surefoot._stats.joint_level import joint_level
from surefoot.core.thresholds import THRESHOLDS
from surefoot.decisions.thresholds import Accepted, Places

#: Thresholds above which neighbours are put together when each is compared with each.
_MOST = 400


@dataclass(frozen=True)
class Cost:
    """What decisions cost at a threshold.

    Attributes
    ----------
    threshold : float or None
        The threshold of least cost; None if it is best to review everything.
    threshold_interval : tuple of float
        A confidence interval for the best threshold; 1.0 stands for reviewing everything.
    cost : float
        The mean cost of a row at the threshold.
    cost_interval : tuple of float
        A confidence interval for it.
    cost_of_acting : float
        The mean cost of acting on every row.
    cost_of_review : float
        The mean cost of reviewing every row.
    break_even : float
        The error rate from which on a review is cheaper than acting: cost_review / cost_error.
    """

    threshold: float | None
    threshold_interval: tuple[float, float]
    cost: float
    cost_interval: tuple[float, float]
    cost_of_acting: float
    cost_of_review: float
    break_even: float


def least_cost(
    accepted: Accepted, cost_error: float, cost_review: float, level: float, among: Places | None = None
) -> Cost:
    """The threshold of least mean cost, of all or of those with the numbers ``among``."""
    total = accepted.total
    costs = (cost_error * accepted.errors + cost_review * (total - accepted.rows)) / total
    allowed = np.flatnonzero(accepted.is_new) if among is None else among
    # of equal costs the higher threshold; and nothing at all may be best
    best = int(allowed[::-1][np.argmin(costs[allowed[::-1]])]) if len(allowed) else None
    if best is None or costs[best] >= cost_review:
        threshold, errors, reviewed, cost = None, 0.0, float(total), float(cost_review)
    else:
        threshold, errors, cost = float(THRESHOLDS[best]), float(accepted.errors[best]), float(costs[best])
        reviewed = float(total - accepted.rows[best])
    # both shares at once
    (wrong_low, wrong_high), (review_low, review_high) = (
        map(float, limits(count, total, 1 - level / 2)) for count in (errors, reviewed)
    )
    if threshold is None:
        wrong_high, review_low = 0.0, 1.0
    return Cost(
        threshold,
        _interval(accepted, cost_review / cost_error, level),
        cost,
        (cost_error * wrong_low + cost_review * review_low, cost_error * wrong_high + cost_review * review_high),
        float(cost_error * accepted.errors[0] / total),
        float(cost_review),
        cost_review / cost_error,
    )


def _interval(accepted: Accepted, rate: float, level: float) -> tuple[float, float]:
    """The thresholds that may be the best one, from the lowest to the highest."""
    if rate >= 1:
        return accepted.lowest, accepted.lowest  # a review costs more than any error
    at = np.flatnonzero(accepted.is_new)
    is_thinned = len(at) > _MOST
    if is_thinned:
        at = at[np.unique(np.linspace(0, len(at) - 1, _MOST).round().astype(int))]
    # from the lowest threshold up to that of nothing at all
    values = np.append(THRESHOLDS[at], 1.0)
    rows, errors = np.append(accepted.rows[at], 0.0), np.append(accepted.errors[at], 0.0)
    between = rows[:, None] - rows[None, :]
    wrong = errors[:, None] - errors[None, :]
    above = np.triu(np.ones(between.shape, dtype=bool), 1) & (between > 0)
    # a range, from a lower threshold (row) to a higher one (column), that is wrong too seldom or too often
    seldom, often = np.zeros(above.shape, dtype=bool), np.zeros(above.shape, dtype=bool)
    for found, count, share in ((seldom, wrong, rate), (often, between - wrong, 1 - rate)):
        telling = above & (count < share * between)
        each = joint_level(accepted.total, share, level / 2)
        found[telling] = at_most(count[telling], between[telling], share) <= each
    # the best one has none below it that is wrong too seldom, and none above it that is wrong too often
    possible = ~seldom.any(axis=0) & ~often.any(axis=1)
    left = np.flatnonzero(possible) if possible.any() else np.arange(len(values))
    # where neighbours were left out, the best one may lie among them
    beyond = int(is_thinned)
    return float(values[max(0, left[0] - beyond)]), float(values[min(len(values) - 1, left[-1] + beyond)])

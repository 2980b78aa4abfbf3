"""How much: errors observed beside those expected, and mean confidence beside accuracy, each with its interval.

These count every sample alike, so nothing can blind them: not the near-certain samples that dominate CSR, and not a
single one of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from surefoot._stats.binomial import limits, limits_of_share
from surefoot._stats.quantiles import quantile
from surefoot.core.tally import Tally
from surefoot.metrics.terms import DOUBT, ROWS, SQUARED_WEIGHT, WEIGHT, WRONG
from surefoot.risk.groups import Dependence

#: What a tally has to hold for them.
TERMS = (ROWS, WEIGHT, SQUARED_WEIGHT, DOUBT, WRONG)


@dataclass(frozen=True)
class Effects:
    """The size of miscalibration in the mean; fields as of :class:`RiskResult`."""

    expected_errors: float
    observed_errors: float
    oe_ratio: float
    oe_interval: tuple[float, float]
    overstatement: float
    overstatement_interval: tuple[float, float]


def effects_of(tally: Tally, dependence: Dependence | None = None) -> Effects:
    """From the sums of doubts and of errors.

    Given the confidences, only the errors are random: the limits of Clopper and Pearson for their share hold whatever
    the chances of single samples are, for a binomial count varies at least as much as one of unequal chances. Of
    unequal weights they are normal, with the largest variance that any chances could have: which samples weigh much
    and are doubtful as well is not known from sums. Of rows that belong together they are those of Korn and Graubard:
    of as many independent rows as would leave the share of errors as uncertain.
    """
    weight, doubt, wrong = tally[WEIGHT], tally[DOUBT], tally[WRONG]
    scale = in_rows(tally)
    error, stated = min(1.0, wrong / weight), doubt / weight
    if dependence is not None:
        low, high = limits_of_share(
            error, dependence.variance, dependence.freedom, rows=tally[ROWS], groups=dependence.groups
        )
    elif equal_weights(tally):
        low, high = (float(end) for end in limits(round(error * tally[ROWS]), tally[ROWS]))
    else:
        reach = quantile(0.95) * spread_of_errors(tally) / weight
        low, high = max(0.0, error - reach), min(1.0, error + reach)
    return Effects(
        expected_errors=doubt * scale,
        observed_errors=wrong * scale,
        oe_ratio=oe_ratio(error, stated),
        oe_interval=(oe_ratio(low, stated), oe_ratio(high, stated)),
        overstatement=error - stated,
        overstatement_interval=(low - stated, high - stated),
    )


def spread_of_errors(tally: Tally) -> float:
    """The largest standard deviation that the weight of errors may have: each a coin flip."""
    return math.sqrt(tally[SQUARED_WEIGHT]) / 2


def equal_weights(tally: Tally) -> bool:
    """Whether all weights that count are the same: then they say nothing about evidence."""
    spread = tally[ROWS] * tally[SQUARED_WEIGHT] - tally[WEIGHT] ** 2
    return spread <= 1e-9 * tally[WEIGHT] ** 2


def in_rows(tally: Tally) -> float:
    """What to multiply weights by so that they count rows: where all weigh the same, their number is meant."""
    return tally[ROWS] / tally[WEIGHT] if equal_weights(tally) and tally[WEIGHT] else 1.0


def oe_ratio(observed: float, expected: float) -> float:
    """Observed over expected errors, or their shares: infinite if none were expected, nan if there are none at all."""
    if expected:
        return observed / expected
    return math.inf if observed else math.nan

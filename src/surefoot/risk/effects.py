"""How much: errors observed beside those expected, and mean confidence beside accuracy, each with its interval.

These count every sample alike, so nothing can blind them: not the near-certain samples that dominate CSR, and not a
single one of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

from surefoot._stats.binomial import limits, limits_of_share
from surefoot._stats.quantiles import quantile
from surefoot.core.tally import Tally
from surefoot.metrics.terms import CONFIDENCE, CORRECT, DOUBT, ROWS, SQUARED_WEIGHT, WEIGHT, WRONG
from surefoot.predictions import ArrayPredictions
from surefoot.risk.groups import variance_of_mean
from surefoot.risk.law.cells import Codes

#: What a tally has to hold for them.
TERMS = (ROWS, WEIGHT, SQUARED_WEIGHT, DOUBT, WRONG)
#: And besides, if it is of an event.
OF_EVENTS = (CORRECT, CONFIDENCE)


@dataclass(frozen=True)
class Effects:
    """The size of miscalibration in the mean; fields as of :class:`RiskResult`."""

    expected_errors: float
    observed_errors: float
    oe_ratio: float
    oe_interval: tuple[float, float]
    overstatement: float
    overstatement_interval: tuple[float, float]
    expected_events: float = math.nan
    observed_events: float = math.nan


def effects_of(tally: Tally, dependence: Clustered | None = None) -> Effects:
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
    low, high = limits_of_errors(tally, dependence)
    effects = Effects(
        expected_errors=doubt * scale,
        observed_errors=wrong * scale,
        oe_ratio=oe_ratio(error, stated),
        oe_interval=(oe_ratio(low, stated), oe_ratio(high, stated)),
        overstatement=error - stated,
        overstatement_interval=(low - stated, high - stated),
    )
    if tally.view != "event":
        return effects
    # the same counts from the other end: what is observed over what is expected is of events
    happened, predicted = tally[CORRECT] / weight, tally[CONFIDENCE] / weight
    return replace(
        effects,
        oe_ratio=oe_ratio(happened, predicted),
        oe_interval=(oe_ratio(max(0.0, 1 - high), predicted), oe_ratio(max(0.0, 1 - low), predicted)),
        expected_events=tally[CONFIDENCE] * scale,
        observed_events=tally[CORRECT] * scale,
    )


class Clustered(Protocol):
    """How uncertain the share of errors is where rows belong together."""

    @property
    def groups(self) -> float: ...

    @property
    def variance(self) -> float: ...

    @property
    def freedom(self) -> float: ...


@dataclass(frozen=True)
class Spread:
    """How uncertain the share of errors is where rows weigh unequally."""

    variance: float
    freedom: float
    groups: float


def spread_of_rows(p: ArrayPredictions, groups: Codes | None = None) -> Spread:
    """How uncertain the share of errors is, from rows of any weights that may belong together."""
    share = float((p.weight * p.wrong).sum() / p.weight.sum())
    influence = p.weight * (p.wrong - share) / float(p.weight.mean())
    count = math.inf if groups is None else float(groups.max()) + 1
    return Spread(*variance_of_mean(influence, groups, p.weight), count)


def limits_of_errors(tally: Tally, clustered: Clustered | None = None, level: float = 0.95) -> tuple[float, float]:
    """Limits of the share of errors, as :func:`effects_of` says."""
    error = min(1.0, tally[WRONG] / tally[WEIGHT])
    if clustered is not None:
        return limits_of_share(
            error, clustered.variance, clustered.freedom, rows=tally[ROWS], groups=clustered.groups, level=level
        )
    if equal_weights(tally):
        low, high = limits(round(error * tally[ROWS]), tally[ROWS], level)
        return float(low), float(high)
    reach = quantile(level) * spread_of_errors(tally) / tally[WEIGHT]
    return max(0.0, error - reach), min(1.0, error + reach)


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

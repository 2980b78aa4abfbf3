"""Prediction intervals for metrics that are not known yet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.special import expit, logit

from surefoot._stats.quantiles import quantile
from surefoot.decisions.forecast import OF_CLASSES, SHARES, Forecast
from surefoot.decisions.outcomes import Outcomes
from surefoot.risk.intervals import ENOUGH, Interval

#: The largest values of losses that have one.
_MOST = {"brier": 1.0}
#: The least degrees of freedom of a variance.
_FEWEST = 6.0


def limits(name: str, one: Forecast, confidence: float, outcomes: Outcomes, most: float = math.inf) -> Interval:
    """The interval that holds a metric with so much confidence once labels are known.

    On the scale of log-odds for shares, and of logarithms for losses and counts, so that no limit is impossible.
    How well the variance is known depends on the reference rows of the rarer outcome, or of the rarest class; ``most``
    is the largest value.
    """
    if math.isnan(one.chance):
        return Interval(one.value, math.nan, math.nan, math.nan, confidence, one.note)
    error = one.deviation
    telling = outcomes.telling
    freedom = fewest_of((telling, outcomes.rarest), of_classes=name in OF_CLASSES)
    times = quantile(confidence, freedom)
    note = one.note or _few(telling)
    if not error:
        return Interval(one.value, one.value, one.value, 0.0, confidence, note)
    low, high = bounds(name, one.value, times * error, min(most, _MOST.get(name, math.inf)))
    return Interval(one.value, low, high, error, confidence, note)


def with_edges(
    intervals: dict[str, Interval], found: Mapping[str, Forecast], outcomes: Outcomes
) -> dict[str, Interval]:
    """The same intervals, where it is likely enough that there is no error at all, or none of a kind, up to that."""
    made = dict(intervals)

    def widen(names: tuple[str, ...], limit: float) -> None:
        for name in names:
            if name in made and not made[name].is_absent:
                one = made[name]
                made[name] = replace(one, low=min(one.low, limit), high=max(one.high, limit))

    def may_be_none(name: str) -> bool:
        return name in found and no_event(found[name]) >= (1 - intervals[name].level) / 2

    if may_be_none("errors"):
        doubt = np.asarray(outcomes.rows.doubt)
        widen(("accuracy", "cw_accuracy", "precision", "recall", "f1", "auc", "cw_auc"), 1.0)
        widen(("errors", "fp", "fn"), 0.0)
        widen(("brier",), float((doubt**2).mean()))
        widen(("log_loss",), float(-np.log1p(-np.minimum(doubt, 1 - 1e-15)).mean()))
    for name, whole, none in (
        ("fp", ("precision",), ()),
        ("fn", ("recall",), ()),
        ("tp", (), ("precision", "recall", "f1")),
    ):
        if may_be_none(name):
            widen(whole, 1.0)
            widen((name, *none), 0.0)
    if may_be_none("tn"):
        widen(("tn",), 0.0)
    return made


def no_event(one: Forecast) -> float:
    """The chance that nothing is counted: of a Poisson number, or of one whose mean is not known for sure."""
    mean, unknown = max(one.value, 0.0), one.unknown
    if math.isnan(unknown) or mean <= 0:
        return 1.0
    return math.exp(-mean if unknown <= 1e-9 * mean else -(mean**2) / unknown * math.log1p(unknown / mean))


def fewest_of(rows: tuple[float, float], *, of_classes: bool) -> float:
    """The degrees of freedom of a variance: reference rows of the rarer outcome, or of the rarest class if fewer.

    What is said of a class rests on its own errors, of which there are about half as many.
    """
    return max(_FEWEST, min(rows) / 2 if of_classes else rows[0])


def bounds(name: str, value: float, reach: float, most: float = math.inf) -> tuple[float, float]:
    """A value and a distance on its own scale, as limits on the scale that suits it."""
    if name in SHARES and 0 < value < 1:
        centre, reach = float(logit(value)), reach / (value * (1 - value))
        return float(expit(centre - reach)), float(expit(centre + reach))
    if value > 0:
        factor = math.exp(min(reach / value, 700.0))
        return value / factor, min(most, value * factor)
    return max(0.0, value - reach), min(most, value + reach)


def _few(telling: float) -> str:
    if telling >= ENOUGH:
        return ""
    rows = "row" if round(telling) == 1 else "rows"
    return f"the interval rests on {telling:.0f} reference {rows} of the rarer outcome and is approximate."

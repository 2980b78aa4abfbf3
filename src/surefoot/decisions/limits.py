"""Prediction intervals for metrics that are not known yet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from surefoot._stats.quantiles import quantile
from surefoot.decisions.forecast import COUNTS, OF_CLASSES, SHARES, Forecast
from surefoot.decisions.outcomes import Outcomes
from surefoot.decisions.rare import FEW, limits_of_number, tails_of_number
from surefoot.predictions import ArrayPredictions
from surefoot.risk.intervals import ENOUGH, Interval

#: The largest values of losses that have one.
_MOST = {"brier": 1.0}
#: The least degrees of freedom of a variance.
_FEWEST = 6.0


def limits(name: str, one: Forecast, confidence: float, outcomes: Outcomes) -> Interval:
    """The interval that holds a metric with so much confidence once labels are known.

    How well the variance is known depends on the reference rows of the rarer outcome, or of the rarest class.
    """
    if math.isnan(one.chance):
        return Interval(one.value, math.nan, math.nan, math.nan, confidence, one.note)
    error = one.deviation
    telling = outcomes.telling
    freedom = fewest_of((telling, outcomes.rarest), of_classes=name in OF_CLASSES)
    note = one.note or _few(telling)
    if not error:
        return Interval(one.value, one.value, one.value, 0.0, confidence, note)
    chance, unknown = (one.wider**2 * variance for variance in (one.chance, one.unknown))
    low, high = bounds(name, one.value, (chance, unknown), (confidence, freedom), outcomes.rows)
    return Interval(one.value, low, high, error, confidence, note)


def bounds(
    name: str, value: float, variances: tuple[float, float], sure: tuple[float, float], rows: ArrayPredictions
) -> tuple[float, float]:
    """Limits of a metric, by the variances of chance and of what is not known, and confidence and degrees of freedom.

    Few events are counted. Where there are many, limits are found on the scale of log-odds for shares, and of
    logarithms for losses and counts, so that no limit is impossible.
    """
    times = quantile(*sure)
    most = float(len(rows)) if name in COUNTS else _MOST.get(name, math.inf)
    few = _events(name, value, variances, sure, rows)
    if few is not None:
        low, high = few.limits((1 - sure[0]) / 2)
        return max(0.0, min(low, value)), min(1.0 if name in SHARES else most, max(high, value))
    reach = times * math.sqrt(sum(variances))
    if name in SHARES and 0 < value < 1:
        centre, reach = float(logit(value)), reach / (value * (1 - value))
        return float(expit(centre - reach)), float(expit(centre + reach))
    if value > 0:
        factor = math.exp(min(reach / value, 700.0))
        return value / factor, min(most, value * factor)
    return max(0.0, value - reach), min(most, value + reach)


def pvalue_of(
    name: str,
    value: float,
    seen: float,
    variances: tuple[float, float],
    sure: tuple[float, float],
    rows: ArrayPredictions,
) -> float | None:
    """The chance of a value at least as far from the expected one, where events are counted; None where not.

    It is at most 1 less the confidence just where the limits leave the value out.
    """
    few = _events(name, value, variances, sure, rows)
    return None if few is None else few.pvalue(seen)


@dataclass(frozen=True)
class _Events:
    """A metric that few events decide: what it is without any, and by how much each moves it."""

    origin: float
    #: Negative if events make it smaller.
    unit: float
    #: The mean number of events, its variance if that mean is known, and the variance of the mean.
    mean: float
    chance: float
    unknown: float
    #: By how many events a number may be off, where not all of them move the metric alike.
    slack: float

    def limits(self, tail: float) -> tuple[float, float]:
        low, high = limits_of_number(self.mean, self.chance, self.unknown, tail)
        low, high = max(0.0, low - self.slack), high + self.slack
        ends = self.origin + low * self.unit, self.origin + high * self.unit
        return min(ends), max(ends)

    def pvalue(self, seen: float) -> float:
        if not math.isfinite(seen):
            return 0.0
        number = (seen - self.origin) / self.unit
        most, least = math.floor(number + self.slack + 1e-9), math.ceil(number - self.slack - 1e-9)
        return min(1.0, 2 * min(tails_of_number(most, least, self.mean, self.chance, self.unknown)))


def _events(
    name: str, value: float, variances: tuple[float, float], sure: tuple[float, float], rows: ArrayPredictions
) -> _Events | None:
    """The events that decide a metric, if they are few; None where they are many."""
    chance, unknown = variances
    # from where events move the metric, and which way
    origin, sign = least_losses(rows).get(name, 0.0), 1.0
    if name in SHARES and value > 0.5:
        origin, sign = 1.0, -1.0
    away = abs(value - origin)
    if not (chance > 0 and away > 0):
        return None
    is_count = name in COUNTS or name == "accuracy"
    if is_count:
        unit = 1.0 if name in COUNTS else 1 / len(rows)
    else:
        unit = chance / (away * (1 - away) if name in SHARES else away)
    if away / unit >= FEW:
        return None
    # the uncertainty of the variance itself, as Student's t has it
    unknown *= (quantile(*sure) / quantile(sure[0])) ** 2
    of_number = away / unit, chance / unit**2, unknown / unit**2
    return _Events(origin, sign * unit, *of_number, slack=0.0 if is_count else 0.5)


def least_losses(rows: ArrayPredictions) -> dict[str, float]:
    """What losses are if every prediction turns out as is likelier: wrong, if its confidence is below one half."""
    doubt = np.asarray(rows.doubt, dtype=np.float64)
    doubt = np.minimum(doubt, 1 - doubt)
    return {"brier": float((doubt**2).mean()), "log_loss": float(-np.log1p(-doubt).mean())}


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
        widen(("accuracy", "cw_accuracy", "precision", "recall", "f1", "auc", "cw_auc"), 1.0)
        widen(("errors", "fp", "fn"), 0.0)
        for name, least in least_losses(outcomes.rows).items():
            widen((name,), least)
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
    for true, false in (("tp", "fp"), ("tn", "fn")):
        if true in made:
            _complete(made, true, false)
    share, count = made["accuracy"], len(outcomes.right)
    if not share.is_absent:
        # the rows that are not right, as a number: a whole one where accuracy was found by counting
        low, high = (round(count * (1 - limit), 9) for limit in (share.high, share.low))
        made["errors"] = replace(made["errors"], low=low, high=high)
    return made


def _complete(made: dict[str, Interval], true: str, false: str) -> None:
    """How many rows are predicted of a class is known: the limits of the larger part are those of the smaller one."""
    larger, smaller = sorted((true, false), key=lambda name: -made[name].value)
    total, one = made[true].value + made[false].value, made[smaller]
    made[larger] = replace(made[larger], low=max(0.0, total - one.high), high=total - one.low)
    made[smaller] = replace(one, high=min(one.high, total))


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


def _few(telling: float) -> str:
    if telling >= ENOUGH:
        return ""
    rows = "row" if round(telling) == 1 else "rows"
    return f"the interval rests on {telling:.0f} reference {rows} of the rarer outcome and is approximate."

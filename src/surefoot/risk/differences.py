"""How far two models are apart, row by row where they were given the same rows; and which of them is riskier."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from surefoot.predictions import Predictions
from surefoot.risk.cells import Codes
from surefoot.risk.intervals import (
    Estimate,
    Interval,
    difference_of,
    estimates,
    mean,
    share,
    unpaired_difference,
)
from surefoot.roots import root

#: The logarithms of the p-values between which one is looked for.
_LEAST, _MOST = math.log(1e-12), math.log1p(-1e-9)
_NEVER_WRONG = "without any errors O/E is 0, and its logarithm not finite"


def differences(
    one: Predictions,
    other: Predictions,
    *,
    level: float,
    with_ranking: bool,
    same_rows: bool,
    groups: Codes | None = None,
) -> dict[str, Interval]:
    """How much larger each value is for one model than for another.

    Accuracy, cwA, log loss, Brier score, points of overstatement, the logarithm of O/E, and the areas under curves.
    """
    first, second = (_values(p, with_ranking) for p in (one, other))
    found, alike = {}, _decide_alike(one, other)
    for name in first:
        if name not in second:
            continue
        if same_rows:
            found[name] = difference_of(first[name], second[name], level, groups, alike=alike)
        else:
            found[name] = unpaired_difference(first[name], second[name], level)
    return found


def riskier(one: Predictions, other: Predictions, *, same_rows: bool, groups: Codes | None = None) -> float:
    """The two-sided p-value of "both overstate their accuracy alike": where the interval just leaves out 0."""
    first, second, alike = _overstatement(one), _overstatement(other), _decide_alike(one, other)

    def of(level: float) -> Interval:
        if same_rows:
            return difference_of(first, second, level, groups, alike=alike)
        return unpaired_difference(first, second, level)

    return _level_without_zero(of)


def _decide_alike(one: Predictions, other: Predictions) -> bool:
    """Whether both predict the same label for every row, as a model does before and after it is calibrated."""
    if one.predicted is None or other.predicted is None or len(one) != len(other):
        return False
    first, second = np.asarray(one.predicted), np.asarray(other.predicted)
    return first.dtype.kind == second.dtype.kind and bool((first == second).all())


def _level_without_zero(of: Callable[[float], Interval]) -> float:
    """One less the level of the widest interval that leaves out 0."""

    def beyond(log_p: float) -> float:
        interval = of(-math.expm1(log_p))
        return interval.high if interval.value < 0 else -interval.low

    if of(0.5).is_absent:
        return math.nan
    if beyond(_MOST) >= 0:
        return 1.0
    return math.exp(root(beyond, _LEAST, _MOST, xtol=1e-6)) if beyond(_LEAST) > 0 else math.exp(_LEAST)


def _values(p: Predictions, with_ranking: bool) -> dict[str, Estimate]:
    correct, weight = p.correct, p.weight
    confidence, doubt = p.confidence_of(slice(None)), p.doubt_of(slice(None))
    held = estimates(p, with_ranking)
    telling = held["accuracy"].telling
    with np.errstate(divide="ignore"):
        losses = -np.log(np.where(correct, confidence, doubt))
    found = {"accuracy": held["accuracy"], "cw_accuracy": held["cw_accuracy"]}
    if np.isfinite(losses[weight > 0]).all():
        found["log_loss"] = mean(np.where(weight > 0, losses, 0.0), weight, telling)
    else:
        certain = "a row with confidence 1 was wrong, so the log loss is infinite"
        found["log_loss"] = Estimate(math.inf, losses, len(p), telling, few=certain)
    found["brier"] = mean(np.where(correct, doubt, confidence) ** 2, weight, telling)
    found["overstatement"] = _overstatement(p)
    found["log_oe"] = _log_ratio(p, telling)
    return {**found, **{name: held[name] for name in ("auc", "cw_auc") if name in held}}


def _overstatement(p: Predictions) -> Estimate:
    """Mean confidence minus accuracy: given the confidences, one share is random in it."""
    accuracy = share(p.correct, p.weight)
    average = mean(np.asarray(~p.correct, dtype=np.float64) - p.doubt_of(slice(None)), p.weight, accuracy.telling)
    assert accuracy.terms is not None
    assert accuracy.stakes is not None
    # what a wrong row takes off accuracy it adds here
    return replace(
        average,
        terms=-accuracy.terms,
        stakes=-accuracy.stakes,
        offset=average.value - float(accuracy.terms.mean()),
    )


def _log_ratio(p: Predictions, telling: float) -> Estimate:
    """The logarithm of observed over expected errors."""
    weight = p.weight / float(p.weight.mean())
    wrong, doubt = weight * (~p.correct), weight * p.doubt_of(slice(None))
    errors, expected = float(wrong.mean()), float(doubt.mean())
    if not errors or not expected:
        value = -math.inf if expected else math.nan if not errors else math.inf
        return Estimate(value, wrong, len(p), telling, few=_NEVER_WRONG)
    return Estimate(math.log(errors / expected), wrong / errors - doubt / expected, len(p), telling)

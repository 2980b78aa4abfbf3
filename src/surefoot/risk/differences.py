"""How far two models are apart, row by row where they were given the same rows; and which of them is riskier."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from surefoot._stats.roots import root
from surefoot.core.table import Floats
from surefoot.metrics.proper import BRIER, LOG_LOSS, SQUARED_GAP, SURPRISAL
from surefoot.metrics.terms import CONFIDENCE, CORRECT, DOUBT, WRONG
from surefoot.predictions import ArrayPredictions
from surefoot.risk.effects import OF_EVENTS, Effects, effects_of
from surefoot.risk.effects import TERMS as EFFECT_TERMS
from surefoot.risk.estimates import FEWEST, Estimate, concordance, drop_weightless, estimates, row_values, value_of
from surefoot.risk.intervals import Interval, difference_of, unpaired_difference
from surefoot.risk.law.cells import Codes

#: No p-value is told below this; and the logarithms of those between which one is looked for.
LEAST = 1e-12
_LEAST, _MOST = math.log(LEAST), math.log1p(-1e-9)


def differences(
    one: ArrayPredictions,
    other: ArrayPredictions,
    *,
    level: float,
    with_ranking: bool,
    same_rows: bool,
    groups: Codes | None = None,
) -> dict[str, Interval]:
    """How much larger each value is for one model than for another.

    Accuracy, cwA, log loss, Brier score, points of overstatement, the logarithm of O/E, and the areas under curves; of
    an event those that are defined for it.
    """
    if same_rows:
        (one, groups), (other, _) = drop_weightless(one, groups), drop_weightless(other, groups)
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


def riskier(one: ArrayPredictions, other: ArrayPredictions, *, same_rows: bool, groups: Codes | None = None) -> float:
    """The two-sided p-value of "both overstate their accuracy alike": where the interval just leaves out 0."""
    if same_rows:
        (one, groups), (other, _) = drop_weightless(one, groups), drop_weightless(other, groups)
    first, second, alike = _overstatement(one), _overstatement(other), _decide_alike(one, other)

    def of(level: float) -> Interval:
        if same_rows:
            return difference_of(first, second, level, groups, alike=alike)
        return unpaired_difference(first, second, level)

    return _level_without_zero(of)


def _decide_alike(one: ArrayPredictions, other: ArrayPredictions) -> bool:
    """Whether both must predict the same label for every row, as a model does before and after it is calibrated.

    That is known if they do so here, and one score is a rising function of the other: of two classes, over the rows; of
    more, over the classes of each row.
    """
    if one.predicted is None or other.predicted is None or not one.has_probabilities or not other.has_probabilities:
        return False
    if len(one) != len(other) or one.labels != other.labels or one.labels is None:
        return False
    if (np.asarray(one.predicted) != np.asarray(other.predicted)).any():
        return False
    if len(one.labels) == 2:
        first, second = (next(iter(p.ranking_scores([1]))) for p in (one, other))
        rising = np.lexsort((second, first))
        return bool((np.diff(second[rising]) >= 0).all()) and len(np.unique(first)) > 1
    orders = [np.argsort(np.asarray(p.probabilities), axis=1, kind="stable") for p in (one, other)]
    return bool((orders[0] == orders[1]).all())


def _level_without_zero(of: Callable[[float], Interval]) -> float:
    """One less the level of the widest interval that leaves out 0."""

    def beyond(log_p: float) -> float:
        interval = of(-math.expm1(log_p))
        return interval.high if interval.value < 0 else -interval.low

    if of(0.5).is_absent:
        return math.nan
    if beyond(_MOST) >= 0:
        return 1.0
    return math.exp(root(beyond, _LEAST, _MOST, xtol=1e-6)) if beyond(_LEAST) > 0 else LEAST


def _values(p: ArrayPredictions, with_ranking: bool) -> dict[str, Estimate]:
    held = estimates(p, with_ranking)
    telling = held["accuracy"].telling
    confidence, doubt = p.confidence_of(slice(None)), p.doubt_of(slice(None))
    is_event = p.view == "event"
    found = {} if is_event else {name: held[name] for name in ("accuracy", "cw_accuracy")}
    loss = value_of(LOG_LOSS, p)
    if math.isfinite(loss):
        (losses,) = row_values(p, SURPRISAL)
        # what a row that is right would lose if it were wrong
        swing = np.log(np.maximum(confidence, 1e-300)) - np.log(np.maximum(doubt, 1e-300))
        found["log_loss"] = replace(_mean_over_rows(p, loss, losses, swing, telling), is_bounded=False)
    else:
        certain = "a row with confidence 1 was wrong, so the log loss is infinite"
        found["log_loss"] = Estimate(loss, doubt, len(p), telling, few=certain)
    (squares,) = row_values(p, SQUARED_GAP)
    found["brier"] = _mean_over_rows(p, value_of(BRIER, p), squares, confidence**2 - doubt**2, telling)
    found["overstatement"] = _overstatement(p)
    found["log_oe"] = _log_ratio(p, telling)
    if is_event:
        return {**found, "auc": concordance(p)} if with_ranking else found
    return {**found, **{name: held[name] for name in ("auc", "cw_auc") if name in held}}


def _effects(p: ArrayPredictions) -> Effects:
    return effects_of(p.tally((*EFFECT_TERMS, *OF_EVENTS)))


def _mean_over_rows(p: ArrayPredictions, value: float, sums: Floats, swing: Floats, telling: float) -> Estimate:
    """A mean over rows, from what each adds to the sum; a row that is wrong adds more by ``swing`` times its weight."""
    scale = float(p.weight.mean())
    weight, sums = p.weight / scale, sums / scale
    stakes = -weight * swing
    terms = np.where(p.correct, 0.0, stakes)
    return Estimate(
        value,
        sums - value * weight,
        float(weight.sum() ** 2 / (weight**2).sum()),
        telling,
        terms=terms,
        stakes=stakes,
        offset=float((sums + terms).mean()),
        weight=weight,
    )


def _overstatement(p: ArrayPredictions) -> Estimate:
    """Mean confidence minus accuracy: given the confidences, one share is random in it."""
    wrong, doubt = row_values(p, WRONG, DOUBT)
    errors = float(p.wrong.sum())
    telling, value = min(errors, len(p) - errors), _effects(p).overstatement
    return replace(_mean_over_rows(p, value, wrong - doubt, np.ones(len(p)), telling), is_share=True)


def _log_ratio(p: ArrayPredictions, telling: float) -> Estimate:
    """The logarithm of observed over expected errors; of an event, of observed over expected events."""
    what, counted = ("events", p.correct) if p.view == "event" else ("errors", p.wrong)
    observed, expected = row_values(p, *((CORRECT, CONFIDENCE) if p.view == "event" else (WRONG, DOUBT)))
    ratio = _effects(p).oe_ratio
    if not 0 < ratio < math.inf:
        never = f"without any {what} O/E is 0, and its logarithm not finite"
        return Estimate(math.log(ratio) if ratio else -math.inf, observed, len(p), telling, few=never)
    count = int(counted.sum())
    noun = what.removesuffix("s") if count == 1 else what
    few = f"O/E rests on {count} {noun}; its logarithm needs {FEWEST} for an interval" * (count < FEWEST)
    influence, weight = observed / observed.mean() - expected / expected.mean(), p.weight / float(p.weight.mean())
    return Estimate(math.log(ratio), influence, len(p), telling, is_bounded=False, weight=weight, few=few)

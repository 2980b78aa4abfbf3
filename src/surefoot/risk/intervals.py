r"""Intervals for what the confidences are worth.

Each estimate is a mean of influence values f, one for each row, so its standard error is
:math:`\sqrt{\sum_i f_i^2} / N`; rows that belong together (a patient, a user, a prompt) are added up first. Values
between 0 and 1 get their interval on the logit scale, differences on their own. ECE, which is no such mean, is
bootstrapped.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from surefoot.arguments import check_share, check_whole
from surefoot.engines.anywhere import on_host
from surefoot.errors import FewMistakesWarning
from surefoot.metrics.binned import ece
from surefoot.predictions import Predictions
from surefoot.predictions.columns import check_lengths
from surefoot.predictions.labels import as_labels
from surefoot.tallies import Floats

#: Mistakes, or rows on the rarer side of a class, below which an interval is rough.
ENOUGH = 15
_BINS = 15
#: Parts of a bin that rows are lumped in for the bootstrap, and numbers drawn together.
_PARTS = 64
_TOGETHER = 1 << 22


@dataclass(frozen=True)
class Interval:
    """An estimate, its standard error, and the limits it lies within at ``level``."""

    value: float
    low: float
    high: float
    standard_error: float
    level: float
    #: Why the interval should be taken with care; empty if it need not.
    note: str = ""


@dataclass(frozen=True)
class _Estimate:
    """A value, the influence of each row on it, how many rows it rests on, and how many of them tell."""

    value: float
    influence: Floats
    rows: float
    telling: float


def intervals(
    predictions: Predictions,
    *,
    level: float = 0.95,
    groups: Any = None,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
) -> dict[str, Interval]:
    """Intervals for accuracy, cw_accuracy and their difference, auc, cw_auc and theirs, and with ``rng`` for ece.

    ``groups`` names what rows belong together; rows of one group may depend on each other in any way. The AUCs need
    probabilities; of many classes they are the macro averages. Fewer than 15 mistakes (or rows of a class, or groups)
    make an interval rough: a warning says so.

    Examples
    --------
    >>> p = Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 80 + [0.7] * 20)
    >>> interval = intervals(p)["accuracy"]
    >>> round(interval.low, 3), interval.value, round(interval.high, 3)
    (0.71, 0.8, 0.867)
    """
    check_share("level", level, "0.95")
    check_whole("draws", draws)
    predictions = on_host(predictions)
    found = value_intervals(predictions, level=level, groups=_codes(predictions, groups), with_ranking=True)
    if rng is not None:
        found["ece"] = _ece_interval(predictions, level, _codes(predictions, groups), rng, draws)
    rough = next((interval.note for interval in found.values() if interval.note), "")
    if rough:
        warnings.warn(rough, FewMistakesWarning, stacklevel=2)
    return found


def value_intervals(
    predictions: Predictions, *, level: float, groups: Floats | None = None, with_ranking: bool
) -> dict[str, Interval]:
    """The intervals made of influence values, in silence."""
    values = _values(predictions, with_ranking)
    found = {}
    for plain, weighted, what in (("accuracy", "cw_accuracy", "mistakes"), ("auc", "cw_auc", "rows of a class")):
        if plain in values:
            for name in (plain, weighted):
                found[name] = _interval(values[name], level, groups, what)
            difference = _difference(values[weighted], values[plain], level, groups, what)
            found[f"{weighted} - {plain}"] = difference
    return found


def paired_differences(
    one: Predictions, other: Predictions, *, level: float, with_ranking: bool, same_rows: bool
) -> dict[str, Interval]:
    """How much larger values are on one model than on another; same rows are compared with themselves."""
    found = {}
    pairs = [(name, value, _values(other, with_ranking)[name]) for name, value in _values(one, with_ranking).items()]
    for name, first, second in pairs:
        if same_rows:
            found[name] = _difference(first, second, level, None, "mistakes")
        else:
            value = first.value - second.value
            error = math.hypot(_standard_error(first.influence, None), _standard_error(second.influence, None))
            reach = _quantile(level) * error
            found[name] = Interval(value, value - reach, value + reach, error, level, _note(first, None, "mistakes"))
    return found


def _values(predictions: Predictions, with_ranking: bool) -> dict[str, _Estimate]:
    """The values that are means of influences; areas under curves only where they are asked for and can be had."""
    correct, weight = predictions.correct.astype(np.float64), predictions.weight
    weighted = weight * predictions.confidence_of(slice(None))
    found = {"accuracy": _ratio(correct, weight), "cw_accuracy": _ratio(correct, weighted)}
    if with_ranking and predictions.probabilities is not None and predictions.labels is not None:
        areas = _areas(predictions, weight, weighted)
        if areas is not None:
            found["auc"], found["cw_auc"] = areas
    return found


def _ratio(values: Floats, weight: Floats) -> _Estimate:
    """A weighted mean: a ratio of two means, and its linearisation."""
    # only ratios of weights matter, and squares of tiny ones would vanish
    weight = weight / (float(weight.max()) or 1.0)
    total = float(weight.sum())
    mean = float((weight * values).sum()) / total if total else math.nan
    effective = total**2 / float((weight**2).sum()) if total else math.nan
    influence = weight * (values - mean) * (len(values) / total) if total else np.full(len(values), math.nan)
    counting = weight > 0
    wrong = float((1 - values)[counting].sum())
    return _Estimate(mean, influence, effective, min(wrong, float(counting.sum()) - wrong))


def _areas(predictions: Predictions, *weights: Floats) -> list[_Estimate] | None:
    """Macro averages of the areas under the weighted ROC curves, by DeLong's placements."""
    assert predictions.labels is not None
    # of two classes the second's, as everywhere
    labels = range(1, 2) if len(predictions.labels) == 2 else range(len(predictions.labels))
    sums = [np.zeros(len(predictions)) for _ in weights]
    values: list[list[float]] = [[] for _ in weights]
    rarest = math.inf
    for label, scores in zip(labels, predictions.ranking_scores(list(labels)), strict=True):
        positive = predictions.is_truly(label)
        if any(not weight[positive].any() or not weight[~positive].any() for weight in weights):
            continue
        rarest = min(rarest, float(positive.sum()), float((~positive).sum()))
        order = np.argsort(scores, kind="stable")
        for i, weight in enumerate(weights):
            area, influence = _area(scores, positive, weight, order)
            values[i].append(area)
            sums[i] += influence
    if not values[0]:
        return None
    return [_Estimate(float(np.mean(v)), s / len(v), rarest, rarest) for v, s in zip(values, sums, strict=True)]


def _area(scores: Floats, positive: Any, weight: Floats, order: Any) -> tuple[float, Floats]:
    """The area, and for each row what it adds: the share of the other class that it beats, less the mean."""
    ordered = scores[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    tie = np.cumsum(np.append(0, ordered[1:] != ordered[:-1]))
    influence = np.empty(len(scores))
    area = math.nan
    for own, other in ((positive, ~positive), (~positive, positive)):
        masses = np.add.reduceat(np.where(other, weight, 0.0)[order], starts)
        below = np.cumsum(masses) - masses / 2  # ties count one half
        beaten = np.empty(len(scores))
        beaten[order] = (below / masses.sum())[tie]
        if own is not positive:
            beaten = 1 - beaten
        total = float(weight[own].sum())
        area = float((weight[own] * beaten[own]).sum()) / total
        influence[own] = weight[own] * (beaten[own] - area) / total * len(scores)
    return area, influence


def _interval(estimate: _Estimate, level: float, groups: Floats | None, what: str) -> Interval:
    value, error = estimate.value, _standard_error(estimate.influence, groups)
    note = _note(estimate, groups, what)
    if math.isnan(value):
        return Interval(value, math.nan, math.nan, math.nan, level, note)
    rows = estimate.rows if groups is None else min(estimate.rows, float(groups.max()) + 1)
    if value in (0.0, 1.0) or error <= 1e-12:
        # nothing varied: the rule of three, exactly, to either side
        reach = 1 - (1 - level) ** (1 / rows)
        return Interval(value, max(0.0, value - reach), min(1.0, value + reach), error, level, note)
    center, reach = math.log(value / (1 - value)), _quantile(level) * error / (value * (1 - value))
    return Interval(value, float(expit(center - reach)), float(expit(center + reach)), error, level, note)


def _difference(one: _Estimate, other: _Estimate, level: float, groups: Floats | None, what: str) -> Interval:
    value, error = one.value - other.value, _standard_error(one.influence - other.influence, groups)
    reach = _quantile(level) * error
    return Interval(value, value - reach, value + reach, error, level, _note(one, groups, what))


def _standard_error(influence: Floats, groups: Floats | None) -> float:
    if groups is None:
        return math.sqrt(float((influence**2).sum())) / len(influence)
    sums = np.bincount(groups, influence)
    # few groups: as the variance of so many numbers
    return math.sqrt(float((sums**2).sum()) * len(sums) / max(1, len(sums) - 1)) / len(influence)


def _note(estimate: _Estimate, groups: Floats | None, what: str) -> str:
    if groups is not None and groups.max() + 1 < ENOUGH:
        return f"the interval rests on {int(groups.max()) + 1} groups: it is rough."
    if estimate.telling < ENOUGH:
        return f"the interval rests on {round(estimate.telling)} {what} of the rarer kind: it is rough."
    return ""


def _quantile(level: float) -> float:
    return float(ndtri((1 + level) / 2))


def _codes(predictions: Predictions, groups: Any) -> Any:
    if groups is None:
        return None
    values = as_labels("groups", groups)
    check_lengths(rows=len(predictions), groups=values)
    return np.unique(values, return_inverse=True)[1]


def _ece_interval(
    predictions: Predictions, level: float, groups: Any, rng: np.random.Generator, draws: int
) -> Interval:
    """The basic bootstrap, which takes off the upward bias that resampling adds to a sum of absolute values."""
    confidence, correct = predictions.confidence_of(slice(None)), predictions.correct
    weight = predictions.weight
    bins = np.clip(np.ceil(confidence * _BINS) - 1, 0, _BINS - 1).astype(np.intp)
    gaps = weight * (correct - confidence)
    if groups is None:
        # rows that are much alike are one kind, drawn as often as it likes
        part = np.minimum((confidence * _BINS - bins) * _PARTS, _PARTS - 1).astype(np.intp)
        kinds = np.unique((bins * _PARTS + part) * 2 + correct, return_inverse=True)[1]
    else:
        kinds = groups
    size = int(kinds.max()) + 1
    rows = np.bincount(kinds).astype(np.float64) if groups is None else np.ones(size)
    table = np.zeros((size, _BINS + 1))
    np.add.at(table, (kinds, bins), gaps)
    np.add.at(table[:, -1], kinds, weight)
    table /= rows[:, None]
    values = []
    for start in range(0, draws, max(1, _TOGETHER // size)):
        some = min(draws - start, max(1, _TOGETHER // size))
        drawn = rng.multinomial(round(rows.sum()), rows / rows.sum(), some) @ table
        values.append(np.abs(drawn[:, :-1]).sum(axis=1) / drawn[:, -1])
    resampled = np.concatenate(values)
    value = ece(predictions)
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    wrong = float((~correct).sum())
    few = _Estimate(value, gaps, float(len(gaps)), min(wrong, len(gaps) - wrong))
    return Interval(
        value,
        max(0.0, 2 * value - float(high)),
        min(1.0, max(0.0, 2 * value - float(low))),
        float(resampled.std()),
        level,
        _note(few, groups, "mistakes"),
    )

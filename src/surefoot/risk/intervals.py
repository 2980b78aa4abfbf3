r"""Intervals for what the confidences are worth, and for the differences between models.

Each estimate is a mean of influence values f, one for each row, so its standard error is
:math:`\sqrt{\sum_i f_i^2} / N`; rows that belong together (a patient, a user, a prompt) are added up first. How well
such a variance is known is told by the spread of its squares, and quantiles are those of t with so many degrees of
freedom. Where few rows say anything, that is not enough:

- shares of correct rows get the limits of Korn and Graubard, those of Clopper and Pearson for as many rows as would
  leave the share as uncertain;
- areas under curves get theirs on the logit scale, and none with fewer than ten rows of a class;
- differences that few mistakes make reach at least as far as the sums of rare events with these weights could (Fay and
  Feuer 1997): without any mistake, by the rule of three.

ECE, which is no such mean, gets limits from those of its bins.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, gammaincinv, logit

from surefoot._io.arguments import check_share, check_whole
from surefoot.core.table import Floats
from surefoot.errors import FewMistakesWarning
from surefoot.metrics.binned import ece
from surefoot.predictions import Predictions
from surefoot.risk.effects import limits_of_share
from surefoot.risk.groups import group_codes, quantile, variance_of_mean
from surefoot.risk.law.cells import Codes

#: Mistakes, or rows on the rarer side of a class, below which an interval is rough; rows of a class below which an
#: area gets none.
ENOUGH, FEWEST = 15, 10
_BINS = 15
#: Rows that make a difference, or rows of a class, below which their own variance says too little.
_RARE, _MANY = 30, 200
_CONSTANT = "nothing varies from row to row: there is no telling how much it could"


@dataclass(frozen=True)
class Interval:
    """An estimate, its standard error, and the limits it lies within at ``level``; nan limits where there are none."""

    value: float
    low: float
    high: float
    standard_error: float
    level: float
    #: Why the interval should be taken with care, or is absent; empty if neither.
    note: str = ""

    @property
    def is_absent(self) -> bool:
        return math.isnan(self.low) or math.isnan(self.high)


@dataclass(frozen=True)
class Estimate:
    """A value, and the influence of each row on it.

    Of a share, ``stakes`` are what each row takes off it if it is wrong, and ``terms`` what those take that are: the
    value is ``offset`` less the mean of these. ``few`` says why there is no interval, if there is none, and ``what``
    what it rests on.
    """

    value: float
    influence: Floats
    #: How many rows of equal weight it rests on, and how many of them tell.
    rows: float
    telling: float
    what: str = "mistakes of the rarer kind"
    terms: Floats | None = None
    stakes: Floats | None = None
    offset: float = 1.0
    is_share: bool = False
    is_area: bool = False
    #: Whether the value lies between 0 and 1, or -1 and 1, so that differences have limits of their own.
    is_bounded: bool = True
    #: What each row weighs in it; None if all the same.
    weight: Floats | None = None
    #: The variance is taken to be this at least.
    least: float = 0.0
    few: str = ""


def intervals(
    predictions: Predictions,
    *,
    level: float = 0.95,
    groups: Any = None,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
) -> dict[str, Interval]:
    """Intervals for accuracy, cw_accuracy and their difference, auc, cw_auc and theirs, and ece.

    ``groups`` names what rows belong together; rows of one group may depend on each other in any way. The AUCs need
    probabilities; of many classes they are the macro averages, and have no interval with fewer than 10 rows of a class.
    Fewer than 15 mistakes (or rows of a class, or groups) make an interval rough: a warning says so. ``rng`` and
    ``draws`` are no longer used: no interval is drawn at random.

    Examples
    --------
    >>> p = Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 80 + [0.7] * 20)
    >>> interval = intervals(p)["accuracy"]
    >>> round(interval.low, 3), interval.value, round(interval.high, 3)
    (0.708, 0.8, 0.873)
    """
    check_share("level", level, "0.95")
    check_whole("draws", draws)
    predictions = predictions.rows("intervals")
    codes = None if groups is None else group_codes(len(predictions), groups, predictions.weight)
    predictions, codes = counting(predictions, codes)
    found = value_intervals(predictions, level=level, groups=codes, with_ranking=True)
    found["ece"] = _ece_interval(predictions, level, codes)
    rough = next((interval.note for interval in found.values() if interval.note), "")
    if rough:
        warnings.warn(rough, FewMistakesWarning, stacklevel=2)
    return found


def value_intervals(
    predictions: Predictions, *, level: float, groups: Codes | None = None, with_ranking: bool
) -> dict[str, Interval]:
    """The intervals of the shares, the areas and their differences, in silence."""
    predictions, groups = counting(predictions, groups)
    values = estimates(predictions, with_ranking)
    found = {}
    for plain, weighted in (("accuracy", "cw_accuracy"), ("auc", "cw_auc")):
        if plain in values:
            for name in (plain, weighted):
                found[name] = interval_of(values[name], level, groups)
            apart = difference_of(values[weighted], values[plain], level, groups, of_one=True)
            found[f"{weighted} - {plain}"] = apart
    return found


def counting(predictions: Predictions, groups: Codes | None) -> tuple[Predictions, Codes | None]:
    """Without the rows that have no weight."""
    kept = predictions.weight > 0
    if not predictions.is_weighted or kept.all() or not kept.any():
        return predictions, groups
    return predictions[kept], None if groups is None else np.unique(groups[kept], return_inverse=True)[1]


def estimates(predictions: Predictions, with_ranking: bool) -> dict[str, Estimate]:
    """The shares, and the areas under curves where they are asked for and can be had."""
    correct, weight = predictions.correct, predictions.weight
    weighted = weight * predictions.confidence_of(slice(None))
    found = {"accuracy": share(correct, weight), "cw_accuracy": share(correct, weighted)}
    if with_ranking and predictions.probabilities is not None and predictions.labels is not None:
        areas = _areas(predictions, weight, weighted)
        if areas is not None:
            found["auc"], found["cw_auc"] = areas
    return found


def share(correct: Any, weight: Floats) -> Estimate:
    """The weighted share of correct rows."""
    # only ratios of weights matter, and squares of tiny ones would vanish
    weight = weight / (float(weight.max()) or 1.0)
    total = float(weight.sum())
    wrong = (~correct).astype(np.float64)
    if not total:
        nothing = np.full(len(wrong), math.nan)
        return Estimate(math.nan, nothing, math.nan, 0.0, few="no row has any weight")
    stakes = weight * (len(wrong) / total)
    counting = weight > 0
    errors = float(wrong[counting].sum())
    value = 1 - float((stakes * wrong).mean()) if errors < counting.sum() else 0.0
    return Estimate(
        value,
        stakes * (1 - wrong - value),
        total**2 / float((weight**2).sum()),
        min(errors, float(counting.sum()) - errors),
        terms=stakes * wrong,
        stakes=stakes,
        is_share=True,
        weight=stakes,
    )


def mean(values: Floats, weight: Floats, telling: float) -> Estimate:
    """The weighted mean of numbers, one for each row."""
    relative = weight / float(weight.mean())
    average = float((relative * values).mean())
    rows = float(relative.sum() ** 2 / (relative**2).sum())
    return Estimate(average, relative * (values - average), rows, telling, weight=relative)


def _areas(predictions: Predictions, *weights: Floats) -> list[Estimate] | None:
    """Macro averages of the areas under the weighted ROC curves, by DeLong's placements."""
    assert predictions.labels is not None
    # of two classes the second's, as everywhere
    labels = range(1, 2) if len(predictions.labels) == 2 else range(len(predictions.labels))
    sums = [np.zeros(len(predictions)) for _ in weights]
    values: list[list[float]] = [[] for _ in weights]
    least = [0.0 for _ in weights]
    rarest = math.inf
    for label, scores in zip(labels, predictions.ranking_scores(list(labels)), strict=True):
        positive = predictions.is_truly(label)
        if any(not weight[positive].any() or not weight[~positive].any() for weight in weights):
            continue
        count = float(positive.sum())
        rarest = min(rarest, count, len(positive) - count)
        order = np.argsort(scores, kind="stable")
        for i, weight in enumerate(weights):
            area, influence = _area(scores, positive, weight, order)
            values[i].append(area)
            sums[i] += influence
            least[i] += _least_variance(area, count, len(positive) - count)
    if not values[0]:
        return None
    few = f"a class has only {rarest:.0f} rows; an area needs {FEWEST} of each for an interval" * (rarest < FEWEST)
    return [
        Estimate(
            float(np.mean(v)),
            s / len(v),
            rarest,
            rarest,
            "rows of the rarest class",
            is_area=True,
            least=low / len(v) ** 2,
            few=few,
        )
        for v, s, low in zip(values, sums, least, strict=True)
    ]


def _least_variance(area: float, one: float, other: float) -> float:
    """Of few rows of a class, which may all be of the better kind: the variance by Newcombe's (2006) formula."""
    if min(one, other) >= _MANY:
        return 0.0
    excess = (one + other) / 2 - 1
    return area * (1 - area) * (1 + excess * ((1 - area) / (2 - area) + area / (1 + area))) / (one * other)


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
        # as of so many numbers about their mean
        count = int(own.sum())
        spread = math.sqrt(count / (count - 1)) if count > 1 else 1.0
        influence[own] = weight[own] * (beaten[own] - area) / total * len(scores) * spread
    return area, influence


def interval_of(one: Estimate, level: float, groups: Codes | None) -> Interval:
    """The interval of a share, of an area, or of a mean."""
    if one.few:
        return _absent(one.value, level, one.few)
    variance, freedom = variance_of_mean(one.influence, groups, one.weight)
    error, note = math.sqrt(variance), _note([one], groups)
    if one.terms is not None and one.is_share:
        low, high = _limits_of_terms(one, np.abs(one.terms), level, groups)
        return Interval(one.value, low, high, error, level, note)
    if one.is_area and (one.value in (0.0, 1.0) or error <= 1e-12):
        # nothing varied: the rule of three, exactly, to either side
        rows = one.rows if groups is None else min(one.rows, float(groups.max()) + 1)
        reach = 1 - (1 - level) ** (1 / rows)
        return Interval(one.value, max(0.0, one.value - reach), min(1.0, one.value + reach), error, level, note)
    reach = max(quantile(level, freedom) * error, quantile(level, 1e9) * math.sqrt(one.least))
    if one.is_area:
        center, reach = float(logit(one.value)), reach / (one.value * (1 - one.value))
        return Interval(one.value, float(expit(center - reach)), float(expit(center + reach)), error, level, note)
    low, high = one.value - reach, one.value + reach
    if one.terms is not None and one.stakes is not None and _are_rare(one.terms, groups):
        fall, rise = _of_rare(-one.terms, _sides_of(-one.stakes), level, groups)
        low, high = min(low, one.offset + fall), max(high, one.offset + rise)
    return Interval(one.value, low, high, error, level, note)


def _limits_of_terms(one: Estimate, terms: Floats, level: float, groups: Codes | None) -> tuple[float, float]:
    """The limits of what a share of correct rows makes of a value, by those of that share."""
    correct = 1 - float(terms.mean())
    variance, freedom = variance_of_mean(terms - terms.mean(), groups, one.weight)
    if groups is None:
        # of independent rows Clopper and Pearson allow for all there is to allow for
        variance, freedom = variance * (1 - 1 / len(terms)), math.inf
    count = math.inf if groups is None else float(groups.max()) + 1
    low, high = limits_of_share(correct, variance, freedom, rows=one.rows, groups=count, level=level)
    return (low, high) if one.offset == 1 else (one.value + correct - high, one.value + correct - low)


def difference_of(
    one: Estimate, other: Estimate, level: float, groups: Codes | None, *, of_one: bool = False, alike: bool = False
) -> Interval:
    """How much larger one is than the other, on the same rows; of one model, of two that decide alike, or of any."""
    value = one.value - other.value
    few = one.few or other.few
    if few:
        return _absent(value, level, few)
    variance, freedom = variance_of_mean(one.influence - other.influence, groups, one.weight)
    error = math.sqrt(variance)
    if error <= 1e-12 and one.terms is None:
        return _absent(value, level, _CONSTANT)
    reach = quantile(level, freedom) * error
    if alike and _differ(one, other):
        # only confidences vary: rows that have not been seen may differ in them
        units = len(one.influence) if groups is None else float(groups.max()) + 1
        reach = math.hypot(reach, -math.log((1 - level) / 2) / units)
    low, high = value - reach, value + reach
    made = None if one.terms is None or other.terms is None else other.terms - one.terms
    # of one model all errors tell; of two, those that only one of them makes
    if made is not None and _are_rare(other.terms if of_one and other.terms is not None else made, groups):
        fall, rise = _of_rare(made, _most(one, other, of_one=of_one, alike=alike), level, groups)
        apart = one.offset - other.offset
        low, high = min(low, apart + fall), max(high, apart + rise)
    if one.is_area:
        fall, rise = _of_areas(one, other, level, groups)
        low, high = min(low, fall), max(high, rise)
    return _within(Interval(value, low, high, error, level, _note([one, other], groups)), one)


def _differ(one: Estimate, other: Estimate) -> bool:
    """Whether values that errors make differ between models that make the same ones."""
    if one.stakes is None or other.stakes is None:
        return False
    return one.offset != other.offset or bool((one.stakes != other.stakes).any())


def _within(interval: Interval, of: Estimate) -> Interval:
    """Limits that no difference can be beyond are cut."""
    if not of.is_bounded:
        return interval
    return replace(interval, low=max(-1.0, interval.low), high=min(1.0, interval.high))


def _of_areas(one: Estimate, other: Estimate, level: float, groups: Codes | None) -> tuple[float, float]:
    """Limits of the difference of two areas from those of each, which are lopsided near 1, and their correlation."""
    value = one.value - other.value
    first, second = (interval_of(replace(each, least=0.0), level, groups) for each in (one, other))
    both = variance_of_mean(one.influence + other.influence, groups)[0]
    apart = variance_of_mean(one.influence - other.influence, groups)[0]
    product = first.standard_error * second.standard_error
    alike = min(1.0, (both - apart) / (4 * product)) if product else 0.0
    down, up = (
        (first.value - first.low, second.high - second.value),
        (first.high - first.value, second.value - second.low),
    )
    low, high = (math.sqrt(max(0.0, x**2 + y**2 - 2 * alike * x * y)) for x, y in (down, up))
    return value - low, value + high


def unpaired_difference(one: Estimate, other: Estimate, level: float) -> Interval:
    """How much larger one is than the other, on other rows."""
    value = one.value - other.value
    few = one.few or other.few
    if few:
        return _absent(value, level, few)
    first, second = (interval_of(each, level, None) for each in (one, other))
    error = math.hypot(first.standard_error, second.standard_error)
    low = value - math.hypot(first.value - first.low, second.high - second.value)
    high = value + math.hypot(first.high - first.value, second.value - second.low)
    if not high > low:
        return _absent(value, level, _CONSTANT)
    return _within(Interval(value, low, high, error, level, _note([one, other], None)), one)


def _are_rare(terms: Floats, groups: Codes | None) -> bool:
    """Whether so few rows, or groups, make a difference that their variance says little."""
    made = np.abs(terms) > 1e-12
    return int(made.sum() if groups is None else len(np.unique(groups[made]))) < _RARE


def _most(one: Estimate, other: Estimate, *, of_one: bool, alike: bool) -> tuple[float, float]:
    """By how much an error can at most raise the difference, and lower it."""
    assert one.stakes is not None
    assert other.stakes is not None
    most, apart = float(np.abs(other.stakes).max()), one.stakes - other.stakes
    if of_one:
        # errors may lie at less confidence than any row had, but at no more
        return most, max(0.0, float(apart.max()))
    if alike:
        return _sides_of(-apart)
    up, down = _sides_of(other.stakes), _sides_of(one.stakes)
    return max(up[0], down[1]), max(up[1], down[0])


def _sides_of(stakes: Floats) -> tuple[float, float]:
    """The largest above 0, and below."""
    return max(0.0, float(stakes.max())), max(0.0, float(-stakes.min()))


def _of_rare(terms: Floats, most: tuple[float, float], level: float, groups: Codes | None) -> tuple[float, float]:
    """Limits of the mean of terms most of which are 0: of those above and those below, put together as variances are.

    A sum of weighted rare events has the limits of a gamma law with its mean and variance; from above, with one event
    more, of the largest weight (Fay and Feuer 1997). Of groups, all rows of the largest may be such events.
    """
    if groups is not None:
        largest = float(np.bincount(groups).max())
        most = (most[0] * largest, most[1] * largest)
    parts = []
    for sign, weight in zip((1.0, -1.0), most, strict=True):
        events: Floats = np.maximum(sign * terms, 0.0)
        events = events if groups is None else np.bincount(groups, events).astype(np.float64)
        parts.append((float(events.sum()), *_gamma_limits(events, weight, level)))
    (up, up_low, up_high), (down, down_low, down_high) = parts
    low = up - down - math.hypot(up - up_low, down_high - down)
    high = up - down + math.hypot(up_high - up, down - down_low)
    return low / len(terms), high / len(terms)


def _gamma_limits(events: Floats, most: float, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    total, squares = float(events.sum()), float((events**2).sum())
    low = squares / total * float(gammaincinv(total**2 / squares, tail)) if squares else 0.0
    total, squares = total + most, squares + most**2
    return low, squares / total * float(gammaincinv(total**2 / squares, 1 - tail)) if squares else 0.0


def _absent(value: float, level: float, why: str) -> Interval:
    return Interval(value, math.nan, math.nan, math.nan, level, f"there is no interval: {why}.")


def _note(of: Iterable[Estimate], groups: Codes | None) -> str:
    if groups is not None and groups.max() + 1 < ENOUGH:
        return f"the interval rests on {int(groups.max()) + 1} groups: it is rough."
    least = min(of, key=lambda each: each.telling)
    if least.telling < ENOUGH:
        return f"the interval rests on {round(least.telling)} {least.what}: it is rough."
    return ""


def _ece_interval(predictions: Predictions, level: float, groups: Codes | None) -> Interval:
    r"""From the gaps of the bins, which are means.

    With gaps g known up to errors e of standard error s, :math:`\sum |g + e| \ge \sum |g| + \sum \pm e`, so ECE in the
    long run is at most the one seen and z times the length of s; and at least the one seen less
    :math:`\sum |e|`, which is :math:`\sqrt{2/\pi} \sum s` on average.
    """
    confidence, correct, weight = predictions.confidence_of(slice(None)), predictions.correct, predictions.weight
    bins = np.clip(np.ceil(confidence * _BINS) - 1, 0, _BINS - 1).astype(np.intp)
    relative = weight / float(weight.mean())
    variances, covered, badly = [], 0.0, 0.0
    for each in range(_BINS):
        inside = bins == each
        if inside.any():
            gaps = np.where(inside, relative * (confidence - correct), 0.0)
            variance, known = variance_of_mean(gaps - gaps.mean(), groups)
            # rows of a bin that were all right may yet be wrong, once in so many
            least = float((relative[inside] ** 2).sum()) / len(gaps) ** 2 * _smallest_variance(confidence[inside])
            variances.append(max(variance, least))
            badly += 0.0 if groups is None else variances[-1] ** 2 / known
            covered += math.sqrt(variances[-1])
    value = ece(predictions)
    times = quantile(level, sum(variances) ** 2 / badly if badly else 1e9)
    reach = times * math.sqrt(sum(variances))
    # where standard errors are known badly, what they stand for may be larger
    usual = math.sqrt(2 / math.pi) * covered * times / quantile(level, 1e9)
    low = value - usual - math.sqrt(1 - 2 / math.pi) * reach
    wrong = float((~correct).sum())
    few = Estimate(value, correct.astype(np.float64), len(correct), min(wrong, len(correct) - wrong))
    error = math.sqrt(sum(variances))
    return Interval(value, max(0.0, low), min(1.0, value + reach), error, level, _note([few], groups))


def _smallest_variance(confidence: Floats) -> float:
    """The variance of correctness that so many rows do not exclude: that of one mistake among them."""
    share = 1 / (len(confidence) + 1)
    return share * (1 - share)

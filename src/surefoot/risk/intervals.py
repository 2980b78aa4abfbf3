r"""Intervals for what the confidences are worth, and for the differences between models.

Each estimate is a mean of influence values f, one for each row, so its standard error is
:math:`\sqrt{\sum_i f_i^2} / N`; rows that belong together (a patient, a user, a prompt) are added up first. How well
such a variance is known depends on the spread of its squares, and quantiles are those of t with so many degrees of
freedom. Where few rows say anything, that is not enough:

- shares of correct rows get the limits of Korn and Graubard, those of Clopper and Pearson for as many rows as would
  leave the share as uncertain;
- areas under curves get theirs on the logit scale, and none with fewer than ten rows of a class;
- differences that few errors make reach at least as far as the sums of rare events with these weights could (Fay and
  Feuer 1997): without any error, by the rule of three.

ECE, which is no such mean, gets limits from those of its bins.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Unpack

import numpy as np
from scipy.special import expit, gammaincinv, logit

from surefoot._io.arguments import check_share, check_whole
from surefoot._stats.binomial import limits_of_share
from surefoot._stats.quantiles import quantile
from surefoot.core.table import Floats
from surefoot.core.view import ONE_A_ROW
from surefoot.errors import FewMistakesWarning
from surefoot.metrics.binned import bin_codes, ece_metric
from surefoot.metrics.tallying import BIN_GAP, BIN_WEIGHT, RELIABILITY_BINS
from surefoot.predictions import ArrayPredictions, as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.predictions.dataframe import values_of
from surefoot.risk.estimates import Estimate, drop_weightless, estimates, row_values, value_of
from surefoot.risk.groups import group_codes, variance_of_mean
from surefoot.risk.law.cells import Codes

#: Errors, or rows on the rarer side of a class, below which an interval is approximate.
ENOUGH = 15
#: Rows that make a difference, below which their own variance says too little.
_RARE = 30
#: Degrees of freedom that stand for a normal law.
_NORMAL = 1e9
CONSTANT = "nothing varies from row to row, so the variance is unknown"


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        The limits of the confidence interval; nan if there is none.
    standard_error : float
        The standard error of the estimate.
    level : float
        The confidence level, such as 0.95.
    note : str
        Why the interval is approximate or not available; empty otherwise.
    """

    value: float
    low: float
    high: float
    standard_error: float
    level: float
    note: str = ""

    @property
    def is_absent(self) -> bool:
        """Whether there is no interval."""
        return math.isnan(self.low) or math.isnan(self.high)


@takes_predictions
def intervals(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    level: float = 0.95,
    groups: Any = None,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
    **columns: Unpack[Columns],
) -> dict[str, Interval]:
    """Confidence intervals for accuracy, AUC, their confidence-weighted forms, and ECE.

    With ``of="event"``, for O/E, calibration in the large, slope, intercept, C-statistic, Brier scores and ECE.

    Parameters
    ----------
    level : float, default=0.95
        The confidence level.
    groups : array-like of shape (n,) or str, optional
        The group of each row (a patient, a user, a prompt), or the name of its column; rows of one group may depend on
        each other.
    rng, draws : object
        Not used any more: no interval is drawn at random.

    Returns
    -------
    dict of str to Interval
        ``"accuracy"``, ``"cw_accuracy"``, ``"cw_accuracy - accuracy"`` and ``"ece"``; with class probabilities or
        scores also ``"auc"``, ``"cw_auc"`` and ``"cw_auc - auc"``, without interval for fewer than 10 rows of a class.

    Raises
    ------
    NeedsRows
        If the predictions are in a lazy frame.

    Warns
    -----
    FewMistakesWarning
        If an interval rests on fewer than 15 errors, rows of a class, or groups, and is approximate.

    Notes
    -----
    Each estimate is a mean of influence values; quantiles are those of t with as many degrees of freedom as its
    variance is known by. Shares use the limits of Korn and Graubard, which are those of Clopper and Pearson for
    independent rows; areas use the logit scale.

    Examples
    --------
    >>> from surefoot import Predictions
    >>> p = Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 80 + [0.7] * 20)
    >>> interval = intervals(p)["accuracy"]
    >>> round(interval.low, 3), interval.value, round(interval.high, 3)
    (0.708, 0.8, 0.873)
    """
    check_share("level", level, "0.95")
    check_whole("draws", draws)
    predictions = as_predictions(x, second, third, columns, function="intervals", views=ONE_A_ROW).rows("intervals")
    groups = values_of(x, groups, "groups")
    codes = None
    if groups is not None:
        codes = group_codes(len(predictions), predictions.align("groups", groups), predictions.weight)
    predictions, codes = drop_weightless(predictions, codes)
    if predictions.view == "event":
        # made of what stands here, and so loaded when it is asked for
        of_event = import_module("surefoot.risk.event_intervals").event_intervals
        found: dict[str, Interval] = of_event(predictions, level=level, groups=codes)
    else:
        found = value_intervals(predictions, level=level, groups=codes, with_ranking=True)
    found["ece"] = _ece_interval(predictions, level, codes)
    rough = next((interval.note for interval in found.values() if interval.note), "")
    if rough:
        warnings.warn(rough, FewMistakesWarning, stacklevel=2)
    return found


def value_intervals(
    predictions: ArrayPredictions, *, level: float, groups: Codes | None = None, with_ranking: bool
) -> dict[str, Interval]:
    """The intervals of the shares, the areas and their differences, in silence."""
    predictions, groups = drop_weightless(predictions, groups)
    values = estimates(predictions, with_ranking)
    found = {}
    for plain, weighted in (("accuracy", "cw_accuracy"), ("auc", "cw_auc")):
        if plain in values:
            for name in (plain, weighted):
                found[name] = interval_of(values[name], level, groups)
            apart = difference_of(values[weighted], values[plain], level, groups, of_one=True)
            found[f"{weighted} - {plain}"] = apart
    return found


def interval_of(one: Estimate, level: float, groups: Codes | None) -> Interval:
    """The interval of a share, of an area, or of a mean."""
    if one.few:
        return absent(one.value, level, one.few)
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
    reach = max(quantile(level, freedom) * error, quantile(level, _NORMAL) * math.sqrt(one.least))
    if one.is_area:
        center, reach = float(logit(one.value)), reach / (one.value * (1 - one.value))
        return Interval(one.value, float(expit(center - reach)), float(expit(center + reach)), error, level, note)
    low, high = one.value - reach, one.value + reach
    if one.terms is not None and one.stakes is not None and _are_rare(one.terms, groups):
        fall, rise = _limits_of_rare(-one.terms, _largest_both_ways(-one.stakes), level, groups)
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
        return absent(value, level, few)
    variance, freedom = variance_of_mean(one.influence - other.influence, groups, one.weight)
    error = math.sqrt(variance)
    if error <= 1e-12 and one.terms is None:
        return absent(value, level, CONSTANT)
    reach = quantile(level, freedom) * error
    if alike and _differ(one, other):
        # only confidences vary: rows that have not been seen may differ in them
        units = len(one.influence) if groups is None else float(groups.max()) + 1
        reach = math.hypot(reach, -math.log((1 - level) / 2) / units)
    low, high = value - reach, value + reach
    made = None if one.terms is None or other.terms is None else other.terms - one.terms
    # of one model all errors tell; of two, those that only one of them makes
    if made is not None and _are_rare(other.terms if of_one and other.terms is not None else made, groups):
        fall, rise = _limits_of_rare(made, _largest_steps(one, other, of_one=of_one, alike=alike), level, groups)
        apart = one.offset - other.offset
        low, high = min(low, apart + fall), max(high, apart + rise)
    if one.is_area:
        fall, rise = _limits_of_areas(one, other, level, groups)
        low, high = min(low, fall), max(high, rise)
    return _cut_to_range(Interval(value, low, high, error, level, _note([one, other], groups)), one)


def _differ(one: Estimate, other: Estimate) -> bool:
    """Whether values that errors make differ between models that make the same ones."""
    if one.stakes is None or other.stakes is None:
        return False
    return one.offset != other.offset or bool((one.stakes != other.stakes).any())


def _cut_to_range(interval: Interval, of: Estimate) -> Interval:
    """Limits that no difference can be beyond are cut."""
    if not of.is_bounded:
        return interval
    return replace(interval, low=max(-1.0, interval.low), high=min(1.0, interval.high))


def _limits_of_areas(one: Estimate, other: Estimate, level: float, groups: Codes | None) -> tuple[float, float]:
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
        return absent(value, level, few)
    first, second = (interval_of(each, level, None) for each in (one, other))
    error = math.hypot(first.standard_error, second.standard_error)
    low = value - math.hypot(first.value - first.low, second.high - second.value)
    high = value + math.hypot(first.high - first.value, second.value - second.low)
    if not high > low:
        return absent(value, level, CONSTANT)
    return _cut_to_range(Interval(value, low, high, error, level, _note([one, other], None)), one)


def _are_rare(terms: Floats, groups: Codes | None) -> bool:
    """Whether so few rows, or groups, make a difference that their variance says little."""
    made = np.abs(terms) > 1e-12
    return int(made.sum() if groups is None else len(np.unique(groups[made]))) < _RARE


def _largest_steps(one: Estimate, other: Estimate, *, of_one: bool, alike: bool) -> tuple[float, float]:
    """By how much an error can at most raise the difference, and lower it."""
    assert one.stakes is not None
    assert other.stakes is not None
    most, apart = float(np.abs(other.stakes).max()), one.stakes - other.stakes
    if of_one:
        # errors may lie at less confidence than any row had, but at no more
        return most, max(0.0, float(apart.max()))
    if alike:
        return _largest_both_ways(-apart)
    up, down = _largest_both_ways(other.stakes), _largest_both_ways(one.stakes)
    return max(up[0], down[1]), max(up[1], down[0])


def _largest_both_ways(stakes: Floats) -> tuple[float, float]:
    """The largest above 0, and below."""
    return max(0.0, float(stakes.max())), max(0.0, float(-stakes.min()))


def _limits_of_rare(
    terms: Floats, most: tuple[float, float], level: float, groups: Codes | None
) -> tuple[float, float]:
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


def absent(value: float, level: float, why: str) -> Interval:
    return Interval(value, math.nan, math.nan, math.nan, level, f"no interval is available: {why}.")


def _note(of: Iterable[Estimate], groups: Codes | None) -> str:
    least = min(of, key=lambda each: each.telling)
    return note_on(least.telling, least.what, groups)


def note_on(telling: float, what: str, groups: Codes | None) -> str:
    if groups is not None and groups.max() + 1 < ENOUGH:
        telling, what = float(groups.max()) + 1, "groups"
    if telling >= ENOUGH:
        return ""
    if round(telling) == 1:
        noun, _, rest = what.partition(" ")
        what = f"{noun.removesuffix('s')} {rest}".rstrip()
    return f"the interval rests on {round(telling)} {what} and is approximate."


def _ece_interval(predictions: ArrayPredictions, level: float, groups: Codes | None) -> Interval:
    r"""From the gaps of the bins, which are means.

    With gaps g known up to errors e of standard error s, :math:`\sum |g + e| \ge \sum |g| + \sum \pm e`, so ECE in the
    long run is at most the one seen and z times the length of s; and at least the one seen less
    :math:`\sum |e|`, which is :math:`\sqrt{2/\pi} \sum s` on average.
    """
    confidence = predictions.confidence_of(slice(None))
    bins = bin_codes(RELIABILITY_BINS, confidence)
    weight, gaps = row_values(predictions, BIN_WEIGHT, BIN_GAP)
    relative, gaps = weight / weight.mean(), gaps / weight.mean()
    variances, badly = [], 0.0
    for each in np.unique(bins):
        inside = bins == each
        gap = np.where(inside, gaps, 0.0)
        variance, known = variance_of_mean(gap - gap.mean(), groups)
        # rows of a bin that were all right may yet be wrong, once in so many: the variance of one mistake among them
        share = 1 / (int(inside.sum()) + 1)
        least = float((relative[inside] ** 2).sum()) / len(gap) ** 2 * share * (1 - share)
        variances.append(max(variance, least))
        badly += 0.0 if groups is None else variances[-1] ** 2 / known
    value, error = value_of(ece_metric(), predictions), math.sqrt(sum(variances))
    times = quantile(level, sum(variances) ** 2 / badly if badly else _NORMAL)
    # where standard errors are known badly, what they stand for may be larger
    usual = math.sqrt(2 / math.pi) * sum(map(math.sqrt, variances)) * times / quantile(level, _NORMAL)
    low = value - usual - math.sqrt(1 - 2 / math.pi) * times * error
    wrong = float(predictions.wrong.sum())
    note = note_on(min(wrong, len(predictions) - wrong), "samples of the rarer outcome", groups)
    return Interval(value, max(0.0, low), min(1.0, value + times * error), error, level, note)

"""How many rows it takes to see overconfidence, and how little of it given rows can show."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
from scipy.special import ndtri

from surefoot._io.arguments import check_share, check_whole
from surefoot.core.table import Floats
from surefoot.errors import InvalidPredictions
from surefoot.predictions import Predictions
from surefoot.risk.law.bernoulli_sum import CAP, BernoulliSum
from surefoot.risk.law.counts import Counts
from surefoot.risk.law.null import ENUMERATED, log_none, upper_tail
from surefoot.risk.law.quantiles import quantiles
from surefoot.risk.power import Power, least_size_above

#: Rows up to which it matters which confidences they have, sets of them that are tried, and the least level.
_FEW, _DIFFERENT, _LEAST_LEVEL = 40, 5, 0.001
#: How far beyond a plan it is looked at whether the power stays, and how far draws may be off.
_BEYOND, _NOISE = (1, 1.04, 1.08, 1.15, 1.25, 1.4, 1.6, 1.8, 2), 0.015
#: No plan looks for less deflation than this, or needs more rows.
_LEAST, _MOST_ROWS = 1e-9, 10**9
#: Confidences from which a plan for more rows is drawn: more are thinned evenly.
_MOST_CONFIDENCES = 20_000


def required_n(confidences: Any, *, deflation: float, power: float = 0.8, level: float = 0.05) -> int:
    """Return how many labelled samples you need to detect a given overconfidence.

    With that many samples or more, :func:`assess` finds overconfidence at ``level`` with probability at least
    ``power``, if accuracy is (1 - deflation) x confidence.

    Parameters
    ----------
    confidences : array-like of shape (n,)
        A sample of the model's confidences, in [0, 1]. They need no labels.
    deflation : float
        The overconfidence to detect, between 0 and 1: accuracy is (1 - deflation) x confidence. With 0.05, samples at
        90% confidence are right 85.5% of the time.
    power : float, default=0.8
        The probability with which it should be detected.
    level : float, default=0.05
        The significance level of the assessment, at least 0.001.

    Returns
    -------
    int
        The number of samples.

    Raises
    ------
    ValueError
        If an argument is outside its range, or more than a billion samples would be needed.

    See Also
    --------
    power_curve : the power for given numbers of samples.
    minimum_detectable : the least overconfidence that given samples show.

    Notes
    -----
    The power comes from seeded simulations of the omnibus test, which take a few seconds; it is known to about one
    percentage point.

    Examples
    --------
    >>> required_n([0.6, 0.7, 0.8, 0.9], deflation=0.2) < required_n([0.6, 0.7, 0.8, 0.9], deflation=0.1)
    True
    """
    check_share("power", power, "0.8")
    _check_level(level)
    check_share("deflation", deflation, "0.05")
    sample = _doubts(confidences)
    known: dict[int, float] = {}

    def of(n: int) -> float:
        if n not in known:
            known[n] = _power(sample, n, level, deflation)
        return known[n]

    low, high = 1, min(_MOST_ROWS, _guess(sample.doubt, deflation, power, level))
    # a little on the safe side of what draws may be off
    wanted = min(power + _NOISE, (1 + power) / 2)
    while of(high) < wanted:
        if high >= _MOST_ROWS:
            raise ValueError(f"deflation is {deflation:g}; detecting it would need more than {_MOST_ROWS:,} rows.")
        low, high = high, min(_MOST_ROWS, 2 * high)
    # to a fiftieth: no plan is known better
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if of(middle) >= wanted else (middle, high)
    # counts are whole: with a few rows more the power may be less, until it stays
    while True:
        for times in _BEYOND:
            of(min(_MOST_ROWS, math.ceil(high * times)))
        found = least_size_above({n: p for n, p in known.items() if n >= high}, power)
        if found == high or found >= _MOST_ROWS:
            return min(found, _MOST_ROWS)
        high = found


def power_curve(confidences: Any, *, deflation: float, n: int | Iterable[int], level: float = 0.05) -> dict[int, float]:
    """Return how likely :func:`assess` is to detect a given overconfidence, by number of samples.

    Parameters
    ----------
    confidences : array-like of shape (n,)
        A sample of the model's confidences, in [0, 1]. They need no labels.
    deflation : float
        The overconfidence, between 0 and 1: accuracy is (1 - deflation) x confidence.
    n : int or iterable of int
        Numbers of labelled samples.
    level : float, default=0.05
        The significance level of the assessment, at least 0.001.

    Returns
    -------
    dict of int to float
        The power for each number of samples.

    See Also
    --------
    required_n : the number of samples for a given power.

    Examples
    --------
    >>> curve = power_curve([0.6, 0.7, 0.8, 0.9], deflation=0.1, n=[50, 500, 2000])
    >>> curve[50] < curve[500] < curve[2000]
    True
    """
    _check_level(level)
    check_share("deflation", deflation, "0.05")
    sizes = [n] if isinstance(n, int | np.integer) else list(n)
    for size in sizes:
        check_whole("n", size)
    sample = _doubts(confidences)
    return {int(size): _power(sample, int(size), level, deflation) for size in sizes}


def minimum_detectable(confidences: Any, *, n: int | None = None, power: float = 0.8, level: float = 0.05) -> float:
    """Return the least overconfidence that a given number of samples detects.

    The inverse of :func:`required_n`. Use it to say how much could be hidden where :func:`assess` finds nothing.

    Parameters
    ----------
    confidences : array-like of shape (m,)
        A sample of the model's confidences, in [0, 1]. They need no labels.
    n : int, optional
        Number of labelled samples; by default as many as ``confidences``.
    power : float, default=0.8
        The probability with which it should be detected.
    level : float, default=0.05
        The significance level of the assessment, at least 0.001.

    Returns
    -------
    float
        The deflation, between 1e-9 and 1: accuracy is (1 - deflation) x confidence. 1 if even a model that is never
        right would not be detected.

    Examples
    --------
    >>> some = [0.6, 0.7, 0.8, 0.9] * 25
    >>> minimum_detectable(some) > minimum_detectable(some, n=10_000)
    True
    """
    check_share("power", power, "0.8")
    _check_level(level)
    if n is not None:
        check_whole("n", n)
    sample = _doubts(confidences)
    rows = len(sample.doubt) + round(sample.certain) if n is None else int(n)
    low, high = math.log(_LEAST), math.log(1 - 1e-9)
    if _power(sample, rows, level, math.exp(high)) < power:
        return 1.0
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if _power(sample, rows, level, math.exp(middle)) >= power else (middle, high)
    return math.exp(high)


def _check_level(level: float) -> None:
    check_share("level", level, "0.05")
    if level < _LEAST_LEVEL:
        raise ValueError(f"level is {level!r}; plans are simulated, and need a level of at least {_LEAST_LEVEL}.")


def _power(sample: _Sample, rows: int, level: float, deflation: float) -> float:
    """The chance that an assessment of so many rows finds that deflation."""
    certain = round(rows * sample.certain / (sample.certain + len(sample.doubt)))
    # one wrong row that claimed certainty decides
    unseen = (1 - deflation) ** certain
    if certain == rows:
        return 1 - unseen
    return 1 - unseen * (1 - float(np.mean([each.of(deflation) for each in _powers(sample, rows - certain, level)])))


@lru_cache(maxsize=1)
def _powers(sample: _Sample, rows: int, level: float) -> list[Power]:
    """Of few rows, several sets of confidences: which are drawn matters."""
    if rows > _FEW:
        alike = _rows_like(sample.doubt, rows)
        return [Power(alike.p, alike.count, level)]
    rng = np.random.default_rng(rows)
    return [Power(*_count_distinct(rng.choice(sample.doubt, rows)), level) for _ in range(_DIFFERENT)]


def _count_distinct(doubt: Floats) -> tuple[Floats, Floats]:
    value, count = np.unique(doubt, return_counts=True)
    return value, count.astype(np.float64)


def detectable(counts: Counts, power: float = 0.8, level: float = 0.05, effect: float = 1.0) -> float:
    """The least deflation that shows, roughly: by the normal law of the capped companion, and so at once.

    ``effect`` is the design effect of rows that belong together.
    """
    counts = counts.doubtful()
    weight = np.minimum(1 / counts.doubt, CAP * counts.n)
    shift = float((counts.rows * counts.confidence * weight).sum())
    spread = math.sqrt(effect * float((counts.rows * counts.doubt * counts.confidence * weight**2).sum()))
    return min(1.0, (ndtri(1 - level / 2) + ndtri(power)) * spread / shift) if shift else 1.0


def typical_range(counts: Counts) -> tuple[float, float]:
    """Where CSR lies for nine in ten calibrated models with these confidences."""
    rows = counts.under_calibration()
    sure = float((rows.count * rows.weight)[rows.q == 0].sum())
    random = rows[rows.q > 0]
    if not len(random.p):
        return sure / counts.n, sure / counts.n
    # most have no mistake at all where these are seldom
    silent = math.exp(log_none(random))
    low, high = (0.0 if silent >= level else level for level in (0.05, 0.95))
    if random.count.sum() <= ENUMERATED:
        low, high = (min(_critical(random, 1 - level), random.total) if level else 0.0 for level in (low, high))
    elif high:
        found = quantiles(random, np.array([level for level in (low, high) if level]))
        low, high = (float(found[0]) if low else 0.0), float(found[-1])
    return (sure + low) / counts.n, (sure + high) / counts.n


@dataclass(frozen=True, eq=False)
class _Sample:
    """Doubts between 0 and 1, rising, and how many rows claim certainty."""

    doubt: Floats
    certain: float


def _doubts(confidences: Any) -> _Sample:
    given = Predictions.from_correct(np.ones(np.size(confidences), dtype=bool), confidences).rows()
    doubt = given.doubt_of(slice(None))
    certain = float((doubt == 0).sum())
    doubt = np.sort(doubt[(doubt > 0) & (doubt < 1)])
    if not len(doubt):
        raise InvalidPredictions("every confidence is 0 or 1; planning needs some that lie between.")
    return _Sample(doubt, certain)


def _rows_like(sample: Floats, rows: int) -> BernoulliSum:
    """So many rows, with doubts distributed like these."""
    if len(sample) > _MOST_CONFIDENCES:
        sample = sample[(np.arange(_MOST_CONFIDENCES) * len(sample) + len(sample) // 2) // _MOST_CONFIDENCES]
    # the row at place i has the doubt at place i / rows of the sample
    ends = (np.arange(1, len(sample) + 1) * rows + len(sample) // 2) // len(sample)
    value, place = np.unique(sample, return_inverse=True)
    count = np.bincount(place, np.diff(ends, prepend=0))
    held = count > 0
    return BernoulliSum(value[held], 1 - value[held], 1 / value[held], count[held].astype(np.float64))


def _critical(rows: BernoulliSum, level: float) -> float:
    """The least sum that calibrated rows reach with probability ``level`` or less; infinite if there is none."""
    least = float(rows.weight.min())
    if upper_tail(rows, least).p <= level:
        return least
    if upper_tail(rows, rows.total).p > level:
        return math.inf
    spread = rows.deviation
    low, high = least, rows.total
    # a bracket around where a normal law would have it, grown until it holds
    guess = min(max(rows.mean + float(ndtri(1 - level)) * spread, least), rows.total)
    if upper_tail(rows, guess).p <= level:
        high, reach = guess, max(spread, least)
        while (low := max(least, high - reach)) > least and upper_tail(rows, low).p <= level:
            high, reach = low, 2 * reach
    else:
        low, reach = guess, max(spread, least)
        while (high := min(rows.total, low + reach)) < rows.total and upper_tail(rows, high).p > level:
            low, reach = high, 2 * reach
    p_low, p_high = upper_tail(rows, low).p, upper_tail(rows, high).p
    # until both ends say the same, or nothing lies between them; by turns where a normal law would have it, with a
    # little to either side so that the bracket closes around it, and in the middle
    for turn in count():
        if p_low <= p_high * (1 + 1e-3) or high - low <= 1e-9 * high:
            break
        middle = (low + high) / 2
        if turn % 3 < 2 and 0 < p_high < p_low < 1:
            z_low, z_high, z = (float(ndtri(1 - p)) for p in (p_low, p_high, level))
            aside = (1 if turn % 3 else -1) * 1e-4
            middle = low + (high - low) * min(max((z - z_low) / (z_high - z_low) + aside, 1e-3), 1 - 1e-3)
        p = upper_tail(rows, middle).p
        if p <= level:
            high, p_high = middle, p
        else:
            low, p_low = middle, p
    return high


def _guess(doubt: Floats, deflation: float, power: float, level: float) -> int:
    """Where to start looking: the normal law, without the tail that it takes badly."""
    bounded = np.maximum(doubt, np.quantile(doubt, 0.1))
    odds = float(((1 - bounded) / bounded).mean())
    needed = ((ndtri(1 - level / 2) + ndtri(power)) / deflation) ** 2 / max(odds, 1e-300) / 2
    return max(2, int(min(needed, _MOST_ROWS)))

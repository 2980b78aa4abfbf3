"""Tests of the other indicators: the entropic difference, T-Cal, and cumulative differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

from surefoot._io.arguments import check_share, check_whole
from surefoot.core.table import Floats
from surefoot.core.view import ONE_A_ROW
from surefoot.engines.parallel import in_parallel, workers
from surefoot.errors import MetricUnavailable
from surefoot.metrics.by_confidence import TERMS, Levels, levels
from surefoot.metrics.cumulative import ECCE_MAD, ECCE_R
from surefoot.metrics.entropic import ECD
from surefoot.metrics.size_ratio import normal_cdf
from surefoot.metrics.tested import tcal_levels, tcal_statistics
from surefoot.predictions import ArrayPredictions, as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.risk.law.bernoulli_sum import BernoulliSum
from surefoot.risk.law.null import upper_tail

#: Numbers drawn together.
_TOGETHER = 1 << 22


# -- ECD -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EcdResult:
    """The result of :func:`ecd_test`.

    Attributes
    ----------
    decision : {-1, 0, 1}
        1 if overconfident, -1 if underconfident, 0 if neither is shown.
    ecd : float
        The entropic calibration difference.
    z : float
        ECD in standard deviations under calibration.
    pvalue_over, pvalue_under : float
        Chance of an ECD at least as large, and at least as small, if the model were calibrated.
    method : str
        ``"exact"``, or ``"bootstrap"`` if ``rng`` was given.
    """

    decision: Literal[-1, 0, 1]
    ecd: float
    z: float
    pvalue_over: float
    pvalue_under: float
    method: str


@takes_predictions
def ecd_test(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    alpha: float = 0.05,
    rng: np.random.Generator | None = None,
    draws: int = 5000,
    **columns: Unpack[Columns],
) -> EcdResult:
    r"""Test whether the entropic calibration difference is larger or smaller than chance explains.

    Parameters
    ----------
    alpha : float, default=0.05
        The significance level.
    rng : numpy.random.Generator, optional
        Simulate, as in the paper, instead of computing the exact distribution.
    draws : int, default=5000
        The number of simulations, with ``rng``.

    Returns
    -------
    EcdResult
        ``decision`` (1 overconfident, -1 underconfident, 0 neither), ``ecd``, ``z`` and both p-values.

    Raises
    ------
    MetricUnavailable
        If weights are unequal.

    Notes
    -----
    The confidences are fixed, and samples are correct with probability :math:`c`. The decision is 1 if an ECD as large
    as observed has a chance of at most ``alpha / 2``, and -1 if one as small has. z is ECD divided by its standard
    deviation under calibration, :math:`\sqrt{\sum_i c_i (1 - c_i) \mathrm{logit}(c_i)^2} / N`.

    References
    ----------
    Sumler, Devlin, Maskell and Lane, arXiv 2502.14545 (2025).

    Examples
    --------
    >>> ecd_test([1] * 20, [0] * 20, [0.9] * 20).decision
    1
    """
    check_share("alpha", alpha, "0.05")
    check_whole("draws", draws)
    p = _require_equal_weights(
        "ecd_test",
        as_predictions(x, second, third, columns, function="this test", views=ONE_A_ROW).rows("this test"),
    )
    at = _levels(p)
    value = float(ECD.evaluate(p.tally(ECD.terms)).value)
    inside = (at.confidence > 0) & (at.confidence < 1)
    c, rows = at.confidence[inside], at.rows[inside]
    odds = np.log(c) - np.log1p(-c)
    spread = math.sqrt(float((rows * c * (1 - c) * odds**2).sum())) / len(p)
    z = value / spread if spread else math.copysign(math.inf, value) if value else 0.0
    if math.isinf(value):
        over, under, method = 0.0, 1.0, "exact"
    elif rng is None:
        over, under = _ecd_tails(at, c, odds, rows, inside)
        method = "exact"
    else:
        over, under = _ecd_tails_by_draws(p, value, rng, draws)
        method = "bootstrap"
    decision: Literal[-1, 0, 1] = 1 if over <= alpha / 2 else -1 if under <= alpha / 2 else 0
    return EcdResult(decision, value, z, over, under, method)


def _ecd_tails(at: Levels, c: Floats, odds: Floats, rows: Floats, inside: Any) -> tuple[float, float]:
    """N ECD is a constant and what the less likely outcomes add: |logit c| each."""
    chance, weight = np.minimum(c, 1 - c), np.abs(odds)
    unlikely = np.where(odds > 0, (at.rows - at.correct)[inside], at.correct[inside])
    held = weight > 0
    law = BernoulliSum(chance[held], np.maximum(c, 1 - c)[held], weight[held], rows[held])
    if not held.any():
        return 1.0, 1.0
    tail = upper_tail(law, float((weight * unlikely).sum()))
    # P(S <= s) = 1 - P(S > s), and P(S > s) is as much below the mid-p as P(S >= s) is above it
    return tail.p, min(1.0, 1 - (2 * tail.mid - tail.p))


def _ecd_tails_by_draws(p: ArrayPredictions, value: float, rng: np.random.Generator, draws: int) -> tuple[float, float]:
    """Where the value lies among simulated ones: at the quantiles of them, as np.quantile has them."""
    c = p.confidence_of(slice(None))
    with np.errstate(divide="ignore"):
        odds = np.log(c) - np.log1p(-c)
    odds = np.where(np.isfinite(odds), odds, 0.0)
    base = float((c * odds).sum())
    drawn = []
    size = max(1, _TOGETHER // len(c))
    for start in range(0, draws, size):
        outcomes = rng.random((min(size, draws - start), len(c))) < c
        drawn.append((base - outcomes @ odds) / len(c))
    ordered = np.sort(np.concatenate(drawn))
    # the level at which the interpolated quantile is the value
    place = np.interp(value, ordered, np.linspace(0, 1, draws)) if draws > 1 else 0.5
    over = 0.0 if value > ordered[-1] else 1 - float(place)
    under = 0.0 if value < ordered[0] else float(place)
    return over, under


# -- T-Cal -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TcalResult:
    """The result of :func:`tcal_test`.

    Attributes
    ----------
    rejected : bool
        Whether calibration is rejected.
    level : int or None
        The first level that rejects, with 2 ** level bins; None if none does.
    statistic : float
        The statistic of that level, or the largest.
    statistics, thresholds : tuple of float
        The statistic and the threshold of each level.
    """

    rejected: bool
    level: int | None
    statistic: float
    statistics: tuple[float, ...]
    thresholds: tuple[float, ...]


@takes_predictions
def tcal_test(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    alpha: float = 0.05,
    rng: np.random.Generator | None = None,
    draws: int = 1000,
    **columns: Unpack[Columns],
) -> TcalResult:
    r"""T-Cal's adaptive test: is the debiased squared error too large for calibration, with any number of bins?

    It detects overconfidence and underconfidence, but hardly any near certainty.

    Parameters
    ----------
    alpha : float, default=0.05
        The significance level.
    rng : numpy.random.Generator, optional
        The source of randomness; by default seed 0.
    draws : int, default=1000
        The number of resamples.

    Returns
    -------
    TcalResult
        Whether calibration is ``rejected``, at which ``level`` first, and the statistics.

    Raises
    ------
    MetricUnavailable
        If weights are unequal.

    Notes
    -----
    Levels have 2, 4, ..., :math:`2^B` bins, :math:`B = \lfloor 2 \log_2(N / \sqrt{\log N}) \rfloor`. The threshold
    of each is the quantile at :math:`1 - \alpha / B` of the statistic over the resamples (confidences with replacement,
    outcomes drawn from them). The first level beyond its threshold rejects. A single sample is never rejected.

    References
    ----------
    Lee, Huang, Hassani and Dobriban, T-Cal: an optimal test for the calibration of predictive models, JMLR (2023).

    Examples
    --------
    >>> tcal_test([1] * 40, [0] * 40, [0.9] * 40).level
    1
    """
    check_share("alpha", alpha, "0.05")
    check_whole("draws", draws)
    p = _require_equal_weights(
        "tcal_test",
        as_predictions(x, second, third, columns, function="this test", views=ONE_A_ROW).rows("this test"),
    )
    rng = np.random.default_rng(0) if rng is None else rng
    at = _levels(p)
    count = tcal_levels(len(p))
    if count < 1:
        return TcalResult(False, None, 0.0, (), ())
    statistics = tcal_statistics(at, count)[0]
    seeds = rng.integers(0, 2**63, draws, dtype=np.int64)
    cuts = np.array_split(seeds, workers())
    drawn = np.concatenate(in_parallel([partial(_resample, at, count, part) for part in cuts if len(part)]))
    thresholds = np.quantile(drawn, 1 - alpha / count, axis=0)
    beyond = np.flatnonzero(statistics > thresholds)
    first = int(beyond[0]) if len(beyond) else None
    statistic = float(statistics.max() if first is None else statistics[first])
    return TcalResult(
        first is not None, None if first is None else first + 1, statistic, tuple(statistics), tuple(thresholds)
    )


def _resample(at: Levels, count: int, seeds: Any) -> Floats:
    """The statistic at every level for each seed, from the finest level up: the bins of one are pairs of the next's."""
    size = round(float(at.rows.sum()))
    owner = np.repeat(np.arange(len(at.rows)), at.rows.astype(np.intp))
    merges = []
    bins = at.confidence * 2.0 ** (count + 1)
    for _ in range(count):
        bins = np.floor(bins / 2)
        starts = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))
        merges.append(starts)
        bins = bins[starts]
    found = np.empty((len(seeds), count))
    for i, seed in enumerate(seeds):
        draw = np.random.default_rng(int(seed))
        picked = owner[draw.integers(0, size, size)]
        correct = draw.random(size) < at.confidence[picked]
        rows = np.bincount(picked, minlength=len(at.rows)).astype(np.float64)
        hits = np.bincount(picked[correct], minlength=len(at.rows)).astype(np.float64)
        residual = rows * at.confidence - hits
        squares = rows * at.confidence**2 + hits * (1 - 2 * at.confidence)
        columns: tuple[Floats, ...] = (rows, residual, squares)
        for level, starts in zip(range(count, 0, -1), merges, strict=True):
            if len(starts) < len(columns[0]):
                columns = tuple(np.add.reduceat(column, starts) for column in columns)
            n, r, r2 = columns
            found[i, level - 1] = float(np.divide(r * r - r2, n, out=np.zeros_like(n), where=n > 0).sum()) / size
    return found


# -- ECCE ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EcceResult:
    """The result of :func:`ecce_test`.

    Attributes
    ----------
    mad, r : float
        :func:`ecce_mad` and :func:`ecce_r`.
    sigma : float
        Their scale under calibration.
    pvalue_mad, pvalue_r : float
        Chance of values at least as large if the model were calibrated.
    """

    mad: float
    r: float
    sigma: float
    pvalue_mad: float
    pvalue_r: float


@takes_predictions
def ecce_test(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    **columns: Unpack[Columns],
) -> EcceResult:
    r"""Test whether cumulative differences are larger than chance explains.

    It needs no bins. The p-values are asymptotic, and so approximate for few samples.

    Returns
    -------
    EcceResult
        Both cumulative errors, and their p-values.

    Notes
    -----
    Under calibration the cumulative differences are nearly a Brownian motion of scale
    :math:`\sigma = \sqrt{\sum_i w_i^2 c_i (1 - c_i)} / \sum_i w_i`. The p-values are those of its largest deviation and
    of its range.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, Metrics of calibration for probabilistic predictions, JMLR (2022).

    Examples
    --------
    >>> result = ecce_test([1] * 20, [0] * 20, [0.9] * 20)
    >>> result.pvalue_mad < 1e-9
    True
    """
    p = as_predictions(x, second, third, columns, function="this test", views=ONE_A_ROW).rows("this test")
    tally = p.tally(TERMS)
    mad, r = (float(metric.evaluate(tally).value) for metric in (ECCE_MAD, ECCE_R))
    c, weight = p.confidence_of(slice(None)), p.weight
    sigma = math.sqrt(float((weight**2 * c * p.doubt_of(slice(None))).sum())) / float(weight.sum())
    if not sigma:
        sure = 1.0 if mad <= 1e-15 else 0.0
        return EcceResult(mad, r, sigma, sure, sure)
    return EcceResult(mad, r, sigma, largest_deviation_tail(mad / sigma), range_tail(r / sigma))


def largest_deviation_tail(x: float) -> float:
    r"""P(max |W| > x) for Brownian motion on [0, 1]."""
    if x <= 0:
        return 1.0
    if x > 1:  # by reflection: alternating, and the first term alone is nearly all of it
        return min(1.0, 4 * math.fsum((-1.0) ** k * normal_cdf(-(2 * k + 1) * x) for k in range(20)))
    terms = ((-1.0) ** k / (k + 0.5) * math.exp(-(((k + 0.5) * math.pi / x) ** 2) / 2) for k in range(20))
    return 1 - 2 / math.pi * math.fsum(terms)


def range_tail(x: float) -> float:
    r"""P(max W - min W > x) for Brownian motion on [0, 1]."""
    if x <= 0:
        return 1.0
    if x > 1.5:
        return min(1.0, 8 * math.fsum((-1.0) ** (k - 1) * k * normal_cdf(-k * x) for k in range(1, 40)))
    steps = ((k + 0.5) * math.pi for k in range(40))
    return 1 - sum((8 / x**2 + 2 / step**2) * math.exp(-2 * (step / x) ** 2) for step in steps)


# -- shared ----------------------------------------------------------------------------------------------------------


def _levels(p: ArrayPredictions) -> Levels:
    """The confidences, how many rows have them and how many of those are correct: equal weights say nothing."""
    at = levels(p.tally(TERMS))
    return at._replace(weight=at.rows, correct=np.round(at.correct * at.rows / at.weight))


def _require_equal_weights(name: str, p: ArrayPredictions) -> ArrayPredictions:
    if not p.has_equal_weights:
        raise MetricUnavailable(f"{name} counts rows and accepts no unequal weights; leave out sample_weight.")
    return p[p.weight > 0] if p.is_weighted else p

"""Indicators made of tests: TCE, the share of confidences that their bin contradicts, and T-Cal's debiased error."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache, partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from surefoot._io.arguments import check_share, check_whole
from surefoot._stats.binomial import at_most, more_than, probability_of
from surefoot.core.keys import EACH_ROW
from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.ordering import stable_order
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.metrics.by_confidence import NOTHING, TERMS, Levels, levels
from surefoot.metrics.function import function_of, measure
from surefoot.predictions.arguments import Columns, takes_predictions

ROW_WEIGHT = Term("weight of the row", lambda row: row.weight, EACH_ROW)
ROW_CONFIDENCE = Term("confidence of the row", lambda row: row.one * row.confidence, EACH_ROW)
ROW_CORRECT = Term("correctness of the row", lambda row: row.one * row.correct, EACH_ROW)


#: From so many distinct confidences in a bin on, those near the level are looked for.
_MANY_CHANCES = 4096


# -- TCE -------------------------------------------------------------------------------------------------------------


@cache
def tce_metric(alpha: float = 0.05, n_min: int | None = None, n_max: int | None = None) -> Metric:
    """Test-based calibration error with bins of at least ``n_min`` and at most ``n_max`` rows where that can be."""

    def formula(t: Tally) -> float | Outcome:
        table = t.table(EACH_ROW)
        weight, confidence, correct = (
            table.totals[term.name].high for term in (ROW_WEIGHT, ROW_CONFIDENCE, ROW_CORRECT)
        )
        confidence, correct = confidence[weight > 0], correct[weight > 0]
        rows = len(confidence)
        if not rows:
            return NOTHING
        least, most = rows // 20 if n_min is None else n_min, rows // 5 if n_max is None else n_max
        if rows <= least:
            return undefined(f"{rows} rows make no bin of more than n_min = {least}")
        order = stable_order(confidence)
        sizes, hits = pooled(correct[order], least, most)
        # each confidence once for each bin: rows that share both share the test
        bins = np.repeat(np.arange(len(sizes)), sizes)
        ordered = confidence[order]
        starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]) | (bins[1:] != bins[:-1])))
        counts = np.diff(np.append(starts, rows))
        is_rejected = rejections(hits, sizes, bins[starts], ordered[starts], alpha)
        return 100 * float(counts[is_rejected].sum()) / rows

    return Metric(
        "tce",
        (ROW_WEIGHT, ROW_CONFIDENCE, ROW_CORRECT),
        formula,
        title="Test-based calibration error, percent",
        reading="Percentage of the rows whose confidence a binomial test of their bin rejects; grows with the "
        "number of rows.",
        notation=r"\frac{100}{N} \sum_b \#\{i \in b : p(k_b, n_b; c_i) \le \alpha\}",
        ideal=0.0,
        direction="lower",
        range=(0.0, 100.0),
        reference="Matsubara, Tax, Mudd and Guy, NeurIPS (2023)",
        inferential=True,
        takes_weights=False,
    )


def pooled(correct: Floats, least: int, most: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Adjacent violators pooled into blocks between two sizes: how many rows each holds, and how many correct."""
    outcomes = correct.astype(np.int64).tolist()
    head = outcomes[: len(outcomes) - least]
    sizes: list[int] = []
    hits: list[int] = []
    # the last block so far is held apart: most rows join it, and lists are slow
    size, hit = (1, head[0]) if head else (0, 0)
    for outcome in head[1:]:
        # means compared as fractions, so that equal ones are equal
        if size >= least and (size >= most or hit < outcome * size):
            sizes.append(size)
            hits.append(hit)
            size, hit = 1, outcome
        else:
            size += 1
            hit += outcome
        while sizes:
            together = sizes[-1] + size
            if together > least and (together > most or hits[-1] * size < hit * sizes[-1]):
                break
            size, hit = together, hits.pop() + hit
            sizes.pop()
    if head:
        sizes.append(size)
        hits.append(hit)
    if least:
        # the last rows come as one block, and always join the one before
        sizes[-1] += least
        hits[-1] += sum(outcomes[len(outcomes) - least :])
    return np.array(sizes), np.array(hits)


def rejections(
    hits: npt.NDArray[np.intp], rows: npt.NDArray[np.intp], bins: npt.NDArray[np.intp], chance: Floats, alpha: float
) -> npt.NDArray[np.bool_]:
    """Which chances the exact two-sided test of their bin rejects; they ascend within each bin.

    In a bin of many chances only those near the level are tested. The p-value is at least the tail that was seen, and
    at most that tail and, for each other outcome, the mass of the one seen. Both fall as the chance moves away from
    the share that was seen.
    """
    is_rejected, is_open = np.zeros(len(chance), dtype=bool), np.ones(len(chance), dtype=bool)
    ends = np.flatnonzero(np.append(bins[1:] != bins[:-1], True)) + 1
    for start, stop in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        if stop - start < _MANY_CHANCES:
            continue
        k, n = int(hits[bins[start]]), int(rows[bins[start]])
        middle = start + int(np.searchsorted(chance[start:stop], k / n))
        for tail, away in (
            (partial(at_most, k, n), range(middle, stop)),
            (partial(more_than, k - 1, n), range(middle - 1, start - 1, -1)),
        ):

            def is_apart(i: int, others: int, tail: Any = tail, k: int = k, n: int = n) -> bool:
                p = chance[i]
                return bool(tail(p) + others * (1 + 1e-6) * probability_of(k, n, p) <= alpha * (1 + 1e-9))

            kept = bisect_left(away, True, key=partial(is_apart, others=0))
            tested = bisect_left(away, True, key=partial(is_apart, others=n))
            for sure, rejects in ((away[:kept], False), (away[tested:], True)):
                where = slice(min(sure), max(sure) + 1) if sure else slice(0)
                is_open[where], is_rejected[where] = False, rejects
    which = np.flatnonzero(is_open)
    if len(which):
        of = bins[which]
        is_rejected[which] = binomial_p_values(hits[of], rows[of], chance[which]) <= alpha
    return is_rejected


def binomial_p_values(hits: Any, rows: Any, chance: Floats) -> Floats:
    """Exact two-sided p-values, as :func:`scipy.stats.binomtest` has them, many at once."""
    from scipy.special import gammaln

    hits, rows = np.asarray(hits, dtype=np.int64), np.asarray(rows, dtype=np.int64)
    factorials = gammaln(np.arange(int(rows.max()) + 2) + 1.0)
    p_values = np.where((chance == 0) & (hits > 0) | (chance == 1) & (hits < rows), 0.0, 1.0)
    inside = (chance > 0) & (chance < 1)
    for side in (-1, 1):
        # those seen less often than stated, then those seen more often
        which = np.flatnonzero(inside & (np.sign(hits - chance * rows) == side))
        k, n, p = hits[which], rows[which], chance[which]
        log_p, log_q = np.log(p), np.log1p(-p)

        def log_mass(j: Any, n: Any = n, log_p: Any = log_p, log_q: Any = log_q) -> Floats:
            likely: Floats = factorials[n] - factorials[j] - factorials[n - j] + j * log_p + (n - j) * log_q
            return likely

        bound = log_mass(k) + 1e-7
        # beyond the mean, outcomes grow less likely: the first that is no more likely than the one seen
        if side == -1:
            low, high = np.ceil(p * n).astype(np.int64), n + 1
            while (low < high).any():
                middle = (low + high) // 2
                rare = log_mass(np.minimum(middle, n)) <= bound
                low, high = np.where(rare | (low >= high), low, middle + 1), np.where(rare, middle, high)
            p_values[which] = at_most(k, n, p) + more_than(low - 1, n, p)
        else:
            low, high = np.full(len(k), -1), np.floor(p * n).astype(np.int64)
            while (low < high).any():
                middle = (low + high + 1) // 2
                rare = log_mass(np.maximum(middle, 0)) <= bound
                low, high = np.where(rare, middle, low), np.where(rare | (low >= high), high, middle - 1)
            p_values[which] = at_most(low, n, p) + more_than(k - 1, n, p)
    return np.minimum(p_values, 1.0)


@takes_predictions
def tce(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    alpha: float = 0.05,
    n_min: int | None = None,
    n_max: int | None = None,
    **columns: Unpack[Columns],
) -> float:
    r"""Test-based calibration error: the percentage of confidences that a binomial test rejects.

    Lower is better. It grows with the number of samples, because a bin of different confidences contradicts some of
    them even if the model is calibrated.

    Parameters
    ----------
    alpha : float, default=0.05
        The significance level of the binomial test.
    n_min, n_max : int, optional
        The least and the largest number of samples in a bin; by default 1/20 and 1/5 of all, as in its authors'
        studies. The last bin may be larger.

    Returns
    -------
    float
        From 0 to 100; nan, with a warning, if there are no more than ``n_min`` samples.

    Raises
    ------
    MetricUnavailable
        If weights are unequal.

    Notes
    -----
    .. math:: \frac{100}{N} \sum_b \#\{i \in b : p(k_b, n_b; c_i) \le \alpha\}

    Bins come from pooling adjacent violators. Samples of equal confidence are taken in the order given, and that order
    matters. It takes O(N log N) time and needs the rows; a :class:`Tally` is not enough.

    Examples
    --------
    >>> tce([1] * 40, [0] * 40, [0.9] * 40)
    100.0
    """
    check_share("alpha", alpha, "0.05")
    for name, value in (("n_min", n_min), ("n_max", n_max)):
        if value is not None:
            check_whole(name, value, 0)
    return measure(tce_metric(alpha, n_min, n_max), x, second, third, columns)


# -- T-Cal -----------------------------------------------------------------------------------------------------------


def tcal_levels(rows: float) -> int:
    """How many dyadic levels the adaptive test looks at."""
    return int(2 * math.log2(rows / math.sqrt(math.log(rows)))) if rows > 1 else 0


def tcal_statistics(at: Levels, n_levels: int) -> tuple[Floats, Floats, Floats]:
    """At each level the debiased squared error, and its standard deviation and skewness under calibration."""
    rows = float(at.rows.sum())
    wrong = at.rows - at.correct
    residual = wrong * at.confidence - at.correct * (1 - at.confidence)
    squares = wrong * at.confidence**2 + at.correct * (1 - at.confidence) ** 2
    variance = at.rows * at.confidence * (1 - at.confidence)
    pairs = at.rows * (at.confidence * (1 - at.confidence)) ** 2
    columns = np.stack([at.rows, residual, squares, variance, pairs])
    moments = np.zeros((3, n_levels))
    # from where most confidences have a bin of their own: coarser bins are made of finer ones
    middle = min(n_levels - 1, int(math.log2(len(at.confidence))))
    bins, sums = np.floor(at.confidence * 2.0 ** (middle + 1)), columns
    for level in range(middle, -1, -1):
        starts = _firsts(bins)
        bins, sums = np.floor(bins[starts] / 2), np.add.reduceat(sums, starts, axis=1)
        moments[:, level] = _tcal_parts(sums).sum(axis=1)
    # and what is alone in its bin is alone in all finer ones
    confidence, alone = at.confidence, np.zeros(3)
    for level in range(middle + 1, n_levels):
        if len(confidence):
            starts = _firsts(np.floor(confidence * 2.0 ** (level + 1)))
            sizes = np.diff(np.append(starts, len(confidence)))
            parts = _tcal_parts(np.add.reduceat(columns, starts, axis=1))
            moments[:, level] = parts[:, sizes > 1].sum(axis=1)
            alone += parts[:, sizes == 1].sum(axis=1)
            is_shared = np.repeat(sizes > 1, sizes)
            confidence, columns = confidence[is_shared], columns[:, is_shared]
        moments[:, level] += alone
    error, second, third = moments
    skews = np.divide(8 * third, (2 * second) ** 1.5, out=np.zeros(n_levels), where=second > 0)
    return error / rows, np.sqrt(2 * second) / rows, skews


def _firsts(bins: Floats) -> npt.NDArray[np.intp]:
    """Where bins begin, of rows in order."""
    return np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))


def _tcal_parts(sums: Floats) -> Floats:
    """What each bin adds to the debiased squared error, and to half its variance and an eighth of its third moment."""
    n, r, r2, v, v2 = sums
    return np.stack([(r * r - r2) / n, np.maximum(v * v - v2, 0.0) / n**2, (v / n) ** 3 * (n > 1)])


def _tcal(t: Tally) -> float | Outcome:
    from scipy.special import gammaincinv, ndtri

    at = levels(t)
    # equal weights say nothing here: rows are counted
    at = at._replace(correct=at.correct * at.rows / at.weight) if len(at.weight) else at
    n_levels = tcal_levels(float(at.rows.sum()))
    if n_levels < 1:
        return undefined("it needs at least two rows")
    statistics, spreads, skews = tcal_statistics(at, n_levels)
    tail = 0.05 / n_levels
    for value, spread, skew in zip(statistics, spreads, skews, strict=True):
        # the law of a sum of squares, matched by three moments
        shape = 4 / skew**2 if skew > 1e-4 else math.inf
        point = (gammaincinv(shape, 1 - tail) - shape) / math.sqrt(shape) if shape < math.inf else ndtri(1 - tail)
        if value > spread * point and spread:
            return float(value)
    return float(statistics.max())


TCAL = Metric(
    "tcal",
    TERMS,
    _tcal,
    title="T-Cal's debiased squared error",
    reading="Squared gap without the part that chance adds: calibrated models are near 0, and below 0 half the time.",
    notation=r"T_m = \frac1N \sum_b \frac{(\sum_{i \in b} r_i)^2 - \sum_{i \in b} r_i^2}{n_b}, \quad r = c - y",
    ideal=0.0,
    direction="lower",
    reference="Lee, Huang, Hassani and Dobriban, JMLR (2023)",
    inferential=True,
    takes_weights=False,
)


@function_of(TCAL)
def tcal() -> None:
    r"""T-Cal's debiased squared calibration error, at the first number of bins that shows one.

    Lower is better. It is near 0 if the model is calibrated, and may be negative.

    Returns
    -------
    float
        The debiased squared error; nan, with a warning, for one sample.

    Raises
    ------
    MetricUnavailable
        If weights are unequal.

    See Also
    --------
    tcal_test : whether it is larger than chance explains, by simulation.

    Notes
    -----
    .. math:: T_m = \frac1N \sum_b \frac{(\sum_{i \in b} r_i)^2 - \sum_{i \in b} r_i^2}{n_b}, \quad r_i = c_i - y_i

    With 2, 4, 8, ... bins: the first value beyond its threshold, or the largest if none is. The threshold is that of a
    gamma distribution with the moments of T under calibration. It takes O(N log N) time and needs the rows; a
    :class:`Tally` is not enough.

    References
    ----------
    Lee, Huang, Hassani and Dobriban, T-Cal: an optimal test for the calibration of predictive models, JMLR (2023).

    Examples
    --------
    >>> round(tcal([1] * 40, [0] * 40, [0.9] * 40), 2)
    0.79
    """

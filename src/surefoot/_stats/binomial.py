"""Binomial probabilities by special functions alone: ``scipy.stats`` has them too, and takes half a second to load."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._stats.quantiles import quantile

Floats = npt.NDArray[np.float64]


def at_most(k: Any, n: Any, p: Any) -> Floats:
    """The chance of at most k successes in n trials: of more than n - k - 1 failures.

    Examples
    --------
    >>> float(at_most(1, 2, 0.5))
    0.75
    """
    return more_than(np.asarray(n) - np.asarray(k) - 1, n, 1 - np.asarray(p))


def more_than(k: Any, n: Any, p: Any) -> Floats:
    """The chance of more than k successes in n trials.

    Examples
    --------
    >>> float(more_than(0, 2, 0.5))
    0.75
    """
    from scipy.special import betainc

    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inner = np.clip(k, 0, np.maximum(n - 1, 0))
    inside = betainc(inner + 1, np.maximum(n - inner, 1), np.asarray(p))
    return np.where(k < 0, 1.0, np.where(k >= n, 0.0, inside))


def probability_of(k: Any, n: Any, p: Any) -> Floats:
    """The chance of exactly k successes in n trials.

    Examples
    --------
    >>> round(float(probability_of(1, 2, 0.5)), 12)
    0.5
    """
    from scipy.special import gammaln, xlog1py, xlogy

    k, n, p = (np.asarray(x, dtype=np.float64) for x in (k, n, p))
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    chance: Floats = np.exp(ways + xlogy(k, p) + xlog1py(n - k, -p))
    return chance


def limits(hits: Any, rows: Any, level: float = 0.95) -> tuple[Floats, Floats]:
    """The interval of Clopper and Pearson for the chance of a hit; numbers that stand for others need not be whole.

    Examples
    --------
    >>> [round(float(x), 4) for x in limits(0, 10)]
    [0.0, 0.3085]
    """
    from scipy.special import betaincinv

    hits, rows = np.asarray(hits, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    tail, misses = (1 - level) / 2, np.asarray(rows - hits)
    low = betaincinv(np.where(hits > 0, hits, 1), misses + 1, tail)
    high = betaincinv(hits + 1, np.where(misses > 0, misses, 1), 1 - tail)
    return np.where(hits <= 0, 0.0, low), np.where(misses <= 0, 1.0, high)


def limits_of_share(
    share: float, variance: float, freedom: float, *, rows: float, groups: float, level: float = 0.95
) -> tuple[float, float]:
    """Limits of a share whose variance is known with some degrees of freedom (Korn and Graubard 1998).

    Those of Clopper and Pearson for as many rows as would leave the share as uncertain. Where nothing varies, each
    group counts as one row.
    """
    share = min(1.0, max(0.0, share))
    effective = min(groups, rows)
    if variance > 0 and 1e-12 < share < 1 - 1e-12:
        effective = min(share * (1 - share) / variance, rows) * (quantile(level) / quantile(level, freedom)) ** 2
    low, high = limits(share * effective, effective, level)
    return float(low), float(high)

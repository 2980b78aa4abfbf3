"""The algorithms of reference implementations, written out in NumPy as their authors describe them: what we are measured against."""

import math

import numpy as np
from scipy.stats import binomtest


def tce(correct: np.ndarray, confidence: np.ndarray) -> float:
    """Matsubara et al.: pool adjacent violators within bounds, then a binomial test for each row."""
    n = len(confidence)
    order = np.argsort(confidence)
    c, y = confidence[order], correct[order].astype(int)
    least, most = n // 20, n // 5
    blocks: list[list[float]] = []
    for outcome in y[: n - least]:
        blocks.append([float(outcome), 1])
        while len(blocks) > 1:
            (mean, size), (before, earlier) = blocks[-1], blocks[-2]
            if size + earlier <= least or (size + earlier <= most and before >= mean):
                blocks.pop()
                blocks[-1] = [(mean * size + before * earlier) / (size + earlier), size + earlier]
            else:
                break
    blocks[-1] = [
        (blocks[-1][0] * blocks[-1][1] + y[n - least :].sum()) / (blocks[-1][1] + least),
        blocks[-1][1] + least,
    ]
    start, rejected = 0, 0
    for mean, size in blocks:
        hits = round(mean * size)
        for p in c[start : start + int(size)]:
            rejected += binomtest(hits, int(size), p).pvalue <= 0.05
        start += int(size)
    return 100 * rejected / n


def ecd_test(correct: np.ndarray, confidence: np.ndarray, draws: int) -> int:
    """Sumler et al.: 5000 data sets drawn from the confidences, and the quantiles of their ECD."""
    rng = np.random.default_rng(12345)

    def ecd(y: np.ndarray) -> float:
        return float(np.mean((confidence - y) * np.log(confidence / (1 - confidence))))

    drawn = [ecd(rng.random(len(confidence)) < confidence) for _ in range(draws)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    value = ecd(correct)
    return int(value > high) - int(value < low)


def tcal_test(correct: np.ndarray, confidence: np.ndarray, draws: int) -> bool:
    """Lee et al.: at each level resample, rank the bins, and compare with a quantile. All levels, as if none rejected."""
    rng = np.random.default_rng(0)
    n = len(confidence)
    levels = int(2 * math.log2(n / math.sqrt(math.log(n))))

    def statistic(c: np.ndarray, y: np.ndarray, bins: int) -> float:
        _, place, size = np.unique(np.floor(c * bins).astype(np.int64), return_inverse=True, return_counts=True)
        residual = c - y
        sums, squares = np.bincount(place, residual), np.bincount(place, residual**2)
        return float(((sums**2 - squares) / size).sum()) / n

    rejected = False
    for level in range(1, levels + 1):
        drawn = []
        for _ in range(draws):
            c = confidence[rng.integers(0, n, n)]
            drawn.append(statistic(c, rng.random(n) < c, 2**level))
        rejected |= statistic(confidence, correct, 2**level) > np.quantile(drawn, 1 - 0.05 / levels)
    return bool(rejected)


def ls_ece(correct: np.ndarray, confidence: np.ndarray, bandwidth: float = 1 / 15, draws: int = 10_000) -> float:
    """Chidambaram et al.: a kernel regression evaluated at random points."""
    rng = np.random.default_rng(0)
    z = np.log(confidence / (1 - confidence))
    t = z[rng.integers(0, len(z), draws)] + bandwidth * rng.standard_normal(draws)
    total = 0.0
    for start in range(0, draws, 100):
        kernel = np.exp(-(((t[start : start + 100, None] - z) / bandwidth) ** 2) / 2)
        fit = kernel @ correct / kernel.sum(axis=1)
        total += float(np.abs(fit - 1 / (1 + np.exp(-t[start : start + 100]))).sum())
    return total / draws


def smooth_ece(correct: np.ndarray, confidence: np.ndarray, eps: float = 1e-3) -> float:
    """Błasiok and Nakkiran: a reflected kernel on a grid, its bandwidth found by bisection."""
    grid = np.linspace(0, 1, 1001)
    residual = correct - confidence
    centres, weights = np.concatenate([confidence, -confidence, 2 - confidence]), np.tile(residual, 3)

    def error(bandwidth: float) -> float:
        smooth = [
            float((np.exp(-(((t - centres) / bandwidth) ** 2) / 2) * weights).sum())
            / (bandwidth * math.sqrt(2 * math.pi) * len(residual))
            for t in grid
        ]
        return float(np.abs(smooth).mean())

    low, high = 0.0, 1.0
    while high - low > eps:
        middle = (low + high) / 2
        low, high = (low, middle) if error(middle) < middle else (middle, high)
    return error(high)

"""Statistics that belong to no indicator: logarithms, limits, logistic regression."""

import math

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import beta, binom

from surefoot._stats.binomial import at_most, limits, limits_of_share, more_than, probability_of
from surefoot._stats.logarithms import log_mean, log_sum
from surefoot._stats.logistic import logistic_fit
from surefoot._stats.quantiles import quantile


def test_sums_of_logarithms_neither_overflow_nor_vanish() -> None:
    rng = np.random.default_rng(0)
    for logs in (rng.normal(0, 1, 40), rng.normal(2000, 30, 40), rng.normal(-2000, 30, 40)):
        assert float(log_sum(logs)) == pytest.approx(logsumexp(logs), rel=1e-14)
        assert float(log_mean(logs)) == pytest.approx(logsumexp(logs) - math.log(40), rel=1e-14)
    table = rng.normal(0, 300, (5, 7))
    for axis in (0, 1, -1):
        assert log_sum(table, axis).tolist() == pytest.approx(logsumexp(table, axis=axis).tolist(), rel=1e-14)
    assert log_sum([math.inf, 3000.0]) == math.inf
    assert log_mean([-math.inf, -math.inf]) == -math.inf
    assert float(log_mean([-math.inf, 0.0])) == pytest.approx(-math.log(2))


def test_binomial_chances_and_limits_are_those_of_scipy() -> None:
    for n, k, p in ((10, 3, 0.2), (10, 0, 0.2), (10, 10, 0.2), (1000, 40, 0.03), (10, -1, 0.5), (10, 12, 0.5)):
        assert float(at_most(k, n, p)) == pytest.approx(binom.cdf(k, n, p), rel=1e-12)
        assert float(more_than(k, n, p)) == pytest.approx(binom.sf(k, n, p), rel=1e-12)
        if 0 <= k <= n:
            assert float(probability_of(k, n, p)) == pytest.approx(binom.pmf(k, n, p), rel=1e-10)
    low, high = (float(end) for end in limits(3, 10))
    assert (low, high) == pytest.approx((beta.ppf(0.025, 3, 8), beta.ppf(0.975, 4, 7)), rel=1e-12)
    # a share as uncertain as that of independent rows has their limits
    assert limits_of_share(0.3, 0.3 * 0.7 / 10, math.inf, rows=10, groups=10) == pytest.approx((low, high), rel=1e-9)
    assert quantile(0.95) == pytest.approx(1.959963984540054, rel=1e-15)


def test_a_fit_is_exact_where_the_slope_of_the_loss_vanishes() -> None:
    rng = np.random.default_rng(1)
    for n in (15, 200, 3000):
        x = rng.normal(0, 3, n)
        features, weight = np.stack([x, np.ones(n)], axis=1), rng.random(n)
        target = np.where(rng.random(n) < expit(0.5 * x), 0.98, 0.03)
        found = logistic_fit(features, target, weight, np.zeros(2))
        slope = features.T @ (weight * (expit(features @ found) - target))
        assert np.abs(slope).max() < 1e-13 * n
        fixed = logistic_fit(features, target, weight, np.array([0.7, 0.0]), fixed=(0,))
        assert fixed[0] == 0.7
        assert abs(weight @ (expit(features @ fixed) - target)) < 1e-13 * n

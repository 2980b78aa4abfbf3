"""Statistics that belong to no indicator: logarithms, limits, logistic regression; and Cox's line, which is one."""

import math

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import beta, binom

import surefoot as sf
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


def test_one_mixture_is_behind_every_e_value() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0.5, 1, 300)
    correct = rng.random(300) < 0.95 * confidence
    p = sf.Predictions.from_correct(correct, confidence)
    alone = sf.risk_test(p)
    m = sf.Monitor(alternative="overconfident")
    m.update(correct, confidence)
    # of groups of one row, gains are averaged over one
    grouped = sf.risk_test(p, groups=np.arange(300))
    assert [m.log_e, grouped.log_e] == pytest.approx([alone.log_e] * 2, rel=1e-9)
    both = sf.Monitor()
    both.update(correct, confidence)
    other = sf.risk_test(p, alternative="underconfident").log_e
    assert both.log_e == pytest.approx(sf.e_mean([alone.log_e, other]), rel=1e-9)


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


def test_coxs_line_is_where_the_likelihood_is_largest() -> None:
    rng = np.random.default_rng(2)
    for n, share in ((30, 1.0), (500, 0.6), (500, 3.0)):
        confidence = np.round(rng.beta(3, 1, n).clip(0.01, 0.99), 2)
        x = np.log(confidence) - np.log1p(-confidence)
        correct = rng.random(n) < expit(share * x)
        p = sf.Predictions.from_correct(correct, confidence)
        residual = correct - expit(sf.cox_intercept(p) + sf.cox_slope(p) * x)
        assert [residual.mean(), (x * residual).mean()] == pytest.approx([0, 0], abs=1e-13)


def test_the_scale_of_tiny_weights_does_not_matter_to_cox() -> None:
    confidence = [0.9999996674266838, 0.999999970823666, 0.9999999999997089]
    slopes = [
        sf.cox_slope([1] * 3, [1, 0, 1], confidence, sample_weight=np.full(3, weight))
        for weight in (1e-12, 1e-9, 1, 1e9)
    ]
    assert slopes == pytest.approx([slopes[2]] * 4, rel=1e-9)


def test_a_wide_kernel_overflows_nothing() -> None:
    assert 0 <= sf.ls_ece([1, 1], [1, 0], [0.5, 0.5], bandwidth=100.0) <= 1

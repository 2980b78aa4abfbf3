"""Tests of other indicators: their decisions, their laws, and an answer at every edge."""

import math

import numpy as np
import pytest
from scipy import stats
from vectors import EDGES, VALUES, close, of

import surefoot as sf
from surefoot.metrics.by_confidence import TERMS, levels
from surefoot.metrics.tested import tcal_levels, tcal_statistics
from surefoot.risk.indicator_tests import largest_deviation_tail, range_tail

NAMES = ("A", "B", "D", "E")


@pytest.mark.parametrize("name", NAMES)
def test_reference_decisions(name: str) -> None:
    p, r = of(name), VALUES[name]
    at = levels(p.tally(TERMS))
    assert tcal_levels(len(p)) == r["T-Cal"]["B"]
    np.testing.assert_allclose(
        tcal_statistics(at, r["T-Cal"]["B"])[0], r["T-Cal"]["stat_levels_1_to_B"], rtol=1e-10, atol=1e-15
    )
    for seed in range(3):
        test = sf.tcal_test(p, rng=np.random.default_rng(seed))
        assert test.rejected == r["T-Cal"]["ref_reject_seed0_MC1000"]
        assert test.level == r["T-Cal"]["first_rejecting_level"]
    close(test.statistic, r["T-Cal"]["inferred_reported_value"])
    exact, drawn = sf.ecd_test(p), sf.ecd_test(p, rng=np.random.default_rng(12345))
    assert exact.decision == drawn.decision == r["ECD"]["test"]
    close(exact.z, r["ECD"]["z_analytic"])
    assert drawn.pvalue_over == pytest.approx(exact.pvalue_over, abs=0.03)
    ecce = sf.ecce_test(p)
    close(ecce.sigma, r["ECCE"]["sigma_n"])
    if "ref_p_MAD" in r["ECCE"]:
        assert ecce.pvalue_mad == pytest.approx(r["ECCE"]["ref_p_MAD"], rel=1e-9)
        assert ecce.pvalue_r == pytest.approx(r["ECCE"]["ref_p_R"], rel=1e-9)


def test_the_tails_of_brownian_motion() -> None:
    # the laws as their densities give them, by another series; and known points
    for x in (0.4, 0.8, 0.99, 1.01, 1.4, 2.0, 3.0):
        reflected = 4 * sum((-1) ** k * stats.norm.sf((2 * k + 1) * x) for k in range(60))
        assert largest_deviation_tail(x) == pytest.approx(reflected, rel=1e-9)
    for x in (0.7, 1.2, 1.49, 1.51, 2.0, 3.0):
        steps = (np.arange(200) + 0.5) * np.pi
        cdf = ((8 / x**2 + 2 / steps**2) * np.exp(-2 * (steps / x) ** 2)).sum()
        assert range_tail(x) == pytest.approx(1 - cdf, abs=1e-12)
    assert largest_deviation_tail(20.0) == pytest.approx(4 * stats.norm.sf(20), rel=1e-12)
    assert range_tail(20.0) == pytest.approx(8 * stats.norm.sf(20), rel=1e-12)
    assert largest_deviation_tail(0.0) == range_tail(0.0) == 1
    rng = np.random.default_rng(0)
    walks = np.cumsum(rng.standard_normal((4000, 2000)), axis=1) / math.sqrt(2000)
    assert largest_deviation_tail(1.5) == pytest.approx((np.abs(walks).max(axis=1) > 1.5).mean(), abs=0.03)


@pytest.mark.parametrize("edge", EDGES)
def test_tests_have_an_answer_at_the_edges(edge: str) -> None:
    confidence, correct = EDGES[edge]
    p = sf.Predictions.from_correct(correct, confidence)
    ecd, drawn = sf.ecd_test(p), sf.ecd_test(p, rng=np.random.default_rng(0), draws=50)
    for test in (ecd, drawn):
        assert 0 <= test.pvalue_over <= 1
        assert 0 <= test.pvalue_under <= 1
        assert test.decision == (1 if test.pvalue_over <= 0.025 else -1 if test.pvalue_under <= 0.025 else 0)
    ecce = sf.ecce_test(p)
    assert 0 <= ecce.pvalue_mad <= 1
    assert 0 <= ecce.pvalue_r <= 1
    tcal = sf.tcal_test(p, draws=20)
    assert len(tcal.statistics) == len(tcal.thresholds) == max(0, tcal_levels(len(p)))
    beyond = [
        i for i, (value, bound) in enumerate(zip(tcal.statistics, tcal.thresholds, strict=True), 1) if value > bound
    ]
    assert tcal.level == (beyond[0] if beyond else None)
    assert tcal.rejected == bool(beyond)


def test_calibrated_confidences_are_rarely_rejected() -> None:
    rng = np.random.default_rng(3)
    rejected = np.zeros(4)
    for _ in range(120):
        p = sf.synthetic.predictions("uniform", "perfect", 300, rng=rng)
        ecce = sf.ecce_test(p)
        rejected += (
            sf.ecd_test(p).decision != 0,
            sf.tcal_test(p, rng=rng, draws=200).rejected,
            ecce.pvalue_mad < 0.05,
            ecce.pvalue_r < 0.05,
        )
    assert (rejected <= 120 * 0.05 + 3 * math.sqrt(120 * 0.05 * 0.95)).all()

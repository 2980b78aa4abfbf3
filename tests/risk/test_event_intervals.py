"""Intervals of the numbers of an event, against statsmodels, scipy and formulas written out here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from risk_sample import DIED, LOG_ODDS, RISK, ROWS, WEIGHT
from scipy import stats
from scipy.special import expit, logit

import surefoot as sf
from surefoot.risk.event_intervals import event_intervals
from surefoot.risk.groups import group_codes

EVENT = sf.Predictions.from_probabilities(DIED, RISK, of="event").rows()
WEIGHTED = sf.Predictions.from_probabilities(DIED, RISK, of="event", sample_weight=WEIGHT).rows()
NAMES = ["auc", "brier", "calibration_in_the_large", "calibration_intercept", "calibration_slope", "oe_ratio"]
Z = 1.959963984540054


def test_values_are_those_of_the_metrics() -> None:
    for p in (EVENT, WEIGHTED):
        found = event_intervals(p)
        assert sorted(found) == [*NAMES, "scaled_brier"]
        for name, interval in found.items():
            assert interval.value == pytest.approx(getattr(sf, name)(p), rel=1e-12), name
            assert interval.low < interval.value < interval.high
            assert (interval.level, interval.note) == (0.95, "")


def test_oe_is_clopper_and_pearsons_over_the_mean_risk() -> None:
    exact = stats.binomtest(118, ROWS).proportion_ci(0.95, "exact")
    found = event_intervals(EVENT)["oe_ratio"]
    assert (found.low, found.high) == pytest.approx((exact.low / RISK.mean(), exact.high / RISK.mean()), rel=1e-8)
    assert found.high < 0.52
    exact = stats.binomtest(118, ROWS).proportion_ci(0.8, "exact")
    found = event_intervals(EVENT, level=0.8)["oe_ratio"]
    assert (found.low, found.high) == pytest.approx((exact.low / RISK.mean(), exact.high / RISK.mean()), rel=1e-8)


@pytest.mark.parametrize("p", [EVENT, WEIGHTED], ids=["plain", "weighted"])
def test_a_risk_test_has_the_same_limits_of_oe(p: sf.Predictions) -> None:
    found = event_intervals(p.rows())["oe_ratio"]
    assert sf.risk_test(p).oe_interval == pytest.approx((found.low, found.high), rel=1e-12)
    groups = np.arange(ROWS) // 4
    found = event_intervals(p.rows(), groups=group_codes(ROWS, groups))["oe_ratio"]
    assert sf.risk_test(p, groups=groups).oe_interval == pytest.approx((found.low, found.high), rel=1e-12)


def test_recalibration_has_walds_limits() -> None:
    # statsmodels 0.15.0: conf_int of Logit, and of GLM with the log-odds as offset
    found = event_intervals(EVENT)
    for name, low, high, error in (
        ("calibration_slope", 0.6969862446321846, 1.053906315081752, 0.0910527114949324),
        ("calibration_intercept", -1.5162453623925338, -1.0532032524124557, 0.11812515781731078),
        ("calibration_in_the_large", -1.4168929728467585, -1.0053683506763456, 0.1049827000435893),
    ):
        assert (found[name].low, found[name].high) == pytest.approx((low, high), abs=1e-8)
        assert found[name].standard_error == pytest.approx(error, abs=1e-8)
    wide = event_intervals(EVENT, level=0.99)["calibration_slope"]
    reach = stats.norm.ppf(0.995) * 0.0910527114949324
    assert wide.high - wide.value == pytest.approx(reach, abs=1e-8)


def sandwich(features: np.ndarray, fitted: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Standard errors from the scores of groups, by the jackknife's factor for groups of unequal weight."""
    p, count = expit(fitted), groups.max() + 1
    bread = np.linalg.inv((features * (WEIGHT * p * (1 - p))) @ features.T)
    scores = features * (WEIGHT * (DIED - p))
    sums = np.stack([np.bincount(groups, row) for row in scores])
    share = np.bincount(groups, WEIGHT) / WEIGHT.sum()
    if count < ROWS:
        sums = sums * (1 - 1 / count) / (1 - share)
    return np.sqrt(np.diag(bread @ (sums @ sums.T) @ bread) * count / (count - 1))


@pytest.mark.parametrize("size", [1, 5], ids=["rows", "groups of five"])
def test_unequal_weights_have_the_limits_of_the_sandwich(size: int) -> None:
    groups = np.arange(ROWS) // size
    found = event_intervals(WEIGHTED, groups=None if size == 1 else groups)
    line = found["calibration_intercept"].value + found["calibration_slope"].value * LOG_ODDS
    errors = sandwich(np.stack([LOG_ODDS, np.ones(ROWS)]), line, groups)
    assert found["calibration_slope"].standard_error == pytest.approx(errors[0], rel=1e-8)
    assert found["calibration_intercept"].standard_error == pytest.approx(errors[1], rel=1e-8)
    shifted = found["calibration_in_the_large"].value + LOG_ODDS
    error = sandwich(np.ones((1, ROWS)), shifted, groups)[0]
    assert found["calibration_in_the_large"].standard_error == pytest.approx(error, rel=1e-8)
    # quantiles of t: wider than the normal ones, and not much
    for name in ("calibration_slope", "calibration_intercept", "calibration_in_the_large"):
        reach = found[name].high - found[name].value
        assert Z < reach / found[name].standard_error < 1.2 * Z


def test_the_c_statistic_has_delongs_limits() -> None:
    events, others = RISK[DIED == 1], RISK[DIED == 0]
    wins = (events[:, None] > others) + (events[:, None] == others) / 2
    area = wins.mean()
    variance = wins.mean(axis=1).var(ddof=1) / len(events) + wins.mean(axis=0).var(ddof=1) / len(others)
    found = event_intervals(EVENT)["auc"]
    assert found.value == pytest.approx(area, rel=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-3)
    same = sf.intervals(sf.Predictions.from_probabilities(DIED, RISK))["auc"]
    assert (found.low, found.high) == pytest.approx((same.low, same.high), rel=1e-10)
    reach = logit(found.high) - logit(area)
    assert reach == pytest.approx(logit(area) - logit(found.low), rel=1e-10)
    assert reach == pytest.approx(Z * math.sqrt(variance) / (area * (1 - area)), rel=0.03)


def test_the_c_statistic_of_one_class_of_several_and_of_rounded_ones() -> None:
    table = np.stack([1 - RISK, RISK * 0.9, RISK * 0.1], axis=1)
    one = sf.Predictions.from_probabilities(DIED, table).event(1).rows()
    assert event_intervals(one)["auc"].value == pytest.approx(event_intervals(EVENT)["auc"].value, rel=1e-12)
    odds = np.arange(40.0, 80.0)
    event = np.tile([0, 1], 20)
    p = sf.Predictions.from_logits(event, odds, of="event").rows()
    assert len(np.unique(p.confidence)) == 1
    assert event_intervals(p)["auc"].value == pytest.approx(210 / 400)


def test_brier_and_scaled_brier() -> None:
    squares = (DIED - RISK) ** 2
    found = event_intervals(EVENT)
    assert found["brier"].standard_error == pytest.approx(squares.std(ddof=1) / math.sqrt(ROWS), rel=1e-8)
    # the delta method, by numerical derivatives of 1 - b / (y (1 - y)) in its two means
    moments = np.cov(squares, DIED) / ROWS
    b, y, h = squares.mean(), DIED.mean(), 1e-6

    def scaled(b: float, y: float) -> float:
        return 1 - b / (y * (1 - y))

    slopes = np.array(
        [(scaled(b + h, y) - scaled(b - h, y)) / (2 * h), (scaled(b, y + h) - scaled(b, y - h)) / (2 * h)]
    )
    assert found["scaled_brier"].standard_error == pytest.approx(math.sqrt(slopes @ moments @ slopes), rel=1e-6)
    for name in ("brier", "scaled_brier"):
        reach = (found[name].high - found[name].value) / found[name].standard_error
        assert Z < reach < 1.05 * Z


def test_intervals_hold_as_often_as_they_say() -> None:
    """Of a model whose slope is 0.8 and whose intercept is -0.5."""
    rng = np.random.default_rng(11)
    hits: dict[str, list[bool]] = {}
    truth = {"calibration_slope": 0.8, "calibration_intercept": -0.5}
    for _ in range(300):
        z = rng.normal(-1, 1.5, 400)
        p = sf.Predictions.from_probabilities(
            (rng.random(400) < expit(-0.5 + 0.8 * z)).astype(int), expit(z), of="event"
        )
        found = event_intervals(p.rows())
        for name, value in truth.items():
            hits.setdefault(name, []).append(found[name].low <= value <= found[name].high)
        expected = expit(-0.5 + 0.8 * z).sum() / expit(z).sum()
        hits.setdefault("oe_ratio", []).append(found["oe_ratio"].low <= expected <= found["oe_ratio"].high)
    slack = 3 * math.sqrt(0.95 * 0.05 / 300)
    assert {name: np.mean(one) for name, one in hits.items() if np.mean(one) < 0.95 - slack} == {}


@pytest.mark.parametrize(
    ("event", "risk"),
    [
        ([1], [0.3]),
        ([1, 1, 1], [0.3, 0.4, 0.5]),
        ([0, 0, 0], [0.3, 0.4, 0.5]),
        ([1, 0, 1, 0], [1.0, 0.0, 0.5, 0.6]),
        ([0, 1, 1, 0], [1.0, 0.0, 0.5, 0.6]),
        ([0, 1, 1, 0], [0.3, 0.3, 0.3, 0.3]),
        ([0, 0], [0.0, 0.0]),
        ([1, 0], [0.0, 0.0]),
        ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]),
    ],
)
def test_what_has_no_interval_says_why(event: list[int], risk: list[float]) -> None:
    p = sf.Predictions.from_probabilities(event, risk, labels=[0, 1], of="event").rows()
    for interval in event_intervals(p).values():
        if interval.is_absent:
            assert interval.note.startswith("no interval is available: ")
        else:
            assert interval.low <= interval.value <= interval.high
            assert interval.high > interval.low


def test_rows_without_weight_have_none() -> None:
    some = sf.Predictions.from_probabilities([0, 1, 1], [0.2, 0.3, 0.4], sample_weight=[0.0, 0.0, 1.0], of="event")
    assert {one.note for one in event_intervals(some.rows()[:2]).values()} == {
        "no interval is available: no row has any weight."
    }
    weight = np.append(np.ones(ROWS), [0.0, 0.0])
    event, risk = np.append(DIED, [1, 0]), np.append(RISK, [0.0, 1.0])
    p = sf.Predictions.from_probabilities(event, risk, sample_weight=weight, of="event").rows()
    for name, interval in event_intervals(p).items():
        expected = event_intervals(EVENT)[name]
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-9), name


def test_few_events_are_said_to_be_few() -> None:
    rng = np.random.default_rng(12)
    risk = rng.random(40)
    p = sf.Predictions.from_probabilities((np.arange(40) % 8 == 0).astype(int), risk, of="event").rows()
    found = event_intervals(p)
    assert "rests on 5 samples of the rarer outcome" in found["calibration_slope"].note
    assert found["oe_ratio"].note == ""
    assert "only 5 of the rarer outcome" in found["auc"].note

"""The numbers of an event against statsmodels, scikit-learn and formulas written out here."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn.metrics as sk
from risk_sample import DIED, LOG_ODDS, RISK, ROWS, WEIGHT
from scipy.optimize import brentq
from scipy.special import expit

import surefoot as sf
from surefoot._stats.local_regression import bandwidths, local_regression
from surefoot.errors import AmbiguousViewWarning, InvalidPredictions, MetricUnavailable, NeedsRows
from surefoot.metrics import ALL, flexible

EVENT = sf.Predictions.from_probabilities(DIED, RISK, of="event")
WEIGHTED = sf.Predictions.from_probabilities(DIED, RISK, of="event", sample_weight=WEIGHT)


def newton(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Intercept and slope of a logistic regression, by plain Newton steps."""
    features, line = np.stack([np.ones(len(x)), x]), np.zeros(2)
    for _ in range(50):
        p = expit(line @ features)
        information = (features * (weight * p * (1 - p))) @ features.T
        line = line + np.linalg.solve(information, features @ (weight * (y - p)))
    return float(line[0]), float(line[1])


def loess(x: np.ndarray, y: np.ndarray, weight: np.ndarray, degree: int = 2) -> np.ndarray:
    """Local regression by a least squares problem at each point; ``weight`` are whole numbers, as so many rows."""
    x, y = np.repeat(x, weight.astype(int)), np.repeat(y, weight.astype(int))
    fitted = []
    for at in x:
        distance = np.abs(x - at)
        h = np.sort(distance)[math.ceil(0.75 * len(x) - 1e-9) - 1]
        k = np.clip(1 - (distance / h) ** 3, 0, None) ** 3
        root = np.sqrt(k)
        features = np.stack([(x - at) ** i for i in range(degree + 1)], axis=1)
        fitted.append(np.linalg.lstsq(features * root[:, None], y * root, rcond=None)[0][0])
    return np.array(fitted)


# -- the file of the issue: expected 273, observed 118 -----------------------------------------------------------------


def test_observed_over_expected_events() -> None:
    assert (round(RISK.sum()), DIED.sum()) == (273, 118)
    assert sf.oe_ratio(DIED, RISK) == pytest.approx(DIED.sum() / RISK.sum(), rel=1e-14)
    assert round(sf.oe_ratio(DIED, RISK), 2) == 0.43


def test_recalibration_as_statsmodels_has_it() -> None:
    # statsmodels 0.15.0: Logit on a constant and the log-odds; GLM with the log-odds as offset
    assert sf.calibration_intercept(DIED, RISK) == pytest.approx(-1.2847243074024948, abs=1e-8)
    assert sf.calibration_slope(DIED, RISK) == pytest.approx(0.8754462798569683, abs=1e-8)
    assert sf.calibration_in_the_large(DIED, RISK) == pytest.approx(-1.211130661761552, abs=1e-8)
    # GLM with freq_weights
    assert sf.calibration_intercept(WEIGHTED) == pytest.approx(-1.2867723824182444, abs=1e-8)
    assert sf.calibration_slope(WEIGHTED) == pytest.approx(0.8439420416483769, abs=1e-8)
    assert sf.calibration_in_the_large(WEIGHTED) == pytest.approx(-1.192362994095878, abs=1e-8)


@pytest.mark.parametrize("weight", [np.ones(ROWS), WEIGHT], ids=["plain", "weighted"])
def test_recalibration_by_newtons_method(weight: np.ndarray) -> None:
    p = sf.Predictions.from_probabilities(DIED, RISK, of="event", sample_weight=weight)
    intercept, slope = newton(LOG_ODDS, DIED, weight)
    assert sf.calibration_intercept(p) == pytest.approx(intercept, abs=1e-9)
    assert sf.calibration_slope(p) == pytest.approx(slope, abs=1e-9)
    shift = brentq(lambda a: (weight * (expit(a + LOG_ODDS) - DIED)).sum(), -5, 5, xtol=1e-14)
    assert sf.calibration_in_the_large(p) == pytest.approx(shift, abs=1e-9)


def test_hosmer_and_lemeshow_spiegelhalter_brier_and_the_c_statistic() -> None:
    groups = np.split(np.argsort(RISK), 10)
    chi = sum((DIED[g].sum() - RISK[g].sum()) ** 2 / (RISK[g].sum() * (1 - RISK[g].mean())) for g in groups)
    assert sf.hosmer_lemeshow(EVENT) == pytest.approx(chi, rel=1e-10)
    z = ((DIED - RISK) * (1 - 2 * RISK)).sum() / math.sqrt(((1 - 2 * RISK) ** 2 * RISK * (1 - RISK)).sum())
    assert sf.spiegelhalter_z(EVENT) == pytest.approx(z, rel=1e-10)
    brier = sk.brier_score_loss(DIED, RISK)
    assert sf.brier(EVENT) == pytest.approx(brier, rel=1e-12)
    assert sf.scaled_brier(EVENT) == pytest.approx(1 - brier / (DIED.mean() * (1 - DIED.mean())), rel=1e-12)
    weighted = sk.brier_score_loss(DIED, RISK, sample_weight=WEIGHT)
    rate = np.average(DIED, weights=WEIGHT)
    assert sf.scaled_brier(WEIGHTED) == pytest.approx(1 - weighted / (rate * (1 - rate)), rel=1e-12)
    assert sf.auc(EVENT) == pytest.approx(sk.roc_auc_score(DIED, RISK), rel=1e-12)


def test_the_event_may_be_either_class() -> None:
    survived = sf.Predictions.from_probabilities(DIED, RISK).event(0)
    assert sf.oe_ratio(survived) == pytest.approx((ROWS - 118) / (1 - RISK).sum(), rel=1e-12)
    assert sf.calibration_slope(survived) == pytest.approx(sf.calibration_slope(EVENT), rel=1e-9)
    assert sf.calibration_in_the_large(survived) == pytest.approx(-sf.calibration_in_the_large(EVENT), rel=1e-9)


# -- the smoother ------------------------------------------------------------------------------------------------------


def test_the_smoother_is_loess() -> None:
    ones = np.ones(ROWS)
    picked = [0, 300, 600, 900, 1199]
    # scikit-misc 0.5.3, the Fortran code of R's loess: span 0.75, degree 2, surface "direct"
    expected = [-0.013930390806564167, 0.039342277408983384, 0.06755300555401728, 0.12886402705023842]
    found = local_regression(RISK, DIED.astype(float), ones, RISK[picked])
    assert found == pytest.approx([*expected, 0.7381399693183512], abs=1e-9)
    # statsmodels 0.15.0, lowess: frac 0.75, it 0, delta 0, which is of degree 1
    expected = [0.005941047456638101, 0.033401901810368055, 0.060318513159405715, 0.12752543331597213]
    found = local_regression(RISK, DIED.astype(float), ones, RISK[picked], degree=1)
    assert found == pytest.approx([*expected, 0.5744097410079974], abs=1e-9)


@pytest.mark.parametrize("degree", [1, 2])
def test_the_smoother_by_least_squares_at_each_point(degree: int) -> None:
    rng = np.random.default_rng(0)
    for rows in (13, 60, 201):
        x = np.unique(rng.beta(1, 3, rows))
        y, weight = rng.random(len(x)), rng.integers(1, 4, len(x)).astype(float)
        expected = loess(x, y, weight, degree)
        found = np.repeat(local_regression(x, y, weight, x, degree=degree), weight.astype(int))
        assert found == pytest.approx(expected, abs=1e-6)


def test_bandwidths_hold_three_quarters_of_the_weight() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        x = np.unique(rng.random(rng.integers(1, 40)).round(rng.integers(1, 4)))
        weight, at = rng.integers(1, 5, len(x)).astype(float), np.concatenate([x, rng.random(5)])
        for point, found in zip(at, bandwidths(x, weight, at, 0.75), strict=True):
            order = np.argsort(np.abs(x - point), kind="stable")
            first = np.searchsorted(np.cumsum(weight[order]), 0.75 * weight.sum() * (1 - 1e-9))
            assert found == pytest.approx(np.abs(x - point)[order][first], abs=1e-12)


@pytest.mark.parametrize(
    ("rows", "weight"), [(ROWS, None), (301, None), (200, WEIGHT[:200])], ids=["all", "301 rows", "weighted"]
)
def test_ici_and_its_relatives(rows: int, weight: Any) -> None:
    chosen = np.random.default_rng(2).permutation(ROWS)[:rows]
    risk, died = RISK[chosen], DIED[chosen]
    times = np.ones(rows) if weight is None else weight
    fitted = np.clip(loess(risk, died, times), 0, 1)
    errors = np.abs(fitted - np.repeat(risk, times.astype(int)))
    p = sf.Predictions.from_probabilities(died, risk, of="event", sample_weight=weight)
    assert sf.ici(p) == pytest.approx(errors.mean(), abs=1e-6)
    assert sf.e50(p) == pytest.approx(np.median(errors), abs=1e-6)
    assert sf.e90(p) == pytest.approx(np.quantile(errors, 0.9), abs=1e-6)
    assert sf.emax(p) == pytest.approx(errors.max(), abs=1e-6)


def test_ici_of_ties() -> None:
    risk = np.round(RISK, 1)
    fitted = np.clip(loess(risk, DIED.astype(float), np.ones(ROWS)), 0, 1)
    assert sf.ici(DIED, risk) == pytest.approx(np.abs(fitted - risk).mean(), abs=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (0.2, 20)], ids=str)
def test_many_probabilities_are_put_together_within_the_bound_of_the_docs(
    shape: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    risk = np.unique(rng.beta(*shape, 2 * flexible.MOST))
    y = (rng.random(len(risk)) < risk**1.2).astype(int)
    pooled = sf.ici(y, risk)
    monkeypatch.setattr(flexible, "MOST", len(risk))
    assert abs(sf.ici(y, risk) - pooled) < 5e-5


def test_a_million_rows_are_few_enough() -> None:
    rng = np.random.default_rng(5)
    risk = rng.beta(1, 6, 1_000_000)
    y = rng.random(len(risk)) < risk
    assert sf.ici(y, risk, pos_label=True) < 2e-3


# -- the flexible curve ------------------------------------------------------------------------------------------------


def test_the_flexible_curve_and_its_band() -> None:
    chosen = slice(None, None, 4)
    risk, died = RISK[chosen], DIED[chosen]
    curve = sf.flexible_curve(died, risk, of="event")
    assert curve.predicted == pytest.approx(risk)
    assert curve.observed == pytest.approx(np.clip(loess(risk, died, np.ones(len(risk))), 0, 1), abs=1e-9)
    # the weights of the smoother, row by row: what it makes of each row's own response
    weights = np.stack([local_regression(risk, row, np.ones(len(risk)), risk) for row in np.eye(len(risk))], axis=1)
    rows, z = 1 / (weights**2).sum(axis=1), 1.959963984540054
    share = (curve.observed * rows + z**2 / 2) / (rows + z**2)
    reach = z * np.sqrt(weights**2 @ (share * (1 - share)))
    assert curve.lower == pytest.approx(np.clip(curve.observed - reach, 0, 1), abs=1e-9)
    assert curve.upper == pytest.approx(np.clip(curve.observed + reach, 0, 1), abs=1e-9)
    wide = sf.flexible_curve(died, risk, of="event", level=0.99)
    assert (wide.upper - wide.lower >= curve.upper - curve.lower).all()


def test_a_weight_of_two_is_as_uncertain_as_one_row() -> None:
    plain = sf.flexible_curve(DIED, RISK, of="event")
    doubled = sf.flexible_curve(DIED, RISK, of="event", sample_weight=np.full(ROWS, 2.0))
    assert doubled.upper == pytest.approx(plain.upper, abs=1e-12)


def test_the_band_covers_the_truth() -> None:
    """At level 0.9 in nine of ten places, where the smoother has no bias: a straight line."""
    rng = np.random.default_rng(6)
    risk = (np.arange(300) + 0.5) / 300
    inside = []
    for _ in range(200):
        curve = sf.flexible_curve(rng.random(300) < risk, risk, of="event", pos_label=True, level=0.9)
        inside.append((curve.lower <= risk) & (risk <= curve.upper))
    # 200 curves, of which some five points each are independent
    assert np.mean(inside) == pytest.approx(0.9, abs=0.03)


def test_a_long_curve_is_handed_out_at_512_points() -> None:
    rng = np.random.default_rng(7)
    risk = rng.random(5000)
    curve = sf.flexible_curve((rng.random(5000) < risk).astype(int), risk, of="event")
    assert 400 <= len(curve.predicted) <= 514
    assert (curve.predicted[0], curve.predicted[-1]) == (risk.min(), risk.max())
    assert curve.to_frame("polars").columns == ["predicted", "observed", "lower", "upper"]


# -- net benefit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.2, 0.5, 0.9])
def test_net_benefit_by_counting(threshold: float) -> None:
    odds = threshold / (1 - threshold)
    for p, weight in ((EVENT, np.ones(ROWS)), (WEIGHTED, WEIGHT)):
        treated = threshold <= RISK
        expected = (weight * treated * (DIED - odds * (1 - DIED))).sum() / weight.sum()
        assert sf.net_benefit(p, threshold=threshold) == pytest.approx(expected, abs=1e-12)
        curve = sf.decision_curve(p, thresholds=[threshold])
        assert curve.net_benefit[0] == pytest.approx(expected, abs=1e-12)
        rate = np.average(DIED, weights=weight)
        assert curve.treat_all[0] == pytest.approx(rate - odds * (1 - rate), abs=1e-12)
        assert (curve.treat_none[0], curve.treated[0]) == (0, pytest.approx(np.average(treated, weights=weight)))
        assert curve.lower[0] < expected < curve.upper[0]


def test_a_probability_at_the_threshold_is_acted_on() -> None:
    risk = np.arange(1, 100) / 100
    curve = sf.decision_curve(np.ones(99, dtype=int), risk, labels=[0, 1])
    assert curve.threshold.tolist() == risk.tolist()
    assert curve.treated == pytest.approx((99 - np.arange(99)) / 99)
    assert sf.net_benefit([1, 0], [0.07, 0.01], threshold=0.07) == 0.5


def test_limits_of_net_benefit_hold() -> None:
    """At least as often as they say, whatever the threshold, and not much more often where there are many rows."""
    rng = np.random.default_rng(8)
    at = np.array([0.05, 0.2, 0.5, 0.8])
    odds = at / (1 - at)
    risks = rng.beta(1, 4, 400_000)
    share = risks[:, None] >= at
    truth = (share * (risks[:, None] - odds * (1 - risks[:, None]))).mean(axis=0)
    for rows, most in ((30, 1.0), (1000, 0.985)):
        covered = []
        for _ in range(400):
            risk = rng.beta(1, 4, rows)
            curve = sf.decision_curve((rng.random(rows) < risk).astype(int), risk, labels=[0, 1], thresholds=at)
            covered.append((curve.lower <= truth) & (truth <= curve.upper))
        found = np.mean(covered, axis=0)
        # three standard errors of 400 trials
        assert (found >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 400)).all()
        assert found[:2].max() <= most


def test_a_decision_curve_of_a_lazy_frame() -> None:
    frame = pl.DataFrame({"died": DIED, "risk": RISK, "weight": WEIGHT}).lazy()
    named = {"y_true": "died", "probabilities": "risk", "sample_weight": "weight", "of": "event"}
    lazy = sf.decision_curve(frame, thresholds=[0.1, 0.3], **named)
    rows = sf.decision_curve(WEIGHTED, thresholds=[0.1, 0.3])
    for name in ("net_benefit", "lower", "upper", "treat_all", "treated"):
        assert getattr(lazy, name) == pytest.approx(getattr(rows, name), abs=1e-12)
    assert rows.to_frame("polars").shape == (2, 7)
    assert sf.oe_ratio(frame, **named) == pytest.approx(sf.oe_ratio(WEIGHTED), rel=1e-12)
    for function in (sf.ici, sf.calibration_slope, sf.calibration_in_the_large, sf.flexible_curve):
        with pytest.raises(NeedsRows, match="collect it first"):
            function(frame, **named)


@pytest.mark.parametrize("thresholds", [[0.2, 0.1], [1.0], [-0.1], [], [[0.1]], [math.nan], [0.1, 0.1]])
def test_thresholds_that_cannot_be(thresholds: Any) -> None:
    with pytest.raises(ValueError, match="it should be rising numbers from 0 to below 1"):
        sf.decision_curve(DIED, RISK, thresholds=thresholds)


# -- views and names ---------------------------------------------------------------------------------------------------

OF_EVENTS = [
    "oe_ratio",
    "calibration_in_the_large",
    "calibration_slope",
    "calibration_intercept",
    "ici",
    "e50",
    "e90",
    "emax",
    "net_benefit",
]
OLD = {
    "cox_slope": "correctness_slope",
    "cox_intercept": "correctness_intercept",
    "hosmer_lemeshow": "correctness_hosmer_lemeshow",
    "spiegelhalter_z": "correctness_spiegelhalter_z",
}


@pytest.mark.parametrize("name", OF_EVENTS)
def test_a_number_of_events_is_of_the_event_unless_another_view_was_chosen(name: str) -> None:
    function = getattr(sf, name)
    expected = function(EVENT)
    assert function(DIED, RISK) == function(DIED, RISK, of="event") == ALL[name](EVENT) == expected
    assert function(sf.Predictions.from_probabilities(DIED, RISK)) == expected
    if "classes" in ALL[name].views:
        classes = [function(sf.Predictions.from_probabilities(DIED, RISK).event(label)) for label in (0, 1)]
        assert function(DIED, RISK, of="classes") == pytest.approx(np.mean(classes), rel=1e-12)
    else:  # a mean of what is above 1 in one class and below in another would say nothing
        with pytest.raises(MetricUnavailable, match="not defined for of='classes'"):
            function(DIED, RISK, of="classes")
    with pytest.raises(MetricUnavailable, match="of='event'"):
        function(y_true=DIED, probabilities=RISK, of="prediction")
    with pytest.raises(InvalidPredictions, match="give y_true and probabilities"):
        function(correct=DIED, confidence=RISK)
    with pytest.raises(InvalidPredictions, match="pos_label"):
        function(["a", "b", "c"], np.eye(3))


def test_the_former_intercept_has_no_mean_over_classes_either() -> None:
    """Of two classes the intercepts cancel: their mean would be 0 however far off the model is."""
    p = sf.Predictions.from_probabilities(DIED, RISK)
    assert sf.cox_intercept(p.event(0)) == pytest.approx(-sf.cox_intercept(p.event(1)), rel=1e-9)
    with pytest.raises(MetricUnavailable, match="not defined for of='classes'"):
        sf.cox_intercept(DIED, RISK, of="classes")


@pytest.mark.parametrize("name", OLD)
def test_old_names_on_two_classes_point_to_both_numbers(name: str) -> None:
    old, new = getattr(sf, name), getattr(sf, OLD[name])
    assert ALL[name].renamed == OLD[name]
    plain = sf.Predictions.from_probabilities(DIED, RISK)
    with pytest.warns(AmbiguousViewWarning, match=rf"of='event'.*of='prediction' or call {OLD[name]}"):
        value = old(plain)
    assert value == new(plain) == old(y_true=DIED, probabilities=RISK, of="prediction")
    assert old(DIED, RISK, of="event") == ALL[name](EVENT)
    with pytest.raises(MetricUnavailable, match="of='prediction'"):
        new(EVENT)


def test_old_names_are_silent_where_there_is_nothing_to_mistake() -> None:
    three = sf.Predictions.from_probabilities(DIED, np.stack([1 - RISK, RISK * 0.9, RISK * 0.1], axis=1))
    for name in OLD:
        assert math.isfinite(getattr(sf, name)(three))
        assert math.isfinite(getattr(sf, name)(correct=DIED, confidence=RISK))


def test_an_assessment_tells_each_number_once_and_knows_its_former_name() -> None:
    of_event = sf.assess(EVENT)
    assert {"cox_slope", "cox_intercept"}.isdisjoint(of_event.metrics)
    assert of_event.cox_slope == of_event.calibration_slope == sf.calibration_slope(EVENT)
    assert of_event.hosmer_lemeshow == sf.hosmer_lemeshow(EVENT)
    of_predictions = sf.assess(y_true=DIED, probabilities=RISK)
    assert OLD.keys().isdisjoint(of_predictions.metrics)
    for old, new in OLD.items():
        assert getattr(of_predictions, old) == getattr(of_predictions, new)
    with pytest.raises(AttributeError, match="of='event'"):
        _ = of_predictions.calibration_slope


def test_the_slope_of_the_event_is_not_that_of_correctness() -> None:
    assert sf.calibration_slope(EVENT) == sf.cox_slope(EVENT)
    assert sf.calibration_intercept(EVENT) == sf.cox_intercept(EVENT)
    is_sure = np.maximum(RISK, 1 - RISK)
    intercept, slope = newton(np.log(is_sure) - np.log1p(-is_sure), (RISK > 0.5) == DIED, np.ones(ROWS))
    of_predictions = sf.Predictions.from_probabilities(DIED, RISK, of="prediction")
    assert sf.correctness_slope(of_predictions) == pytest.approx(slope, abs=1e-9)
    assert sf.correctness_intercept(of_predictions) == pytest.approx(intercept, abs=1e-9)
    assert abs(slope - sf.calibration_slope(EVENT)) > 0.2
    # each term of Spiegelhalter's z stays the same if the event and its opposite change places
    assert sf.spiegelhalter_z(EVENT) == pytest.approx(sf.correctness_spiegelhalter_z(of_predictions), rel=1e-12)


def test_curves_are_of_one_event() -> None:
    with pytest.raises((InvalidPredictions, MetricUnavailable), match=r"not defined for of='classes'.*of='event'"):
        sf.flexible_curve(DIED, RISK, of="classes")
    for view in ("prediction", "classes"):
        with pytest.raises(InvalidPredictions, match=f"of='{view}'; use of='event'"):
            sf.decision_curve(y_true=DIED, probabilities=RISK, of=view)
    some = sf.Predictions.from_probabilities([0, 1, 1], [0.2, 0.3, 0.4], sample_weight=[0.0, 0.0, 1.0], of="event")
    for curve in (sf.flexible_curve, sf.decision_curve):
        with pytest.raises(InvalidPredictions, match="every weight is 0"):
            curve(some.rows()[:2])


# -- what does not exist -----------------------------------------------------------------------------------------------


def outcome(name: str, event: list[int], risk: list[float]) -> tuple[float, str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        value = getattr(sf, name)(event, risk, labels=[0, 1])
    return value, " ".join(str(one.message) for one in said)


@pytest.mark.parametrize(
    ("event", "risk", "why"),
    [
        ([1], [0.3], "all outcomes are the same"),
        ([1, 1, 1], [0.3, 0.4, 0.5], "all outcomes are the same"),
        ([0, 0, 0], [0.3, 0.4, 0.5], "all outcomes are the same"),
        ([0, 1, 1, 0], [1.0, 0.0, 0.5, 0.6], "exactly 0 or 1 had the other outcome"),
        ([0, 1, 0], [0.0, 1.0, 0.0], "every probability is 0 or 1"),
    ],
)
def test_recalibration_that_cannot_be_fitted_says_why(event: list[int], risk: list[float], why: str) -> None:
    for name in ("calibration_slope", "calibration_intercept", "calibration_in_the_large"):
        value, said = outcome(name, event, risk)
        assert math.isnan(value)
        assert why in said


def test_a_slope_needs_probabilities_that_differ_and_overlap() -> None:
    assert "two different probabilities" in outcome("calibration_slope", [0, 1, 1, 0], [0.3] * 4)[1]
    assert outcome("calibration_in_the_large", [0, 1, 1, 0], [0.3] * 4)[0] == pytest.approx(math.log(7 / 3))
    assert "separate" in outcome("calibration_slope", [0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])[1]
    falls = [1, 0, 1, 0, 0, 0], [0.2, 0.3, 0.4, 0.6, 0.7, 0.0]
    assert "the line does not rise" in outcome("calibration_slope", *falls)[1]
    assert outcome("calibration_slope", falls[0][:5], falls[1][:5])[0] < 0


def test_certain_samples_that_came_out_as_they_said_change_nothing() -> None:
    """The likelihood of any rising line is the same with them."""
    event, risk = np.append(DIED, [1, 0, 0]), np.append(RISK, [1.0, 0.0, 0.0])
    for name in ("calibration_slope", "calibration_intercept", "calibration_in_the_large"):
        assert getattr(sf, name)(event, risk) == pytest.approx(getattr(sf, name)(EVENT), rel=1e-10)
    # they are what is left of samples that are ever nearer to certain
    near = np.append(RISK, [1 - 1e-9, 1e-9, 1e-9])
    assert sf.calibration_slope(event, near) == pytest.approx(sf.calibration_slope(EVENT), rel=1e-4)


def test_log_odds_beyond_what_a_probability_can_say() -> None:
    """Probabilities that round to 1 keep their log-odds."""
    rng = np.random.default_rng(9)
    odds = rng.normal(0, 30, 2000)
    event = (rng.random(2000) < expit(odds / 20)).astype(int)
    p = sf.Predictions.from_logits(event, odds, of="event")
    assert (p.confidence == 1).sum() > 100
    slope = newton(odds / 20, event, np.ones(2000))[1] / 20
    assert sf.calibration_slope(p) == pytest.approx(slope, rel=1e-9)


def test_lines_far_from_the_diagonal_meet_the_equations_of_the_likelihood() -> None:
    """Log-odds of any size, and weights that differ by six orders of magnitude."""
    rng = np.random.default_rng(0)
    fitted = 0
    for _ in range(300):
        rows, scale = int(rng.integers(5, 60)), 10 ** rng.uniform(-3, 2.3)
        odds = np.clip(rng.normal(rng.normal(0, scale), scale, rows), -600, 600)
        event = (rng.random(rows) < expit(odds / scale * rng.normal())).astype(int)
        weight = 10 ** rng.uniform(-3, 3, rows)
        p = sf.Predictions.from_logits(event, odds, labels=[0, 1], of="event", sample_weight=weight)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sf.UndefinedMetricWarning)
            slope, intercept, shift = (
                metric(p) for metric in (sf.calibration_slope, sf.calibration_intercept, sf.calibration_in_the_large)
            )
        if math.isfinite(slope):
            fitted += 1
            residual = weight / weight.sum() * (event - expit(intercept + slope * odds))
            assert abs(residual.sum()) < 1e-8
            assert abs((residual * odds).sum()) < 1e-8 * np.abs(odds).max()
        if math.isfinite(shift):
            assert abs((weight / weight.sum() * (event - expit(shift + odds))).sum()) < 1e-8
    assert fitted > 200


def test_scaled_brier_and_oe_where_there_is_nothing_to_compare_with() -> None:
    assert math.isnan(outcome("scaled_brier", [1, 1], [0.3, 0.4])[0])
    assert "no event was expected" in outcome("oe_ratio", [0, 0], [0.0, 0.0])[1]
    assert outcome("oe_ratio", [1, 0], [0.0, 0.0]) == (math.inf, "")


def test_one_probability_only_gives_the_mean() -> None:
    for name in ("ici", "e50", "e90", "emax"):
        assert outcome(name, [0, 1, 1, 0], [0.3] * 4)[0] == pytest.approx(0.2)
        assert outcome(name, [1], [0.3])[0] == pytest.approx(0.7)


def test_rows_without_weight_do_not_count() -> None:
    weight = np.append(np.ones(ROWS), [0.0, 0.0])
    event, risk = np.append(DIED, [1, 0]), np.append(RISK, [0.0, 1.0])
    p = sf.Predictions.from_probabilities(event, risk, sample_weight=weight, of="event")
    for name in [*OF_EVENTS, "scaled_brier", "hosmer_lemeshow"]:
        assert getattr(sf, name)(p) == pytest.approx(getattr(sf, name)(EVENT), rel=1e-12), name
    assert sf.flexible_curve(p).observed == pytest.approx(sf.flexible_curve(EVENT).observed)
    assert sf.decision_curve(p).upper == pytest.approx(sf.decision_curve(EVENT).upper)

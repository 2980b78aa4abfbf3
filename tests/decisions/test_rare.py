"""Limits of few events, against SciPy's laws and by adding up all that can happen."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, nbinom, poisson

import surefoot as sf
from surefoot.decisions.rare import limits_of_number, tails_of_number

TAIL = 0.025


@pytest.mark.parametrize("mean", [0.02, 0.4, 3.0, 11.0, 29.0])
def test_numbers_with_a_known_mean_are_those_of_poisson(mean: float) -> None:
    assert limits_of_number(mean, mean, 0.0, TAIL) == (poisson.ppf(TAIL, mean), poisson.ppf(1 - TAIL, mean))


@pytest.mark.parametrize(("trials", "share"), [(5, 0.2), (40, 0.1), (40, 0.45), (16, 0.95), (200, 0.99)])
def test_numbers_among_few_rows_are_binomial(trials: int, share: float) -> None:
    mean = trials * share
    found = limits_of_number(mean, mean * (1 - share), 0.0, TAIL)
    assert found == (binom.ppf(TAIL, trials, share), binom.ppf(1 - TAIL, trials, share))


def test_numbers_with_a_gamma_mean_are_negative_binomial() -> None:
    """The mean of the largest number is that of one event more where it was learnt: 6 and 7 of 10,000 rows."""
    low, high = limits_of_number(6.0, 6.0, 6.0, TAIL)
    assert low == nbinom.ppf(TAIL, 6, 0.5)
    assert high == nbinom.ppf(1 - TAIL, 7, 0.5)


def test_what_varies_more_than_poisson_numbers_is_not_known() -> None:
    assert limits_of_number(6.0, 12.0, 0.0, TAIL) == limits_of_number(6.0, 6.0, 6.0, TAIL)


def expected_of(reference: int, wrong: int, rows: int) -> sf.Expected:
    confidence = np.full(reference, 0.97)
    known = sf.Predictions.from_correct(np.arange(reference) >= wrong, confidence)
    return sf.expect(np.full(rows, 0.97), reference=known, calibrator="Platt")


def metrics_of(errors: Any, rows: int) -> dict[str, Any]:
    right = 1 - errors / rows
    return {
        "accuracy": right,
        "cw_accuracy": right,
        "errors": errors,
        "log_loss": -(1 - right) * np.log(0.03) - right * np.log(0.97),
        "brier": (1 - right) * 0.97**2 + right * 0.03**2,
    }


@pytest.mark.parametrize(
    ("reference", "rows", "rate"), [(5000, 200, 0.025), (5000, 200, 0.04), (1000, 200, 0.005), (300, 1, 0.05)]
)
def test_intervals_of_few_errors_hold_them(reference: int, rows: int, rate: float) -> None:
    """By enumeration of the errors among the rows, for numbers of errors in the reference from all over their law.

    Log-odds alone held 91% with five errors expected.
    """
    errors = np.arange(rows + 1)
    chance = binom.pmf(errors, rows, rate)
    seen = metrics_of(errors, rows)
    held = dict.fromkeys(seen, 0.0)
    quantiles = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95)
    for quantile in quantiles:
        expected = expected_of(reference, int(binom.ppf(quantile, reference, rate)), rows)
        for name, values in seen.items():
            inside = (values >= expected[name].low - 1e-12) & (values <= expected[name].high + 1e-12)
            held[name] += float(chance[inside].sum()) / len(quantiles)
    assert min(held.values()) >= 0.95, held


def test_a_reference_without_errors_promises_few() -> None:
    """By the rule of three 1,000 right rows leave 0.3% possible, of which 100 rows have one or two."""
    expected = expected_of(1000, 0, 100)
    assert 0.98 <= expected["accuracy"].low < expected["accuracy"].value <= expected["accuracy"].high == 1
    assert expected["errors"].low == 0
    assert 1 <= expected["errors"].high <= 2


def test_right_and_wrong_rows_of_a_predicted_class_add_up() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(0.05, 0.05, 1400).clip(0.001, 0.999)
    label = (rng.random(1400) < p).astype(int)
    known = sf.Predictions.from_probabilities(label[:1000], p[:1000])
    expected = sf.expect(p[1000:], reference=known, calibrator="Platt")
    for true, false, count in (("tp", "fp", (p[1000:] >= 0.5).sum()), ("tn", "fn", (p[1000:] < 0.5).sum())):
        assert expected[true].low + expected[false].high == pytest.approx(count)
        assert expected[true].high + expected[false].low == pytest.approx(count)
        assert 0 <= expected[false].low < expected[false].value < expected[true].value < expected[true].high <= count


@pytest.mark.parametrize(("rows", "p"), [(1, 0.1), (2, 0.9), (5, 0.4), (40, 0.03), (40, 0.8)])
def test_tails_are_those_of_a_binomial_number(rows: int, p: float) -> None:
    for k in range(rows + 1):
        at_most, at_least = tails_of_number(k, k, rows * p, rows * p * (1 - p), 0.0)
        assert at_most == pytest.approx(binom.cdf(k, rows, p), abs=1e-12)
        assert at_least == pytest.approx(binom.sf(k - 1, rows, p), abs=1e-12)


@pytest.mark.parametrize("unknown", [0.0, 0.3, 4.0])
@pytest.mark.parametrize(("mean", "chance"), [(0.3, 0.3), (4.0, 3.1), (7.3, 1.9), (11.0, 12.0)])
def test_a_number_is_outside_its_limits_where_its_tail_is_small(mean: float, chance: float, unknown: float) -> None:
    low, high = limits_of_number(mean, chance, unknown, 0.025)
    for number in range(15):
        at_most, at_least = tails_of_number(number, number, mean, chance, unknown)
        assert (at_most <= 0.025, at_least <= 0.025) == (number < low, number > high)


def test_one_wrong_row_is_no_drift() -> None:
    """Of a row that is 90% sure, one in ten is wrong."""
    reference = sf.Predictions.from_correct(np.repeat([1, 0], [18_000, 2_000]), np.full(20_000, 0.9))
    kept = sf.expect([0.9], reference=reference).compare(sf.Predictions.from_correct([0], [0.9]))
    assert kept.held
    assert kept.sentence == "The expectation held: all 4 observed values are inside their intervals."
    # two-sided, and twice the tail; the reference tells the tail to some percent
    assert [one.pvalue for one in kept.metrics] == pytest.approx([0.2] * 4, rel=0.06)


@pytest.mark.parametrize("rows", [1, 2, 5, 40])
def test_few_labels_raise_few_alarms(rows: int) -> None:
    """At most 5% of 150 sets, and 3 standard errors; and none while all values are inside."""
    rng, false, found = np.random.default_rng(rows), 0, 0
    for _ in range(150):
        old, new = 0.5 + 0.5 * rng.beta(4, 1, 1000), 0.5 + 0.5 * rng.beta(4, 1, rows)
        reference = sf.Predictions.from_correct(rng.random(1000) < old, old)
        expected = sf.expect(new, reference=reference, calibrator="Platt")
        kept = expected.compare(sf.Predictions.from_correct(rng.random(rows) < new, new))
        false += not kept.held
        assert kept.held or not all(one.is_inside for one in kept.metrics)
        # as often wrong as right, where 90% were expected to be right
        found += not expected.compare(sf.Predictions.from_correct(np.arange(rows) % 2, new)).held
    assert false <= 0.05 * 150 + 3 * (0.05 * 0.95 * 150) ** 0.5
    assert found > 140 or rows < 40


@pytest.mark.parametrize("accuracy", [0.02, 0.05, 0.2, 0.6, 0.9])
@pytest.mark.parametrize("rows", [1, 200, 2000])
def test_errors_and_accuracy_have_the_same_limits(accuracy: float, rows: int) -> None:
    rng = np.random.default_rng(2)
    old, new = 0.5 + 0.5 * rng.beta(4, 1, 400), 0.5 + 0.5 * rng.beta(4, 1, rows)
    reference = sf.Predictions.from_correct(rng.random(400) < accuracy, old)
    expected = sf.expect(new, reference=reference, calibrator="Platt")
    share, errors = expected["accuracy"], expected["errors"]
    found = [1 - limit / rows for limit in (errors.high, errors.value, errors.low)]
    assert found == pytest.approx([share.low, share.value, share.high], abs=1e-9)


@pytest.mark.parametrize(("confidence", "outcome"), [(1.0, "error"), (0.0, "correct prediction")])
def test_why_log_loss_has_no_interval(confidence: float, outcome: str) -> None:
    old = np.linspace(0.5, 0.99, 200)
    reference = sf.Predictions.from_correct(np.random.default_rng(0).random(200) < old, old)
    note = sf.expect([confidence] * 50, reference=reference, calibrator="Platt")["log_loss"].note
    assert f"a confidence is exactly {confidence:g}, and one {outcome} among such rows" in note


def test_one_row_of_many_has_labels() -> None:
    old = np.linspace(0.5, 0.99, 200)
    reference = sf.Predictions.from_correct(np.random.default_rng(0).random(200) < old, old)
    kept = sf.expect(np.full(300, 0.8), reference=reference).compare(sf.Predictions.from_correct([1], [0.8]))
    assert "1 of 300 rows has labels" in str(kept)

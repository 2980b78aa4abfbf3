"""Models side by side."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import surefoot as sf


def test_the_sign_flip_test_is_that_of_all_flips() -> None:
    rng = np.random.default_rng(0)
    n = 12
    correct = rng.random((2, n)) < 0.4
    doubt = rng.uniform(0.05, 0.5, (2, n))
    one, other = (sf.Predictions.from_correct(correct[i], doubt=doubt[i]) for i in (0, 1))
    differences = (~correct[1]) / doubt[1] - (~correct[0]) / doubt[0]
    sums = np.array([np.dot(signs, differences) for signs in product((-1, 1), repeat=n)])
    exact = (np.abs(sums) >= abs(differences.sum()) * (1 - 1e-12)).mean()
    found = sf.compare({"one": one, "other": other}).csr["other"]
    assert found.value == pytest.approx(differences.mean())
    # 5,000 flips: within four standard errors
    assert found.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 5000) + 1 / 5000)


def test_equal_models_do_not_differ() -> None:
    p = sf.Predictions.from_correct([True, False] * 50, [0.9, 0.7] * 50)
    c = sf.compare({"a": p, "b": p})
    assert c.csr["b"].pvalue == 1.0
    assert c.values["b"]["accuracy"].value == 0
    assert c.values["b"]["accuracy"].standard_error == 0
    assert c.is_paired


def test_the_difference_of_accuracies_is_mcnemar_s() -> None:
    """Paired proportions: the variance of the difference is (b + c - (b - c)^2 / n) / n^2."""
    first = np.array([True] * 70 + [False] * 30)
    second = np.array([True] * 60 + [False] * 25 + [True] * 15)
    one, other = (sf.Predictions.from_correct(x, np.full(100, 0.8)) for x in (first, second))
    found = sf.compare({"one": one, "other": other}).values["other"]["accuracy"]
    b, c = int((first & ~second).sum()), int((~first & second).sum())
    # other minus first: a model that is better by 10 points is +10 points
    assert found.value == pytest.approx((c - b) / 100)
    assert found.standard_error == pytest.approx(np.sqrt((b + c - (b - c) ** 2 / 100) / 100**2))


def test_differences_cover_the_truth() -> None:
    """Intervals at 95% hold the true difference about so often, paired and not."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(100):
        hard = rng.random(400)
        probability = 0.5 + 0.5 * hard
        truth = (rng.random(400) < probability).astype(int)
        good, bad = np.clip(probability + rng.normal(0, 0.05, 400), 0, 1), np.clip(rng.random(400), 0, 1)
        one, other = (sf.Predictions.from_probabilities(truth, p) for p in (good, bad))
        interval = sf.compare({"one": one, "other": other}).values["other"]["auc"]
        # the second ranks by chance alone: its AUC is one half; the first's is estimated from many rows below
        hits += interval.low <= 0.5 - 0.7142 <= interval.high
    assert hits / 100 > 0.88


def test_what_is_not_the_same_rows_is_not_paired() -> None:
    one = sf.Predictions.from_labels([0, 1, 1, 0], [0, 1, 0, 0], [0.9] * 4)
    other = sf.Predictions.from_labels([0, 1, 0, 0], [0, 1, 0, 0], [0.9] * 4)
    longer = sf.Predictions.from_labels([0, 1, 0, 0, 1], [0, 1, 0, 0, 1], [0.9] * 5)
    assert not sf.compare({"a": one, "b": other}).is_paired
    c = sf.compare({"a": one, "b": longer})
    assert not c.is_paired
    assert np.isnan(c.csr["b"].pvalue)
    assert np.isfinite(c.values["b"]["accuracy"].standard_error)
    assert "not paired" in str(c)
    tallied = sf.compare({"a": sf.tally(one), "b": sf.tally(other)})
    assert tallied.values == {}
    str(tallied)
    tallied.to_json()


def test_many_models_become_rows() -> None:
    p = sf.Predictions.from_correct([True, False] * 50, [0.9, 0.7] * 50)
    text = str(sf.compare({f"model {i}": p for i in range(6)}))
    assert "model 5" in text
    assert max(map(len, text.splitlines())) < 120


def test_infinite_surprise_is_said() -> None:
    one = sf.Predictions.from_correct([True, False] * 20, [1.0, 1.0] * 20)
    other = sf.Predictions.from_correct([True, False] * 20, [0.9, 0.9] * 20)
    c = sf.compare({"one": one, "other": other})
    assert c.csr["other"].value == -np.inf
    assert "∞" in str(c) or "inf" in str(c)
    c.to_json()


def test_one_model_is_no_comparison() -> None:
    with pytest.raises(sf.InvalidPredictions, match="two or more models"):
        sf.compare({"a": sf.Predictions.from_correct([True], [0.5])})


# -- what a hostile reading found ------------------------------------------------------------------------------------


def test_two_calibrated_models_of_different_sharpness_are_not_told_off() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = np.where(np.arange(1000) % 2, 0.2, 0.0005)
        correct = rng.random(1000) >= q
        base = sf.Predictions.from_correct(correct, doubt=np.full(1000, q.mean()))
        sharp = sf.Predictions.from_correct(correct, doubt=q)
        c = sf.compare({"base": base, "sharp": sharp})
        for name, a in c.assessments.items():
            if a.verdict != "overconfident":
                assert f"{name}'s errors are the more surprising" not in str(c)


def test_the_tested_difference_is_the_one_shown() -> None:
    from surefoot.comparison import _surprise

    a = sf.Predictions.from_correct([False] * 14 + [True] * 86, [0.5] * 20 + [1.0] * 80)
    correct = np.ones(100, dtype=bool)
    correct[20:30] = False
    b = sf.Predictions.from_correct(correct, [0.9] * 100)
    c = sf.compare({"a": a, "b": b})
    assert float((_surprise(b) - _surprise(a)).sum()) == pytest.approx(c.csr["b"].value) == pytest.approx(-0.4)


def test_the_more_overconfident_is_not_called_further_off_than_an_underconfident_one() -> None:
    rng = np.random.default_rng(0)
    meek = sf.Predictions.from_correct(rng.random(2000) < 0.99, np.full(2000, 0.5))
    bold = sf.Predictions.from_correct(rng.random(2000) < 0.87, np.full(2000, 0.9))
    assert "further off" not in str(sf.compare({"meek": meek, "bold": bold}))


def test_pairing_is_claimed_only_for_what_was_looked_at() -> None:
    labelled = sf.Predictions.from_labels([0, 1] * 50, [0, 1] * 50, [0.9] * 100)
    bare = sf.Predictions.from_correct([True, False] * 50, [0.9] * 100)
    weighted = sf.Predictions.from_correct([True, False] * 50, [0.9] * 100, sample_weight=np.arange(100))
    assert "taken to be the same" in sf.compare({"a": labelled, "b": bare}).pairing
    assert not sf.compare({"a": bare, "b": weighted}).is_paired


def test_a_certain_mistake_that_weighs_nothing_counts_nothing() -> None:
    weights = [0.0] + [1.0] * 99
    one = sf.Predictions.from_correct([False] * 10 + [True] * 90, [1.0] + [0.9] * 99, sample_weight=weights)
    other = sf.Predictions.from_correct([False] * 5 + [True] * 95, [0.9] * 100, sample_weight=weights)
    found = sf.compare({"one": one, "other": other}).csr["other"]
    assert np.isfinite(found.value)
    assert np.isfinite(found.pvalue)

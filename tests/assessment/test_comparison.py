"""Models side by side."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf


def test_equal_models_do_not_differ() -> None:
    p = sf.Predictions.from_correct([True, False] * 50, [0.9, 0.7] * 50)
    c = sf.compare({"a": p, "b": p})
    assert c.riskier["b"].pvalue == 1.0
    assert c.values["b"]["accuracy"].value == 0
    assert c.values["b"]["accuracy"].standard_error == 0
    assert c.is_paired
    assert "No evidence that either overstates its confidence more" in str(c)


def test_the_riskier_model_is_named_and_the_sharper_one_is_not() -> None:
    """The difference of overstatements by hand: means of paired rows, and their standard error."""
    rng = np.random.default_rng(0)
    q = rng.uniform(0.02, 0.4, 2000)
    wrong = rng.random(2000) < q
    honest = sf.Predictions.from_correct(~wrong, 1 - q)
    coarse = sf.Predictions.from_correct(~wrong, np.full(2000, 1 - q.mean()))
    bold = sf.Predictions.from_correct(~wrong, 1 - q / 2)
    c = sf.compare({"honest": honest, "coarse": coarse, "bold": bold})
    apart = q - q / 2
    found = c.values["bold"]["overstatement"]
    assert c.riskier["bold"].difference == found.value == pytest.approx(apart.mean())
    assert found.standard_error == pytest.approx(apart.std(ddof=1) / np.sqrt(2000))
    assert c.riskier["bold"].pvalue_adjusted < 1e-6
    assert c.riskier["coarse"].pvalue > 0.5
    assert "bold is riskier than honest" in str(c)
    assert "coarse is" not in str(c)
    # log losses and Brier scores by hand
    losses = [-np.log(np.where(wrong, d, 1 - d)) for d in (q / 2, q)]
    assert c.values["bold"]["log_loss"].value == pytest.approx((losses[0] - losses[1]).mean())
    squares = [np.where(wrong, 1 - d, d) ** 2 for d in (q / 2, q)]
    assert c.values["bold"]["brier"].value == pytest.approx((squares[0] - squares[1]).mean())
    # the same errors where half as many were expected
    assert c.values["bold"]["log_oe"].value == pytest.approx(np.log(2))


def test_the_level_reaches_the_intervals() -> None:
    rng = np.random.default_rng(1)
    one, other = (sf.Predictions.from_correct(rng.random(500) < 0.8, np.full(500, 0.8)) for _ in range(2))
    wide, narrow = (sf.compare({"a": one, "b": other}, level=level).values["b"]["brier"] for level in (0.01, 0.2))
    assert (wide.level, narrow.level) == (0.99, 0.8)
    assert wide.high - wide.low == pytest.approx((narrow.high - narrow.low) * 2.576 / 1.2816, rel=0.02)
    assert "99% CI" in str(sf.compare({"a": one, "b": other}, level=0.01))


def test_of_eleven_equal_models_none_is_named() -> None:
    """A quick part of what benchmarks/VALIDITY.md has at length: at most 5% of the time, of 60 families."""
    from benchmarks.evidence import compared, family

    assert family(200, 60) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)
    for pair in ("sharp against coarse", "alike"):
        assert compared((pair, 200), 200) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_groups_reach_the_differences() -> None:
    rng = np.random.default_rng(2)
    one, other = (np.repeat(rng.random(100) < 0.8, 5) for _ in range(2))
    groups = np.repeat(np.arange(100), 5)
    models = {name: sf.Predictions.from_correct(x, np.full(500, 0.8)) for name, x in (("a", one), ("b", other))}
    alone, together = sf.compare(models), sf.compare(models, groups=groups)
    ratio = together.values["b"]["accuracy"].standard_error / alone.values["b"]["accuracy"].standard_error
    assert ratio == pytest.approx(np.sqrt(5), rel=0.01)
    assert together.riskier["b"].pvalue > alone.riskier["b"].pvalue
    assert together["a"].risk.groups == 100


def test_models_that_decide_alike_do_not_differ_in_accuracy() -> None:
    y = [0, 1] * 50
    raw = sf.Predictions.from_probabilities(y, np.linspace(0.1, 0.9, 100))
    cooled = sf.Predictions.from_probabilities(y, 0.5 + (np.linspace(0.1, 0.9, 100) - 0.5) / 2)
    found = sf.compare({"raw": raw, "cooled": cooled}).values["cooled"]["accuracy"]
    assert (found.low, found.value, found.high) == (0, 0, 0)


def test_the_difference_of_accuracies_is_mcnemar_s() -> None:
    """Paired proportions: the variance of the difference is (b + c - (b - c)^2 / n) / n^2."""
    first = np.array([True] * 70 + [False] * 30)
    second = np.array([True] * 60 + [False] * 25 + [True] * 15)
    one, other = (sf.Predictions.from_correct(x, np.full(100, 0.8)) for x in (first, second))
    found = sf.compare({"one": one, "other": other}).values["other"]["accuracy"]
    b, c = int((first & ~second).sum()), int((~first & second).sum())
    # other minus first: a model that is better by 10 points is +10 points
    assert found.value == pytest.approx((c - b) / 100)
    assert found.standard_error == pytest.approx(np.sqrt((b + c - (b - c) ** 2 / 100) / 100 / 99))


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
    assert 0 < c.riskier["b"].pvalue <= 1
    assert np.isfinite(c.values["b"]["accuracy"].standard_error)
    assert "not paired" in str(c)
    tallied = sf.compare({"a": sf.tally(one), "b": sf.tally(other)})
    assert tallied.values == {}
    str(tallied)
    tallied.to_json()


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


def test_two_calibrated_models_of_different_sharpness_are_not_told_off() -> None:
    rng, told = np.random.default_rng(0), 0
    for _ in range(40):
        q = np.where(rng.random(1000) < 0.5, 0.2, 0.0005)
        correct = rng.random(1000) >= q
        base = sf.Predictions.from_correct(correct, doubt=np.full(1000, 0.10025))
        sharp = sf.Predictions.from_correct(correct, doubt=q)
        told += sf.compare({"base": base, "sharp": sharp}).riskier["sharp"].pvalue <= 0.05
    assert told <= 6  # two expected; seven come once in two hundred


def test_the_difference_of_csr_is_that_of_what_is_shown() -> None:
    a = sf.Predictions.from_correct([False] * 14 + [True] * 86, [0.5] * 20 + [1.0] * 80)
    correct = np.ones(100, dtype=bool)
    correct[20:30] = False
    b = sf.Predictions.from_correct(correct, [0.9] * 100)
    assert sf.compare({"a": a, "b": b}).csr["b"].value == pytest.approx(-0.4)


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
    found = sf.compare({"one": one, "other": other})
    assert np.isfinite(found.csr["other"].value)
    assert np.isfinite(found.riskier["other"].pvalue)
    assert np.isfinite(found.values["other"]["log_loss"].high)


def test_one_row_tells_nobody_apart() -> None:
    one, other = (sf.Predictions.from_probabilities([1], [p], labels=[0, 1]) for p in (0.9, 0.99))
    c = sf.compare({"a": one, "b": other})
    assert not c.riskier["b"].pvalue <= 0.5
    for name, interval in c.values["b"].items():
        if not interval.is_absent and name != "log_loss":
            assert -1 <= interval.low <= interval.high <= 1
    assert "riskier" not in str(c)


def test_few_mistakes_leave_losses_uncertain() -> None:
    """With no mistake in 100 rows the sharper model has less log loss, and may yet have more."""
    one = sf.Predictions.from_correct([True] * 100, np.full(100, 0.9))
    other = sf.Predictions.from_correct([True] * 100, np.full(100, 0.999))
    c = sf.compare({"one": one, "other": other})
    found = c.values["other"]["log_loss"]
    assert found.low < found.value < 0 < found.high
    assert "rests on 0 samples of the rarer outcome" in " ".join(str(c).split())
    assert c.values["other"]["log_oe"].is_absent


@pytest.mark.parametrize(("models", "every"), [("ab", "both"), ("abc", "all")])
def test_one_row_is_a_row(models: str, every: str) -> None:
    c = sf.compare({name: sf.Predictions.from_correct([True], [0.9]) for name in models})
    assert c.pairing == f"1 row in {every}, taken to be the same: differences are paired"


def test_two_names_of_the_same_numbers_are_told() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 0.99, 50)
    correct = rng.random(50) < confidence
    one, other = sf.Predictions.from_correct(correct, confidence), sf.Predictions.from_correct(correct, confidence / 2)
    assert "b is the same as a in every row" in sf.compare({"a": one, "b": one, "c": other}).pairing
    assert "same as" not in sf.compare({"a": one, "b": other}).pairing

"""Scores of each class that need not sum to 1, and the clip of scores that rankings use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import surefoot as sf
from surefoot import Predictions

#: Scores of one-against-rest models: they sum to anything.
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 3, 200)
SCORES = RNG.random((200, 3))
SCORES[np.arange(200), TRUTH] += 0.2
SCORES = np.minimum(SCORES, 1.0)


def test_each_class_is_ranked_by_its_own_scores() -> None:
    p = Predictions.from_scores(TRUTH, SCORES)
    confidence = SCORES.max(axis=1)
    expected = [roc_auc_score(k == TRUTH, SCORES[:, k]) for k in range(3)]
    weighted = [roc_auc_score(k == TRUTH, SCORES[:, k], sample_weight=confidence) for k in range(3)]
    np.testing.assert_allclose(sf.auc(p, average=None), expected, rtol=1e-12)
    np.testing.assert_allclose(sf.cw_auc(p, average=None), weighted, rtol=1e-12)
    assert sf.auc(p) == pytest.approx(np.mean(expected), rel=1e-12)
    curve = sf.roc_curve(p, label=1)
    assert curve.auc == pytest.approx(expected[1], rel=1e-12)
    assert curve.thresholds[1] == SCORES[:, 1].max()


def test_of_two_classes_the_average_is_over_both() -> None:
    # by hand: class 0 ranks its row above both others; class 1 beats the 0.4 with 0.9 and loses with 0.3
    p = Predictions.from_scores(["no", "yes", "yes"], [[0.6, 0.4], [0.3, 0.3], [0.2, 0.9]])
    assert sf.auc(p, average=None).tolist() == [1.0, 0.5]
    assert sf.auc(p) == 0.75
    assert sf.assess(p)["auc"] == 0.75
    # of probabilities it stays the second's
    assert sf.auc(["no", "yes", "yes"], [[0.6, 0.4], [0.7, 0.3], [0.1, 0.9]]) == 0.5


def test_confidence_is_the_score_of_the_predicted_class_unless_given() -> None:
    p = Predictions.from_scores([0, 1], [[0.6, 0.5], [0.8, 0.7]], y_pred=[0, 1])
    assert p.confidence.tolist() == [0.6, 0.7]
    assert p.doubt.tolist() == [1 - 0.6, 1 - 0.7]
    assert sf.accuracy(p) == 1.0
    given = Predictions.from_scores([0, 1], [[0.6, 0.5], [0.8, 0.7]], confidence=[0.9, 0.75])
    assert given.predicted.tolist() == [0, 0]
    # half the confidence is right: 0.9 of 1.65
    assert sf.cw_accuracy(given) == pytest.approx(0.9 / 1.65, rel=1e-12)
    matrix = sf.cw_confusion(given)
    assert matrix.p.tolist() == [0.9, 0.75]
    assert matrix.n.tolist() == [0.75, 0.9]


def test_areas_of_scores_have_intervals_and_differences() -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 120)
    one, other = (np.clip(rng.random((120, 2)) + a * np.eye(2)[y], 0, 0.99) for a in (0.3, 0.2))
    placed = []
    for scores in (one, other):
        wins = [np.sign(np.subtract.outer(scores[y == k, k], scores[y != k, k])) / 2 + 0.5 for k in (0, 1)]
        # rows of class 1, then of class 0: how often each is on the right side, on average over both areas
        both = (wins[1] + wins[0].T) / 2
        placed.append((both.mean(), both.mean(axis=1), both.mean(axis=0)))

    def error(ones: np.ndarray, zeros: np.ndarray) -> float:
        # DeLong, DeLong and Clarke-Pearson (1988)
        return float(np.sqrt(ones.var(ddof=1) / len(ones) + zeros.var(ddof=1) / len(zeros)))

    models = {name: Predictions.from_scores(y, scores) for name, scores in (("a", one), ("b", other))}
    found = sf.intervals(models["a"])["auc"]
    assert found.value == pytest.approx(placed[0][0], rel=1e-12)
    assert found.standard_error == pytest.approx(error(*placed[0][1:]), rel=1e-2)
    fall = sf.compare(models).values["b"]["auc"]
    assert fall.value == pytest.approx(placed[1][0] - placed[0][0], rel=1e-9)
    expected = error(placed[1][1] - placed[0][1], placed[1][2] - placed[0][2])
    assert fall.standard_error == pytest.approx(expected, rel=1e-2)


def test_complementary_scores_have_the_intervals_of_probabilities() -> None:
    rng = np.random.default_rng(9)
    p = rng.integers(16, 49, 90) / 64
    y = (rng.random(90) < p).astype(int)
    both = np.stack([1 - p, p], axis=1)
    of_scores, of_probabilities = (
        sf.intervals(make(y, both)) for make in (Predictions.from_scores, Predictions.from_probabilities)
    )
    assert set(of_scores) == set(of_probabilities)
    for name in ("auc", "cw_auc"):
        ours, expected = of_scores[name], of_probabilities[name]
        assert [ours.value, ours.low, ours.high] == pytest.approx([expected.value, expected.low, expected.high])


def test_the_report_draws_the_curves_of_scores(tmp_path: Path) -> None:
    a = sf.assess(Predictions.from_scores(["no", "yes"] * 60, np.random.default_rng(1).random((120, 2))))
    a.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "macro over 2 classes" in page
    assert "ROC curves are not available" not in page
    pytest.importorskip("matplotlib")
    assert sf.plots.RocDisplay.from_assessment(a).curves.auc == a["auc"]


def test_rows_and_slices_keep_their_scores() -> None:
    p = Predictions.from_scores(TRUTH, SCORES)
    half = p[np.arange(100)]
    expected = [roc_auc_score(TRUTH[:100] == k, SCORES[:100, k]) for k in range(3)]
    np.testing.assert_allclose(sf.auc(half, average=None), expected, rtol=1e-12)


def test_a_tally_of_several_classes_is_within_its_bound_and_of_two_is_refused() -> None:
    metric = sf.metrics.ALL["auc"]
    p = Predictions.from_scores(TRUTH, SCORES)
    whole = sf.tally(p)
    assert abs(metric.of(whole) - sf.auc(p)) <= metric.bound(whole)
    two = Predictions.from_scores([0, 1], [[0.6, 0.5], [0.8, 0.7]])
    assert not sf.tally(two).has(metric.terms[0])
    with pytest.raises(sf.MetricUnavailable, match="auc of two classes with scores of their own is not tallied"):
        sf.tally(two, ["auc"])


def test_what_needs_probabilities_says_so() -> None:
    p = Predictions.from_scores(TRUTH, SCORES)
    with pytest.raises(sf.MetricUnavailable, match="multiclass_brier needs the probability of each class"):
        sf.metrics.ALL["multiclass_brier"](p)
    with pytest.raises(sf.InvalidPredictions, match="hold the probability of one in each row"):
        p.event(1)
    with pytest.raises(sf.InvalidPredictions, match="needs the probability of each class"):
        sf.csr(p, of="classes")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("make", [Predictions.from_scores, Predictions.from_logits, Predictions.from_probabilities])
@pytest.mark.parametrize("prefix", ["", "class_"])
def test_columns_of_a_frame_are_of_the_classes_that_they_are_named_after(
    frame: Callable[..., Any], make: Callable[..., Predictions], prefix: str
) -> None:
    # in an order that is not that of the sorted labels
    table = frame({f"{prefix}dog": [0.75, 0.25, 0.5], f"{prefix}cat": [0.25, 0.75, 0.5]})
    p = make(["dog", "cat", "cat"], table)
    assert p.predicted.tolist() == ["dog", "cat", "dog"]
    assert sf.accuracy(p) == pytest.approx(2 / 3)
    assert sf.roc_curve(p, label="cat").auc == 1.0
    assert make(["dog", "cat", "cat"], table, labels=["cat", "dog"]).predicted.tolist() == ["cat", "dog", "cat"]
    with pytest.raises(sf.InvalidPredictions, match=r"y_true holds 'cow', but the columns of classes are named after"):
        make(["dog", "cat", "cow"], table)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.5, 1.2], [0.1, 0.2]], r"scores\[0, 1\] is 1.2, outside \[0, 1\]"),
        ([[0.5, np.nan], [0.1, 0.2]], r"scores\[0, 1\] is nan"),
        ([0.5, 0.2], "scores is a single column.*from_probabilities"),
        ([[0.5], [0.2]], r"scores has 1 column"),
        ([[0.5, 0.2]], "scores has 1 rows"),
    ],
)
def test_wrong_scores_are_named(scores: object, message: str) -> None:
    with pytest.raises(sf.InvalidPredictions, match=message):
        Predictions.from_scores([0, 1], scores)


def test_wrong_labels_and_confidences_are_named() -> None:
    with pytest.raises(sf.InvalidPredictions, match="y_true"):
        Predictions.from_scores(["a", "c"], [[0.5, 0.2], [0.1, 0.3]], labels=["a", "b"])
    with pytest.raises(sf.InvalidPredictions, match=r"confidence\[1\] is 3.0"):
        Predictions.from_scores([0, 1], [[0.5, 0.2], [0.1, 0.3]], confidence=[0.5, 3.0])


def test_scores_on_an_accelerator_are_refused() -> None:
    torch = pytest.importorskip("torch")
    from surefoot.predictions import tensors

    with pytest.raises(sf.InvalidPredictions, match=r"lies on an accelerator.*\.cpu\(\)"):
        tensors.BORDER.from_scores(torch.tensor([0, 1]), torch.rand(2, 2))


# -- the clip of scores -----------------------------------------------------------------------------------------------

#: Two positives beyond the clip, one of them below a negative beyond it: a tie once clipped.
EVENT, P = [0, 0, 1, 1], [0.1, 0.97, 0.95, 0.99]


def test_a_floor_ties_scores_beyond_it() -> None:
    assert sf.auc(EVENT, P) == 0.75
    # 0.97, 0.95 and 0.99 become 0.9: two pairs won, two tied
    assert sf.auc(EVENT, P, floor=0.1) == 0.75
    # the second positive no longer wins, the first no longer loses; with 0.5 and 0.4 untouched
    y, p = [0, 1, 0, 1], [0.96, 0.99, 0.4, 0.5]
    assert sf.auc(y, p) == 0.75
    assert sf.auc(y, p, floor=0.1) == 0.625
    assert sf.cw_auc(y, p, floor=0.1) == pytest.approx(
        roc_auc_score(y, np.clip(p, 0.1, 0.9), sample_weight=[0.9, 0.9, 0.6, 0.5]), rel=1e-12
    )


@pytest.mark.parametrize("columns", [1, 2])
def test_the_clip_is_the_same_for_probabilities_and_logits_in_rows_and_in_tallies(columns: int) -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 4, 500)
    y = (rng.random(500) < 1 / (1 + np.exp(-odds))).astype(int)
    p = 1 / (1 + np.exp(-odds))
    expected = roc_auc_score(y, np.clip(p, 0.05, 0.95))
    assert expected != pytest.approx(roc_auc_score(y, p), abs=1e-4)
    table = p if columns == 1 else np.stack([1 - p, p], axis=1)
    logits = odds if columns == 1 else np.stack([np.zeros(500), odds], axis=1)
    metric = sf.metrics.ALL["auc"]
    for made in (
        Predictions.from_probabilities(y, table, floor=0.05),
        Predictions.from_logits(y, logits, floor=0.05),
    ):
        assert sf.auc(made) == pytest.approx(expected, rel=1e-9)
        whole = sf.tally(made)
        assert abs(metric.of(whole) - expected) <= metric.bound(whole) + 1e-12
    frame = pl.DataFrame({"y": y, "p": p}).lazy()
    lazy = Predictions.from_frame(frame, truth="y", probabilities="p", floor=0.05)
    in_cells = metric.of(sf.tally(Predictions.from_probabilities(y, table, floor=0.05)))
    assert metric.of(lazy.tally(metric.terms)) == pytest.approx(in_cells, rel=1e-12)
    assert in_cells != pytest.approx(metric.of(sf.tally(Predictions.from_probabilities(y, table))), abs=1e-4)


def test_a_float32_column_is_clipped_as_float64() -> None:
    # in float32 the largest clipped number would be 1 again
    p = np.array([1.0, 0.99999994, 0.5, 0.25], dtype=np.float32)
    y = [0, 1, 0, 1]
    expected = roc_auc_score(y, np.clip(p.astype(float), 1e-8, 1 - 1e-8))
    assert sf.auc(y, p, floor=1e-8) == expected


def test_tensors_are_clipped_alike() -> None:
    torch = pytest.importorskip("torch")
    from surefoot.predictions import tensors

    y, p = torch.tensor([0, 1, 0, 1]), torch.tensor([0.96, 0.99, 0.4, 0.5], dtype=torch.float64)
    made = tensors.BORDER.from_probabilities(y, p, floor=0.1)
    assert sf.auc(made) == 0.625
    assert sf.auc(tensors.BORDER.from_logits(y, torch.logit(p), floor=0.1)) == 0.625
    assert sf.auc(made.rows()) == 0.625

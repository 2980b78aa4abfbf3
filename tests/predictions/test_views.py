"""Views: the same rows asked about an event, or about each class."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import surefoot as sf
from surefoot.errors import InvalidPredictions, InvalidTally, MetricUnavailable


def _binary(n: int = 400, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 1.4, n)
    return (rng.random(n) < p**1.2).astype(int), p


def _classes(n: int = 300, k: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.linspace(0.4, 2, k), n)
    return (rng.random(n)[:, None] > np.cumsum(table, axis=1)).sum(axis=1), table


#: Defined for correctness as for events. Rankings need classes, which bare correctness has not.
OF_BOTH = [
    name for name, metric in sf.metrics.ALL.items() if {"event", "prediction"} <= metric.views and not metric.is_ranking
]


@pytest.mark.parametrize("name", OF_BOTH)
def test_an_event_is_rows_of_correctness_and_confidence(name: str) -> None:
    """The formulation: whatever is written for correctness against confidence holds for an event."""
    y, p = _binary()
    metric = sf.metrics.ALL[name]
    event = sf.Predictions.from_probabilities(y, p, of="event")
    rows = sf.Predictions.from_correct(y == 1, p)
    assert metric(event) == pytest.approx(metric(rows), rel=1e-12)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1, allow_subnormal=False)), min_size=1, max_size=30))
def test_probabilities_of_either_class_are_the_same_to_the_last_bit(rows: list[tuple[bool, float]]) -> None:
    y, p = (np.array(column) for column in zip(*rows, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.RoundedConfidenceWarning)
        predictions = sf.Predictions.from_probabilities(y, p, float32=False)
    happens, fails = predictions.event(True), predictions.event(False)
    assert (happens.confidence == p).all()
    assert (fails.doubt == p).all()
    assert (happens.doubt == fails.confidence).all()
    assert (happens.correct == y).all()
    assert (fails.correct == ~y).all()


def test_one_column_and_two_columns_and_logits_and_labels_agree() -> None:
    y, p = _binary()
    names = np.array(["alive", "dead"])[y]
    made = [
        sf.Predictions.from_probabilities(y, p, of="event"),
        sf.Predictions.from_probabilities(y, np.stack([1 - p, p], axis=1), of="event"),
        sf.Predictions.from_probabilities(names, p, pos_label="dead", of="event"),
        sf.Predictions.from_probabilities(names, np.stack([1 - p, p], axis=1), pos_label="dead", of="event"),
        sf.Predictions.from_logits(y, np.log(p) - np.log1p(-p), of="event"),
        sf.Predictions.from_labels(y, (p > 0.5).astype(int), np.maximum(p, 1 - p), of="event"),
        sf.Predictions.from_frame(
            pl.DataFrame({"truth": names, "p": p}), truth="truth", probabilities="p", pos_label="dead", of="event"
        ),
    ]
    for one in made:
        assert one.view == "event"
        assert one.labels == (False, True)
        np.testing.assert_allclose(one.confidence, p, rtol=1e-12)
        assert (one.correct == (y == 1)).all()
        assert sf.metrics.ALL["auc"](one) == pytest.approx(roc_auc_score(y, p), abs=1e-12)
        assert sf.metrics.ALL["brier"](one) == pytest.approx(brier_score_loss(y, p), rel=1e-12)
    assert [one.event_label for one in made] == [1, 1, "dead", "dead", 1, 1, "dead"]


def test_the_other_class_as_the_event() -> None:
    y, p = _binary()
    died = sf.Predictions.from_probabilities(y, p, of="event")
    lived = sf.Predictions.from_probabilities(y, np.stack([1 - p, p], axis=1), of="event", pos_label=0)
    assert sf.metrics.ALL["auc"](died) == pytest.approx(sf.metrics.ALL["auc"](lived), abs=1e-12)
    assert sf.brier(died) == pytest.approx(sf.brier(lived), rel=1e-12)
    assert sf.mean_confidence(died) + sf.mean_confidence(lived) == pytest.approx(1, rel=1e-12)


def test_a_small_probability_keeps_its_digits_from_logits_and_from_columns() -> None:
    event = sf.Predictions.from_logits([0, 1], [[0.0, -80.0], [0.0, 80.0]], of="event", pos_label=1)
    assert event.confidence[0] == pytest.approx(np.exp(-80), rel=1e-12)
    assert event.doubt[1] == pytest.approx(np.exp(-80), rel=1e-12)
    table = [[1e-30, 1.0, 0.0], [0.25, 0.5, 0.25]]
    event = sf.Predictions.from_probabilities([1, 0], table, y_pred=[2, 0], of="event", pos_label=1)
    assert event.doubt[0] == 1e-30


def test_classes_are_the_mean_of_events() -> None:
    y, table = _classes()
    of_classes = sf.Predictions.from_probabilities(y, table, of="classes")
    for name, metric in sf.metrics.ALL.items():
        if "classes" in metric.views:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                each = [metric(of_classes.event(k)) for k in range(4)]
                assert metric(of_classes) == pytest.approx(np.mean(each), rel=1e-9), name
    assert sf.auc(y, table, of="classes") == pytest.approx(roc_auc_score(y, table, multi_class="ovr"), abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_scores_over_all_classes_are_those_of_scikit_learn(k: int, weighted: bool) -> None:
    y, table = _classes(500, k, seed=k)
    weight = np.random.default_rng(1).random(500) * 3 if weighted else None
    options = {"sample_weight": weight}
    assert sf.multiclass_log_loss(y, table, **options) == pytest.approx(
        log_loss(y, table, labels=range(k), **options), rel=1e-12
    )
    expected = ((table - np.eye(k)[y]) ** 2).sum(axis=1)
    expected = np.average(expected, weights=weight) / (2 if k == 2 else 1)
    assert sf.multiclass_brier(y, table, **options) == pytest.approx(expected, rel=1e-12)


def test_multiclass_scores_of_scikit_learn_itself() -> None:
    pytest.importorskip("sklearn", "1.7")
    y, table = _classes(500, 5)
    assert sf.multiclass_brier(y, table) == pytest.approx(brier_score_loss(y, table, labels=range(5)), rel=1e-12)


def test_classwise_ece_by_another_way() -> None:
    y, table = _classes()
    found = []
    for k in range(4):
        bins = np.ceil(table[:, k] * 15).astype(int).clip(1, 15)
        gaps = [abs((table[bins == b, k] - (y == k)[bins == b]).sum()) for b in range(1, 16)]
        found.append(sum(gaps) / len(y))
    assert sf.classwise_ece(y, table) == pytest.approx(np.mean(found), rel=1e-12)
    assert sf.ece(y, table, of="classes") == sf.classwise_ece(y, table)


def test_a_true_class_of_probability_zero_has_infinite_loss() -> None:
    assert sf.multiclass_log_loss([0, 1], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]) == np.inf


def test_slices_of_a_tally_hold_the_classes_too() -> None:
    y, table = _classes()
    by = np.arange(300) % 3
    p = sf.Predictions.from_probabilities(y, table)
    whole = sf.tally(p, by=by)
    lazy = sf.tally(
        sf.Predictions.from_frame(
            pl.DataFrame({"y": y, "by": by, **{f"p{k}": table[:, k] for k in range(4)}}).lazy(),
            truth="y",
            probabilities="p",
        ),
        by="by",
    )
    for value in range(3):
        rows = by == value
        for name in ("multiclass_brier", "multiclass_log_loss", "classwise_ece"):
            expected = getattr(sf, name)(y[rows], table[rows], labels=range(4))
            for tally in (whole, lazy):
                assert sf.metrics.ALL[name].of(tally.slices[value]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("by", ["predicted", "truth"])
def test_slices_by_labels_of_a_lazy_frame(by: str) -> None:
    y, table = _classes()
    names = np.array(["a", "b", "c", "d"])
    frame = pl.DataFrame({"y": names[y], **{f"p_{n}": table[:, k] for k, n in enumerate(names)}})
    eager, lazy = (
        sf.tally(sf.Predictions.from_frame(one, truth="y", probabilities="p_"), by=by) for one in (frame, frame.lazy())
    )
    assert list(eager.slices) == list(lazy.slices) == list(names)
    for value in names:
        one, other = (sf.metrics.ALL["multiclass_brier"].of(t.slices[value]) for t in (eager, lazy))
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("of", ["event", "classes"])
def test_tallies_of_a_view_add_and_are_saved(of: Any, tmp_path: Path) -> None:
    y, table = _classes()
    options: dict[str, Any] = {"of": of} | ({"pos_label": 2} if of == "event" else {})
    parts = [
        sf.tally(sf.Predictions.from_probabilities(y[rows], table[rows], labels=range(4), **options))
        for rows in (slice(0, 100), slice(100, 300))
    ]
    both = parts[0] + parts[1]
    both.save(tmp_path / "both.tally")
    loaded = sf.Tally.load(tmp_path / "both.tally")
    whole = sf.Predictions.from_probabilities(y, table, **options)
    for tally in (both, loaded):
        assert (tally.view, tally.event) == (of, 2 if of == "event" else None)
        for name in ("brier", "ece", "log_loss"):
            assert sf.metrics.ALL[name].of(tally) == pytest.approx(sf.metrics.ALL[name](whole), rel=1e-12)
        assert sf.assess(tally).verdict == sf.assess(whole).verdict
    with pytest.raises(InvalidTally, match="same of="):
        _ = both + sf.tally(sf.Predictions.from_probabilities(y, table))


def test_metrics_of_predictions_are_not_of_events() -> None:
    y, p = _binary()
    for name in ("accuracy", "cw_accuracy", "cw_auc", "cw_f1", "cwsa", "top_label_ece"):
        with pytest.raises(MetricUnavailable, match=rf"{name} is not defined for of='event'.*of='prediction'"):
            getattr(sf, name)(y, p, of="event")


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([1, 0], [0.5, 0.5]), {"of": "events"}, "of is 'events'; it should be 'prediction'"),
        ((["a", "b"], [[0.5, 0.5], [0.5, 0.5]]), {"of": "event"}, "'a', 'b' is the event.*pos_label="),
        (([0, 1], [[0.5, 0.5], [0.5, 0.5]]), {"of": "event", "pos_label": 2}, "pos_label.*2.*0, 1"),
        ((), {"correct": [1, 0], "confidence": [0.5, 0.5], "of": "event"}, "only whether each was correct"),
        (([0, 1, 2], [0, 1, 1], [0.5, 0.5, 0.5]), {"of": "classes"}, "probability of each class"),
        (([0, 1, 2], [0, 1, 1], [0.5, 0.5, 0.5]), {"of": "event", "pos_label": 2}, "3 classes"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: Any, options: Any, words: str) -> None:
    with pytest.raises((InvalidPredictions, ValueError), match=words):
        sf.assess(*arguments, **options)


def test_predictions_made_for_an_event_are_not_asked_about_something_else() -> None:
    y, p = _binary()
    event = sf.Predictions.from_probabilities(y, p, of="event")
    assert sf.brier(event, of="event") == sf.brier(event)
    with pytest.raises(InvalidPredictions, match="made for the event 1"):
        sf.brier(event, of="prediction")
    with pytest.raises(InvalidPredictions, match="made for the event 1"):
        sf.brier(event, of="event", pos_label=0)
    plain = sf.Predictions.from_probabilities(y, p)
    assert sf.ece(plain, of="event") == sf.ece(event)


def test_probabilities_by_position_are_not_ambiguous_where_an_event_is_asked_about() -> None:
    y, p = _binary()
    assert sf.brier(y, p, of="event") == pytest.approx(brier_score_loss(y, p), rel=1e-12)
    with pytest.raises(InvalidPredictions, match="can mean two things"):
        sf.brier(y, p)


def test_scores_over_all_classes_take_labels_and_probabilities_by_position_as_scikit_learn_does() -> None:
    # correctness and confidence could not give them
    y, p = _binary()
    assert sf.multiclass_brier(y, p) == pytest.approx(brier_score_loss(y, p), rel=1e-12)
    assert sf.multiclass_log_loss(y, p) == pytest.approx(log_loss(y, p), rel=1e-12)


def test_a_floor_holds_for_every_class() -> None:
    table = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    p = sf.Predictions.from_probabilities([0, 1], table, floor=1e-8)
    assert p.event(2).confidence.tolist() == [1e-8, 1e-8]
    assert p.event(0).confidence.tolist() == [1 - 1e-8, 0.5]

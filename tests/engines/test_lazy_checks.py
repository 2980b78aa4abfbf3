"""Columns of lazy frames are checked like arrays, and added up as accurately."""

import duckdb
import numpy as np
import polars as pl
import pytest

from surefoot import InvalidPredictions, Predictions, RoundedConfidenceWarning, tally
from surefoot.metrics import ALL
from surefoot.metrics.binned import ece_metric
from surefoot.metrics.terms import ROWS

OK, SURE = [True, False, True, False], [0.9, 0.8, 0.7, 0.6]


def lazies(columns: dict) -> list:
    return [pl.DataFrame(columns).lazy(), duckdb.from_arrow(pl.DataFrame(columns).to_arrow())]


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([[1.5, -0.5], [0.2, 0.8]], r"outside \[0, 1\]"),
        ([[0, 1], [1, 0]], "lists of Int64"),
        ([["0.5", "0.5"], ["1", "0"]], "lists of String"),
        ([[None, 1.0], [0.2, 0.8]], "null"),
        ([[float("nan"), 1.0], [0.2, 0.8]], "nan"),
    ],
)
def test_lists_of_probabilities_are_checked_like_columns(lists: list, said: str) -> None:
    for frame in lazies({"t": [0, 1], "p": lists}):
        with pytest.raises(InvalidPredictions, match=said):
            Predictions.from_frame(frame, truth="t", probabilities="p")


@pytest.mark.parametrize(
    "values",
    [[float("nan"), 1.0, 2.0, 2.0], [None, "a", "a", "b"], [None, 1, 1, 2], [0.5, 1.0, 2.0, 2.0], [[1], [2], [1], [2]]],
)
def test_slices_by_what_is_no_label_are_refused(values: list) -> None:
    for frame in lazies({"ok": OK, "sure": SURE, "g": values}):
        with pytest.raises(InvalidPredictions, match="by='g'"):
            tally(Predictions.from_frame(frame, correct="ok", confidence="sure"), by="g")


def test_slices_by_labels_of_bare_correctness_are_refused_and_whole_floats_are_integers() -> None:
    for frame in lazies({"ok": OK, "sure": SURE, "g": [1.0, 2.0, 2.0, 1.0]}):
        p = Predictions.from_frame(frame, correct="ok", confidence="sure")
        with pytest.raises(InvalidPredictions, match="only whether each was correct"):
            tally(p, by="truth")
        t = tally(p, by="g")
        assert list(t.slices) == [1, 2]
        assert t[ROWS] == 4


def test_many_bins_together_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    c = rng.random(500)
    correct = rng.random(500) < c
    metrics = [ece_metric(n) for n in (1000, 999, 998, 997, 996, 995, 994, 993)]
    rows = Predictions.from_correct(correct, c)
    for frame in lazies({"ok": correct, "sure": c}):
        t = tally(Predictions.from_frame(frame, correct="ok", confidence="sure"), metrics)
        for metric in metrics:
            assert metric.of(t) == pytest.approx(metric(rows), rel=1e-12)


def test_equal_rows_do_not_add_up_their_rounding() -> None:
    value = 0.75 + 0.49 * 2.0**-31  # plain summation of 4 million such rows is off by 6e-12
    columns = {"sure": np.full(4_000_000, value), "ok": np.ones(4_000_000, dtype=bool)}
    for frame in lazies(columns):
        t = tally(Predictions.from_frame(frame, correct="ok", confidence="sure"))
        assert ALL["mean_confidence"].of(t) == pytest.approx(value, rel=1e-12)


def test_weights_of_lazy_frames_are_checked_and_rounded_rows_must_count() -> None:
    for frame in lazies({"ok": OK, "sure": SURE, "w": [1e-300] * 4}):
        with pytest.raises(InvalidPredictions, match="squares"):
            Predictions.from_frame(frame, correct="ok", confidence="sure", weight="w")
    narrow = pl.DataFrame({"ok": [True, True], "sure": np.array([1, 0.5], dtype=np.float32), "w": [0.0, 1.0]}).lazy()
    with pytest.warns(RoundedConfidenceWarning, match="1 of 2 values of column 'sure'"):
        assert Predictions.from_frame(narrow, correct="ok", confidence="sure", weight="w").rounded == 0


@pytest.mark.parametrize("bad", [float("inf"), 1e300, 2.0**60, float("nan"), 0.5])
def test_labels_of_lazy_frames_are_checked_before_they_are_cast(bad: float) -> None:
    for frame in lazies({"t": [0.0, 1.0, bad, 0.0], "g": [0.0, 1.0, 1.0, 0.0], "sure": SURE, "p": SURE}):
        with pytest.raises(InvalidPredictions, match="column 't'"):
            Predictions.from_frame(frame, truth="t", predicted="g", confidence="sure")
        with pytest.raises(InvalidPredictions, match="column 't'"):
            Predictions.from_frame(frame, truth="t", probabilities="p")

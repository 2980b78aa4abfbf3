"""Columns of lazy frames that are unusual, or wrong: what is made of them, and what is said."""

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions

ROWS = {"truth": [0, 1, 1, 0], "predicted": [0, 1, 0, 0], "confidence": [0.9, 0.8, 0.7, 0.6]}


def lazy(**columns) -> pl.LazyFrame:
    return pl.DataFrame({**ROWS, **columns}).lazy()


def test_categories_are_labels() -> None:
    names = [
        pl.Series(["a", "b", "b", "a"], dtype=pl.Categorical),
        pl.Series(["a", "b", "a", "a"], dtype=pl.Categorical),
    ]
    assert sf.accuracy(Predictions.from_frame(lazy(truth=names[0], predicted=names[1]))) == 0.75


def test_labels_beyond_signed_integers_are_refused() -> None:
    huge = pl.Series([2**63 + 5, 1, 1, 0], dtype=pl.UInt64)
    with pytest.raises(InvalidPredictions, match="1 values are too large for labels"):
        Predictions.from_frame(lazy(truth=huge))


@pytest.mark.parametrize(
    ("frame", "columns", "why"),
    [
        (lazy(truth=[[1], [2], [1], [2]]), {}, "labels are booleans, integers or strings"),
        (
            lazy(correct=["yes", "no", "maybe", "yes"]),
            {"correct": "correct", "confidence": "confidence"},
            "'maybe'.*true or false",
        ),
        (lazy(), {"truth": "truth", "predicted": "predicted"}, "confidence= is missing"),
        (
            lazy(p=[[0.5, 0.5], [1.0], [0.5, 0.5], [0.5, 0.5]]),
            {"truth": "truth", "probabilities": "p"},
            "1 to 2 values",
        ),
        (lazy(truth=["a", "b", "c", "a"], p=[0.1] * 4), {"truth": "truth", "probabilities": "p"}, "two classes"),
    ],
)
def test_what_cannot_be_read_is_named(frame: pl.LazyFrame, columns: dict, why: str) -> None:
    with pytest.raises(InvalidPredictions, match=why):
        Predictions.from_frame(frame, **columns)


def test_outcomes_in_words_are_read_as_of_arrays() -> None:
    # doubts 0.1, 0.2, 0.3 and 0.4; the second and third rows are wrong
    frame = lazy(correct=["yes", "no", "no", "yes"]).with_columns(confidence=pl.Series([0.9, 0.8, 0.7, 0.6]))
    for one in (frame, frame.collect()):
        p = Predictions.from_frame(one, correct="correct", confidence="confidence")
        assert sf.csr(p) == pytest.approx((1 / 0.2 + 1 / 0.3) / 4, rel=1e-12)


def test_identifiers_are_no_classes() -> None:
    n = 20_001
    frame = pl.DataFrame({"truth": np.arange(n), "p0": np.full(n, 0.5), "p1": np.full(n, 0.5)}).lazy()
    with pytest.raises(InvalidPredictions, match="are they identifiers"):
        Predictions.from_frame(frame, truth="truth", probabilities=["p0", "p1"])


@pytest.mark.parametrize("probabilities", ["p", ["p0", "p1"]])
def test_a_floor_and_decisions_of_another_model(probabilities) -> None:
    p = np.array([1.0, 0.8, 0.4, 0.0])
    eager = pl.DataFrame({**ROWS, "p": p, "p0": 1 - p, "p1": p})
    for options in ({"floor": 1e-8}, {"predicted": "predicted"}, {"floor": 0.01, "predicted": "predicted"}):
        one, other = (
            Predictions.from_frame(frame, truth="truth", probabilities=probabilities, **options)
            for frame in (eager, eager.lazy())
        )
        assert sf.csr(other) == pytest.approx(sf.csr(one), rel=1e-12)
        assert sf.accuracy(other) == sf.accuracy(one)


def test_equal_weights_are_told_from_unequal_ones() -> None:
    assert Predictions.from_frame(lazy()).has_equal_weights
    assert Predictions.from_frame(lazy(weight=[2.0, 0.0, 2.0, 2.0])).has_equal_weights
    assert not Predictions.from_frame(lazy(weight=[2.0, 1.0, 2.0, 2.0])).has_equal_weights


def test_a_lazy_frame_has_no_length() -> None:
    p = Predictions.from_frame(lazy())
    assert p
    with pytest.raises(sf.MetricUnavailable, match="the number of rows needs the rows in memory"):
        len(p)
    assert repr(p) == "Predictions(a lazy frame)"


def test_groups_and_slices_of_a_lazy_frame_go_together() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "truth": rng.integers(0, 2, 400),
        "p": rng.random(400),
        "who": np.repeat(np.arange(40), 10),
        "where": np.repeat(["x", "y"], 200),
    }
    eager = pl.DataFrame(columns)
    for by in ("where", "predicted"):
        one, other = (
            sf.assess(frame, truth="truth", probabilities="p", by=by, groups="who") for frame in (eager, eager.lazy())
        )
        assert [part.value for part in one.slices] == [part.value for part in other.slices]
        assert [part.risk.n for part in one.slices] == [part.risk.n for part in other.slices]
        assert other.risk.design_effect == pytest.approx(one.risk.design_effect, rel=1e-6)

"""Columns of a dataframe: found by their names, and what is said of those that are not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions

Y, PRED, CONF = [0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.6, 0.7]


TABLE = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]


COLUMNS = {"y": Y, "guess": PRED, "sure": CONF, "ok": [True, True, False, True], "w": [1.0, 2.0, 3.0, 4.0]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_frames_by_column_names(make) -> None:
    frame = make({**COLUMNS, "p_a": [0.9, 0.2, 0.6, 0.7], "p_b": [0.1, 0.8, 0.4, 0.3]})
    p = Predictions.from_frame(frame, truth="y", predicted="guess", confidence="sure", weight="w")
    assert p.correct.tolist() == COLUMNS["ok"]
    assert p.weight.tolist() == COLUMNS["w"]
    assert Predictions.from_frame(frame, correct="ok", confidence="sure").correct.tolist() == COLUMNS["ok"]
    for probabilities in ("p_", ["p_a", "p_b"]):
        q = Predictions.from_frame(frame, truth="y", probabilities=probabilities)
        assert q.predicted.tolist() == [0, 1, 0, 0]
    binary = Predictions.from_frame(frame, truth="y", probabilities="p_b", predicted="guess")
    assert binary.confidence == pytest.approx([0.9, 0.8, 0.6, 0.7])


def test_list_columns_of_every_kind() -> None:
    arrow = pa.array(TABLE, type=pa.list_(pa.float32(), 2))
    for frame in (
        pa.table({"y": Y, "p": arrow}),
        pa.table({"y": Y, "p": pa.array(TABLE)}),
        pl.DataFrame({"y": Y, "p": TABLE}),
        pl.from_arrow(pa.table({"y": Y, "p": arrow})),
        pd.DataFrame({"y": Y, "p": TABLE}),
        pd.DataFrame({"y": Y, "p": [np.array(row) for row in TABLE]}),
    ):
        p = Predictions.from_frame(frame, truth="y", probabilities="p")
        assert p.predicted.tolist() == [0, 1, 0, 0]


def test_columns_called_like_the_arguments_are_found() -> None:
    frame = pd.DataFrame({"truth": Y, "predicted": PRED, "confidence": CONF, "weight": [1.0] * 4, "other": 1})
    assert Predictions.from_frame(frame).correct.tolist() == COLUMNS["ok"]


def test_columns_named_after_labels_are_whose_they_say_in_any_order() -> None:
    named = pd.DataFrame({"y": ["cat", "dog"], "p_dog": [0.1, 0.8], "p_cat": [0.9, 0.2]})
    p = Predictions.from_frame(named, truth="y", probabilities="p_")
    assert p.labels == ("dog", "cat")
    assert p.correct.all()
    numbered = pd.DataFrame({"y": [1, 2], "p1": [0.9, 0.1], "p2": [0.1, 0.8], "p3": [0.0, 0.1]})
    q = Predictions.from_frame(numbered, truth="y", probabilities="p")
    assert q.labels == (1, 2, 3)
    assert q.correct.all()
    unnamed = pd.DataFrame({"y": ["no", "yes"], "p0": [0.9, 0.1], "p1": [0.1, 0.9]})
    assert Predictions.from_frame(unnamed, truth="y", probabilities="p").labels == ("no", "yes")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"truth": "label", "predicted": "guess", "confidence": "sure"}, "truth='label' is not a column.*'y', 'guess'"),
        ({"truth": "y", "confidence": "sure"}, r"predicted= \(or probabilities=\) is missing"),
        ({"truth": "y", "probabilities": "q_"}, "the prefix of none"),
        ({"truth": "y", "probabilities": "sure", "confidence": "sure"}, "confidence= was named beside probabilities="),
        ({"correct": "ok", "confidence": "sure", "truth": "y"}, "truth= was named beside correct="),
        ({"correct": "ok", "confidence": "sure", "labels": [0, 1]}, "labels="),
    ],
)
def test_frames_say_which_column_is_wrong(columns: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidPredictions, match=said):
        Predictions.from_frame(pd.DataFrame(COLUMNS), **columns)


def test_what_is_no_frame_says_so() -> None:
    with pytest.raises(InvalidPredictions, match="frame is a dict"):
        Predictions.from_frame({"y": Y}, truth="y")


@pytest.mark.parametrize(
    "columns",
    [
        {"y": ["dog", "dog", "cat"], "p_dog": [0.9, 0.8, 0.3], "p_cat": [0.1, 0.2, 0.7]},
        {"y": [1, 1, 0], "prob_1": [0.9, 0.8, 0.3], "prob_0": [0.1, 0.2, 0.7]},
        {"y": [True, True, False], "p_True": [0.9, 0.8, 0.3], "p_False": [0.1, 0.2, 0.7]},
        {"y": [1.0, 1.0, 0.0], "p_1.0": [0.9, 0.8, 0.3], "p_0.0": [0.1, 0.2, 0.7]},
    ],
)
def test_columns_named_after_labels_are_never_taken_in_another_order(columns: dict) -> None:
    frame = pd.DataFrame(columns)
    names = [name for name in columns if name != "y"]
    for probabilities in (names, "p"):
        assert Predictions.from_frame(frame, truth="y", probabilities=probabilities).correct.all()
    assert Predictions.from_probabilities(frame["y"], frame[names]).correct.all()
    assert sf.assess(frame, truth="y", probabilities=names)["accuracy"] == 1.0


@pytest.mark.parametrize("names", [("p_Dog", "p_Cat"), ("p_dog", "p_bird")])
def test_columns_named_after_some_labels_only_are_an_error(names: tuple[str, str]) -> None:
    frame = pd.DataFrame({"y": ["dog", "cat"], names[0]: [0.9, 0.2], names[1]: [0.1, 0.8]})
    with pytest.raises(InvalidPredictions, match=r"y_true holds .* labels="):
        Predictions.from_frame(frame, truth="y", probabilities="p_")


def test_truth_and_predicted_are_not_overruled_by_a_column_called_correct() -> None:
    frame = pd.DataFrame({"truth": [0, 1], "predicted": [0, 1], "correct": [True, False], "confidence": [0.5, 0.6]})
    assert Predictions.from_frame(frame).correct.all()


def test_errors_of_a_frame_speak_of_its_own_columns() -> None:
    frame = pd.DataFrame({"label": [0, 1], "guess": [0, 1], "sure": [0.5, 1.5]})
    with pytest.raises(InvalidPredictions, match=r"column 'sure'\[1\] is 1.5"):
        Predictions.from_frame(frame, truth="label", predicted="guess", confidence="sure")


def test_two_columns_of_one_name_are_a_clear_error() -> None:
    frame = pd.DataFrame([[0, 0.5, 0.5]], columns=["y", "p", "p"])
    with pytest.raises(InvalidPredictions):
        Predictions.from_frame(frame, truth="y", probabilities="p")


def test_integer_column_names_and_record_batches_work() -> None:
    frame = pd.DataFrame({"y": [1, 0], 0: [0.1, 0.9], 1: [0.9, 0.1]})
    assert Predictions.from_frame(frame, truth="y", probabilities=[1, 0]).correct.all()
    batch = pa.record_batch({"truth": [1, 0], "predicted": [1, 0], "confidence": [0.5, 0.5]})
    assert Predictions.from_frame(batch).correct.all()


def test_a_column_cannot_be_two_classes() -> None:
    frame = pd.DataFrame({"y": [0, 1], "p": [0.5, 0.5]})
    for given in (frame, pl.from_pandas(frame).lazy()):
        with pytest.raises(InvalidPredictions, match="names 'p' twice"):
            Predictions.from_frame(given, truth="y", probabilities=["p", "p"])

# ruff: noqa: E501 (the table of cases is wide)
"""Columns are found where one reading is possible, and asked for where more are."""

from __future__ import annotations

import shlex
from typing import Any

import pyarrow as pa
import pytest

from surefoot.files.columns import Columns
from surefoot.files.finding import Ambiguous, find_columns


def found(columns: dict[str, Any], **given: Any) -> Columns:
    return find_columns("f.csv", pa.table(columns), given)


LABELS, OTHERS = [0, 1, 1, 0], [0, 1, 0, 0]
SURE = [0.9, 0.8, 0.7, 0.6]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"y_true": LABELS, "y_pred": OTHERS, "conf": SURE}, Columns("y_true", "y_pred", "conf")),
        ({"Label": LABELS, "Prediction": OTHERS, "Confidence": SURE}, Columns("Label", "Prediction", "Confidence")),
        ({"is_correct": [True] * 4, "confidence": SURE}, Columns(correct="is_correct", confidence="confidence")),
        ({"acc": [1.0, 0.0, 1.0, 1.0], "confidence": SURE}, Columns(correct="acc", confidence="confidence")),
        ({"label": LABELS, "probs": [[0.1, 0.9]] * 4}, Columns("label", probabilities="probs")),
        ({"label": LABELS, "logits": [[0.1, 0.9]] * 4}, Columns("label", logits="logits")),
        ({"y": LABELS, "p_0": SURE, "p_1": [0.1, 0.2, 0.3, 0.4]}, Columns("y", probabilities=("p_0", "p_1"))),
        ({"y": LABELS, "y_score": SURE}, Columns("y", probabilities="y_score")),
        ({"truth": LABELS, "label": OTHERS, "predicted": OTHERS, "confidence": SURE}, Columns("truth", "predicted", "confidence")),
        ({"truth": LABELS, "predicted": OTHERS, "doubt": SURE, "weight": SURE}, Columns("truth", "predicted", doubt="doubt", weight="weight")),
        # a column of P(1) goes below one half where 0 is predicted; one of confidence never does
        ({"label": LABELS, "prediction": [1, 1, 0, 0], "probability": [0.9, 0.8, 0.3, 0.2]}, Columns("label", "prediction", probabilities="probability")),
        ({"label": LABELS, "prediction": [1, 1, 0, 0], "probability": SURE}, Columns("label", "prediction", "probability")),
        # no name says truth, but one column only holds the labels that are predicted
        ({"id": [7, 8, 9, 10], "year": [2014, 2015, 2014, 2015], "employed": LABELS, "prediction": [1, 1, 0, 0], "predicted_probability": [0.9, 0.8, 0.3, 0.2]},
         Columns("employed", "prediction", probabilities="predicted_probability")),
    ],
)  # fmt: skip
def test_names_that_say_it(columns: dict[str, Any], expected: Columns) -> None:
    assert found(columns) == expected


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ({"label": LABELS, "target": LABELS, "pred": OTHERS, "confidence": SURE}, "truth could be 'label' or 'target'"),
        ({"a": LABELS, "b": LABELS}, "no column of confidences was detected"),
        ({"x": ["u", "v", "u", "v"], "confidence": SURE}, "no column of predicted labels was detected"),
        ({"probs": [[0.1, 0.9]] * 4}, "no column of true labels was detected"),
        ({"y": LABELS, "probs": [[0.1, 0.9]] * 4, "softmax": [[0.1, 0.9]] * 4}, "probabilities could be"),
        ({"label": LABELS, "prediction": [1, 1, 0, 0], "score": [0.9, 0.4, 0.7, 0.2]}, "pass --confidence or --prob"),
        ({"a": LABELS, "b": LABELS, "pred": [0, 1, 0, 1], "confidence": SURE}, "truth could be 'a' or 'b'"),
    ],
)
def test_what_is_ambiguous_is_asked_for(columns: dict[str, Any], asked: str) -> None:
    with pytest.raises(Ambiguous) as caught:
        found(columns)
    assert asked in str(caught.value)


def test_what_the_user_says_stands_first() -> None:
    columns = {"label": LABELS, "target": OTHERS, "pred": OTHERS, "confidence": SURE, "p": SURE}
    assert found(columns, truth="target") == Columns("target", "pred", "confidence")
    assert found(columns, truth="label", probabilities="p") == Columns("label", probabilities="p")
    with pytest.raises(Ambiguous, match="there is no column 'nope' for truth; the columns are 'label'"):
        found(columns, truth="nope")


def test_what_was_taken_is_said() -> None:
    assert (
        Columns("label", probabilities="probs").said(10)
        == "truth: label, probabilities: probs (10), largest is predicted"
    )
    assert Columns("y", probabilities="p").said(None, 1) == "truth: y, probability of 1: p, largest is predicted"


RISKS = [0.1, 0.7, 0.8, 0.2]


@pytest.mark.parametrize(
    ("columns", "given", "hint"),
    [
        ({"id": ["a", "b", "c", "d"], "death": LABELS, "risk": RISKS}, {}, "pass --truth death --probabilities risk"),
        ({"death": LABELS, "risk": RISKS}, {"probabilities": "risk"}, "pass --truth death --probabilities risk"),
        ({"event": LABELS, "p": RISKS}, {}, "pass --truth event --probabilities p"),
        ({"Outcome": LABELS, "PD": RISKS}, {}, "pass --truth Outcome --probabilities PD"),
        # a clinician's name for a confidence
        ({"dead": LABELS, "my p": RISKS}, {"truth": "dead", "confidence": "my p"}, "pass --truth dead --probabilities 'my p' instead"),
    ],
)  # fmt: skip
def test_a_file_of_an_event_and_its_risk_is_told_how_to_be_read(
    columns: dict[str, Any], given: dict[str, str], hint: str
) -> None:
    with pytest.raises(Ambiguous) as error:
        found(columns, **given)
    assert error.value.hint.endswith(f"{hint} (to assess it as a risk model, --of event too)")
    told = dict(zip(("truth", "probabilities"), shlex.split(hint)[2:5:2], strict=True))
    assert found(columns, **told) == Columns(**told)


def test_columns_that_are_no_event_get_no_such_hint() -> None:
    for columns in ({"a": LABELS, "b": LABELS}, {"death": LABELS, "age": [60, 70, 80, 90]}):
        with pytest.raises(Ambiguous) as error:
            found(columns)
        assert not error.value.hint

"""What is refused, with argument, row and value."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions

Y, PRED, CONF = [0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.6, 0.7]


TABLE = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]


LOGITS = [[2.0, 0.0], [0.0, 1.5], [0.5, 0.0], [1.0, 0.0]]


BAD_NUMBERS = [float("nan"), float("inf"), -0.1, 1.5]


def swapped(values, row, value):
    return [*values[:row], value, *values[row + 1 :]]


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize("argument", ["confidence", "doubt"])
def test_numbers_outside_the_unit_interval_name_argument_row_and_value(bad: float, argument: str) -> None:
    column = swapped(CONF, 2, bad)
    for constructor in (
        lambda: Predictions.from_labels(Y, PRED, **{argument: column}),
        lambda: Predictions.from_correct([True] * 4, **{argument: column}),
    ):
        with pytest.raises(InvalidPredictions, match=rf"{argument}\[2\] is {bad}"):
            constructor()


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_bad_probabilities_name_row_and_value(bad: float) -> None:
    table = swapped(TABLE, 2, [bad, 0.4])
    with pytest.raises(InvalidPredictions, match=rf"probabilities\[2, 0\] is {bad}"):
        Predictions.from_probabilities(Y, table)
    with pytest.raises(InvalidPredictions, match=rf"probabilities\[2\] is {bad}"):
        Predictions.from_probabilities(Y, swapped(CONF, 2, bad))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_logits_must_be_finite(bad: float) -> None:
    with pytest.raises(InvalidPredictions, match=rf"logits\[2, 1\] is {bad}"):
        Predictions.from_logits(Y, swapped(LOGITS, 2, [0.0, bad]))


@pytest.mark.parametrize("null", [None, float("nan"), pd.NA, pd.NaT])
def test_nulls_name_their_row_in_every_column(null: object) -> None:
    with pytest.raises(InvalidPredictions, match=r"y_true\[1\]"):
        Predictions.from_labels(swapped(Y, 1, null), PRED, CONF)
    with pytest.raises(InvalidPredictions, match=r"y_pred\[1\]"):
        Predictions.from_labels(Y, swapped(PRED, 1, null), CONF)
    with pytest.raises(InvalidPredictions, match=r"confidence\[1\]"):
        Predictions.from_labels(Y, PRED, swapped(CONF, 1, null))
    with pytest.raises(InvalidPredictions, match=r"correct\[1\]"):
        Predictions.from_correct(swapped([True] * 4, 1, null), CONF)
    with pytest.raises(InvalidPredictions, match=r"y_true\[1\]"):
        Predictions.from_probabilities(swapped(Y, 1, null), TABLE)
    with pytest.raises(InvalidPredictions, match=r"y_pred\[1\]"):
        Predictions.from_probabilities(Y, TABLE, y_pred=swapped(Y, 1, null))
    with pytest.raises(InvalidPredictions, match=r"sample_weight\[1\]"):
        Predictions.from_labels(Y, PRED, CONF, sample_weight=swapped([1.0] * 4, 1, null))


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array], ids=["pandas", "polars", "arrow"])
def test_nulls_of_dataframe_columns_name_their_row(make) -> None:
    with pytest.raises(InvalidPredictions, match=r"confidence\[1\] is null"):
        Predictions.from_labels(Y, PRED, make([0.9, None, 0.6, 0.7]))
    with pytest.raises(InvalidPredictions, match=r"y_true\[3\] is null"):
        Predictions.from_labels(make(["a", "b", "a", None]), ["a", "b", "b", "a"], CONF)


def test_masked_values_are_nulls() -> None:
    masked = np.ma.array(CONF, mask=[0, 0, 1, 0])
    with pytest.raises(InvalidPredictions, match=r"confidence\[2\] is masked"):
        Predictions.from_labels(Y, PRED, masked)


@pytest.mark.parametrize(
    "constructor",
    [
        lambda: Predictions.from_labels(Y, PRED[:3], CONF),
        lambda: Predictions.from_labels(Y, PRED, CONF[:3]),
        lambda: Predictions.from_labels(Y, PRED, doubt=CONF[:3]),
        lambda: Predictions.from_labels(Y, PRED, CONF, sample_weight=[1.0] * 3),
        lambda: Predictions.from_correct([True] * 4, CONF[:3]),
        lambda: Predictions.from_probabilities(Y, TABLE[:3]),
        lambda: Predictions.from_probabilities(Y, TABLE, y_pred=Y[:3]),
        lambda: Predictions.from_logits(Y, LOGITS[:3]),
        lambda: Predictions.from_logits(Y, LOGITS, sample_weight=[1.0] * 3),
    ],
)
def test_unequal_lengths_name_the_argument_and_the_first_row_without_a_partner(constructor) -> None:
    with pytest.raises(InvalidPredictions, match=r"has 3 rows, .* holds? 4; .* is 3"):
        constructor()


@pytest.mark.parametrize(
    "constructor",
    [
        lambda: Predictions.from_labels([], [], []),
        lambda: Predictions.from_correct([], []),
        lambda: Predictions.from_probabilities([], np.zeros((0, 3))),
        lambda: Predictions.from_logits([], np.zeros((0, 3))),
    ],
)
def test_no_rows_at_all_is_an_error(constructor) -> None:
    with pytest.raises(InvalidPredictions, match="no rows"):
        constructor()


@pytest.mark.parametrize(
    ("constructor", "said"),
    [
        (lambda: Predictions.from_labels([Y], [PRED], CONF), "y_true"),
        (lambda: Predictions.from_labels(np.array([Y]), PRED, CONF), "y_true must have one dimension"),
        (lambda: Predictions.from_labels(Y, PRED, [CONF]), "confidence must have one dimension"),
        (lambda: Predictions.from_labels(Y, PRED, 0.9), "confidence is a float"),
        (lambda: Predictions.from_labels("cats", "dogs", CONF), "y_true is a str"),
        (lambda: Predictions.from_probabilities(Y, np.zeros((4, 2, 2))), "probabilities has 3 dimensions"),
        (lambda: Predictions.from_probabilities(Y, np.ones((4, 1))), r"1 column\(s\)"),
        (lambda: Predictions.from_probabilities(Y, [[0.5, 0.5], [1.0], [0.5, 0.5], [0.5, 0.5]]), "equally long"),
        (lambda: Predictions.from_correct({True: 1}, CONF), "correct is a dict"),
    ],
)
def test_wrong_dimensions_say_so(constructor, said: str) -> None:
    with pytest.raises(InvalidPredictions, match=said):
        constructor()


def test_weights_may_not_be_negative_or_all_zero() -> None:
    with pytest.raises(InvalidPredictions, match=r"sample_weight\[3\] is -1.0"):
        Predictions.from_labels(Y, PRED, CONF, sample_weight=[1, 1, 1, -1])
    with pytest.raises(InvalidPredictions, match="no row would count"):
        Predictions.from_labels(Y, PRED, CONF, sample_weight=[0, 0, 0, 0])


@pytest.mark.parametrize("bad", [["high", "low", "low", "low"], [True] * 4, [1j] * 4, [b"1"] * 4, [[1]] * 4])
def test_confidence_must_be_numbers(bad: list[object]) -> None:
    with pytest.raises(InvalidPredictions, match="confidence"):
        Predictions.from_labels(Y, PRED, bad)


def test_percentages_and_integers_are_told_apart_from_probabilities() -> None:
    with pytest.raises(InvalidPredictions, match="divide by 100"):
        Predictions.from_labels(Y, PRED, [90.0, 80.0, 60.0, 70.0])
    with pytest.raises(InvalidPredictions, match=r"probabilities holds integers \(probabilities\[0, 0\] is 1"):
        Predictions.from_probabilities(Y, [[1, 0], [0, 1], [1, 0], [1, 0]])
    with pytest.raises(InvalidPredictions, match="confidence holds integers"):
        Predictions.from_labels(Y, PRED, [1, 1, 1, 0])


def test_rows_must_add_up_to_one_and_half_precision_has_more_room() -> None:
    with pytest.raises(InvalidPredictions, match=r"probabilities\[1\] adds up to 1.1.*from_logits"):
        Predictions.from_probabilities(Y, swapped(TABLE, 1, [0.3, 0.8]))
    off = np.array(TABLE)
    off[:, 0] += 0.005
    with pytest.raises(InvalidPredictions, match="adds up to"):
        Predictions.from_probabilities(Y, off.astype(np.float32))
    assert len(Predictions.from_probabilities(Y, off.astype(np.float16))) == 4


@pytest.mark.parametrize(
    ("truth", "predicted"),
    [(Y, ["0", "1", "0", "0"]), (Y, [False, True, False, False]), (["0"] * 4, [True] * 4)],
)
def test_kinds_of_label_are_never_mixed_between_columns(truth: list, predicted: list) -> None:
    with pytest.raises(InvalidPredictions, match=r"y_true holds .*y_true\[0\].*y_pred\[0\]"):
        Predictions.from_labels(truth, predicted, CONF)


@pytest.mark.parametrize("mixed", [[0, "1", 1, 0], [True, 2, 1, 0], ["a", False, "b", "b"]])
def test_kinds_of_label_are_never_mixed_within_a_column(mixed: list) -> None:
    with pytest.raises(InvalidPredictions, match=r"y_true mixes .*y_true\[0\].*y_true\[1\]"):
        Predictions.from_labels(mixed, mixed, CONF)


@pytest.mark.parametrize("bad", [0.5, 1e300, b"x", (1,), Decimal(1), np.datetime64("2026-01-01")])
def test_what_is_no_label_names_its_row(bad: object) -> None:
    column = np.empty(4, dtype=object)
    column[:] = [0, 1, 1, 0]
    column[2] = bad
    with pytest.raises(InvalidPredictions, match=r"y_true\[2\] is"):
        Predictions.from_labels(column, PRED, CONF)


def test_a_label_that_no_column_covers_is_named() -> None:
    with pytest.raises(InvalidPredictions, match=r"y_true\[2\] is 'c'.*none of the labels \('a', 'b'\)"):
        Predictions.from_probabilities(["a", "b", "c", "a"], TABLE, labels=["a", "b"])
    with pytest.raises(InvalidPredictions, match=r"y_pred\[0\] is 7"):
        Predictions.from_probabilities(Y, TABLE, y_pred=[7, 0, 0, 0])
    with pytest.raises(InvalidPredictions, match=r"2 classes, but .* 3 distinct labels"):
        Predictions.from_probabilities(["a", "b", "c", "a"], TABLE)
    with pytest.raises(InvalidPredictions, match="labels names 3 classes"):
        Predictions.from_probabilities(Y, TABLE, labels=[0, 1, 2])
    with pytest.raises(InvalidPredictions, match=r"labels\[1\] is 0 again"):
        Predictions.from_probabilities(Y, TABLE, labels=[0, 0])


def test_the_way_out_is_one_that_the_command_line_has_too() -> None:
    names = np.array(["dead", "ill", "well", "ill"])
    table = np.full((4, 3), 1 / 3)
    with pytest.raises(InvalidPredictions, match=r"name it with pos_label= \(on the command line --positive\)"):
        Predictions.from_probabilities(names, table, of="event")
    with pytest.raises(InvalidPredictions, match="or write the outcomes as 0 and 1"):
        Predictions.from_probabilities(["well"] * 4, [0.1, 0.2, 0.3, 0.4], of="event", pos_label="dead")
    none = Predictions.from_probabilities([0] * 4, [0.1, 0.2, 0.3, 0.4], of="event")
    assert none.correct.sum() == 0


def test_confidence_and_doubt_must_agree() -> None:
    with pytest.raises(InvalidPredictions, match=r"doubt\[1\] is 0.3, but confidence\[1\] is 0.8"):
        Predictions.from_labels(Y, PRED, CONF, doubt=[0.1, 0.3, 0.4, 0.3])
    with pytest.raises(InvalidPredictions, match="confidence is missing"):
        Predictions.from_labels(Y, PRED)


@pytest.mark.parametrize("bad", [0, -1e-8, 0.5, 1, "a", True, float("nan")])
def test_floor_must_be_a_small_number(bad: object) -> None:
    with pytest.raises(InvalidPredictions, match="floor is"):
        Predictions.from_labels(Y, PRED, CONF, floor=bad)


def test_what_predictions_hold_already_may_not_be_given_again() -> None:
    p = Predictions.from_labels(Y, PRED, CONF)
    with pytest.raises(InvalidPredictions, match=r"csr\(predictions\) takes no other data arguments; got 'confidence'"):
        sf.csr(p, confidence=CONF)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_weights_whose_squares_leave_float64_are_refused(weight: float) -> None:
    with pytest.raises(InvalidPredictions, match=r"sample_weight\[1\].*ratios"):
        Predictions.from_correct([True, False], [0.5, 0.5], sample_weight=[1.0, weight])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0.9, "x"], r"confidence\[1\] is 'x'"),
        ([0.9, True], r"confidence\[1\] is True"),
        (["0.9", "x"], r"confidence\[0\]"),
    ],
)
def test_the_row_named_is_the_row_that_offends(given: list, said: str) -> None:
    with pytest.raises(InvalidPredictions, match=said):
        Predictions.from_correct([1, 0], given)
    with pytest.raises(InvalidPredictions, match=r"correct\[1\] is 'x'"):
        Predictions.from_correct([True, "x"], [0.5, 0.5])


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.array([[0.5, 0.5], [0.2, 0.3, 0.5]]), r"probabilities\[1\] has 3 values, but probabilities\[0\] has 2"),
        (pl.Series([[0.5, 0.5], [0.2, 0.3, 0.5]]), r"probabilities\[1\] has 3 values, but probabilities\[0\] has 2"),
        (pa.array([[0.5, 0.5], [None, 1.0]]), r"probabilities\[1\] is null"),
        (pd.DataFrame(index=[0, 1]), "probabilities has no columns"),
    ],
    ids=["uneven, arrow", "uneven, polars", "null within", "no columns"],
)
def test_tables_that_are_no_rectangles_of_numbers_say_where(table: object, said: str) -> None:
    with pytest.raises(InvalidPredictions, match=said):
        Predictions.from_probabilities([0, 1], table)


def test_a_number_too_large_for_floats_is_refused() -> None:
    with pytest.raises(InvalidPredictions, match="confidence cannot be read as numbers"):
        Predictions.from_correct([True, False], [0.5, 10**400])

"""What comes in, and what is refused, door by door."""

import warnings
from decimal import Decimal

import ml_dtypes
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


# -- refused, with argument, row and value ---------------------------------------------------------------------------


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize("argument", ["confidence", "doubt"])
def test_numbers_outside_the_unit_interval_name_argument_row_and_value(bad: float, argument: str) -> None:
    column = swapped(CONF, 2, bad)
    for door in (
        lambda: Predictions.from_labels(Y, PRED, **{argument: column}),
        lambda: Predictions.from_correct([True] * 4, **{argument: column}),
    ):
        with pytest.raises(InvalidPredictions, match=rf"{argument}\[2\] is {bad}"):
            door()


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
    "door",
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
def test_unequal_lengths_name_the_argument_and_the_first_row_without_a_partner(door) -> None:
    with pytest.raises(InvalidPredictions, match=r"has 3 rows, .* holds? 4; .* is 3"):
        door()


@pytest.mark.parametrize(
    "door",
    [
        lambda: Predictions.from_labels([], [], []),
        lambda: Predictions.from_correct([], []),
        lambda: Predictions.from_probabilities([], np.zeros((0, 3))),
        lambda: Predictions.from_logits([], np.zeros((0, 3))),
    ],
)
def test_no_rows_at_all_is_an_error(door) -> None:
    with pytest.raises(InvalidPredictions, match="no rows"):
        door()


@pytest.mark.parametrize(
    ("door", "said"),
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
def test_wrong_dimensions_say_so(door, said: str) -> None:
    with pytest.raises(InvalidPredictions, match=said):
        door()


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
    with pytest.raises(InvalidPredictions, match=r"labels\[1\] is 0 once more"):
        Predictions.from_probabilities(Y, TABLE, labels=[0, 0])


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
    with pytest.raises(InvalidPredictions, match="confidence was given beside Predictions"):
        sf.csr(p, confidence=CONF)


# -- taken in --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        lambda v: pd.Series(v, index=range(10, 14)),
        pl.Series,
        pa.array,
        lambda v: pa.chunked_array([v[:1], v[1:]]),
        lambda v: np.array(v)[::-1][::-1],
        lambda v: np.array([v, v]).T[:, 0],
        lambda v: np.array(v).astype(np.array(v).dtype.newbyteorder(">")),
        lambda v: np.array(v, dtype=object),
        np.ma.array,
    ],
    ids=[
        "list",
        "tuple",
        "numpy",
        "pandas",
        "reindexed",
        "polars",
        "arrow",
        "chunked",
        "reversed",
        "strided",
        "big-endian",
        "object",
        "masked",
    ],
)
def test_every_container_gives_the_same(make) -> None:
    p = Predictions.from_labels(make(Y), make(PRED), make(CONF), sample_weight=make([1.0, 2.0, 3.0, 4.0]))
    assert p.correct.tolist() == [True, True, False, True]
    assert p.confidence.tolist() == CONF
    assert p.weight.tolist() == [1, 2, 3, 4]
    named = [str(y) for y in Y]
    assert Predictions.from_labels(make(named), make(named), make(CONF)).correct.all()


def test_nullable_categorical_and_string_columns_work() -> None:
    for truth in (
        pd.Series(["a", "b"] * 2, dtype="category"),
        pd.Series(["a", "b"] * 2, dtype="string"),
        pl.Series(["a", "b"] * 2, dtype=pl.Categorical),
        pl.Series(["a", "b"] * 2, dtype=pl.Enum(["a", "b"])),
        pa.array(["a", "b"] * 2).dictionary_encode(),
        np.array(["a", "b"] * 2, dtype=np.dtypes.StringDType()),
    ):
        p = Predictions.from_labels(truth, ["a", "a", "a", "b"], CONF)
        assert p.correct.tolist() == [True, False, True, True]
    p = Predictions.from_labels(pd.Series(Y, dtype="Int64"), PRED, pd.Series(CONF, dtype="Float64"))
    assert p.correct.tolist() == [True, True, False, True]


def test_whole_floats_count_as_integers_and_integer_types_are_equal() -> None:
    p = Predictions.from_labels(np.array(Y, dtype=np.float32), np.array(PRED, dtype=np.uint8), CONF)
    assert p.correct.tolist() == [True, True, False, True]
    big = np.array([2**63 - 1, 2**63 - 2], dtype=np.uint64)
    assert Predictions.from_labels(big, big.astype(np.int64)[::-1], [0.5, 0.5]).correct.tolist() == [False, False]


def test_default_labels() -> None:
    assert Predictions.from_probabilities([0, 2, 0], np.full((3, 4), 0.25)).labels == (0, 1, 2, 3)
    assert Predictions.from_probabilities(["x", "a"], [[0.2, 0.8], [0.9, 0.1]]).labels == ("a", "x")
    assert Predictions.from_probabilities([1, 1], [0.2, 0.9]).labels == (0, 1)
    assert Predictions.from_probabilities([True, True], [0.2, 0.9]).labels == (False, True)
    with pytest.raises(InvalidPredictions, match="labels="):
        Predictions.from_probabilities(["yes", "yes"], [0.2, 0.9])


@pytest.mark.parametrize("truth", [["spam", "ham", "spam"], [1, 2, 1], [-1, 1, 1]])
@pytest.mark.parametrize("door", [Predictions.from_probabilities, Predictions.from_logits])
def test_one_column_of_other_labels_needs_the_positive_one(truth, door) -> None:
    with pytest.raises(InvalidPredictions) as raised:
        door(truth, [0.2, 0.9, 0.3])
    assert repr(truth[0]) in str(raised.value)
    assert repr(truth[1]) in str(raised.value)
    assert "pos_label=" in str(raised.value)
    for positive in set(truth):
        p = door(truth, [0.2, 0.9, 0.3], pos_label=positive)
        assert p.labels[1] == positive
        assert p.predicted.tolist()[1] == positive
    assert door(truth, [0.2, 0.9, 0.3], labels=sorted(set(truth))).labels == tuple(sorted(set(truth)))
    with pytest.raises(InvalidPredictions, match="none of the labels"):
        door(truth, [0.2, 0.9, 0.3], pos_label="cat")


def test_the_positive_label_of_zero_and_one_may_be_turned() -> None:
    p = Predictions.from_probabilities([0, 1, 0], [0.9, 0.2, 0.8], pos_label=0)
    assert p.labels == (1, 0)
    assert p.correct.all()
    with pytest.raises(InvalidPredictions, match="single column"):
        Predictions.from_probabilities([0, 1], [[0.1, 0.9], [0.4, 0.6]], pos_label=1)
    with pytest.raises(InvalidPredictions, match="labels="):
        Predictions.from_probabilities(["yes", "yes"], [0.2, 0.9], pos_label="yes")
    lazy = pl.DataFrame({"y": ["spam", "ham"], "p": [0.9, 0.2]}).lazy()
    with pytest.raises(InvalidPredictions, match="pos_label="):
        Predictions.from_frame(lazy, truth="y", probabilities="p")
    assert sf.assess(lazy, truth="y", probabilities="p", pos_label="spam")["accuracy"] == 1
    eager = pl.DataFrame({"y": ["spam", "ham"], "p": [0.9, 0.2]})
    assert sf.assess(eager, truth="y", probabilities="p", pos_label="spam")["accuracy"] == 1


def test_a_positive_label_of_another_kind_is_refused() -> None:
    for truth, positive in (
        (["yes"] * 4, "Yes"),
        ([2] * 4, True),
        ([2, 1, 2, 1], 2.5),
        ([2, 1, 2, 1], float("nan")),
        (["1", "2"] * 2, 1),
        ([1, 2] * 2, "2"),
        ([1, 2] * 2, (2,)),
    ):
        with pytest.raises(InvalidPredictions, match=r"pos_label|labels="):
            Predictions.from_probabilities(truth, [0.1, 0.9, 0.8, 0.2], pos_label=positive)
    for positive in (2, 2.0, np.int64(2), np.array(2)):
        assert Predictions.from_probabilities([1, 2], [0.1, 0.9], pos_label=positive).labels == (1, 2)


def test_numbers_of_half_types_in_float32_are_of_these_types() -> None:
    rng = np.random.default_rng(3)
    p = 1 / (1 + np.exp(-rng.normal(4, 3, 3000)))
    for kind in (np.float16, ml_dtypes.bfloat16):
        confidence = np.maximum(p, 1 - p).astype(kind)
        with pytest.warns(sf.RoundedConfidenceWarning):
            expected = Predictions.from_correct(np.ones(3000, dtype=bool), confidence)
        for wide in (np.float32, np.float64):
            with pytest.warns(sf.RoundedConfidenceWarning, match="stored as a wider type"):
                found = Predictions.from_correct(np.ones(3000, dtype=bool), confidence.astype(wide))
            assert found.rounded == expected.rounded
            assert (found.doubt == expected.doubt).all()


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_narrow_numbers_stored_as_float64_are_narrow(kind: str) -> None:
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-rng.normal(8, 6, 2000)))
    y = (rng.random(2000) < p).astype(int)
    narrow = p.astype(kind)
    y[np.argmax(narrow == 1)] = 0
    wide = narrow.astype(np.float64)
    assert (wide == 1).any()
    with pytest.warns(sf.RoundedConfidenceWarning):
        expected = Predictions.from_probabilities(y, narrow)
    with pytest.warns(sf.RoundedConfidenceWarning, match=f"{kind} numbers stored as a wider type"):
        found = Predictions.from_probabilities(y, wide)
    assert np.isfinite(sf.csr(found))
    assert sf.csr(found) == sf.csr(expected)
    assert found.rounded == expected.rounded > 0
    with pytest.warns(sf.RoundedConfidenceWarning, match=f"{kind} numbers stored as a wider type"):
        correct = Predictions.from_correct(expected.correct, np.maximum(narrow, 1 - narrow).astype(np.float64))
    assert correct.rounded >= expected.rounded
    with pytest.warns(sf.RoundedConfidenceWarning, match=f"{kind} numbers stored as a wider type"):
        lazy = Predictions.from_frame(pl.DataFrame({"y": y, "p": wide}).lazy(), truth="y", probabilities="p")
    assert lazy.rounded == expected.rounded
    assert sf.assess(lazy)["csr"] == pytest.approx(sf.csr(expected), rel=1e-12)
    literal = Predictions.from_probabilities(y, wide, float32=False)
    assert sf.csr(literal) == np.inf
    frame = pl.DataFrame({"y": y, "p": wide})
    assert Predictions.from_frame(frame, truth="y", probabilities="p", float32=False).certain == literal.certain
    assert Predictions.from_frame(frame.lazy(), truth="y", probabilities="p", float32=False).rounded == 0


def test_numbers_of_few_digits_or_of_all_are_float64() -> None:
    rng = np.random.default_rng(1)
    for values in (rng.random(500), rng.integers(0, 1024, 500) / 1024, np.round(rng.random(500), 2), np.full(9, 0.5)):
        confidence = np.append(values, 1.0)
        p = Predictions.from_correct(np.ones(len(confidence), dtype=bool), confidence)
        assert (p.certain, p.rounded) == (int((confidence == 1).sum()), 0)


def test_a_lazy_float32_column_warns_too() -> None:
    frame = pl.DataFrame({"k": [True, False], "c": [1.0, 0.7]}, schema={"k": pl.Boolean, "c": pl.Float32}).lazy()
    with pytest.warns(sf.RoundedConfidenceWarning, match="1 of 2 values of column 'c'"):
        assert Predictions.from_frame(frame, correct="k", confidence="c").rounded == 1


def test_ties_go_to_the_first_column_and_y_pred_overrides() -> None:
    assert Predictions.from_probabilities([1, 1], [0.5, 0.500001]).predicted.tolist() == [0, 1]
    assert Predictions.from_probabilities([1], [[0.4, 0.4, 0.2]]).predicted.tolist() == [0]
    p = Predictions.from_probabilities([1, 0], [[0.7, 0.3], [0.7, 0.3]], y_pred=[1, 1])
    assert p.correct.tolist() == [True, False]
    assert p.confidence.tolist() == [0.3, 0.3]
    assert p.doubt.tolist() == [0.7, 0.7]
    q = Predictions.from_probabilities([1, 0], [0.3, 0.3], y_pred=[1, 1])
    assert q.confidence.tolist() == [0.3, 0.3]


def test_attributes_are_the_columns_and_cannot_be_written() -> None:
    p = Predictions.from_labels(Y, PRED, CONF)
    assert p.wrong.tolist() == [False, False, True, False]
    assert p.doubt == pytest.approx([0.1, 0.2, 0.4, 0.3])
    assert p.weight.tolist() == [1, 1, 1, 1]
    assert p.labels == (0, 1)
    with pytest.raises(ValueError, match="read-only"):
        p.confidence[0] = 2
    assert Predictions.from_correct([1, 0], [0.5, 0.5]).truth is None


# -- doubt -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap", [1.0, 10.0, 40.0, 100.0, 700.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_doubt_from_logits_does_not_cancel(gap: float, dtype: type) -> None:
    from math import exp

    for logits in (np.array([[gap, 0.0]], dtype), np.array([[gap + 500, 500.0]], dtype), np.array([-gap], dtype)):
        p = Predictions.from_logits([0], logits)
        assert p.doubt[0] == pytest.approx(exp(-gap) / (1 + exp(-gap)), rel=1e-6 if dtype == np.float32 else 1e-12)
    three = Predictions.from_logits([0], np.array([[gap, 0.0, 0.0]], dtype))
    assert three.doubt[0] == pytest.approx(2 * exp(-gap) / (1 + 2 * exp(-gap)), rel=1e-6)


def test_a_logit_gap_of_40_gives_4e_18() -> None:
    assert Predictions.from_logits([0], [[40.0, 0.0]]).doubt[0] == pytest.approx(4.248354255291589e-18, rel=1e-12)
    beyond = Predictions.from_logits([0], [[5000.0, 0.0]])
    assert 0 < beyond.doubt[0] < 1e-307
    assert beyond.certain == 0


def test_doubt_from_columns_is_the_sum_of_the_others() -> None:
    p = Predictions.from_probabilities([0], np.array([[1.0, 1e-20, 2e-20]]))
    assert p.doubt[0] == pytest.approx(3e-20, rel=1e-15)
    assert p.certain == 0
    q = Predictions.from_probabilities([0, 1], [1e-20, 1.0])
    assert q.doubt.tolist() == [1e-20, 0.0]
    assert q.certain == 1


def test_certain_rows_are_counted_apart() -> None:
    p = Predictions.from_correct([True, True, False], [1.0, 0.5, 0.5])
    assert (p.certain, p.certain_wrong) == (1, 0)
    assert sf.csr(p) == 1.0
    q = Predictions.from_correct([False, True], [1.0, 0.5])
    assert sf.csr(q) == float("inf")
    assert sf.csr_z(q) == float("inf")
    assert sf.p_risk(q) == 1.0
    assert sf.csr_sigma(q) == 1.0
    ignored = Predictions.from_correct([False, True], [1.0, 0.5], sample_weight=[0, 1])
    assert sf.csr(ignored) == 0.0
    assert ignored.certain == 0


def test_nothing_but_certainty_is_nan_with_a_reason() -> None:
    p = Predictions.from_correct([True, True], [1.0, 1.0])
    with pytest.warns(sf.UndefinedMetricWarning, match="no row admits doubt"):
        assert np.isnan(sf.csr(p))


@pytest.mark.parametrize(("dtype", "doubt"), [(np.float32, 2**-21), (np.float16, 2**-8), (ml_dtypes.bfloat16, 2**-5)])
def test_a_narrow_one_is_rounded_not_certain(dtype: type, doubt: float) -> None:
    c = np.array([1.0, 0.5, 0.75]).astype(dtype)
    with pytest.warns(sf.RoundedConfidenceWarning, match="1 of 3 values of confidence are 1.0 in"):
        p = Predictions.from_correct([False, True, True], c)
    assert (p.rounded, p.certain) == (1, 0)
    assert p.doubt.tolist() == [doubt, 0.5, 0.25]
    assert p[np.array([True, False, False])].rounded == 1
    assert p[1:].rounded == 0
    with pytest.warns(sf.RoundedConfidenceWarning):
        assert Predictions.from_probabilities([1, 0, 1], np.array([1.0, 0.25, 0.75]).astype(dtype)).rounded == 1


def test_a_wide_one_is_certain() -> None:
    assert Predictions.from_correct([True, True], [1.0, 0.5]).certain == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_confidences_within_100_steps_of_one_are_warned_about(dtype: type) -> None:
    step = np.spacing(dtype(1)) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Predictions.from_correct([True, True], np.array([1 - 101 * step, 0.5], dtype=dtype))
    with pytest.warns(sf.RoundedConfidenceWarning, match="within 100"):
        Predictions.from_correct([True, True], np.array([1 - 99 * step, 0.5], dtype=dtype))


def test_floor_clips_in_float64_and_leaves_nothing_certain_or_rounded() -> None:
    p = Predictions.from_correct([True, True, False], np.array([1.0, 0.0, 0.5], dtype=np.float32), floor=1e-8)
    assert p.confidence.tolist() == [1 - 1e-8, 1e-8, 0.5]
    assert p.doubt[0] == 1 - (1 - 1e-8)
    assert (p.certain, p.rounded) == (0, 0)
    q = Predictions.from_probabilities([0, 1], [[1.0, 0.0], [0.5, 0.5]], floor=1e-8)
    assert q.confidence.tolist() == [1 - 1e-8, 0.5]


def test_subnormal_doubts_are_raised_to_the_smallest_normal_number() -> None:
    p = Predictions.from_correct([False, True], doubt=[5e-324, 0.5])
    assert p.doubt[0] == np.finfo(float).tiny
    assert np.isfinite(sf.csr(p))


# -- frames ----------------------------------------------------------------------------------------------------------

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
        ({"truth": "label", "predicted": "guess", "confidence": "sure"}, "truth='label' is no column.*'y', 'guess'"),
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

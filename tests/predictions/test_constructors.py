"""What comes in, constructor by constructor."""

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
@pytest.mark.parametrize("constructor", [Predictions.from_probabilities, Predictions.from_logits])
def test_one_column_of_other_labels_needs_the_positive_one(truth, constructor) -> None:
    with pytest.raises(InvalidPredictions) as raised:
        constructor(truth, [0.2, 0.9, 0.3])
    assert repr(truth[0]) in str(raised.value)
    assert repr(truth[1]) in str(raised.value)
    assert "pos_label=" in str(raised.value)
    for positive in set(truth):
        p = constructor(truth, [0.2, 0.9, 0.3], pos_label=positive)
        assert p.labels[1] == positive
        assert p.predicted.tolist()[1] == positive
    assert constructor(truth, [0.2, 0.9, 0.3], labels=sorted(set(truth))).labels == tuple(sorted(set(truth)))
    with pytest.raises(InvalidPredictions, match="none of the labels"):
        constructor(truth, [0.2, 0.9, 0.3], pos_label="cat")


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


def test_large_integers_beside_floats_are_not_made_equal() -> None:
    assert Predictions.from_labels([2**53 + 1, 1.0], [2**53, 1.0], [0.9, 0.9]).correct.tolist() == [False, True]


def test_integer_logits_are_logits() -> None:
    assert Predictions.from_logits([0, 1], [[2, 1], [0, 3]]).correct.all()


@pytest.mark.parametrize("make", [pd.Index, pd.Categorical, pd.array])
def test_columns_of_pandas_that_are_no_series_work(make) -> None:
    assert Predictions.from_labels(make(["a", "b"]), ["a", "b"], [0.5, 0.5]).correct.all()


def test_columns_of_arrow_that_are_no_plain_numbers_work() -> None:
    codes = pa.array([3, 7, 3]).dictionary_encode()
    assert Predictions.from_labels(codes, [3, 7, 7], [0.5, 0.6, 0.7]).correct.tolist() == [True, True, False]
    flags = pa.chunked_array([[True], [False, True]])
    assert Predictions.from_correct(flags, [0.5, 0.6, 0.7]).correct.tolist() == [True, False, True]
    large = pa.array(["a", "b", "a"], pa.large_string())
    assert Predictions.from_labels(large, ["a", "a", "a"], [0.5, 0.6, 0.7]).correct.tolist() == [True, False, True]


def test_decimals_and_wider_floats_are_numbers() -> None:
    decimals = pl.Series([Decimal("0.9"), Decimal("0.25")])
    assert Predictions.from_correct([True, False], decimals).confidence.tolist() == [0.9, 0.25]
    wide = np.array([0.75, 0.5], dtype=np.longdouble)
    p = Predictions.from_correct([True, False], wide)
    assert (p.confidence.dtype, p.confidence.tolist()) == (np.float64, [0.75, 0.5])


@pytest.mark.parametrize("label", [2.0**53, -(2.0**53), 2.0**60])
def test_floats_that_stand_for_several_integers_are_no_labels(label: float) -> None:
    assert Predictions.from_labels([2.0**53 - 1, 1.0], [2**53 - 1, 1], [0.9, 0.9]).correct.all()
    for y in ([label, 1.0], np.array([label, 1.0])):
        with pytest.raises(sf.InvalidPredictions, match=r"floats of 2\*\*53 and more stand for several whole numbers"):
            Predictions.from_labels(y, [1, 1], [0.9, 0.9])
    with pytest.raises(sf.InvalidPredictions, match="no label"):
        Predictions.from_frame(
            pl.LazyFrame({"y": [label, 1.0], "z": [1, 1], "c": [0.9, 0.9]}), truth="y", predicted="z", confidence="c"
        ).tally([])

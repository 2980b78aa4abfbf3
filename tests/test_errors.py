"""Errors are data: what is at fault can be read from them, copied and sent, and the text is made of it."""

import copy
import pickle

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions


def raised(call) -> InvalidPredictions:
    with pytest.raises(InvalidPredictions) as caught:
        call()
    return caught.value


def test_argument_row_value_and_way_out() -> None:
    error = raised(lambda: Predictions.from_correct([True, False, True], [0.5, 0.9, 97.5]))
    assert (error.argument, error.row, error.value, error.has_value) == ("confidence", 2, 97.5, True)
    assert error.reason == "outside [0, 1]"
    assert str(error) == (
        "confidence[2] is 97.5, outside [0, 1]. If these are logits, use from_logits=True or Predictions.from_logits; "
        "if they are percentages, divide by 100."
    )
    assert error.args == (str(error),)
    assert repr(error) == f"InvalidPredictions({str(error)!r})"


def test_a_row_is_a_number_and_a_cell_of_a_table_a_pair() -> None:
    for bad in (float("nan"), 2.0):
        assert raised(lambda bad=bad: Predictions.from_correct([True, False], [0.5, bad])).row == 1
    table = [[0.5, 0.5], [1.5, -0.5]]
    assert raised(lambda: Predictions.from_probabilities([0, 1], table)).row == (1, 0)


def test_what_is_missing_has_no_value() -> None:
    error = raised(lambda: Predictions.from_correct([True], [None]))
    assert (error.row, error.value, error.has_value) == (0, None, False)
    assert str(error) == "confidence[0] is None; fill it or drop the row."


@pytest.mark.parametrize(
    "make",
    [
        lambda: raised(lambda: Predictions.from_correct([True], [None])),
        lambda: raised(lambda: Predictions.from_probabilities(["a", "b"], [0.1, 0.9])),
        lambda: raised(lambda: Predictions.from_frame(pl.DataFrame({"correct": [1, 2], "confidence": [0.5, 0.5]}))),
        lambda: sf.errors.UnsupportedKey("NumPy", "no key"),
        lambda: sf.errors.NeedsRows("smooth_ece"),
    ],
)
def test_errors_travel(make) -> None:
    error = make()
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert {**vars(other)} == {**vars(error)}


def test_columns_of_a_frame_are_named_wherever_they_are_spoken_of() -> None:
    frame = pl.DataFrame({"t": ["a", "b"], "g": ["a", "b"], "n": [0, 1], "sure": [0.5, 0.8], "unsure": [0.5, 0.5]})
    error = raised(lambda: Predictions.from_frame(frame, truth="t", predicted="g", confidence="sure", doubt="unsure"))
    assert (error.argument, error.column, error.row) == ("doubt", "unsure", 1)
    assert str(error).startswith("column 'unsure'[1] is 0.5, but column 'sure'[1] is 0.8: they should add up to 1.")
    error = raised(lambda: Predictions.from_frame(frame, truth="t", predicted="n", confidence="sure"))
    assert str(error) == (
        "column 't' holds strings (column 't'[0] is 'a'), but column 'n' holds integers (column 'n'[0] is 0); "
        "convert one of them."
    )


def test_lazy_frames_count() -> None:
    frame = pl.DataFrame({"correct": [True] * 3, "confidence": [0.5, 1.5, 2.5]}).lazy()
    error = raised(lambda: Predictions.from_frame(frame))
    assert (error.argument, error.column, error.count, error.value, error.row) == (
        "confidence",
        "confidence",
        2,
        2.5,
        None,
    )
    assert str(error).startswith("column 'confidence': 2 values (such as 2.5) lie outside [0, 1]. If these are logits")
    assert str(error).endswith("To find them: confidence < 0 or confidence > 1.")


def test_a_file_adds_its_name_and_its_row(tmp_path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("correct,confidence\n1,0.5\n0,1.5\n")
    error = raised(lambda: sf.load(path))
    assert (error.argument, error.column, error.row, error.value) == ("confidence", "confidence", 1, 1.5)
    assert error.file.endswith("run.csv")
    assert "run.csv, row 2: confidence is 1.5, but other rows lie between 0 and 1" in str(error)


def test_narrow_columns_of_lazy_frames_are_narrow() -> None:
    frame = pl.DataFrame({"correct": [True, False], "confidence": np.array([0.9, 1.0], dtype=np.float16)})
    for one in (frame, frame.lazy()):
        with pytest.warns(sf.RoundedConfidenceWarning, match="1.0 in float16"):
            assert Predictions.from_frame(one).rounded == 1


def test_duckdb_adds_infinities_up_to_infinity() -> None:
    import duckdb

    frame = pl.DataFrame({"correct": [True, False, True], "confidence": [0.9, 1.0, 0.123456789]})
    lazy = Predictions.from_frame(duckdb.sql("SELECT * FROM frame"))
    assert sf.log_loss(lazy) == sf.log_loss(Predictions.from_frame(frame)) == np.inf

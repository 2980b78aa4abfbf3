"""Files that say which rows were attempted, in a column of their own or in outcomes of three values."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import surefoot as sf
from surefoot import InvalidPredictions
from surefoot.cli import app
from surefoot.files import reader, source

#: Three of four attempted answers are right, and (0.1² + 0.6² + 0.3² + 0.2²) / 4 = 0.125.
GRADES = ["CORRECT", "NOT_ATTEMPTED", "INCORRECT", "CORRECT", "CORRECT", "NOT_ATTEMPTED"]
CONFIDENCE = [0.9, None, 0.6, 0.7, 0.8, None]
TOPIC = ["a", "a", "a", "b", "b", "c"]


def columns(**others: list) -> dict[str, list]:
    return {"grade": GRADES, "confidence": CONFIDENCE, "topic": TOPIC, **others}


def write(folder: Path, kind: str, data: dict[str, list]) -> Path:
    import pyarrow as pa
    from pyarrow import csv, parquet

    path, table = folder / f"log.{kind}", pa.table(data)
    if kind == "csv":
        csv.write_csv(table, path)
    elif kind == "parquet":
        parquet.write_table(table, path)
    else:
        path.write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    return path


@pytest.fixture(params=["rows", "tally"])
def batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Rows are held, or tallied on the way, a few at a time."""
    if request.param == "tally":
        monkeypatch.setattr(reader, "MOST_ROWS", 1)
        monkeypatch.setattr(source, "_TOGETHER", 1)
    return str(request.param)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("data", "used"),
    [
        (columns(), "correct: grade"),
        # labels that are texts do not tell a refusal from an error
        (columns(answer=["x"] * 6, response=["y"] * 6), "correct: grade"),
        (columns(grade=["C", "N", "I", "C", "C", "N"]), "correct: grade"),
        (columns(grade=["Correct", "refused", "incorrect", "correct", "CORRECT", "Not attempted"]), "correct: grade"),
        (
            {"correct": [1, 0, 0, 1, 1, 0], "attempted": [1, 0, 1, 1, 1, 0], "confidence": CONFIDENCE, "topic": TOPIC},
            "attempted: attempted",
        ),
        (
            {
                "correct": [True, None, False, True, True, None],
                "attempted": ["yes", "no", "Yes", "yes", "yes", "no"],
                "confidence": CONFIDENCE,
                "topic": TOPIC,
            },
            "attempted: attempted",
        ),
        (
            {
                "label": ["x", "x", "y", "x", "x", "y"],
                "pred": ["x", None, "x", "x", "x", None],
                "attempted": [True, False, True, True, True, False],
                "confidence": CONFIDENCE,
                "topic": TOPIC,
            },
            "attempted: attempted",
        ),
    ],
)
def test_they_are_found_and_counted(tmp_path: Path, kind: str, data: dict, used: str, batches: str) -> None:
    a = sf.assess(write(tmp_path, kind, data), by="topic")
    assert (a.accuracy, a["brier"], a.risk.n) == (0.75, pytest.approx(0.125), 4)
    assert (a.not_attempted, a.share_not_attempted) == (2, pytest.approx(1 / 3))
    assert used in a.columns
    assert {part.value: part.not_attempted for part in a.slices} == {"a": 1, "b": 0}
    assert a.slices_not_attempted == {"c": 1}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_probabilities_may_be_missing_on_them(tmp_path: Path, kind: str, batches: str) -> None:
    data = {
        "truth": [0, None, 1, 0, 0, 1],
        "attempted": [1, 0, 1, 1, 1, 0],
        "p0": [0.9, None, 0.6, 0.7, 0.8, None],
        "p1": [0.1, None, 0.4, 0.3, 0.2, None],
    }
    a = sf.assess(write(tmp_path, kind, data))
    assert (a.accuracy, a.not_attempted) == (0.75, 2)


def test_a_column_may_be_named(tmp_path: Path) -> None:
    data = columns(tried=[1, 0, 1, 1, 1, 0], correct=[1, 1, 0, 1, 1, 1])
    path = write(tmp_path, "csv", {name: data[name] for name in ("tried", "correct", "confidence")})
    assert sf.assess(path, attempted="tried", correct="correct", confidence="confidence").not_attempted == 2
    assert sf.load(path, attempted="tried").not_attempted == 2
    out = CliRunner().invoke(app, ["assess", str(path), "--attempted", "tried"]).output
    assert "4 rows of log.csv; 2 more were not attempted (33.3% of 6)" in out
    assert "attempted: tried" in out


def test_a_column_of_that_name_that_holds_counts_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, "csv", {"correct": [1, 0, 1], "confidence": [0.9, 0.6, 0.7], "attempted": [2, 3, 1]})
    a = sf.assess(path)
    assert (a.risk.n, a.not_attempted) == (3, 0)
    assert "attempted" not in a.columns
    with pytest.raises(InvalidPredictions, match=r"row 1: attempted is 2"):
        sf.assess(path, attempted="attempted")


def test_columns_that_were_named_are_all_that_counts(tmp_path: Path) -> None:
    data = {"correct": [1, 0, 1], "confidence": [0.9, 0.6, 0.7], "attempted": [1, 0, 1]}
    assert sf.assess(write(tmp_path, "csv", data), correct="correct", confidence="confidence").not_attempted == 0


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_fourth_value_is_refused_with_its_row(tmp_path: Path, kind: str, batches: str) -> None:
    path = write(tmp_path, kind, columns(grade=[*GRADES[:3], "PARTIAL", *GRADES[4:]]))
    with pytest.raises(InvalidPredictions, match=r"log.*row 4: grade is 'PARTIAL'.*NOT_ATTEMPTED.*--drop-missing"):
        sf.assess(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_an_answer_needs_a_confidence(tmp_path: Path, kind: str, batches: str) -> None:
    path = write(tmp_path, kind, columns(confidence=[0.9, None, 0.6, 0.7, None, None]))
    with pytest.raises(InvalidPredictions, match=r"row 5: confidence is (null|missing)"):
        sf.assess(path)


def test_all_of_them(tmp_path: Path, batches: str) -> None:
    path = write(tmp_path, "csv", columns(grade=["N", "refused"] * 3))
    with pytest.raises(InvalidPredictions, match=r"log\.csv: none of the 6 rows was attempted"):
        sf.assess(path)


def test_rows_keep_their_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "csv", columns(id=list(range(10, 16))))
    out = CliRunner().invoke(app, ["assess", str(path), "--id", "id", "--json"]).output
    found = json.loads(out)
    assert [(one["row"], one["shown"]["id"]) for one in found["surprises"]] == [(2, "12")]
    assert (found["not_attempted"], found["share_not_attempted"]) == (2, pytest.approx(1 / 3))


def test_a_monitor_says_what_it_did_not_count(tmp_path: Path) -> None:
    path = write(tmp_path, "csv", columns(id=list(range(6))))
    out = CliRunner().invoke(app, ["monitor", str(path), "--state", str(tmp_path / "state"), "--id", "id"]).output
    assert "Not counted: 2 rows that were not attempted." in out
    monitor = sf.Monitor.load(tmp_path / "state")
    assert (monitor.rows, monitor.errors) == (4, 1)


def test_calibration_is_fitted_to_the_others(tmp_path: Path) -> None:
    data = {"correct": [1, 0, 1, None] * 20, "confidence": [0.9, 0.6, 0.7, None] * 20, "attempted": [1, 1, 1, 0] * 20}
    path = write(tmp_path, "csv", data)
    options = ["--truth", "correct", "--probabilities", "confidence", "--attempted", "attempted", "--method", "platt"]
    found = CliRunner().invoke(app, ["calibrate", "--fit", str(path), *options])
    assert found.exit_code == 0, found.output

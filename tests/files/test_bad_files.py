# ruff: noqa: E501 (the table of cases is wide)
"""Bad files: status 3, one line with file, row and value, and nothing written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

import surefoot as sf
from surefoot.cli import run

Write = Callable[[pa.Table, str, Path], object]


def line(text: str, number: int, instead: str) -> str:
    """The text with a row, counted from 1 after the header, replaced."""
    lines = text.split("\n")
    lines[number] = instead
    return "\n".join(lines)


CASES: dict[str, tuple[Write, tuple[str, ...]]] = {
    "cut.parquet": (lambda t, s, p: (pq.write_table(t, p), p.write_bytes(p.read_bytes()[:3000])), ("truncated Parquet",)),
    "nofooter.parquet": (lambda t, s, p: (pq.write_table(t, p), p.write_bytes(p.read_bytes()[:-8])), ("truncated",)),
    "words.parquet": (lambda t, s, p: p.write_text("hello"), ("Parquet",)),
    "cut.csv.gz": (lambda t, s, p: p.write_bytes(gzip.compress(s.encode())[:-300]), ("truncated",)),
    "cut.csv.zst": (lambda t, s, p: p.write_bytes(zstandard.compress(s.encode())[:-300]), ("truncated",)),
    "cut.feather": (lambda t, s, p: (pa.feather.write_feather(t, str(p)), p.write_bytes(p.read_bytes()[:900])), ("truncated",)),
    "cut.npz": (lambda t, s, p: (np.savez(p, a=np.ones(99)), p.write_bytes(p.read_bytes()[:-50])), ("NumPy archive",)),
    "pickled.npz": (lambda t, s, p: np.savez(p, a=np.array([{}, []], dtype=object)), ("plain arrays",)),
    "cut.jsonl": (lambda t, s, p: p.write_text('{"correct":true,"confidence":0.9}\n{"correct":tr'), ("row 2", "cut off")),
    "list.jsonl": (lambda t, s, p: p.write_text("[1, 2]\n"), ("row 1", "no JSON object")),
    "one wrong delimiter.csv": (lambda t, s, p: p.write_text(line(s, 77, "1;0;0.5;north")), ("row 77", "1;0;0.5;north")),
    "word.csv": (lambda t, s, p: p.write_text(line(s, 77, "1,0,abc,north")), ("row 77", "confidence is 'abc'")),
    "no value.csv": (lambda t, s, p: p.write_text(line(s, 77, "1,0,,north")), ("row 77", "confidence")),
    "nan.csv": (lambda t, s, p: p.write_text(line(s, 77, "1,0,nan,north")), ("row 77", "nan")),
    "inf.csv": (lambda t, s, p: p.write_text(line(s, 77, "1,0,inf,north")), ("row 77", "inf")),
    "mixed labels.csv": (lambda t, s, p: p.write_text(line(s, 77, "cat,0,0.5,north")), ("row 77", "label is 'cat'")),
    "short line.csv": (lambda t, s, p: p.write_text(line(s, 77, "1,0")), ("row 77", "2 columns instead of 4", "1,0")),
    "negative.parquet": (
        lambda t, s, p: pq.write_table(pa.table({"correct": [True, False], "confidence": [0.5, -0.25]}), p),
        ("row 2", "-0.25"),
    ),
    "null.parquet": (
        lambda t, s, p: pq.write_table(pa.table({"correct": [True, None], "confidence": [0.5, 0.25]}), p),
        ("row 2", "correct"),
    ),
    "sums.csv": (lambda t, s, p: p.write_text("truth,p_0,p_1\n0,0.5,0.5\n1,0.9,0.9\n"), ("row 2",)),
    "nothing.npz": (lambda t, s, p: np.savez(p, a=np.zeros((2, 2, 2))), ("no arrays of one or two dimensions",)),
    "empty.csv": (lambda t, s, p: p.write_text(""), ("empty",)),
    "header.csv": (lambda t, s, p: p.write_text("correct,confidence\n"), ("no rows",)),
    "binary.csv": (lambda t, s, p: p.write_bytes(b"correct,confidence\n1,0.5\n\xff\xfe\x00,0.5\n"), ("binary.csv",)),
    "damaged.tally": (lambda t, s, p: p.write_text('{"surefoot":"tally","schema":1}'), ("damaged",)),
    "no folder.parquet/x.parquet": (lambda t, s, p: None, ("no such file",)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CASES))
def test_bad_files(name: str, rows: pa.Table, text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    write, said = CASES[name]
    write(rows, text, path)
    outputs = [tmp_path / "out.html", tmp_path / "out.tally"]
    status = run(["assess", str(path), "--html", str(outputs[0]), "--save-tally", str(outputs[1])])
    captured = capfd.readouterr()
    assert status == 3, captured.err
    assert captured.out == ""
    errors = captured.err.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith("error: ")
    assert path.name in errors[0]
    for words in said:
        assert words in errors[0]
    assert not any(output.exists() for output in outputs)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_one_bad_row_in_a_million(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    n, bad = 1_000_000, 831_206
    confidence = np.full(n, 0.75)
    if kind == "parquet":
        confidence[bad] = 1.5
        pq.write_table(pa.table({"correct": np.ones(n, dtype=bool), "confidence": confidence}), tmp_path / "a.parquet")
    elif kind == "csv":
        lines = ["1,0.75"] * n
        lines[bad] = "1,1.5"
        (tmp_path / "a.csv").write_text("correct,confidence\n" + "\n".join(lines) + "\n")
    else:
        lines = ['{"correct":true,"confidence":0.75}'] * n
        lines[bad] = '{"correct":true,"confidence":1.5}'
        (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    assert run(["assess", str(tmp_path / f"a.{kind}")]) == 3
    error = capfd.readouterr().err
    assert f"a.{kind}, row 831,207: " in error
    assert "1.5" in error


def test_the_file_of_a_folder_is_named(rows: pa.Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pq.write_table(rows, tmp_path / "1.parquet")
    bad = np.full(10, 0.5)
    bad[6] = 7
    pq.write_table(rows.slice(0, 10).set_column(2, "confidence", pa.array(bad)), tmp_path / "2.parquet")
    assert run(["assess", str(tmp_path)]) == 3
    assert "2.parquet, row 7: confidence is 7" in capfd.readouterr().err


def test_files_that_do_not_belong_together(
    rows: pa.Table, text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    pq.write_table(rows, folder / "1.parquet")
    pq.write_table(rows.drop_columns(["pred"]), folder / "2.parquet")
    assert run(["assess", str(folder)]) == 3
    assert "2.parquet: it has no column 'pred'" in capfd.readouterr().err
    (folder / "3.csv").write_text(text)
    assert run(["assess", str(folder)]) == 3
    assert "files of several kinds (csv, parquet)" in capfd.readouterr().err


def test_the_kind_of_a_label_is_settled_by_the_first_rows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefoot.files.streams._FIRST", 200)
    monkeypatch.setattr("surefoot.files.streams._PIECE", 200)
    rows = ["1,1,0.75"] * 100
    rows[88] = "one,1,0.75"
    (tmp_path / "a.csv").write_text("truth,predicted,confidence\n" + "\n".join(rows) + "\n")
    assert run(["assess", str(tmp_path / "a.csv")]) == 3
    assert "a.csv, row 89: truth is 'one', but the first rows hold whole numbers" in capfd.readouterr().err


def test_json_lines_of_two_kinds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [{"truth": 1, "predicted": 1, "confidence": 0.5}] * 3000 + [
        {"truth": "x", "predicted": 1, "confidence": 0.5}
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["assess", str(tmp_path / "a.jsonl")]) == 3
    assert "row 3,001: truth is 'x'" in capfd.readouterr().err


def test_lines_that_end_in_carriage_returns_alone_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"correct,confidence\r1,0.9\r0,0.6\r")
    with pytest.raises(sf.InvalidPredictions, match=r"carriage returns alone.*; save it with usual line breaks.*tr "):
        sf.load(tmp_path / "a.csv")


@pytest.mark.parametrize("header", ["label,prob", "correct,confidence", "label,p_0,p_1", "label,logit_0,logit_1"])
def test_a_repeated_header_is_named(header: str, tmp_path: Path) -> None:
    row = ",".join(["1", "0.1", "0.9"][: header.count(",") + 1])
    (tmp_path / "a.csv").write_text(f"{header}\n{row}\n{header}\n{row}\n")
    with pytest.raises(sf.InvalidPredictions, match=r"row 2: \w+ is '\w+', which repeats the names of the columns"):
        sf.load(tmp_path / "a.csv")

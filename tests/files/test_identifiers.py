"""Ids, groups and slices are text to the character: none that differs from another is taken for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import openpyxl
import pyarrow as pa
import pyarrow.csv
import pytest

import surefoot as sf
from surefoot.files import reading
from surefoot.files.features import read_features

#: Values that a column of numbers would make the same.
NAMES = ["1.1", "1.10", "007", "7", "1e5", "100000", "12345678901234567890", "12345678901234567891", "0e400", "0e500"]
RISING = ["0e400", "0e500", "1.1", "1.10", "007", "7", "100000", "1e5", *NAMES[6:8]]


def write(path: Path, names: list[str] = NAMES) -> str:
    lines = "".join(f"{name},{int(i % 3 > 0)},0.{70 + i}\n" for i, name in enumerate(names * 3))
    path.write_text(f"id,correct,confidence\n{lines}")
    return str(path)


def test_slices_of_a_text_file_are_named_as_they_are_written(tmp_path: Path) -> None:
    found = sf.assess(write(tmp_path / "a.csv"), by="id")
    # equal numbers are in the order of their text
    assert [part.value for part in found.slices] == RISING
    assert [part.risk.n for part in found.slices] == [3] * len(NAMES)


def test_slices_of_a_large_file_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.files.reader.MOST_ROWS", 5)
    found = sf.assess(write(tmp_path / "a.csv"), by="id")
    assert found.predictions is None
    assert [part.value for part in found.slices] == RISING


@pytest.mark.parametrize("is_large", [False, True])
def test_slices_that_are_all_whole_numbers_are_numbers(
    is_large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other text stands for such a number, so nothing is lost; a policy takes numbers, and earlier tallies add."""
    if is_large:
        monkeypatch.setattr("surefoot.files.reader.MOST_ROWS", 3)
    path = tmp_path / "a.csv"
    rows = "".join(f"{i % 2},0.9,{value}\n" for i, value in enumerate([10, 9, -1, 0] * 3))
    path.write_text("correct,confidence,ward\n" + rows)
    assert [part.value for part in sf.assess(path, by="ward").slices] == [-1, 0, 9, 10]
    path.write_text("correct,confidence,ward\n" + rows + "1,0.9,09\n")
    assert [part.value for part in sf.assess(path, by="ward").slices] == ["-1", "0", "09", "9", "10"]


def test_slices_that_are_not_all_numbers_are_in_the_order_of_text(tmp_path: Path) -> None:
    found = sf.assess(write(tmp_path / "a.csv", ["10", "9", "b"]), by="id")
    assert [part.value for part in found.slices] == ["10", "9", "b"]
    found = sf.assess(write(tmp_path / "a.csv", ["nan", "10", "9"]), by="id")
    assert [part.value for part in found.slices] == ["9", "10", "nan"]


@pytest.mark.parametrize("folder", ["", "day=1"])
def test_groups_of_a_text_file_are_kept_apart(folder: str, tmp_path: Path) -> None:
    (tmp_path / "rows" / folder).mkdir(parents=True)
    write(tmp_path / "rows" / folder / "a.csv")
    held = reading.read(str(tmp_path / "rows"), {}, group="id")
    assert sorted(set(held.groups.tolist())) == sorted(NAMES)


def test_groups_of_json_lines_are_kept_apart(tmp_path: Path) -> None:
    rows = [{"id": value, "correct": True, "confidence": 0.9} for value in (2**53 + 1, 2**53, 0.5, "007", "7", 2**70)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    held = reading.read(str(tmp_path / "a.jsonl"), {}, group="id")
    assert held.groups.tolist() == [str(row["id"]) for row in rows]


def test_a_search_takes_for_numbers_what_is_safely_a_number(tmp_path: Path) -> None:
    columns = {"postcode": ["01234", "1234"], "id": ["1234567890123456", "1234567890123457"], "size": ["1.50", "15"]}
    table = pa.table({**columns, "signed": ["-07", "7"], "correct": [1, 0], "confidence": [0.9, 0.8]})
    pa.csv.write_csv(table, tmp_path / "a.csv", pa.csv.WriteOptions(quoting_style="none"))
    found = read_features(str(tmp_path / "a.csv"), {}).frame
    assert found.column("size").to_pylist() == [1.5, 15]
    for name in ("postcode", "id"):
        assert found.column(name).to_pylist() == columns[name]
    assert found.column("signed").to_pylist() == ["-07", "7"]


def test_a_whole_number_that_a_float_column_has_rounded_is_no_label(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("truth,predicted,confidence\n9007199254740993,9007199254740992,0.9\n1.0,1,0.8\n")
    with pytest.raises(sf.InvalidPredictions, match=r"row 1: truth is 9007199254740992.0, which is no label"):
        sf.load(tmp_path / "a.csv")


IDS = [2**53 + 1, 2**53, 0.5, 7, 7.0, -(2**53) - 1]
AS_TEXT = ["9007199254740993", "9007199254740992", "0.5", "7", "7", "-9007199254740993"]


def _excel(path: Path, ids: list[object]) -> str:
    book = openpyxl.Workbook()
    for row in (["id", "correct", "confidence"], *([1000 + i, 1, 0.9] for i in range(len(ids)))):
        book.active.append(row)
    book.save(path / "b.xlsx")
    # openpyxl would write floats
    with ZipFile(path / "b.xlsx") as held, ZipFile(path / "a.xlsx", "w") as written:
        for name in held.namelist():
            text = held.read(name).decode()
            for i, one in enumerate(ids):
                text = text.replace(f"<v>{1000 + i}</v>", f"<v>{one}</v>")
            written.writestr(name, text)
    return str(path / "a.xlsx")


def _sqlite(path: Path, ids: list[object]) -> str:
    with closing(sqlite3.connect(path / "a.db")) as connection, connection:
        connection.execute("create table runs (id, correct integer, confidence real)")
        connection.executemany("insert into runs values (?, 1, 0.9)", [(one,) for one in ids])
    return str(path / "a.db")


@pytest.mark.parametrize("write", [_excel, _sqlite])
@pytest.mark.parametrize("size", [1, 2, 1 << 17])
def test_large_ids_beside_a_float_are_kept_apart(
    write: Callable[..., str], size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefoot.files.databases._ROWS", size)
    path = write(tmp_path, IDS)
    assert [one for _, ids, _ in reading.follow(path, {}, identifier="id", delimiter=None) for one in ids] == AS_TEXT
    assert reading.read(path, {}, group="id").groups.tolist() == AS_TEXT
    (tmp_path / "whole").mkdir()
    assert reading.read(write(tmp_path / "whole", [2**60, 2**60 + 1, 7]), {}, group="id").groups.dtype == "int64"

"""Labels of one column are of one kind, in formats that give each value a type of its own: true is not 1, nor text."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import openpyxl
import pytest

import surefoot as sf

COLUMNS = ("truth", "predicted", "confidence")


def _json_lines(path: Path, rows: list[tuple[Any, ...]]) -> str:
    path = path / "a.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows))
    return str(path)


def _json(path: Path, rows: list[tuple[Any, ...]]) -> str:
    path = path / "a.json"
    path.write_text(json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in rows]))
    return str(path)


def _sqlite(path: Path, rows: list[tuple[Any, ...]]) -> str:
    path = path / "a.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table runs (truth, predicted, confidence real)")
        connection.executemany("insert into runs values (?, ?, ?)", rows)
    return str(path)


def _excel(path: Path, rows: list[tuple[Any, ...]]) -> str:
    path = path / "a.xlsx"
    book = openpyxl.Workbook()
    for row in (COLUMNS, *rows):
        book.active.append(row)
    book.save(path)
    return str(path)


WRITERS = [_json_lines, _json, _sqlite, _excel]
MIXED = [
    (True, 1, "true or false", "a number"),
    (True, "true", "true or false", "text"),
    (1, "1", "a number", "text"),
    (1.0, "1.0", "a number", "text"),
    ("x", 7, "text", "a number"),
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("column", ["truth", "predicted"])
@pytest.mark.parametrize(("one", "other", "kind", "another"), MIXED)
def test_kinds_are_never_mixed(
    write: Callable[..., str], column: str, one: Any, other: Any, kind: str, another: str, tmp_path: Path
) -> None:
    if write is _sqlite and isinstance(one, bool):
        # SQLite has no truth values, only 0 and 1
        one, kind = int(one), "a number"
        if other == 1:
            assert len(sf.load(write(tmp_path, [(one, one, 0.9), (other, other, 0.8)]))) == 2
            return
    place = COLUMNS.index(column)
    rows = [(*(value if i == place else one for i in range(2)), 0.9) for value in (one, one, other)]
    with pytest.raises(sf.InvalidPredictions) as found:
        sf.load(write(tmp_path, rows))
    assert f"row 3: {column} is {other!r}, which is {another}, but row 1 holds" in str(found.value)
    assert f"which is {kind}; labels of one column are of one kind" in str(found.value)


@pytest.mark.parametrize("write", WRITERS)
def test_whole_floats_are_whole_numbers_and_what_is_missing_has_no_kind(
    write: Callable[..., str], tmp_path: Path
) -> None:
    rows = [(1, 1.0, 0.9), (1.0, 1, 0.8), (0, 1, 0.7)]
    assert sf.load(write(tmp_path, rows)).correct.tolist() == [True, True, False]
    (tmp_path / "more").mkdir()
    rows = [("a", "a", 0.9), (None, "b", 0.8), ("c", "c", 0.7)]
    with pytest.raises(sf.InvalidPredictions, match="row 2: truth is missing"):
        sf.load(write(tmp_path / "more", rows))


def test_a_later_piece_of_a_large_file_is_held_to_the_kind_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefoot.files.streams._FIRST", 200)
    monkeypatch.setattr("surefoot.files.streams._PIECE", 200)
    path = _json_lines(tmp_path, [("a", "a", 0.9)] * 20 + [(1, 1, 0.9)] * 20)
    with pytest.raises(sf.InvalidPredictions, match="row 21: truth is 1, which is a number, but row 1 holds 'a'"):
        sf.load(path)


def test_a_later_batch_of_a_large_table_is_held_to_the_kind_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surefoot.files.databases._ROWS", 20)
    path = _sqlite(tmp_path, [("a", "a", 0.9)] * 20 + [(1, 1, 0.9)] * 20)
    with pytest.raises(sf.InvalidPredictions, match="row 21: truth is 1, which is a number, but row 1 holds 'a'"):
        sf.load(path)


def test_labels_that_only_spaces_or_capitals_tell_apart_are_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("truth,predicted,confidence\ncat,cat ,0.9\ndog,dog,0.8\n")
    found = sf.assess(path)
    # results take labels to the character
    assert found["accuracy"] == 0.5
    assert "Labels 'cat' and 'cat ' both occur; if they are one class, write them alike." in found.notes
    path.write_text("truth,predicted,confidence\ncat,Cat,0.9\ncat ,DOG,0.8\ndog,CAT,0.8\n")
    assert any(
        note.startswith("Labels 'CAT' and 'Cat' and 'cat' and 'cat '; 'DOG' and 'dog' all occur")
        for note in sf.assess(path).notes
    )
    path.write_text("truth,predicted,confidence\ncat,cat,0.9\ndog,dog,0.8\n")
    assert not any("occur" in note for note in sf.assess(path).notes)

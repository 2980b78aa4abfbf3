"""Excel workbooks, written by openpyxl and pandas, read like the arrays that they hold."""

from __future__ import annotations

import datetime
import random
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.errors import InvalidPredictions, MissingPackage
from surefoot.files import excel
from surefoot.files.excel import ExcelFile
from surefoot.files.finding import Ambiguous
from surefoot.files.source import BadFile


def write(path: Path, *rows: list[object], sheet: str = "data") -> str:
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    book.save(path)
    return str(path)


def column(path: str, name: str) -> list[object]:
    return ExcelFile(path, path).head().column(name).to_pylist()


def test_the_same_numbers_as_from_arrays(rows: pa.Table, tmp_path: Path) -> None:
    frame = rows.to_pandas()
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    found = sf.assess(str(tmp_path / "a.xlsx"), by="region")
    expected = sf.assess(frame["label"].to_numpy(), frame["pred"].to_numpy(), frame["confidence"].to_numpy())
    assert found.metrics == pytest.approx(expected.metrics, nan_ok=True)
    assert sorted(str(one.value) for one in found.slices) == ["north", "south"]
    assert len(sf.load(tmp_path / "a.xlsx")) == 500


def test_types_of_cells(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.xlsx",
        ["whole", "mixed", "flag", "day", "time", "text", "code", "none"],
        [1, 1, True, datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5), "0,85", 7, None],
        [2, 0.25, False, datetime.date(2024, 1, 3), datetime.datetime(2024, 1, 2), "85%", "x", None],
        [None, None, None, None, None, None, 2.5, None],
    )
    source = ExcelFile(path, path)
    assert [str(kind) for kind in source.schema.types] == [
        "int64", "double", "bool", "string", "string", "string", "string", "null",
    ]  # fmt: skip
    assert column(path, "whole") == [1, 2, None]
    assert column(path, "mixed") == [1.0, 0.25, None]
    assert column(path, "flag") == [True, False, None]
    assert column(path, "day") == ["2024-01-02", "2024-01-03", None]
    assert column(path, "time") == ["2024-01-02T03:04:05", "2024-01-02T00:00:00", None]
    assert column(path, "text") == ["0,85", "85%", None]
    assert column(path, "code") == ["7", "x", "2.5"]


def test_percent_formats_errors_and_empty_edges(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet["B3"], sheet["C3"], sheet["E3"] = "correct", "confidence", 2024
    for i, (hit, stated) in enumerate(((1, 0.85), (0, 0.5)), 4):
        sheet[f"B{i}"], sheet[f"C{i}"] = hit, stated
        sheet[f"C{i}"].number_format = "0%"
    sheet["E4"], sheet["E5"], sheet["D5"] = "#N/A", "#DIV/0!", "beside"
    sheet["C9"].number_format = "0%"
    book.save(tmp_path / "a.xlsx")
    source = ExcelFile("a", str(tmp_path / "a.xlsx"))
    assert source.head().to_pydict() == {
        "correct": [1, 0],
        "confidence": [0.85, 0.5],
        "column D": [None, "beside"],
        "2024": [None, None],
    }


def test_whole_confidences_are_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", ["correct", "confidence"], [1, 1], [0, 0], [1, 1])
    assert sf.load(path, percent=False).confidence.tolist() == [1.0, 0.0, 1.0]


def test_sheets(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "book.xlsx"
    good = pd.DataFrame({"correct": [1, 0, 1, 1], "confidence": [0.9, 0.6, 0.7, 0.8]})
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"about": []}).to_excel(writer, sheet_name="notes", index=False)
        good.to_excel(writer, sheet_name="may", index=False)
    assert len(sf.load(path)) == 4
    with pd.ExcelWriter(path, mode="a") as writer:
        good.head(3).to_excel(writer, sheet_name="june", index=False)
    assert run(["assess", str(path)]) == 2
    assert "sheets with rows: 'may', 'june'; choose one with --sheet NAME" in capfd.readouterr().err
    assert run(["assess", str(path), "--sheet", "june", "--json"]) == 0
    assert '"rows": 3' in (out := capfd.readouterr().out) or '"n": 3' in out
    assert len(sf.load(path, sheet="june")) == 3
    with pytest.raises(Ambiguous, match="no sheet 'July'; the sheets are 'notes', 'may', 'june'"):
        sf.load(path, sheet="July")
    (tmp_path / "a.csv").write_text("correct,confidence\n1,0.9\n")
    with pytest.raises(Ambiguous, match="--sheet names a sheet of an Excel workbook"):
        sf.load(tmp_path / "a.csv", sheet="x")


def test_the_command_that_follows_names_the_sheet(tmp_path: Path) -> None:
    from surefoot.files.part import Part
    from surefoot.files.reading import read

    path = write(tmp_path / "a.xlsx", ["correct", "confidence"], *[[i % 2, 0.75] for i in range(50)], sheet="may 1")
    reading = read(path, {}, part=Part(sheet="may 1"))
    assert reading.options[-2:] == ("--sheet", "may 1")


@pytest.mark.parametrize(
    ("rows", "said"),
    [([[]], "empty"), ([["correct", "confidence"]], "no rows"), ([["a", "a"], [1, 2]], "two columns are called 'a'")],
)
def test_sheets_without_rows(rows: list[list[object]], said: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", *rows)
    with pytest.raises(BadFile, match=said):
        ExcelFile(path, path)


def test_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>" + b" " * (80 << 20))
    with pytest.raises(BadFile, match="would unpack to 80 MiB"):
        sf.load(path)
    path = Path(write(tmp_path / "small.xlsx", ["correct", "confidence"], [1, 0.5]))
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    monkeypatch.setattr(excel, "_MOST", unpacked)
    assert len(sf.load(path)) == 1
    monkeypatch.setattr(excel, "_MOST", unpacked - 1)
    with pytest.raises(BadFile, match="too much for a workbook"):
        sf.load(path)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", ["correct", "confidence"], [1, 0.5])
    _replace(Path(path), "xl/worksheets/sheet1.xml", b'<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>')
    with pytest.raises(BadFile, match="document type"):
        sf.load(path)


def test_a_row_far_below_does_not_hang(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xlsx", ["correct", "confidence"], [1, 0.5])
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    _replace(Path(path), "xl/worksheets/sheet1.xml", sheet.replace(b'<row r="2"', b'<row r="999999999999"'))
    with pytest.raises(BadFile, match="more rows than a sheet can have"):
        sf.load(path)


def _replace(path: Path, member: str, content: bytes) -> None:
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, old in held.items():
            archive.writestr(name, content if name == member else old)


def test_damaged_workbooks(rows: pa.Table, tmp_path: Path) -> None:
    rows.to_pandas().head(60).to_excel(tmp_path / "a.xlsx", index=False)
    whole = (tmp_path / "a.xlsx").read_bytes()
    rng = random.Random(0)
    broken = [whole[: rng.randrange(len(whole))] for _ in range(30)]
    for _ in range(200):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        broken.append(bytes(changed))
    path = tmp_path / "damaged.xlsx"
    refused = 0
    for content in broken:
        path.write_bytes(content)
        try:
            sf.load(path)
        except InvalidPredictions as error:
            refused += 1
            assert "damaged.xlsx" in str(error)
    assert refused > 100


def test_without_openpyxl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.xlsx", ["correct", "confidence"], [1, 0.5])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingPackage, match=r"pip install 'surefoot\[excel\]'"):
        sf.load(path)


def test_probabilities_that_were_rounded_for_show(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = np.round(rng.dirichlet(np.ones(7), 50), 2)
    frame = pd.DataFrame(table, columns=[f"p_{i}" for i in range(7)])
    frame.insert(0, "label", np.arange(50) % 7)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_csv(tmp_path / "a.csv", index=False)
    found, expected = (sf.load(tmp_path / f"a.{kind}") for kind in ("xlsx", "csv"))
    assert found.confidence.tolist() == expected.confidence.tolist()


def test_cells_that_are_all_shown_as_100_percent_are_certain(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["correct", "confidence"], [1, 1], [1, 1], [0, 1]):
        book.active.append(row)
    for cell in book.active["B"][1:]:
        cell.number_format = "0%"
    book.save(tmp_path / "a.xlsx")
    assert sf.load(tmp_path / "a.xlsx").confidence.tolist() == [1, 1, 1]
    # without the sign it cannot be told
    for cell in book.active["B"][1:]:
        cell.number_format = "0"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(sf.InvalidPredictions, match="which could be 1% or 100%"):
        sf.load(tmp_path / "a.xlsx")

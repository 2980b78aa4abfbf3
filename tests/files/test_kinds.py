"""Files that are not read, or not what they are called: one line says what they look like and what to do."""

from __future__ import annotations

import gzip
import io
import pickle
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.cli import run


def zipped(**members: bytes) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return raw.getvalue()


def array() -> bytes:
    raw = io.BytesIO()
    np.save(raw, np.ones(3))
    return raw.getvalue()


DOCX = zipped(word__document_dot_xml=b"<x/>")
NOT_READ: dict[str, tuple[bytes, str]] = {
    "a.pdf": (b"%PDF-1.7\n%\xe2\xe3", "PDF document"),
    "b.csv": (b"%PDF-1.7\n%\xe2\xe3", "PDF document"),
    "a.png": (b"\x89PNG\r\n\x1a\n\x00\x00", "PNG picture"),
    "a.jpg": (b"\xff\xd8\xff\xe0\x00\x10JFIF", "JPEG picture"),
    "page.csv": (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page (HTML)"),
    "a.xml": (b"<?xml version='1.0'?><a/>", "XML"),
    "a.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "save it as .xlsx or CSV"),
    "a.xlsb": (zipped(xl__workbook_dot_bin=b"x"), "binary Excel workbook; save it as .xlsx or CSV"),
    "a.ods": (
        zipped(mimetype=b"application/vnd.oasis.opendocument.spreadsheet", content_dot_xml=b"<x/>"),
        "OpenDocument spreadsheet; save it as .xlsx or CSV",
    ),
    "a.docx": (DOCX, "Word document"),
    "b.xlsx": (DOCX, "Word document"),
    "a.zip": (zipped(inside_dot_csv=b"a,b\n1,2\n"), "zip archive (with inside.csv); unpack it"),
    "b.npz": (zipped(inside_dot_csv=b"a,b\n1,2\n"), "zip archive (with inside.csv); unpack it"),
    "c.xlsx": (zipped(inside_dot_csv=b"a,b\n1,2\n"), "zip archive (with inside.csv); unpack it"),
    "cut.zip": (zipped(inside_dot_csv=b"a,b\n1,2\n")[:30], "cut off or damaged"),
    "a.pkl": (pickle.dumps([1, 2], protocol=4), "pickled Python objects, which may run code when loaded"),
    "b.pkl": (pickle.dumps([1, 2], protocol=0), "pickled Python objects"),
    "a.joblib": (b"\x80\x05\x95\x00\x00", "pickled Python objects"),
    "a.pt": (zipped(model__data_dot_pkl=b"\x80\x02."), "PyTorch file"),
    "a.h5": (b"\x89HDF\r\n\x1a\n" + bytes(20), "HDF5"),
    "a.mat": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(90), "MATLAB"),
    "a.npy": (array(), "numpy.savez"),
    "a.rds": (gzip.compress(b"X\n\x00\x00\x00\x03" + bytes(30)), "R object (.rds)"),
    "a.RData": (gzip.compress(b"RDX3\nX\n" + bytes(30)), "R workspace"),
    "a.sas7bdat": (bytes(12) + b"\xc2\xea\x81\x60\xb3\x14", "SAS data set"),
    "a.dta": (b"<stata_dta><header>", "Stata file"),
    "b.dta": (b"\x72\x02\x01\x00" + bytes(50), "Stata file"),
    "a.sav": (b"$FL2@(#) SPSS DATA FILE", "SPSS file"),
    "a.avro": (b"Obj\x01\x04\x14", "Avro"),
    "pointer.parquet": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
    "noise.bin": (bytes(range(256)), "no text, and no format that is read"),
}


@pytest.mark.parametrize("name", list(NOT_READ))
def test_what_is_not_read(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content, said = NOT_READ[name]
    path = tmp_path / name
    path.write_bytes(content)
    assert run(["assess", str(path)]) == 3
    captured = capfd.readouterr()
    (error,) = captured.err.splitlines()
    assert said in error
    assert name in error
    assert captured.out == ""


def test_real_files_of_statistics_packages(tmp_path: Path) -> None:
    frame = pd.DataFrame({"correct": [1, 0], "confidence": [0.5, 0.6]})
    frame.to_stata(tmp_path / "a.dta", version=114)
    frame.to_stata(tmp_path / "b.dta", version=118)
    for name in ("a.dta", "b.dta"):
        with pytest.raises(sf.InvalidPredictions, match="Stata file"):
            sf.load(tmp_path / name)


MISNAMED = {
    "parquet": ("it is a Parquet file; rename it to x.parquet", lambda t, p: pq.write_table(t, p)),
    "arrow": ("it is an Arrow file; rename it to x.arrow", lambda t, p: pa.feather.write_feather(t, str(p))),
    "npz": ("it is a NumPy archive; rename it to x.npz", lambda t, p: np.savez(p.open("wb"), a=np.ones(3))),
    "xlsx": (
        "it is an Excel workbook; rename it to x.xlsx",
        lambda t, p: t.to_pandas().to_excel(p.open("wb"), index=False),
    ),
    "sqlite": ("it is a SQLite database; rename it to x.sqlite", lambda t, p: _sqlite(p)),
    "json": ("it is JSON; rename it to x.jsonl", lambda t, p: p.write_text('{"correct": 1, "confidence": 0.5}\n')),
}


def _sqlite(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table a (correct integer, confidence real)")
    connection.close()


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("kind", list(MISNAMED))
def test_a_name_that_contradicts_the_content(
    kind: str, rows: pa.Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    said, write = MISNAMED[kind]
    path = tmp_path / "x.csv"
    write(rows, path)
    assert run(["assess", str(path)]) == 3
    assert capfd.readouterr().err.rstrip().endswith(f"x.csv: {said}")


@pytest.mark.parametrize("text", ['[{"correct": 1, "confidence": 0.5}]', '[\n  {"correct": 1}\n]\n'])
def test_an_array_of_objects_called_csv(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(sf.InvalidPredictions, match=r"it is JSON; rename it to x\.jsonl"):
        sf.load(tmp_path / "x.csv")


def test_text_called_a_database(text: str, tmp_path: Path) -> None:
    """It used to be told that the file is not a database."""
    (tmp_path / "x.db").write_text(text)
    with pytest.raises(sf.InvalidPredictions, match=r"it is CSV text; rename it to x\.csv"):
        sf.load(tmp_path / "x.db")


def test_text_called_json(text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text(text)
    assert run(["assess", str(tmp_path / "x.json")]) == 3
    assert "it is CSV text; rename it to x.csv" in capfd.readouterr().err


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_what_is_read_without_a_suffix_or_packed(rows: pa.Table, text: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(gzip.compress(text.encode()))
    assert len(sf.load(tmp_path / "x.csv")) == 500
    for kind in ("parquet", "arrow", "xlsx"):
        MISNAMED[kind][1](rows, tmp_path / kind)
        assert len(sf.load(tmp_path / kind)) == 500
    (tmp_path / "y.xlsx.gz").write_bytes(gzip.compress((tmp_path / "xlsx").read_bytes()))
    assert len(sf.load(tmp_path / "y.xlsx.gz")) == 500


def test_no_pickle_is_loaded(tmp_path: Path) -> None:
    class Mark:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (tmp_path / "ran",)

    (tmp_path / "a.pkl").write_bytes(pickle.dumps(Mark()))
    with pytest.raises(sf.InvalidPredictions):
        sf.load(tmp_path / "a.pkl")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "npz", "xlsx", "sqlite", "duckdb", "eval"])
@pytest.mark.parametrize(
    ("content", "words", "instead"),
    [
        (b"correct,confidence\n1,0.9\n", "CSV text", "a.csv"),
        ("\ufeffcorrect;confidence\n1;0,9\n".encode("utf-16"), "CSV text", "a.csv"),
        (b'{"correct": true, "confidence": 0.9}\n', "JSON", "a.jsonl"),
    ],
)
def test_text_called_otherwise_is_told(suffix: str, content: bytes, words: str, instead: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    with pytest.raises(sf.InvalidPredictions, match=f"it is {words}; rename it to {instead}"):
        sf.load(path)

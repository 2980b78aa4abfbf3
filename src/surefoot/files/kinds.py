"""What a file looks like by its first bytes, and what to do with one that is not read."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import PurePath
from typing import IO, Any

from surefoot._io.printable import printable
from surefoot.files.source import BadFile

SQLITE, DUCK = b"SQLite format 3\x00", b"DUCK"
#: What is read, in words, and the suffix that says so.
READABLE = {
    "parquet": ("a Parquet file", ".parquet"),
    "arrow": ("an Arrow file", ".arrow"),
    "npz": ("a NumPy archive", ".npz"),
    "xlsx": ("an Excel workbook", ".xlsx"),
    "sqlite": ("a SQLite database", ".sqlite"),
    "duckdb": ("a DuckDB database", ".duckdb"),
    "inspect": ("a log of Inspect AI", ".eval"),
    "jsonl": ("JSON", ".jsonl"),
    "csv": ("CSV text", ".csv"),
}
#: Kinds that are never text.
_NO_TEXT = ("parquet", "arrow", "npz", "xlsx", "sqlite", "duckdb", "inspect")
_TABLE = "save it as .xlsx or CSV"
_FRAME = "load it there and save the predictions as CSV or Parquet"
_PICKLE = "pickled Python objects, which may run code when loaded, so it is not read; save arrays with numpy.savez"
_ARRAY = "a single NumPy array; save all columns in one file: numpy.savez('x.npz', label=..., confidence=...)"
#: First bytes, and what they tell; none of them begins a text.
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF document; export the table as CSV"),
    (b"\x89PNG\r\n", "a PNG picture; there are no rows in it"),
    (b"\xff\xd8\xff", "a JPEG picture; there are no rows in it"),
    (b"GIF87a", "a GIF picture; there are no rows in it"),
    (b"GIF89a", "a GIF picture; there are no rows in it"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", f"an old Office file, such as an .xls workbook; {_TABLE}"),
    (b"MATLAB 5.0 MAT-file", f"a MATLAB file; {_FRAME}"),
    (b"MATLAB 7.3 MAT-file", f"a MATLAB file; {_FRAME}"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file; save the predictions as Parquet or CSV"),
    (b"\x93NUMPY", _ARRAY),
    (b"RDX2\n", "an R workspace (.RData); save the data frame with write.csv"),
    (b"RDX3\n", "an R workspace (.RData); save the data frame with write.csv"),
    (b"X\n\x00\x00\x00", "an R object (.rds); save the data frame with write.csv"),
    (b"$FL2", f"an SPSS file; {_FRAME}"),
    (b"$FL3", f"an SPSS file; {_FRAME}"),
    (b"<stata_dta>", f"a Stata file; {_FRAME}"),
    (b"HEADER RECORD*******LIB", f"a SAS transport file; {_FRAME}"),
    (b"\x00" * 12 + b"\xc2\xea\x81\x60", f"a SAS data set; {_FRAME}"),
    (b"Obj\x01", "an Avro file; convert it to Parquet"),
    (b"FEA1", "a Feather file of version 1; save it as version 2, or as Parquet"),
    (b"ORC\x0a", "an ORC file; convert it to Parquet"),
    (b"ORC\x08", "an ORC file; convert it to Parquet"),
    (b"BZh91AY&SY", "packed with bzip2; unpack it, or pack it with gzip or zstd"),
    (b"\xfd7zXZ\x00", "packed with xz; unpack it, or pack it with gzip or zstd"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it and give the file in it"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it and give the file in it"),
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the data; fetch them with: git lfs pull"),
    (b"{\\rtf", "a text document (RTF); export the table as CSV"),
)
#: Endings of names that tell, where first bytes do not.
_SUFFIXES = {
    ".xls": f"an old Excel workbook; {_TABLE}",
    ".xlsb": f"a binary Excel workbook; {_TABLE}",
    ".ods": f"an OpenDocument spreadsheet; {_TABLE}",
    ".pkl": _PICKLE,
    ".pickle": _PICKLE,
    ".joblib": _PICKLE,
    ".pt": f"a PyTorch file: {_PICKLE}",
    ".pth": f"a PyTorch file: {_PICKLE}",
    ".dta": f"a Stata file; {_FRAME}",
    ".sav": f"an SPSS file; {_FRAME}",
    ".sas7bdat": f"a SAS data set; {_FRAME}",
    ".mat": f"a MATLAB file; {_FRAME}",
    ".rds": "an R object (.rds); save the data frame with write.csv",
    ".rdata": "an R workspace (.RData); save the data frame with write.csv",
    ".npy": _ARRAY,
    ".h5": "an HDF5 file; save the predictions as Parquet or CSV",
    ".hdf5": "an HDF5 file; save the predictions as Parquet or CSV",
    ".onnx": "a model; give a file of its predictions",
    ".safetensors": "a file of tensors; give a file of predictions",
    ".orc": "an ORC file; convert it to Parquet",
    ".avro": "an Avro file; convert it to Parquet",
}


def kind_of_file(name: str, start: bytes, told: str | None, open_it: Callable[[], Any]) -> str | None:
    """The kind of a file that is read, or None where its first bytes do not tell; raise for what is not read.

    ``told`` is the kind that its suffix stands for: it must not contradict what the file is.
    """
    found = _found(name, start, told, open_it)
    if found is None and told is None:
        suffix = PurePath(name).suffix.lower()
        if suffix in _SUFFIXES and (_is_binary(start) or suffix in (".pkl", ".pickle")):
            raise BadFile(f"this looks like {_SUFFIXES[suffix]}", file=name)
        if _is_binary(start):
            raise BadFile(
                "this is no text, and no format that is read: CSV, TSV, JSON lines, Parquet, Arrow, NPZ, Excel, "
                "SQLite, DuckDB or a saved tally",
                file=name,
            )
    if found is not None and told is not None and found != told:
        words, suffix = READABLE[found]
        path = PurePath(name)
        stem = path.name.removesuffix("".join(path.suffixes[-1:]))
        raise BadFile(f"it is {words}; rename it to {printable(stem + suffix)}", file=name)
    return found


def _found(name: str, start: bytes, told: str | None, open_it: Callable[[], Any]) -> str | None:
    for kind, magic in (("parquet", b"PAR1"), ("arrow", b"ARROW1"), ("sqlite", SQLITE)):
        if start.startswith(magic):
            return kind
    if start[8:12] == DUCK:
        return "duckdb"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(name, told, open_it)
    for magic, words in _STARTS:
        if start.startswith(magic):
            raise BadFile(f"this looks like {words}", file=name)
    if start[:1] == b"\x80" and start[1:2] in b"\x02\x03\x04\x05" and len(start) > 1:
        raise BadFile(f"this looks like {_PICKLE}", file=name)
    if start[257:262] == b"ustar":
        raise BadFile("this looks like a tar archive; unpack it and give the file in it", file=name)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start.decode("utf-16", "ignore").encode("utf-8", "ignore")
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:64].lower().startswith((b"<!doctype html", b"<html")):
        raise BadFile(
            "this looks like a web page (HTML), perhaps of a failed download; save the table as CSV", file=name
        )
    if text.startswith(b"<?xml"):
        raise BadFile("this looks like XML; save the table as CSV", file=name)
    if told in ("csv", "tsv") and re.match(rb'\{\s*"|\[\s*\{', text):
        return "jsonl"
    line = text.partition(b"\n")[0]
    if told in _NO_TEXT and text and not _is_binary(start):
        return "jsonl" if text[:1] in b"{[" else "csv" if any(mark in line for mark in b",;\t|") else None
    if told == "jsonl" and text and text[:1] not in b"{[" and b"," in line and not _is_binary(start):
        return "csv"
    return None


def _zip(name: str, told: str | None, open_it: Callable[[], Any]) -> str | None:
    """What a zip archive holds."""
    try:
        with open_it() as raw, zipfile.ZipFile(_seekable(raw)) as archive:
            names = archive.namelist()
            mimetype = archive.open("mimetype").read(80) if "mimetype" in names else b""
    except Exception as error:  # zipfile raises many on damaged files
        if told in ("npz", "xlsx", "inspect"):
            return told
        raise BadFile("this looks like a zip archive, cut off or damaged; nothing was read", file=name) from error
    if any(one.startswith("xl/") and one.endswith(".bin") and "workbook" in one for one in names):
        raise BadFile(f"this looks like {_SUFFIXES['.xlsb']}", file=name)
    if "xl/workbook.xml" in names:
        return "xlsx"
    if any(one.startswith("word/") for one in names):
        raise BadFile("this looks like a Word document; save the table in it as CSV", file=name)
    if any(one.startswith("ppt/") for one in names):
        raise BadFile("this looks like a PowerPoint presentation; there are no rows in it", file=name)
    if b"opendocument" in mimetype:
        what = "spreadsheet" if b"spreadsheet" in mimetype else "file"
        raise BadFile(f"this looks like an OpenDocument {what}; {_TABLE}", file=name)
    if any(one.endswith("data.pkl") for one in names):
        raise BadFile(f"this looks like {_SUFFIXES['.pt']}", file=name)
    if names and all(one.endswith(".npy") for one in names):
        return "npz"
    if {"header.json", "_journal/start.json"} & {*names}:
        return "inspect"
    if told == "inspect" or (told == "xlsx" and any(one.startswith("xl/") for one in names)):
        return told
    if told == "npz" and (not names or any(one.endswith(".npy") for one in names)):
        return told
    shown = ", ".join(printable(one) for one in names[:3]) or "nothing"
    raise BadFile(f"this looks like a zip archive (with {shown}); unpack it and give the file in it", file=name)


def _seekable(raw: Any) -> IO[bytes]:
    found: IO[bytes] = raw
    return found


def _is_binary(start: bytes) -> bool:
    """Whether this is no text; UTF-16, which its first bytes tell, is one."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    return b"\x00" in start or sum(byte < 9 or 13 < byte < 27 for byte in start) > len(start) // 20

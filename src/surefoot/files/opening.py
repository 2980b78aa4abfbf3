"""From what the user names, a file, a folder, a glob or standard input, to the files that hold rows."""

from __future__ import annotations

import codecs
import glob
import io
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.core.tally import Tally
from surefoot.errors import InvalidTally, MissingPackage
from surefoot.files.arrays import ArrayFile
from surefoot.files.columnar import ArrowFile, ParquetFile
from surefoot.files.damage import damaged
from surefoot.files.databases import DuckDB, Sqlite, is_address, open_address
from surefoot.files.delimited import DelimitedFile
from surefoot.files.excel import ExcelFile
from surefoot.files.harness import is_sample_log, open_sample_log
from surefoot.files.inspect_log import open_archive
from surefoot.files.json_documents import is_document, is_record_of_records, open_document
from surefoot.files.json_lines import JsonLinesFile
from surefoot.files.kinds import DUCK, kind_of_file
from surefoot.files.part import Part
from surefoot.files.partitions import add_values
from surefoot.files.paths import format_of, paths_of
from surefoot.files.source import BadFile, Source
from surefoot.files.spooled import Spooled
from surefoot.files.streams import GZIP, ZSTD, LiveLines, Pieces, decompress

#: Kinds that are databases, and those that may lie in folders named after values.
_DATABASES, _PARTITIONED = ("sqlite", "duckdb"), (ParquetFile, ArrowFile, DelimitedFile)


def open_data(path: str, delimiter: str | None = None, part: Part | None = None) -> list[Source] | Tally:
    """The files of a data set, or the tally that was saved; of several tallies, their sum.

    ``part`` chooses the sheet of a workbook, or the table or the query of a database.
    """
    part = part or Part()
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingPackage("reading files needs PyArrow: pip install pyarrow.") from error
    if path == "-":
        _check_open()
        content = Spooled(sys.stdin.buffer)
        return _opened("standard input", content.open, content.size, None, delimiter, part)
    if is_address(path):
        return [open_address(path, part)]
    paths = paths_of(path)
    opened = [_at(each, delimiter, part) for each in paths]
    tallies = [each for each in opened if isinstance(each, Tally)]
    if tallies and len(tallies) < len(opened):
        raise BadFile("saved tallies together with other files; pass files of one kind", file=path)
    if tallies:
        total = tallies[0]
        for each in tallies[1:]:
            total = total + each
        return total
    sources = [source for each in opened if not isinstance(each, Tally) for source in each]
    root = _root(path)
    if root is None or not all(isinstance(source, _PARTITIONED) for source in sources):
        return sources
    return add_values(list(zip(paths, sources, strict=True)), root)


def _root(path: str) -> Path | None:
    """The folder below which folders may be named after values: the one given, or what comes before a pattern."""
    place = Path(path)
    if place.is_dir():
        return place
    if place.exists():
        return None
    plain = [*takewhile(lambda name: not glob.has_magic(name), place.parts)]
    return Path(*plain)


def open_live(delimiter: str | None) -> list[Source] | Tally:
    """Standard input, line by line as it arrives; what is no text is read to its end first."""
    _check_open()
    stdin: Any = sys.stdin.buffer
    start = stdin.peek(8)
    if start.startswith((GZIP, ZSTD)) or _guess(start) not in ("csv", "tsv", "jsonl"):
        return open_data("-", delimiter)
    is_json = _guess(start) == "jsonl"
    lines = LiveLines("standard input", stdin, quoted=not is_json)
    if is_json:
        return [JsonLinesFile("standard input", lines)]
    return [DelimitedFile("standard input", lines, delimiter)]


def _check_open() -> None:
    if sys.stdin is None or sys.stdin.closed:
        raise BadFile("standard input is closed; there is nothing to read")


def _at(path: Path, delimiter: str | None, part: Part) -> list[Source] | Tally:
    try:
        with path.open("rb") as raw:
            size, is_pipe = path.stat().st_size, not path.is_file()
            if path.is_block_device() or (path.is_char_device() and not raw.isatty()):
                raise BadFile("a device, which holds no rows", file=str(path))
            # a pipe, such as <(zcat x.csv.gz) in a shell, gives its bytes once
            content = Spooled(raw) if is_pipe else None
    except OSError as error:
        raise BadFile(f"cannot be opened ({error.strerror})", file=str(path)) from error
    if content is not None:
        return _opened(str(path), content.open, content.size, format_of(path), delimiter, part)
    return _opened(str(path), lambda: path.open("rb"), size, format_of(path), delimiter, part, path)


def _opened(
    name: str,
    open_it: Callable[[], Any],
    size: int,
    kind: str | None,
    delimiter: str | None,
    part: Part,
    path: Path | None = None,
) -> list[Source] | Tally:
    """By its suffix, or where there is none by its first bytes."""
    if not size:
        raise BadFile("empty; there is nothing to assess", file=name)
    with open_it() as raw:
        is_packed = raw.peek(8)[:8].startswith((GZIP, ZSTD))
        start = _start(name, raw)
    # what is packed is not looked into further than its first bytes
    reopened = open_it if not is_packed else lambda: io.BytesIO(_whole(name, open_it, size))
    # databases of both kinds are called so
    told = None if path is not None and path.suffix.lower() == ".db" and start[8:12] == DUCK else kind
    found = kind_of_file(name, start, told, reopened)
    kind = found or kind or _guess(start)
    if kind == "tally" or (kind == "jsonl" and _is_tally(name, open_it)):
        return _tally(name, open_it)
    if kind == "inspect":
        return [open_archive(name, str(path) if path is not None and not is_packed else _whole(name, open_it, size))]
    part.check(name, "workbook" if kind == "xlsx" else "database" if kind in _DATABASES else "file")
    if kind in _DATABASES:
        if path is None or is_packed:
            raise BadFile("a database is read from a file that is not packed; unpack it and give its name", file=name)
        return [(Sqlite if kind == "sqlite" else DuckDB)(name, str(path), part)]
    if kind == "xlsx":
        return [ExcelFile(name, str(path) if path is not None and not is_packed else reopened(), part.sheet)]
    if kind in ("parquet", "arrow", "npz"):
        whole = _whole(name, open_it, size) if is_packed or path is None else None
        if kind == "npz":
            return [ArrayFile(name, str(path) if whole is None else whole)]
        data = str(path) if whole is None else whole
        if kind == "parquet":
            return [ParquetFile(name, data if isinstance(data, str) else io.BytesIO(data))]
        return [ArrowFile(name, data)]
    is_utf16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    pieces = Pieces(name, open_it, size, quoted=kind != "jsonl", decoded=kind != "jsonl" or is_utf16)
    if kind == "jsonl":
        first = b"" if is_document(start) else pieces.first()
        if is_document(first or start) or (is_record_of_records(first) and pieces.has_one_line()):
            return [open_document(name, lambda: _read(name, open_it, limits.DOCUMENT + 1), 0 if is_packed else size)]
        return [open_sample_log(name, pieces) if is_sample_log(first) else JsonLinesFile(name, pieces)]
    return [DelimitedFile(name, pieces, delimiter or ("\t" if kind == "tsv" else None))]


def _start(name: str, raw: BinaryIO) -> bytes:
    # what is wrong with it is told when it is read
    with suppress(BadFile), damaged(name, "damaged"):
        return bytes(decompress(name, raw).read(4096))
    return b""


def _guess(start: bytes) -> str:
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if start.lstrip()[:1] in (b"{", b"["):
        return "jsonl"
    line = start.partition(b"\n")[0]
    return "tsv" if b"\t" in line and b"," not in line else "csv"


def _is_tally(name: str, open_it: Callable[[], Any]) -> bool:
    with open_it() as raw:
        return re.match(rb'\s*\{\s*"surefoot"\s*:\s*"tally"', _start(name, raw)) is not None


def _tally(name: str, open_it: Callable[[], Any]) -> Tally:
    try:
        # one byte more tells that it is too large
        return Tally.from_text(_read(name, open_it, limits.SAVED["tally"] + 1), name)
    except InvalidTally as error:
        raise BadFile(printable(error, 300).rstrip(".")) from error


def _whole(name: str, open_it: Callable[[], Any], size: int) -> bytes:
    """All bytes of a file of ``size`` bytes, unpacked."""
    most = limits.unpacked(size)
    content = _read(name, open_it, most + 1)
    if len(content) > most:
        raise BadFile(
            f"it unpacks to more than {limits.in_words(most)}, and a packed file of this kind is read whole",
            hint="unpack it; Parquet and Arrow are packed within, and then read in pieces",
            file=name,
        )
    return content


def _read(name: str, open_it: Callable[[], Any], most: int) -> bytes:
    """The bytes of a file, unpacked, and no more than so many."""
    parts, left = [], most
    with damaged(name, "truncated or damaged compressed file"), open_it() as raw:
        stream = decompress(name, raw)
        while left and (some := stream.read(min(left, 1 << 24))):
            parts.append(some)
            left -= len(some)
    return b"".join(parts)

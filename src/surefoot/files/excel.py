"""Excel workbooks: the values of one sheet, columns typed by what their cells hold."""

from __future__ import annotations

import datetime
import os
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.errors import MissingPackage
from surefoot.files.cells import is_beyond_floats
from surefoot.files.finding import Ambiguous
from surefoot.files.one_kind import OneKind
from surefoot.files.part import listed
from surefoot.files.source import SHARES, BadFile, Batch

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 10_000
#: Bytes that a workbook may unpack to; and how many times its size, once that is much.
_MOST, _TIMES, _MUCH = 1 << 29, 200, 1 << 26
#: Rows that a sheet can have.
_ROWS = 1 << 20
#: Rows whose cells are looked at for how they are shown.
_STYLED = 200
#: What a cell shows if its formula failed.
_ERRORS = frozenset(("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA", "#SPILL!"))


class ExcelFile:
    """One sheet of an ``.xlsx`` or ``.xlsm`` workbook, at a path or in memory; its first row that is not empty names
    the columns."""

    #: Numbers are typed or exported with few decimals as often as not, just as in CSV.
    is_text = True

    def __init__(self, name: str, data: str | IO[bytes], sheet: str | None = None) -> None:
        try:
            import openpyxl
        except ImportError as error:
            raise MissingPackage("Excel files need openpyxl: pip install 'surefoot[excel]'.") from error
        self.name = name
        #: Columns of labels, which hold values of one kind; and those that do not, with what is wrong with each.
        self.labels: frozenset[str] = frozenset()
        self._mixed: dict[str, BadFile] = {}
        _check_size(name, data)
        try:
            # a name without its suffix would be refused: an open file is not
            with open(data, "rb") if isinstance(data, str) else data as raw, warnings.catch_warnings():
                # of styles and extensions that are not kept: only values are read
                warnings.simplefilter("ignore")
                book = openpyxl.load_workbook(raw, read_only=True, data_only=True, keep_links=False)
                try:
                    chosen = _chosen(name, book, sheet)
                    self._table = self._read(_rows(name, chosen), _shown_as_percent(chosen))
                finally:
                    book.close()
        except (BadFile, Ambiguous):
            raise
        except MemoryError:
            raise
        except Exception as error:  # openpyxl, zipfile and XML parsers raise almost anything on damaged files
            raise BadFile(f"not an Excel workbook, or a damaged one ({_brief(error)})", file=name) from error
        self.schema = self._table.schema

    def head(self) -> pa.Table:
        return self._table.slice(0, _HEAD)

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        for label in filter(self.labels.__contains__, columns):
            if label in self._mixed:
                raise self._mixed[label]
        yield Batch(as_numbers(self._table.select([name for name in self.schema.names if name in columns]), numbers))

    def _read(self, rows: Iterator[list[Any]], as_percent: frozenset[int]) -> pa.Table:
        import pyarrow as pa
        from openpyxl.utils import get_column_letter

        header = next(rows, None)
        if header is None:
            raise BadFile("the sheet is empty; there is nothing to assess", file=self.name)
        columns: list[list[Any]] = [[] for _ in header]
        done = 0
        for row in rows:
            while len(columns) < len(row):
                columns.append([None] * done)
            for i, column in enumerate(columns):
                column.append(row[i] if i < len(row) else None)
            done += 1
        if not done:
            raise BadFile("a header and no rows; there is nothing to assess", file=self.name)
        arrays: dict[str, pa.Array] = {}
        fields = []
        for i, column in enumerate(columns):
            title = header[i] if i < len(header) else None
            if title is None and all(value is None for value in column):
                continue
            called = f"column {get_column_letter(i + 1)}" if title is None else _text(title).strip()
            if called in arrays:
                raise BadFile(f"two columns are called '{printable(called)}'; rename one", file=self.name)
            arrays[called] = _array(column)
            try:
                OneKind(self.name).check(called, column, 0)
            except BadFile as error:
                self._mixed[called] = error
            about = SHARES if i in as_percent else None
            fields.append(pa.field(called, arrays[called].type, metadata=about))
        return pa.table(list(arrays.values()), schema=pa.schema(fields))


def as_numbers(table: pa.Table, numbers: Sequence[str]) -> pa.Table:
    """The same table; whole numbers in columns of confidences, probabilities or weights as floating ones."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if field.name in numbers and (pa.types.is_integer(field.type) or pa.types.is_null(field.type)):
            table = table.set_column(i, field.with_type(pa.float64()), table.column(i).cast(pa.float64()))
    return table


def _check_size(name: str, data: str | IO[bytes]) -> None:
    """Refuse what would unpack to far more than any sheet, before anything is unpacked."""
    try:
        with zipfile.ZipFile(data) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            for member in archive.infolist():
                # entities of a document type can grow without bound, and no workbook has one
                if member.filename.endswith((".xml", ".rels")):
                    with archive.open(member) as part:
                        if b"<!DOCTYPE" in part.read(4096):
                            raise BadFile("it defines a document type, which no workbook does; not read", file=name)
        size = os.path.getsize(data) if isinstance(data, str) else data.seek(0, os.SEEK_END)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError, KeyError) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"not an Excel workbook, or a damaged one ({_brief(error)})", file=name) from error
    except Exception as error:  # of decompression
        raise BadFile(f"not an Excel workbook, or a damaged one ({_brief(error)})", file=name) from error
    if not isinstance(data, str):
        data.seek(0)
    if unpacked > _MOST or (unpacked > _MUCH and unpacked > _TIMES * size):
        raise BadFile(
            f"it would unpack to {unpacked >> 20:,} MiB, which is too much for a workbook; save the sheet as CSV",
            file=name,
        )


def _chosen(name: str, book: Any, sheet: str | None) -> Any:
    """The sheet that was named, or the only one with rows."""
    sheets = {one.title: one for one in book.worksheets}
    if sheet is not None:
        if sheet not in sheets:
            raise Ambiguous(
                f"there is no sheet '{printable(sheet)}'; the sheets are {listed([*sheets])}",
                file=name,
            )
        return sheets[sheet]
    if not sheets:
        raise BadFile("the workbook has no sheets with cells", file=name)
    filled = [one for one in sheets.values() if len(sheets) == 1 or _has_rows(name, one)]
    if len(filled) > 1:
        raise Ambiguous(
            f"the workbook has {len(filled)} sheets with rows: {listed([one.title for one in filled])}; choose one "
            "with --sheet NAME (sheet= in Python)",
            file=name,
        )
    return filled[0] if filled else next(iter(sheets.values()))


def _has_rows(name: str, sheet: Any) -> bool:
    """Whether there is a row below the header."""
    rows = _rows(name, sheet)
    return next(rows, None) is not None and next(rows, None) is not None


def _rows(name: str, sheet: Any) -> Iterator[list[Any]]:
    """The rows from the first that is not empty to the last, each without the empty cells at its end."""
    # what a file says of its size may be wrong
    sheet.reset_dimensions()
    begun, empty = False, 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True)):
        if number >= _ROWS:
            raise BadFile(f"the sheet has more rows than a sheet can have ({_ROWS:,})", file=name)
        row = [_value(cell) for cell in cells]
        while row and row[-1] is None:
            row.pop()
        if not row:
            empty += begun
            continue
        yield from ([] for _ in range(empty))
        begun, empty = True, 0
        yield row


def _value(cell: Any) -> Any:
    if isinstance(cell, str):
        return None if not cell or cell.isspace() or cell in _ERRORS else cell
    if isinstance(cell, float) and cell != cell:
        return None
    return cell


def _shown_as_percent(sheet: Any) -> frozenset[int]:
    """The columns of which a cell is shown as a percentage, by the first rows: the numbers in them are shares of 1."""
    cells = (cell for row in sheet.iter_rows(max_row=_STYLED) for cell in enumerate(row))
    return frozenset(at for at, cell in cells if cell.value is not None and "%" in str(cell.number_format))


def _array(values: list[Any]) -> pa.Array:
    """A column, of the narrowest type that holds all of its values: booleans, whole numbers, numbers, else text."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float} and not any(map(is_beyond_floats, values)):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    # midnight is how a sheet stores a day
    days = kinds == {datetime.datetime} and all(value is None or value.time() == datetime.time() for value in values)
    return pa.array(
        [None if value is None else value.date().isoformat() if days else _text(value) for value in values],
        pa.string(),
    )


def _text(value: Any) -> str:
    """A value as a person would write it: numbers the shortest way, dates after ISO 8601."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def _brief(error: Exception) -> str:
    return printable(str(error).splitlines()[0] if str(error) else type(error).__name__)

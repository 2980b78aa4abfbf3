"""CSV and TSV: parsed in pieces, types settled by the first rows, and every bad cell found by row and value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from surefoot._io.printable import printable
from surefoot.files.damage import brief, check_names, damaged
from surefoot.files.quotes import find_swallowed
from surefoot.files.source import BadFile, Batch
from surefoot.files.streams import Pieces, ahead

if TYPE_CHECKING:
    import pyarrow as pa

#: What people separate columns by.
_DELIMITERS = (",", ";", "\t", "|")
#: Numbers where the comma is decimal, and those that have a dot where thousands end.
_COMMA, _THOUSANDS = re.compile(r"[+-]?\d+(,\d+)?"), re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")


class DelimitedFile:
    """A table as text, one row a line, names in the first."""

    is_text = True

    def __init__(self, name: str, pieces: Pieces, delimiter: str | None) -> None:
        import pyarrow as pa

        self.name, self._pieces = name, pieces
        #: Columns whose text is kept as it is written, such as 007.
        self.verbatim: frozenset[str] = frozenset()
        first = pieces.first()
        if b"\x00" in first[:1000]:
            raise BadFile("not text; if it is UTF-16 without a mark at its start, save it as UTF-8", file=name)
        if not first.strip():
            raise BadFile("empty; there is nothing to assess", file=name)
        self._delimiter, self._point = delimiter or _detect_delimiter(first), "."
        if b"\n" not in first.strip():
            if b"\r" in first.strip():
                raise BadFile(
                    "its lines end in carriage returns alone, as old programs for the Mac write them",
                    hint="save it with usual line breaks, such as with tr '\\r' '\\n' < FILE > NEW.csv",
                    file=name,
                )
            raise BadFile("one line, and no rows below it; there is nothing to assess", file=name)
        self._head = self._parse(first, None, (), 0, header=True, quotes=b'"' in first)
        if self._delimiter != "," and any(map(_has_decimal_comma, self._head.columns)):
            self._point = ","
            self._head = self._parse(first, None, (), 0, header=True, quotes=b'"' in first)
        # what looks like a date is a label like any other
        dates = {field.name: pa.string() for field in self._head.schema if pa.types.is_temporal(field.type)}
        if dates:
            self._head = self._parse(first, None, dates, 0, header=True, quotes=b'"' in first)
        self.schema = self._head.schema
        with damaged(name, "the names of its columns are no text", "save it as UTF-8"):
            names = self.schema.names
        check_names(name, names)
        self._check_text()
        self._check_header()
        if not self._head.num_rows:
            raise BadFile("a header and no rows; there is nothing to assess", file=name)

    def _check_text(self) -> None:
        """Bytes that are no text in UTF-8 make a column of bytes: name the first."""
        import pyarrow.types as kinds

        for name in self.schema.names:
            if kinds.is_binary(self.schema.field(name).type):
                for row, value in enumerate(self._head.column(name).to_pylist()):
                    if value is not None and value.decode("utf-8", "replace").encode() != value:
                        raise BadFile("which is not UTF-8 text", column=name, row=row, value=value, file=self.name)

    def _check_header(self) -> None:
        """A header among the rows makes columns of numbers ones of text: name its row."""
        import pyarrow.types as kinds

        if not all(kinds.is_string(kind) for kind in self.schema.types):
            return
        names = tuple(self.schema.names)
        rows = zip(*(column.to_pylist() for column in self._head.columns), strict=True)
        row = next((row for row, cells in enumerate(rows) if cells == names), None)
        if row is not None:
            raise BadFile(
                "which repeats the names of the columns, as where files were put together",
                column=names[0],
                row=row,
                value=names[0],
                hint="drop the row",
                file=self.name,
            )

    def head(self) -> pa.Table:
        return self._head if self._point == "." else _with_thousands(self._head)

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        import pyarrow as pa
        import pyarrow.types as kinds

        types = {}
        for name in columns:
            kind = self.schema.field(name).type
            if name in numbers and not kinds.is_string(kind):
                types[name] = pa.float64()
            elif name in self.verbatim:
                types[name] = pa.string()
            elif kinds.is_boolean(kind) or kinds.is_integer(kind) or kinds.is_floating(kind):
                types[name] = kind
            else:
                types[name] = pa.string()
        done, header = 0, True
        for piece in ahead(iter(self._pieces)):
            try:
                table = self._parse(piece.data, list(columns), types, done, header=header, quotes=piece.has_quotes)
            except BadFile as error:
                if error.column not in numbers:
                    raise
                # a cell that is no number among others that are: all as text, to be read or refused with their rows
                worded = {**types, **dict.fromkeys(numbers, pa.string())}
                table = self._parse(piece.data, list(columns), worded, done, header=header, quotes=piece.has_quotes)
            if self._point == ",":
                table = self._with_points(table, numbers, done)
            done, header = done + table.num_rows, False
            yield Batch(table, piece.share)

    def _with_points(self, table: pa.Table, numbers: Sequence[str], done: int) -> pa.Table:
        """Numbers that came as text, with a decimal point; refuse one that could be either size."""
        import pyarrow as pa

        for i, name in enumerate(table.column_names):
            if name not in numbers or not pa.types.is_string(table.schema.field(name).type):
                continue
            texts = table.column(name).to_pylist()
            row = next((row for row, text in enumerate(texts) if text and _THOUSANDS.fullmatch(text.strip())), None)
            if row is not None:
                raise BadFile(
                    "which could be a thousand times as much: other numbers of the file have a decimal comma",
                    column=name,
                    row=done + row,
                    value=texts[row],
                    hint="write thousands without a dot, and decimals with a comma",
                    file=self.name,
                )
            texts = [text.replace(",", ".") if text and _COMMA.fullmatch(text.strip()) else text for text in texts]
            table = table.set_column(i, name, pa.chunked_array([pa.array(texts, pa.string())]))
        return table

    def _parse(
        self, piece: Any, columns: list[str] | None, types: Any, done: int, *, header: bool, quotes: bool
    ) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv

        names = None if header else self.schema.names
        read = csv.ReadOptions(column_names=names, block_size=_block(piece))
        parse = csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=quotes)
        convert = csv.ConvertOptions(
            column_types=types or None,
            include_columns=columns,
            null_values=[""],
            strings_can_be_null=True,
            decimal_point=self._point,
        )
        try:
            table = csv.read_csv(pa.BufferReader(pa.py_buffer(piece)), read, parse, convert)
        except Exception as error:
            self._explain(bytes(piece), types, done, error, header=header, quotes=quotes)
        if quotes:
            self._check_quotes(piece, table.num_rows, done, header=header)
        return table

    def _check_quotes(self, piece: Any, rows: int, done: int, *, header: bool) -> None:
        """Refuse a quote that swallows the rows after it: all that follows would be one cell."""
        content = bytes(piece)
        if content.count(b"\n") + (not content.endswith(b"\n")) == rows + header:
            # each line is a row
            return
        found = find_swallowed(content.removeprefix(b"\xef\xbb\xbf"), self._delimiter)
        if found is not None:
            raise BadFile(
                f"a quote that {found.why}: the rows after it would be lost",
                row=max(0, done + found.rows - header),
                hint='close the quote, or write a quote within a cell twice ("")',
                file=self.name,
            )

    def _explain(
        self, piece: bytes, types: Any, done: int, error: Exception, *, header: bool, quotes: bool
    ) -> NoReturn:
        """Say what is wrong with a piece that could not be parsed: a line of too many cells, or a cell."""
        import pyarrow as pa
        from pyarrow import csv

        if not isinstance(error, pa.ArrowInvalid | pa.ArrowKeyError | UnicodeDecodeError):
            raise BadFile(f"after row {done:,}, {brief(error)}", file=self.name) from error
        bad: list[Any] = []

        def refuse(row: Any) -> str:
            bad.append(row)
            return "error"

        # handed out as text, so that what is no text is replaced
        text = piece.decode("utf-8", "replace").encode()
        read = csv.ReadOptions(column_names=None if header else self.schema.names, block_size=_block(text))
        parse = csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=quotes, invalid_row_handler=refuse)
        with suppress(pa.ArrowException):
            csv.read_csv(pa.BufferReader(text), read, parse)
        if bad:
            row = bad[0]
            number = 1 + _line_of(text, row.text) if row.number is None else row.number
            raise BadFile(
                f"{row.actual_columns} columns instead of {row.expected_columns} ('{printable(row.text)}')",
                row=done + number - header - 1,
                hint="correct or drop the line",
                file=self.name,
            ) from None
        if types:
            self._name_the_cell(piece, types, done, header)
        raise BadFile(f"after row {done:,}, {brief(error)}", file=self.name) from error

    def _name_the_cell(self, piece: bytes, types: Any, done: int, header: bool) -> None:
        """Something could not be read as its type: read the piece as text, and find the first cell that is not."""
        import pyarrow as pa
        from pyarrow import csv

        names = self.schema.names
        try:
            texts = csv.read_csv(
                pa.BufferReader(piece),
                csv.ReadOptions(column_names=None if header else names, block_size=_block(piece)),
                csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=b'"' in piece),
                csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=list(types)),
            )
        except pa.ArrowException as error:
            raise BadFile(f"after row {done:,}, {brief(error)}", hint="is it text in UTF-8?", file=self.name) from error
        found = []
        for name, kind in types.items():
            values = texts.column(name).to_pylist()
            row = next((i for i, value in enumerate(values) if not _reads_as(value, kind)), None)
            if row is not None:
                found.append((row, name, values[row], kind))
        if found:
            row, name, value, kind = min(found)[:4]
            raise BadFile(_not_a(kind), column=name, row=done + row, value=value, file=self.name)


def _detect_delimiter(first: bytes) -> str:
    """What separates as many columns in the header as in the first row; else what the header has most of."""
    header, _, rest = first.partition(b"\n")
    header, row = header.strip(b"\r\xef\xbb\xbf"), rest.partition(b"\n")[0]
    counts = {d: (header.count(d.encode()), row.count(d.encode())) for d in _DELIMITERS}
    alike = [d for d, (names, cells) in counts.items() if names and names == cells]
    return max(alike or counts, key=lambda d: counts[d][0])


def _has_decimal_comma(column: Any) -> bool:
    """Whether a column of text holds numbers with a decimal comma."""
    import pyarrow.types as kinds

    values = [value.strip() for value in column.to_pylist() if value] if kinds.is_string(column.type) else []
    return any("," in value for value in values) and all(map(_is_number, values))


def _is_number(text: str) -> bool:
    """Whether a text is a number where the comma is decimal."""
    return bool(_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text))


def _with_thousands(head: pa.Table) -> pa.Table:
    """The first rows, with columns of numbers of which some have dots as such: they are refused when they are read."""
    import pyarrow as pa

    for i, field in enumerate(head.schema):
        texts = head.column(i).to_pylist() if pa.types.is_string(field.type) else []
        values = [text.strip() if text else None for text in texts]
        present = [text for text in values if text]
        if any(map(_THOUSANDS.fullmatch, present)) and all(map(_is_number, present)):
            numbers = [None if text is None else float(text.replace(".", "").replace(",", ".")) for text in values]
            head = head.set_column(i, field.name, pa.array(numbers, pa.float64()))
    return head


def _block(piece: Any) -> int:
    """How much of a piece Arrow parses at a time: a row may lie in two blocks, and not in three."""
    size, most = len(piece), 1 << 22
    held: Any = piece.obj if isinstance(piece, memoryview) else piece
    has_long_line = any(held.find(b"\n", at, at + most // 2) < 0 for at in range(0, size, most // 2))
    return max(1 << 16, size + 1 if has_long_line else min(most, size + 1))


def _line_of(piece: bytes, text: str) -> int:
    """The number of the first line that says just this; a carriage return alone ends a line as well."""
    lines = piece.splitlines()
    return lines.index(text.encode()) if text.encode() in lines else 0


def _reads_as(value: str, kind: Any) -> bool:
    import pyarrow as pa
    import pyarrow.types as kinds

    if value == "" or kinds.is_string(kind):
        return True
    if kinds.is_floating(kind) and value.strip().lower().lstrip("+-") in ("inf", "infinity"):
        return True
    try:
        pa.array([value.strip()]).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _not_a(kind: Any) -> str:
    import pyarrow.types as kinds

    if kinds.is_floating(kind):
        return "not a number; correct or drop the row"
    said = "true or false" if kinds.is_boolean(kind) else "whole numbers"
    return f"but the first rows hold {said}; labels are of one kind: correct the row, or quote none and all as text"

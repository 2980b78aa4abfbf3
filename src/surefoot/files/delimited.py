"""CSV and TSV: parsed in pieces, types settled by the first rows, and every bad cell found by row and value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.files.source import BadFile, Batch
from surefoot.files.streams import Pieces, ahead

if TYPE_CHECKING:
    import pyarrow as pa

#: What people separate columns by.
_DELIMITERS = (",", ";", "\t", "|")
_COMMA = re.compile(r"-?\d+(,\d+)?")


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
        self._head = self._parse(first, None, (), 0, header=True, quotes=b'"' in first)
        if self._delimiter != "," and any(map(_has_decimal_comma, self._head.columns)):
            self._point = ","
            self._head = self._parse(first, None, (), 0, header=True, quotes=b'"' in first)
        # what looks like a date is a label like any other
        dates = {field.name: pa.string() for field in self._head.schema if pa.types.is_temporal(field.type)}
        if dates:
            self._head = self._parse(first, None, dates, 0, header=True, quotes=b'"' in first)
        self.schema = self._head.schema
        twice = next((c for i, c in enumerate(self.schema.names) if c in self.schema.names[:i]), None)
        if twice is not None:
            raise BadFile(f"two columns are called '{printable(twice)}'", hint="rename one", file=name)
        self._check_text()
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

    def head(self) -> pa.Table:
        return self._head

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
            done, header = done + table.num_rows, False
            yield Batch(table, piece.share)

    def _parse(
        self, piece: Any, columns: list[str] | None, types: Any, done: int, *, header: bool, quotes: bool
    ) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv

        bad: list[Any] = []

        def refuse(row: Any) -> str:
            bad.append(row)
            return "error"

        names = None if header else self.schema.names
        read = csv.ReadOptions(column_names=names, block_size=_block(len(piece)))
        parse = csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=quotes, invalid_row_handler=refuse)
        convert = csv.ConvertOptions(
            column_types=types or None,
            include_columns=columns,
            null_values=[""],
            strings_can_be_null=True,
            decimal_point=self._point,
        )
        try:
            return csv.read_csv(pa.BufferReader(pa.py_buffer(piece)), read, parse, convert)
        except (pa.ArrowInvalid, pa.ArrowKeyError, UnicodeDecodeError) as error:
            if bad:
                row = bad[0]
                number = 1 + _line_of(bytes(piece), row.text) if row.number is None else row.number
                raise BadFile(
                    f"{row.actual_columns} columns instead of {row.expected_columns} ('{printable(row.text)}')",
                    row=done + number - header - 1,
                    hint="correct or drop the line",
                    file=self.name,
                ) from None
            if types:
                self._name_the_cell(bytes(piece), types, done, header)
            raise BadFile(f"after row {done:,}, {printable(str(error).splitlines()[0])}", file=self.name) from error

    def _name_the_cell(self, piece: bytes, types: Any, done: int, header: bool) -> None:
        """Something could not be read as its type: read the piece as text, and find the first cell that is not."""
        import pyarrow as pa
        from pyarrow import csv

        names = self.schema.names
        try:
            texts = csv.read_csv(
                pa.BufferReader(piece),
                csv.ReadOptions(column_names=None if header else names, block_size=_block(len(piece))),
                csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=b'"' in piece),
                csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), include_columns=list(types)),
            )
        except pa.ArrowInvalid as error:
            why = f"after row {done:,}, {printable(str(error).splitlines()[0])}"
            raise BadFile(why, hint="is it text in UTF-8?", file=self.name) from error
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
    return any("," in value for value in values) and all(_COMMA.fullmatch(value) for value in values)


def _block(size: int) -> int:
    return max(1 << 16, min(1 << 22, size + 1))


def _line_of(piece: bytes, text: str) -> int:
    """The number of the first line that says just this."""
    lines = [line.rstrip(b"\r") for line in piece.split(b"\n")]
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

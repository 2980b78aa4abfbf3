"""JSON lines: one object a row; what an object holds within others is a column too (judge.confidence)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable_value
from surefoot.files.damage import check_names
from surefoot.files.json_text import parse_json
from surefoot.files.one_kind import OneKind
from surefoot.files.reasons import WHY
from surefoot.files.records import record
from surefoot.files.source import BadFile, Batch
from surefoot.files.streams import Pieces

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 2000


class JsonLinesFile:
    """A JSON object on each line; columns are the names in the first of them."""

    is_text = True

    def __init__(self, name: str, pieces: Pieces) -> None:
        self.name, self._pieces = name, pieces
        #: Columns of which any value is read as text, such as ids.
        self.verbatim: frozenset[str] = frozenset()
        #: Columns of labels, which hold values of one kind.
        self.labels: frozenset[str] = frozenset()
        rows = [record(row) for row in objects(name, pieces.first(), 0, _HEAD)]
        if not rows:
            raise BadFile("empty; there is nothing to assess", file=name)
        self._head = first_look(rows)
        self.schema = self._head.schema
        check_names(name, self.schema.names)

    def head(self) -> pa.Table:
        return self._head

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        done, kinds = 0, OneKind(self.name)
        for piece in self._pieces:
            table = self._fast(piece.data, columns, numbers)
            if table is None:
                rows = [self._as_text(record(row)) for row in objects(self.name, bytes(piece.data), done)]
                for label in filter(self.labels.__contains__, columns):
                    kinds.check(label, [row.get(label) for row in rows], done)
                table = columns_of(self.name, rows, columns, numbers, self._types(), done)
            elif table.num_rows:
                # all values are of the type of the first
                for label in filter(self.labels.__contains__, columns):
                    kinds.check(label, [table.column(label)[0].as_py()], done)
            done += table.num_rows
            yield Batch(table, piece.share)

    def _as_text(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with the columns that are read as text as they are written."""
        return {**row, **{name: _written(row[name]) for name in self.verbatim if name in row}} if self.verbatim else row

    def _types(self) -> pa.Schema:
        import pyarrow as pa

        return pa.schema([pa.field(f.name, pa.string()) if f.name in self.verbatim else f for f in self.schema])

    def _fast(self, piece: memoryview, columns: Sequence[str], numbers: Sequence[str]) -> pa.Table | None:
        """By Arrow's own parser; None where it meets what it does not expect, which is then looked at row by row."""
        import pyarrow as pa
        import pyarrow.json
        import pyarrow.types as kinds

        fields = []
        for name in columns:
            kind = self.schema.field(name).type
            if name in numbers and not (kinds.is_floating(kind) or kinds.is_list(kind) or kinds.is_integer(kind)):
                return None
            if name in self.verbatim and not (kinds.is_string(kind) or kinds.is_integer(kind)):
                return None
            fields.append((name, pa.float64() if name in numbers and not kinds.is_list(kind) else kind))
        options = pa.json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")
        blocks = pa.json.ReadOptions(block_size=max(1 << 16, min(1 << 23, len(piece) + 1)))
        try:
            table = pa.json.read_json(pa.BufferReader(pa.py_buffer(piece)), read_options=blocks, parse_options=options)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        for name in self.verbatim:
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, table.column(name).cast(pa.string()))
        # a value left out and one that is null look alike: rows with either are looked at one by one
        return table if all(table.column(name).null_count == 0 for name in columns) else None


def columns_of(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    numbers: Sequence[str],
    schema: pa.Schema,
    done: int,
) -> pa.Table:
    """Some columns of rows that are objects, and why rows are marked; ``done`` rows of the file came before."""
    import pyarrow as pa

    arrays = []
    columns = [*columns, WHY] if WHY not in columns and any(WHY in row for row in rows) else columns
    for column in columns:
        values = [row.get(column) for row in rows]
        kind = None if column in numbers else pa.string() if column == WHY else schema.field(column).type
        if column in numbers and any(isinstance(value, str | bool) for value in values):
            # numbers as a model says them; they are read, or refused, with the rows around them
            values, kind = [_written(value) for value in values], pa.string()
        elif column in numbers and all(value is None for value in values):
            kind = pa.float64()
        elif str(kind) == "string" and any(isinstance(value, bool | int | float) for value in values):
            values = [_written(value) for value in values]
        try:
            arrays.append(pa.array(values, type=kind))
        except (pa.ArrowException, OverflowError, UnicodeEncodeError):
            row = _first_odd(values, kind)
            raise BadFile(
                _odd_in_words(values[row]),
                column=column,
                row=done + row,
                value=values[row],
                hint="a column must hold one type",
                file=name,
            ) from None
    return pa.table(arrays, names=list(columns))


def _written(value: Any) -> Any:
    """A number among words, as it would be written."""
    return value if value is None or isinstance(value, str) else as_text(value)


def objects(name: str, piece: bytes, done: int, most: int | None = None) -> list[dict[str, Any]]:
    """The objects on the lines of a piece."""
    rows: list[dict[str, Any]] = []
    for line in piece.splitlines():
        if not line.strip():
            continue
        if most is not None and len(rows) >= most:
            break
        row = parse_json(name, line, "not a JSON object", row=done + len(rows), hint="is the file cut off?")
        if not isinstance(row, dict):
            why = f"{printable_value(row)} is no JSON object"
            raise BadFile(why, row=done + len(rows), hint="each line must be one JSON object", file=name)
        rows.append(row)
    return rows


def first_look(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The columns that Arrow can hold; those of mixed kinds as text, nested ones left out."""
    import pyarrow as pa

    columns = {}
    for name in dict.fromkeys(key for row in rows for key in row):
        if name.encode("utf-8", "replace").decode() != name:
            # half a character, which no column can be called by
            continue
        values = [row.get(name) for row in rows]
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {int, float} and float in kinds:
            columns[name] = pa.array([None if v is None else _as_float(v) for v in values])
        elif kinds <= {int, float, str, bool} and len(kinds) > 1:
            columns[name] = pa.array(
                [None if v is None else as_text(v).encode("utf-8", "replace").decode() for v in values]
            )
        elif dict not in kinds:
            try:
                columns[name] = pa.array(values)
            except UnicodeEncodeError:
                # a column of text all the same; the row is refused when it is read
                columns[name] = pa.array(
                    [v.encode("utf-8", "replace").decode() if isinstance(v, str) else None for v in values]
                )
            except (pa.ArrowException, OverflowError):
                if kinds == {int}:
                    # beyond what a number holds; an id may well be
                    columns[name] = pa.array([None if v is None else str(v) for v in values])
    return pa.table(columns)


def _as_float(value: Any) -> float:
    """A number as a float; one that is beyond all floats is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_text(value: Any) -> str:
    """A value among words, as it would be written; Python refuses to write the longest numbers."""
    try:
        return str(value)
    except ValueError:
        return str(_as_float(value))


def _first_odd(values: Sequence[Any], kind: Any) -> int:
    """The first value that no column of this type can hold, or that does not go with those before it."""
    alone = next((i for i, value in enumerate(values) if not _fits([value], kind)), None)
    if alone is not None:
        return alone
    fit, odd = 0, len(values)
    while odd - fit > 1:
        middle = (fit + odd) // 2
        fit, odd = (middle, odd) if _fits(values[:middle], kind) else (fit, middle)
    return fit


def _odd_in_words(value: Any) -> str:
    if isinstance(value, str):
        return "which is half of a character (a lone surrogate), not text"
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return "too large for a whole number"
    return "of another type than in the first rows"


def _fits(values: Sequence[Any], kind: Any) -> bool:
    import pyarrow as pa

    try:
        pa.array(values, type=kind)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return False
    return True

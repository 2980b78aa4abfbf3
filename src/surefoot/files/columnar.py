"""Parquet and Arrow (Feather) files: columns as they lie, a few row groups at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.files.damage import brief, check_names, damaged
from surefoot.files.source import BadFile, Batch
from surefoot.files.types import is_text_type, type_of_values

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes that one batch may take, and rows at most.
_BYTES, _ROWS = 1 << 25, 1 << 20
_HEAD = 10_000


class ParquetFile:
    """A Parquet file, at a path or in memory."""

    is_text = False

    def __init__(self, name: str, data: Any) -> None:
        import pyarrow.parquet as pq

        self.name, self._data = name, data
        try:
            # read ahead by us, a batch at a time: Arrow would hold a whole file
            self._file = pq.ParquetFile(data, pre_buffer=False)
            names = _names_of(self._file.schema_arrow)
        except Exception as error:  # libraries raise almost anything at damaged files, see damage.py
            raise BadFile(f"{_damage(error)}; nothing was read", file=name) from error
        check_names(name, names)
        self.schema: pa.Schema = _plain(self._file.schema_arrow)

    def head(self) -> pa.Table:
        for batch in self._read(self.schema.names, (), _HEAD):
            return batch.table
        return self.schema.empty_table()

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        names = [name for name in self.schema.names if name in columns]
        return self._read(names, numbers, _rows_of(self.schema, columns))

    def _read(self, names: list[str], numbers: Sequence[str], rows: int) -> Iterator[Batch]:
        import pyarrow as pa

        total, done = self._file.metadata.num_rows, 0
        texts = [name for name in names if is_text_type(self.schema.field(name).type)]
        kinds = {name: self.schema.field(name).type for name in texts} | _kinds_of(
            names, numbers, self._file.schema_arrow
        )
        with damaged(self.name, lambda: f"damaged after row {done:,}"):
            # a long text that many rows share is one value, and only then many: as many as fit
            file = self._with_values_once(texts)
            for batch in file.iter_batches(batch_size=rows, columns=names):
                batch.validate(full=True)
                # a name with dots is one column, but Parquet would take it for a path
                table = pa.Table.from_batches([batch]).select(names)
                for part in _in_parts(table, kinds):
                    done += part.num_rows
                    yield Batch(part, done / max(1, total))

    def _with_values_once(self, texts: Sequence[str]) -> Any:
        import pyarrow.parquet as pq

        if not texts:
            return self._file
        if not isinstance(self._data, str):
            self._data.seek(0)
        return pq.ParquetFile(self._data, pre_buffer=False, read_dictionary=list(texts))


class _Checked(io.RawIOBase):
    """A file of which no more can be asked than it holds.

    Headers of a damaged file may claim any size, and Arrow takes memory for what is claimed before it reads. Read
    through this, a claim beyond the end of the file is refused first.
    """

    #: Up to so much may be asked at the end, where less is left: Arrow looks whether something follows.
    _little = 1 << 16

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._size = raw.seek(0, os.SEEK_END)
        raw.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._raw.seek(offset, whence))

    def tell(self) -> int:
        return int(self._raw.tell())

    def read(self, size: int | None = -1) -> bytes:
        size = self._size if size is None or size < 0 else size
        left = max(0, self._size - self._raw.tell())
        if size > max(left, self._little):
            raise OSError(f"it claims {size:,} bytes where {left:,} are left")
        return bytes(self._raw.read(size))

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class ArrowFile:
    """An Arrow file or stream (Feather version 2), at a path or in memory."""

    is_text = False

    def __init__(self, name: str, data: Any) -> None:
        self.name, self._data = name, data
        with damaged(name, "not an Arrow file, or a truncated one"), self._open() as reader:
            self._stored: pa.Schema = reader.schema
            names = _names_of(self._stored)
        check_names(name, names)
        self.schema: pa.Schema = _plain(self._stored)

    def _open(self, columns: Sequence[str] | None = None) -> Any:
        """Its reader. It is read and not mapped: a mapped file that is cut meanwhile ends the process."""
        import pyarrow as pa

        fields = None if columns is None else [self.schema.names.index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        try:
            return pa.ipc.open_file(self._source(), options=options)
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(self._source(), options=options)

    def _source(self) -> Any:
        import pyarrow as pa

        raw = open(self._data, "rb") if isinstance(self._data, str) else io.BytesIO(self._data)  # noqa: SIM115
        return pa.PythonFile(_Checked(raw), mode="r")

    def head(self) -> pa.Table:
        for batch in self.batches(self.schema.names, ()):
            return batch.table.slice(0, _HEAD)
        return self.schema.empty_table()

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        import pyarrow as pa

        done = 0
        kept = [name for name in self.schema.names if name in columns]
        kinds = _kinds_of(kept, numbers, self._stored)
        with damaged(self.name, lambda: f"damaged after row {done:,}"), self._open(kept) as reader:
            count = getattr(reader, "num_record_batches", None)
            pieces = reader if count is None else map(reader.get_batch, range(count))
            for number, batch in enumerate(pieces, 1):
                batch.validate(full=True)
                table = pa.Table.from_batches([batch]).select(kept)
                for part in _in_parts(table, kinds):
                    done += part.num_rows
                    yield Batch(part, number / (count or number + 1))


def _names_of(schema: pa.Schema) -> list[str]:
    """The names of columns. Those within nested columns are read as well: one that is no text is damage, wherever."""
    import pyarrow.types as kinds

    pending = list(schema)
    while pending:
        field = pending.pop()
        field.name  # noqa: B018 (raises where it is no text)
        kind = field.type
        if kinds.is_struct(kind) or kinds.is_union(kind):
            pending += [kind[i] for i in range(kind.num_fields)]
        elif kinds.is_map(kind):
            pending += [kind.key_field, kind.item_field]
        elif kinds.is_nested(kind) and hasattr(kind, "value_field"):
            pending.append(kind.value_field)
    return list(schema.names)


def _plain(schema: pa.Schema) -> pa.Schema:
    """A schema whose views, as Polars writes them, are plain text: Arrow computes little with views."""
    for name, kind in _kinds_of(schema.names, (), schema).items():
        i = schema.names.index(name)
        schema = schema.set(i, schema.field(i).with_type(kind))
    return schema


def _kinds_of(names: Sequence[str], numbers: Sequence[str], schema: pa.Schema) -> dict[str, Any]:
    """The columns that are stored otherwise than they are read, each with the type that it is read as.

    Views become plain text, and in columns of numbers each row gets a value of its own, decimals as floating numbers.
    """
    import pyarrow as pa

    found = {}
    for name in names:
        stored = schema.field(name).type
        kind = type_of_values(stored)
        if pa.types.is_string_view(kind):
            found[name] = pa.large_string()
        elif name in numbers and pa.types.is_decimal(kind):
            found[name] = pa.float64()
        elif name in numbers and kind != stored and (is_text_type(kind) or pa.types.is_primitive(kind)):
            found[name] = kind
    return found


def _in_parts(table: pa.Table, kinds: Mapping[str, Any]) -> Iterator[pa.Table]:
    """The same rows in parts, some columns as other types: a long text that many rows share makes the parts short."""
    import pyarrow.types

    shared = [field.name for field in table.schema if pyarrow.types.is_dictionary(field.type)]
    widest = sum(_longest(chunk) for name in {*kinds, *shared} for chunk in table.column(name).chunks)
    rows = max(1, min(_ROWS, _BYTES // max(1, widest)))
    for start in range(0, table.num_rows, rows):
        part = table.slice(start, rows)
        for name, kind in kinds.items():
            part = part.set_column(part.column_names.index(name), name, _cast(part.column(name), kind))
        yield part


def _longest(values: Any) -> int:
    """The bytes of the longest text of a column; 0 where it holds no text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = values.dictionary if pa.types.is_dictionary(values.type) else values
    if pa.types.is_string_view(values.type):
        # of each 16 bytes the first four tell how long the text is
        sizes = np.frombuffer(values.buffers()[1], np.int32)[4 * values.offset :: 4][: len(values)]
        return int(sizes.max(initial=0))
    return (pc.max(pc.binary_length(values)).as_py() or 0) if is_text_type(values.type) else 0


def _cast(column: Any, kind: Any) -> Any:
    """A column as another type; of values held once each, the values are cast."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        chunks = [pa.DictionaryArray.from_arrays(one.indices, _cast(one.dictionary, kind)) for one in column.chunks]
        return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, kind)).cast(kind)
    try:
        return column.cast(kind)
    except pa.ArrowNotImplementedError:
        # older versions of PyArrow cast no views
        return pa.array(column.to_pylist(), kind)


def _rows_of(schema: pa.Schema, columns: Sequence[str]) -> int:
    """Rows a batch, so that lists of many probabilities do not make it huge."""
    import pyarrow.types as kinds

    width = 0
    for name in columns:
        kind = schema.field(name).type
        items = kind.list_size if kinds.is_fixed_size_list(kind) else 64 if kinds.is_list(kind) else 1
        width += 8 * items
    return max(1024, min(_ROWS, _BYTES // max(1, width)))


def _damage(error: Exception) -> str:
    text = str(error)
    if "magic bytes not found" in text or "footer" in text.lower() or "too small" in text or "smaller than" in text:
        return "truncated Parquet file, or none (no footer)"
    return f"damaged Parquet file ({brief(error)})"

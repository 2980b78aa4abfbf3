"""Parquet and Arrow (Feather) files: columns as they lie, a few row groups at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.files.source import BadFile, Batch

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes that one batch may take, and rows at most.
_BYTES, _ROWS = 1 << 25, 1 << 20
_HEAD = 10_000


class ParquetFile:
    """A Parquet file, at a path or in memory."""

    is_text = False

    def __init__(self, name: str, data: Any) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.name = name
        try:
            # read ahead by us, a batch at a time: Arrow would hold a whole file
            self._file = pq.ParquetFile(data, pre_buffer=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise BadFile(f"{_damage(error)}; nothing was read", file=name) from error
        self.schema = self._file.schema_arrow

    def head(self) -> pa.Table:
        for batch in self._read(None, _HEAD):
            return batch.table
        return self.schema.empty_table()

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        return self._read(list(columns), _rows_of(self.schema, columns))

    def _read(self, columns: list[str] | None, rows: int) -> Iterator[Batch]:
        import pyarrow as pa

        total, done = self._file.metadata.num_rows, 0
        # a name with dots is one column, but Parquet would take it for a path
        names = None if columns is None else [name for name in self.schema.names if name in columns]
        try:
            for batch in self._file.iter_batches(batch_size=rows, columns=names):
                done += batch.num_rows
                table = pa.Table.from_batches([batch])
                yield Batch(table if names is None else table.select(names), done / max(1, total))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            raise BadFile(f"damaged after row {done:,} ({_brief(error)})", file=self.name) from error


class ArrowFile:
    """An Arrow file or stream (Feather version 2), at a path or in memory."""

    is_text = False

    def __init__(self, name: str, data: Any) -> None:
        import pyarrow as pa

        self.name, self._data = name, data
        try:
            with self._open() as reader:
                self.schema = reader.schema
        except (pa.ArrowInvalid, OSError) as error:
            raise BadFile(f"not an Arrow file, or a truncated one ({_brief(error)})", file=name) from error

    def _open(self) -> Any:
        import pyarrow as pa

        source = pa.memory_map(self._data) if isinstance(self._data, str) else pa.BufferReader(self._data)
        try:
            return pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source)

    def head(self) -> pa.Table:
        for batch in self.batches(self.schema.names, ()):
            return batch.table.slice(0, _HEAD)
        return self.schema.empty_table()

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        import pyarrow as pa

        done = 0
        try:
            with self._open() as reader:
                count = getattr(reader, "num_record_batches", None)
                pieces = reader if count is None else map(reader.get_batch, range(count))
                kept = [name for name in self.schema.names if name in columns]
                for number, batch in enumerate(pieces, 1):
                    table = pa.Table.from_batches([batch]).select(kept)
                    for start in range(0, table.num_rows, _ROWS):
                        part = table.slice(start, _ROWS)
                        done += part.num_rows
                        yield Batch(part, number / (count or number + 1))
        except (pa.ArrowInvalid, OSError) as error:
            raise BadFile(f"damaged after row {done:,} ({_brief(error)})", file=self.name) from error


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
    return f"damaged Parquet file ({_brief(error)})"


def _brief(error: Exception) -> str:
    return printable(str(error).splitlines()[0] if str(error) else type(error).__name__)

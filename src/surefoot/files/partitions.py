"""Folders named after values, as Hive and Spark write them: ``region=north/day=2024-01-01/part-0.parquet``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from surefoot._io.printable import printable
from surefoot.files.source import BadFile, Batch, Source

if TYPE_CHECKING:
    import pyarrow as pa

_EMPTY = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")


class PartitionFile:
    """A file of rows, with the values that its folders are named after as further columns."""

    def __init__(self, source: Source, values: Mapping[str, str | None], types: Mapping[str, Any]) -> None:
        import pyarrow as pa

        self.name, self.is_text = source.name, source.is_text
        self._values, self._types = dict(values), dict(types)
        #: The file itself, without the values of its folders.
        self.rows = source
        self._held = set(source.schema.names)
        added = [pa.field(key, types[key]) for key in values if key not in self._held]
        self.schema = pa.schema([*source.schema, *added])

    def head(self) -> pa.Table:
        return self._with_values(self.rows.head(), self.schema.names, 0)

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        wanted = [name for name in self.schema.names if name in columns]
        # a column that is not wanted tells how many rows there are, where no other one does
        own = [name for name in wanted if name in self._held] or self.rows.schema.names[:1]
        done = 0
        for batch in self.rows.batches(own, [name for name in numbers if name in own]):
            yield Batch(self._with_values(batch.table, wanted, done), batch.share)
            done += batch.table.num_rows

    def _with_values(self, table: pa.Table, wanted: Sequence[str], start: int) -> pa.Table:
        import pyarrow as pa

        columns = {}
        for name in wanted:
            if name in self._held:
                columns[name] = table.column(name)
                if name in self._values:
                    self._check(name, table.column(name), start)
                continue
            text, kind = self._values[name], self._types[name]
            value = int(text) if text is not None and pa.types.is_integer(kind) else text
            columns[name] = pa.repeat(pa.scalar(value, kind), table.num_rows)
        return pa.table(columns)

    def _check(self, name: str, column: Any, start: int) -> None:
        """A column that the file holds too must say what the folder says."""
        for row, value in enumerate(column.to_pylist()):
            text = self._values[name]
            if value != text and (value is None or str(value) != text):
                raise BadFile(
                    f"but its folder says '{printable(name)}={printable(_EMPTY if text is None else text)}'",
                    column=name,
                    row=start + row,
                    value=value,
                    file=self.name,
                    hint="rename the column or the folder",
                )


def values_in(folders: Sequence[str]) -> dict[str, str | None]:
    """The values that folders are named after.

    Examples
    --------
    >>> values_in(("data", "region=north%20east", "day=1"))
    {'region': 'north east', 'day': '1'}
    """
    found: dict[str, str | None] = {}
    for part in folders:
        key, sign, value = part.partition("=")
        if sign and key:
            found[unquote(key)] = None if value == _EMPTY else unquote(value)
    return found


def add_values(sources: Sequence[tuple[Path, Source]], root: Path) -> list[Source]:
    """The same files, each with the values that its folders below ``root`` are named after."""
    import pyarrow as pa

    found = [values_in(path.relative_to(root).parts[:-1]) for path, _ in sources]
    first = found[0] if found else {}
    if not any(found):
        return [source for _, source in sources]
    for (path, _), values in zip(sources, found, strict=True):
        if values.keys() != first.keys():
            shown = ", ".join(printable(key) for key in values) or "nothing"
            others = ", ".join(printable(key) for key in first) or "nothing"
            raise BadFile(
                f"its folders are named after {shown}, those of the first file after {others}; choose with a pattern",
                file=str(path),
            )
    types = {}
    for key in first:
        texts = [values[key] for values in found if values[key] is not None]
        is_whole = bool(texts) and all(_WHOLE.fullmatch(str(text)) for text in texts)
        types[key] = pa.int64() if is_whole else pa.string()
    return [PartitionFile(source, values, types) for (_, source), values in zip(sources, found, strict=True)]

"""NumPy archives: arrays by name, one row an entry."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.files.source import BadFile, Batch

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 10_000


class ArrayFile:
    """An ``.npz`` file; arrays of one length are its columns, those of two dimensions hold lists."""

    is_text = False

    def __init__(self, name: str, data: Any) -> None:
        import numpy as np
        import pyarrow as pa

        self.name = name
        try:
            with open(data, "rb") if isinstance(data, str) else data as raw:
                archive = np.load(raw, allow_pickle=False)
                arrays = {key: archive[key] for key in archive.files}
        except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
            why = printable(str(error).splitlines()[0])
            raise BadFile(
                f"not a NumPy archive of plain arrays, or a damaged one ({why})",
                file=name,
            ) from error
        columns = {key: _column(array) for key, array in arrays.items() if array.ndim in (1, 2) and len(array)}
        lengths = {key: len(column) for key, column in columns.items() if column is not None}
        if not lengths:
            raise BadFile("it holds no arrays of one or two dimensions; there is nothing to assess", file=name)
        rows = max(lengths.values(), key=list(lengths.values()).count)
        self._table = pa.table({key: columns[key] for key, length in lengths.items() if length == rows})
        self.schema = self._table.schema

    def head(self) -> pa.Table:
        return self._table.slice(0, _HEAD)

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        yield Batch(self._table.select([name for name in self.schema.names if name in columns]))


def _column(array: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    if array.dtype.kind not in "biufU":
        return None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    flat = pa.array(np.ascontiguousarray(array).ravel())
    return flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, array.shape[1])

"""NumPy archives: arrays by name, one row an entry."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.files.damage import check_names, damaged
from surefoot.files.source import BadFile, Batch
from surefoot.files.zipped import Archive

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 10_000
_NONE = "not a NumPy archive of plain arrays, or a damaged one"


class ArrayFile:
    """An ``.npz`` file; arrays of one length are its columns, those of two dimensions hold lists."""

    is_text = False

    def __init__(self, name: str, data: Any) -> None:
        import pyarrow as pa

        self.name = name
        size = os.path.getsize(data) if isinstance(data, str) else len(data)
        most = limits.unpacked(size)
        archive = Archive(name, data, most, most, what=_NONE)
        arrays = {entry.removesuffix(".npy"): self._array(archive, entry) for entry in archive.names()}
        columns = {key: _column(array) for key, array in arrays.items() if array.ndim in (1, 2) and len(array)}
        lengths = {key: len(column) for key, column in columns.items() if column is not None}
        if not lengths:
            raise BadFile("it holds no arrays of one or two dimensions; there is nothing to assess", file=name)
        rows = max(lengths.values(), key=list(lengths.values()).count)
        self._table = pa.table({key: columns[key] for key, length in lengths.items() if length == rows})
        self.schema = self._table.schema
        check_names(name, self.schema.names)

    def _array(self, archive: Archive, entry: str) -> Any:
        """One array. What its header claims is compared with what there is before anything is made of it."""
        import numpy as np

        content = archive.read(entry)
        with damaged(self.name, f"{_NONE}: {printable(entry)}"):
            raw = io.BytesIO(content)
            version = np.lib.format.read_magic(raw)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, is_fortran, dtype = read(raw)
            if dtype.hasobject:
                raise ValueError("it holds Python objects, which may run code when loaded")
            count, held = math.prod(shape), len(content) - raw.tell()
            if min(shape, default=0) < 0 or count * dtype.itemsize != held:
                raise ValueError(f"its header claims an array of shape {shape}, and {held:,} bytes follow")
            array = np.frombuffer(content, dtype, count, raw.tell()) if held else np.empty(shape, dtype)
            return array.reshape(shape, order="F" if is_fortran else "C")

    def head(self) -> pa.Table:
        return self._table.slice(0, _HEAD)

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        yield Batch(self._table.select([name for name in self.schema.names if name in columns]))


def _column(array: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    if array.dtype.kind not in "biufU" or (array.ndim == 2 and not array.shape[1]):
        return None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        # more digits than anything computes with
        array = array.astype(np.float64)
    # Arrow knows the byte order of this machine only
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    flat = pa.array(array.ravel())
    return flat if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, array.shape[1])

"""The cells of a column at once: as numbers, as flags, and which of them hold something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: From whole numbers beyond this on, a float may be several.
_EXACT = 1 << 53


def is_beyond_floats(value: Any) -> bool:
    """Whether a value is a whole number that a float may not hold to the last digit, as of an id."""
    return isinstance(value, int) and abs(value) > _EXACT


def which(column: Any, holds: Callable[[str], bool]) -> Any:
    """Of which cells of a column of text something holds; each distinct text is asked once."""
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(column.combine_chunks() if column.num_chunks != 1 else column.chunk(0))
    found = [text is not None and holds(text) for text in encoded.dictionary.to_pylist()]
    codes = np.asarray(pc.fill_null(encoded.indices, len(found)))
    return np.array([*found, False])[codes]


def flags_of(column: Any) -> Any:
    """The flags of a column without nulls."""
    import pyarrow as pa

    return numbers_of(column.cast(pa.uint8())).astype(bool)


def numbers_of(column: Any) -> Any:
    """The numbers of a column, nan where there is none: by a way that does not load pandas, as Arrow's own does."""
    if column.null_count:
        return np.asarray(column.to_numpy())
    pieces = [np.from_dlpack(piece) for piece in getattr(column, "chunks", [column]) if len(piece)]
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.zeros(0, dtype=np.uint8), *pieces])

"""Rows of an Arrow stream, none of which may take more memory than it has bytes."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

from surefoot._io.printable import printable
from surefoot.service.refused import Refused
from surefoot.service.rounded import add_doubts, doubt_of_ones

#: Bytes of a text in a dictionary, which every row may name.
_MOST_TEXT = 1_000
#: Of a message of Arrow's format: batches of dictionaries and of rows, and where their parts stand.
_DICTIONARY, _ROWS = 2, 3
_HEADER_TYPE, _HEADER, _DATA, _COMPRESSION = 1, 2, 1, 3


def read_rows(body: bytes, most: int) -> list[Any]:
    """The rows of a stream, as objects; more than so many are refused."""
    import pyarrow as pa

    try:
        for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)):
            if _is_compressed(message.metadata.to_pybytes()):
                raise Refused(415, "the Arrow stream is compressed; send it as it is")
        with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
            for name, times in Counter(stream.schema.names).items():
                if times > 1:
                    # of two values one would be lost
                    raise Refused(400, f"column {printable(repr(name))} stands {times} times in the stream; send one")
            for field in stream.schema:
                _check_type(pa, field)
            held, found = 0, []
            for batch in stream:
                batch.validate(full=True)
                held += batch.num_rows
                if held > most:
                    raise Refused(413, f"more than {most:,} rows in one request; send at most {most:,}")
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    _check_dictionary(pa, name, column)
                rows = batch.to_pylist()
                if "confidence" in batch.schema.names:
                    add_doubts(rows, doubt_of_ones(batch.column("confidence").to_numpy(zero_copy_only=False)))
                found += rows
            return found
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError, struct.error) as why:
        raise Refused(400, f"the body is not an Arrow stream: {printable(str(why), 120)}") from why


def _check_type(pa: Any, field: Any) -> None:
    """A column of lists, views or runs may stand for far more than its bytes."""
    of = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    is_number = pa.types.is_integer(of) or pa.types.is_floating(of)
    is_text = pa.types.is_string(of) or pa.types.is_large_string(of)
    if not (is_number or is_text or pa.types.is_boolean(of) or pa.types.is_null(of)):
        raise Refused(
            400,
            f"column {printable(repr(field.name))} is of type {printable(str(field.type), 60)}; send text, numbers or "
            "booleans",
        )


def _check_dictionary(pa: Any, name: str, column: Any) -> None:
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return
    values = column.dictionary
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        longest = pc.max(pc.binary_length(values)).as_py() or 0
        if longest > _MOST_TEXT:
            raise Refused(400, f"column {printable(repr(name))} has a text of {longest:,} bytes; send shorter ones")


def _is_compressed(metadata: bytes) -> bool:
    """Whether the buffers of a message unpack to more than they are; pyarrow has checked its offsets."""
    (root,) = struct.unpack_from("<I", metadata)
    kind = _field(metadata, root, _HEADER_TYPE)
    if kind is None or metadata[kind] not in (_DICTIONARY, _ROWS):
        return False
    table = _table(metadata, root, _HEADER)
    if metadata[kind] == _DICTIONARY:
        table = _table(metadata, table, _DATA)
    return _field(metadata, table, _COMPRESSION) is not None


def _field(held: bytes, table: int, number: int) -> int | None:
    """Where a field of a table of FlatBuffers stands; None if it is left out."""
    vtable = table - int(struct.unpack_from("<i", held, table)[0])
    if 4 + 2 * number >= struct.unpack_from("<H", held, vtable)[0]:
        return None
    (offset,) = struct.unpack_from("<H", held, vtable + 4 + 2 * number)
    return table + int(offset) if offset else None


def _table(held: bytes, table: int, number: int) -> int:
    """Where a table stands that another one has as a field."""
    at = _field(held, table, number)
    if at is None:
        raise ValueError("a message without a batch")
    return at + int(struct.unpack_from("<I", held, at)[0])

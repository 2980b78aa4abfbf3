"""Streams of Arrow: what people send is read, and what would unpack to far more than was sent is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from surefoot.service import batches
from surefoot.service.batches import ARROW, Prediction
from surefoot.service.refused import Refused


def stream(columns: dict[str, Any], compression: str | None = None) -> bytes:
    table, sink = pa.table(columns), pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def test_columns_as_frames_have_them_are_read() -> None:
    columns = {
        "id": pa.array([7, 8], pa.int64()),
        "confidence": pa.array([0.75, 0.5], pa.float32()),
        "slice": pa.array(["north", "south"]).dictionary_encode(),
        "predicted": pa.array(["cat", None], pa.large_string()),
        "correct": pa.array([None, None]),
    }
    assert batches.predictions(stream(columns), ARROW) == [
        Prediction("7", 0.75, 0.25, "cat", "north"),
        Prediction("8", 0.5, 0.5, None, "south"),
    ]


def test_of_two_columns_of_one_name_none_is_lost() -> None:
    table = pa.Table.from_arrays(
        [pa.array(["a"]), pa.array([0.9]), pa.array([0.1])], ["id", "confidence", "confidence"]
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(Refused, match="column 'confidence' stands 2 times") as raised:
        batches.predictions(sink.getvalue().to_pybytes(), ARROW)
    assert raised.value.status == 400


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
@pytest.mark.parametrize("is_dictionary", [False, True])
def test_a_compressed_stream_is_refused_before_it_is_unpacked(compression, is_dictionary) -> None:
    texts = pa.array(["a" * 50_000] * 200)
    columns = {"id": texts.dictionary_encode() if is_dictionary else texts, "confidence": [0.5] * 200}
    body = stream(columns, compression)
    assert is_dictionary or len(body) < 100_000
    allocated = pa.total_allocated_bytes()
    with pytest.raises(Refused, match="is compressed") as raised:
        batches.predictions(body, ARROW)
    assert raised.value.status == 415
    assert pa.total_allocated_bytes() - allocated < 1_000_000


ODD = {
    "a text that every row names": pa.DictionaryArray.from_arrays(np.zeros(9, np.int32), ["x" * 100_000]),
    "lists without bytes": pa.FixedSizeListArray.from_arrays(pa.nulls(9 * 100_000), 100_000),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([9], pa.int32()), ["x" * 100_000]),
    "views": pa.array(["x" * 100_000] * 9, pa.string_view()),
    "structures": pa.array([{"a": 1}] * 9),
}


@pytest.mark.parametrize("name", ODD)
def test_columns_that_stand_for_more_than_their_bytes_are_refused(name) -> None:
    body = stream({"id": [str(i) for i in range(9)], "confidence": [0.5] * 9, "slice": ODD[name]})
    with pytest.raises(Refused, match=r"column 'slice'") as raised:
        batches.predictions(body, ARROW)
    assert raised.value.status == 400

"""Record batches, one after the other."""

import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions
from surefoot.metrics import ALL


def test_batches_that_are_no_batches_and_batches_that_do_not_count() -> None:
    batch = pa.record_batch({"correct": [True, False], "confidence": [0.9, 0.5], "weight": [1.0, 2.0]})
    nothing = pa.record_batch({"correct": [True], "confidence": [0.9], "weight": [0.0]})
    total = sf.tally_batches([nothing, batch, nothing], weight="weight", correct="correct", confidence="confidence")
    assert ALL["accuracy"].of(total) == pytest.approx(1 / 3)
    for bad in ([None], [5], None, 7):
        with pytest.raises(InvalidPredictions, match="batch"):
            sf.tally_batches(bad)
    lazy = pl.from_arrow(pa.Table.from_batches([batch])).lazy()
    assert ALL["accuracy"].of(sf.tally_batches([lazy])) == pytest.approx(1 / 3)

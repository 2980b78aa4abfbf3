"""Columns may be stored in other ways: what is read from them is the same, or they are refused by name."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.files import columnar, reader
from surefoot.files.reading import follow, read

ROWS = 60
RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 3, ROWS)
TABLE = RNG.dirichlet(np.ones(3), ROWS).round(6)
TABLE[:, 0] = (1 - TABLE[:, 1] - TABLE[:, 2]).round(6)
NAMES = np.array(["a", "b", "c"])
RIGHT = np.array(["no", "yes"])[(TABLE.argmax(1) == TRUTH).astype(int)]

#: The same rows in several ways; plain columns.
PLAIN: dict[str, dict[str, Any]] = {
    "labels": {"truth": NAMES[TRUTH], "predicted": NAMES[TABLE.argmax(1)], "confidence": TABLE.max(1)},
    "second": {"y": (TRUTH == 1).astype(int), "prob": TABLE[:, 1]},
    "several": {"truth": NAMES[TRUTH], **{f"p_{name}": TABLE[:, k] for k, name in enumerate(NAMES)}},
    "outcomes": {"correct": RIGHT, "confidence": TABLE.max(1), "weight": TABLE[:, 2] + 0.5},
    "percent": {"correct": RIGHT, "confidence": [f"{100 * c:.1f}%" for c in TABLE.max(1)]},
}


def views(values: pa.Array) -> pa.Array | None:
    """As Polars stores text; older versions of PyArrow cast nothing to it."""
    return pa.array(values.to_pylist(), pa.string_view()) if pa.types.is_string(values.type) else None


def dictionary_of_views(values: pa.Array) -> pa.Array | None:
    encoded = values.dictionary_encode()
    once = views(encoded.dictionary)
    return None if once is None else pa.DictionaryArray.from_arrays(encoded.indices, once)


#: Ways to store a column; None for columns that cannot be stored so.
WAYS: dict[str, Callable[[Any], Any]] = {
    "dictionary": lambda values: values.dictionary_encode(),
    "large text": lambda values: values.cast(pa.large_string()) if pa.types.is_string(values.type) else None,
    "view": views,
    "dictionary of views": dictionary_of_views,
    "decimal": lambda values: (
        pc.round(values, 7).cast(pa.decimal128(12, 7), safe=False) if pa.types.is_floating(values.type) else None
    ),
}


def write(path: Path, held: pa.Table) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(held, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, held.schema) as writer:
            writer.write_table(held)
    return path


def sums(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is found in a file held whole, tallied from pieces, followed, and followed through a pipe."""
    whole = sf.assess(path)
    with monkeypatch.context() as context:
        context.setattr(reader, "MOST_ROWS", 3)
        pieces = sf.assess(read(str(path), {}, by=None).held)
    found: list[Any] = [whole.risk.n, whole.csr, whole["accuracy"], pieces.risk.n, pieces.csr, pieces["accuracy"]]
    with monkeypatch.context() as context:
        for name in (str(path), "-"):
            context.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(path.read_bytes()))))
            rows = [some for some, _, _ in follow(name, {}, identifier=None, delimiter=None)]
            found += [sum(map(len, rows)), sum(float(some.confidence.sum()) for some in rows)]
            found.append(sum(int(some.correct.sum()) for some in rows))
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
def test_a_column_stored_in_another_way_holds_the_same(
    way: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0
    for columns in PLAIN.values():
        plain = pa.table({name: pa.array(values) for name, values in columns.items()})
        expected = sums(write(tmp_path / f"plain{suffix}", plain), monkeypatch)
        for i, name in enumerate(plain.column_names):
            stored = WAYS[way](plain.column(name).combine_chunks())
            # Parquet files of PyArrow hold no such dictionaries, and with older versions no views
            if stored is None or ("view" in way and suffix == ".parquet"):
                continue
            other = write(tmp_path / f"other{suffix}", plain.set_column(i, name, stored))
            assert sums(other, monkeypatch) == pytest.approx(expected, rel=1e-12), name
            tried += 1
    assert tried >= 5 or suffix == ".parquet"


def test_weights_stored_as_decimals_count(tmp_path: Path) -> None:
    """Rows of weight 3 and 1, of which the first is right: 75%."""
    held = pa.table({"correct": [1, 0], "confidence": [0.5, 0.5], "weight": [Decimal("3.0"), Decimal("1.0")]})
    assert sf.assess(write(tmp_path / "a.parquet", held))["accuracy"] == 0.75


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_weight_that_is_no_number_is_not_left_out_with_all_others(suffix: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"correct": [1, 0, 1], "confidence": [0.9, 0.8, 0.7], "weight": ["1", "abc", "3"]})
    path = tmp_path / f"a{suffix}"
    {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}[suffix](path)
    with pytest.raises(sf.InvalidPredictions, match="row 2: weight is 'abc', not a number"):
        sf.load(path)


def test_words_in_a_column_called_weight_are_no_weights(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("correct,confidence,weight\n1,0.9,light\n0,0.8,heavy\n")
    assert sf.assess(tmp_path / "a.csv")["accuracy"] == 0.5


def test_polars_writes_what_is_read(tmp_path: Path) -> None:
    names = {
        name: pl.Series(NAMES[k], dtype=pl.Categorical)
        for name, k in (("truth", TRUTH), ("predicted", TABLE.argmax(1)))
    }
    frame = pl.DataFrame({**names, "confidence": TABLE.max(1), "note": ["long enough to lie elsewhere"] * ROWS})
    frame.write_ipc(tmp_path / "a.arrow")
    assert pa.ipc.open_file(tmp_path / "a.arrow").schema.field("note").type == pa.string_view()
    assert sf.assess(tmp_path / "a.arrow", by="note")["accuracy"] == float((TABLE.argmax(1) == TRUTH).mean())


@pytest.mark.parametrize("name", ["correct", "confidence", "weight"])
def test_runs_of_equal_values_are_refused(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plain = pa.table({"correct": [1, 0], "confidence": [0.5, 0.5], "weight": [1.0, 1.0]})
    held = plain.set_column(plain.column_names.index(name), name, pc.run_end_encode(plain.column(name)))
    assert run(["assess", str(write(tmp_path / "a.arrow", held))]) == 3
    told = capfd.readouterr().err
    assert f"a.arrow: {name} is stored as run_end_encoded<" in told
    assert told.rstrip().endswith("store it as a plain column")


def test_views_of_lists_are_refused(tmp_path: Path) -> None:
    lists = pa.array([[0.5, 0.5], [0.25, 0.75]], pa.list_view(pa.float64()))
    path = write(tmp_path / "a.arrow", pa.table({"truth": [0, 1], "p": lists}))
    with pytest.raises(sf.InvalidPredictions, match="p is stored as list_view<"):
        sf.load(path, truth="truth", probabilities="p")


@pytest.mark.parametrize("way", ["view", "dictionary"])
def test_a_long_text_that_many_rows_share_makes_short_batches(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view, or a code, takes a few bytes for a text of any length: only a few are written out at once."""
    texts = WAYS[way](pa.array(["Confidence: 90% " + "x" * 1000] * 1000))
    held = pa.table({"correct": [1] * 1000, "answer": texts})
    monkeypatch.setattr(columnar, "_BYTES", 10_000)
    source = columnar.ArrowFile("a", str(write(tmp_path / "a.arrow", held)))
    batches = [batch.table for batch in source.batches(["correct", "answer"], ["answer"])]
    assert max(table.num_rows for table in batches) == 9
    assert sum(table.num_rows for table in batches) == 1000
    assert len(sf.load(tmp_path / "a.arrow", correct="correct", confidence="answer")) == 1000


def test_a_label_that_is_too_long_is_refused_however_it_is_stored(tmp_path: Path) -> None:
    labels = views(pa.array(["a", "x" * 10_001]))
    path = write(tmp_path / "a.arrow", pa.table({"truth": labels, "predicted": labels, "confidence": [0.5, 0.5]}))
    with pytest.raises(sf.InvalidPredictions, match="a name of 10,001 characters"):
        sf.load(path)


def test_the_positive_label_may_have_many_digits(tmp_path: Path) -> None:
    great = 12345678901234567
    path = write(tmp_path / "a.parquet", pa.table({"truth": [great, 0, great], "prob": [0.9, 0.2, 0.4]}))
    assert read(str(path), {}, by=None, positive=str(great)).held.correct.tolist() == [True, True, False]
    with pytest.raises(sf.InvalidPredictions, match="none of the labels"):
        read(str(path), {}, by=None, positive="9" * 400)

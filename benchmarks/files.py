"""How fast files are read and assessed: beside DuckDB and Polars merely summing the column of confidences.

Besides, what Arrow takes to read the columns that are used, and nothing more: the least that an assessment can take.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from benchmarks.rows import Row, best
from surefoot.assessment.assess import ALWAYS_TOLD, assess
from surefoot.files.reading import read


def drawn(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    confidence = 1 - 10 ** rng.uniform(-6, -0.3, n)
    return rng.random(n) < confidence, confidence


def assessed(path: Path) -> None:
    """What `surefoot assess FILE` does between its start and its first page."""
    assess(read(str(path), {}, metrics=ALWAYS_TOLD).held, metrics=())


def sums(path: Path) -> dict[str, float]:
    import duckdb
    import polars as pl

    lazy = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    return {
        "DuckDB": best(lambda: duckdb.sql(f"select sum(confidence) from '{path}'").fetchall(), 3),
        "Polars": best(lambda: lazy.select(pl.col("confidence").sum()).collect(engine="streaming"), 3),
    }


def files() -> list[Row]:
    rng = np.random.default_rng(0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        correct, confidence = drawn(10_000_000, rng)
        truth = rng.integers(0, 10, len(correct))
        predicted = np.where(correct, truth, (truth + 1) % 10)
        tables = {
            "CSV, 1e7 rows, correct and six decimals": {
                "correct": correct.astype(np.int8),
                "confidence": confidence.round(6),
            },
            "CSV, 1e7 rows, labels and all decimals": {
                "truth": truth,
                "predicted": predicted,
                "confidence": confidence,
            },
        }
        for name, columns in tables.items():
            path = Path(folder) / "rows.csv"
            csv.write_csv(pa.table(columns), path)
            rows += compared(name, path, {"DuckDB": "", "Polars": "at most 1.5x"})
        path = Path(folder) / "rows.parquet"
        writer = None
        for _ in range(10):
            correct, confidence = drawn(10_000_000, rng)
            table = pa.table({"correct": correct, "confidence": confidence})
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        rows += compared("Parquet, 1e8 rows", path, {"DuckDB": "at most 3.5x", "Polars": ""})
    return rows


def only_read(path: Path) -> None:
    """Arrow reading every column."""
    if path.suffix == ".csv":
        csv.read_csv(path, csv.ReadOptions(block_size=1 << 22))
    else:
        for _ in pq.ParquetFile(path).iter_batches(batch_size=1 << 20):
            pass


def compared(name: str, path: Path, wanted: dict[str, str]) -> list[Row]:
    ours, read_only = best(lambda: assessed(path), 3), best(lambda: only_read(path), 3)
    rows = []
    for other, theirs in sums(path).items():
        against = f"{other} summing the confidences"
        rows.append(
            Row(f"{name}: read and assessed", ours, against, theirs, wanted[other], f"{ours / theirs:.1f}x"),
        )
        rows.append(Row(f"{name}: read by Arrow", read_only, against, theirs, "", f"{read_only / theirs:.1f}x"))
    return rows

"""How fast files are read and assessed: beside DuckDB and Polars merely summing the column of confidences."""

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
            rows += compared(name, path, "at most 2x of either")
        path = Path(folder) / "rows.parquet"
        writer = None
        for _ in range(10):
            correct, confidence = drawn(10_000_000, rng)
            table = pa.table({"correct": correct, "confidence": confidence})
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        rows += compared("Parquet, 1e8 rows", path, "at most 10x")
    return rows


def compared(name: str, path: Path, wanted: str) -> list[Row]:
    ours = best(lambda: assessed(path), 3)
    return [
        Row(
            f"{name}: read and assessed",
            ours,
            f"{other} summing the confidences",
            theirs,
            wanted,
            f"{ours / theirs:.1f}x",
        )
        for other, theirs in sums(path).items()
    ]

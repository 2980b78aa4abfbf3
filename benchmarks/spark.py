"""What assessing costs on Spark, beside its own sum of the same columns: `python -m benchmarks.spark [FOLDER]`.

Fifty million rows of Parquet, `local[2]`; of a hundred classes, half a million. Writes `benchmarks/SPARK.md`.
"""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.metrics import ALL
from surefoot.metrics.tallying import ALWAYS

ROWS = 50_000_000
#: The rows of many classes, beside as many of two.
CLASSES, CLASS_ROWS = 100, 500_000


def written(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "rows.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    schema = pa.schema({"y": pa.int64(), "p": pa.float64(), "confidence": pa.float64(), "correct": pa.bool_()})
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(10):
            p = rng.beta(2, 2, ROWS // 10)
            y = (rng.random(len(p)) < p).astype(np.int64)
            columns = {"y": y, "p": p, "confidence": np.maximum(p, 1 - p), "correct": (p > 0.5) == (y == 1)}
            writer.write_table(pa.table(columns, schema), row_group_size=1_000_000)
    return path


def written_classes(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "classes.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(1)
    names = [f"p_{k}" for k in range(CLASSES)]
    types = {"y": pa.int64(), "binary": pa.int64(), **dict.fromkeys(names, pa.float64())}
    with pq.ParquetWriter(path, pa.schema(types)) as writer:
        for _ in range(10):
            p = rng.dirichlet(np.full(CLASSES, 0.05), CLASS_ROWS // 10)
            y = (p.cumsum(axis=1) < rng.random(len(p))[:, None]).sum(axis=1).clip(0, CLASSES - 1)
            held = {"y": y, "binary": rng.random(len(p)) < p[:, 0], **{name: p[:, k] for k, name in enumerate(names)}}
            writer.write_table(pa.table({name: pa.array(held[name]).cast(kind) for name, kind in types.items()}))
    return path


def least(job: Callable[[], Any], times: int) -> float:
    took = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        took.append(time.perf_counter() - start)
    return min(took)


def main() -> None:
    from pyspark.sql import SparkSession, functions

    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        frame = session.read.parquet(str(written(folder)))
        lines = ["| | seconds | Spark's sum of the columns | ratio |", "|---|---:|---:|---:|"]

        def told(what: str, own: float, other: float) -> None:
            print(f"{what}: {own:.2f} s; sum {other:.2f} s; ratio {own / other:.1f}", flush=True)
            lines.append(f"| {what} | {own:.2f} | {other:.2f} | {own / other:.1f} |")

        def summed(*names: str) -> float:
            sums = [functions.sum(functions.col(name).cast("double")) for name in names]
            return least(lambda: frame.agg(*sums).collect(), 5)

        top, scored = frame.select("correct", "confidence"), frame.select("y", "p")
        terms = [
            *ALWAYS,
            *(t for name in ("csr", "csr_sigma", "cw_accuracy", "accuracy", "brier") for t in ALL[name].terms),
        ]
        p = sf.Predictions.from_frame(top, correct="correct", confidence="confidence")
        base = summed("confidence", "correct")
        told("sums over all rows: CSR, sigma, cwA, accuracy, Brier", least(lambda: p.tally(terms), 4), base)
        assessed = least(lambda: sf.assess(top, correct="correct", confidence="confidence"), 4)
        told("all of assess, from correct and confidence", assessed, base)
        labelled = least(lambda: sf.assess(scored, truth="y", probabilities="p"), 3)
        told("all of assess, from P(second label): classes and rankings too", labelled, summed("y", "p"))
        many = session.read.parquet(str(written_classes(folder)))
        named = {"truth": "y", "probabilities": "p_", "labels": list(range(CLASSES))}
        of_many = least(lambda: sf.assess(many.drop("binary"), **named), 2)
        of_two = least(lambda: sf.assess(many.select("binary", "p_0"), truth="binary", probabilities="p_0"), 3)
        print(f"{CLASSES} classes: {of_many:.2f} s; two: {of_two:.2f} s; ratio {of_many / of_two:.1f}", flush=True)
        classes = (
            f"All of assess from the probabilities of {CLASSES} classes, {CLASS_ROWS:,} rows: {of_many:.2f} seconds, "
            f"{of_many / of_two:.1f} times as long as from P(second label) of as many rows ({of_two:.2f}); that is "
            f"{10 * of_many / of_two / CLASSES:.2f} times for each ten classes. Wanted: at most 2."
        )
    text = [
        "# Speed on Spark",
        f"Made by `python -m benchmarks.spark` on {datetime.date.today()}: {ROWS:,} rows of Parquet, Spark "
        f"{session.version}, `local[2]`, the least of several runs in one session (the first of each compiles, and takes "
        "half as long again). Checks included.",
        "\n".join(lines),
        classes,
    ]
    Path(__file__).with_name("SPARK.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")
    session.stop()


if __name__ == "__main__":
    main()

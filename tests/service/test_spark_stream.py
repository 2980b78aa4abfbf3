"""A streaming query that is killed and started again counts each row once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.service import spark, totals
from surefoot.service.database import connect
from surefoot.service.store import Store
from tests.service.killing import different_totals
from tests.service.serving import database_of, sample

#: Counts the files of a folder, two in a batch, and ends when all are counted; or dies once it has stored a batch.
QUERY = """
import os, signal, sys
from pathlib import Path
from pyspark.sql import SparkSession
import surefoot as sf
from surefoot.service import spark as streams

when, folder, store = sys.argv[1:]
session = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()
)
session.sparkContext.setLogLevel("OFF")
count = streams.count_batches(store, "fraud", "3", name="query")
own = streams._add

def die_after(*arguments):
    own(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

def counted(frame, batch):
    if batch == 2 and when == "once":
        streams._add = die_after
    count(frame, batch)

rows = session.readStream.schema("correct boolean, confidence double").option("maxFilesPerTrigger", 2)
query = rows.parquet(folder + "/rows").writeStream.foreachBatch(counted).trigger(availableNow=True)
query.option("checkpointLocation", folder + "/checkpoint").start().awaitTermination()
files = sorted(str(path) for path in Path(folder, "rows").iterdir())
whole = sf.tally(sf.Predictions.from_frame(session.read.parquet(*files), correct="correct", confidence="confidence"))
whole.save(folder + "/whole.tally")
"""


class Frame:
    """A micro-batch, as far as it is asked for anything but its totals."""

    def __init__(self, rows: slice) -> None:
        self.rows = rows

    def select(self, *columns: str) -> Frame:
        assert columns == ("correct", "confidence")
        return self

    def persist(self) -> Frame:
        return self

    def unpersist(self) -> None:
        pass

    def isEmpty(self) -> bool:
        return self.rows.stop == self.rows.start


def test_each_batch_counts_once(tmp_path: Path, monkeypatch) -> None:
    """Also if the driver dies before or after it has stored one; and batches of another checkpoint are refused."""
    confidence, correct = sample(900)
    monkeypatch.setattr(
        spark,
        "_tally",
        lambda frame, columns: sf.tally(sf.Predictions.from_correct(correct[frame.rows], confidence[frame.rows])),
    )
    path = database_of(tmp_path)
    count = spark.count_batches(path, "fraud", "3", name="query")
    batches = [slice(0, 400), slice(400, 400), slice(400, 700), slice(700, 900)]
    for number, rows in enumerate(batches):
        with monkeypatch.context() as patched:
            patched.setattr(*((totals, "add") if rows.stop > rows.start else (spark, "_add")), lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                count(Frame(rows), number)
        for _ in range(2):
            count(Frame(rows), number)
    for number in (0, 6):
        with pytest.raises(ValueError, match=f"batch {number} of 'query' comes after batch 3"):
            count(Frame(batches[0]), number)
    database = connect(path)
    stream = Store(database).find("fraud", "3")
    total = totals.total(database, stream)
    assert total is not None
    assert (stream.counts.places, stream.counts.tally_only, stream.counts.labelled) == (0, 900, 900)
    assert different_totals(total, sf.tally(sf.Predictions.from_correct(correct, confidence))) == []
    database.close()
    with pytest.raises(ValueError, match="is no name"):
        spark.count_batches(path, "no name!", name="query")
    with pytest.raises(ValueError, match="name is empty"):
        spark.count_batches(path, "fraud", name="")


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_a_killed_query_counts_each_row_once(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    confidence, correct = sample(6_000)
    (tmp_path / "rows").mkdir()
    for i, some in enumerate(np.array_split(np.arange(6_000), 10)):
        table = pa.table({"correct": correct[some], "confidence": confidence[some]})
        pq.write_table(table, tmp_path / "rows" / f"{i:02}.parquet")
    path = database_of(tmp_path)

    def run(when: str) -> int:
        command = [sys.executable, "-c", QUERY, when, str(tmp_path), path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr[-2_000:]
        return done.returncode

    # batch 2 is stored, and Spark never learns of it
    assert run("once") == -signal.SIGKILL
    assert run("never") == 0
    database = connect(path)
    stream = Store(database).find("fraud", "3")
    total = totals.total(database, stream)
    assert total is not None
    assert (stream.counts.places, stream.counts.tally_only, stream.counts.labelled) == (0, 6_000, 6_000)
    ((part, _, _, rows, expected, observed),) = totals.by_hour(database, stream)
    assert (part, rows, observed) == ("", 6_000, int((~correct).sum()))
    assert expected == pytest.approx((1 - confidence).sum(), rel=1e-12)
    assert different_totals(total, sf.Tally.load(tmp_path / "whole.tally")) == []
    assert sf.assess(total)["csr"] == pytest.approx(sf.csr(correct=correct, confidence=confidence), rel=1e-12)
    database.close()

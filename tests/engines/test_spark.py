"""The same totals from Spark."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_sample import CONSTRUCTORS, FRAME, assert_same

from surefoot import Predictions, Tally, accuracy, act_alone, assess, risk_test, tally

pytest.importorskip("pyspark", reason="PySpark is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java", allow_module_level=True)
pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_totals_of_spark_are_those_of_arrays(spark, constructor: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pandas(FRAME))
    assert_same(
        tally(Predictions.from_frame(FRAME, **CONSTRUCTORS[constructor])),
        tally(Predictions.from_frame(frame, **CONSTRUCTORS[constructor])),
    )


def test_slices_of_spark_are_those_of_arrays(spark) -> None:
    frame = spark.createDataFrame(pa.Table.from_pandas(FRAME))
    pushed = tally(Predictions.from_frame(frame, **CONSTRUCTORS["probabilities"]), by="group")
    arrays = tally(Predictions.from_frame(FRAME, **CONSTRUCTORS["probabilities"]), by=FRAME["group"])
    for value, part in arrays.slices.items():
        assert_same(part, pushed.slices[value])


def test_many_classes_of_spark_are_those_of_arrays(spark) -> None:
    # shares whose sums are exact in any order; of equal ones the first is predicted
    rng = np.random.default_rng(3)
    p = rng.multinomial(1 << 20, rng.dirichlet(np.full(64, 0.1), 300)) / (1 << 20)
    p[:20] = 1 / 64
    frame = pd.DataFrame(p, columns=[f"p_{k}" for k in range(64)])
    frame["y"] = rng.integers(0, 64, 300)
    named = {"truth": "y", "probabilities": "p_", "labels": list(range(64))}
    pushed = Predictions.from_frame(spark.createDataFrame(pa.Table.from_pandas(frame)), **named)
    assert_same(tally(Predictions.from_frame(frame, **named)), tally(pushed))


def test_spark_acts_alone_from_the_same_confidence(spark) -> None:
    rng = np.random.default_rng(9)
    confidence = rng.beta(8, 1, 4000)
    part = np.array(["a", "b"])[np.arange(4000) % 2]
    rows = pa.table({"correct": rng.random(4000) < confidence, "confidence": confidence, "part": part})
    named = {"correct": "correct", "confidence": "confidence"}
    one = act_alone(rows, **named, error=0.06, by="part")
    other = act_alone(spark.createDataFrame(rows), **named, error=0.06, by="part")
    assert one.threshold is not None
    assert other.policy == one.policy
    assert (other.curve.upper == one.curve.upper).all()


def test_rows_of_spark_that_were_not_attempted_are_counted_apart(spark) -> None:
    rows = pd.DataFrame(
        {
            "correct": [True, False, True, False],
            "confidence": [0.9, 0.8, 0.7, 0.6],
            "attempted": [True, True, True, False],
        }
    )
    made = Predictions.from_frame(
        spark.createDataFrame(rows), correct="correct", confidence="confidence", attempted="attempted"
    )
    assert tally(made).not_attempted == 1
    assert accuracy(made) == pytest.approx(2 / 3)


def test_groups_of_spark_are_those_of_arrays(spark) -> None:
    from surefoot import assess, risk_test

    rng = np.random.default_rng(8)
    patient = np.repeat(np.arange(40), 6)
    doubt = rng.uniform(0.01, 0.6, 240)
    correct = rng.random(240) >= doubt
    rows = pa.table({"correct": correct, "confidence": 1 - doubt, "patient": patient, "region": patient % 2})
    frame = spark.createDataFrame(rows)
    named = {"correct": "correct", "confidence": "confidence"}
    one = risk_test(Predictions.from_frame(rows, **named), groups=patient)
    other = risk_test(Predictions.from_frame(frame, **named), groups="patient")
    for name in ("pvalue", "pvalue_omnibus", "log_e", "design_effect", "oe_interval", "overstatement_interval"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9), name
    assert assess(frame, **named, groups="patient").risk.groups == 40


def test_a_cluster_that_loses_a_worker_gives_the_same_totals(tmp_path) -> None:
    rng = np.random.default_rng(5)
    rows, files = 24_000, 24
    p = rng.dirichlet([1, 1, 0.5], rows)
    frame = pd.DataFrame(
        {
            "y": (p.cumsum(axis=1) < rng.random(rows)[:, None]).sum(axis=1).clip(0, 2),
            "p_0": p[:, 0],
            "p_1": p[:, 1],
            "p_2": p[:, 2],
            "group": rng.integers(0, 3, rows),
        }
    )
    data = tmp_path / "data"
    data.mkdir()
    for i in range(files):
        frame.iloc[i * rows // files : (i + 1) * rows // files].to_parquet(data / f"part-{i:02}.parquet")
    script = Path(__file__).with_name("spark_cluster.py")
    # which keeps its own time: killed from here, it would leave a master and workers behind
    done = subprocess.run(
        [sys.executable, script, data, tmp_path / "cluster.tally"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-8000:]
    assert "killed a worker" in done.stdout
    found = Tally.load(tmp_path / "cluster.tally")
    predictions = Predictions.from_frame(frame, truth="y", probabilities="p_")
    expected = tally(predictions, by=frame["group"])
    assert_close(expected, found)
    for value, part in expected.slices.items():
        assert_close(part, found.slices[value])
    # the verdict comes from that state
    assert assess(found).verdict == assess(predictions).verdict
    # rows of slightly different doubts share cells, and other rows do than in arrays
    assert risk_test(found).pvalue == pytest.approx(risk_test(predictions).pvalue, rel=1e-5)


def assert_close(one: Tally, other: Tally) -> None:
    """As for other frames; but cells of doubt are cut by a logarithm there, and by bits here."""
    kept = {key: table for key, table in one.tables.items() if key != "doubt"}
    assert_same(replace(one, tables=kept), replace(other, tables={key: other.tables[key] for key in kept}))
    for name, sums in one.tables["doubt"].totals.items():
        total = other.tables["doubt"].totals[name].value.sum()
        assert total == pytest.approx(sums.value.sum(), rel=1e-12), name

"""The same totals from Spark."""

import os
import sys

import pyarrow as pa
import pytest
from test_frames import DOORS, FRAME, assert_same

from surefoot import Predictions, tally

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


@pytest.mark.parametrize("door", DOORS)
def test_totals_of_spark_are_those_of_arrays(spark, door: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pandas(FRAME))
    assert_same(
        tally(Predictions.from_frame(FRAME, **DOORS[door])), tally(Predictions.from_frame(frame, **DOORS[door]))
    )


def test_slices_of_spark_are_those_of_arrays(spark) -> None:
    frame = spark.createDataFrame(pa.Table.from_pandas(FRAME))
    pushed = tally(Predictions.from_frame(frame, **DOORS["probabilities"]), by="group")
    arrays = tally(Predictions.from_frame(FRAME, **DOORS["probabilities"]), by=FRAME["group"])
    for value, part in arrays.slices.items():
        assert_same(part, pushed.slices[value])

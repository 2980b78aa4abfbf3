"""The same totals from a Dask cluster of two worker processes."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from frame_sample import CONSTRUCTORS, FRAME, assert_same

from surefoot import Predictions, assess, risk_test, tally

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len({info["id"] for info in client.scheduler_info()["workers"].values()}) == 2
        yield client


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_totals_of_a_cluster_are_those_of_arrays(client, constructor) -> None:
    frame = dd.from_pandas(FRAME, npartitions=6)
    expected = tally(Predictions.from_frame(FRAME, **CONSTRUCTORS[constructor]))
    assert_same(expected, tally(Predictions.from_frame(frame, **CONSTRUCTORS[constructor])))


def test_slices_and_verdict_of_a_cluster(client, tmp_path) -> None:
    rng = np.random.default_rng(0)
    rows = 20_000
    c = rng.uniform(0.5, 1, rows)
    frame = pd.DataFrame({"correct": rng.random(rows) < c, "confidence": c, "group": rng.integers(0, 3, rows)})
    for i in range(8):
        frame.iloc[i * rows // 8 : (i + 1) * rows // 8].to_parquet(tmp_path / f"{i}.parquet")
    lazy = dd.read_parquet(tmp_path)
    found = tally(Predictions.from_frame(lazy, correct="correct", confidence="confidence"), by="group")
    predictions = Predictions.from_frame(frame, correct="correct", confidence="confidence")
    expected = tally(predictions, by=frame["group"])
    for value, part in expected.slices.items():
        for key in ("all rows", "15 bins of confidence closed on the right"):
            for name, sums in part.tables[key].totals.items():
                other = found.slices[value].tables[key].totals[name].value
                assert other == pytest.approx(sums.value, rel=1e-12), name
    assert assess(found).verdict == assess(predictions).verdict
    assert risk_test(found).pvalue == pytest.approx(risk_test(predictions).pvalue, rel=1e-5)

"""Every additive metric, on every dataframe: the totals are those of arrays."""

import tracemalloc

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions, tally
from surefoot.metrics import ALL

ROWS = 700


def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 0.5], ROWS)
    p[:5] = [1, 0, 0]  # rows that claim certainty
    p[5:9] = [0.5, 0.5, 0]  # ties
    truth = np.array(["a", "b", "c"])[np.minimum((p.cumsum(axis=1) < rng.random(ROWS)[:, None]).sum(axis=1), 2)]
    largest = p.argmax(axis=1)
    guess = np.array(["a", "b", "c"])[largest]
    second = rng.random(ROWS).astype(np.float32)
    second[:3] = 0, 1, 0.5
    return pd.DataFrame(
        {
            "y": truth,
            "guess": guess,
            "sure": p.max(axis=1),
            "ok": truth == guess,
            "p_a": p[:, 0],
            "p_b": p[:, 1],
            "p_c": p[:, 2],
            "binary": rng.random(ROWS) < second,
            "second": second,
            "doubt": 1 - p.max(axis=1),
            "w": rng.integers(0, 4, ROWS) / 2,
            "group": rng.integers(0, 3, ROWS),
        }
    )


FRAME = data()
MAKERS = {
    "polars lazy": lambda: pl.from_pandas(FRAME).lazy(),
    "duckdb": lambda: duckdb.sql("select * from FRAME"),
    "dask": lambda: dd.from_pandas(FRAME, npartitions=3),
    "pandas through narwhals": lambda: nw.from_native(FRAME).lazy(),
    "arrow through narwhals": lambda: nw.from_native(pa.Table.from_pandas(FRAME)).lazy(),
}
DOORS = {
    "labels": {"truth": "y", "predicted": "guess", "confidence": "sure"},
    "weighted labels": {"truth": "y", "predicted": "guess", "confidence": "sure", "weight": "w"},
    "correct": {"correct": "ok", "confidence": "sure", "doubt": "doubt"},
    "floor": {"correct": "ok", "confidence": "sure", "floor": 1e-8},
    "probabilities": {"truth": "y", "probabilities": "p_", "weight": "w"},
    "overridden": {"truth": "y", "probabilities": ["p_b", "p_a", "p_c"], "predicted": "guess"},
    "second label": {"truth": "binary", "probabilities": "second"},
}


@pytest.fixture(params=MAKERS)
def lazy(request: pytest.FixtureRequest):
    return MAKERS[request.param]()


def assert_same(one: sf.Tally, other: sf.Tally) -> None:
    """Each total to 1e-12 of the sum of absolute terms; all terms but the entropic one are never negative."""
    assert one.tables.keys() == other.tables.keys()
    assert one.labels == other.labels
    assert one.rounded == other.rounded
    for key, table in one.tables.items():
        np.testing.assert_array_equal(table.codes, other.tables[key].codes, err_msg=key)
        for name, sums in table.totals.items():
            scale = np.abs(sums.value).sum()
            value = other.tables[key].totals[name].value
            with np.errstate(invalid="ignore"):
                assert ((sums.value == value) | (np.abs(sums.value - value) <= 1e-12 * scale)).all(), name


@pytest.mark.filterwarnings("ignore::surefoot.errors.RoundedConfidenceWarning")
@pytest.mark.parametrize("door", DOORS)
def test_totals_of_every_frame_are_those_of_arrays(lazy, door: str) -> None:
    expected = tally(Predictions.from_frame(FRAME, **DOORS[door]))
    assert_same(expected, tally(Predictions.from_frame(lazy, **DOORS[door])))


def test_slices_come_from_the_same_aggregations(lazy) -> None:
    columns = DOORS["probabilities"]
    pushed = tally(Predictions.from_frame(lazy, **columns), by="group")
    arrays = tally(Predictions.from_frame(FRAME, **columns), by=FRAME["group"])
    assert list(pushed.slices) == [0, 1, 2]
    for value, part in arrays.slices.items():
        assert_same(part, pushed.slices[value])
    assert_same(tally(Predictions.from_frame(FRAME, **columns)), pushed)
    named = tally(Predictions.from_frame(lazy, **columns), by="predicted")
    assert list(named.slices) == ["a", "b", "c"]


def test_assess_and_metrics_take_lazy_frames(lazy) -> None:
    columns = DOORS["probabilities"]
    a = sf.assess(lazy, by="truth", **columns)
    b = sf.assess(sf.tally(Predictions.from_frame(FRAME, **columns), by="truth"))
    assert a.verdict == b.verdict
    assert a.by == "truth"
    assert [part.verdict for part in a.slices] == [None] * 3
    assert a["cw_f1"] == pytest.approx(b["cw_f1"], rel=1e-12)
    p = Predictions.from_frame(lazy, **columns)
    assert ALL["csr"](p) == pytest.approx(b["csr"], rel=1e-12)
    with pytest.raises(sf.MetricUnavailable, match="collect it first"):
        ALL["equal_mass_ece"](p)


@pytest.mark.parametrize("make", [pl.List, pl.Array])
def test_list_columns_are_pushed_down(make) -> None:
    table = FRAME[["p_a", "p_b", "p_c"]].to_numpy()
    dtype = pl.List(pl.Float64) if make is pl.List else pl.Array(pl.Float64, 3)
    frame = pl.DataFrame({"y": FRAME["y"].to_list(), "p": pl.Series(table.tolist(), dtype=dtype)})
    assert_same(
        tally(Predictions.from_probabilities(FRAME["y"], table)),
        tally(Predictions.from_frame(frame.lazy(), truth="y", probabilities="p")),
    )


@pytest.mark.parametrize(
    ("change", "columns", "said"),
    [
        ({"sure": 97.5}, DOORS["labels"], r"column 'sure': 700 values \(such as 97.5\).*sure < 0 or sure > 1"),
        ({"sure": None}, DOORS["labels"], r"column 'sure': 700 values.* null"),
        ({"y": None}, DOORS["labels"], r"column 'y': 700 values are null.*y is null"),
        ({"w": -1.0}, DOORS["weighted labels"], r"column 'w': 700 values \(such as -1.0\).*w < 0"),
        ({"w": 0.0}, DOORS["weighted labels"], "all weights are 0"),
        ({"p_a": 0.9}, DOORS["probabilities"], r"add up to 1.*abs\(sum - 1\)"),
        ({"y": 1}, DOORS["labels"], "column 'y' holds integers, but column 'guess' holds strings"),
        ({"sure": 1}, DOORS["labels"], "column 'sure' holds integers"),
        ({"sure": "high"}, DOORS["labels"], "column 'sure' is of type"),
        ({"ok": 2}, DOORS["correct"], r"column 'ok': 700 values \(such as 2.0\) are neither true nor false"),
        ({"doubt": 0.5}, DOORS["correct"], r"column 'doubt'.*do not add up to 1"),
        ({"y": "z"}, DOORS["probabilities"], "distinct labels"),
        ({}, {"truth": "absent", "predicted": "guess", "confidence": "sure"}, "truth='absent' is no column"),
    ],
)
def test_bad_columns_are_named_with_count_value_and_filter(change: dict, columns: dict, said: str) -> None:
    frame = pl.from_pandas(FRAME).with_columns(**{name: pl.lit(value) for name, value in change.items()})
    if change.get("sure", 0) is None:
        frame = frame.with_columns(sure=pl.lit(None, dtype=pl.Float64))
    if change.get("y", 0) is None:
        frame = frame.with_columns(y=pl.lit(None, dtype=pl.String))
    with pytest.raises(InvalidPredictions, match=said):
        Predictions.from_frame(frame.lazy(), **columns)


def test_no_rows_is_an_error() -> None:
    with pytest.raises(InvalidPredictions, match="no rows"):
        Predictions.from_frame(pl.from_pandas(FRAME).lazy().filter(pl.col("sure") > 2), **DOORS["labels"])


def test_an_array_cannot_slice_a_lazy_frame() -> None:
    p = Predictions.from_frame(pl.from_pandas(FRAME).lazy(), **DOORS["labels"])
    with pytest.raises(InvalidPredictions, match="name one of its"):
        tally(p, by=[1, 2])
    with pytest.raises(InvalidPredictions, match="by='colour' is no column"):
        tally(p, by="colour")


def test_batches_add_up_in_constant_state() -> None:
    table = pa.Table.from_pandas(FRAME)
    columns = DOORS["probabilities"]
    total = sf.tally_batches(table.to_batches(max_chunksize=37), labels=["a", "b", "c"], **columns)
    assert_same(tally(Predictions.from_frame(FRAME, **columns)), total)
    bad = table.set_column(table.column_names.index("sure"), "sure", pa.array([0.5] * (ROWS - 1) + [2.0]))
    with pytest.raises(InvalidPredictions, match=r"batch 1: .*'sure'"):
        sf.tally_batches(bad.to_batches(max_chunksize=ROWS // 2 + 1), **DOORS["labels"])
    with pytest.raises(InvalidPredictions, match="no rows"):
        sf.tally_batches([])


def test_batches_of_any_number_take_the_memory_of_one() -> None:
    def batches(count: int):
        rng = np.random.default_rng(0)
        for _ in range(count):
            c = rng.uniform(0.5, 1, 5_000)
            yield pa.record_batch({"correct": rng.random(5_000) < c, "confidence": c})

    def most(count: int) -> int:
        tracemalloc.start()
        try:
            sf.tally_batches(batches(count), correct="correct", confidence="confidence")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most(2)
    few, many = most(10), most(100)
    assert many < 1.5 * few


def test_streams_of_other_engines_are_batches() -> None:
    expected = tally(Predictions.from_frame(FRAME, **DOORS["labels"]))
    stream = duckdb.sql("select * from FRAME").to_arrow_reader(100)
    assert_same(expected, sf.tally_batches(stream, **DOORS["labels"]))
    frames = pl.from_pandas(FRAME).iter_slices(100)
    assert_same(expected, sf.tally_batches(frames, **DOORS["labels"]))

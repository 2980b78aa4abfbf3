"""Every additive metric, on every dataframe: the totals are those of arrays."""

import tracemalloc

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from frame_sample import CONSTRUCTORS, FRAME, ROWS, assert_same

import surefoot as sf
from surefoot import InvalidPredictions, Predictions, tally
from surefoot.metrics import ALL

MAKERS = {
    "polars lazy": lambda: pl.from_pandas(FRAME).lazy(),
    "duckdb": lambda: duckdb.sql("select * from FRAME"),
    "dask": lambda: dd.from_pandas(FRAME, npartitions=3),
    "pandas through narwhals": lambda: nw.from_native(FRAME).lazy(),
    "arrow through narwhals": lambda: nw.from_native(pa.Table.from_pandas(FRAME)).lazy(),
}


@pytest.fixture(params=MAKERS)
def lazy(request: pytest.FixtureRequest):
    return MAKERS[request.param]()


@pytest.mark.filterwarnings("ignore::surefoot.errors.RoundedConfidenceWarning")
@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_totals_of_every_frame_are_those_of_arrays(lazy, constructor: str) -> None:
    expected = tally(Predictions.from_frame(FRAME, **CONSTRUCTORS[constructor]))
    assert_same(expected, tally(Predictions.from_frame(lazy, **CONSTRUCTORS[constructor])))


def test_slices_come_from_the_same_aggregations(lazy) -> None:
    columns = CONSTRUCTORS["probabilities"]
    pushed = tally(Predictions.from_frame(lazy, **columns), by="group")
    arrays = tally(Predictions.from_frame(FRAME, **columns), by=FRAME["group"])
    assert list(pushed.slices) == [0, 1, 2]
    for value, part in arrays.slices.items():
        assert_same(part, pushed.slices[value])
    assert_same(tally(Predictions.from_frame(FRAME, **columns)), pushed)
    named = tally(Predictions.from_frame(lazy, **columns), by="predicted")
    assert list(named.slices) == ["a", "b", "c"]


def test_assess_and_metrics_take_lazy_frames(lazy) -> None:
    columns = CONSTRUCTORS["probabilities"]
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
        ({"sure": 97.5}, CONSTRUCTORS["labels"], r"column 'sure': 700 values \(such as 97.5\).*sure < 0 or sure > 1"),
        ({"sure": None}, CONSTRUCTORS["labels"], r"column 'sure': 700 values.* null"),
        ({"y": None}, CONSTRUCTORS["labels"], r"column 'y': 700 values are null.*y is null"),
        ({"w": -1.0}, CONSTRUCTORS["weighted labels"], r"column 'w': 700 values \(such as -1.0\).*w < 0"),
        ({"w": 0.0}, CONSTRUCTORS["weighted labels"], "weights that are all 0"),
        ({"p_a": 0.9}, CONSTRUCTORS["probabilities"], r"add up to 1.*abs\(sum - 1\)"),
        ({"y": 1}, CONSTRUCTORS["labels"], "column 'y' holds integers, but column 'guess' holds strings"),
        ({"sure": 1}, CONSTRUCTORS["labels"], "column 'sure' holds integers"),
        ({"sure": "high"}, CONSTRUCTORS["labels"], "column 'sure' is of type"),
        ({"ok": 2}, CONSTRUCTORS["correct"], r"column 'ok': 700 values \(such as 2.0\) are neither true nor false"),
        ({"doubt": 0.5}, CONSTRUCTORS["correct"], r"column 'doubt'.*do not add up to 1"),
        ({"y": "z"}, CONSTRUCTORS["probabilities"], "distinct labels"),
        ({}, {"truth": "absent", "predicted": "guess", "confidence": "sure"}, "truth='absent' is not a column"),
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
        Predictions.from_frame(pl.from_pandas(FRAME).lazy().filter(pl.col("sure") > 2), **CONSTRUCTORS["labels"])


def test_an_array_cannot_slice_a_lazy_frame() -> None:
    p = Predictions.from_frame(pl.from_pandas(FRAME).lazy(), **CONSTRUCTORS["labels"])
    with pytest.raises(InvalidPredictions, match="the name of one of its columns"):
        tally(p, by=[1, 2])
    with pytest.raises(InvalidPredictions, match="by='colour' is not a column"):
        tally(p, by="colour")


def test_batches_add_up_in_constant_state() -> None:
    table = pa.Table.from_pandas(FRAME)
    columns = CONSTRUCTORS["probabilities"]
    total = sf.tally_batches(table.to_batches(max_chunksize=37), labels=["a", "b", "c"], **columns)
    assert_same(tally(Predictions.from_frame(FRAME, **columns)), total)
    bad = table.set_column(table.column_names.index("sure"), "sure", pa.array([0.5] * (ROWS - 1) + [2.0]))
    with pytest.raises(InvalidPredictions, match=r"batch 1: .*'sure'"):
        sf.tally_batches(bad.to_batches(max_chunksize=ROWS // 2 + 1), **CONSTRUCTORS["labels"])
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
    expected = tally(Predictions.from_frame(FRAME, **CONSTRUCTORS["labels"]))
    stream = duckdb.sql("select * from FRAME").to_arrow_reader(100)
    assert_same(expected, sf.tally_batches(stream, **CONSTRUCTORS["labels"]))
    frames = pl.from_pandas(FRAME).iter_slices(100)
    assert_same(expected, sf.tally_batches(frames, **CONSTRUCTORS["labels"]))


@pytest.mark.skipif(not hasattr(pl.LazyFrame, "collect_batches"), reason="this Polars hands out no batches")
@pytest.mark.filterwarnings("ignore::surefoot.errors.RoundedConfidenceWarning")
@pytest.mark.parametrize("constructor", ["labels", "weighted labels", "probabilities", "second label"])
def test_batches_of_polars_are_the_rows_to_the_last_cell(monkeypatch: pytest.MonkeyPatch, constructor: str) -> None:
    from surefoot.engines import polars as engine

    monkeypatch.setattr(engine, "_ROWS", 1_000)
    rng = np.random.default_rng(4)
    # more doubts than a tally keeps apart, and slices named by texts
    p = rng.dirichlet([1, 1, 0.5], 9_000)
    truth = np.array(["a", "b", "c"])[(p.cumsum(axis=1) < rng.random(9_000)[:, None]).sum(axis=1).clip(0, 2)]
    guess = np.array(["a", "b", "c"])[p.argmax(axis=1)]
    frame = pl.DataFrame(
        {
            "y": truth,
            "guess": guess,
            "sure": p.max(axis=1),
            "w": rng.integers(0, 3, 9_000) / 2,
            "p_a": p[:, 0],
            "p_b": p[:, 1],
            "p_c": p[:, 2],
            "binary": rng.random(9_000) < p[:, 0],
            "second": p[:, 0],
            "group": np.array(["day", "night"])[np.arange(9_000) // 6_500],
        }
    )
    columns = CONSTRUCTORS[constructor]
    expected = tally(Predictions.from_frame(frame, **columns), by=frame["group"].to_numpy())
    found = tally(Predictions.from_frame(frame.lazy(), **columns), by="group")
    assert_same(expected, found)
    assert list(found.slices) == ["day", "night"]
    for value, part in expected.slices.items():
        assert_same(part, found.slices[value])

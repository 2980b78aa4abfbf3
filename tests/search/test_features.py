"""Columns as features: values, bins and gaps; the same from every dataframe, in memory or not."""

from __future__ import annotations

import datetime
import math
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from surefoot.search.condition import Condition
from surefoot.search.features import Feature, LeftOut, read_column
from surefoot.search.lazy_features import read_lazy_columns

ROWS = 2000
rng = np.random.default_rng(0)
COLUMNS: dict[str, Any] = {
    "text": rng.choice(["north", "south", ""], ROWS).tolist(),
    "gaps": [None if i % 7 == 0 else "ab"[i % 2] for i in range(ROWS)],
    "flag": (rng.random(ROWS) < 0.3).tolist(),
    "few": rng.integers(0, 5, ROWS).tolist(),
    "many": rng.integers(0, 1000, ROWS).tolist(),
    "number": rng.normal(size=ROWS).tolist(),
    "half": [None if i % 2 else i / 3 for i in range(ROWS)],
    "constant": [1] * ROWS,
    "id": [f"r{i}" for i in range(ROWS)],
    "town": [f"t{int(i**0.5)}" for i in range(ROWS)],
}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def read(series: Any, least: int = 50) -> tuple[Feature, np.ndarray] | LeftOut:
    return read_column(nw.from_native(series, series_only=True), least)


def found(series: Any, least: int = 50) -> tuple[Feature, np.ndarray]:
    one = read(series, least)
    assert not isinstance(one, LeftOut)
    return one


@pytest.mark.parametrize("maker", MAKERS)
def test_rows_are_where_their_values_say(maker: str) -> None:
    frame = nw.from_native(MAKERS[maker](COLUMNS), eager_only=True)
    for name in ("text", "gaps", "flag", "few", "many", "number", "half"):
        read = read_column(frame[name], 50)
        assert not isinstance(read, LeftOut)
        feature, codes = read
        assert len(feature.conditions) == codes.max()
        for value, code in zip(COLUMNS[name], codes, strict=True):
            condition = feature.conditions[code - 1]
            assert condition.column == name
            if value is None:
                assert condition.is_missing
            elif condition.value is not None:
                assert condition.value == value
            else:
                assert condition.above < value <= condition.up_to


def test_numbers_are_cut_into_ten_bins_of_equal_rows() -> None:
    feature, codes = found(pl.Series("x", COLUMNS["number"]))
    assert np.bincount(codes)[1:].tolist() == [200] * 10
    assert feature.conditions[0].above == -math.inf
    assert feature.conditions[-1].up_to == math.inf
    assert "10 bins" in feature.note


def test_the_most_frequent_values_are_searched_and_that_is_said() -> None:
    feature, codes = found(pl.Series("town", COLUMNS["town"]), 60)
    counts = {f"t{i}": COLUMNS["town"].count(f"t{i}") for i in range(45)}
    large = {town for town, rows in counts.items() if rows >= 60}
    assert {one.value for one in feature.conditions} == large
    share = sum(counts[town] for town in large) / ROWS
    assert feature.note.startswith(f"{len(large)} of 45 values are searched, with {share:.0%} of rows")
    assert (codes == 0).sum() == ROWS - sum(counts[town] for town in large)


@pytest.mark.parametrize(
    ("series", "why"),
    [
        (pl.Series("x", COLUMNS["id"]), "2,000 values, none of them in 50 rows"),
        (pl.Series("x", COLUMNS["constant"]), "one value"),
        (pl.Series("x", [None] * ROWS, pl.Float64), "one value"),
        (pl.Series("x", [0.0] * (ROWS - 1) + [1.0]), "2 values"),
        (pl.Series("x", [datetime.date(2024, 1, 1 + i % 28) for i in range(ROWS)]), "dates or times"),
        (pl.Series("x", [[1.0]] * ROWS), "type List"),
        (pd.Series([{"a": 1}] * ROWS, name="x"), "values of type dict"),
    ],
)
def test_columns_that_cannot_be_searched_are_left_out_with_a_reason(series: Any, why: str) -> None:
    one = read(series)
    if why == "2 values":
        # one value has enough rows
        assert not isinstance(one, LeftOut)
        assert [condition.value for condition in one[0].conditions] == [0]
    else:
        assert isinstance(one, LeftOut)
        assert one.why.startswith(why)


def test_nan_and_null_are_missing_and_infinity_is_not() -> None:
    values = np.array([np.nan, np.inf, -np.inf, *np.arange(997.0)])
    feature, codes = found(pl.Series("x", values))
    assert feature.conditions[codes[0] - 1].is_missing
    assert feature.conditions[codes[1] - 1].up_to == math.inf
    assert feature.conditions[codes[2] - 1].above == -math.inf
    older = pd.Series([None, "a", "b", float("nan")] * 50, name="x", dtype=object)
    feature, codes = found(older)
    assert [str(one) for one in feature.conditions] == ["x = a", "x = b", "x is missing"]
    assert np.bincount(codes).tolist() == [0, 50, 50, 100]


@pytest.mark.parametrize("kind", ["polars", "duckdb", "dask"])
def test_a_lazy_frame_gives_the_same_places(kind: str) -> None:
    names = list(COLUMNS)
    eager = nw.from_native(pl.DataFrame(COLUMNS).with_row_index("row"), eager_only=True)
    if kind == "polars":
        lazy: Any = nw.from_native(eager.to_native().lazy())
    elif kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        table = eager.to_arrow()
        lazy = nw.from_native(duckdb.from_arrow(table))
    else:
        dask = pytest.importorskip("dask.dataframe")
        lazy = nw.from_native(dask.from_pandas(pd.DataFrame({"row": range(ROWS), **COLUMNS}), npartitions=2))
    features, left_out = read_lazy_columns(lazy, names, 50)
    read = {name: read_column(eager[name], 50) for name in names}
    expected = [(one.name, one.why) for one in read.values() if isinstance(one, LeftOut)]
    assert [(one.name, one.why) for one in left_out if "Dask" not in one.why] == expected
    assert [one.name for one in left_out if "Dask" in one.why] == (["many", "number", "half"] if kind == "dask" else [])
    places = lazy.select("row", **{f"at_{feature.name}": place for feature, place in features}).collect()
    order = np.argsort(places["row"].to_numpy())
    for feature, _ in features:
        own, codes = read[feature.name]  # type: ignore[misc]
        assert feature.note == own.note
        assert [one.value for one in feature.conditions] == [one.value for one in own.conditions]
        assert [one.up_to for one in feature.conditions] == pytest.approx([one.up_to for one in own.conditions])
        assert places[f"at_{feature.name}"].to_numpy()[order].tolist() == codes.tolist()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition("region", value="north"), "region = north"),
        (Condition("is_new", value=True), "is_new = True"),
        (Condition("age", up_to=23.0), "age up to 23"),
        (Condition("age", above=1234567.0), "age above 1,234,567"),
        (Condition("x", above=0.123456, up_to=0.123478), "x above 0.12346, up to 0.12348"),
        (Condition("x", above=1e-7, up_to=2.5), "x above 1e-07, up to 2.5"),
        (Condition("x", is_missing=True), "x is missing"),
    ],
)
def test_conditions_are_read_as_words(condition: Condition, words: str) -> None:
    assert str(condition) == words
    assert condition.to_dict()["column"] == condition.column

"""Columns of a lazy frame as features: values and quantiles are found where rows are, and places are expressions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from surefoot.predictions.dataframe import collect
from surefoot.search.features import (
    FIRST_ROWS,
    MOST_NUMBERS,
    MOST_VALUES,
    SHARES,
    Feature,
    LeftOut,
    Values,
    bins,
    categories,
    edges_of,
    why_not,
)


def read_lazy_columns(frame: Any, names: Sequence[str], least: int) -> tuple[list[tuple[Feature, Any]], list[LeftOut]]:
    """The features of columns with the expression of each row's place, and the columns that are none."""
    import narwhals as nw

    schema = frame.collect_schema()
    found: dict[str, tuple[Feature, Any] | LeftOut] = {}
    numeric = []
    for name in names:
        dtype = schema[name]
        is_text = dtype in (nw.String, nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum)
        if dtype.is_numeric():
            first = collect(frame.select(v=_number(nw, name)).head(FIRST_ROWS))["v"]
            few = first.drop_nulls().n_unique() <= MOST_NUMBERS
            one = _of_values(nw, frame, name, _number(nw, name), least, most=MOST_NUMBERS) if few else None
            if one is None:
                numeric.append(name)
            else:
                found[name] = one
        elif is_text or dtype == nw.Boolean:
            column = nw.col(name).cast(nw.String) if is_text else nw.col(name)
            read = _of_values(nw, frame, name, column, least)
            assert read is not None
            found[name] = read
        else:
            found[name] = LeftOut(name, why_not(dtype))
    found |= _of_numbers(nw, frame, numeric)
    read_all = [found[name] for name in names]
    return [one for one in read_all if not isinstance(one, LeftOut)], [
        one for one in read_all if isinstance(one, LeftOut)
    ]


def _number(nw: Any, name: str) -> Any:
    """The numbers of a column, null where there is none."""
    x = nw.col(name).cast(nw.Float64)
    return nw.when(~x.is_nan()).then(x)


def _of_values(
    nw: Any, frame: Any, name: str, column: Any, least: int, most: int | None = None
) -> tuple[Feature, Any] | LeftOut | None:
    """By its values; None if there are more than ``most`` of them."""
    groups = frame.select(v=column).group_by("v").agg(nw.len().alias("n"))
    counts = groups.select(
        distinct=nw.col("v").is_null().cast(nw.Int64).sum(),
        groups=nw.len(),
        rows=nw.col("n").sum(),
        missing=(nw.col("v").is_null().cast(nw.Int64) * nw.col("n")).sum(),
    )
    one = {key: int(value[0] or 0) for key, value in collect(counts).to_dict(as_series=False).items()}
    distinct = one["groups"] - one["distinct"]
    if most is not None and distinct > most:
        return None
    largest = collect(groups.filter(~nw.col("v").is_null()).sort("n", "v", descending=[True, False]).head(MOST_VALUES))
    pairs = list(zip(largest["v"].to_list(), (int(n) for n in largest["n"].to_list()), strict=True))
    if most is not None:
        pairs = [(int(value) if value == math.floor(value) else float(value), rows) for value, rows in pairs]
    read = categories(name, Values(pairs, distinct, one["rows"], one["missing"]), least)
    if isinstance(read, LeftOut):
        return read
    feature, kept = read
    # a gap is equal to nothing, and for some engines neither equal nor unequal
    places = [(column == value).fill_null(False).cast(nw.Int64) * place for place, value in enumerate(kept, 1)]
    if feature.conditions[-1].is_missing:
        places.append(column.is_null().cast(nw.Int64) * len(feature.conditions))
    return feature, nw.sum_horizontal(*places)


def _of_numbers(nw: Any, frame: Any, names: Sequence[str]) -> dict[str, tuple[Feature, Any] | LeftOut]:
    """By bins of equal rows, of several columns in one aggregation."""
    if not names:
        return {}
    if frame.implementation == nw.Implementation.DASK:
        why = "numbers, which Dask does not cut into bins of equal rows; make categories of them, or collect the frame"
        return {name: LeftOut(name, why) for name in names}
    columns = {name: f"sf_v{i}" for i, name in enumerate(names)}
    finite = {alias: nw.when(_number(nw, name).is_finite()).then(_number(nw, name)) for name, alias in columns.items()}
    whole = {f"{alias}_all": _number(nw, name) for name, alias in columns.items()}
    gaps = {f"{alias}_gaps": _number(nw, name).is_null().cast(nw.Int64) for name, alias in columns.items()}
    sums = [
        one
        for alias in columns.values()
        for one in (
            *(nw.col(alias).quantile(s, "linear").alias(f"{alias}_{i}") for i, s in enumerate(SHARES)),
            nw.col(f"{alias}_all").max(),
            nw.col(f"{alias}_gaps").sum(),
        )
    ]
    table = collect(frame.select(**finite, **whole, **gaps).select(*sums)).to_dict(as_series=False)
    found: dict[str, tuple[Feature, Any] | LeftOut] = {}
    for name, alias in columns.items():
        quantiles = [table[f"{alias}_{i}"][0] for i in range(len(SHARES))]
        largest, missing = table[f"{alias}_all"][0], int(table[f"{alias}_gaps"][0] or 0)
        held = [] if largest is None or None in quantiles else edges_of(quantiles, largest)
        binned = bins(name, held, missing)
        if isinstance(binned, LeftOut):
            found[name] = binned
            continue
        x = _number(nw, name)
        gap = x.is_null().cast(nw.Int64)
        passed = nw.sum_horizontal(*((x > edge).cast(nw.Int64) for edge in held))
        found[name] = binned, (1 - gap) * (1 + passed) + gap * len(binned.conditions)
    return found

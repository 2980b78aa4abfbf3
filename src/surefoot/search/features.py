"""Columns as features: each row in one of a few values, a category or a bin of numbers, by the column alone.

Outcomes have no say in it. So the groups that are looked at are fixed before any error is counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._io.printable import printable
from surefoot.search.condition import Condition

#: Values of a column that are looked at; of a column of numbers, values from which it is cut into bins, and how many.
MOST_VALUES, MOST_NUMBERS, BINS = 50, 20, 10
#: Rows that tell whether a column of numbers has more values than are kept apart.
FIRST_ROWS = 10_000

Codes = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Feature:
    """A column whose rows each have one of a few values.

    Its first place is of the values that are not looked at, and ``conditions`` are those of the others, in order.
    """

    name: str
    conditions: tuple[Condition, ...]
    #: What was left out, or done, in words; empty if every value is looked at.
    note: str = ""

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self.conditions) + 1


@dataclass(frozen=True)
class LeftOut:
    """A column that is not searched, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Values:
    """What a column of categories holds: values with how many rows have each, the most frequent at least."""

    frequent: Sequence[tuple[Any, int]]
    #: How many values there are, how many rows, and how many of these hold none.
    distinct: int
    rows: int
    missing: int


def categories(name: str, values: Values, least: int) -> tuple[Feature, list[Any]] | LeftOut:
    """The feature of a column of categories, and the values it keeps."""
    missing = values.missing
    ordered = sorted(values.frequent, key=lambda one: (-one[1], str(one[0])))
    large = [value for value, rows in ordered if rows >= least]
    kept = large[:MOST_VALUES]
    if values.distinct + (missing > 0) < 2:
        return LeftOut(name, "one value")
    if not kept and missing < least:
        return LeftOut(name, f"{values.distinct:,} values, none of them in {least:,} rows")
    note = ""
    if len(kept) < values.distinct:
        rows = sum(rows for _, rows in ordered[: len(kept)])
        why = f"the others have fewer than {least:,} rows" if len(kept) < MOST_VALUES else "the most frequent"
        note = f"{len(kept)} of {values.distinct:,} values are searched, with {rows / values.rows:.0%} of rows ({why})"
    kept = sorted(kept, key=lambda value: (str(type(value)), value))
    conditions = [Condition(name, value=value) for value in kept]
    return Feature(name, (*conditions, *_missing(name, missing)), note), kept


def bins(name: str, edges: Sequence[float], missing: int) -> Feature | LeftOut:
    """The feature of a column of numbers, from the edges of its bins."""
    if not edges:
        return LeftOut(name, "nearly one value only")
    ends = [-math.inf, *edges, math.inf]
    conditions = [Condition(name, above=low, up_to=high) for low, high in pairwise(ends)]
    return Feature(name, (*conditions, *_missing(name, missing)), f"numbers in {len(conditions)} bins of equal rows")


def _missing(name: str, rows: int) -> list[Condition]:
    return [Condition(name, is_missing=True)] if rows else []


# -- columns in memory -------------------------------------------------------------------------------------------------


def read_column(series: Any, least: int) -> tuple[Feature, Codes] | LeftOut:
    """The feature of a column in memory (a series of Narwhals), and the place of each row."""
    import narwhals as nw

    name, dtype = str(series.name), series.dtype
    if dtype == nw.Object:
        # such as the columns of text of older pandas, or of booleans with gaps
        values = series.to_list()
        kinds = {type(value) for value in values if not _is_missing(value)}
        if not kinds <= {bool, np.bool_} and not kinds <= {str}:
            return LeftOut(name, f"values of type {', '.join(sorted(kind.__name__ for kind in kinds))}")
        values = [None if _is_missing(value) else str(value) for value in values]
        series = nw.new_series(name, values, nw.String, backend=series.implementation)
        dtype = series.dtype
    if dtype.is_numeric():
        return _read_numbers(name, _numbers_of(series), least, is_whole=dtype.is_integer())
    if dtype == nw.Boolean or dtype in (nw.String, nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum):
        return _read_categories(name, series, least, is_text=dtype != nw.Boolean)
    return LeftOut(name, why_not(dtype))


def why_not(dtype: Any) -> str:
    """Why a column of a type is not searched."""
    if dtype.is_temporal():
        return "dates or times; make a category of them, such as the month, or a number"
    return f"type {dtype}; categories, booleans and numbers are searched"


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _numbers_of(series: Any) -> npt.NDArray[np.float64]:
    """The numbers, nan where there is none."""
    import narwhals as nw

    gaps = series.is_null()
    filled = series.fill_null(0) if gaps.any() else series
    numbers = np.array(filled.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if gaps.any():
        numbers[gaps.to_numpy().astype(bool)] = math.nan
    return numbers


def _read_numbers(
    name: str, numbers: npt.NDArray[np.float64], least: int, *, is_whole: bool
) -> tuple[Feature, Codes] | LeftOut:
    gaps = np.isnan(numbers)
    missing = int(gaps.sum())
    held = numbers[~gaps] if missing else numbers
    if not len(held):
        return LeftOut(name, "one value")
    few = len(np.unique(held[:FIRST_ROWS])) <= MOST_NUMBERS
    values = np.unique(held) if few else held[:0]
    if few and len(values) <= MOST_NUMBERS:
        counts = np.bincount(np.searchsorted(values, held), minlength=len(values))
        plain = [int(value) if is_whole or value == np.floor(value) else float(value) for value in values]
        pairs = list(zip(plain, counts.tolist(), strict=True))
        found = categories(name, Values(pairs, len(pairs), len(numbers), missing), least)
        if isinstance(found, LeftOut):
            return found
        feature, kept = found
        place = np.zeros(len(values), dtype=np.int16)
        place[np.searchsorted(values, np.array(kept, dtype=np.float64))] = np.arange(1, len(kept) + 1)
        codes: Codes = place[np.searchsorted(values, numbers).clip(max=len(values) - 1)]
    else:
        finite = held[np.isfinite(held)]
        edges = edges_of(np.quantile(finite, SHARES).tolist() if len(finite) else [], float(held.max()))
        binned = bins(name, edges, missing)
        if isinstance(binned, LeftOut):
            return binned
        feature = binned
        codes = (np.searchsorted(np.array(edges), numbers, side="left") + 1).astype(np.int16)
    if missing:
        codes[gaps] = len(feature.conditions)
    return feature, codes


#: Where numbers are cut.
SHARES = tuple(i / BINS for i in range(1, BINS))


def edges_of(quantiles: Sequence[float], largest: float) -> list[float]:
    """The edges of bins, each once, none of them with nothing above it."""
    return sorted({float(edge) for edge in quantiles if edge < largest})


def _read_categories(name: str, series: Any, least: int, *, is_text: bool) -> tuple[Feature, Codes] | LeftOut:
    import narwhals as nw

    series = series.cast(nw.String) if is_text else series.cast(nw.Int8)
    gaps = series.is_null()
    missing = int(gaps.sum())
    held = series.drop_nulls() if missing else series
    table = held.value_counts(sort=False, name="sf_count")
    read = str if is_text else bool
    pairs = [
        (read(value), int(rows)) for value, rows in zip(table[name].to_list(), table["sf_count"].to_list(), strict=True)
    ]
    found = categories(name, Values(pairs, len(pairs), len(series), missing), least)
    if isinstance(found, LeftOut):
        return found
    feature, kept = found
    place = {value: at for at, value in enumerate(kept, 1)}
    # every value has its place, for not every Narwhals has one for the others
    old = [value if is_text else int(value) for value, _ in pairs]
    new = [place.get(value, 0) for value, _ in pairs]
    filled = series.fill_null(old[0]) if missing else series
    replaced = filled.replace_strict(old, new, return_dtype=nw.Int16).to_numpy()
    codes: Codes = np.array(replaced, dtype=np.int16)
    if missing:
        codes[gaps.to_numpy().astype(bool)] = len(feature.conditions)
    return feature, codes


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names of columns, fit to be shown."""
    return ", ".join(f"'{printable(name)}'" for name in names[:most]) + (", …" if len(names) > most else "")

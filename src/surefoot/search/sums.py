"""Rows, errors and expected errors of groups, by confidence: from rows in memory, or added up where rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats
from surefoot.core.term import Term
from surefoot.metrics.binned import bin_codes
from surefoot.metrics.tallying import RELIABILITY_BINS
from surefoot.metrics.terms import ERRORS, ROWS
from surefoot.predictions import ArrayPredictions, FramePredictions
from surefoot.risk.estimates import row_values
from surefoot.risk.law.strata import Strata
from surefoot.search.features import Codes, Feature

#: Expected errors, of rows as of errors: each counts once.
EXPECTED = Term("doubt of rows that count", lambda row: (row.weight > 0) * row.doubt)
#: The same without rows whose confidence is 1 by rounding: their doubt is a convention, rather too large.
LEAST = Term("doubt of rows not rounded", lambda row: (row.weight > 0) * row.doubt * (1.0 - row.rounded))

#: A group: a place of one feature, or of each of two.
Group = tuple[tuple[int, int], ...]
#: Told after each step how many of all are done.
Tick = Callable[[int], None]

BANDS = RELIABILITY_BINS.size
#: Rows that are added up at a time.
_BLOCK = 1 << 18


class Sums(ABC):
    """What rows of groups add up to. Tables are of shape (places of the first, places of the second, bands)."""

    features: Sequence[Feature]

    @abstractmethod
    def tables(self, pairs: Sequence[tuple[int, ...]], tick: Tick) -> list[Strata]:
        """For each feature, or pair of features: a row for each combination of their places."""

    @abstractmethod
    def outside(self, group: Group, others: Iterable[Group]) -> Strata:
        """The rows of a group that are in none of some others; the empty group is of all rows."""

    def size(self, pair: Sequence[int]) -> int:
        """How many combinations of places there are."""
        return int(np.prod([self.features[i].size for i in pair], dtype=np.int64))


class RowSums(Sums):
    """From rows in memory, and the place of each row in each feature."""

    def __init__(self, predictions: ArrayPredictions, features: Sequence[Feature], codes: Sequence[Codes]) -> None:
        self.features, self.codes = features, codes
        self.bands = bin_codes(RELIABILITY_BINS, predictions.confidence_of(slice(None)))
        counted, errors, expected = row_values(predictions, ROWS, ERRORS, EXPECTED)
        self.values: list[Floats | None] = [counted if predictions.is_weighted else None, errors, expected]
        rounded = predictions._rounded
        if predictions.rounded and predictions.view == "prediction":
            self.values.append(np.where(rounded, 0.0, expected))

    def tables(self, pairs: Sequence[tuple[int, ...]], tick: Tick) -> list[Strata]:
        found = [np.zeros((len(self.values), self.size(pair) * BANDS)) for pair in pairs]
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(self.bands), _BLOCK)]
        done = 0
        for block in blocks:
            values = [None if one is None else one[block] for one in self.values]
            bands = self.bands[block]
            used = sorted({i for pair in pairs for i in pair})
            codes = {i: self.codes[i][block].astype(np.int64) for i in used}
            inner = {i: codes[i] * BANDS + bands for i in used}
            for pair, sums in zip(pairs, found, strict=True):
                cells = inner[pair[-1]]
                if len(pair) > 1:
                    cells = codes[pair[0]] * (self.features[pair[1]].size * BANDS) + cells
                for total, value in zip(sums, values, strict=True):
                    total += np.bincount(cells, value, len(total))
                done += 1
                tick(done // len(blocks))
        return [_strata(sums.reshape(len(sums), -1, BANDS)) for sums in found]

    def outside(self, group: Group, others: Iterable[Group]) -> Strata:
        kept = self._rows_of(group)
        for other in others:
            kept &= ~self._rows_of(other)
        bands = self.bands[kept]
        sums = [np.bincount(bands, None if one is None else one[kept], BANDS) for one in self.values]
        return _strata(np.array(sums, dtype=np.float64)[:, None, :])

    def _rows_of(self, group: Group) -> npt.NDArray[np.bool_]:
        kept = np.ones(len(self.bands), dtype=bool)
        for feature, place in group:
            kept &= self.codes[feature] == place
        return kept


class FrameSums(Sums):
    """By aggregations of a lazy frame, in which the place of each row is an expression."""

    def __init__(self, predictions: FramePredictions, features: Sequence[Feature], places: Sequence[Any]) -> None:
        self.features = features
        columns = {_column(i): place for i, place in enumerate(places)}
        self.predictions = replace(predictions, frame=predictions.frame.with_columns(**columns))
        self.terms = [ROWS, ERRORS, EXPECTED]
        if predictions.rounded and predictions.view == "prediction":
            self.terms.append(LEAST)

    def tables(self, pairs: Sequence[tuple[int, ...]], tick: Tick) -> list[Strata]:
        found = []
        for done, pair in enumerate(pairs, 1):
            sums = np.zeros((len(self.terms), self.size(pair), BANDS))
            names = [_column(i) for i in pair]
            for row in self._add_up(self.predictions, names):
                at = 0
                for name, i in zip(names, pair, strict=True):
                    at = at * self.features[i].size + int(row[name])
                sums[:, at, int(row["sf_cell"])] = [row[term.name] for term in self.terms]
            found.append(_strata(sums))
            tick(done)
        return found

    def outside(self, group: Group, others: Iterable[Group]) -> Strata:
        import narwhals as nw

        frame = self.predictions.frame
        if group:
            frame = frame.filter(*(nw.col(_column(i)) == place for i, place in group))
        for other in others:
            frame = frame.filter(
                nw.any_horizontal(*(nw.col(_column(i)) != place for i, place in other), ignore_nulls=True)
            )
        sums = np.zeros((len(self.terms), 1, BANDS))
        for row in self._add_up(replace(self.predictions, frame=frame), []):
            sums[:, 0, int(row["sf_cell"])] = [row[term.name] for term in self.terms]
        return _strata(sums)

    def _add_up(self, predictions: FramePredictions, columns: Sequence[str]) -> list[dict[str, Any]]:
        module = import_module(f"surefoot.engines.{predictions.engine}")
        found: list[dict[str, Any]] = module.engine_of(predictions).sums_within(columns, RELIABILITY_BINS, self.terms)
        return found


def _column(feature: int) -> str:
    return f"sf_place{feature}"


def _strata(sums: Floats) -> Strata:
    rows, errors, expected, *least = sums
    return Strata(rows, errors, expected, least[0] if least else expected)

"""Tallies of lazy Polars frames, in one pass: Polars hands out batches, and loops over arrays add them up.

Polars and the arrays share a process, so a batch costs no copy of its floats. Grouping by the cells of a doubt takes
Polars many times what reading the rows does; the compiled loops find a cell from the bits of the doubt as they add.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.core.tally import Label, Tally
from surefoot.core.term import Term
from surefoot.engines import numpy as of_arrays
from surefoot.engines.base import Groups, group
from surefoot.engines.narwhals import NarwhalsEngine
from surefoot.errors import UnsupportedKey
from surefoot.predictions.arrays import ArrayPredictions
from surefoot.predictions.frames import FramePredictions

if TYPE_CHECKING:
    import polars as pl

#: Rows of a batch, and bytes at most: loops that many rows are worth compiling for, in little memory.
_ROWS, _BYTES = 1 << 22, 1 << 28


def tally(predictions: FramePredictions, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
    """The totals of terms; see :meth:`Predictions.tally`. Scores are never kept apart: rows are forgotten."""
    return PolarsEngine(predictions, by).tally(group(terms))


def engine_of(predictions: FramePredictions) -> PolarsEngine:
    """The engine of the rows of a frame."""
    return PolarsEngine(predictions, None)


class PolarsEngine(NarwhalsEngine):
    """Batches of a lazy Polars frame; sums within cells of other columns are pushed down as for any frame."""

    name = "Polars"

    def tally(self, groups: Groups) -> Tally:
        for key in groups:
            if not key.is_bounded:
                raise UnsupportedKey(self.name, key.name)
        terms = [term for own in groups.values() for term in own]
        labels = self.labels if any(key.classes for key in groups) else None
        total: Tally | None = None
        for batch in self._batches(labels):
            part = self._tally_batch(batch, terms, labels)
            total = part if total is None else total + part
        assert total is not None, "a frame without rows is refused when it is described"
        slices = None
        if total.slices is not None:
            slices = {
                self._slice_named(value): replace(own, labels=labels) for value, own in sorted(total.slices.items())
            }
        return replace(total, labels=labels, rounded=self.predictions.rounded, slices=slices, by=self.sliced_by)

    def _batches(self, labels: tuple[Label, ...] | None) -> Iterator[pl.DataFrame]:
        """The columns that terms speak of, some rows at a time."""
        predictions = self.predictions
        pl = self.nw.get_native_namespace(predictions.frame)
        columns = [pl.col("sf_correct") == 1, pl.col("sf_confidence"), pl.col("sf_doubt")]
        if predictions.is_weighted:
            columns.append(pl.col("sf_weight"))
        if labels is not None:
            columns += [self._coded(pl.col(name), labels) for name in ("sf_truth", "sf_predicted")]
            columns += [pl.col(name) for name in predictions.probabilities or ()]
        frame = predictions.frame if not self.by else predictions.frame.with_columns(**self.by)
        batches = frame.to_native().select(*columns, *self.by)
        size = max(1, min(_ROWS, _BYTES // (8 * len(columns) + 8 * len(self.by))))
        return (batch for batch in batches.collect_batches(chunk_size=size, engine="streaming") if batch.height)

    def _coded(self, column: pl.Expr, labels: tuple[Label, ...]) -> pl.Expr:
        """The places of a column's labels among all, which columns of known labels hold already."""
        known = self.predictions.labels is not None
        return column if known else column.replace_strict(labels, range(len(labels)))

    def _tally_batch(self, batch: pl.DataFrame, terms: list[Term], labels: tuple[Label, ...] | None) -> Tally:
        rows = self._rows_of(batch, labels)
        if not self.by:
            return of_arrays.tally(rows, terms)
        # by number, so that texts of any length are no arrays
        values = batch["sf_by"].unique().sort()
        numbers = batch["sf_by"].replace_strict(values, range(len(values))).to_numpy()
        part = of_arrays.tally(rows, terms, by=numbers)
        slices = {values[int(number)]: own for number, own in (part.slices or {}).items()}
        return replace(part, slices=slices, by=self.sliced_by)

    def _slice_named(self, value: Any) -> Label:
        """What a slice is called: where the column holds places among labels, the label."""
        predictions, by = self.predictions, self.sliced_by
        named = predictions.slice_labels if by == "sf_slice" else predictions.labels
        found: Label = named[value] if by in ("truth", "predicted", "sf_slice") and named is not None else value
        return found

    def _rows_of(self, batch: pl.DataFrame, labels: tuple[Label, ...] | None) -> ArrayPredictions:
        arrays = {name: batch[name].to_numpy() for name in batch.columns if name != "sf_by"}
        scores = [arrays[name] for name in self.predictions.probabilities or () if name in arrays]
        return ArrayPredictions(
            correct=arrays["sf_correct"],
            _confidence=arrays["sf_confidence"],
            _doubt=arrays["sf_doubt"],
            _weight=arrays.get("sf_weight"),
            _truth=arrays.get("sf_truth"),
            _predicted=arrays.get("sf_predicted"),
            _probabilities=None if not scores else scores[0] if len(scores) == 1 else np.stack(scores, axis=1),
            _labels=None if labels is None else tuple(range(len(labels))),
            _floor=self.predictions.floor,
        )

"""Predictions in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats
from surefoot.core.tally import Label, Tally
from surefoot.core.term import Term
from surefoot.errors import InvalidPredictions
from surefoot.predictions.border import Border
from surefoot.predictions.checks import FRACTION, OUTCOME, refuse_null
from surefoot.predictions.columns import Array, as_column, as_numbers, as_text, first_row, is_missing
from surefoot.predictions.dataframe import is_frame, open_frame
from surefoot.predictions.doubt import SAFE_SIDE, Claim, Numbers, doubt_of_rounded_text
from surefoot.predictions.labels import Kind, as_labels, distinct, encode, kind_of, labels_in_names
from surefoot.predictions.memory import InMemory

Flags = npt.NDArray[np.bool_]

#: Rows whose columns are put in one piece together.
_FETCHED = 512


class ArrayPredictions(InMemory):
    """What :class:`Predictions` are, as NumPy arrays."""

    engine = "numpy"
    xp = np

    @property
    def confidence(self) -> Array:
        values: Array = self._confidence
        return values

    @property
    def truth(self) -> Array | None:
        """The true labels."""
        values: Array | None = self._truth
        return values

    @property
    def predicted(self) -> Array | None:
        """The predicted labels."""
        values: Array | None = self._predicted
        return values

    def rows(self, what: str = "this") -> ArrayPredictions:
        return self

    def _as_labels(self, argument: str, given: Any) -> Array:
        return as_labels(argument, given)

    def _distinct(self, *columns: Array) -> tuple[Label, ...]:
        return distinct(*columns)

    def codes(self, column: str, rows: slice = slice(None)) -> npt.NDArray[np.intp]:
        values, labels = getattr(self, column), self.labels
        assert labels is not None
        return encode(values[rows], labels)[0]

    def is_label(self, column: str, label: int) -> Flags:
        assert self.labels is not None
        of_class: Flags = getattr(self, column) == self.labels[label]
        return of_class

    def _replace_rows(self, **columns: Any) -> ArrayPredictions:
        arrays = {name: _read_only(values) if hasattr(values, "flags") else values for name, values in columns.items()}
        return replace(self, **arrays)

    def is_truly(self, label: int, rows: slice = slice(None)) -> Flags:
        """Which of some rows are of a class, given by its position in ``labels``."""
        assert self.truth is not None
        assert self.labels is not None
        of_class: Flags = self.truth[rows] == self.labels[label]
        return of_class

    def ranking_scores(self, labels: Sequence[int]) -> list[Floats]:
        """For each of some classes, numbers that rise with its probability, free of ties made by rounding.

        They rise strictly, but for those that are clipped.
        """
        if self._log_odds is not None:
            return [self._clip_odds(odds) for odds in self._log_odds.of_classes(labels)]
        table = self.probabilities if self.scores is None else self.scores
        assert table is not None
        if self.has_second:
            p = self._clip_scores(table.astype(np.float64, copy=False))
            # small p keep their order for the first label too
            return [p if label == 1 else -p for label in labels]
        return list(self._clip_scores(_as_rows(table, labels)))

    def _columns_of(self, labels: Sequence[int]) -> Iterator[Floats]:
        for p in _as_rows(self.probabilities, labels):
            yield np.where(p == 0, self._least, p) if self._least else p

    def _add_up_events(self, terms: Iterable[Term], *, by: Any) -> dict[Label, Tally] | None:
        if by is not None:
            return None
        found: dict[Label, Tally] | None = import_module("surefoot.engines.class_events").tally_events(self, terms)
        return found

    def rounded_at(self, decimals: int) -> ArrayPredictions:
        """The same, knowing that confidences are text of so many decimals: a doubt of 0 was rounded, not claimed."""
        at_one, least = self.doubt == 0, doubt_of_rounded_text(decimals)
        doubt = np.where(at_one, least, self.doubt)
        return replace(self, _doubt=_read_only(doubt), _rounded=at_one, _least=least / SAFE_SIDE)


class ArrayBorder(Border):
    """Lists, arrays, series, and tensors on the host."""

    xp = np

    def takes(self, columns: Sequence[Any]) -> bool:
        return True

    def labels(self, argument: str, given: Any) -> Array:
        return as_labels(argument, given)

    def numbers(self, argument: str, given: Any, *, dimensions: int = 1, fractions: bool = True) -> Numbers:
        if argument == "sample_weight" and str(getattr(given, "dtype", "")) in ("bool", "torch.bool"):
            given = np.asarray(given).astype(np.float64)
        found = as_numbers(argument, given, dimensions, fractions=fractions)
        values = found.values
        if not fractions or not values.size:
            return found
        least, most = values.min(), values.max()
        if least < 0 or most > 1:
            self.verify(FRACTION, argument, values)
        return replace(found, most=float(most))

    def outcome(self, correct: Any, argument: str = "correct") -> Flags:
        if isinstance(correct, list | tuple):
            correct = np.fromiter(correct, dtype=object, count=len(correct))
        values = as_column(argument, correct)
        if values.dtype == object:
            for row, value in enumerate(values):
                if is_missing(value):
                    raise refuse_null(argument, row, str(value))
            if all(isinstance(value, bool | np.bool_ | int | np.integer | float | np.floating) for value in values):
                try:
                    values = values.astype(np.float64)
                except OverflowError:
                    row = next(row for row, value in enumerate(values) if abs(value) > 1)
                    raise OUTCOME.error(argument, row, values[row]) from None
        if values.dtype.kind == "b":
            return values
        if values.dtype.kind in "iuf":
            missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=bool)
            if missing.any() and first_row(OUTCOME.fails(values)) == first_row(missing):
                raise refuse_null(argument, first_row(missing)[0], "nan")
            self.verify(OUTCOME, argument, values)
            return values.astype(bool)
        for row, value in enumerate(values.tolist()):
            if not isinstance(value, bool | int | float):
                raise OUTCOME.error(argument, row, value)
        raise InvalidPredictions(f"is of type {values.dtype}", argument=argument, hint=OUTCOME.hint)

    def kind(self, labels: Array) -> Kind:
        return kind_of(labels)

    def distinct(self, labels: Array) -> tuple[Label, ...]:
        return distinct(labels)

    def encode(self, labels: Array, names: tuple[Label, ...]) -> tuple[Array, Flags]:
        return encode(labels, names)

    def first(self, fails: Flags) -> tuple[int, ...]:
        return first_row(fails)

    def count_up(self, size: int, like: Array) -> Array:
        return np.arange(size)

    def cast(self, values: Array, float_type: str) -> Array:
        # float16 does not hold what is smaller than 6e-8, and nothing holds bfloat16: the type is said, not stored
        return values.astype(np.float32)

    def build(self, correct: Array, claim: Claim, weight: Array | None, **rest: Any) -> ArrayPredictions:
        labels = rest.get("labels")
        doubt = claim.doubt
        if claim.doubt_of_one:
            doubt = 1 - claim.confidence.astype(np.float64)
            doubt[claim.rounded] = claim.doubt_of_one
        truth, predicted = rest.get("truth"), rest.get("predicted")
        if labels is not None and predicted is not None:
            predicted = _labels_at(predicted, labels)
        return ArrayPredictions(
            correct=_read_only(correct),
            _confidence=_read_only(claim.confidence),
            _truth=None if truth is None else _read_only(truth),
            _predicted=None if predicted is None else _read_only(predicted),
            _probabilities=None if rest.get("probabilities") is None else _read_only(rest["probabilities"]),
            _doubt=None if doubt is None else _read_only(doubt),
            _weight=None if weight is None else _read_only(weight),
            _labels=labels,
            _log_odds=rest.get("log_odds"),
            _rounded=claim.rounded,
            _floor=rest.get("floor"),
            scores=None if rest.get("scores") is None else _read_only(rest["scores"]),
        )

    def from_probabilities(self, y_true: Any, probabilities: Any, *, labels: Any = None, **options: Any) -> Any:
        labels = _labels_of_frame(probabilities, y_true) if labels is None else labels
        return super().from_probabilities(y_true, probabilities, labels=labels, **options)

    def from_scores(self, y_true: Any, scores: Any, *, labels: Any = None, **options: Any) -> Any:
        labels = _labels_of_frame(scores, y_true) if labels is None else labels
        return super().from_scores(y_true, scores, labels=labels, **options)

    def from_logits(self, y_true: Any, logits: Any, *, labels: Any = None, **options: Any) -> Any:
        labels = _labels_of_frame(logits, y_true) if labels is None else labels
        return super().from_logits(y_true, logits, labels=labels, **options)


def _labels_of_frame(table: Any, y_true: Any) -> tuple[Label, ...] | None:
    """The classes that the columns of a frame are named after; None if it is no frame, or they are named otherwise."""
    if not is_frame(table):
        return None
    truth = as_labels("y_true", y_true)
    columns = [str(name) for name in open_frame(table).columns]
    return labels_in_names(distinct(truth), kind_of(truth), columns) if len(columns) > 1 else None


def _labels_at(places: Array, labels: tuple[Label, ...]) -> Array:
    """The labels at these places among all."""
    if labels == tuple(range(len(labels))):
        return places.astype(np.array(labels).dtype, copy=False)
    rows = places.astype(np.intp, copy=False)
    return as_text(labels, rows) if isinstance(labels[0], str) else np.array(labels)[rows]


def _as_rows(table: Array, labels: Sequence[int]) -> Floats:
    """The columns of some classes, each in one piece.

    Neighbouring classes are read together, a few rows at a time: each line of memory is fetched once for all of them.
    """
    columns = np.empty((len(labels), len(table)))
    first, last = min(labels), max(labels)
    chosen: Any = slice(first, last + 1) if list(labels) == list(range(first, last + 1)) else list(labels)
    for start in range(0, len(table), _FETCHED):
        rows = slice(start, start + _FETCHED)
        columns[:, rows] = table[rows, chosen].T
    return columns


def _read_only(values: Any) -> Any:
    view = values.view()
    view.flags.writeable = False
    return view

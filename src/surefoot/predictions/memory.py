"""Predictions whose rows are at hand: what arrays and tensors share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from surefoot._stats.logistic import expit
from surefoot.core.tally import Label
from surefoot.errors import InvalidPredictions
from surefoot.predictions.base import Predictions
from surefoot.predictions.checks import check_lengths
from surefoot.predictions.doubt import count, widen


@dataclass(frozen=True, eq=False, repr=False)
class InMemory(Predictions):
    """Columns in memory, arrays or tensors; doubt, weight and labels only where they do not follow from these."""

    #: NumPy or torch.
    xp = np

    correct: Any
    _confidence: Any = None
    #: The labels, or their positions in ``labels``.
    _truth: Any = None
    _predicted: Any = None
    probabilities: Any = None
    _doubt: Any = None
    _weight: Any = None
    _labels: tuple[Label, ...] | None = None
    _log_odds: Any = None
    _rounded: Any = None

    @abstractmethod
    def codes(self, column: str, rows: Any = slice(None)) -> Any:
        """The positions in ``labels`` of the true or the predicted labels of some rows."""

    @abstractmethod
    def _as_labels(self, argument: str, given: Any) -> Any:
        """A column of values, checked, that lies where these predictions do."""

    @abstractmethod
    def _distinct(self, *columns: Any) -> tuple[Label, ...]:
        """The labels that occur in columns, sorted."""

    def __len__(self) -> int:
        return len(self.correct)

    def __repr__(self) -> str:
        classes = "" if self.labels is None else f", {len(self.labels)} classes"
        weight = self.weight
        right = float((weight * self.correct).sum())
        accuracy = f", accuracy {right / float(weight.sum()):.1%}" if bool(weight.any()) else ""
        return f"Predictions({len(self):,} rows{classes}{accuracy})"

    @property
    def wrong(self) -> Any:
        return ~self.correct

    @property
    def is_weighted(self) -> bool:
        return self._weight is not None

    @cached_property
    def weight(self) -> Any:
        """The weight of each row; ones where none were given."""
        return widen(self.xp.ones_like(self.correct)) if self._weight is None else self._weight

    @property
    def has_equal_weights(self) -> bool:
        """Whether all rows that count weigh the same."""
        if self._weight is None:
            return True
        counting = self._weight[self._weight > 0]
        return not len(counting) or bool((counting == counting[0]).all())

    @cached_property
    def labels(self) -> tuple[Label, ...] | None:
        """The classes: those given, or those that occur; None when only correctness is known."""
        if self._labels is not None or self._truth is None:
            return self._labels
        return self._distinct(self._truth, self._predicted)

    @cached_property
    def doubt(self) -> Any:
        """1 - confidence, by the best way these data offer."""
        return self.doubt_of(slice(None))

    @property
    def stores_doubt(self) -> bool:
        """Whether doubt is stored, or 1 - confidence."""
        return self._doubt is not None

    def confidence_of(self, rows: Any) -> Any:
        """The confidence of some rows, as float64."""
        return widen(self.confidence[rows])

    def doubt_of(self, rows: Any) -> Any:
        """The doubt of some rows, computed on the spot where it is not stored."""
        return 1 - self.confidence_of(rows) if self._doubt is None else widen(self._doubt[rows])

    @cached_property
    def certain(self) -> int:
        """How many rows that count claim certainty: a doubt of exactly 0."""
        return self._count(self._is_certain)

    @cached_property
    def certain_wrong(self) -> int:
        """How many of them are wrong."""
        return self._count(self._is_certain & self.wrong)

    @property
    def _is_certain(self) -> Any:
        return self.confidence == 1 if self._doubt is None else self._doubt == 0

    @cached_property
    def rounded(self) -> int:
        """How many confidences that count are a narrow float type's 1, with a doubt set by convention."""
        return 0 if self._rounded is None else self._count(self._rounded)

    def _count(self, flags: Any) -> int:
        return count(flags if self._weight is None else flags & (self._weight > 0))

    def score_probabilities(self, scores: Any, label: int) -> Any:
        """The probabilities that the ranking scores of a class stand for."""
        if self._log_odds is not None:
            return expit(scores)
        return 1 + scores if self.probabilities.ndim == 1 and label == 0 else scores

    def score_log_odds(self, label: int, rows: Any) -> Any:
        """The log-odds of a class on some rows, a non-decreasing function of its ranking scores."""
        if self._log_odds is not None:
            return self._log_odds[rows, label]
        second_only = self.probabilities.ndim == 1
        # in one piece: a column of a table is spread over memory
        p = widen(self.probabilities[rows] if second_only else self.probabilities[rows, label]) + 0.0
        with np.errstate(divide="ignore"):
            odds = self.xp.log(p) - self.xp.log1p(-p)
        return -odds if second_only and label == 0 else odds

    def __getitem__(self, rows: Any) -> Self:
        """Some of the rows, over the same labels."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        cut = {name: values[rows] for name, values in columns.items() if hasattr(values, "shape")}
        return replace(self, **cut, _labels=self.labels)

    def slicing(self, by: Any) -> Any:
        """The value that each row is sliced by: of a column of values, or of the ``"predicted"`` or ``"truth"``."""
        if isinstance(by, str):
            if by not in ("predicted", "truth"):
                raise InvalidPredictions(
                    argument="by", value=by, hint="give a column of values, 'predicted' or 'truth'"
                )
            if self._truth is None:
                raise InvalidPredictions(
                    "but these predictions hold only whether each was correct", argument="by", value=by
                )
            return getattr(self, by)
        values = self._as_labels("by", by)
        check_lengths(rows=len(self), by=values)
        return values

    def split(self, values: Any) -> Iterator[tuple[Label, Self, Any]]:
        """The rows of each value that has any that count, and which they are; values rising.

        Rows are put in order once, not once a slice.
        """
        order = values.argsort(stable=True)
        grouped, ordered = self[order], values[order]
        starts = [0, *(start + 1 for start in self.xp.where(ordered[1:] != ordered[:-1])[0].tolist())]
        for start, stop in pairwise([*starts, len(ordered)]):
            part = grouped[start:stop]
            if part._weight is None or bool(part._weight.any()):
                yield ordered[start].item(), part, order[start:stop]

"""Predictions whose rows are at hand: what arrays and tensors share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from surefoot._stats.logistic import both_sides, expit
from surefoot.core.tally import Label
from surefoot.core.view import View
from surefoot.errors import InvalidPredictions
from surefoot.predictions.base import Predictions
from surefoot.predictions.checks import check_lengths, most_odds
from surefoot.predictions.doubt import SAFE_SIDE, count, widen
from surefoot.predictions.events import HAPPENED, position_of
from surefoot.predictions.log_odds import LogOdds, OddsOfSecond


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
    _probabilities: Any = None
    _doubt: Any = None
    _weight: Any = None
    _labels: tuple[Label, ...] | None = None
    _log_odds: LogOdds | OddsOfSecond | None = None
    _rounded: Any = None
    #: What probabilities are clipped to, and one less it.
    _floor: float | None = None
    #: What a probability of 0 is taken for, where text has rounded it.
    _least: float = 0.0
    chosen_view: View | None = None
    event_label: Label | None = None
    #: Which of the rows that were given were attempted; these are the rows. None if all were.
    attempted: Any = None
    #: The number of each row in the data that it was read from, where others were left out; None if that is its place.
    _numbers: Any = None
    #: A score of each class for each row, which are no probabilities: each class is ranked by its own.
    scores: Any = None

    @abstractmethod
    def is_label(self, column: str, label: int) -> Any:
        """Which rows are truly, or predicted to be, of a class, given by its position in ``labels``."""

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
        share = f"{right / float(weight.sum()):.1%}" if bool(weight.any()) else ""
        end = f", {self.not_attempted:,} more not attempted)" if self.not_attempted else ")"
        if self.view == "event":
            return (
                f"Predictions({len(self):,} rows, event {self.event_label!r}" + (f" in {share}" if share else "") + end
            )
        return f"Predictions({len(self):,} rows{classes}" + (f", accuracy {share}" if share else "") + end

    @cached_property
    def not_attempted(self) -> int:
        """How many rows were not attempted, besides these."""
        return 0 if self.attempted is None else count(~self.attempted)

    def align(self, argument: str, given: Any) -> Any:
        """A value for each row, of a column that was given for all rows or for those that were attempted."""
        values = self._as_labels(argument, given)
        if self.attempted is not None and len(values) == len(self.attempted):
            return values[self.attempted]
        check_lengths(rows=len(self), **{argument: values})
        return values

    def _skipped_by(self, by: Any) -> dict[Label, int]:
        if self.attempted is None or by is None or isinstance(by, str):
            return {}
        values = self._as_labels("by", by)
        if len(values) != len(self.attempted):
            return {}
        found, counts = self.xp.unique(values[~self.attempted], return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))

    def row_numbers(self) -> Any:
        """The number of each row among those of the columns that were given, by which others are looked up."""
        if self.attempted is None:
            return self.xp.arange(len(self))
        return self.xp.where(self.attempted)[0]

    def source_numbers(self) -> Any:
        """The number of each row where it came from: in a file also those count that were left out of the columns."""
        return self.row_numbers() if self._numbers is None else self._numbers

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
    def probabilities(self) -> Any:
        """P(second label) if one-dimensional, else a column for each class; None where not given."""
        if self._probabilities is None and self._log_odds is not None:
            return self._log_odds.probabilities()
        return self._probabilities

    @property
    def has_probabilities(self) -> bool:
        return self._probabilities is not None or self._log_odds is not None

    @property
    def follows_logits(self) -> bool:
        """Whether probabilities follow from logits that were given."""
        return self._log_odds is not None

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

    @property
    def has_ranking(self) -> bool:
        return self.has_probabilities or self.scores is not None

    @property
    def averaged_classes(self) -> range:
        """Classes, by position, that averages over rankings are of: of two the second, but if each has its scores."""
        count = len(self.labels or ())
        return range(1, 2) if count == 2 and self.scores is None else range(count)

    def score_probabilities(self, scores: Any, label: int) -> Any:
        """The probabilities that the ranking scores of a class stand for, or the scores that they are."""
        if self.scores is not None:
            return scores
        if self._log_odds is not None:
            return expit(scores)
        return 1 + scores if self.has_second and label == 0 else scores

    def score_log_odds(self, label: int, rows: Any) -> Any:
        """The log-odds of a class on some rows, a non-decreasing function of its ranking scores."""
        if self._log_odds is not None:
            return self._clip_odds(self._log_odds.of_class(label, rows))
        table = self.probabilities if self.scores is None else self.scores
        second_only = self.has_second
        # in one piece: a column of a table is spread over memory
        p = widen(table[rows] if second_only else table[rows, label]) + 0.0
        with np.errstate(divide="ignore"):
            odds = self._clip_odds(self.xp.log(p) - self.xp.log1p(-p))
        return -odds if second_only and label == 0 else odds

    def _clip_odds(self, odds: Any) -> Any:
        """Log-odds clipped as probabilities are."""
        if self._floor is None:
            return odds
        most = most_odds(self._floor)
        return self.xp.clip(odds, -most, most)

    def _clip_scores(self, scores: Any) -> Any:
        """Probabilities or scores clipped as confidences are."""
        return scores if self._floor is None else self.xp.clip(widen(scores), self._floor, 1 - self._floor)

    @property
    def has_second(self) -> bool:
        """Whether one column of probabilities was given, those of the second label."""
        scores = self._log_odds if self._probabilities is None else self._probabilities
        return isinstance(scores, OddsOfSecond) or (scores is not None and len(scores.shape) == 1)

    def event(self, label: Label) -> Self:
        k = position_of(self, label)
        is_predicted, happened = self.is_label("predicted", k), self.is_label("truth", k)
        confidence, doubt = self._chance_of(k, is_predicted)
        labels, probabilities, odds = HAPPENED, confidence, self._log_odds
        # a number rounded to 0 is that of the other label rounded to 1
        is_one_of_two = len(self.labels or ()) == 2
        if self.has_second:
            # the column as it is: of the first label it holds the probability that the event does not happen
            labels, probabilities = HAPPENED if k else HAPPENED[::-1], self.probabilities
        elif odds is not None:
            odds = OddsOfSecond(odds.of_class(k), self.xp)
        return self._replace_rows(
            correct=happened,
            _confidence=confidence,
            _doubt=doubt,
            _truth=happened,
            _predicted=happened | True,
            _probabilities=probabilities,
            _labels=labels,
            _log_odds=odds,
            _rounded=self._rounded if is_one_of_two or self._rounded is None else self._rounded & is_predicted,
            scores=None,
            chosen_view="event",
            event_label=label,
        )

    @abstractmethod
    def _replace_rows(self, **columns: Any) -> Self:
        """The same with other columns; labels are booleans."""

    def _chance_of(self, k: int, is_predicted: Any) -> tuple[Any, Any]:
        """The probability of a class in each row, and that of all others together, neither with lost digits."""
        xp = self.xp
        own, rest = self.claim_of(slice(None))
        assert self.labels is not None
        if len(self.labels) == 2:
            return xp.where(is_predicted, own, rest), xp.where(is_predicted, rest, own)
        if not self.has_probabilities:
            raise InvalidPredictions(
                f"there are {len(self.labels)} classes, and these predictions hold the probability of one in each row",
                hint="give the probabilities of all classes",
            )
        p, otherwise = next(self.chances([k], lambda _: is_predicted))
        return xp.where(is_predicted, own, p), xp.where(is_predicted, rest, otherwise)

    def claim_of(self, rows: Any) -> tuple[Any, Any]:
        """The confidence and the doubt of some rows as those of an event, where both sides count."""
        own, rest = self.confidence_of(rows), self.doubt_of(rows)
        if self._rounded is not None:
            rounded = self._rounded[rows]
            rest = self.xp.where(rounded, rest / SAFE_SIDE, rest)
            own = self.xp.where(rounded, 1 - rest, own)
        return own, rest

    def chances(self, labels: Sequence[int], predicted: Callable[[int], Any]) -> Iterator[tuple[Any, Any]]:
        """For each of some classes its probability in each row, and that of all others together.

        But in rows where it is ``predicted``: there :meth:`claim_of` has them with all digits.
        """
        xp = self.xp
        if self._log_odds is not None:
            pairs = (both_sides(odds, xp) for odds in self._log_odds.of_classes(labels))
        else:
            pairs = ((p, 1 - p) for p in self._columns_of(labels))
        for k, (p, otherwise) in zip(labels, pairs, strict=True):
            if self._log_odds is None:
                large = p > 0.5
                large[predicted(k)] = False
                if bool(large.any()):
                    table = widen(self.probabilities[large])
                    otherwise[large] = xp.clip(table[:, :k].sum(axis=1) + table[:, k + 1 :].sum(axis=1), 0.0, 1.0)
            if self._floor is not None:
                p = xp.clip(p, self._floor, 1 - self._floor)
                otherwise = 1 - p
            yield p, otherwise

    def _columns_of(self, labels: Sequence[int]) -> Iterator[Any]:
        """The probabilities of some classes, one class after the other."""
        for k in labels:
            p = widen(self.probabilities[:, k])
            yield self.xp.where(p == 0, self._least, p) if self._least else p

    def _with_slices(self, by: Any) -> tuple[Self, Any]:
        return self, None if by is None else self.slicing(by)

    def __getitem__(self, rows: Any) -> Self:
        """Some of the rows, over the same labels; what was not attempted belongs to all of them only."""
        columns = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "attempted"}
        cut = {name: values[rows] for name, values in columns.items() if hasattr(values, "shape")}
        return replace(self, **cut, _labels=self.labels, attempted=None)

    def slicing(self, by: Any) -> Any:
        """The value that each row is sliced by: of a column of values, or of the ``"predicted"`` or ``"truth"``."""
        if isinstance(by, str):
            if by not in ("predicted", "truth"):
                raise InvalidPredictions(
                    argument="by", value=by, hint="give a column of values, 'predicted' or 'truth'"
                )
            if self.view == "event" and by == "predicted":
                raise InvalidPredictions(
                    "but every row is about the same event", argument="by", value=by, hint="give a column of values"
                )
            if self._truth is None:
                raise InvalidPredictions(
                    "but these predictions hold only whether each was correct", argument="by", value=by
                )
            return getattr(self, by)
        return self.align("by", by)

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
                yield ordered[start : start + 1].tolist()[0], part, order[start:stop]

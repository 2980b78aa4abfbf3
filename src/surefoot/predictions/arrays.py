"""The doors: every way predictions come in, each checked here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._stats.logistic import expit
from surefoot.errors import InvalidPredictions
from surefoot.predictions import doubt as doubts
from surefoot.predictions import tensors
from surefoot.predictions.checks import (
    as_claim,
    as_outcome,
    check_sums,
    checked_floor,
    chosen_classes,
    count_classes,
    with_labels,
)
from surefoot.predictions.columns import (
    Array,
    as_numbers,
    as_weight,
    check_fractions,
    check_lengths,
    narrowed,
)
from surefoot.predictions.dataframe import FrameColumns, is_frame, open_frame
from surefoot.predictions.labels import (
    Label,
    as_labels,
    check_same_kind,
    distinct,
    encode,
    labels_in_names,
)


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Predictions, checked: what was predicted, how sure the model was, and what was true.

    Made by its doors, :meth:`from_labels`, :meth:`from_correct`, :meth:`from_probabilities`, :meth:`from_logits` and
    :meth:`from_frame`. Columns that were arrays already are looked at, not copied: do not write into them.
    """

    correct: npt.NDArray[np.bool_]
    confidence: Array
    truth: Array | None = None
    predicted: Array | None = None
    #: P(second label) if one-dimensional, else a column for each of ``labels``.
    probabilities: Array | None = None
    _doubt: npt.NDArray[np.float64] | None = None
    _weight: npt.NDArray[np.float64] | None = None
    _labels: tuple[Label, ...] | None = None
    _log_odds: npt.NDArray[np.float64] | None = None
    _rounded: npt.NDArray[np.bool_] | None = None
    #: Set by the constructors, which check what they are given.
    _is_checked: bool = False

    def __post_init__(self) -> None:
        if not self._is_checked:
            raise TypeError(
                "Predictions is made by its constructors: Predictions.from_probabilities(y_true, probabilities), "
                "from_labels(y_true, y_pred, confidence), from_correct(correct, confidence), from_logits or from_frame."
            )

    # -- doors ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any,
        confidence: Any = None,
        *,
        doubt: Any = None,
        sample_weight: Any = None,
        floor: float | None = None,
        float32: bool = True,
    ) -> Predictions:
        """From true labels, predicted labels and the confidence in each prediction.

        Labels are booleans, integers or strings, of one kind on both sides. ``doubt`` is 1 - confidence where the
        caller knows it better than that subtraction does; either of the two is enough. ``floor`` clips the confidence
        to [floor, 1 - floor] as the paper does (it uses 1e-8); by default nothing is clipped. A float64 column of which
        every number is a float32 number is treated as float32, where 1.0 is a rounded number; ``float32=False`` takes
        it literally.

        Examples
        --------
        >>> p = Predictions.from_labels(["cat", "dog", "cat"], ["cat", "cat", "cat"], [0.9, 0.6, 0.7])
        >>> p.correct.tolist()
        [True, False, True]
        """
        if tensors.are_on_device(y_true, y_pred, confidence, doubt):
            return tensors.from_labels(  # type: ignore[return-value]
                y_true, y_pred, confidence, doubt=doubt, sample_weight=sample_weight, floor=floor, float32=float32
            )
        truth, predicted = as_labels("y_true", y_true), as_labels("y_pred", y_pred)
        check_same_kind("y_true", truth, "y_pred", predicted)
        check_lengths(y_true=truth, y_pred=predicted)
        claim = as_claim(confidence, doubt, floor, len(truth), float32=float32)
        return cls._made(truth == predicted, claim, sample_weight, truth=truth, predicted=predicted)

    @classmethod
    def from_correct(
        cls,
        correct: Any,
        confidence: Any = None,
        *,
        doubt: Any = None,
        sample_weight: Any = None,
        floor: float | None = None,
        float32: bool = True,
    ) -> Predictions:
        """From whether each prediction was correct (booleans, or 0 and 1) and the confidence in it.

        Examples
        --------
        >>> Predictions.from_correct([True, False, True], [0.9, 0.6, 0.7])
        Predictions(3 rows, accuracy 66.7%)
        """
        if tensors.are_on_device(correct, confidence, doubt):
            return tensors.from_correct(  # type: ignore[return-value]
                correct, confidence, doubt=doubt, sample_weight=sample_weight, floor=floor, float32=float32
            )
        outcome = as_outcome(correct)
        check_lengths(correct=outcome)
        claim = as_claim(confidence, doubt, floor, len(outcome), float32=float32)
        return cls._made(outcome, claim, sample_weight)

    @classmethod
    def from_probabilities(
        cls,
        y_true: Any,
        probabilities: Any,
        *,
        labels: Any = None,
        pos_label: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        floor: float | None = None,
        float32: bool = True,
    ) -> Predictions:
        """From true labels and the probability of each class.

        One-dimensional ``probabilities`` are those of one label of a binary problem: of 1, of true, or of
        ``pos_label``, which other labels need. Two-dimensional ones have a column for each of ``labels``: by default 0,
        1, ... when ``y_true`` holds such integers, else the sorted labels that occur. The largest is predicted, the
        first of equals; ``y_pred`` overrides it, as when a calibrated probability is attached to another model's
        decision. Doubt is the sum of the other columns. ``float32`` as in :meth:`from_labels`.

        Examples
        --------
        >>> p = Predictions.from_probabilities([1, 0, 1], [0.9, 0.2, 0.4])
        >>> p.predicted.tolist(), p.confidence.tolist()
        ([1, 0, 0], [0.9, 0.8, 0.6])
        """
        if tensors.are_on_device(y_true, probabilities, y_pred):
            return tensors.from_probabilities(  # type: ignore[return-value]
                y_true,
                probabilities,
                labels=labels,
                pos_label=pos_label,
                y_pred=y_pred,
                sample_weight=sample_weight,
                floor=floor,
                float32=float32,
            )
        truth = as_labels("y_true", y_true)
        table = as_numbers("probabilities", probabilities, dimensions=2)
        if labels is None and table.values.ndim == 2 and is_frame(probabilities):
            labels = labels_in_names(truth, [str(name) for name in open_frame(probabilities).columns])
        count = count_classes("probabilities", table.values, truth)
        check_fractions("probabilities", table.values)
        if table.values.ndim == 2:
            check_sums(table)
        second = table.values.ndim == 1
        names, truth_codes = with_labels(truth, labels, count, is_second=second, pos_label=pos_label)
        chosen = chosen_classes(
            y_pred, names, (table.values > 0.5) if second else np.argmax(table.values, axis=1), len(truth)
        )
        clip = checked_floor(floor)
        table = narrowed(table) if float32 and clip is None else table
        if clip is not None:
            claim = doubts.clipped(doubts.chosen_confidence(table.values, chosen), clip)
        else:
            claim = doubts.of_second(table, chosen.astype(bool)) if second else doubts.of_columns(table, chosen)
        return cls._made(
            truth_codes == chosen,
            claim,
            sample_weight,
            truth=truth,
            predicted=np.array(names)[chosen],
            probabilities=_read_only(table.values),
            _labels=names,
        )

    @classmethod
    def from_logits(
        cls,
        y_true: Any,
        logits: Any,
        *,
        labels: Any = None,
        pos_label: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        floor: float | None = None,
    ) -> Predictions:
        """From true labels and logits: a column for each class, or the log-odds of the second label.

        Doubt comes from the log-sum over the other classes, so that it keeps its digits where probabilities would
        have rounded to 1. Other arguments as :meth:`from_probabilities`.

        Examples
        --------
        >>> p = Predictions.from_logits([0], [[40.0, 0.0]])
        >>> f"{p.doubt[0]:.2g}"
        '4.2e-18'
        """
        if tensors.are_on_device(y_true, logits, y_pred):
            return tensors.from_logits(  # type: ignore[return-value]
                y_true,
                logits,
                labels=labels,
                pos_label=pos_label,
                y_pred=y_pred,
                sample_weight=sample_weight,
                floor=floor,
            )
        truth = as_labels("y_true", y_true)
        table = as_numbers("logits", logits, dimensions=2, fractions=False)
        count = count_classes("logits", table.values, truth)
        names, truth_codes = with_labels(truth, labels, count, is_second=table.values.ndim == 1, pos_label=pos_label)
        wide = table.values.astype(np.float64)
        if wide.ndim == 1:
            wide = np.stack([np.zeros(len(wide)), wide], axis=1)
        chosen = chosen_classes(y_pred, names, np.argmax(wide, axis=1), len(truth))
        claim, odds = doubts.of_logits(wide, chosen)
        if (clip := checked_floor(floor)) is not None:
            claim = doubts.clipped(claim.confidence, clip)
        return cls._made(
            truth_codes == chosen,
            claim,
            sample_weight,
            truth=truth,
            predicted=np.array(names)[chosen],
            probabilities=_read_only(expit(odds[:, 1] if table.values.ndim == 1 else odds)),
            _labels=names,
            _log_odds=odds,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        truth: str | None = None,
        predicted: str | None = None,
        confidence: str | None = None,
        doubt: str | None = None,
        correct: str | None = None,
        probabilities: str | list[str] | None = None,
        weight: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
        floor: float | None = None,
        float32: bool = True,
    ) -> Predictions:
        """From columns of a dataframe: pandas, Polars, PyArrow, DuckDB, Dask, PySpark, or what else Narwhals reads.

        Rows of a lazy frame are checked and added up where they are, and never collected: what is returned then
        describes its columns, and :func:`tally` and :func:`assess` take it.

        Name ``truth``, ``predicted`` and ``confidence`` (or ``doubt``); or ``correct`` and ``confidence``; or ``truth``
        and ``probabilities``, which is a list column, a column of P(1), P(true) or P(``pos_label``), a list of columns,
        or the prefix of their names; where those names (less what they share) are the labels, they say which column is
        whose. When nothing is named, columns called like these arguments are taken.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"label": ["dog", "cat"], "p_dog": [0.9, 0.4], "p_cat": [0.1, 0.6]})
        >>> Predictions.from_frame(frame, truth="label", probabilities="p_")
        Predictions(2 rows, 2 classes, accuracy 100.0%)
        """
        named = {
            "truth": truth,
            "predicted": predicted,
            "confidence": confidence,
            "doubt": doubt,
            "correct": correct,
            "probabilities": probabilities,
            "weight": weight,
        }
        columns = FrameColumns(frame, named)
        if columns.is_lazy:
            from surefoot.predictions.frames import describe

            clip = checked_floor(floor)
            return describe(columns, labels, pos_label, clip, float32=float32)  # type: ignore[return-value]
        try:
            return cls._from_columns(columns, labels, pos_label, {"floor": floor, "float32": float32})
        except InvalidPredictions as error:
            raise InvalidPredictions(columns.renamed(str(error))) from error

    @classmethod
    def _from_columns(cls, columns: FrameColumns, labels: Any, pos_label: Any, options: dict[str, Any]) -> Predictions:
        common: dict[str, Any] = {"sample_weight": columns.get("weight"), **options}
        if columns.has("probabilities"):
            columns.refuse("probabilities", "confidence", "doubt", "correct")
            truth = columns.need("truth")
            values, names = columns.probabilities()
            if labels is None and names is not None:
                labels = labels_in_names(as_labels("y_true", truth), names)
            y_pred = columns.get("predicted")
            return cls.from_probabilities(truth, values, labels=labels, pos_label=pos_label, y_pred=y_pred, **common)
        if labels is not None or pos_label is not None:
            raise InvalidPredictions("labels= says what the columns of probabilities stand for; name probabilities=.")
        claim = {"confidence": columns.get("confidence"), "doubt": columns.get("doubt")}
        if columns.has("correct"):
            columns.refuse("correct", "truth", "predicted")
            return cls.from_correct(columns.need("correct"), **claim, **common)
        return cls.from_labels(columns.need("truth"), columns.need("predicted"), **claim, **common)

    @classmethod
    def _made(cls, correct: Array, claim: doubts.Claim, sample_weight: Any, **rest: Any) -> Predictions:
        return cls(
            correct=_read_only(correct),
            confidence=_read_only(claim.confidence),
            _rounded=claim.rounded,
            _doubt=None if claim.doubt is None else _read_only(claim.doubt),
            _weight=None if sample_weight is None else _read_only(as_weight(sample_weight, len(correct))),
            _is_checked=True,
            **{name: _read_only(value) if name in ("truth", "predicted") else value for name, value in rest.items()},
        )

    # -- columns -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.correct)

    @property
    def wrong(self) -> npt.NDArray[np.bool_]:
        return ~self.correct

    @cached_property
    def doubt(self) -> npt.NDArray[np.float64]:
        """1 - confidence, by the best way these data offer."""
        return self.doubt_of(slice(None))

    @cached_property
    def weight(self) -> npt.NDArray[np.float64]:
        """The weight of each row; ones where none were given."""
        return np.ones(len(self)) if self._weight is None else self._weight

    @property
    def has_equal_weights(self) -> bool:
        """Whether all rows that count weigh the same."""
        if not self.is_weighted:
            return True
        counting = self.weight[self.weight > 0]
        return not len(counting) or bool((counting == counting[0]).all())

    @property
    def is_weighted(self) -> bool:
        return self._weight is not None

    @cached_property
    def labels(self) -> tuple[Label, ...] | None:
        """The classes: those given, or those that occur; None when only correctness is known."""
        if self._labels is not None or self.truth is None or self.predicted is None:
            return self._labels
        return distinct(self.truth, self.predicted)

    @cached_property
    def certain(self) -> int:
        """How many rows that count claim certainty: a doubt of exactly 0."""
        return int(np.count_nonzero(self._is_certain))

    @cached_property
    def certain_wrong(self) -> int:
        """How many of them are wrong."""
        return int(np.count_nonzero(self._is_certain & self.wrong))

    @cached_property
    def rounded(self) -> int:
        """How many confidences that count are a narrow float type's 1, with a doubt set by convention."""
        if self._rounded is None:
            return 0
        return int(np.count_nonzero(self._rounded if self._weight is None else self._rounded & (self._weight > 0)))

    @property
    def _is_certain(self) -> npt.NDArray[np.bool_]:
        certain: npt.NDArray[np.bool_] = self.confidence == 1 if self._doubt is None else self._doubt == 0
        return certain if self._weight is None else certain & (self._weight > 0)

    @property
    def stores_doubt(self) -> bool:
        """Whether doubt is stored, or 1 - confidence."""
        return self._doubt is not None

    def truth_codes(self, rows: slice) -> npt.NDArray[np.intp]:
        """The position in ``labels`` of the true label of some rows."""
        return self._codes("truth", rows)

    def predicted_codes(self, rows: slice) -> npt.NDArray[np.intp]:
        """The position in ``labels`` of the predicted label of some rows."""
        return self._codes("predicted", rows)

    def is_truly(self, label: int, rows: slice = slice(None)) -> npt.NDArray[np.bool_]:
        """Which of some rows are of a class, given by its position in ``labels``."""
        assert self.truth is not None
        assert self.labels is not None
        of_class: npt.NDArray[np.bool_] = self.truth[rows] == self.labels[label]
        return of_class

    def _codes(self, column: str, rows: slice) -> npt.NDArray[np.intp]:
        values, labels = getattr(self, column), self.labels
        assert values is not None
        assert labels is not None
        return encode(column, values[rows], labels)

    def confidence_of(self, rows: slice) -> npt.NDArray[np.float64]:
        """The confidence of some rows, as float64."""
        return self.confidence[rows].astype(np.float64, copy=False)

    def doubt_of(self, rows: slice) -> npt.NDArray[np.float64]:
        """The doubt of some rows, computed on the spot where it is not stored."""
        return 1 - self.confidence[rows].astype(np.float64) if self._doubt is None else self._doubt[rows]

    def ranking_scores(self, labels: Sequence[int]) -> list[npt.NDArray[np.float64]]:
        """For each of some classes, numbers that rise strictly with its probability, free of ties made by rounding."""
        assert self.probabilities is not None
        if self.probabilities.ndim == 1 and self._log_odds is None:
            p = self.probabilities.astype(np.float64, copy=False)
            # small p keep their order for the first label too
            return [p if label == 1 else -p for label in labels]
        table = self.probabilities if self._log_odds is None else self._log_odds
        # neighbouring classes are read together: each row is fetched once for all of them
        return list(np.ascontiguousarray(table[:, list(labels)].T, dtype=np.float64))

    def score_probabilities(self, scores: npt.NDArray[np.float64], label: int) -> npt.NDArray[np.float64]:
        """The probabilities that :meth:`ranking_scores` stand for."""
        if self._log_odds is not None:
            return expit(scores)  # type: ignore[no-any-return]
        assert self.probabilities is not None
        return 1 + scores if self.probabilities.ndim == 1 and label == 0 else scores

    def score_log_odds(self, label: int, rows: slice) -> npt.NDArray[np.float64]:
        """The log-odds of a class on some rows, a non-decreasing function of :meth:`ranking_scores`."""
        if self._log_odds is not None:
            return self._log_odds[rows, label]
        assert self.probabilities is not None
        second_only = self.probabilities.ndim == 1
        p = (self.probabilities[rows] if second_only else self.probabilities[rows, label]).astype(np.float64)
        with np.errstate(divide="ignore"):
            odds: npt.NDArray[np.float64] = np.log(p) - np.log1p(-p)
        return -odds if second_only and label == 0 else odds

    def __getitem__(self, rows: slice | npt.NDArray[Any]) -> Predictions:
        """Some of the rows, over the same labels."""
        columns = ("correct", "confidence", "truth", "predicted", "probabilities")
        stored = ("_doubt", "_weight", "_log_odds", "_rounded")
        cut: dict[str, Any] = {}
        for name in (*columns, *stored):
            values = getattr(self, name)
            cut[name] = None if values is None else values[rows]
        return replace(self, **cut, _labels=self.labels)

    def rounded_at(self, decimals: int) -> Predictions:
        """The same, knowing that confidences are text of so many decimals: a doubt of 0 was rounded, not claimed."""
        at_one = self.doubt == 0
        doubt = np.where(at_one, doubts.of_rounded_text(decimals), self.doubt)
        return replace(self, _doubt=_read_only(doubt), _rounded=at_one)

    def __repr__(self) -> str:
        classes = "" if self.labels is None else f", {len(self.labels)} classes"
        weight = self.weight
        accuracy = f", accuracy {float(weight @ self.correct / weight.sum()):.1%}" if weight.any() else ""
        return f"Predictions({len(self):,} rows{classes}{accuracy})"


def _read_only(values: Any) -> Any:
    view = values.view()
    view.flags.writeable = False
    return view

"""What the user holds, checked once: predictions in arrays, in tensors on a device, or in a lazy frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

from surefoot.core.tally import Label, Tally
from surefoot.core.term import Term
from surefoot.errors import InvalidPredictions
from surefoot.predictions.checks import check_floor
from surefoot.predictions.dataframe import FrameColumns

if TYPE_CHECKING:
    from surefoot.predictions.arrays import ArrayPredictions
    from surefoot.predictions.border import Border

#: The kinds of columns there are, in the order in which they are tried; and what describes a lazy frame.
BORDERS: list[Border] = []
DESCRIBE: list[Any] = []


class Predictions(ABC):
    """Predictions, checked: what was predicted, how sure the model was, and what was true.

    Made by its constructors, :meth:`from_labels`, :meth:`from_correct`, :meth:`from_probabilities`,
    :meth:`from_logits` and :meth:`from_frame`. Columns that were arrays already are looked at, not copied: do not write
    into them. Tensors on an accelerator and lazy frames stay where they are; what needs the rows themselves asks for
    :meth:`rows`.

    Attributes
    ----------
    correct, wrong, confidence, doubt, weight
        A value for each row: arrays, tensors, or names of columns of the lazy frame.
    truth, predicted
        The labels; None where only correctness is known.
    probabilities
        P(second label) if one-dimensional, else a column for each of ``labels``; None where not given.
    labels : tuple or None
        The classes: those given, or those that occur.
    rounded : int
        How many confidences that count are a narrow float type's 1, with a doubt set by convention.
    """

    #: The module of :mod:`surefoot.engines` that adds up such rows, loaded when it is first needed.
    engine: ClassVar[str]
    #: Whether rows can be had: not from a lazy frame.
    has_rows: ClassVar[bool] = True

    if TYPE_CHECKING:
        correct: Any
        probabilities: Any

        @property
        def confidence(self) -> Any: ...

        @property
        def doubt(self) -> Any: ...

        @property
        def weight(self) -> Any: ...

        @property
        def truth(self) -> Any: ...

        @property
        def predicted(self) -> Any: ...

        @property
        def labels(self) -> tuple[Label, ...] | None: ...

        @property
        def rounded(self) -> int: ...

        @property
        def is_weighted(self) -> bool: ...

        @property
        def has_equal_weights(self) -> bool: ...

    def __new__(cls, *_: Any, **__: Any) -> Self:
        if cls is Predictions:
            raise TypeError(
                "Predictions is made by its constructors: Predictions.from_probabilities(y_true, probabilities), "
                "from_labels(y_true, y_pred, confidence), from_correct(correct, confidence), from_logits or from_frame."
            )
        return super().__new__(cls)

    @abstractmethod
    def rows(self, what: str = "this") -> ArrayPredictions:
        """The same in arrays, for ``what`` needs them so; a lazy frame raises :class:`NeedsRows`."""

    def tally(self, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
        """The totals of terms over all rows, and with ``by`` those of each slice.

        Of bounded size by default: scores go into cells. With ``exact`` every distinct score is kept apart, a class at
        a time, for formulas to read; such a tally is not for keeping.
        """
        tally: Tally = import_module(f"surefoot.engines.{self.engine}").tally(self, terms, exact=exact, by=by)
        return tally

    # -- constructors --------------------------------------------------------------------------------------------------

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
        border = border_of(y_true, y_pred, confidence, doubt)
        return border.from_labels(
            y_true, y_pred, confidence, doubt=doubt, sample_weight=sample_weight, floor=floor, float32=float32
        )

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
        border = border_of(correct, confidence, doubt)
        return border.from_correct(
            correct, confidence, doubt=doubt, sample_weight=sample_weight, floor=floor, float32=float32
        )

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
        return border_of(y_true, probabilities, y_pred).from_probabilities(
            y_true,
            probabilities,
            labels=labels,
            pos_label=pos_label,
            y_pred=y_pred,
            sample_weight=sample_weight,
            floor=floor,
            float32=float32,
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
        return border_of(y_true, logits, y_pred).from_logits(
            y_true,
            logits,
            labels=labels,
            pos_label=pos_label,
            y_pred=y_pred,
            sample_weight=sample_weight,
            floor=floor,
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
        from_logits: bool = False,
        floor: float | None = None,
        float32: bool = True,
    ) -> Predictions:
        """From columns of a dataframe: pandas, Polars, PyArrow, DuckDB, Dask, PySpark, or what else Narwhals reads.

        Rows of a lazy frame are checked and added up where they are, and never collected: what is returned then
        describes its columns.

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
        columns.check(labels, pos_label)
        if columns.is_lazy and from_logits:
            raise InvalidPredictions(
                "columns of logits are read from a dataframe in memory only", hint="collect the frame first"
            )
        if columns.is_lazy:
            (describe,) = DESCRIBE
            described: Predictions = describe(columns, labels, pos_label, check_floor(floor), float32=float32)
            return described
        try:
            options = {"floor": floor} if from_logits else {"floor": floor, "float32": float32}
            return cls._from_columns(columns, labels, pos_label, options, from_logits=from_logits)
        except InvalidPredictions as error:
            raise error.at(
                column=columns.column_of(error.argument), other_column=columns.column_of(error.other)
            ) from error

    @classmethod
    def _from_columns(
        cls, columns: FrameColumns, labels: Any, pos_label: Any, options: dict[str, Any], *, from_logits: bool
    ) -> Predictions:
        common: dict[str, Any] = {"sample_weight": columns.get("weight"), **options}
        if from_logits and not columns.has("probabilities"):
            raise InvalidPredictions("from_logits= says that probabilities are logits", hint="name probabilities=")
        if columns.has("probabilities"):
            truth, y_pred = columns.need("truth"), columns.get("predicted")
            values, labels = columns.probabilities(truth, labels)
            constructor: Any = cls.from_logits if from_logits else cls.from_probabilities
            made: Predictions = constructor(truth, values, labels=labels, pos_label=pos_label, y_pred=y_pred, **common)
            return made
        claim = {"confidence": columns.get("confidence"), "doubt": columns.get("doubt")}
        if columns.has("correct"):
            return cls.from_correct(columns.need("correct"), **claim, **common)
        return cls.from_labels(columns.need("truth"), columns.need("predicted"), **claim, **common)


def border_of(*columns: Any) -> Border:
    """What reads these columns."""
    return next(border for border in BORDERS if border.takes(columns))

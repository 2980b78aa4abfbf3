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
        """Return the same predictions as arrays in memory.

        Parameters
        ----------
        what : str
            What needs the rows, for the error message.

        Returns
        -------
        Predictions
            The rows as NumPy arrays.

        Raises
        ------
        MetricUnavailable
            If the predictions are in a lazy frame.
        """

    def tally(self, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
        """Sum terms over all rows; see :func:`surefoot.tally` for all that metrics need.

        Parameters
        ----------
        terms : iterable of Term
            What to sum.
        exact : bool, default=False
            Keep every distinct score apart instead of binning scores; such a tally is not meant to be saved.
        by : array-like of shape (n,) or str, optional
            Also sum each slice: a column of values, ``"predicted"`` or ``"truth"``; for a lazy frame the name of a
            column.

        Returns
        -------
        Tally
            The totals.
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
        """Make predictions from true labels, predicted labels and the confidence in each prediction.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels: booleans, integers or strings.
        y_pred : array-like of shape (n,)
            Predicted labels, of the same kind.
        confidence : array-like of shape (n,), optional
            The probability that the model gives to each predicted label, from 0 to 1.
        doubt : array-like of shape (n,), optional
            1 - confidence, where you know it more precisely than that subtraction gives it. One of the two is enough.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.
        floor : float, optional
            Clip confidences to [floor, 1 - floor], as the paper does with 1e-8. By default nothing is clipped.
        float32 : bool, default True
            Treat a float64 column that holds only float32 numbers as float32, where 1.0 is a rounded number. Set it to
            False to take the numbers literally.

        Returns
        -------
        Predictions
            The rows, checked.

        Raises
        ------
        InvalidPredictions
            If a value cannot be right. The message names the argument, the row, the value and a way out.

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
        """Make predictions from whether each was correct, and the confidence in it.

        Parameters
        ----------
        correct : array-like of shape (n,)
            Whether each prediction was correct: booleans, or 0 and 1.
        confidence : array-like of shape (n,), optional
            The probability that the model gives to each predicted label, from 0 to 1.
        doubt : array-like of shape (n,), optional
            1 - confidence, where you know it more precisely than that subtraction gives it. One of the two is enough.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.
        floor : float, optional
            Clip confidences to [floor, 1 - floor], as the paper does with 1e-8. By default nothing is clipped.
        float32 : bool, default True
            Treat a float64 column that holds only float32 numbers as float32, where 1.0 is a rounded number. Set it to
            False to take the numbers literally.

        Returns
        -------
        Predictions
            The rows, checked.

        Raises
        ------
        InvalidPredictions
            If a value cannot be right. The message names the argument, the row, the value and a way out.

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
        """Make predictions from true labels and the probability of each class.

        The class of the largest probability is predicted; of equal ones, the first.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels: booleans, integers or strings.
        probabilities : array-like of shape (n,) or (n, K)
            One column: the probability of 1, of True, or of ``pos_label``. Several columns: one for each of ``labels``;
            each row sums to 1.
        labels : sequence, optional
            The class of each column. By default 0, 1, ... if ``y_true`` holds such integers, else the sorted labels.
        pos_label : label, optional
            The class whose probability a single column holds. Needed unless labels are 0 and 1, or booleans.
        y_pred : array-like of shape (n,), optional
            Predicted labels, in place of the largest probability: for a probability attached to another's decision.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.
        floor : float, optional
            Clip confidences to [floor, 1 - floor], as the paper does with 1e-8. By default nothing is clipped.
        float32 : bool, default True
            As in :meth:`from_labels`.

        Returns
        -------
        Predictions
            The rows, checked.

        Raises
        ------
        InvalidPredictions
            If a value cannot be right. The message names the argument, the row, the value and a way out.

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
        """Make predictions from true labels and logits.

        Doubt (1 - confidence) is computed from the logits of the other classes, so it keeps its digits where
        probabilities would have rounded to 1.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels: booleans, integers or strings.
        logits : array-like of shape (n,) or (n, K)
            One column: the log-odds of 1, of True, or of ``pos_label``. Several columns: one for each of ``labels``.
        labels : sequence, optional
            As in :meth:`from_probabilities`.
        pos_label : label, optional
            As in :meth:`from_probabilities`.
        y_pred : array-like of shape (n,), optional
            As in :meth:`from_probabilities`.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.
        floor : float, optional
            Clip confidences to [floor, 1 - floor], as the paper does with 1e-8. By default nothing is clipped.

        Returns
        -------
        Predictions
            The rows, checked.

        Raises
        ------
        InvalidPredictions
            If a value cannot be right. The message names the argument, the row, the value and a way out.

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
        """Make predictions from columns of a dataframe: pandas, Polars, PyArrow, DuckDB, Dask or PySpark.

        Rows of a lazy frame are checked and added up where they are, and never collected: the result then describes
        its columns. If no column is named, columns with the names of these arguments are used.

        Parameters
        ----------
        frame : dataframe
            Anything that Narwhals reads.
        truth : str, optional
            The column of true labels.
        predicted : str, optional
            The column of predicted labels.
        confidence : str, optional
            The column of confidences.
        doubt : str, optional
            The column of 1 - confidence.
        correct : str, optional
            The column that says whether each prediction was correct, in place of labels.
        probabilities : str or list of str, optional
            The column of P(1), P(True) or P(``pos_label``); a column of lists; a list of columns; or the prefix of
            their names. Names that end in the labels say which column is whose.
        weight : str, optional
            The column of sample weights.
        labels : sequence, optional
            As in :meth:`from_probabilities`.
        pos_label : label, optional
            As in :meth:`from_probabilities`.
        from_logits : bool, default False
            Whether ``probabilities`` names logits. Not for lazy frames.
        floor : float, optional
            Clip confidences to [floor, 1 - floor], as the paper does with 1e-8. By default nothing is clipped.
        float32 : bool, default True
            As in :meth:`from_labels`.

        Returns
        -------
        Predictions
            The rows, checked.

        Raises
        ------
        InvalidPredictions
            If a value cannot be right. The message names the argument, the row, the value and a way out.

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

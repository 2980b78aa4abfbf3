"""How predictions are made: from labels, from correctness, from probabilities, from logits, from a dataframe."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from surefoot.core.view import View, check_view
from surefoot.errors import InvalidPredictions
from surefoot.predictions.attempts import is_text, read_outcome
from surefoot.predictions.borders import DESCRIBE, attempts_of, border_of
from surefoot.predictions.checks import check_floor
from surefoot.predictions.columns import dimensions
from surefoot.predictions.dataframe import FrameColumns
from surefoot.predictions.events import view_of
from surefoot.predictions.scores import OfScores

if TYPE_CHECKING:
    from surefoot.predictions.base import Predictions
    from surefoot.predictions.unlabelled import Unlabelled


class Constructors(OfScores):
    """What :class:`Predictions` are made by."""

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any,
        confidence: Any = None,
        *,
        doubt: Any = None,
        sample_weight: Any = None,
        attempted: Any = None,
        floor: float | None = None,
        float32: bool = True,
        of: View | None = None,
        pos_label: Any = None,
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
        attempted : array-like of shape (n,), optional
            As in :meth:`from_correct`.
        floor : float, optional
            Clip confidences to [floor, 1 - floor], as the paper does with 1e-8. By default nothing is clipped.
        float32 : bool, default True
            Treat a float64 column that holds only float32 numbers as float32, where 1.0 is a rounded number. Set it to
            False to take the numbers literally.
        of : {"prediction", "event", "classes"}, optional
            As in :meth:`from_probabilities`.
        pos_label : label, optional
            The label whose occurrence is the event, with ``of="event"``.

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
        >>> from surefoot import Predictions
        >>> p = Predictions.from_labels(["cat", "dog", "cat"], ["cat", "cat", "cat"], [0.9, 0.6, 0.7])
        >>> p.correct.tolist()
        [True, False, True]
        """
        if pos_label is not None and check_view(of) != "event":
            raise InvalidPredictions("pos_label= names the event", hint="ask about it with of='event'")
        if attempted is not None:
            columns = {"y_true": y_true, "y_pred": y_pred, "confidence": confidence, "doubt": doubt}
            columns["sample_weight"] = sample_weight
            options = {"floor": floor, "float32": float32, "of": of, "pos_label": pos_label}
            return attempts_of(attempted, **columns).build(cls.from_labels, columns, **options)
        border = border_of(y_true, y_pred, confidence, doubt)
        made = border.from_labels(
            y_true, y_pred, confidence, doubt=doubt, sample_weight=sample_weight, floor=floor, float32=float32
        )
        return view_of(made, of, pos_label)

    @classmethod
    def from_correct(
        cls,
        correct: Any,
        confidence: Any = None,
        *,
        doubt: Any = None,
        sample_weight: Any = None,
        attempted: Any = None,
        floor: float | None = None,
        float32: bool = True,
        of: View | None = None,
    ) -> Predictions:
        """Make predictions from whether each was correct, and the confidence in it.

        Parameters
        ----------
        correct : array-like of shape (n,)
            Whether each prediction was correct: booleans, or 0 and 1; or, as graders of language models write it,
            CORRECT, INCORRECT and NOT_ATTEMPTED.
        confidence : array-like of shape (n,), optional
            The probability that the model gives to each predicted label, from 0 to 1.
        doubt : array-like of shape (n,), optional
            1 - confidence, where you know it more precisely than that subtraction gives it. One of the two is enough.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.
        attempted : array-like of shape (n,), optional
            Whether each row was attempted: booleans, or 0 and 1. The others are counted as ``not_attempted`` and left
            out; on them nothing but ``attempted`` need be known.
        floor : float, optional
            Clip confidences to [floor, 1 - floor], as the paper does with 1e-8. By default nothing is clipped.
        float32 : bool, default True
            Treat a float64 column that holds only float32 numbers as float32, where 1.0 is a rounded number. Set it to
            False to take the numbers literally.
        of : {"prediction"}, optional
            Correctness is about predictions; events and classes need labels.

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
        >>> from surefoot import Predictions
        >>> Predictions.from_correct([True, False, True], [0.9, 0.6, 0.7])
        Predictions(3 rows, accuracy 66.7%)
        >>> Predictions.from_correct(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"], [0.9, 0.6, None])
        Predictions(2 rows, accuracy 50.0%, 1 more not attempted)
        """
        border = border_of(correct, confidence, doubt)
        if attempted is not None or is_text(correct):
            columns = {"correct": correct, "confidence": confidence, "doubt": doubt, "sample_weight": sample_weight}
            attempts = attempts_of(attempted, **columns)
            if attempted is not None or attempts.skipped:
                return attempts.build(cls.from_correct, columns, floor=floor, float32=float32, of=of)
        made = border.from_correct(
            read_outcome(correct), confidence, doubt=doubt, sample_weight=sample_weight, floor=floor, float32=float32
        )
        return view_of(made, of)

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
        attempted: Any = None,
        floor: float | None = None,
        float32: bool = True,
        of: View | None = None,
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
            The class of each column. By default those that the columns of a frame are named after; else 0, 1, ... if
            ``y_true`` holds such integers, else the sorted labels.
        pos_label : label, optional
            The class whose probability a single column holds, and the event of ``of="event"``. Needed unless labels
            are 0 and 1, or booleans.
        y_pred : array-like of shape (n,), optional
            Predicted labels, in place of the largest probability: for a probability attached to another's decision.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.
        attempted : array-like of shape (n,), optional
            As in :meth:`from_correct`.
        floor : float, optional
            Clip confidences, and the scores of rankings, to [floor, 1 - floor], as the paper does with 1e-8. By default
            nothing is clipped.
        float32 : bool, default True
            As in :meth:`from_labels`.
        of : {"prediction", "event", "classes"}, optional
            What rows are about: whether the predicted label is right (the default), whether ``pos_label`` occurs, or
            whether each class occurs.

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
        >>> from surefoot import Predictions
        >>> p = Predictions.from_probabilities([1, 0, 1], [0.9, 0.2, 0.4])
        >>> p.predicted.tolist(), p.confidence.tolist()
        ([1, 0, 0], [0.9, 0.8, 0.6])
        """
        if attempted is not None:
            columns = {"y_true": y_true, "probabilities": probabilities, "y_pred": y_pred}
            columns["sample_weight"] = sample_weight
            options = {"labels": labels, "pos_label": pos_label, "floor": floor, "float32": float32, "of": of}
            return attempts_of(attempted, **columns).build(cls.from_probabilities, columns, **options)
        is_event = check_view(of) == "event" and dimensions(probabilities) > 1
        made = border_of(y_true, probabilities, y_pred).from_probabilities(
            y_true,
            probabilities,
            labels=labels,
            pos_label=None if is_event else pos_label,
            y_pred=y_pred,
            sample_weight=sample_weight,
            floor=floor,
            float32=float32,
        )
        return view_of(made, of, pos_label)

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
        attempted: Any = None,
        floor: float | None = None,
        of: View | None = None,
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
        attempted : array-like of shape (n,), optional
            As in :meth:`from_correct`.
        floor : float, optional
            Clip confidences, and the scores of rankings, to [floor, 1 - floor], as the paper does with 1e-8. By default
            nothing is clipped.
        of : {"prediction", "event", "classes"}, optional
            As in :meth:`from_probabilities`.

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
        >>> from surefoot import Predictions
        >>> p = Predictions.from_logits([0], [[40.0, 0.0]])
        >>> f"{p.doubt[0]:.2g}"
        '4.2e-18'
        """
        if attempted is not None:
            columns = {"y_true": y_true, "logits": logits, "y_pred": y_pred, "sample_weight": sample_weight}
            options = {"labels": labels, "pos_label": pos_label, "floor": floor, "of": of}
            return attempts_of(attempted, **columns).build(cls.from_logits, columns, **options)
        is_event = check_view(of) == "event" and dimensions(logits) > 1
        made = border_of(y_true, logits, y_pred).from_logits(
            y_true,
            logits,
            labels=labels,
            pos_label=None if is_event else pos_label,
            y_pred=y_pred,
            sample_weight=sample_weight,
            floor=floor,
        )
        return view_of(made, of, pos_label)

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
        attempted: str | None = None,
        labels: Any = None,
        pos_label: Any = None,
        from_logits: bool = False,
        floor: float | None = None,
        float32: bool = True,
        of: View | None = None,
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
        attempted : str, optional
            The column that says whether each row was attempted, as in :meth:`from_correct`.
        labels : sequence, optional
            As in :meth:`from_probabilities`.
        pos_label : label, optional
            As in :meth:`from_probabilities`.
        from_logits : bool, default False
            Whether ``probabilities`` names logits. Not for lazy frames.
        floor : float, optional
            Clip confidences, and the scores of rankings, to [floor, 1 - floor], as the paper does with 1e-8. By default
            nothing is clipped.
        float32 : bool, default True
            As in :meth:`from_labels`.
        of : {"prediction", "event", "classes"}, optional
            As in :meth:`from_probabilities`.

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
        >>> from surefoot import Predictions
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
            "attempted": attempted,
        }
        columns, is_event = FrameColumns(frame, named), check_view(of) == "event"
        columns.check(labels, pos_label, is_event=is_event)
        if columns.is_lazy and from_logits:
            raise InvalidPredictions(
                "columns of logits are read from a dataframe in memory only", hint="collect the frame first"
            )
        if columns.is_lazy:
            (describe,) = DESCRIBE
            described: Predictions = describe(
                columns, labels, pos_label, check_floor(floor), float32=float32, is_event=is_event
            )
            return view_of(described, of, pos_label)
        options = {"floor": floor, "of": of} if from_logits else {"floor": floor, "float32": float32, "of": of}
        try:
            if columns.has("attempted"):
                attempts = attempts_of(columns.get("attempted"))
                columns = columns.cut(attempts)
                with attempts.located():
                    made: Predictions = columns.make(cls, labels, pos_label, options, from_logits=from_logits)
                made = attempts.mark(made)
            else:
                made = columns.make(cls, labels, pos_label, options, from_logits=from_logits)
        except InvalidPredictions as error:
            raise error.at(
                column=columns.column_of(error.argument), other_column=columns.column_of(error.other)
            ) from error
        return made

    @classmethod
    def unlabelled(
        cls,
        frame: Any = None,
        *,
        confidence: Any = None,
        predicted: Any = None,
        probabilities: Any = None,
        doubt: Any = None,
        labels: Any = None,
        from_logits: bool = False,
    ) -> Unlabelled:
        """Make predictions whose labels are not known yet, for :func:`surefoot.expect`.

        Parameters
        ----------
        frame : dataframe, optional
            A dataframe in memory; the other arguments are then names of its columns. If none is named, columns with the
            names of these arguments are used.
        confidence : array-like of shape (n,) or str, optional
            The probability that the model gives to each predicted label, from 0 to 1.
        predicted : array-like of shape (n,) or str, optional
            Predicted labels; with probabilities, in place of the largest.
        probabilities : array-like of shape (n,) or (n, K), str or list of str, optional
            The probability of the second of two classes, or one column for each class.
        doubt : array-like of shape (n,) or str, optional
            1 - confidence, where you know it more precisely than that subtraction gives it.
        labels : sequence, optional
            The class of each column of probabilities; by default those of the reference, in their order.
        from_logits : bool, default False
            Whether ``probabilities`` holds logits.

        Returns
        -------
        Unlabelled
            The rows, checked.

        Raises
        ------
        InvalidPredictions
            If a value cannot be right. The message names the argument, the row, the value and a way out.

        Examples
        --------
        >>> from surefoot import Predictions
        >>> Predictions.unlabelled(probabilities=[[0.9, 0.1], [0.3, 0.7]])
        Unlabelled(2 rows, probabilities of 2 classes)
        """
        # made of predictions, and so loaded when it is asked for
        make = import_module("surefoot.predictions.unlabelled").unlabelled
        made: Unlabelled = make(
            frame,
            confidence=confidence,
            predicted=predicted,
            probabilities=probabilities,
            doubt=doubt,
            labels=labels,
            from_logits=from_logits,
        )
        return made

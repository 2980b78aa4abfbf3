"""Predictions whose labels are not known yet: what was predicted and how sure the model was, and no truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.core.tally import Label
from surefoot.errors import InvalidPredictions, NeedsRows
from surefoot.predictions.arrays import ArrayPredictions
from surefoot.predictions.base import Predictions
from surefoot.predictions.columns import Array, as_array, as_python, dimensions, rectangle, side_by_side
from surefoot.predictions.dataframe import FrameColumns, is_frame
from surefoot.predictions.labels import as_labels, check_labels, kind_of_label, labels_in_names, quote


@dataclass(frozen=True, eq=False, repr=False)
class Unlabelled:
    """Predictions without labels, made by :meth:`Predictions.unlabelled`; :func:`surefoot.expect` takes them.

    Metrics do not: they need to know what was true.

    Attributes
    ----------
    confidence : numpy.ndarray of shape (n,) or None
        The confidence in each prediction, where no probabilities were given.
    predicted : numpy.ndarray of shape (n,) or None
        The predicted labels, if they were given.
    probabilities : numpy.ndarray of shape (n,) or (n, K) or None
        P(second label), or a column for each class.
    labels : tuple or None
        The class of each column of probabilities, where known.
    not_attempted : int
        How many rows were given besides and not attempted (refused, abstained).
    """

    confidence: Array | None = None
    predicted: Array | None = None
    probabilities: Array | None = None
    labels: tuple[Label, ...] | None = None
    not_attempted: int = 0
    #: Names of the columns of probabilities, which may say whose they are.
    _names: tuple[str, ...] = ()
    _doubt: Array | None = None
    _is_logits: bool = False
    #: Decimals of text that confidences were rounded to, where a 1 may be a rounded number.
    _decimals: int | None = None

    def __len__(self) -> int:
        columns = (self.probabilities, self.confidence, self._doubt)
        return next(len(column) for column in columns if column is not None)

    def __repr__(self) -> str:
        if self.probabilities is None:
            held = "confidences" if self.predicted is None else "predicted labels and confidences"
        else:
            held = f"probabilities of {2 if self.probabilities.ndim == 1 else self.probabilities.shape[1]} classes"
        return f"Unlabelled({len(self):,} rows, {held})"

    def rows_for(self, labels: tuple[Label, ...] | None) -> ArrayPredictions:
        """The rows over the classes of others, whose truth is made up and must not be looked at."""
        rows = self._rows(labels)
        may_be_rounded = self._decimals and rows.certain
        return rows.rounded_at(int(self._decimals or 0)) if may_be_rounded else rows

    def _rows(self, labels: tuple[Label, ...] | None) -> ArrayPredictions:
        if self.probabilities is None:
            claim: dict[str, Any] = {"confidence": self.confidence, "doubt": self._doubt}
            if self.predicted is None or labels is None:
                return Predictions.from_correct(np.ones(len(self), dtype=bool), **claim).rows()
            _check_known(self.predicted, labels)
            made = Predictions.from_labels(self.predicted, self.predicted, **claim).rows()
            return replace(made, _labels=labels)
        table = self.probabilities
        if labels is None:
            labels = tuple(range(2 if table.ndim == 1 else table.shape[1]))
        if table.ndim == 1:
            table = _both_columns(table, is_logits=self._is_logits)
        if table.shape[1] != len(labels):
            raise InvalidPredictions(
                f"have {table.shape[1]} columns, and the reference has {len(labels)} classes ({quote(labels)})",
                argument="probabilities",
                hint="give one column for each class of the reference",
            )
        table = table[:, self._order(labels)]
        if self.predicted is not None:
            _check_known(self.predicted, labels)
        constructor: Any = Predictions.from_logits if self._is_logits else Predictions.from_probabilities
        truth = np.full(len(self), labels[0])
        made = constructor(truth, table, labels=list(labels), y_pred=self.predicted)
        rows: ArrayPredictions = made.rows()
        return rows

    def _order(self, labels: tuple[Label, ...]) -> list[int]:
        """Which column is whose, by the labels that were given, by the names of columns, or in order."""
        own = self.labels
        if own is None and self._names:
            own = labels_in_names(labels, kind_of_label(labels[0]), list(self._names))
        if own is None:
            return list(range(len(labels)))
        if set(own) != set(labels):
            raise InvalidPredictions(
                f"are {quote(own)}, and those of the reference are {quote(labels)}",
                argument="labels",
                hint="both must be predictions of the same classes",
            )
        return [own.index(label) for label in labels]


def unlabelled(
    frame: Any = None,
    *,
    confidence: Any = None,
    predicted: Any = None,
    probabilities: Any = None,
    doubt: Any = None,
    labels: Any = None,
    from_logits: bool = False,
) -> Unlabelled:
    """What :meth:`Predictions.unlabelled` does."""
    named = {"confidence": confidence, "predicted": predicted, "probabilities": probabilities, "doubt": doubt}
    names: tuple[str, ...] = ()
    if frame is not None:
        if not is_frame(frame):
            raise InvalidPredictions(
                f"is a {type(frame).__name__}",
                argument="frame",
                hint="give a dataframe, or arrays by name: confidence=, or probabilities=",
            )
        named, names = _from_frame(frame, named)
    given = {role: column for role, column in named.items() if column is not None}
    if "probabilities" in given and not given.keys().isdisjoint(("confidence", "doubt")):
        raise InvalidPredictions("is given beside probabilities, which hold it already", argument="confidence")
    if given.keys().isdisjoint(("probabilities", "confidence", "doubt")):
        raise InvalidPredictions(
            "there is neither a confidence nor a probability", hint="give confidence=, or probabilities="
        )
    table = given.get("probabilities")
    if table is not None and is_frame(table):
        names = tuple(str(name) for name in FrameColumns(table, {}).names)
    made = Unlabelled(
        confidence=None if "confidence" not in given else as_array("confidence", given["confidence"]),
        predicted=None if "predicted" not in given else as_labels("predicted", given["predicted"]),
        probabilities=None if table is None else _as_table(table),
        _doubt=None if "doubt" not in given else as_array("doubt", given["doubt"]),
        _names=names if len(names) > 1 else (),
        _is_logits=bool(from_logits),
    )
    if not len(made):
        raise InvalidPredictions("there are no rows", hint="give at least one")
    if labels is not None and made.probabilities is not None:
        count = 2 if made.probabilities.ndim == 1 else made.probabilities.shape[1]
        first = as_labels("labels", labels)
        made = replace(made, labels=check_labels(labels, kind_of_label(as_python(first[0])), count))
    # all values are checked here, whatever the classes turn out to be
    replace(made, predicted=None, labels=None, _names=()).rows_for(None)
    if made.predicted is not None and len(made.predicted) != len(made):
        raise InvalidPredictions(
            f"has {len(made.predicted):,} rows, and the others have {len(made):,}", argument="predicted"
        )
    return made


def _from_frame(frame: Any, named: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The columns of a dataframe, by role, and the names of those of probabilities."""
    columns = FrameColumns(frame, dict(named))
    if columns.is_lazy:
        raise NeedsRows("expect")
    found: dict[str, Any] = {role: columns.get(role) for role in named if role != "probabilities"}
    names: tuple[str, ...] = ()
    found["probabilities"] = None
    if columns.has("probabilities"):
        listed = columns.probability_names()
        if len(listed) == 1:
            values = as_array("probabilities", columns.column(listed[0]))
            found["probabilities"] = rectangle("probabilities", list(values)) if values.dtype == object else values
        else:
            found["probabilities"] = side_by_side("probabilities", [columns.column(name) for name in listed])
            names = tuple(columns.class_names(listed))
    return found, names


def _as_table(given: Any) -> Array:
    if is_frame(given):
        frame = FrameColumns(given, {})
        return side_by_side("probabilities", [frame.column(name) for name in frame.names])
    if dimensions(given) not in (1, 2):
        raise InvalidPredictions(
            f"have {dimensions(given)} dimensions", argument="probabilities", hint="give one column, or one a class"
        )
    values = as_array("probabilities", given)
    return rectangle("probabilities", list(values)) if values.dtype == object else values


def _both_columns(second: Array, *, is_logits: bool) -> Array:
    """One column of probabilities, or of log-odds, as those of both labels."""
    second = np.asarray(second)
    if is_logits:
        return np.stack([np.zeros_like(second), second], axis=1)
    if second.dtype.kind == "f" and bool(((second >= 0) & (second <= 1)).all()):
        return np.stack([1 - second, second], axis=1)
    try:  # what is no probability is refused there, with the row and the value
        Predictions.from_correct(np.ones(len(second), dtype=bool), second)
    except InvalidPredictions as error:
        raise error.at(argument="probabilities") from None
    return np.stack([1 - second, second], axis=1)


def _check_known(predicted: Array, labels: tuple[Label, ...]) -> None:
    unknown = next(((i, one) for i, one in enumerate(predicted.tolist()) if one not in labels), None)
    if unknown is not None:
        raise InvalidPredictions(
            f"which is none of the classes of the reference ({quote(labels)})",
            argument="predicted",
            row=unknown[0],
            value=unknown[1],
            hint="the reference must hold every class that is predicted",
        )

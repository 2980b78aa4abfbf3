"""Confusion matrices, plain and weighted by confidence, and everything that is made of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from surefoot._io.presentation import present
from surefoot.core.keys import CLASS_PAIR, HALF, LOWER
from surefoot.core.metric import Metric, undefined
from surefoot.core.table import Floats
from surefoot.core.tally import Label, Tally
from surefoot.core.term import Term
from surefoot.core.view import OF_PREDICTIONS
from surefoot.errors import InvalidPredictions
from surefoot.metrics.averages import Average, average_classes, check_average
from surefoot.predictions import Predictions, as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.predictions.labels import as_labels, check_labels, kind_of_label

PAIRS = Term("weight by class pair", lambda row: row.weight, CLASS_PAIR)
CW_PAIRS = Term("confidence by class pair", lambda row: row.weight * row.confidence, CLASS_PAIR)

#: Metrics of one class against the rest, of (tp, fp, fn, tn), numbers or arrays.
Formula = Callable[[Any, Any, Any, Any], Any]

_MOST_CLASSES = 20_000


@dataclass(frozen=True)
class Confusion:
    """A confusion matrix and, for each class against the rest, its four cells.

    Attributes
    ----------
    labels : tuple
        The K classes, in the order of rows and columns.
    tp, fp, fn, tn : numpy.ndarray of shape (K,)
        True positives, false positives, false negatives and true negatives of each class against the rest.
    matrix : numpy.ndarray of shape (K, K)
        Rows are true classes, columns are predicted classes.
    p, n : numpy.ndarray of shape (K,)
        Samples of each class, ``tp + fn``, and of all others, ``fp + tn``; weighted by confidence, cwP and cwN.
    """

    labels: tuple[Label, ...]
    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats
    matrix: Floats

    @property
    def p(self) -> Floats:
        """Samples of each class."""
        return self.tp + self.fn

    @property
    def n(self) -> Floats:
        """Samples of all other classes."""
        return self.fp + self.tn

    def _repr_html_(self) -> str:
        return str(present("notebook", "confusion_table", self))


def read_confusion(t: Tally, term: Term, labels: tuple[Label, ...] | None = None) -> Confusion:
    """The confusion matrix a tally holds, over its own labels or over those asked for."""
    assert t.labels is not None
    whole: Floats = t.cached(f"matrix of {term.name}", lambda: _matrix(t, term))
    if labels is None or labels == t.labels:
        four: tuple[Floats, Floats, Floats, Floats] = t.cached(f"cells of {term.name}", lambda: cells(whole))
        return Confusion(t.labels, *four, whole)
    where = {label: i for i, label in enumerate(t.labels)}
    known = [i for i, label in enumerate(labels) if label in where]
    source = np.array([where[labels[i]] for i in known], dtype=np.intp)
    tp, fp, fn, tn = (np.zeros(len(labels)) for _ in range(4))
    for cell, picked in zip(cells(whole), (tp, fp, fn, tn), strict=True):
        picked[known] = cell[source]
    tn[np.setdiff1d(np.arange(len(labels)), known)] = whole.sum()
    matrix = np.zeros((len(labels), len(labels)))
    matrix[np.ix_(known, known)] = whole[np.ix_(source, source)]
    return Confusion(labels, tp, fp, fn, tn, matrix)


def cells(matrix: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """True and false positives, false and true negatives of each class against the rest."""
    off_diagonal = matrix.copy()
    np.fill_diagonal(off_diagonal, 0)
    return np.diag(matrix).copy(), off_diagonal.sum(axis=0), off_diagonal.sum(axis=1), _neither(matrix)


def _matrix(t: Tally, term: Term) -> Floats:
    assert t.labels is not None
    count = len(t.labels)
    if count > _MOST_CLASSES:
        raise InvalidPredictions(
            f"these labels hold {count:,} classes, too many for a confusion matrix (at most {_MOST_CLASSES:,}); "
            "are they identifiers?"
        )
    table = t.table(term.key)
    matrix = np.zeros((count, count))
    matrix[table.codes >> HALF, table.codes & LOWER] = table.totals[term.name].value
    return matrix


def _neither(matrix: Floats) -> Floats:
    """For each class, all but its row and its column, by additions alone.

    Total - row - column + cell would round, and could fall below zero.
    """
    count = len(matrix)
    places = np.flatnonzero(matrix)
    rows, columns = places // count, places % count
    value = matrix.reshape(-1)[places]
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    # cells whose classes come both before a class, both after it, or one before and one after
    before, after = np.zeros(count), np.zeros(count)
    before[1:] = np.bincount(high, value, count).cumsum()[:-1]
    after[:-1] = np.bincount(low, value, count)[::-1].cumsum()[-2::-1]
    return before + after + _sum_over(low + 1, high, value, count)


def _sum_over(start: npt.NDArray[np.intp], stop: npt.NDArray[np.intp], value: Floats, count: int) -> Floats:
    """For each of ``count`` places, the sum of the values whose ranges hold it.

    Each range is cut into the fewest blocks of a binary tree, and a place adds up the blocks above it.
    """
    blocks = np.zeros(2 * count)
    start, stop = start + count, stop + count
    while (is_open := start < stop).any():
        start, stop, value = start[is_open], stop[is_open], value[is_open]
        starts, stops = start & 1, stop & 1
        blocks += np.bincount(start, value * starts, 2 * count)
        blocks += np.bincount(stop - stops, value * stops, 2 * count)
        start, stop = (start + starts) >> 1, (stop - stops) >> 1
    at = np.arange(count, 2 * count)
    result = np.zeros(count)
    while at[-1]:
        result += blocks[at]
        at >>= 1
    return result


def confusion_metric(
    name: str,
    formula: Formula,
    average: Average = "macro",
    labels: tuple[Label, ...] | None = None,
    *,
    whole: Callable[[Confusion], Any] | None = None,
    title: str = "",
    reading: str = "",
    notation: str = "",
    lowest: float = 0.0,
) -> Metric:
    """The confidence-weighted metric of a formula of (tp, fp, fn, tn), averaged over classes.

    ``whole`` is its macro form where that is one coefficient of the whole matrix, not a mean.
    """
    check_average(average, "macro", "micro", "weighted", None)

    def value(t: Tally) -> Any:
        confusion = read_confusion(t, CW_PAIRS, labels)
        four = (confusion.tp, confusion.fp, confusion.fn, confusion.tn)
        if average == "macro" and whole is not None:
            return whole(confusion)
        if average == "micro":
            pooled = float(formula(*(cell.sum() for cell in four)))
            return pooled if not math.isnan(pooled) else undefined("the pooled counts leave nothing to divide by")
        return average_classes(_of_classes(formula, four), confusion.p, average, confusion.labels)

    return Metric(
        name,
        (CW_PAIRS,),
        value,
        title=title or name,
        about="value",
        reading=reading,
        notation=notation,
        ideal=1.0,
        direction="higher",
        range=(lowest, 1.0),
        views=OF_PREDICTIONS,
    )


def _of_classes(formula: Formula, four: tuple[Floats, Floats, Floats, Floats]) -> Floats:
    """A formula of each class: of all at once, or one by one where it is written for single numbers."""
    try:
        values = np.asarray(formula(*four), dtype=np.float64)
    except (TypeError, ValueError):
        # an `if`, `max` or `math.sqrt` of a whole array
        values = np.array(math.nan)
    if values.shape == four[0].shape:
        return values
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([float(formula(*cells)) for cells in zip(*four, strict=True)])


def asked_labels(predictions: Predictions, labels: Any) -> tuple[Label, ...] | None:
    """The caller's choice of classes, checked; None for all."""
    if labels is None or predictions.truth is None:
        return None
    if predictions.labels is None:  # a lazy frame, whose labels are known once it is read
        return tuple(as_labels("labels", labels).tolist())
    return check_labels(labels, kind_of_label(predictions.labels[0]), None)


def _table(term: Term, predictions: Predictions, labels: Any) -> Confusion:
    asked = asked_labels(predictions, labels)
    holder = Metric("confusion", (term,), lambda t: read_confusion(t, term, asked), title="Confusion matrix")
    result: Confusion = holder(predictions)
    return result


@takes_predictions
def confusion(x: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]) -> Confusion:
    """The confusion matrix, in which each sample counts 1.

    Confidences may be left out: they do not matter here.

    Parameters
    ----------
    labels : sequence, optional
        Which classes, in which order; one that does not occur has zeros. With columns of probabilities, the class of
        each column.

    Returns
    -------
    Confusion
        The matrix, and for each class the four cells of the class against the rest.

    Examples
    --------
    >>> confusion([0, 1, 1], [0, 1, 0]).matrix.tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    predictions = as_predictions(
        x,
        second,
        third,
        columns,
        function="confusion",
        labels_choose=True,
        needs_confidence=False,
        views=OF_PREDICTIONS,
    )
    return _table(PAIRS, predictions, columns.get("labels"))


@takes_predictions
def cw_confusion(x: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]) -> Confusion:
    r"""The confidence-weighted confusion matrix: each sample counts by its confidence instead of 1.

    .. math:: \mathrm{cwTP}^{(k)} = \sum_i c_i [\hat y_i = y_i = k], \quad \ldots

    Rows of the matrix are true classes, columns are predicted classes.

    Parameters
    ----------
    labels : sequence, optional
        Which classes, in which order; one that does not occur has zeros. With columns of probabilities, the class of
        each column.

    Returns
    -------
    Confusion
        The matrix, and for each class the four cells of the class against the rest.

    Examples
    --------
    >>> cw_confusion([0, 1, 1], [0, 1, 0], [0.5, 0.75, 0.25]).matrix.tolist()
    [[0.5, 0.0], [0.25, 0.75]]
    """
    predictions = as_predictions(
        x, second, third, columns, function="cw_confusion", labels_choose=True, views=OF_PREDICTIONS
    )
    return _table(CW_PAIRS, predictions, columns.get("labels"))

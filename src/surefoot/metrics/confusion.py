"""Confusion matrices, plain and weighted by confidence, and everything that is made of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Unpack

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

#: Of more classes there is no confusion matrix.
MOST_CLASSES = 20_000


class Pairs(NamedTuple):
    """Totals of pairs of classes, each pair once; others are 0."""

    true: npt.NDArray[np.intp]
    predicted: npt.NDArray[np.intp]
    total: Floats


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
    _pairs: Pairs = field(repr=False)

    @cached_property
    def matrix(self) -> Floats:
        """Rows are true classes, columns are predicted classes."""
        # made when it is asked for: of many classes it is large, and nearly empty
        matrix = np.zeros((len(self.labels), len(self.labels)))
        matrix[self._pairs.true, self._pairs.predicted] = self._pairs.total
        return matrix

    @cached_property
    def among(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four cells of each class among these classes alone, as if there were no others."""
        return cells(self._pairs, len(self.labels))

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


def confusion_of(labels: tuple[Label, ...], matrix: Floats) -> Confusion:
    """A confusion matrix that is at hand, with its cells."""
    pairs = pairs_of(matrix)
    return Confusion(labels, *cells(pairs, len(labels)), pairs)


def pairs_of(matrix: Floats) -> Pairs:
    """All cells of a matrix, as pairs of classes."""
    classes = np.arange(len(matrix))
    return Pairs(np.repeat(classes, len(matrix)), np.tile(classes, len(matrix)), matrix.ravel())


def read_confusion(t: Tally, term: Term, labels: tuple[Label, ...] | None = None) -> Confusion:
    """The confusion matrix a tally holds, over its own labels or over those asked for."""
    whole: Confusion = t.cached(f"confusion of {term.name}", lambda: _whole(t, term))
    if labels is None or labels == t.labels:
        return whole
    where = {label: i for i, label in enumerate(whole.labels)}
    known = [i for i, label in enumerate(labels) if label in where]
    source = np.array([where[labels[i]] for i in known], dtype=np.intp)
    tp, fp, fn, tn = (np.zeros(len(labels)) for _ in range(4))
    for cell, picked in zip((whole.tp, whole.fp, whole.fn, whole.tn), (tp, fp, fn, tn), strict=True):
        picked[known] = cell[source]
    true, predicted, total = whole._pairs
    tn[np.setdiff1d(np.arange(len(labels)), known)] = total.sum()
    place = np.full(len(whole.labels), -1, dtype=np.intp)
    place[source] = known
    kept = (place[true] >= 0) & (place[predicted] >= 0)
    return Confusion(labels, tp, fp, fn, tn, Pairs(place[true[kept]], place[predicted[kept]], total[kept]))


def _whole(t: Tally, term: Term) -> Confusion:
    assert t.labels is not None
    count = len(t.labels)
    if count > MOST_CLASSES:
        raise InvalidPredictions(
            f"these labels hold {count:,} classes, too many for a confusion matrix (at most {MOST_CLASSES:,}); "
            "are they identifiers?"
        )
    table = t.table(term.key)
    pairs = Pairs(
        (table.codes >> HALF).astype(np.intp), (table.codes & LOWER).astype(np.intp), table.totals[term.name].value
    )
    return Confusion(t.labels, *cells(pairs, count), pairs)


def cells(pairs: Pairs, count: int) -> tuple[Floats, Floats, Floats, Floats]:
    """True and false positives, false and true negatives of each class against the rest."""
    true, predicted, total = pairs
    right = true == predicted
    # of no pairs at all there would be counts, which are whole numbers
    tp, fp, fn = (
        np.bincount(classes, total[which], count).astype(np.float64)
        for classes, which in ((true[right], right), (predicted[~right], ~right), (true[~right], ~right))
    )
    return tp, fp, fn, _neither(pairs, count)


def _neither(pairs: Pairs, count: int) -> Floats:
    """For each class, all but its row and its column, by additions alone.

    Total - row - column + cell would round, and could fall below zero.
    """
    rows, columns, value = pairs
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
    start, stop, width = start + count, stop + count, 2 * count + 1
    while (is_open := start < stop).any():
        start, stop, value = start[is_open], stop[is_open], value[is_open]
        if width**2 < len(value):
            # higher up the tree many ranges are the same
            together = np.bincount(start * width + stop, value, width**2).astype(np.float64)
            ranges = np.flatnonzero(together)
            start, stop, value = ranges // width, ranges % width, together[ranges]
        starts, stops = start & 1, stop & 1
        blocks += np.bincount(start, value * starts, 2 * count)
        blocks += np.bincount(stop - stops, value * stops, 2 * count)
        start, stop, width = (start + starts) >> 1, (stop - stops) >> 1, (width + 1) // 2
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

"""Totals of every class as an event, where classes are many: columns are fetched together and read by one loop.

An event view of each class by itself reads its column from every row of the table, which fetches a line of memory for
a number; and a thousand small requests cost more around the sums than for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Sums
from surefoot.core.tally import Label, Tally
from surefoot.core.term import Shape, Term
from surefoot.engines import numba_cache
from surefoot.engines.base import group
from surefoot.engines.parallel import in_parallel, workers
from surefoot.engines.rows import COMPILED_CELLS, read_only, run_kernel, types_of
from surefoot.predictions.arrays import ArrayPredictions

if TYPE_CHECKING:
    from surefoot.engines.numba import Plan

#: Numbers that are fetched together, of as many classes as they make.
_TOGETHER = 1 << 20
#: Numbers of the whole table from which compiling the loop takes less time than it saves.
_COMPILE_FROM = 20_000_000


def tally_events(predictions: ArrayPredictions, terms: Iterable[Term]) -> dict[Label, Tally] | None:
    """The totals of each class, as its event view gives them; None where that is to be asked."""
    labels, groups = predictions.labels, group(terms)
    if labels is None or len(labels) < 3 or not predictions.has_probabilities:
        return None
    if any(key.operation != "cells" or key.classes or prod(key.sizes(0)) > COMPILED_CELLS for key in groups):
        return None
    kernels = numba_cache.writer("numba")
    if kernels is None:
        return None
    shape = Shape(stores_doubt=True, is_weighted=predictions.is_weighted)
    written: Plan = kernels.plan(tuple((key, tuple(own)) for key, own in groups.items()), shape)
    arrays = _arrays(predictions, np.zeros(0, dtype=bool), np.zeros(0), np.zeros(0))
    types = types_of(arrays)
    if len(predictions) * len(labels) < _COMPILE_FROM and not numba_cache.is_loaded(written.source, types):
        return None
    nothing = [array[:0] for array in arrays]
    kernel = numba_cache.compile_kernel(written.source, types, lambda run: run_kernel(run, nothing, written.size))
    if kernel is None:
        return None
    size = max(1, min(_TOGETHER // len(predictions), len(labels) // (4 * workers())))
    positions = [range(start, min(start + size, len(labels))) for start in range(0, len(labels), size)]
    of_labels = _RowsOfLabels(predictions)
    found = in_parallel([partial(_sums, predictions, of_labels, kernel, written.size, some) for some in positions])
    sums = [one for several in found for one in several]
    return {
        label: Tally(written.read(total, 0), None, rounded)
        for label, total, rounded in zip(labels, sums, of_labels.rounded, strict=True)
    }


class _RowsOfLabels:
    """Which rows are truly, or predicted to be, of each class: rows are put in order once, not once a class."""

    def __init__(self, predictions: ArrayPredictions) -> None:
        self._columns = [predictions.codes(name) for name in ("truth", "predicted")]
        self._orders = [np.argsort(codes, kind="stable") for codes in self._columns]
        assert predictions.labels is not None
        classes = len(predictions.labels)
        every = np.arange(classes + 1)
        self._starts = [
            np.searchsorted(codes[order], every) for codes, order in zip(self._columns, self._orders, strict=True)
        ]
        #: How many rows of each predicted class count as rounded.
        self.rounded = [0] * classes
        if predictions._rounded is not None:
            flags = predictions._rounded & (predictions.weight > 0)
            self.rounded = np.bincount(self._columns[1][flags], minlength=classes).tolist()

    def of(self, label: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The rows of a class: those that truly are, and those predicted to be."""
        truly, predicted = (
            order[starts[label] : starts[label + 1]] for order, starts in zip(self._orders, self._starts, strict=True)
        )
        return truly, predicted


def _sums(
    predictions: ArrayPredictions, of_labels: _RowsOfLabels, kernel: Any, size: int, positions: Sequence[int]
) -> list[Sums]:
    """The totals of some classes."""
    sums = []
    happened = np.zeros(len(predictions), dtype=bool)
    chances = predictions.chances(positions, lambda label: of_labels.of(label)[1])
    for label, (confidence, doubt) in zip(positions, chances, strict=True):
        truly, predicted = of_labels.of(label)
        confidence[predicted], doubt[predicted] = predictions.claim_of(predicted)
        happened[truly] = True
        sums.append(run_kernel(kernel, _arrays(predictions, happened, confidence, doubt), size))
        happened[truly] = False
    return sums


def _arrays(predictions: ArrayPredictions, happened: Any, confidence: Any, doubt: Any) -> list[npt.NDArray[Any]]:
    """The columns of an event as a kernel takes them; as types they are the same for every class."""
    weight = predictions.weight if predictions.is_weighted else confidence[:0]
    none = np.empty(0, dtype=np.intp)
    arrays = [happened.view(np.uint8), confidence, doubt, weight, none, none]
    return read_only(arrays)

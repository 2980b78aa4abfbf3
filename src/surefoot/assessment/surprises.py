"""The wrong rows that surprise most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.core.tally import Label
from surefoot.metrics.size_ratio import SURPRISE
from surefoot.predictions import ArrayPredictions
from surefoot.predictions.columns import as_python
from surefoot.risk.estimates import row_values


@dataclass(frozen=True)
class Surprise:
    """A wrong row, and how much of CSR is due to it.

    Attributes
    ----------
    row : int
        The number of the row among all that were given, from 0; in files also those count that were left out, and
        files are counted through.
    confidence, doubt : float
        The confidence in the prediction, and 1 - confidence.
    share : float
        The share of CSR that is due to this row, from 0 to 1; of an event, the share of the log loss.
    truth, predicted : label or None
        The true and the predicted label, where they are known.
    slice : label or None
        The slice of the row, if the assessment has slices.
    shown : mapping of str to object
        The values of other columns that were requested, by name.
    """

    row: int
    confidence: float
    doubt: float
    share: float
    truth: Label | None = None
    predicted: Label | None = None
    slice: Label | None = None
    shown: Mapping[str, Any] = field(default_factory=dict)


def surprises_of(rows: ArrayPredictions, slicing: Any, most: int = 12) -> tuple[Surprise, ...]:
    """The wrong rows of most surprise; those that claimed certainty come first, and share it all.

    Of an event, the rows whose outcome was given the least probability, at either end.
    """
    if rows.view == "event":
        return _of_event(rows, slicing, most)
    wrong = np.flatnonzero(~rows.correct & (rows.weight > 0))
    doubt = rows.doubt_of(slice(None))[wrong]
    certain = doubt == 0
    surprise = np.where(certain, np.inf, row_values(rows, SURPRISE)[0][wrong])
    order = _least(-surprise, most)
    if certain.any():
        surprise = certain.astype(np.float64)
    shares = surprise / surprise.sum() if len(surprise) else surprise
    confidence, numbers = rows.confidence_of(slice(None))[wrong], rows.source_numbers()
    return tuple(
        Surprise(
            int(numbers[wrong[i]]),
            float(confidence[i]),
            float(doubt[i]),
            float(shares[i]),
            None if rows.truth is None else as_python(np.asarray(rows.truth)[wrong[i]]),
            None if rows.predicted is None else as_python(np.asarray(rows.predicted)[wrong[i]]),
            None if slicing is None else as_python(slicing[wrong[i]]),
        )
        for i in order.tolist()
    )


def _of_event(rows: ArrayPredictions, slicing: Any, most: int) -> tuple[Surprise, ...]:
    counted = np.flatnonzero(rows.weight > 0)
    confidence, doubt = rows.confidence_of(slice(None))[counted], rows.doubt_of(slice(None))[counted]
    given = np.where(rows.correct[counted], confidence, doubt)
    with np.errstate(divide="ignore"):
        loss = -rows.weight[counted] * np.log(given)
    # what was given no probability at all, and happened, shares it all
    shares = np.isinf(loss).astype(np.float64) if np.isinf(loss).any() else loss
    shares = shares / (shares.sum() or 1.0)
    order = [i for i in _least(given, most).tolist() if given[i] < 0.5]
    numbers = rows.source_numbers()
    return tuple(
        Surprise(
            int(numbers[counted[i]]),
            float(confidence[i]),
            float(doubt[i]),
            float(shares[i]),
            bool(rows.correct[counted[i]]),
            None,
            None if slicing is None else as_python(slicing[counted[i]]),
        )
        for i in order
    )


def _least(values: Any, most: int) -> Any:
    """Where the least of some values are, rising, and of equal ones the first; of many, without sorting all of them."""
    if len(values) <= most:
        return np.argsort(values, kind="stable")
    near = np.flatnonzero(values <= np.partition(values, most - 1)[most - 1])
    return near[np.argsort(values[near], kind="stable")][:most]

"""The wrong rows that surprise most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.core.tally import Label
from surefoot.metrics.size_ratio import SURPRISE
from surefoot.predictions import ArrayPredictions
from surefoot.risk.estimates import row_values


@dataclass(frozen=True)
class Surprise:
    """A wrong row, and how much of CSR is due to it.

    Attributes
    ----------
    row : int
        The number of the row, from 0.
    confidence, doubt : float
        The confidence in the prediction, and 1 - confidence.
    share : float
        The share of CSR that is due to this row, from 0 to 1.
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
    """The wrong rows of most surprise; those that claimed certainty come first, and share it all."""
    wrong = np.flatnonzero(~rows.correct & (rows.weight > 0))
    doubt = rows.doubt_of(slice(None))[wrong]
    certain = doubt == 0
    surprise = np.where(certain, np.inf, row_values(rows, SURPRISE)[0][wrong])
    order = np.argsort(-surprise, kind="stable")[:most]
    if certain.any():
        surprise = certain.astype(np.float64)
    shares = surprise / surprise.sum() if len(surprise) else surprise
    confidence = rows.confidence_of(slice(None))[wrong]
    return tuple(
        Surprise(
            int(wrong[i]),
            float(confidence[i]),
            float(doubt[i]),
            float(shares[i]),
            None if rows.truth is None else np.asarray(rows.truth)[wrong[i]].item(),
            None if rows.predicted is None else np.asarray(rows.predicted)[wrong[i]].item(),
            None if slicing is None else slicing[wrong[i]].item(),
        )
        for i in order.tolist()
    )

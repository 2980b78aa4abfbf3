"""Confidences of exactly 1: certainty, or numbers that were rounded to it, as everywhere in the library."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from surefoot.errors import RoundedConfidenceWarning
from surefoot.files.rounding import decimals_of
from surefoot.predictions import Predictions
from surefoot.predictions.doubt import doubt_of_rounded_text

#: Decimals that text is supposed to have before it has shown any.
_SUPPOSED = 6


def doubt_of_ones(confidence: Any) -> float:
    """The doubt of those that are 1 in a column of numbers: not 0 where all are of a type that rounds.

    Examples
    --------
    >>> doubt_of_ones(np.array([0.9, 1.0])), doubt_of_ones(np.array([0.9, 1.0], dtype=np.float32))
    (0.0, 4.76837158203125e-07)
    """
    values = np.asarray(confidence)
    if values.dtype.kind != "f" or not (values == 1).any():
        return 0.0
    # what is no confidence is refused elsewhere, by its row
    values = values[(values >= 0) & (values <= 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoundedConfidenceWarning)
        rows = Predictions.from_correct(np.ones(len(values), dtype=bool), values).rows()
    return float(rows.doubt_of(values == 1)[0])


class DoubtOfWrittenOnes:
    """The same of text, by the most decimals that its numbers have shown so far."""

    def __init__(self) -> None:
        self._finest: int | None = 0

    def of(self, confidence: Any) -> float:
        """The doubt of those that are 1 in the next rows."""
        if self._finest is not None:
            here = decimals_of(np.asarray(confidence))
            self._finest = None if here is None else max(self._finest, here)
        return 0.0 if self._finest is None else doubt_of_rounded_text(self._finest or _SUPPOSED)


def add_doubts(rows: list[dict[str, Any]], doubt: float) -> None:
    """Tell the doubt of rows whose confidence is 1 and comes without."""
    for row in rows:
        if doubt and row.get("confidence") == 1 and row.get("doubt") is None:
            row["doubt"] = doubt

"""The arguments of a metric: predictions, or the columns they are made of."""

from __future__ import annotations

from typing import Any

from surefoot.errors import InvalidPredictions
from surefoot.predictions import tensors
from surefoot.predictions.arrays import Predictions


def as_predictions(
    y_true: Any,
    y_pred: Any = None,
    confidence: Any = None,
    *,
    sample_weight: Any = None,
    floor: float | None = None,
    doubt: Any = None,
) -> Predictions:
    """The first argument if it is :class:`Predictions` already, else :meth:`Predictions.from_labels` of them all."""
    if not isinstance(y_true, Predictions | tensors.TensorPredictions):
        return Predictions.from_labels(
            y_true, y_pred, confidence, doubt=doubt, sample_weight=sample_weight, floor=floor
        )
    refuse_beside_predictions(
        y_pred=y_pred, confidence=confidence, sample_weight=sample_weight, floor=floor, doubt=doubt
    )
    return y_true  # type: ignore[return-value]


def refuse_beside_predictions(**arguments: Any) -> None:
    """Raise if anything was given that a :class:`Predictions` already holds."""
    extra = [name for name, value in arguments.items() if value is not None]
    if extra:
        raise InvalidPredictions(f"{extra[0]} was given beside Predictions, which hold it already; drop one of them.")

"""The arguments of a metric: predictions, or the columns they are made of."""

from __future__ import annotations

from typing import Any

from surefoot.core.tally import Tally
from surefoot.errors import InvalidPredictions
from surefoot.predictions.base import Predictions


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
    given = {"confidence": confidence, "sample_weight": sample_weight, "floor": floor, "doubt": doubt}
    if isinstance(y_true, Predictions):
        refuse_beside_predictions(y_pred=y_pred, **given)
        return y_true
    refuse_tally(y_true)
    return Predictions.from_labels(y_true, y_pred, **given)


def refuse_tally(y_true: Any) -> None:
    """Raise for a tally, which is no column."""
    if isinstance(y_true, Tally):
        raise InvalidPredictions(
            "is a Tally, which holds no rows",
            argument="y_true",
            hint="a metric that adds up is read with surefoot.metrics.ALL[name].of(tally)",
        )


def refuse_beside_predictions(**arguments: Any) -> None:
    """Raise if anything was given that a :class:`Predictions` already holds."""
    extra = next((name for name, value in arguments.items() if value is not None), None)
    if extra is not None:
        raise InvalidPredictions(
            "was given beside Predictions, which hold it already", argument=extra, hint="drop one of them"
        )

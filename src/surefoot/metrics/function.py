"""Metrics as functions of columns: one signature for all that speak of confidences, typed and documented."""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS, update_wrapper
from typing import Any, Protocol

from surefoot.core.metric import Metric
from surefoot.predictions import as_predictions


class TopLabelFunction(Protocol):
    """A metric of the predicted labels and the confidence in them, as a function."""

    __name__: str

    def __call__(
        self,
        y_true: Any,
        y_pred: Any = None,
        confidence: Any = None,
        *,
        sample_weight: Any = None,
        floor: float | None = None,
        doubt: Any = None,
    ) -> float: ...


def function_of(metric: Metric) -> Callable[[Callable[[], object]], TopLabelFunction]:
    """Make a function of a metric: the name and the docstring are those of what is decorated."""

    def decorate(described: Callable[[], object]) -> TopLabelFunction:
        def function(
            y_true: Any,
            y_pred: Any = None,
            confidence: Any = None,
            *,
            sample_weight: Any = None,
            floor: float | None = None,
            doubt: Any = None,
        ) -> float:
            return measure(metric, y_true, y_pred, confidence, sample_weight, floor, doubt)

        update_wrapper(function, described, [name for name in WRAPPER_ASSIGNMENTS if name != "__annotations__"])
        # its signature is its own
        del function.__wrapped__  # type: ignore[attr-defined]
        return function

    return decorate


def measure(
    metric: Metric, y_true: Any, y_pred: Any, confidence: Any, sample_weight: Any, floor: float | None, doubt: Any
) -> float:
    """The value of a metric on columns, or on predictions."""
    p = as_predictions(y_true, y_pred, confidence, sample_weight=sample_weight, floor=floor, doubt=doubt)
    return float(metric(p))

"""Metrics as functions of columns: one signature for all that speak of confidences, typed and documented."""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS, update_wrapper
from typing import Any, Protocol, TypeVar, Unpack

from surefoot.core.metric import Metric
from surefoot.core.view import View
from surefoot.predictions import Predictions, as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions

Function = TypeVar("Function", bound=Callable[..., Any])


class TopLabelFunction(Protocol):
    """A metric of the predicted labels and the confidence in them, as a function."""

    __name__: str

    def __call__(
        self, x: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]
    ) -> float: ...


def function_of(metric: Metric) -> Callable[[Callable[[], object]], TopLabelFunction]:
    """Make a function of a metric: the name and the docstring are those of what is decorated."""

    def decorate(described: Callable[[], object]) -> TopLabelFunction:
        def function(x: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]) -> float:
            return measure(metric, x, second, third, columns)

        return takes_predictions(describe(function, described))

    return decorate


def describe(function: Function, described: Callable[[], object]) -> Function:
    """Give a function the name and the docstring of another; its signature stays its own."""
    update_wrapper(function, described, [name for name in WRAPPER_ASSIGNMENTS if name != "__annotations__"])
    del function.__wrapped__  # type: ignore[attr-defined]
    return function


def measure(metric: Metric, x: Any, second: Any, third: Any, columns: Columns) -> float:
    """The value of a metric on columns, or on predictions."""
    columns = in_view(metric.views, x, columns)
    # one that needs all probabilities cannot be given correctness and confidence
    found = as_predictions(x, second, third, columns, function=metric.name, is_ranking=metric.is_of_every_class)
    return float(metric(found))


def in_view(views: frozenset[View], x: Any, columns: Columns) -> Columns:
    """The columns, asked about an event where a number is of events only and no view was chosen."""
    is_chosen = columns.get("of") is not None or (isinstance(x, Predictions) and x.chosen_view is not None)
    return columns if is_chosen or "prediction" in views else {**columns, "of": "event"}

"""Wherever predictions lie, the engine that adds them up there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeGuard

from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.engines.numpy import tally_arrays
from surefoot.predictions import Predictions
from surefoot.predictions.frames import FramePredictions
from surefoot.predictions.tensors import TensorPredictions

Held = Predictions | FramePredictions | TensorPredictions


def tally_terms(predictions: Held, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
    """The totals of terms, and with ``by`` those of each slice; ``exact`` as in :func:`tally_arrays`.

    A lazy frame is sliced by a column of its own, tensors by a tensor or by their labels, and arrays by whoever holds
    them: their slices are exact predictions again.
    """
    if isinstance(predictions, Predictions):
        assert by is None
        return tally_arrays(predictions, terms, exact=exact)
    if isinstance(predictions, TensorPredictions):
        from surefoot.engines.torch import tally_tensors

        return tally_tensors(predictions, terms, exact=exact, by=by)
    from surefoot.engines.narwhals import tally_frame

    return tally_frame(predictions, terms, by)


def is_on_device(predictions: Any) -> TypeGuard[TensorPredictions]:
    """Whether predictions are tensors on an accelerator."""
    return isinstance(predictions, TensorPredictions)


def on_host(predictions: Any) -> Any:
    """The same predictions where NumPy can walk along their rows."""
    return predictions.on_host() if is_on_device(predictions) else predictions


def stays(predictions: Any) -> TypeGuard[FramePredictions | TensorPredictions]:
    """Whether predictions stay where they are, in a lazy frame or on an accelerator."""
    return isinstance(predictions, FramePredictions | TensorPredictions)

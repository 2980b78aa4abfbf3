"""The columns that terms speak of, and the operations they are made of, in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.core.tally import Floats
from surefoot.predictions import Predictions

#: Rows a block. Within a block a sum may round once a row, so its relative error is at most 4096 * 2^-53 = 5e-13.
BLOCK = 4096

#: Rows from which compiling pays even if nothing is cached, and from which running a kernel at hand does.
COMPILE_FROM = 500_000
RUN_FROM = 20_000


def _reciprocal(x: Floats) -> Floats:
    return np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "log": np.log,
    "reciprocal": _reciprocal,
    "greater": lambda a, b: np.greater(a, b).astype(np.float64),
    "equal": lambda a, b: np.equal(a, b).astype(np.float64),
}


def columns(predictions: Predictions, rows: slice) -> dict[str, Floats]:
    """The columns of some rows, as float64."""
    correct = predictions.correct[rows].astype(np.float64)
    weight = {"weight": predictions.weight[rows]} if predictions.is_weighted else {}
    return {
        **weight,
        "correct": correct,
        "wrong": 1 - correct,
        "confidence": predictions.confidence_of(rows),
        "doubt": predictions.doubt_of(rows),
    }


def kernel_columns(predictions: Predictions) -> list[npt.NDArray[Any]] | None:
    """The columns as a kernel takes them; None if one is of a kind it does not take."""
    confidence = predictions.confidence
    doubt = predictions.doubt if predictions.stores_doubt else confidence[:0]
    weight = predictions.weight if predictions.is_weighted else confidence[:0]
    arrays = [predictions.correct.view(np.uint8), confidence, doubt, weight]
    if confidence.dtype.itemsize < 4 or not all(array.flags.c_contiguous for array in arrays):
        return None
    # one type for arrays that may be written and those that may not: else each mixture is compiled anew
    for array in arrays:
        array.flags.writeable = False
    return arrays


def types_of(arrays: list[npt.NDArray[Any]]) -> str:
    """What a kernel is compiled for anew: the types of the arrays."""
    return " ".join(array.dtype.name for array in arrays)

"""The columns that terms speak of, and the operations they are made of, in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.core.doubt_table import CUT
from surefoot.core.table import Floats, Sums
from surefoot.predictions.arrays import ArrayPredictions

#: Rows a block. Within a block a sum may round once a row, so its relative error is at most 4096 * 2^-53 = 5e-13.
BLOCK = 4096

#: Rows from which compiling a short loop pays even if nothing is cached, and from which running a kernel at hand does.
COMPILE_FROM = 500_000
#: Characters of a short loop: compiling takes time in proportion to the source, four seconds for 10,000 of them.
_SHORT = 1_250
RUN_FROM = 20_000
#: Cells up to which the compiled loop keeps several tables side by side.
COMPILED_CELLS = 1 << 12


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
    "at_least": lambda a, b: np.greater_equal(a, b).astype(np.float64),
    "equal": lambda a, b: np.equal(a, b).astype(np.float64),
    "floor": np.floor,
    "lesser": np.minimum,
    "clip": np.clip,
    "octave_cell": lambda x: (x.view(np.int64) >> CUT).astype(np.float64),
}


def columns(predictions: ArrayPredictions, rows: slice, **more: Floats) -> Callable[[str], Floats]:
    """The columns of some rows by name, as float64, each made when it is asked for."""

    def column(name: str) -> Floats:
        if name in more:
            return more[name]
        if name in ("truth", "predicted"):
            return predictions.codes(name, rows).astype(np.float64)
        if name in ("confidence", "doubt"):
            found: Floats = getattr(predictions, f"{name}_of")(rows)
            return found
        values: Floats = getattr(predictions, name)[rows].astype(np.float64, copy=False)
        return values

    return column


def is_worth_compiling(source: str, rows: int) -> bool:
    """Whether compiling a loop for so many rows takes less time than people wait for the rest."""
    return rows >= COMPILE_FROM * max(1.0, len(source) / _SHORT)


def kernel_columns(predictions: ArrayPredictions, *, with_classes: bool = False) -> list[npt.NDArray[Any]] | None:
    """The columns as a kernel takes them; None if one is of a kind it does not take."""
    confidence = predictions.confidence
    doubt = predictions.doubt if predictions.stores_doubt else confidence[:0]
    weight = predictions.weight if predictions.is_weighted else confidence[:0]
    none = np.empty(0, dtype=np.intp)
    classes = [predictions.codes(name) if with_classes else none for name in ("truth", "predicted")]
    arrays = [predictions.correct.view(np.uint8), confidence, doubt, weight, *classes]
    if confidence.dtype.itemsize < 4 or not all(array.flags.c_contiguous for array in arrays):
        return None
    return read_only(arrays)


def read_only(arrays: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Arrays that a kernel reads: those that may be written are of another type, and each mixture is compiled anew."""
    arrays = [array.view() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    return arrays


def run_kernel(kernel: Callable[..., None], arrays: list[npt.NDArray[Any]], size: int) -> Sums:
    """What a loop adds up over some rows."""
    sums = Sums.zeros(size)
    kernel(*arrays, sums.high, sums.low)
    return sums


def types_of(arrays: list[npt.NDArray[Any]]) -> str:
    """What a kernel is compiled for anew: the types of the arrays."""
    return " ".join(array.dtype.name for array in arrays)

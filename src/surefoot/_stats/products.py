"""Products of matrices of some hundred rows, without the threads of BLAS."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Multiplications up to which BLAS starts no threads: of a matrix and a vector, and of two matrices.
_OF_VECTOR, _OF_MATRIX = 1 << 13, 1 << 17


def product(rows: Floats, matrix: Floats) -> Floats:
    """``rows @ matrix``, in parts so small that BLAS does each in this thread.

    Its threads wait for work by turning in circles, and for those of other products: of tests that run side by side
    that was two thirds of the processor time.
    """
    columns = matrix.shape[1]
    work = rows.shape[1] * columns
    size = max(1, (_OF_VECTOR if columns == 1 else _OF_MATRIX) // max(1, work))
    if len(rows) <= size:
        return rows @ matrix
    found = np.empty((len(rows), columns))
    for start in range(0, len(rows), size):
        np.matmul(rows[start : start + size], matrix, out=found[start : start + size])
    return found

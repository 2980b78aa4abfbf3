"""A product in parts is the product."""

import numpy as np
import pytest

from surefoot._stats.products import product


@pytest.mark.parametrize("shape", [(1, 1, 1), (1000, 300, 1), (999, 300, 16), (50, 20_000, 3), (0, 5, 2)])
def test_parts_make_the_whole(shape: tuple[int, int, int]) -> None:
    n, k, m = shape
    rng = np.random.default_rng(0)
    # whole numbers, of which no sum rounds
    rows, matrix = (rng.integers(-9, 9, size).astype(np.float64) for size in ((n, k), (k, m)))
    expected = np.einsum("ik,kj->ij", rows.astype(np.int64), matrix.astype(np.int64))
    found = product(rows, matrix)
    assert found.shape == (n, m)
    assert found.tolist() == expected.tolist()

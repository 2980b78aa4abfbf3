"""Local polynomial regression with tricube weights, the loess of Cleveland, without interpolation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Kernel weights that are held at a time.
_BLOCK = 1 << 15
#: Sums of weights that differ by this share of their total are taken for equal.
_TIE = 1e-10
#: What a polynomial must add, as a share of the weight, to be fitted: with less, the points lie on a simpler one.
_LEAST = 1e-13


def bandwidths(x: Floats, weight: Floats, at: Floats, span: float) -> Floats:
    """The distance from each point within which a share ``span`` of the weight lies; ``x`` rises.

    Examples
    --------
    >>> bandwidths(np.array([0.0, 1.0, 2.0, 4.0]), np.ones(4), np.array([0.0, 2.0]), 0.75).tolist()
    [2.0, 2.0]
    """
    upto = np.concatenate([[0.0], np.cumsum(weight)])
    enough = (span - _TIE) * upto[-1]

    def holds(distance: Floats) -> npt.NDArray[np.bool_]:
        # sums and differences can miss by rounding what lies at the distance itself
        wider = distance + 4e-16 * (distance + np.abs(at))
        first, last = np.searchsorted(x, at - wider, "left"), np.searchsorted(x, at + wider, "right")
        is_enough: npt.NDArray[np.bool_] = upto[last] - upto[first] >= enough
        return is_enough

    # the distance is that of one of the points: of the nearest to one side, from near to far, that is far enough
    found = np.full(len(at), np.inf)
    for step, near, count in (
        (-1, np.searchsorted(x, at, "right") - 1, np.searchsorted(x, at, "right")),
        (1, np.searchsorted(x, at, "left"), len(x) - np.searchsorted(x, at, "left")),
    ):
        low, high = np.zeros_like(count), count
        while (low < high).any():
            middle = (low + high) // 2
            is_open = low < high
            is_enough = holds(np.abs(x[np.clip(near + step * middle, 0, len(x) - 1)] - at))
            high, low = np.where(is_open & is_enough, middle, high), np.where(is_open & ~is_enough, middle + 1, low)
        last = np.abs(x[np.clip(near + step * low, 0, len(x) - 1)] - at)
        found = np.where(low < count, np.minimum(found, last), found)
    return found


def smoother_rows(
    x: Floats, weight: Floats, at: Floats, *, span: float = 0.75, degree: int = 2
) -> Iterator[tuple[slice, Floats]]:
    """The weights that responses at the distinct, rising ``x`` have in the value at each point, in blocks of points.

    At each point a polynomial is fitted by weighted least squares, with weights :math:`w_j (1 - (d_j / h)^3)^3` for
    distances d less than h. Where too few different x are near, the degree is what they can tell; where h is 0,
    because most of the weight lies at one x, the value is the mean there.
    """
    size, width = max(1, _BLOCK // len(x)), bandwidths(x, weight, at, span)
    for first in range(0, len(at), size):
        part = slice(first, first + size)
        t = x - at[part, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.where(t == 0, 0.0, t / width[part, None])
        cube = np.abs(t)
        near = cube < 1
        # products: powers of arrays are slow
        cube *= cube * cube
        kernel = np.where(near, 1 - cube, 0.0)
        kernel *= kernel * kernel
        kernel *= weight
        yield part, _local_fit(np.where(near, t, 0.0), kernel, degree)


def _local_fit(t: Floats, kernel: Floats, degree: int) -> Floats:
    """What each response adds to the value at 0 of the polynomials fitted with these weights.

    By polynomials that are orthogonal under the weights, each from the two before it, so that nothing cancels.
    """
    kernel = kernel / kernel.sum(axis=1, keepdims=True)
    # the values of a polynomial at the points and at 0, and the mean of its squares; the one before it likewise
    values, at_0, norm = np.ones_like(t), np.ones((len(t), 1)), np.ones((len(t), 1))
    values_before, at_0_before, norm_before = np.zeros_like(t), np.zeros((len(t), 1)), np.ones((len(t), 1))
    fit, weighted, is_new = np.ones_like(t), kernel, np.ones((len(t), 1), dtype=bool)
    for _ in range(degree):
        center = np.einsum("ij,ij,ij->i", weighted, values, t)[:, None] / norm
        ratio = norm / norm_before
        values, values_before = (t - center) * values - ratio * values_before, values
        at_0, at_0_before = -center * at_0 - ratio * at_0_before, at_0
        weighted = kernel * values
        norm, norm_before = np.einsum("ij,ij->i", weighted, values)[:, None], norm
        # points on a simpler polynomial leave nothing to fit, now or later
        is_new &= norm > _LEAST
        if not is_new.all():
            values, weighted, at_0 = (np.where(is_new, each, 0.0) for each in (values, weighted, at_0))
            norm = np.where(is_new, norm, 1.0)
        fit += values * (at_0 / norm)
    fit *= kernel
    return fit


def local_regression(
    x: Floats, y: Floats, weight: Floats, at: Floats, *, span: float = 0.75, degree: int = 2
) -> Floats:
    """The local regression of y on the distinct, rising ``x``, at some points.

    Examples
    --------
    >>> x = np.arange(8.0)
    >>> local_regression(x, x**2, np.ones(8), np.array([1.5])).round(9).tolist()
    [2.25]
    """
    value = np.empty(len(at))
    for part, fit in smoother_rows(x, weight, at, span=span, degree=degree):
        value[part] = fit @ y
    return value

"""Quantiles of a sum of independent events, several at once, to about three digits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats
from surefoot.risk.law.bernoulli_sum import BernoulliSum

#: Places on which the law is found, and how wide it is smoothed, in places: so that what they cannot tell apart does
#: not ring. A quantile of less than so many places is looked for once more, in a window of its own.
_PLACES = 4096
_SMOOTHED = 1.5
_FEWEST = 400
#: What lies beyond the window comes back from the other side, this much smaller in the logarithm.
_DAMPED = 18.0
#: Deviations below a mean and above it that a window reaches, and how many events may be expected of those that it
#: leaves no room for.
_BELOW, _ABOVE = 10.0, 8.0
_EXPECTED = 0.01
#: Rows whose weights differ by less than these shares are put together: where one alone matters, and where not.
_HEAVY_CELL, _LIGHT_CELL = 0.02, 0.2
_HEAVY = 1 / 50
_MOST_APART = 256
_TOGETHER = 1 << 14


def quantiles(rows: BernoulliSum, levels: Floats) -> Floats:
    r"""The sums that are not exceeded with these probabilities.

    The law is read off a window in one Fourier transform of

    .. math:: E\,e^{(i\theta - a) S} = \prod (q + p\,e^{(i\theta - a) w})

    where the damping a keeps what lies beyond the window from coming back into it.
    """
    heavy_first = np.argsort(-rows.weight, kind="stable")
    expected = np.empty(len(heavy_first))
    expected[heavy_first] = np.cumsum((rows.count * rows.p)[heavy_first])
    # seldom does any of the heaviest fire: what room the others take is room enough for the levels asked for
    light = rows[expected > _EXPECTED] if (expected > _EXPECTED).any() else rows
    squares = math.sqrt(float((light.count * light.p * light.weight**2).sum()))
    low, high = max(0.0, light.mean - _BELOW * squares), light.mean + _ABOVE * squares
    found = _in_window(rows, low, high, levels)
    coarse = found - low < _FEWEST * (high - low) / _PLACES
    for i in np.flatnonzero(coarse & (low == 0)):
        while (top := min(high, 4 * (found[i] + (high - low) / _PLACES))) < high / 4:
            high = top
            found[i] = _in_window(rows, 0.0, high, levels[i : i + 1])[0]
            if found[i] >= _FEWEST * high / _PLACES:
                break
    return np.minimum(found, rows.total)


def _in_window(rows: BernoulliSum, low: float, high: float, levels: Floats) -> Floats:
    """The quantiles, which lie between low and high."""
    rows = _gather(rows, high)
    step = (high - low) / _PLACES
    damping = _DAMPED / (high - low)
    nodes = np.arange(_PLACES // 2 + 1) * (2 * math.pi / (high - low))
    z = 1j * nodes - damping
    logs = -z * low - (_SMOOTHED * step * nodes) ** 2 / 2
    size = max(1, _TOGETHER // len(rows.p))
    # e^{iuw} by multiplication, from one node to those after it
    turned = rows.p * np.exp(1j * nodes[:size, None] * rows.weight)
    for start in range(0, len(z), size):
        here = slice(start, start + size)
        factors = turned[: len(z[here])] * np.exp(z[start] * rows.weight)
        factors += rows.q
        # turns come in whole ones, also after they are counted
        logs[here] += np.log(factors.real**2 + factors.imag**2) @ (rows.count / 2)
        logs[here] += 1j * (np.arctan2(factors.imag, factors.real) @ rows.count)
    mass = np.fft.irfft(np.exp(logs).conj(), _PLACES)
    places = np.arange(_PLACES)
    below = np.cumsum(mass * np.exp(damping * step * places))
    # the mass at a place lies around it
    at = np.searchsorted(np.maximum.accumulate(below), levels)
    found: Floats = np.asarray(low + at * step, dtype=np.float64)
    return found


def _gather(rows: BernoulliSum, high: float) -> BernoulliSum:
    """Rows of nearly equal weight together, at their means."""
    if len(rows.p) <= _MOST_APART:
        return rows
    # of what reaches beyond the window it only matters whether any fires
    logarithm = np.log(np.minimum(rows.weight, 2 * high))
    is_heavy = rows.weight > _HEAVY * high
    cell = np.where(is_heavy, np.floor(logarithm / _HEAVY_CELL), np.floor(logarithm / _LIGHT_CELL))
    place = np.unique(np.stack([is_heavy, cell]), axis=1, return_inverse=True)[1].ravel()
    count = np.bincount(place, rows.count).astype(np.float64)

    def mean(values: Floats) -> Floats:
        joined: npt.NDArray[np.float64] = np.bincount(place, values * rows.count) / count
        return joined

    chance = mean(rows.p)
    # the mean weight of what fires, so that the mean of the sum stays what it is
    return replace(
        rows, p=chance, q=mean(rows.q), weight=mean(rows.p * rows.weight) / chance, count=count, is_exact=False
    )

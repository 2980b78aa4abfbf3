"""The tail of a few hundred rows by convolution on a grid."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from surefoot._stats.binomial import probability_of
from surefoot.risk.law.bernoulli_sum import BernoulliSum, Tail

#: Cells times rows, about; and cells at least and at most.
_WORK = 1 << 22
_LEAST, _MOST = 1 << 13, 1 << 14
#: How far from the mean numbers of rows alike that fire may lie, and chances that do not matter.
_FAR, _NEGLIGIBLE = 20.0, 1e-40
#: Standard deviations of what rounding to the grid adds up to, by which s is lowered so that P is not too small.
_MARGIN = 3.0


def tail_on_grid(rows: BernoulliSum, s: float, tilt: float, spread: float) -> Tail:
    """The tail with weights rounded to a grid that ends at s.

    What rounding leaves out is a sum of many small terms of either sign. Its mean and standard deviation where S is
    about s, under the law tilted there, say how far to move s.
    """
    cells = int(min(_MOST, max(_LEAST, 2 ** math.ceil(math.log2(_WORK / len(rows.p))))))
    cell = s / cells
    steps = np.round(rows.weight / cell)
    left = rows.weight - steps * cell
    fires = expit(rows.log_odds + tilt * rows.weight)
    mean = float((rows.count * fires * left).sum())
    deviation = math.sqrt(float((rows.count * fires * (1 - fires) * left**2).sum()))
    lowered = min(_MARGIN * deviation, spread)
    ends = [math.ceil((s - mean - margin) / cell - 1e-9) for margin in (lowered, 0.0)]
    # from the lightest on: the sums so far fill the grid slowly
    order = np.argsort(steps, kind="stable")
    size = max(ends)
    mass, reach, beyond = np.zeros(size), 1, 0.0
    mass[0] = 1.0
    for i in order[steps[order] > 0].tolist():
        step = int(steps[i])
        fired, chances = _numbers_fired(float(rows.count[i]), float(rows.p[i]))
        before = mass[:reach].copy()
        mass[:reach] = 0.0
        for k, chance in zip(fired, chances, strict=True):
            inside = min(reach, max(0, size - k * step))
            mass[k * step : k * step + inside] += chance * before[:inside]
            if inside < reach:
                beyond += chance * float(before[inside:].sum())
        reach = min(size, reach + step * fired[-1])
    p, mid = (beyond + float(mass[end:].sum()) for end in ends)
    return Tail(min(1.0, p), min(1.0, mid))


def _numbers_fired(rows: float, chance: float) -> tuple[list[int], list[float]]:
    """How many of rows alike may fire, and how likely each number is, as far as it matters."""
    if rows == 1:
        return [0, 1], [1 - chance, chance]
    spread = math.sqrt(rows * chance * (1 - chance))
    first = max(0, math.floor(rows * chance - _FAR * spread - _FAR))
    k = np.arange(first, min(int(rows), math.ceil(rows * chance + _FAR * spread + _FAR)) + 1)
    mass = probability_of(k, rows, chance)
    kept = mass > _NEGLIGIBLE
    return k[kept].tolist(), mass[kept].tolist()

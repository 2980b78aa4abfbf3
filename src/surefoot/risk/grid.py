"""The tail of a few hundred rows by convolution on a grid."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from surefoot.risk.rows import Rows, Tail

#: Cells times rows, about; and cells at least and at most.
_WORK = 1 << 22
_LEAST, _MOST = 1 << 13, 1 << 14
#: Standard deviations of what rounding to the grid adds up to, by which s is lowered so that P is not too small.
_MARGIN = 3.0


def gridded_tail(rows: Rows, s: float, tilt: float, spread: float) -> Tail:
    """The tail with weights rounded to a grid that ends at s.

    What rounding leaves out is a sum of many small terms of either sign. Its mean and standard deviation where S is
    about s, under the law tilted there, say how far to move s.
    """
    total = int(rows.count.sum())
    cells = int(min(_MOST, max(_LEAST, 2 ** math.ceil(math.log2(_WORK / total)))))
    cell = s / cells
    steps = np.round(rows.weight / cell)
    left = rows.weight - steps * cell
    odds = np.log(rows.chance) - np.log(rows.otherwise)
    fires = expit(odds + tilt * rows.weight)
    mean = float((rows.count * fires * left).sum())
    deviation = math.sqrt(float((rows.count * fires * (1 - fires) * left**2).sum()))
    lowered = min(_MARGIN * deviation, spread)
    ends = [math.ceil((s - mean - margin) / cell - 1e-9) for margin in (lowered, 0.0)]
    # from the lightest on: the sums so far fill the grid slowly
    order = np.argsort(steps, kind="stable")
    order = np.repeat(order, rows.count[order].astype(np.intp))
    size = max(ends)
    mass, reach, beyond = np.zeros(size), 1, 0.0
    mass[0] = 1.0
    for fired, silent, step in zip(
        rows.chance[order].tolist(), rows.otherwise[order].tolist(), steps[order].astype(np.intp).tolist(), strict=True
    ):
        grown = min(size, reach + step)
        inside = max(0, grown - step)
        moved = mass[:reach] * fired
        beyond += float(moved[inside:].sum())
        mass[:reach] *= silent
        mass[step:grown] += moved[:inside]
        reach = grown
    p, mid = (beyond + float(mass[end:].sum()) for end in ends)
    return Tail(min(1.0, p), min(1.0, mid))

"""The tail of a few hundred rows by convolution on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from surefoot._stats.binomial import probability_of
from surefoot.core.table import Floats
from surefoot.risk.law.bernoulli_sum import BernoulliSum, Tail

#: Cells times rows, about; and cells at least and at most.
_WORK = 1 << 22
_LEAST, _MOST = 1 << 13, 1 << 14
#: How far from the mean numbers of rows alike that fire may lie, and chances that do not matter.
_FAR, _NEGLIGIBLE = 20.0, 1e-40
#: Rows that fire more often than that may be counted where they do not, if that makes the margin so much narrower.
_LIKELY, _FINER = 0.5, 0.1
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
    if (rows.p > _LIKELY).any():
        other = _few_that_do_not_fire(rows, s, tilt, spread, cells)
        if other.lowered < _FINER * lowered:
            return other.tail()
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
        mass[:reach] *= chances[0] if not fired[0] else 0.0
        for k, chance in zip(fired, chances, strict=True):
            if not k:
                continue
            inside = min(reach, max(0, size - k * step))
            mass[k * step : k * step + inside] += chance * before[:inside]
            if inside < reach:
                beyond += chance * float(before[inside:].sum())
        reach = min(size, reach + step * fired[-1])
    p, mid = (beyond + float(mass[end:].sum()) for end in ends)
    return Tail(min(1.0, p), min(1.0, mid))


@dataclass(frozen=True)
class _Signed:
    """A grid of what rows that seldom fire add, less what rows that nearly always fire do not."""

    rows: BernoulliSum
    likely: npt.NDArray[np.bool_]
    steps: Floats
    up: int
    down: int
    #: Where the tail begins, on the safe side and not; and how far apart these are.
    ends: tuple[int, int]
    lowered: float

    def tail(self) -> Tail:
        rows, likely, steps = self.rows, self.likely, self.steps
        added = _masses(rows.p[~likely], steps[~likely], rows.count[~likely], self.up)
        taken = _masses(rows.q[likely], steps[likely], rows.count[likely], self.down)
        # the chance that at least so much is added
        at_least = np.append(np.cumsum(added[::-1])[::-1], 0.0)
        p, mid = (
            float((taken * at_least[np.clip(np.arange(len(taken)) + end, 0, len(at_least) - 1)]).sum())
            for end in self.ends
        )
        return Tail(min(1.0, p), min(1.0, mid))


def _few_that_do_not_fire(rows: BernoulliSum, s: float, tilt: float, spread: float, cells: int) -> _Signed:
    """The same sum where some rows fire nearly always: what they add is all of it, less the few that do not fire.

    A grid of what all of them add may be too coarse for a single row. Rows that seldom fire add, and rows that seldom
    do not take away; where both are few, their grid is fine.
    """
    likely = rows.p > _LIKELY
    rest = s - float((rows.count * rows.weight)[likely].sum())
    fires = expit(rows.log_odds + tilt * rows.weight)
    moves, variance = np.where(likely, 1 - fires, fires), rows.count * fires * (1 - fires)

    def reach(which: npt.NDArray[np.bool_]) -> float:
        """How much these rows add, or take away, at most, as far as it matters."""
        if not which.any():
            return 0.0
        weight, moved = rows.weight[which], (rows.count * moves * rows.weight)[which].sum()
        deviation = math.sqrt(float((variance[which] * weight**2).sum()))
        return float(min((rows.count[which] * weight).sum(), moved + _FAR * (deviation + weight.max())))

    up, down = reach(~likely), reach(likely)
    cell = max(up, down, abs(rest)) / cells
    steps = np.round(rows.weight / cell)
    left = np.where(likely, -1.0, 1.0) * (rows.weight - steps * cell)
    mean = float((rows.count * moves * left).sum())
    lowered = min(_MARGIN * math.sqrt(float((variance * left**2).sum())), spread)
    safe, exact = (math.ceil((rest - mean - margin) / cell - 1e-9) for margin in (lowered, 0.0))
    sizes = (math.ceil(up / cell) + 1, math.ceil(down / cell) + 1)
    return _Signed(rows, likely, steps, *sizes, (safe, exact), lowered)


def _masses(chance: Floats, steps: Floats, count: Floats, size: int) -> Floats:
    """The chance of each number of cells that rows add up to; what lies beyond the last is left in it."""
    mass = np.zeros(size)
    mass[0] = 1.0
    reach = 1
    for i in np.argsort(steps, kind="stable").tolist():
        step = int(steps[i])
        if not step:
            continue
        fired, chances = _numbers_fired(float(count[i]), float(chance[i]))
        before = mass[:reach].copy()
        mass[:reach] = 0.0
        for k, one in zip(fired, chances, strict=True):
            inside = min(reach, max(0, size - k * step))
            mass[k * step : k * step + inside] += one * before[:inside]
            mass[-1] += one * float(before[inside:].sum())
        reach = min(size, reach + step * fired[-1])
    return mass


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

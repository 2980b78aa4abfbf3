"""The tail by inverting the characteristic function."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from surefoot.core.table import Floats
from surefoot.risk.law.bernoulli_sum import SAME, BernoulliSum, Tail
from surefoot.risk.law.grid import tail_on_grid

Complex = npt.NDArray[np.complex128]

#: The logarithm of values on a contour from which they overflow.
_STEEP = 700.0
#: Nodes in a go (a power of two), values of rows in a go, and factors multiplied before a logarithm is taken.
_TOGETHER = 32
_VALUES = 256
_FACTORS = 32
#: Nodes times rows at most, nodes at most, and how far terms must have died down.
_MOST_WORK = 1 << 22
MOST_NODES = 1 << 16
_NEGLIGIBLE = 1e-12

#: Distinct weights (that far apart, relative to them), and coin flips' worth of chance, up to which S may sit on a
#: lattice; and cells, of which nobody knows whether they hold one.
_PLATEAUS = 64
_NEAR = 1e-4
_MANY_FLIPS = 1000
_FEW_CELLS = 8
#: Nodes in which the echo of a near lattice is looked for.
_SCANNED = 32
#: Rows, or coin flips' worth of chance and groups, up to which a grid is quicker than an integral of more nodes than
#: some; fewer weights than those are plateaus.
_GRIDDED, _FLIPS, _GROUPS = 400, 60, 1100
_MOST_TRIED, _MOST_PLATEAUS = 128, 12

#: Distinct rows from which those much alike are put together, but for the heaviest.
_MOST_DISTINCT = 1024
_APART = 256


def tail_by_inversion(rows: BernoulliSum, s: float, nodes: int = MOST_NODES) -> Tail:
    r"""The tail by the inversion integral along the contour Re z = t through the saddlepoint.

    .. math:: P(S \ge s) = \frac1\pi \mathrm{Re} \int_0^\infty \frac{e^{K(z) - zs}}{z}\,du, \quad z = t + iu, t > 0

    (plus 1 for t < 0), by the trapezoid rule at half steps, which converges geometrically. Rows of one weight are
    counted: then the integral is over one period, with 1 - exp(-z) for z, and exact. A few rows whose characteristic
    function does not die down are convolved on a grid instead; of others at most so many ``nodes`` are looked at.
    """
    if float(rows.weight.max()) <= float(rows.weight.min()) * (1 + 1e-12):
        return _tail_of_count(rows, s)
    weights = _distinct_weights(rows)
    few = _fits_grid(rows) and (weights is None or weights.max() >= _MOST_PLATEAUS)
    if len(rows.p) > _MOST_DISTINCT:
        rows = _gather(rows, weights)
    # rows gathered may add a little less in all: s stays within what they reach
    s = min(s * (1 - SAME), rows.total - float(rows.weight.min()) / 2)
    tilt, spread = _saddlepoint(rows, s)
    t = tilt
    # Chernoff's bound on how much lies beyond s, seen from the mean
    bound = _cumulant(rows, t) - t * s
    if t < 0 and bound < math.log(_NEGLIGIBLE):
        return Tail(1.0, 1.0)
    if t < 0 or (t < 1 / spread and bound > -1):
        # not far above the mean, the contour on the left is as good, and heavy rows do no harm there; but where they
        # bend the cumulant within so short a way, its values overflow
        left = min(t, -1 / spread)
        t = left if _cumulant(rows, left) - left * s < _STEEP else t
    step = 2 * math.pi / max(28 / abs(t), 12 * spread)
    # cells stand for many rows, for which one waits a little longer
    most = min(nodes, max(2048, (_MOST_WORK if rows.is_exact else 4 * _MOST_WORK) // len(rows.p)))
    least = math.inf if weights is not None and not few else _echo(rows, t) / step
    if few:
        # a grid is quicker than more nodes
        most = _MOST_TRIED if least <= _MOST_TRIED else 0
    at, logs = np.empty(0, dtype=np.complex128), np.empty(0, dtype=np.complex128)
    while len(at) < most:
        size = min(max(2 * _TOGETHER, len(at) // 2), most - len(at))
        at, logs = _add_nodes(rows, t, step, at, logs, size)
        last = max(_TOGETHER, size // 2)
        if len(at) > least and logs.real[-last:].max() < logs.real[0] + math.log(_NEGLIGIBLE):
            p = _integral(at, logs, s, step, at)
            return Tail(p, p)
    if few:
        return tail_on_grid(rows, s, tilt, spread)
    # it does not die down: S gets a little normal noise, so narrow that the nodes reach its end, and s that much less
    noise = 5.3 / (len(at) * step)
    logs = logs + noise**2 * at**2 / 2
    mid = _integral(at, logs, s, step, at)
    return Tail(max(mid, _integral(at, logs, s - 3.5 * noise, step, at)), mid)


def _fits_grid(rows: BernoulliSum) -> bool:
    """Whether a grid takes them."""
    if rows.count.sum() <= _GRIDDED:
        return True
    return len(rows.p) <= _GROUPS and float((rows.count * rows.p * rows.q).sum()) <= _FLIPS


def _tail_of_count(rows: BernoulliSum, s: float) -> Tail:
    """The tail of a count: rows that all add the same."""
    fired = math.ceil(s * (1 - SAME) / float(rows.weight.max()))
    ones = replace(rows, weight=np.ones(len(rows.p)))
    if len(ones.p) > _MOST_DISTINCT:
        ones = _gather(ones, None)
    # to the middle between two counts, where the tilt is finite even for all of them
    t, spread = _saddlepoint(ones, fired - 0.5)
    if t < 1 / spread:
        t = min(t, -1 / spread)
    count = math.ceil(max(28 / abs(t), 12 * spread) / 2)
    step = math.pi / count
    nodes, logs = np.empty(0, dtype=np.complex128), np.empty(0, dtype=np.complex128)
    while len(nodes) < count:
        size = min(max(_TOGETHER, len(nodes) // 2), count - len(nodes))
        nodes, logs = _add_nodes(ones, t, step, nodes, logs, size)
        if logs.real[-size:].max() < logs.real[0] + math.log(_NEGLIGIBLE):
            break
    p = _integral(nodes, logs, fired, step, -np.expm1(-nodes))
    just = _integral(nodes, logs, fired, step, np.ones(len(nodes)), above=0.0)
    return Tail(p, max(p - just / 2, p / 2))


def _distinct_weights(rows: BernoulliSum) -> npt.NDArray[np.intp] | None:
    """Which of a few weights each row has, if what is random has but few: then S sits on a lattice, or nearly."""
    if not rows.is_exact:
        return None
    near = np.unique(np.round(np.log(rows.weight) / _NEAR), return_inverse=True)[1]
    flips = np.bincount(near, rows.count * rows.p * rows.q)
    if flips.sum() ** 2 > _PLATEAUS * (flips**2).sum():
        return None
    order = np.argsort(rows.weight, kind="stable")
    ordered = rows.weight[order]
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(np.append(0, ordered[1:] > ordered[:-1] * (1 + 1e-12)))
    return group


def _echo(rows: BernoulliSum, t: float) -> float:
    """How far out the characteristic function has to be followed before its silence is believed.

    Where most of what is random adds nearly the same, it comes back once or twice.
    """
    flips = rows.count * rows.p * rows.q
    few = flips.sum() ** 2 <= _FEW_CELLS * (flips**2).sum()
    if flips.sum() > _MANY_FLIPS and not few:
        return 0.0
    order = np.argsort(rows.weight)
    middle = np.searchsorted(np.cumsum(flips[order]), flips.sum() / 2)
    echo = 2 * math.pi / float(rows.weight[order[middle]])
    sizes = _cumulants(rows, t, 0.75 * echo, 0.5 * echo / _SCANNED, _SCANNED).real
    least = _cumulant(rows, t) + math.log(_NEGLIGIBLE)
    if sizes.max() <= least:
        return 0.0
    return math.inf if few else 1.25 * echo


def _gather(rows: BernoulliSum, weights: npt.NDArray[np.intp] | None) -> BernoulliSum:
    """Rows of nearly equal chance and weight together, at their means; the heaviest as they are.

    Where weights are few they are kept apart, however close.
    """
    order = np.argsort(-rows.weight, kind="stable")
    heavy, light = order[:_APART], order[_APART:]
    of_weight = rows.weight[light].view(np.int64) >> 46 if weights is None else weights[light]
    cells = (rows.p[light].view(np.int64) >> 46) << 32 | of_weight
    places = np.unique(cells, return_inverse=True)[1]
    count = np.bincount(places, rows.count[light])

    def joined(values: Floats) -> Floats:
        return np.append(values[heavy], np.bincount(places, values[light] * rows.count[light]) / count)

    # the mean weight goes with the weight's mean contribution, so that the mean of S stays what it is
    chance = joined(rows.p)
    return BernoulliSum(
        chance,
        joined(rows.q),
        joined(rows.p * rows.weight) / chance,
        np.append(rows.count[heavy], count),
        is_exact=False,
    )


def _integral(nodes: Complex, logs: Complex, s: float, step: float, divisor: Any, above: float = 1.0) -> float:
    """The integral of exp(K(z) - z s) / divisor; on the left of 0, where it is less by ``above``, with that added."""
    exponent = logs - nodes * s
    top = float(exponent.real.max())
    total = float((np.exp(exponent - top) / divisor).real.sum()) * step / math.pi
    if nodes[0].real < 0 and above:
        return min(1.0, above + total * math.exp(top))
    return math.exp(min(0.0, top + math.log(total))) if total > 0 else 0.0


def _add_nodes(
    rows: BernoulliSum, t: float, step: float, nodes: Complex, logs: Complex, size: int
) -> tuple[Complex, Complex]:
    """So many nodes more, at half steps along the contour, and K at each."""
    first = (len(nodes) + 0.5) * step
    new = (t + 1j * (first + step * np.arange(size))).astype(np.complex128)
    return np.concatenate([nodes, new]), np.concatenate([logs, _cumulants(rows, t, first, step, size)])


def _cumulants(rows: BernoulliSum, t: float, first: float, step: float, size: int) -> Complex:
    """K(z) = sum of log(1 - q + q exp(z w)) at z = t + iu, u from ``first`` in steps, with nothing that overflows."""
    tilted = rows.log_odds + t * rows.weight
    # log(1 + e^a) = a + log(1 + e^-a): whichever exponential is small
    small, turn = np.exp(-np.abs(tilted)), np.where(tilted > 0, -rows.weight, rows.weight)
    real = float((rows.count * (np.log(rows.q) + np.maximum(tilted, 0.0))).sum())
    turns = float((rows.count * rows.weight)[tilted > 0].sum())
    total = (real + 1j * turns * (first + step * np.arange(size))).astype(np.complex128)
    single = rows.count == 1
    # e^{iuw} by multiplication, from one node to the next
    nodes = 1 << (min(size, _TOGETHER) - 1).bit_length()
    for which, add in ((single, _add_single), (~single, _add_counted)):
        for start in range(0, int(which.sum()), _VALUES):
            part = np.flatnonzero(which)[start : start + _VALUES]
            ahead = _rotations(small[part], turn[part] * step, nodes)
            for node in range(0, size, nodes):
                here = slice(node, min(node + nodes, size))
                values = ahead[: here.stop - node] * np.exp(1j * (first + node * step) * turn[part])
                values += 1.0
                add(total[here], values, rows.count[part])
    return total


def _cumulant(rows: BernoulliSum, t: float) -> float:
    """K(t) on the real axis."""
    tilted = rows.log_odds + t * rows.weight
    return float((rows.count * (np.log(rows.q) + np.logaddexp(0.0, tilted))).sum())


def _rotations(size: Floats, angle: Floats, nodes: int) -> Complex:
    """Numbers of this size turned by 0, 1, 2, ... times an angle: each half of them from the other."""
    turned = np.empty((nodes, len(size)), dtype=np.complex128)
    turned[0] = size
    have = 1
    while have < nodes:
        np.multiply(turned[:have], np.exp(1j * have * angle), out=turned[have : 2 * have])
        have *= 2
    return turned


def _add_single(total: Complex, values: Complex, count: Floats) -> None:
    """One logarithm for the product of many factors, not one for each."""
    with np.errstate(divide="ignore"):
        total += np.log(np.multiply.reduceat(values, np.arange(0, values.shape[1], _FACTORS), axis=1)).sum(axis=1)


def _add_counted(total: Complex, values: Complex, count: Floats) -> None:
    total.imag += (np.arctan2(values.imag, values.real) * count).sum(axis=1)
    with np.errstate(divide="ignore"):
        total.real += (np.log(values.real**2 + values.imag**2) * (count / 2)).sum(axis=1)


def _saddlepoint(rows: BernoulliSum, s: float) -> tuple[float, float]:
    """The tilt t at which the mean is s, and the standard deviation there."""
    log_odds = rows.log_odds

    def moments(t: float) -> tuple[float, float]:
        chance = expit(log_odds + t * rows.weight)
        mean = float((rows.count * rows.weight * chance).sum())
        return mean, float((rows.count * rows.weight**2 * chance * (1 - chance)).sum())

    low, high = -1 / float(rows.weight.max()), 1 / float(rows.weight.max())
    while moments(low)[0] > s:
        low *= 2
    while moments(high)[0] < s:
        high *= 2
    t = 0.0
    for _ in range(200):
        mean, variance = moments(t)
        if mean > s:
            high = t
        else:
            low = t
        if abs(mean - s) <= 1e-9 * s:
            break
        newton = t - (mean - s) / variance if variance > 0 else math.inf
        t = newton if low < newton < high else (low + high) / 2
    return t, math.sqrt(max(moments(t)[1], math.ulp(0.0)))

r"""The law of the surprise under calibration, given the doubts.

Rows fire independently, row i with chance :math:`q_i`, and a row that fires adds its weight :math:`w_i` to S (for CSR a
wrong row adds 1/q). What is wanted is P(S >= s). Three steps, each leaving less to approximate:

1. Rows whose weight alone reaches s are split off exactly: the chance that none of them fires is a product.
2. Up to 256 other rows, and more if few of them will fire, are dealt into two hands. The sums of each hand are listed;
   the lists meet at s. Nothing is approximated while a list fits, up to 24 rows and more with ties; a longer one is
   thinned where its sums are closest.
3. For more rows the characteristic function is inverted along the contour through the saddlepoint, which keeps
   relative accuracy far into the tail. Where it does not die down (ties, few mistakes to expect) s gets a margin as
   narrow as the number of nodes allows, so that P is not too small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from surefoot.tallies import Floats

Complex = npt.NDArray[np.complex128]

#: Rows up to which sums are listed, and how long a list may be.
LISTED = 256
LONGEST = 4096
#: Of rows that seldom fire more are listed: their characteristic function takes long to die down.
_LISTED_IF_QUIET = 2048
_QUIET = 64.0

#: Sums this close to s, relative to it, are s: the order of additions must not decide.
_SAME = 1e-11

#: Nodes of the inversion in a go; nodes times rows at most; and how far terms must have died down.
_TOGETHER = 128
_VALUES = 256
_FACTORS = 32
_MOST_WORK = 1 << 22
_MOST_NODES = 1 << 16
_NEGLIGIBLE = 1e-12

#: Distinct weights (that far apart, relative to them), and coin flips' worth of chance, up to which S may sit on a
#: lattice.
_PLATEAUS = 64
_NEAR = 1e-4
_FEW_CELLS = 8
_MANY_FLIPS = 1000

#: A weight is far above a spread, and rows fire seldom, from and up to here.
_FAR = 8.0
_SELDOM = 30.0

#: Distinct rows from which those much alike are put together, but for the heaviest.
_MOST_DISTINCT = 1024
_APART = 256


@dataclass(frozen=True)
class Rows:
    """Rows that are alike: their chance of firing and of not, what firing adds, and how many they are."""

    chance: Floats
    otherwise: Floats
    weight: Floats
    count: Floats
    #: Whether rows that stand together have the very same chance, not one much like it.
    tied: bool = True

    def __getitem__(self, which: npt.NDArray[np.bool_]) -> Rows:
        return Rows(self.chance[which], self.otherwise[which], self.weight[which], self.count[which], self.tied)

    @property
    def total(self) -> float:
        """What all of them add if all fire."""
        return float((self.count * self.weight).sum())

    def capped(self, most: float) -> Rows:
        """The same rows, none of which adds more than ``most``: their chances stay what they are."""
        return Rows(self.chance, self.otherwise, np.minimum(self.weight, most), self.count, self.tied)


@dataclass(frozen=True)
class Tail:
    """P(S >= s), and the same with half of P(S = s)."""

    p: float
    mid: float


def upper_tail(rows: Rows, s: float) -> Tail:
    """The chance that what fires adds up to s or more."""
    surely = rows.otherwise == 0
    whole = s
    s -= float((rows.count * rows.weight)[surely].sum())
    rows = rows[~surely & (rows.chance > 0)]
    if s <= _SAME * whole:
        # whatever happens reaches s; unless something fires, it just does
        return Tail(1.0, 1.0 if s < -_SAME * whole else 1 - math.exp(_log_none(rows)) / 2)
    threshold = s * (1 - _SAME)
    alone, exactly = rows.weight >= threshold, np.abs(rows.weight - s) <= _SAME * s
    log_none = _log_none(rows[alone])
    light = rows[~alone]
    tail = _light_tail(light, s)
    # 1 - none * (1 - tail), without losing a small tail
    p = _within(-math.expm1(log_none) + math.exp(log_none) * tail.p)
    # of the rows that reach s alone, those that just do count half if nothing else fires
    silence = math.exp(log_none + _log_none(light))
    just = rows[exactly]
    odds = float((just.count * just.chance / just.otherwise).sum())
    return Tail(p, _within(p - math.exp(log_none) * (tail.p - tail.mid) - silence * odds / 2))


def _light_tail(rows: Rows, s: float) -> Tail:
    """The tail of rows none of which reaches s alone."""
    threshold = s * (1 - _SAME)
    if not len(rows.chance) or rows.total < threshold:
        return Tail(0.0, 0.0)
    if rows.total - float(rows.weight.min()) < threshold:
        every = math.exp(float((rows.count * np.log(rows.chance)).sum()))
        return Tail(every, every / 2 if rows.total <= s * (1 + _SAME) else every)
    # the law does not know of units; in these no square overflows
    unit = 2.0 ** math.frexp(float(rows.weight.max()))[1]
    rows = Rows(rows.chance, rows.otherwise, rows.weight / unit, rows.count, rows.tied)
    flips = float((rows.count * rows.chance * rows.otherwise).sum())
    size = float(rows.count.sum())
    if size <= LISTED or (size <= _LISTED_IF_QUIET and flips < _QUIET):
        return _listed(rows, s / unit)
    return _inverted(rows, s / unit)


def _within(p: float) -> float:
    """A chance; what is smaller than any float is the smallest one, for it is not zero."""
    return min(1.0, max(math.ulp(0.0), float(p)))


def _log_none(rows: Rows) -> float:
    return float(
        (
            rows.count * np.where(rows.chance < 0.5, np.log1p(-np.minimum(rows.chance, 0.5)), np.log(rows.otherwise))
        ).sum()
    )


# -- lists -----------------------------------------------------------------------------------------------------------


def _listed(rows: Rows, s: float) -> Tail:
    """The tail from the lists of the sums of two hands of rows."""
    by_weight = np.argsort(rows.weight, kind="stable")
    order = np.repeat(by_weight, rows.count[by_weight].astype(np.intp))
    (one, one_mass, one_beyond), (other, other_mass, other_beyond) = (
        _sums(rows.chance[hand], rows.otherwise[hand], rows.weight[hand], s) for hand in (order[::2], order[1::2])
    )
    # P(other sum >= what one leaves), one's sums from the largest down
    reached = np.append(np.cumsum(other_mass[::-1])[::-1], 0.0) + other_beyond
    at_least = reached[np.searchsorted(other, s * (1 - _SAME) - one, side="left")]
    above = reached[np.searchsorted(other, s * (1 + _SAME) - one, side="left")]
    p, more = (one_beyond + float((one_mass * tail).sum()) for tail in (at_least, above))
    return Tail(p, (p + more) / 2)


def _sums(chance: Floats, otherwise: Floats, weight: Floats, s: float) -> tuple[Floats, Floats, float]:
    """The sums of these rows below s, rising, with their probabilities; and the probability of s and beyond."""
    sums, mass, beyond = np.zeros(1), np.ones(1), 0.0
    for fires, silent, adds in zip(chance, otherwise, weight, strict=True):
        moved = sums + adds
        inside = int(np.searchsorted(moved, s * (1 + _SAME), side="right"))
        beyond += fires * float(mass[inside:].sum())
        sums, mass = np.concatenate([sums, moved[:inside]]), np.concatenate([mass * silent, mass[:inside] * fires])
        order = np.argsort(sums, kind="stable")  # merges two rising runs
        sums, mass = _thinned(sums[order], mass[order], s)
    return sums, mass, beyond


def _thinned(sums: Floats, mass: Floats, s: float) -> tuple[Floats, Floats]:
    """Equal sums together; and if there are too many, those that are closest, at their mean."""
    if len(sums) < 2:
        return sums, mass
    gaps = np.diff(sums)
    groups = np.cumsum(gaps > _SAME / 4 * s)
    count = int(groups[-1]) + 1
    if count > LONGEST:
        # cells as wide as it takes, empty stretches left out
        width = s / LONGEST
        while (stretched := np.cumsum(np.minimum(gaps / width, 1.0)))[-1] >= LONGEST:
            width *= max(1.02, stretched[-1] / LONGEST)
        groups = np.floor(stretched).astype(np.intp)
        count = int(groups[-1]) + 1
    if count == len(sums):
        return sums, mass
    groups = np.append(0, groups)
    together: Floats = np.bincount(groups, mass, count).astype(np.float64)
    kept = together > 0
    mean = np.bincount(groups, mass * sums, count)[kept] / together[kept]
    return mean, together[kept]


# -- inversion -------------------------------------------------------------------------------------------------------


def _inverted(rows: Rows, s: float) -> Tail:
    r"""The tail by the inversion integral along the contour Re z = t through the saddlepoint.

    .. math:: P(S \ge s) = \frac1\pi \mathrm{Re} \int_0^\infty \frac{e^{K(z) - zs}}{z}\,du, \quad z = t + iu, t > 0

    (plus 1 for t < 0), by the trapezoid rule at half steps, which converges geometrically.
    """
    plateau = _rare_plateau(rows)
    if plateau is not None:
        return _by_plateau(rows, plateau, s)
    weights = _distinct_weights(rows)
    if len(rows.chance) > _MOST_DISTINCT:
        rows = _gathered(rows, weights)
    s *= 1 - _SAME
    t, spread = _saddlepoint(rows, s)
    # Chernoff's bound on how much lies beyond s, seen from the mean
    bound = float(_cumulants(rows, t, 0.0, 0.0, 1).real[0]) - t * s
    if t < 0 and bound < math.log(_NEGLIGIBLE):
        return Tail(1.0, 1.0)
    if t < 0 or (t < 1 / spread and bound > -1):
        # not far above the mean, the contour on the left is as good, and heavy rows do no harm there
        t = min(t, -1 / spread)
    step = 2 * math.pi / max(28 / abs(t), 12 * spread)
    # cells stand for many rows, for which one waits a little longer
    most = min(_MOST_NODES, max(2048, (_MOST_WORK if rows.tied else 4 * _MOST_WORK) // len(rows.chance)))
    least = math.inf if weights is not None else _echo(rows, t) / step
    nodes, logs = np.empty(0, dtype=np.complex128), np.empty(0, dtype=np.complex128)
    while len(nodes) < most:
        size = min(max(_TOGETHER, len(nodes) // 2), most - len(nodes))
        new = (t + 1j * (np.arange(len(nodes), len(nodes) + size) + 0.5) * step).astype(np.complex128)
        logs = np.concatenate([logs, _cumulants(rows, t, new[0].imag, step, size)])
        nodes = np.concatenate([nodes, new])
        if len(nodes) > least and logs.real[-size:].max() < logs.real[0] + math.log(_NEGLIGIBLE):
            p = _integral(nodes, logs, s, step)
            return Tail(p, p)
    # it does not die down: S gets a little normal noise, so narrow that the nodes reach its end, and s that much less
    noise = 5.3 / (len(nodes) * step)
    logs = logs + noise**2 * nodes**2 / 2
    mid = _integral(nodes, logs, s, step)
    return Tail(max(mid, _integral(nodes, logs, s - 3.5 * noise, step)), mid)


def _rare_plateau(rows: Rows) -> int | None:
    """The rows, if any, that share one weight far above the spread of all lighter ones, and seldom fire."""
    if not rows.tied:
        return None
    order = np.argsort(rows.weight, kind="stable")
    variances = (rows.count * rows.chance * rows.otherwise * rows.weight**2)[order]
    lighter = np.sqrt(np.cumsum(variances) - variances)
    candidates = np.flatnonzero(
        (rows.count[order] > 1)
        & (lighter > 0)
        & (rows.weight[order] > _FAR * lighter)
        & ((rows.count * rows.chance)[order] < _SELDOM)
        & (variances > variances.sum() / 10)
    )
    return int(order[candidates[-1]]) if len(candidates) else None


def _by_plateau(rows: Rows, plateau: int, s: float) -> Tail:
    """The tail by how many rows of a plateau fire: it and the others live on scales that no grid holds together."""
    from scipy.stats import binom

    others = rows[np.arange(len(rows.chance)) != plateau]
    count, chance, weight = rows.count[plateau], rows.chance[plateau], float(rows.weight[plateau])
    enough = min(math.ceil(s * (1 - _SAME) / weight), round(count) + 1)
    p = mid = float(binom.sf(enough - 1, count, chance))
    if abs(enough * weight - s) <= _SAME * s:
        mid -= float(binom.pmf(enough, count, chance)) * math.exp(_log_none(others)) / 2
    # the fewer fire, the more the others have to reach: until what is left cannot matter
    for fired in range(enough - 1, -1, -1):
        tail, mass = upper_tail(others, s - fired * weight), float(binom.pmf(fired, count, chance))
        p, mid = p + mass * tail.p, mid + mass * tail.mid
        if tail.p * float(binom.cdf(fired - 1, count, chance)) <= _NEGLIGIBLE * p:
            break
    return Tail(p, mid)


def _distinct_weights(rows: Rows) -> npt.NDArray[np.intp] | None:
    """Which of a few weights each row has, if what is random has but few: then S sits on a lattice, or nearly."""
    if not rows.tied:
        return None
    near = np.unique(np.round(np.log(rows.weight) / _NEAR), return_inverse=True)[1]
    flips = np.bincount(near, rows.count * rows.chance * rows.otherwise)
    if flips.sum() ** 2 > _PLATEAUS * (flips**2).sum():
        return None
    order = np.argsort(rows.weight, kind="stable")
    ordered = rows.weight[order]
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(np.append(0, ordered[1:] > ordered[:-1] * (1 + 1e-12)))
    return group


def _echo(rows: Rows, t: float) -> float:
    """How far out the characteristic function has to be followed before its silence is believed.

    Where most of what is random adds nearly the same, it comes back once or twice.
    """
    flips = rows.count * rows.chance * rows.otherwise
    few = flips.sum() ** 2 <= _FEW_CELLS * (flips**2).sum()
    if flips.sum() > _MANY_FLIPS and not few:
        return 0.0
    order = np.argsort(rows.weight)
    middle = np.searchsorted(np.cumsum(flips[order]), flips.sum() / 2)
    echo = 2 * math.pi / float(rows.weight[order[middle]])
    sizes = _cumulants(rows, t, 0.75 * echo, 0.5 * echo / _TOGETHER, _TOGETHER).real
    least = float(_cumulants(rows, t, 0.0, 0.0, 1).real[0]) + math.log(_NEGLIGIBLE)
    if sizes.max() <= least:
        return 0.0
    return math.inf if few else 1.25 * echo


def _gathered(rows: Rows, weights: npt.NDArray[np.intp] | None) -> Rows:
    """Rows of nearly equal chance and weight together, at their means; the heaviest as they are.

    Where weights are few they are kept apart, however close.
    """
    order = np.argsort(-rows.weight, kind="stable")
    heavy, light = order[:_APART], order[_APART:]
    of_weight = rows.weight[light].view(np.int64) >> 46 if weights is None else weights[light]
    cells = (rows.chance[light].view(np.int64) >> 46) << 32 | of_weight
    places = np.unique(cells, return_inverse=True)[1]
    count = np.bincount(places, rows.count[light])

    def joined(values: Floats) -> Floats:
        return np.append(values[heavy], np.bincount(places, values[light] * rows.count[light]) / count)

    # the mean weight goes with the weight's mean contribution, so that the mean of S stays what it is
    chance = joined(rows.chance)
    return Rows(
        chance,
        joined(rows.otherwise),
        joined(rows.chance * rows.weight) / chance,
        np.append(rows.count[heavy], count),
        tied=False,
    )


def _integral(nodes: Complex, logs: Complex, s: float, step: float) -> float:
    exponent = logs - nodes * s
    top = float(exponent.real.max())
    total = float((np.exp(exponent - top) / nodes).real.sum()) * step / math.pi
    if nodes[0].real < 0:
        return min(1.0, 1 + total * math.exp(top))
    return math.exp(min(0.0, top + math.log(total))) if total > 0 else 0.0


def _cumulants(rows: Rows, t: float, first: float, step: float, size: int) -> Complex:
    """K(z) = sum of log(1 - q + q exp(z w)) at z = t + iu, u from ``first`` in steps, with nothing that overflows."""
    tilted = _log_odds(rows) + t * rows.weight
    # log(1 + e^a) = a + log(1 + e^-a): whichever exponential is small
    small, turn = np.exp(-np.abs(tilted)), np.where(tilted > 0, -rows.weight, rows.weight)
    real = float((rows.count * (np.log(rows.otherwise) + np.maximum(tilted, 0.0))).sum())
    turns = float((rows.count * rows.weight)[tilted > 0].sum())
    total = (real + 1j * turns * (first + step * np.arange(size))).astype(np.complex128)
    single = rows.count == 1
    # e^{iuw} by multiplication, from one node to the next
    nodes = min(size, _TOGETHER)
    for which, add in ((single, _add_single), (~single, _add_counted)):
        for start in range(0, int(which.sum()), _VALUES):
            part = np.flatnonzero(which)[start : start + _VALUES]
            ahead = np.exp(1j * np.multiply.outer(np.arange(nodes) * step, turn[part])) * small[part]
            for node in range(0, size, nodes):
                here = slice(node, min(node + nodes, size))
                values = ahead[: here.stop - node] * np.exp(1j * (first + node * step) * turn[part])
                values += 1.0
                add(total[here], values, rows.count[part])
    return total


def _add_single(total: Complex, values: Complex, count: Floats) -> None:
    """Logarithms of products are fewer than products of logarithms."""
    with np.errstate(divide="ignore"):
        for start in range(0, values.shape[1], _FACTORS):
            total += np.log(np.multiply.reduce(values[:, start : start + _FACTORS], axis=1))


def _add_counted(total: Complex, values: Complex, count: Floats) -> None:
    total.imag += (np.arctan2(values.imag, values.real) * count).sum(axis=1)
    with np.errstate(divide="ignore"):
        total.real += (np.log(values.real**2 + values.imag**2) * (count / 2)).sum(axis=1)


def _log_odds(rows: Rows) -> Floats:
    return np.log(rows.chance) - np.log(rows.otherwise)


def _saddlepoint(rows: Rows, s: float) -> tuple[float, float]:
    """The tilt t at which the mean is s, and the standard deviation there."""
    log_odds = _log_odds(rows)

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

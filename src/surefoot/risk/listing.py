"""The tail from lists of sums: exact while they fit."""

from __future__ import annotations

import numpy as np

from surefoot.risk.rows import SAME, Rows, Tail
from surefoot.tallies import Floats

#: How long a list may be.
LONGEST = 4096


def listed_tail(rows: Rows, s: float) -> Tail:
    """The tail from the lists of the sums of two hands of rows."""
    by_weight = np.argsort(rows.weight, kind="stable")
    order = np.repeat(by_weight, rows.count[by_weight].astype(np.intp))
    (one, one_mass, one_beyond), (other, other_mass, other_beyond) = (
        _sums(rows.chance[hand], rows.otherwise[hand], rows.weight[hand], s) for hand in (order[::2], order[1::2])
    )
    # P(other sum >= what one leaves), one's sums from the largest down
    reached = np.append(np.cumsum(other_mass[::-1])[::-1], 0.0) + other_beyond
    at_least = reached[np.searchsorted(other, s * (1 - SAME) - one, side="left")]
    above = reached[np.searchsorted(other, s * (1 + SAME) - one, side="left")]
    p, more = (one_beyond + float((one_mass * tail).sum()) for tail in (at_least, above))
    return Tail(p, (p + more) / 2)


def _sums(chance: Floats, otherwise: Floats, weight: Floats, s: float) -> tuple[Floats, Floats, float]:
    """The sums of these rows below s, rising, with their probabilities; and the probability of s and beyond."""
    sums, mass, beyond = np.zeros(1), np.ones(1), 0.0
    for fires, silent, adds in zip(chance, otherwise, weight, strict=True):
        moved = sums + adds
        inside = int(np.searchsorted(moved, s * (1 + SAME), side="right"))
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
    groups = np.cumsum(gaps > SAME / 4 * s)
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

"""The tail from lists of sums: exact, while they fit."""

from __future__ import annotations

import numpy as np

from surefoot.core.table import Floats
from surefoot.risk.law.bernoulli_sum import BernoulliSum, Tail, same_for

#: How long a list may be.
LONGEST = 8192
#: Different weights whose sums no two lists hold: 2 ** 14 in each.
_HOPELESS = 28


def has_too_many_sums(rows: BernoulliSum, s: float) -> bool:
    """Whether lists will surely be too long: so many different weights may all fire below s."""
    lightest = np.unique(rows.weight)[:_HOPELESS]
    return len(lightest) == _HOPELESS and float(lightest.sum()) <= s


def tail_by_enumeration(rows: BernoulliSum, s: float) -> Tail | None:
    """The tail from the lists of the sums of two hands of rows; None if a list would be too long."""
    same = same_for(rows)
    by_weight = np.argsort(rows.weight, kind="stable")
    order = np.repeat(by_weight, rows.count[by_weight].astype(np.intp))
    hands = [_sums(rows.p[hand], rows.q[hand], rows.weight[hand], s, same) for hand in (order[::2], order[1::2])]
    if hands[0] is None or hands[1] is None:
        return None
    (one, one_mass, one_beyond), (other, other_mass, other_beyond) = hands[0], hands[1]
    # P(other sum >= what one leaves), one's sums from the largest down
    reached = np.append(np.cumsum(other_mass[::-1])[::-1], 0.0) + other_beyond
    at_least = reached[np.searchsorted(other, s * (1 - same) - one, side="left")]
    above = reached[np.searchsorted(other, s * (1 + same) - one, side="left")]
    p, more = (one_beyond + float((one_mass * tail).sum()) for tail in (at_least, above))
    return Tail(p, (p + more) / 2)


def _sums(p: Floats, q: Floats, weight: Floats, s: float, same: float) -> tuple[Floats, Floats, float] | None:
    """The sums of these rows below s, rising, with their probabilities; and the probability of what lies beyond."""
    sums, mass, beyond = np.zeros(1), np.ones(1), 0.0
    for fires, silent, adds in zip(p.tolist(), q.tolist(), weight.tolist(), strict=True):
        moved = sums + adds
        inside = int(np.searchsorted(moved, s * (1 + same), side="right"))
        beyond += fires * float(mass[inside:].sum())
        sums, mass = np.concatenate([sums, moved[:inside]]), np.concatenate([mass * silent, mass[:inside] * fires])
        order = np.argsort(sums, kind="stable")  # merges two rising runs
        sums, mass = _without_ties(sums[order], mass[order], same / 4 * s)
        if len(sums) > LONGEST:
            return None
    return sums, mass, beyond


def _without_ties(sums: Floats, mass: Floats, apart: float) -> tuple[Floats, Floats]:
    """Sums together that differ by no more than rounding makes."""
    starts = np.flatnonzero(np.append(True, np.diff(sums) > apart))
    return (sums[starts], np.add.reduceat(mass, starts)) if len(starts) < len(sums) else (sums, mass)

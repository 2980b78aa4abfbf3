r"""The law of the surprise under calibration, given the doubts.

Rows fire independently, row i with chance :math:`q_i`, and a row that fires adds its weight :math:`w_i` to S (for CSR a
wrong row adds 1/q). What is wanted is P(S >= s). Three steps, each leaving less to approximate:

1. Rows whose weight alone reaches s are split off exactly: the chance that none of them fires is a product.
2. Up to 256 other rows are dealt into two hands. The sums of each hand are listed, and the lists meet at s. They fit up
   to 26 rows, and more with ties; then nothing is approximated.
3. For others the characteristic function is inverted along the contour through the saddlepoint, which keeps
   relative accuracy far into the tail. Where it does not die down (ties, few mistakes to expect) s gets a margin as
   narrow as the number of nodes allows, so that P is not too small.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from surefoot._stats.binomial import at_most, more_than, probability_of
from surefoot.risk.law.bernoulli_sum import ROUNDING, SAME, BernoulliSum, Tail, same_for
from surefoot.risk.law.enumeration import has_too_many_sums, tail_by_enumeration
from surefoot.risk.law.inversion import MOST_NODES, tail_by_inversion

#: Rows up to which listing their sums is tried.
ENUMERATED = 256

#: A weight is far above a spread, rows fire seldom, and what is left of a sum cannot matter, from and up to here.
_FAR = 8.0
_SELDOM = 30.0
_NEGLIGIBLE = 1e-5
#: Rows, or groups of them, that are told apart so.
_DEEPEST = 3


def upper_tail(rows: BernoulliSum, s: float, depth: int = 0, nodes: int = MOST_NODES) -> Tail:
    """The chance that what fires adds up to s or more; fewer ``nodes`` make it quicker, and a little too large."""
    surely = rows.q == 0
    whole, same = s, same_for(rows)
    s -= float((rows.count * rows.weight)[surely].sum())
    rows = rows[~surely & (rows.p > 0)]
    if s <= same * whole:
        # whatever happens reaches s; unless something fires, it just does
        return Tail(1.0, 1.0 if s < -same * whole else 1 - math.exp(log_none(rows)) / 2)
    threshold = s * (1 - same)
    alone, is_equal = rows.weight >= threshold, np.abs(rows.weight - s) <= same * s
    none = log_none(rows[alone])
    light = rows[~alone]
    tail = _light_tail(light, s, depth, nodes)
    # 1 - none * (1 - tail), without losing a small tail
    p = _as_chance(-math.expm1(none) + math.exp(none) * tail.p)
    # of the rows that reach s alone, those that just do count half if nothing else fires
    silence = math.exp(none + log_none(light))
    just = rows[is_equal]
    odds = float((just.count * just.p / just.q).sum())
    return Tail(p, _as_chance(p - math.exp(none) * (tail.p - tail.mid) - silence * odds / 2))


def _light_tail(rows: BernoulliSum, s: float, depth: int, nodes: int) -> Tail:
    """The tail of rows none of which reaches s alone."""
    same = same_for(rows)
    threshold = s * (1 - same)
    if not len(rows.p) or rows.total < threshold:
        return Tail(0.0, 0.0)
    if rows.total - float(rows.weight.min()) < threshold:
        every = math.exp(float((rows.count * np.log(rows.p)).sum()))
        return Tail(every, every / 2 if rows.total <= s * (1 + same) else every)
    # the law does not know of units; in these no square overflows
    unit = 2.0 ** math.frexp(float(rows.weight.max()))[1]
    rows = replace(rows, weight=rows.weight / unit)
    s /= unit
    exact = tail_by_enumeration(rows, s) if rows.count.sum() <= ENUMERATED and not has_too_many_sums(rows, s) else None
    if exact is not None:
        return exact
    plateau = _rare_plateau(rows) if depth < _DEEPEST else None
    return (
        tail_by_inversion(rows, s, nodes) if plateau is None else _tail_by_plateau(rows, plateau, s, depth + 1, nodes)
    )


def _as_chance(p: float) -> float:
    """A chance; what is smaller than any float is the smallest one, for it is not zero."""
    return min(1.0, max(math.ulp(0.0), float(p)))


def log_none(rows: BernoulliSum) -> float:
    """The logarithm of the chance that nothing fires."""
    return float((rows.count * np.where(rows.p < 0.5, np.log1p(-np.minimum(rows.p, 0.5)), np.log(rows.q))).sum())


def _rare_plateau(rows: BernoulliSum) -> int | None:
    """The row, or rows of one weight, if any, far above the spread of all lighter ones, and seldom firing."""
    if not rows.is_exact:
        return None
    order = np.argsort(rows.weight, kind="stable")
    variances = (rows.count * rows.p * rows.q * rows.weight**2)[order]
    lighter = np.sqrt(np.cumsum(variances) - variances)
    candidates = np.flatnonzero(
        (lighter > 0)
        & (rows.weight[order] > _FAR * lighter)
        & ((rows.count * rows.p)[order] < _SELDOM)
        & (variances > variances.sum() / 10)
    )
    return int(order[candidates[-1]]) if len(candidates) else None


def _tail_by_plateau(rows: BernoulliSum, plateau: int, s: float, depth: int, nodes: int) -> Tail:
    """The tail by how many rows of a plateau fire: it and the others live on scales that no grid holds together."""
    others = rows[np.arange(len(rows.p)) != plateau]
    count, chance, weight = rows.count[plateau], rows.p[plateau], float(rows.weight[plateau])
    enough = min(math.ceil(s * (1 - SAME) / weight), round(count) + 1)
    p = mid = float(more_than(enough - 1, count, chance))
    if abs(enough * weight - s) <= SAME * s:
        mid -= float(probability_of(enough, count, chance)) * math.exp(log_none(others)) / 2
    # the fewer fire, the more the others have to reach: until what is left cannot matter
    for fired in range(enough - 1, -1, -1):
        # the difference keeps the rounding of what it was taken from
        left = s - fired * weight - ROUNDING * s
        tail, mass = upper_tail(others, left, depth, nodes), float(probability_of(fired, count, chance))
        p, mid = p + mass * tail.p, mid + mass * tail.mid
        if tail.p * float(at_most(fired - 1, count, chance)) <= _NEGLIGIBLE * p:
            break
    return Tail(p, mid)

"""How large an overstatement of a group has to be to be found, by the tests that flag groups."""

from __future__ import annotations

import math

import numpy as np

from surefoot._stats.roots import root
from surefoot.core.table import Floats
from surefoot.risk.law.bernoulli_sum import BernoulliSum
from surefoot.risk.law.null import upper_tail
from surefoot.risk.law.strata import Strata
from surefoot.search.candidates import against_rest, log_pvalues
from surefoot.search.found import Detectable

#: Shares of all rows for which it is said what can be found.
_SHARES = (0.01, 0.05, 0.2)
#: The share of cases in which it would be.
_POWER = 0.8
#: How exactly the part of the confidence that is too much is found.
_CLOSE = 1e-9


def detectable(whole: Strata, factors: tuple[float, float], level: float, least: int) -> tuple[Detectable, ...]:
    """What would be found among groups of a few sizes whose confidences are like those of all rows."""
    n, mean = float(whole.n[0]), float(whole.mean[0])
    found = []
    for share in _SHARES:
        size = math.floor(share * n)
        if size < least or not 0 < mean < n:
            continue
        group, rest = _parted(whole, size)
        reach = (_reach(group, rest, factor, level) if factor else None for factor in factors)
        found.append(Detectable(share, size, *reach))
    return tuple(found)


def _parted(whole: Strata, size: int) -> tuple[Strata, Strata]:
    """So many rows with the confidences of all rows, and the other rows; both with the expected errors."""
    rows = whole.rows[0]
    chances = np.divide(whole.expected[0], rows, out=np.zeros_like(rows), where=rows > 0).clip(0.0, 1.0)
    own = np.diff(np.round(rows.cumsum() * (size / rows.sum())), prepend=0.0)
    group, rest = (
        Strata(each[None], (each * chances)[None], (each * chances)[None], (each * chances)[None])
        for each in (own, rows - own)
    )
    return group, rest


def _reach(group: Strata, rest: Strata, factor: float, level: float) -> float | None:
    """The least overstatement that is found so often; None if none is, were every row wrong."""
    n, mean = round(float(group.n[0])), float(group.mean[0])
    fewest = _fewest_flagged(group, n, math.floor(mean), factor, level)
    if fewest is None:
        return None

    def power(part: float) -> float:
        """Where each confidence is too high by the same part of it."""
        return min(_chance_of(group, part, fewest), _chance_to_stand_out(group, rest, part, factor, level)) - _POWER

    return root(power, 0.0, 1.0, _CLOSE) * (n - mean) / n if power(1.0) >= 0 else None


def _fewest_flagged(group: Strata, n: int, mean: int, factor: float, level: float) -> int | None:
    """The fewest errors that are flagged; None if no number is."""

    def is_flagged(errors: int) -> bool:
        # of errors, only the number counts
        held = np.zeros_like(group.rows)
        held[0, 0] = errors
        one = Strata(group.rows, held, group.expected, group.least)
        return bool(log_pvalues(one, factor, level)[0] <= math.log(level))

    if not is_flagged(n):
        return None
    few, enough = mean, n
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if is_flagged(middle) else (middle, enough)
    return enough


def _right(group: Strata, part: float) -> tuple[Floats, Floats]:
    """The rows of each stratum, and how likely they are right."""
    held = group.rows[0] > 0
    rows = group.rows[0][held]
    right: Floats = (1 - part) * (1 - group.expected[0][held] / rows)
    return rows, right


def _chance_of(group: Strata, part: float, errors: int) -> float:
    """The chance of so many errors or more."""
    rows, right = _right(group, part)
    return upper_tail(BernoulliSum(1 - right, right, np.ones(len(right)), rows), errors).p


def _chance_to_stand_out(group: Strata, rest: Strata, part: float, factor: float, level: float) -> float:
    """The chance to err otherwise than the rest does, normally distributed as in that test."""
    from scipy.special import ndtr, ndtri

    errors = group.expected + part * (group.rows - group.expected)
    differs, if_alike = against_rest(Strata(group.rows, errors, group.expected, group.least), rest)
    share = float(group.n[0] / (group.n[0] + rest.n[0]))
    (rows, right), (others, of_others) = _right(group, part), _right(rest, 0.0)
    variance = float((rows * right * (1 - right)).sum()) * (1 - share) ** 2
    variance += float((others * of_others * (1 - of_others)).sum()) * share**2
    needed = -float(ndtri(level / (2 * factor))) * math.sqrt(float(if_alike[0]))
    return float(ndtr((float(differs[0]) - needed) / math.sqrt(variance)))

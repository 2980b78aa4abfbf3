"""The groups that are looked at, and which of them are flagged: the level is shared by all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats
from surefoot.risk.law.strata import Strata, log_bounds, pvalue
from surefoot.search.sums import Group

#: Chernoff's bound may be so many times the p-value: within that, the p-value itself is computed.
_LOOSE = 100.0

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Candidates:
    """Groups of one kind: of one column, or of a pair of columns."""

    groups: Sequence[Group]
    strata: Strata
    #: What each has to differ from: the rest of all rows, or the rest of either column's group.
    rests: Sequence[Strata]

    def __len__(self) -> int:
        return len(self.groups)

    @staticmethod
    def joined(parts: Sequence[Candidates]) -> Candidates:
        """Several of one kind as one; without any, none."""
        parts = [part for part in parts if len(part)]
        if not parts:
            nothing = np.zeros((0, 1))
            return Candidates([], Strata(nothing, nothing, nothing, nothing), [])
        rests = [_stack(each) for each in zip(*(part.rests for part in parts), strict=True)]
        groups = [group for part in parts for group in part.groups]
        return Candidates(groups, _stack([part.strata for part in parts]), rests)

    def of(self, features: Sequence[int]) -> Candidates:
        """Those of some features."""
        kept = np.array([all(i in features for i, _ in group) for group in self.groups], dtype=bool)
        groups = [group for group, is_kept in zip(self.groups, kept, strict=True) if is_kept]
        return Candidates(groups, self.strata[kept], [rest[kept] for rest in self.rests])


def singles(tables: Sequence[Strata], whole: Strata, least: int) -> Candidates:
    """The groups of one column that have enough rows, and are not all rows."""
    groups: list[Group] = []
    parts = []
    for feature, table in enumerate(tables):
        places = np.flatnonzero((table.n >= least) & (table.n < whole.n[0]))
        places = places[places > 0]
        groups += [((feature, int(place)),) for place in places]
        parts.append(table[places])
    strata = _stack(parts)
    return Candidates(groups, strata, [_repeat(whole, len(groups)) - strata])


def pairs(pair: tuple[int, int], table: Strata, one: Strata, other: Strata, least: int) -> Candidates:
    """The groups of a pair of columns, given the tables of both; what is all of a group of one column is none."""
    first, second = (index.ravel() for index in np.indices((len(one.n), len(other.n))))
    n = table.n
    kept = (n >= least) & (n < one.n[first]) & (n < other.n[second]) & (first > 0) & (second > 0)
    at = np.flatnonzero(kept)
    groups: list[Group] = [((pair[0], int(first[i])), (pair[1], int(second[i]))) for i in at]
    strata = table[at]
    return Candidates(groups, strata, [one[first[at]] - strata, other[second[at]] - strata])


def most_groups(one: Strata, other: Strata, rows: float, least: int) -> int:
    """How many groups a pair of columns has at most."""
    many = [int((table.n[1:] >= least).sum()) for table in (one, other)]
    return min(many[0] * many[1], int(rows // least))


def log_pvalues(strata: Strata, factor: float, level: float) -> Floats:
    """Logarithms of two-sided p-values times a factor, never too small; close where it decides on the level."""
    found = log_bounds(strata) + math.log(2 * factor)
    near = (found > math.log(level)) & (found <= math.log(level * _LOOSE))
    for i in np.flatnonzero(near):
        p = pvalue(strata[i : i + 1])
        found[i] = min(found[i], (math.log(p) if p else -math.inf) + math.log(2 * factor))
    closer: Floats = np.minimum(found, 0.0)
    return closer


def stand_out(strata: Strata, rest: Strata, factor: float, level: float) -> Flags:
    r"""Which groups err otherwise than the rest does at the same confidence, to the side on which they are flagged.

    In each band of confidence both share one ratio of observed to expected errors, if the rest tells all; then
    :math:`\sum_b (k_b - \rho_b d_b)` of the group is 0 on average. Its p-value is normal, so approximate; it takes
    groups away and adds none.
    """
    from scipy.special import log_ndtr

    differs, variance = against_rest(strata, rest)
    z = np.divide(differs, np.sqrt(variance), out=np.zeros_like(differs), where=variance > 0)
    over = strata.has_too_many
    is_worse = np.where(over, z > 0, z < 0)
    found: Flags = is_worse & (log_ndtr(-np.abs(z)) + math.log(2 * factor) <= math.log(level))
    return found


def against_rest(strata: Strata, rest: Strata) -> tuple[Floats, Floats]:
    """How many errors more groups have than the rest has at the same confidence, and the variance if both are alike."""
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = strata.expected + rest.expected
        ratio = np.where(expected > 0, (strata.errors + rest.errors) / expected, 0.0)
        part = np.where(expected > 0, strata.expected / expected, 0.0)
        own, others = (_variance(one, ratio) for one in (strata, rest))
        differs = (strata.errors - ratio * strata.expected).sum(axis=1)
        variance = (own * (1 - part) ** 2 + others * part**2).sum(axis=1)
    return differs, variance


def _variance(strata: Strata, ratio: Floats) -> Floats:
    share = np.where(strata.rows > 0, ratio * strata.expected / strata.rows, 0.0).clip(0.0, 1.0)
    variance: Floats = strata.rows * share * (1 - share)
    return variance


def _stack(parts: Sequence[Strata]) -> Strata:
    return Strata(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "errors", "expected", "least"))
    )


def _repeat(whole: Strata, times: int) -> Strata:
    return whole[np.zeros(times, dtype=np.intp)]

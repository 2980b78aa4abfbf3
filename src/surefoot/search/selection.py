"""Of flagged groups those that are reported: each has to add something to the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from surefoot.search.candidates import log_pvalues, stand_out
from surefoot.search.sums import Group, Sums

#: Groups that are looked at closely, the strongest evidence first.
MOST = 50


@dataclass(frozen=True)
class Flagged:
    """A group that is flagged and stands out."""

    group: Group
    log_p: float
    #: What its p-value is multiplied by.
    factor: float


def select(
    flagged: Sequence[Flagged], sums: Sums, *, least: int, level: float, tick: Callable[[int], None]
) -> list[Flagged]:
    """The groups that are reported.

    From the strongest evidence on, a group is taken if its rows outside those that were taken are still flagged and
    stand out from what is left of all rows; then, from the weakest back, one is dropped if the others leave no such
    rows. A group of one column does not take away from its own parts, each of which differs from the rest of it.
    """

    def adds(one: Flagged, others: Sequence[Flagged]) -> bool:
        apart = [other.group for other in others if other is not one and not is_part(one.group, other.group)]
        if not apart:
            return True
        own = sums.outside(one.group, apart)
        if own.n[0] < least or log_pvalues(own, one.factor, level)[0] > math.log(level):
            return False
        rest = sums.outside((), [one.group, *apart])
        return bool(stand_out(own, rest, one.factor, level)[0])

    taken: list[Flagged] = []
    for done, one in enumerate(sorted(flagged, key=_rank)[:MOST], 1):
        if adds(one, taken):
            taken.append(one)
        tick(done)
    for one in taken[::-1]:
        if not adds(one, taken):
            taken.remove(one)
    return taken


def _rank(one: Flagged) -> tuple[float, int, Group]:
    """The strongest evidence first; where only the order of additions differs, the simpler and earlier group."""
    return float(f"{one.log_p:.9e}"), len(one.group), one.group


def is_part(group: Group, other: Group) -> bool:
    """Whether a group is a part of another, of one of its columns."""
    return len(other) < len(group) and set(other) <= set(group)

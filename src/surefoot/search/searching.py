"""The search itself: tables of groups, the flagged ones, those that are reported, and what could have been missed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from surefoot._stats.binomial import limits
from surefoot.predictions import Predictions
from surefoot.risk.law.strata import Strata, pvalue
from surefoot.search.candidates import Candidates, log_pvalues, most_groups, pairs, singles, stand_out
from surefoot.search.features import LeftOut
from surefoot.search.found import Direction, FoundSlice, FoundSlices, Search
from surefoot.search.reach import detectable
from surefoot.search.selection import MOST, Flagged, select
from surefoot.search.sums import Sums

#: Columns whose pairs are searched; of more, those in which a single group has the strongest evidence.
BEAM = 32
#: Why a column is left out in which every group is all right or all wrong.
_LEAK = "it tells the outcome: in each of its groups all rows are right, or all are wrong"

#: Told how much of the work is done, from 0 to 1.
Progress = Callable[[float], None]


def search(
    predictions: Predictions, sums: Sums, left_out: Sequence[LeftOut], level: float, least: int, progress: Progress
) -> FoundSlices:
    """The slices of some features, and what was looked at."""
    whole = sums.outside((), [])
    tables = sums.tables([(i,) for i in range(len(sums.features))], lambda done: None)
    alone = singles(tables, whole, least)
    told = {i for i, table in enumerate(tables) if _tells_outcome(table, least)}
    usable = [i for i in range(len(tables)) if i not in told]
    progress(0.35)
    together, searched, many = _together(sums, tables, _beam(usable, alone, level), whole, least, progress)
    # half of the level for groups of one column and half for pairs, if there are both
    factors = (len(alone) * (2.0 if many else 1.0), many * 2.0)
    flagged: list[Flagged] = []
    like_others = 0
    for kind, factor in ((alone.of(usable), factors[0]), (together, factors[1])):
        own, others = _flagged(kind, factor, level)
        flagged, like_others = [*flagged, *own], like_others + others
    steps = max(1, min(len(flagged), MOST))
    taken = select(flagged, sums, least=least, level=level, tick=lambda done: progress(0.85 + 0.15 * done / steps))
    is_event = predictions.view == "event"
    rows, stated = float(whole.n[0]), float(whole.mean[0] / whole.n[0])
    low, high = limits(float(whole.observed[0]), rows)
    looked = Search(
        rows=round(rows),
        level=float(level),
        min_rows=int(least),
        columns=tuple(sums.features[i].name for i in usable),
        left_out={one.name: one.why for one in left_out} | {sums.features[i].name: _LEAK for i in sorted(told)},
        notes={sums.features[i].name: sums.features[i].note for i in usable if sums.features[i].note},
        groups_of_one=len(alone),
        groups_of_two=many,
        pairs=searched,
        all_pairs=math.comb(len(tables), 2),
        overstatement=float(whole.overstatement[0]),
        overstatement_interval=(float(low) - stated, float(high) - stated),
        like_others=like_others,
        overlapping=len(flagged) - len(taken),
        detectable=detectable(whole, factors, level, least),
        is_event=is_event,
        not_attempted=int(predictions.not_attempted),
    )
    slices = [_slice(one, sums, whole, level, is_event=is_event) for one in taken]
    progress(1.0)
    return FoundSlices(sorted(slices, key=_severity, reverse=True), looked)


def _together(
    sums: Sums, tables: Sequence[Strata], columns: Sequence[int], whole: Strata, least: int, progress: Progress
) -> tuple[Candidates, int, int]:
    """The groups of pairs of some columns, how many pairs, and how many such groups all columns have at most.

    The level is shared by the groups of all pairs, searched or not: which are searched depends on outcomes.
    """
    chosen = list(combinations(sorted(columns), 2))
    steps = max(1, len(chosen))
    found = sums.tables(chosen, lambda done: progress(0.35 + 0.5 * done / steps)) if chosen else []
    together = Candidates.joined(
        [pairs((i, j), table, tables[i], tables[j], least) for (i, j), table in zip(chosen, found, strict=True)]
    )
    others = set(combinations(range(len(tables)), 2)) - set(chosen)
    rows = float(whole.n[0])
    return together, len(chosen), len(together) + sum(most_groups(tables[i], tables[j], rows, least) for i, j in others)


def _flagged(kind: Candidates, factor: float, level: float) -> tuple[list[Flagged], int]:
    """The groups that are flagged and stand out, and how many are flagged and do not."""
    if not len(kind):
        return [], 0
    logs = log_pvalues(kind.strata, factor, level)
    is_flagged = logs <= math.log(level)
    stands = is_flagged.copy()
    for rest in kind.rests:
        stands[is_flagged] &= stand_out(kind.strata[is_flagged], rest[is_flagged], factor, level)
    kept = [Flagged(kind.groups[i], float(logs[i]), factor) for i in np.flatnonzero(stands).tolist()]
    return kept, int((is_flagged & ~stands).sum())


def _tells_outcome(table: Strata, least: int) -> bool:
    """Whether a column seems to be made of the outcome."""
    held = table.n > 0
    rows, errors = table.n[held], table.observed[held]
    is_wrong, is_right = errors == rows, errors == 0
    return bool(
        (is_wrong | is_right).all() and (is_wrong & (rows >= least)).any() and (is_right & (rows >= least)).any()
    )


def _beam(usable: Sequence[int], alone: Candidates, level: float) -> list[int]:
    """The columns whose pairs are searched: all, or those with the strongest evidence in a group."""
    if len(usable) <= BEAM or not len(alone):
        return list(usable)
    logs = log_pvalues(alone.strata, 1.0, level)
    best = dict.fromkeys(usable, 0.0)
    for group, log_p in zip(alone.groups, logs, strict=True):
        if group[0][0] in best:
            best[group[0][0]] = min(best[group[0][0]], float(log_p))
    return sorted(usable, key=lambda i: best[i])[:BEAM]


def _slice(one: Flagged, sums: Sums, whole: Strata, level: float, *, is_event: bool) -> FoundSlice:
    own = sums.outside(one.group, [])
    rest = whole - own
    n, errors, expected = float(own.n[0]), float(own.observed[0]), float(own.mean[0])
    p = min(1.0, 2 * pvalue(own), math.exp(one.log_p - math.log(one.factor)))
    low, high = limits(errors, n, 1 - level / one.factor)
    over = bool(own.has_too_many[0])
    direction: Direction = (
        ("overpredicts" if over else "underpredicts") if is_event else ("overconfident" if over else "underconfident")
    )
    return FoundSlice(
        conditions=tuple(sums.features[i].conditions[place - 1] for i, place in one.group),
        direction=direction,
        rows=round(n),
        share=n / float(whole.n[0]),
        expected_errors=n - expected if is_event else expected,
        observed_errors=n - errors if is_event else errors,
        overstatement=(errors - expected) / n,
        overstatement_interval=(float(low) - expected / n, float(high) - expected / n),
        pvalue=p,
        pvalue_adjusted=min(1.0, p * one.factor),
        elsewhere=float(rest.overstatement[0]),
    )


def _severity(one: FoundSlice) -> tuple[float, float]:
    """The overstatement that is left at the near end of the interval, whichever its sign, and then its size."""
    low, high = one.overstatement_interval
    return (low if one.overstatement > 0 else -high), abs(one.overstatement)

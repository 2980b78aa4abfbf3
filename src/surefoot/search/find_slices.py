"""Which groups of rows have confidences that cannot be trusted?"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from os import PathLike
from typing import Any, Unpack

import numpy as np

from surefoot._io.arguments import check_level, check_whole
from surefoot._stats.binomial import limits
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions, FramePredictions, Predictions, as_predictions
from surefoot.predictions.arguments import Columns, file_arguments, named_columns, refuse_beside
from surefoot.predictions.dataframe import FrameColumns, is_frame, open_frame
from surefoot.risk.law.strata import Strata, pvalue
from surefoot.search.candidates import Candidates, log_pvalues, most_groups, pairs, singles, stand_out
from surefoot.search.features import Feature, LeftOut, listed, read_column
from surefoot.search.found import Detectable, Direction, FoundSlice, FoundSlices, Search
from surefoot.search.lazy_features import read_lazy_columns
from surefoot.search.selection import MOST, Flagged, select
from surefoot.search.sums import BANDS, FrameSums, RowSums, Sums

#: Columns whose pairs are searched; of more, those in which a single group has the strongest evidence.
BEAM = 32
#: Shares of all rows for which it is said what can be found.
_SHARES = (0.01, 0.05, 0.2)
#: The share of cases in which it would be.
_POWER = 0.8

#: Told how much of the work is done, from 0 to 1.
Progress = Callable[[float], None]


def find_slices(
    x: Any,
    frame: Any = None,
    *,
    columns: str | Sequence[str] | None = None,
    level: float = 0.05,
    min_rows: int = 50,
    **names: Unpack[Columns],
) -> FoundSlices:
    r"""Find the groups of rows whose confidences cannot be trusted.

    Looks at every value of every column, at numbers in ten bins of equal rows, and at every pair of them, and reports
    the groups with more errors, or fewer, than their confidences imply. If all confidences are right, any group at all
    is reported with probability at most ``level``, however many were looked at.

    Parameters
    ----------
    x : Predictions, dataframe, or path
        :class:`Predictions`; or a dataframe, or the name of a file, from which predictions are read as by
        :func:`assess`. Frames may be lazy (Polars, DuckDB, PySpark, Dask): rows then stay where they are.
    frame : dataframe, optional
        The columns to search, of the same rows in the same order; by default those of ``x`` that are not used for
        predictions.
    columns : str or list of str, optional
        The columns to search; by default all.
    level : float, default=0.05
        The chance that any group is reported if all confidences are right.
    min_rows : int, default=50
        The fewest rows of a group.
    **names : str or object
        Where ``x`` is a dataframe or a file, the names of the columns of predictions and how to read them: ``y_true``
        (or ``truth``), ``y_pred``, ``confidence``, ``correct``, ``probabilities``, ``pos_label``, ``of`` and the
        others of :func:`assess`.

    Returns
    -------
    FoundSlices
        A list of :class:`FoundSlice`, worst first; empty if nothing was found. Its ``search`` says what was looked at,
        what was left out, and how large an overstatement would have been found.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    InvalidPredictions
        If the data are not valid predictions, their weights differ, or a column is not there.

    See Also
    --------
    assess : with ``by=``, the slices of a column that you know.

    Notes
    -----
    The null hypothesis of a group is that its rows are correct independently of each other, each with the probability
    that its confidence states. Its p-value is that of the number of errors, exact but for rows averaged within 15 bands
    of confidence, which never makes it too small; it is multiplied by twice the number of groups of one column, or by
    twice that of pairs. Which groups there are depends on the columns alone, not on outcomes.

    A group is reported if it also errs otherwise than other rows of the same confidence, and if its rows outside the
    other reported groups still do; a group of two columns, if it differs from the rest of either. This only ever takes
    groups away.

    Rows that belong together (of one patient, or one prompt) are not independent; give one row of each.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"confidence": rng.uniform(0.7, 1, 5000), "site": rng.choice(list("abcdefgh"), 5000)})
    >>> frame["correct"] = rng.random(5000) < frame["confidence"] - 0.2 * (frame["site"] == "c")
    >>> (found,) = find_slices(frame)
    >>> found.name, found.direction, round(found.overstatement, 2)
    ('site = c', 'overconfident', 0.19)
    """
    check_level(level)
    check_whole("min_rows", min_rows, 2)
    if "groups" in names:
        raise InvalidPredictions(
            "find_slices takes no groups: it takes rows that are independent of each other",
            hint="give one row of each group, drawn at random",
        )
    wanted = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
    if isinstance(x, str | PathLike):
        refuse_beside("find_slices(file)", frame)
        named, options = file_arguments(named_columns(names, "find_slices"))
        read = import_module("surefoot.files.features").read_features
        return find_in(read(os.fspath(x), named, columns=wanted, **options), level=level, min_rows=min_rows)
    if is_frame(x) and frame is None:
        named = named_columns(names, "find_slices")
        predictions, frame = as_predictions(x, columns=named, function="find_slices"), x
        used = _used(x, named)
        outcome = {str(name) for role in ("truth", "correct") for name in used.get(role, ())}
        roles = {str(name) for names_of_role in used.values() for name in names_of_role}
        return _find(predictions, frame, wanted, roles, outcome, level, min_rows)
    predictions = as_predictions(x, columns=named_columns(names, "find_slices"), function="find_slices")
    if isinstance(predictions, FramePredictions):
        if frame is not None or wanted is None:
            raise InvalidPredictions(
                "find_slices of predictions in a lazy frame searches columns of that frame",
                hint="name them with columns=, without frame=; or give the frame as x, with the names of its columns",
            )
        return _find(predictions, predictions.frame, wanted, set(), set(), level, min_rows)
    if frame is None:
        raise InvalidPredictions("is missing", argument="frame", hint="give the columns of the same rows as a dataframe")
    return _find(predictions, frame, wanted, set(), set(), level, min_rows)


def find_in(held: Any, *, level: float, min_rows: int, progress: Progress = lambda share: None) -> FoundSlices:
    """From a file that was read: its predictions, its other columns as a frame, and which were used."""
    found = _find(held.predictions, held.frame, held.columns, set(), set(), level, min_rows, progress)
    found.search = replace(found.search, source=held.source, columns_used=held.columns_used)
    return found


def _find(
    predictions: Predictions,
    frame: Any,
    wanted: list[str] | None,
    used: set[str],
    outcome: set[str],
    level: float,
    least: int,
    progress: Progress = lambda share: None,
) -> FoundSlices:
    if predictions.view == "classes":
        raise InvalidPredictions(
            "slices are not found of all classes at once", argument="of", hint="use of='event' with pos_label="
        )
    if not predictions.has_equal_weights:
        raise InvalidPredictions(
            "find_slices counts errors of rows that count alike, and these have unequal weights",
            hint="leave the weights out",
        )
    opened = open_frame(frame)
    names = _names(opened.collect_schema().names(), wanted, used, outcome)
    if isinstance(predictions, FramePredictions):
        sums, left_out = _of_frame(predictions, names, least)
    else:
        sums, left_out = _of_rows(predictions.rows("find_slices"), opened, names, least, progress)
    if not sums.features:
        why = "; ".join(f"{one.name} {one.why}" for one in left_out[:3])
        raise InvalidPredictions(
            f"there is no column to search ({why or 'the frame has no others'})", argument="columns",
            hint="give columns of categories or numbers",
        )
    return _search(predictions, sums, left_out, level, least, progress)


def _names(there: Sequence[Any], wanted: list[str] | None, used: set[str], outcome: set[str]) -> list[str]:
    """The columns to search."""
    if wanted is None:
        return [str(name) for name in there if str(name) not in used and not str(name).startswith("sf_")]
    for name in wanted:
        if name not in there:
            raise InvalidPredictions(
                f"is not a column of the frame, which has {listed([str(one) for one in there])}",
                argument="columns", value=name,
            )
        if name in outcome:
            raise InvalidPredictions(
                "tells whether rows are correct, so its groups would be made by the outcome",
                argument="columns", value=name, hint="leave it out",
            )
    return list(dict.fromkeys(wanted))


def _used(frame: Any, named: dict[str, Any]) -> dict[str, list[Any]]:
    """The columns that predictions were read from, by role."""
    roles = {"truth": "y_true", "predicted": "y_pred", "weight": "sample_weight"}
    own = ("confidence", "doubt", "correct", "probabilities", "attempted")
    given = {**{role: named.get(name) for role, name in roles.items()}, **{name: named.get(name) for name in own}}
    return FrameColumns(frame, given).used()


def _of_rows(
    rows: ArrayPredictions, frame: Any, names: Sequence[str], least: int, progress: Progress
) -> tuple[Sums, list[LeftOut]]:
    if not hasattr(frame, "iter_columns"):
        raise InvalidPredictions(
            "is lazy, but the predictions are in memory", argument="frame", hint="collect it, or give it as x"
        )
    kept = None
    if rows.attempted is not None and len(frame) == len(rows.attempted):
        kept = rows.attempted
    elif len(frame) != len(rows):
        raise InvalidPredictions(
            f"has {len(frame):,} rows, and there are {len(rows):,} predictions", argument="frame",
            hint="give the columns of the same rows in the same order",
        )
    features, codes, left_out = [], [], []
    every = dict(zip(map(str, frame.columns), frame.iter_columns(), strict=True))
    for done, name in enumerate(names):
        column = every[name] if kept is None else every[name].filter(kept.tolist())
        read = read_column(column, least)
        if isinstance(read, LeftOut):
            left_out.append(read)
        else:
            features.append(read[0])
            codes.append(read[1])
        progress(0.3 * (done + 1) / len(names))
    return RowSums(rows, features, codes), left_out


def _of_frame(predictions: FramePredictions, names: Sequence[str], least: int) -> tuple[Sums, list[LeftOut]]:
    read, left_out = read_lazy_columns(predictions.frame, names, least)
    return FrameSums(predictions, [feature for feature, _ in read], [place for _, place in read]), left_out


def _search(
    predictions: Predictions, sums: Sums, left_out: Sequence[LeftOut], level: float, least: int, progress: Progress
) -> FoundSlices:
    whole = sums.outside((), [])
    tables = sums.tables([(i,) for i in range(len(sums.features))], lambda done: None)
    alone = singles(tables, whole, least)
    told = {LeftOut(sums.features[i].name, _LEAK) for i, table in enumerate(tables) if _tells_outcome(table, least)}
    usable = [i for i, feature in enumerate(sums.features) if feature.name not in {one.name for one in told}]
    searched = list(combinations(sorted(_beam(usable, alone, level)), 2))
    every = list(combinations(range(len(sums.features)), 2))
    progress(0.35)
    steps = max(1, len(searched))
    found_tables = sums.tables(searched, lambda done: progress(0.35 + 0.5 * done / steps)) if searched else []
    together = Candidates.none(BANDS)
    for (i, j), table in zip(searched, found_tables, strict=True):
        together = together.joined(pairs((i, j), table, tables[i], tables[j], least))
    rows = float(whole.n[0])
    many = len(together) + sum(
        most_groups(tables[i], tables[j], rows, least) for i, j in every if (i, j) not in set(searched)
    )
    # half of the level for either kind, if there are both
    factors = (len(alone) * (2.0 if many else 1.0), many * 2.0)
    usable_alone = np.array([group[0][0] in set(usable) for group in alone.groups], dtype=bool)
    flagged, like_others = [], 0
    for kind, factor in ((alone, factors[0]), (together, factors[1])):
        if not len(kind):
            continue
        logs = log_pvalues(kind.strata, factor, level)
        is_flagged = logs <= math.log(level)
        if kind is alone:
            is_flagged &= usable_alone
        stands = is_flagged.copy()
        for rest in kind.rests:
            stands[is_flagged] &= stand_out(kind.strata[is_flagged], rest[is_flagged], factor, level)
        like_others += int((is_flagged & ~stands).sum())
        flagged += [Flagged(kind.groups[i], float(logs[i]), factor) for i in np.flatnonzero(stands)]
    examined = min(len(flagged), MOST)
    done = iter(range(1, examined + 1))
    taken = select(
        flagged, sums, least=least, level=level, tick=lambda: progress(0.85 + 0.15 * next(done) / max(1, examined))
    )
    is_event = predictions.view == "event"
    slices = [_slice(one, sums, whole, level, is_event=is_event) for one in taken]
    low, high = limits(float(whole.observed[0]), rows)
    stated = float(whole.mean[0]) / rows
    search = Search(
        rows=round(rows),
        level=float(level),
        min_rows=int(least),
        columns=tuple(sums.features[i].name for i in usable),
        left_out={one.name: one.why for one in (*left_out, *sorted(told, key=lambda one: one.name))},
        notes={feature.name: feature.note for feature in sums.features if feature.note},
        groups_of_one=len(alone),
        groups_of_two=many,
        pairs=len(searched),
        all_pairs=len(every),
        overstatement=float(whole.overstatement[0]),
        overstatement_interval=(float(low) - stated, float(high) - stated),
        like_others=like_others,
        overlapping=len(flagged) - len(taken),
        detectable=_detectable(whole, factors, level, least),
        is_event=is_event,
        not_attempted=int(predictions.not_attempted),
    )
    progress(1.0)
    return FoundSlices(sorted(slices, key=_severity, reverse=True), search)


#: Why a column is left out in which every group is all right or all wrong.
_LEAK = "tells the outcome: in each of its groups every row is right, or every row is wrong"


def _tells_outcome(table: Strata, least: int) -> bool:
    """Whether a column seems to be made of the outcome."""
    held = table.n > 0
    rows, errors = table.n[held], table.observed[held]
    is_wrong, is_right = errors == rows, errors == 0
    return bool((is_wrong | is_right).all() and (is_wrong & (rows >= least)).any() and (is_right & (rows >= least)).any())


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
    direction: Direction = ("overpredicts" if over else "underpredicts") if is_event else (
        "overconfident" if over else "underconfident"
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


def _detectable(whole: Strata, factors: tuple[float, float], level: float, least: int) -> tuple[Detectable, ...]:
    """What would be found among groups of a few sizes whose confidences are like those of all rows."""
    from scipy.special import ndtri

    rows = whole.rows[0]
    share = np.divide(whole.expected[0], rows, out=np.zeros_like(rows), where=rows > 0).clip(0.0, 1.0)
    variance = float((rows * share * (1 - share)).sum() / rows.sum())
    found = []
    for part in _SHARES:
        size = math.floor(part * rows.sum())
        if size < least or not variance:
            continue
        reach = [
            (float(-ndtri(level / (2 * factor))) + float(ndtri(_POWER))) * math.sqrt(variance / size) if factor else 1.0
            for factor in factors
        ]
        found.append(Detectable(part, size, *(one if one < 1 else None for one in reach)))
    return tuple(found)

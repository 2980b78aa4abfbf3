"""Which groups of rows have confidences that cannot be trusted?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike
from typing import Any, Unpack

from surefoot._io.arguments import check_level, check_whole
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions, FramePredictions, Predictions, as_predictions
from surefoot.predictions.arguments import Columns, file_arguments, named_columns, refuse_beside
from surefoot.predictions.dataframe import FrameColumns, is_frame, open_frame
from surefoot.search.features import LeftOut, listed, read_column
from surefoot.search.found import FoundSlices
from surefoot.search.lazy_features import read_lazy_columns
from surefoot.search.searching import Progress, search
from surefoot.search.sums import FrameSums, RowSums, Sums


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
        :func:`assess`. Frames may be lazy (Polars, DuckDB, Dask): rows then stay where they are.
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
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"confidence": rng.uniform(0.7, 1, 5000), "site": rng.choice(list("abcdefgh"), 5000)})
    >>> frame["correct"] = rng.random(5000) < frame["confidence"] - 0.2 * (frame["site"] == "c")
    >>> (found,) = find_slices(frame)
    >>> found.name, found.direction, round(found.overstatement, 2)
    ('site = c', 'overconfident', 0.18)
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
        raise InvalidPredictions(
            "is missing", argument="frame", hint="give the columns of the same rows as a dataframe"
        )
    return _find(predictions, frame, wanted, set(), set(), level, min_rows)


def find_in(held: Any, *, level: float, min_rows: int, progress: Progress = lambda share: None) -> FoundSlices:
    """From a file that was read: its predictions, its other columns as a frame, and which were used."""
    found = _find(held.predictions, held.frame, held.columns, set(), set(), level, min_rows, progress)
    found.search = replace(
        found.search,
        source=held.source,
        path=held.path,
        options=held.options,
        columns_used=held.columns_used,
        looks_grouped=held.looks_grouped,
        reading_notes=tuple(held.notes),
    )
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
        why = "; ".join(f"{one.name}: {one.why}" for one in left_out[:3])
        raise InvalidPredictions(
            f"there is no column to search ({why or 'the frame has no others'})",
            argument="columns",
            hint="give columns of categories or numbers",
        )
    return search(predictions, sums, left_out, level, least, progress)


def _names(there: Sequence[Any], wanted: list[str] | None, used: set[str], outcome: set[str]) -> list[str]:
    """The columns to search."""
    if wanted is None:
        return [str(name) for name in there if str(name) not in used and not str(name).startswith("sf_")]
    for name in wanted:
        if name not in there:
            raise InvalidPredictions(
                f"is not a column of the frame, which has {listed([str(one) for one in there])}",
                argument="columns",
                value=name,
            )
        if name in outcome:
            raise InvalidPredictions(
                "tells whether rows are correct, so its groups would be made by the outcome",
                argument="columns",
                value=name,
                hint="leave it out",
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
            f"has {len(frame):,} rows, and there are {len(rows):,} predictions",
            argument="frame",
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

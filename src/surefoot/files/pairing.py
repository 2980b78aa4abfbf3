"""The same rows of several models, found by their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot._io.printable import printable, printable_value
from surefoot.files.held import Reading
from surefoot.files.source import BadFile
from surefoot.predictions import ArrayPredictions

#: What names a row of a log: which question of which task, asked for the how manieth time.
LOGGED = ("task", "id", "epoch")


def names_in_common(readings: Mapping[str, Reading]) -> tuple[str, ...]:
    """What names a row of all models; nothing if some have no ids, or too many rows to hold.

    In logs ids name rows. In a table a column of that name may be anything: it names rows where no two of a model have
    the same, the models have some in common, and they do not stand in one order anyway.
    """
    shown = [one.shown for one in readings.values()]
    if any(table is None for table in shown):
        return ()
    common = tuple(name for name in LOGGED if all(name in table.column_names for table in shown))
    if "id" not in common or all(one.is_log for one in readings.values()):
        return common if "id" in common else ()
    if all(table.select(common).equals(shown[0].select(common)) for table in shown):
        return ()
    ids = [Counter(_ids(table, common)) for table in shown]
    is_named = all(len(own) == len(table) for own, table in zip(ids, shown, strict=True))
    # equal ids in another order: the rows are the same, and not in their places
    return common if (is_named and set(ids[0]).intersection(*ids[1:])) or all(own == ids[0] for own in ids) else ()


def _ids(table: Any, columns: tuple[str, ...]) -> list[Any]:
    """The values that name each row."""
    return list(zip(*([*map(_plain, table.column(name).to_pylist())] for name in columns), strict=True))


def paired(readings: Mapping[str, Reading], columns: tuple[str, ...]) -> dict[str, Reading]:
    """The rows that all models have, in one order, by the columns that name them; a note tells which are left out."""
    found: dict[str, dict[Any, int]] = {}
    orders: list[list[Any]] = []
    twice: BadFile | None = None
    for name, reading in readings.items():
        held = reading.held
        if not isinstance(held, ArrayPredictions) or reading.shown is None:
            raise BadFile("rows are too many to be paired by id; sort the files alike instead", file=reading.name)
        ids = _ids(reading.shown, columns)
        orders.append(ids)
        rows = {ids[row]: number for number, row in enumerate(held.row_numbers().tolist())}
        if len(rows) < len(held) and twice is None:
            ((most, _),) = Counter(ids).most_common(1)
            shown = ", ".join(printable_value(value) for value in most)
            twice = BadFile(
                f"two rows have the same {printable(' and '.join(columns))}: {shown}; name a column that tells them "
                "apart with --id",
                file=reading.name,
            )
        found[name] = rows
    if twice is not None:
        if any(ids != orders[0] for ids in orders):
            raise twice
        # the same ids in the same order: rows are paired as they stand
        return {name: replace(reading, shown=None) for name, reading in readings.items()}
    first = next(iter(found.values()))
    common = [one for one in first if all(one in rows for rows in found.values())]
    if not common:
        files = " and ".join(printable(reading.name) for reading in readings.values())
        named = printable(" and ".join(columns))
        raise BadFile(f"{files} have no row in common by {named}; name a column that all have with --id")
    kept = {name: _only(reading, [found[name][one] for one in common]) for name, reading in readings.items()}
    groups = [one.groups for one in kept.values() if one.groups is not None]
    if not groups or len(groups) == len(kept):
        return kept
    # one model was asked some questions more than once: whether that is so of these rows, its groups tell of all
    shared = groups[0] if len(np.unique(groups[0])) < len(common) else None
    return {name: replace(one, groups=shared) for name, one in kept.items()}


def rows_in_common(readings: Mapping[str, Reading]) -> str:
    """How many rows there are in each of several readings of the same rows, in words."""
    first: Any = next(iter(readings.values())).held
    return f"{len(first):,} {'row' if len(first) == 1 else 'rows'} in {'both' if len(readings) == 2 else 'all'}"


def _plain(value: Any) -> Any:
    """An id, the same whether a log holds it as a number or as text."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _only(reading: Reading, rows: list[int]) -> Reading:
    held: Any = reading.held
    chosen = np.array(rows)
    left, skipped = len(held) - len(rows), held.not_attempted
    groups = None if reading.groups is None else np.asarray(held.align("groups", reading.groups))[chosen]
    notes = list(reading.notes)
    if left:
        notes.append(f"{left:,} of {len(held):,} rows are left out: not all models have them.")
    if skipped:
        notes.append(f"{skipped:,} more rows were not attempted.")
    paired_rows = replace(held[chosen], _numbers=held.source_numbers()[chosen])
    return replace(reading, held=paired_rows, groups=groups, shown=None, notes=tuple(notes))

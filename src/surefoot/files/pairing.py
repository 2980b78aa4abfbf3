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


def paired(readings: Mapping[str, Reading], columns: tuple[str, ...]) -> dict[str, Reading]:
    """The rows that all models have, in one order, by the columns that name them; a note tells which are left out."""
    found: dict[str, dict[Any, int]] = {}
    for name, reading in readings.items():
        held = reading.held
        if not isinstance(held, ArrayPredictions) or reading.shown is None:
            raise BadFile("rows are too many to be paired by id; sort the files alike instead", file=reading.name)
        values = [reading.shown.column(column).to_pylist() for column in columns]
        ids = list(zip(*values, strict=True))
        rows = {ids[row]: number for number, row in enumerate(held.row_numbers().tolist())}
        if len(rows) < len(held):
            ((twice, _),) = Counter(ids).most_common(1)
            shown = ", ".join(printable_value(value) for value in twice)
            raise BadFile(
                f"two rows have the same {printable(' and '.join(columns))}: {shown}; name a column that tells them "
                "apart with --id",
                file=reading.name,
            )
        found[name] = rows
    first = next(iter(found.values()))
    common = [one for one in first if all(one in rows for rows in found.values())]
    if not common:
        files = " and ".join(printable(reading.name) for reading in readings.values())
        raise BadFile(f"{files} have no row in common by {printable(' and '.join(columns))}")
    return {name: _only(reading, [found[name][one] for one in common]) for name, reading in readings.items()}


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
    return replace(reading, held=held[chosen], groups=groups, shown=None, notes=tuple(notes))

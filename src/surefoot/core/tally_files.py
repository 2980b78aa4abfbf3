"""Saved tallies: JSON with a schema version, written whole, read with suspicion."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from surefoot._io import documents
from surefoot._io.documents import numbers
from surefoot.core.doubt_table import DoubtTable
from surefoot.core.keys import DOUBT_ITSELF, HALF
from surefoot.core.tally import Sums, Table, Tally
from surefoot.errors import InvalidTally

SCHEMA = 1


def save(tally: Tally, path: str | PathLike[str]) -> None:
    documents.write(path, "tally", SCHEMA, _packed(tally))


def load(path: str | PathLike[str]) -> Tally:
    return documents.read(path, "tally", SCHEMA, _unpacked, InvalidTally)


def _packed(tally: Tally) -> dict[str, Any]:
    slices = None
    if tally.slices is not None:
        slices = [{"value": value, **_packed(part)} for value, part in tally.slices.items()]
    return {
        "labels": None if tally.labels is None else list(tally.labels),
        "rounded": tally.rounded,
        "tables": {name: _packed_table(table) for name, table in tally.tables.items()},
        "slices": slices,
        "by": tally.by,
    }


def _packed_table(table: Table) -> dict[str, Any]:
    totals = {}
    for name, sums in table.totals.items():
        totals[name] = [numbers(sums.high)]
        if sums.low.any():
            totals[name].append(numbers(sums.low))
    return {"codes": table.codes.tolist(), "totals": totals, "steps": table.steps}


def _unpacked(document: dict[str, Any]) -> Tally:
    labels, rounded, slices = document["labels"], document["rounded"], document["slices"]
    if labels is not None and not (
        labels and all(isinstance(label, bool | int | str) for label in labels) and len({type(x) for x in labels}) == 1
    ):
        raise ValueError("labels are not of one kind")
    if labels is not None and len(set(labels)) != len(labels):
        raise ValueError("a label occurs twice")
    if not isinstance(rounded, int) or rounded < 0:
        raise ValueError(f"rounded is {rounded!r}")
    return Tally(
        {str(name): _unpacked_table(name, table, labels) for name, table in document["tables"].items()},
        None if labels is None else tuple(labels),
        rounded,
        None if slices is None else {part["value"]: _unpacked(part) for part in slices},
        document["by"],
    )


def _unpacked_table(name: str, table: dict[str, Any], labels: list[Any] | None) -> Table:
    codes, steps = np.array(table["codes"], dtype=np.int64), table["steps"]
    if steps is not None and steps not in (2**power for power in range(12)):
        raise ValueError(f"steps is {steps!r}")
    if codes.ndim != 1 or (codes[1:] <= codes[:-1]).any():
        raise ValueError("codes are not in rising order")
    if name != DOUBT_ITSELF.name and (codes < 0).any():
        raise ValueError("a code is negative")
    if name.startswith("class") and len(codes) and (labels is None or codes[-1] >> HALF >= len(labels)):
        raise ValueError("a code speaks of a class without label")
    totals = {}
    for term, parts in table["totals"].items():
        high = np.array([float(v) for v in parts[0]])
        low = np.array([float(v) for v in parts[1]]) if len(parts) > 1 else np.zeros(len(high))
        if high.shape != codes.shape or low.shape != codes.shape or not np.isfinite(low).all():
            raise ValueError(f"{term!r} does not have a number for each code")
        totals[str(term)] = Sums(high, low)
    return DoubtTable(codes, totals).bounded() if name == DOUBT_ITSELF.name else Table(codes, totals, steps)

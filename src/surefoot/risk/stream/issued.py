"""Predictions in the order in which they were issued, of which some labels are awaited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.risk.evalues import Flags
from surefoot.risk.stream.eprocess import Segment
from surefoot.risk.stream.id_set import Id

#: What is known of a row: right, wrong, awaited, or no longer awaited.
RIGHT, WRONG, AWAITED, GIVEN_UP = 0, 1, 2, 3

_ROW = np.dtype([("confidence", "f8"), ("doubt", "f8"), ("state", "i1"), ("unit", "i8")])


class Issued:
    """Rows from the first whose label has not come, each with the place of the first row it was issued with."""

    def __init__(self, start: int = 0) -> None:
        #: The place of the first row held: so many were issued before it.
        self.start = start
        self._rows, self._used = np.empty(64, dtype=_ROW), 0
        #: Where the rows are whose labels are awaited, in the order of issue.
        self.places: dict[Id, int] = {}

    def __len__(self) -> int:
        return self._used

    @property
    def stop(self) -> int:
        """How many rows have been issued in all."""
        return self.start + self._used

    @property
    def rows(self) -> Any:
        """The rows held, as a structured array."""
        return self._rows[: self._used]

    def claim(self, name: Id) -> tuple[float, float] | None:
        """The confidence and doubt of a row whose label is awaited."""
        if name not in self.places:
            return None
        row = self._rows[self.places[name] - self.start]
        return float(row["confidence"]), float(row["doubt"])

    def add(self, confidence: Any, doubt: Any, state: Any, sizes: Any) -> None:
        """Rows were issued, in units of so many."""
        count = len(confidence)
        if self._used + count > len(self._rows):
            grown = np.empty(2 * (self._used + count), dtype=_ROW)
            grown[: self._used] = self.rows
            self._rows = grown
        new = self._rows[self._used : self._used + count]
        new["confidence"], new["doubt"], new["state"] = confidence, doubt, state
        sizes = np.asarray(sizes, dtype=np.int64)
        new["unit"] = np.repeat(self.stop + np.cumsum(sizes) - sizes, sizes)
        self._used += count

    def label(self, names: Sequence[Id], correct: Any) -> None:
        """Labels came of rows that were awaited."""
        at = [self.places.pop(name) - self.start for name in names]
        self._rows["state"][at] = np.where(correct, RIGHT, WRONG)

    def give_up(self, before: int) -> list[Id]:
        """Wait no longer for the labels of rows issued before a place; their names."""
        names = []
        for name, place in self.places.items():
            if place >= before:
                break
            names.append(name)
        for name in names:
            self._rows["state"][self.places.pop(name) - self.start] = GIVEN_UP
        return names

    @property
    def ready(self) -> int:
        """How many rows at the front are in units of which no label is awaited."""
        awaited = self.rows["state"] == AWAITED
        return int(self.rows["unit"][int(np.argmax(awaited))]) - self.start if awaited.any() else self._used

    @property
    def known(self) -> int:
        """How many rows there are up to the last unit of which a label has come."""
        labelled = np.flatnonzero(self.rows["state"] < AWAITED)
        if not len(labelled):
            return 0
        after = self.rows["unit"] > self.rows["unit"][labelled[-1]]
        return int(np.argmax(after)) if after.any() else self._used

    def sides(self, count: int) -> dict[str, Segment]:
        """The first rows as each side sees them: what is awaited is no surprise to either."""
        rows = self.rows[:count]
        doubt, confidence, state = (np.ascontiguousarray(rows[name]) for name in ("doubt", "confidence", "state"))
        is_first = np.append(True, np.diff(rows["unit"]) != 0)
        sizes = None if is_first.all() else np.diff(np.flatnonzero(is_first), append=len(rows)).astype(np.float64)
        return both_sides(doubt, confidence, state == WRONG, state == RIGHT, sizes)

    def drop(self, count: int) -> None:
        """The first rows have been counted."""
        left = self.rows[count:].copy()
        self._rows = np.empty(max(64, 2 * len(left)), dtype=_ROW)
        self._rows[: len(left)] = left
        self.start, self._used = self.start + count, len(left)


def both_sides(doubt: Any, confidence: Any, wrong: Flags, right: Flags, sizes: Any = None) -> dict[str, Segment]:
    """Rows as the overconfident side sees them, and as the underconfident one does."""
    return {
        "overconfident": Segment(doubt, confidence, wrong, sizes),
        "underconfident": Segment(confidence, doubt, right, sizes),
    }

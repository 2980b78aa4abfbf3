"""Which ids have been counted: whole numbers as stretches, other ids one by one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Id = int | str


class Seen:
    """A set of ids. Whole numbers that follow each other cost nothing, a gap two numbers, a string itself."""

    def __init__(self, stretches: Iterable[tuple[int, int]] = (), names: Iterable[str] = ()) -> None:
        ordered = sorted((int(start), int(stop)) for start, stop in stretches)
        self._starts, self._stops = [start for start, _ in ordered], [stop for _, stop in ordered]
        self._names = set(names)

    def __contains__(self, one: Id) -> bool:
        if isinstance(one, str):
            return one in self._names
        at = bisect_right(self._starts, one) - 1
        return at >= 0 and one < self._stops[at]

    def lacks(self, ids: Sequence[Id]) -> npt.NDArray[np.bool_]:
        """Which of these are new: not held, and not among those before them."""
        if self._all_follow(ids):
            return np.ones(len(ids), dtype=bool)
        earlier: set[Id] = set()
        new = np.zeros(len(ids), dtype=bool)
        for i, one in enumerate(ids):
            new[i] = one not in earlier and one not in self
            earlier.add(one)
        return new

    def add_all(self, ids: Sequence[Id]) -> None:
        if self._all_follow(ids):
            # one stretch for each run of numbers
            cuts = [0, *(np.flatnonzero(np.diff(np.array(ids, dtype=np.int64)) > 1) + 1).tolist(), len(ids)]
            for first, last in pairwise(cuts):
                self._append(int(ids[first]), int(ids[last - 1]) + 1)
            return
        for one in ids:
            self.add(one)

    def add(self, one: Id) -> None:
        if isinstance(one, str):
            self._names.add(one)
            return
        if one in self:
            return
        at = bisect_right(self._starts, one)
        joins_left = at > 0 and self._stops[at - 1] == one
        joins_right = at < len(self._starts) and self._starts[at] == one + 1
        if joins_left and joins_right:
            self._stops[at - 1] = self._stops.pop(at)
            self._starts.pop(at)
        elif joins_left:
            self._stops[at - 1] = one + 1
        elif joins_right:
            self._starts[at] = one
        else:
            self._starts.insert(at, one)
            self._stops.insert(at, one + 1)

    def _all_follow(self, ids: Sequence[Id]) -> bool:
        """Whether these are rising whole numbers beyond all that are held."""
        if not ids or any(type(one) is not int for one in ids):
            return False
        if self._stops and ids[0] < self._stops[-1]:  # type: ignore[operator]
            return False
        return max(map(abs, ids)) < 2**62 and bool((np.diff(np.array(ids, dtype=np.int64)) > 0).all())  # type: ignore[arg-type]

    def _append(self, start: int, stop: int) -> None:
        if self._stops and self._stops[-1] == start:
            self._stops[-1] = stop
        else:
            self._starts.append(start)
            self._stops.append(stop)

    def packed(self) -> dict[str, Any]:
        stretches = [[start, stop] for start, stop in zip(self._starts, self._stops, strict=True)]
        return {"stretches": stretches, "names": sorted(self._names)}

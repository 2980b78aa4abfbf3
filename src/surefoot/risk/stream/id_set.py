"""Which ids have been counted: whole numbers as stretches, other ids one by one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

#: Text that is a whole number just as Python writes it is kept as that number: it takes less room, and none is lost.
Id = int | str
#: Digits up to which it is; whole numbers that are no text may have no more.
MOST_DIGITS = 1000


def plain_id(one: Id) -> Id:
    """An id as it is kept.

    Examples
    --------
    >>> plain_id("7"), plain_id("007"), plain_id("-3"), plain_id("-0"), plain_id("²")
    (7, '007', -3, '-0', '²')
    """
    if not isinstance(one, str) or len(one) > MOST_DIGITS:
        return one
    digits = one.removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal() and (digits[0] != "0" or one == "0")
    return int(one) if is_number else one


class IdSet:
    """A set of ids. Whole numbers that follow each other cost nothing, a gap two numbers, a string itself."""

    def __init__(self, stretches: Iterable[tuple[int, int]] = (), names: Iterable[str] = ()) -> None:
        ordered = sorted((int(start), int(stop)) for start, stop in stretches)
        self._starts, self._stops = [start for start, _ in ordered], [stop for _, stop in ordered]
        self._names: set[str] = set()
        #: Numbers that came out of order, not yet in stretches.
        self._loose: set[int] = set()
        # earlier versions kept whole numbers among the names as well
        for name in names:
            self.add(plain_id(name))

    def __bool__(self) -> bool:
        return bool(self._starts or self._names or self._loose)

    def __contains__(self, one: Id) -> bool:
        if isinstance(one, str):
            return one in self._names
        if one in self._loose:
            return True
        at = bisect_right(self._starts, one) - 1
        return at >= 0 and one < self._stops[at]

    def are_new(self, ids: Sequence[Id]) -> npt.NDArray[np.bool_]:
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
            self._settle()
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
        elif one not in self:
            self._loose.add(one)
            if len(self._loose) > max(1024, len(self._starts)):
                self._settle()

    def _settle(self) -> None:
        """Put numbers that came out of order into stretches."""
        ordered = sorted([*zip(self._starts, self._stops, strict=True), *((one, one + 1) for one in self._loose)])
        self._starts, self._stops, self._loose = [], [], set()
        for start, stop in ordered:
            self._append(start, stop)

    def _all_follow(self, ids: Sequence[Id]) -> bool:
        """Whether these are rising whole numbers beyond all that are held."""
        if not ids or any(type(one) is not int for one in ids):
            return False
        if (self._stops and ids[0] < self._stops[-1]) or (self._loose and ids[0] <= max(self._loose)):  # type: ignore[operator]
            return False
        return max(map(abs, ids)) < 2**62 and bool((np.diff(np.array(ids, dtype=np.int64)) > 0).all())  # type: ignore[arg-type]

    def _append(self, start: int, stop: int) -> None:
        if self._stops and self._stops[-1] == start:
            self._stops[-1] = stop
        else:
            self._starts.append(start)
            self._stops.append(stop)

    def pack(self) -> dict[str, Any]:
        self._settle()
        stretches = [[start, stop] for start, stop in zip(self._starts, self._stops, strict=True)]
        return {"stretches": stretches, "names": sorted(self._names)}

"""Tables of totals: a row for each cell of a key, added with what rounding leaves out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from surefoot._io.documents import numbers
from surefoot.core.keys import HALF, LOWER, Codes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """Totals with what their rounding left out, so that the order in which tallies are added does not show."""

    high: Floats
    low: Floats

    @staticmethod
    def zeros(size: int | tuple[int, ...]) -> Sums:
        return Sums(np.zeros(size), np.zeros(size))

    @property
    def value(self) -> Floats:
        return self.high + self.low if self.low.any() else self.high

    def plus(self, high: Floats, low: Floats | float = 0.0) -> Sums:
        """Knuth's two-sum: the new total, and exactly what it lost, carried along."""
        with np.errstate(invalid="ignore", over="ignore"):
            total = self.high + high
            back = total - self.high
            rest = self.low + low + ((self.high - (total - back)) + (high - back))
        if not np.isfinite(rest).all():
            rest = np.where(np.isfinite(total), rest, 0.0)
        return Sums(total, rest)

    def at(self, index: npt.NDArray[np.intp], size: int) -> Sums:
        """These totals, placed among ``size`` others that are zero."""
        spread = Sums.zeros(size)
        spread.high[index] = self.high
        spread.low[index] = self.low
        return spread


@dataclass(frozen=True)
class Table:
    """The totals of all terms under one key: a row for each code that occurred, in rising order."""

    codes: Codes
    totals: Mapping[str, Sums]
    #: How many halves of the codes speak of classes: none, the upper, or both.
    classes: int = 0
    #: Cells a unit of log-odds, if the codes are cells of scores. Always a power of two.
    steps: int | None = None
    #: The least code there can be.
    least_code: ClassVar[int] = 0

    def holds(self, term: str) -> bool:
        return term in self.totals

    def __add__(self, other: Table) -> Table:
        codes = np.union1d(self.codes, other.codes)
        mine, theirs = np.searchsorted(codes, self.codes), np.searchsorted(codes, other.codes)
        totals = {}
        for name, sums in self.totals.items():
            added = other.totals[name].at(theirs, len(codes))
            totals[name] = sums.at(mine, len(codes)).plus(added.high, added.low)
        return replace(self, codes=codes, totals=totals)

    def relabel(self, position: Codes) -> Table:
        """The same totals with each class moved to its new position."""
        if not self.classes:
            return self
        upper, lower = self.codes >> HALF, self.codes & LOWER
        codes = (position[upper] << HALF) | (position[lower] if self.classes == 2 else lower)
        order = np.argsort(codes, kind="stable")
        totals = {name: Sums(s.high[order], s.low[order]) for name, s in self.totals.items()}
        return replace(self, codes=codes[order], totals=totals)

    def of_class(self, label: int) -> Table:
        """The part of one class, its codes without the class."""
        start, end = np.searchsorted(self.codes, np.array([label, label + 1], dtype=np.int64) << HALF)
        totals = {name: Sums(s.high[start:end], s.low[start:end]) for name, s in self.totals.items()}
        return replace(self, codes=self.codes[start:end] & LOWER, totals=totals)

    def of_classes(self, labels: Sequence[int], read: Callable[[Table], Any]) -> list[Any]:
        """What ``read`` makes of the part of each class."""
        return [read(self.of_class(label)) for label in labels]

    def bounded(self) -> Table:
        """The same table, no larger than such tables may be."""
        return self

    def pack(self) -> dict[str, Any]:
        """Plain data, fit for JSON."""
        totals = {}
        for name, sums in self.totals.items():
            totals[name] = [numbers(sums.high)]
            if sums.low.any():
                totals[name].append(numbers(sums.low))
        return {"codes": self.codes.tolist(), "totals": totals, "steps": self.steps, "classes": self.classes}

    @classmethod
    def unpack(cls, table: dict[str, Any], classes: int) -> Self:
        """What :meth:`packed` gave, of so many classes; raise ``ValueError`` for what it cannot have given."""
        codes, steps, halves = np.array(table["codes"], dtype=np.int64), table["steps"], table["classes"]
        if steps is not None and steps not in (2**power for power in range(12)):
            raise ValueError(f"steps is {steps!r}")
        if halves not in (0, 1, 2):
            raise ValueError(f"classes is {halves!r}")
        if (codes[1:] <= codes[:-1]).any():
            raise ValueError("codes are not in rising order")
        if len(codes) and codes[0] < cls.least_code:
            raise ValueError("a code is negative")
        if halves and len(codes) and codes[-1] >> HALF >= classes:
            raise ValueError("a code refers to a class without a label")
        totals = {}
        for term, parts in table["totals"].items():
            high = np.array([float(v) for v in parts[0]])
            low = np.array([float(v) for v in parts[1]]) if len(parts) > 1 else np.zeros(len(high))
            if high.shape != codes.shape or low.shape != codes.shape or not np.isfinite(low).all():
                raise ValueError(f"{term!r} does not have a number for each code")
            totals[str(term)] = Sums(high, low)
        return cls(codes, totals, halves, steps)

"""Tallies: sums of row expressions, kept apart by a key, that add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.core.keys import HALF, LOWER, Codes, Key
from surefoot.core.term import Term
from surefoot.errors import InvalidTally

Floats = npt.NDArray[np.float64]
Label = bool | int | str


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
    #: Cells a unit of log-odds, if the codes are cells of scores. Always a power of two.
    steps: int | None = None

    def holds(self, term: str) -> bool:
        return term in self.totals

    def __add__(self, other: Table) -> Table:
        codes = np.union1d(self.codes, other.codes)
        mine, theirs = np.searchsorted(codes, self.codes), np.searchsorted(codes, other.codes)
        totals = {}
        for name, sums in self.totals.items():
            added = other.totals[name].at(theirs, len(codes))
            totals[name] = sums.at(mine, len(codes)).plus(added.high, added.low)
        return Table(codes, totals, self.steps)

    def relabelled(self, kind: str, position: Codes) -> Table:
        """The same totals with each class moved to its new position."""
        upper, lower = self.codes >> HALF, self.codes & LOWER
        codes = (position[upper] << HALF) | (position[lower] if kind == "class pair" else lower)
        order = np.argsort(codes, kind="stable")
        return Table(codes[order], {n: Sums(s.high[order], s.low[order]) for n, s in self.totals.items()}, self.steps)

    def of_class(self, label: int) -> Table:
        """The part of one class, its codes without the class."""
        start, end = np.searchsorted(self.codes, np.array([label, label + 1], dtype=np.int64) << HALF)
        totals = {name: Sums(s.high[start:end], s.low[start:end]) for name, s in self.totals.items()}
        return Table(self.codes[start:end] & LOWER, totals, self.steps)

    def of_classes(self, labels: Sequence[int], read: Callable[[Table], Any]) -> list[Any]:
        """What ``read`` makes of the part of each class."""
        return [read(self.of_class(label)) for label in labels]


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """Totals of terms over some rows; tallies of disjoint rows add with ``+``.

    Fixed in size however many rows went in: what no bounded table can hold exactly (the scores that rankings are made
    of) is rounded to a grid, and the metrics that use it say by how much they may be off.
    """

    tables: Mapping[str, Any]
    labels: tuple[Label, ...] | None = None
    rounded: int = 0
    #: Tallies of the slices, by their value, and what they were sliced by.
    slices: Mapping[Label, Tally] | None = None
    by: str | None = None
    #: Results that formulas share, kept so that no table is walked twice.
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        terms = sum(len(table.totals) for table in self.tables.values())
        slices = "" if self.slices is None else f", {len(self.slices)} slices by {self.by}"
        return f"<Tally: {terms} terms under {len(self.tables)} keys{slices}>"

    def __getitem__(self, term: Term) -> float:
        """The total of a term without key."""
        sums = self.tables[term.key.name].totals[term.name]
        return float(sums.high[0] + sums.low[0])

    def table(self, key: Key) -> Any:
        """The totals under a key."""
        return self.tables[key.name]

    def has(self, term: Term) -> bool:
        table = self.tables.get(term.key.name)
        return table is not None and table.holds(term.name)

    def cached(self, name: str, compute: Callable[[], Any]) -> Any:
        """What ``compute`` gives, computed at most once for this tally."""
        if name not in self._cache:
            self._cache[name] = compute()
        return self._cache[name]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        _check_alike(self, other)
        labels = _union(self.labels, other.labels)
        mine, theirs = _placed(self, labels), _placed(other, labels)
        return Tally(
            {name: table + theirs[name] for name, table in mine.items()},
            labels,
            self.rounded + other.rounded,
            _added_slices(self.slices, other.slices),
            self.by,
        )

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # so that sum(tallies) works

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tally as JSON: whole, or not at all."""
        from surefoot.core.tally_files import save

        save(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> Tally:
        """Read a tally that :meth:`save` wrote; a damaged, foreign or newer file is an :class:`InvalidTally`."""
        from surefoot.core.tally_files import load

        return load(path)


def _check_alike(one: Tally, other: Tally) -> None:
    terms = {(key, term) for key, table in one.tables.items() for term in table.totals}
    others = {(key, term) for key, table in other.tables.items() for term in table.totals}
    if terms != others:
        key, term = sorted(terms ^ others)[0]
        side = "first" if (key, term) in terms else "second"
        raise InvalidTally(
            f"these tallies do not hold the same terms: only the {side} has {term!r} by {key}. "
            "Tally both with the same metrics, through the same door and for the same number of classes."
        )
    if one.labels and other.labels and type(one.labels[0]) is not type(other.labels[0]):
        raise InvalidTally(
            f"the labels of one tally are like {one.labels[0]!r}, of the other like {other.labels[0]!r}."
        )
    if one.by != other.by:
        raise InvalidTally(f"one tally is sliced by {one.by or 'nothing'}, the other by {other.by or 'nothing'}.")
    if one.slices and other.slices and type(next(iter(one.slices))) is not type(next(iter(other.slices))):
        raise InvalidTally("the slices of the two tallies are of different kinds (booleans, integers, strings).")
    if "class score" in one.tables and set(one.labels or ()) != set(other.labels or ()):
        raise InvalidTally(
            "these tallies rank scores of different classes, and rows of one hold no score for classes of the other; "
            "tally both with the same labels=, or with metrics= that do not rank."
        )


def _union(one: tuple[Label, ...] | None, other: tuple[Label, ...] | None) -> tuple[Label, ...] | None:
    if one == other or other is None:
        return one
    if one is None:
        return other
    # the order of one stands where it holds the other's; where they disagree, all are sorted, whichever came first
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    if tuple(label for label in longer if label in set(shorter)) == shorter:
        return longer
    return tuple(sorted({*one, *other}))


def _placed(tally: Tally, labels: tuple[Label, ...] | None) -> Mapping[str, Table]:
    if tally.labels == labels or tally.labels is None or labels is None:
        return tally.tables
    where = {label: i for i, label in enumerate(labels)}
    position = np.array([where[label] for label in tally.labels], dtype=np.int64)
    return {
        name: table.relabelled(name, position) if name.startswith("class") else table
        for name, table in tally.tables.items()
    }


def _added_slices(
    one: Mapping[Label, Tally] | None, other: Mapping[Label, Tally] | None
) -> Mapping[Label, Tally] | None:
    if one is None or other is None:
        return None
    return {
        value: one[value] + other[value] if value in one and value in other else (one.get(value) or other[value])
        for value in (*one, *(value for value in other if value not in one))
    }

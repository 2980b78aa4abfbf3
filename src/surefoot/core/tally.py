"""Tallies: sums of row expressions by key, which add up over disjoint rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, get_args

import numpy as np

from surefoot._io import documents, shapes
from surefoot._io.printable import printable
from surefoot._io.shapes import INFINITE, Flag, Later, ListOf, MapOf, Maybe, Number, OneOf, Record, Text, Whole
from surefoot.core.doubt_table import DoubtTable
from surefoot.core.keys import DOUBT_CELL, Key
from surefoot.core.table import Table
from surefoot.core.term import ClassTerm, Term
from surefoot.core.view import View
from surefoot.errors import InvalidTally

SCHEMA = 3

Label = bool | int | str


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """The totals that metrics are computed from; tallies of disjoint rows add with ``+``.

    Make one with :func:`tally`, save it, add it to others, and pass it to :func:`assess` or :meth:`Metric.of`. Its size
    is fixed, however many rows it covers. Scores, which rankings such as AUC need, are rounded to a grid; these metrics
    say by how much they may be off (:meth:`Metric.bound`).

    Attributes
    ----------
    tables : mapping of str to table
        The totals, by the name of their key.
    labels : tuple or None
        The classes, where they are known.
    rounded : int
        How many confidences are 1 only because they were rounded.
    slices : mapping of label to Tally, or None
        The tally of each slice, if it was made with ``by``.
    by : str or None
        What it is sliced by.
    is_older : bool
        Whether an earlier version saved it, which did not know all terms; adding keeps only the terms it has.
    view : {"prediction", "event", "classes"}
        What its rows are about.
    event : label or None
        Of an event view, the class that is the event.
    events : mapping of label to Tally, or None
        The totals of each class as an event, where metrics or the view ask for them.
    not_attempted : int
        How many rows were not attempted: neither right nor wrong, and in none of the totals.
    slices_not_attempted : mapping of label to int
        Of slices in which no row was attempted, which have no tally, the number of rows.

    Examples
    --------
    >>> import surefoot as sf
    >>> monday = sf.tally(sf.Predictions.from_correct([True, False], [0.9, 0.6]))
    >>> tuesday = sf.tally(sf.Predictions.from_correct([True, True], [0.7, 0.8]))
    >>> sf.metrics.ALL["accuracy"].of(monday + tuesday)
    0.75
    """

    tables: Mapping[str, Any]
    labels: tuple[Label, ...] | None = None
    rounded: int = 0
    slices: Mapping[Label, Tally] | None = None
    by: str | None = None
    #: Results that formulas share, kept so that no table is walked twice.
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)
    is_older: bool = False
    view: View = "prediction"
    event: Label | None = None
    events: Mapping[Label, Tally] | None = None
    not_attempted: int = 0
    slices_not_attempted: Mapping[Label, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        terms = sum(len(table.totals) for table in self.tables.values())
        slices = "" if self.slices is None else f", {len(self.slices)} slices by {self.by}"
        return f"<Tally: {terms} terms under {len(self.tables)} keys{slices}>"

    def __getitem__(self, term: Term) -> float:
        """Return the total of a term that has no key.

        Parameters
        ----------
        term : Term
            A term that the tally holds.

        Returns
        -------
        float
            The sum over all rows.
        """
        sums = self.tables[term.key.name].totals[term.name]
        return float(sums.high[0] + sums.low[0])

    def table(self, key: Key) -> Any:
        """Return the totals under a key.

        Parameters
        ----------
        key : Key
            The key of a term that the tally holds.

        Returns
        -------
        Table
            The totals, with a code for each value of the key.
        """
        return self.tables[key.name]

    def has(self, term: Term) -> bool:
        """Return whether the tally holds a term.

        Parameters
        ----------
        term : Term
            The term to look for.

        Returns
        -------
        bool
            Whether its total is there.
        """
        if isinstance(term, ClassTerm):
            return bool(self.events) and all(part.has(term.inner) for part in (self.events or {}).values())
        if self.view == "classes":
            return all(part.has(term) for part in (self.events or {}).values())
        table = self.tables.get(term.key.name)
        return table is not None and table.holds(term.name)

    def cached(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of ``compute``, which is called at most once for this tally.

        Parameters
        ----------
        name : str
            The name under which the result is kept.
        compute : callable
            Called without arguments if there is no result of that name yet.

        Returns
        -------
        object
            The result.
        """
        if name not in self._cache:
            self._cache[name] = compute()
        return self._cache[name]

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        one, two = (_without_newer_terms(a, b) for a, b in ((self, other), (other, self)))
        _check_alike(one, two)
        labels = _union(one.labels, two.labels)
        mine, theirs = _place(one, labels), _place(two, labels)
        total = Tally(
            {name: table + theirs[name] for name, table in mine.items()},
            labels,
            one.rounded + two.rounded,
            _add_slices(one.slices, two.slices),
            one.by,
            is_older=one.is_older or two.is_older,
            view=one.view,
            event=one.event,
            events=_add_slices(one.events, two.events),
            not_attempted=one.not_attempted + two.not_attempted,
        )
        for part in (one, two):
            total = _add_to_slices(total, part.slices_not_attempted)
        return total

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented  # so that sum(tallies) works

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tally to a JSON file; a crash leaves the old file or the new one.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        """
        documents.write(path, "tally", SCHEMA, self._pack())

    @staticmethod
    def load(path: str | PathLike[str]) -> Tally:
        """Read a tally that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path-like
            The file to read.

        Returns
        -------
        Tally
            The same totals.

        Raises
        ------
        InvalidTally
            If the file is damaged, is not a tally, or was written by a newer version.
        """
        return documents.read(path, "tally", SCHEMA, _SHAPE, _unpack, InvalidTally)

    def to_text(self) -> str:
        """Return the tally as text, as :meth:`save` writes it to a file.

        Returns
        -------
        str
            A JSON document, which :meth:`from_text` reads.
        """
        return documents.dump("tally", SCHEMA, self._pack())

    @staticmethod
    def from_text(text: str | bytes, name: str = "the text") -> Tally:
        """Return the tally whose text :meth:`to_text` gave, or :meth:`save` wrote.

        Parameters
        ----------
        text : str or bytes
            The JSON document.
        name : str, default="the text"
            What it is called in messages.

        Returns
        -------
        Tally
            The same totals.

        Raises
        ------
        InvalidTally
            If the text is damaged, is not a tally, or was written by a newer version.
        """
        content = text.encode() if isinstance(text, str) else text
        return documents.parse(content, name, "tally", SCHEMA, _SHAPE, _unpack, InvalidTally)

    def _pack(self) -> dict[str, Any]:
        slices = None
        if self.slices is not None:
            slices = [{"value": value, **part._pack()} for value, part in self.slices.items()]
        return {
            "labels": None if self.labels is None else list(self.labels),
            "rounded": self.rounded,
            "tables": {name: table.pack() for name, table in self.tables.items()},
            "slices": slices,
            "by": self.by,
            "is_older": self.is_older,
            "view": self.view,
            "event": self.event,
            "events": None
            if self.events is None
            else [{"value": value, **part._pack()} for value, part in self.events.items()],
            "not_attempted": self.not_attempted,
            "slices_not_attempted": [{"value": v, "rows": rows} for v, rows in self.slices_not_attempted.items()],
        }


#: Tables of the first schema did not say which of their codes speak of classes; there were two that did.
_CLASSES_BEFORE = {"class pair": 2, "class score": 1}


_TABLE = Record(
    {
        "codes": ListOf(Whole(-(1 << 63))),
        "totals": MapOf(ListOf(ListOf(Number(words=INFINITE)), least=1, most=2)),
        "steps": Maybe(Whole()),
    },
    {"classes": Whole(0, 2)},
)
_PART: Record
_OF_ROWS = Record({"value": shapes.Label(), "rows": Whole()})
#: A tally, and the tallies in it.
_SHAPE = Record(
    {
        "labels": Maybe(ListOf(shapes.Label(), least=1)),
        "rounded": Whole(),
        "tables": MapOf(_TABLE),
        "slices": Maybe(ListOf(Later(lambda: _PART))),
        "by": Maybe(Text()),
    },
    {
        "is_older": Flag(),
        "view": OneOf(get_args(View)),
        "event": Maybe(shapes.Label()),
        "events": Maybe(ListOf(Later(lambda: _PART))),
        "not_attempted": Whole(),
        "slices_not_attempted": ListOf(_OF_ROWS),
    },
)
_PART = Record({"value": shapes.Label(), **_SHAPE.fields}, _SHAPE.optional)


def _unpack(document: dict[str, Any]) -> Tally:
    labels, rounded, slices = document["labels"], document["rounded"], document["slices"]
    if labels is not None and len({type(label) for label in labels}) != 1:
        raise ValueError("labels are not of one kind")
    if labels is not None and len(set(labels)) != len(labels):
        raise ValueError("a label occurs twice")
    tables = {}
    for name, table in document["tables"].items():
        kind = DoubtTable if name == DOUBT_CELL.name else Table
        known = {"classes": _CLASSES_BEFORE.get(name, 0), **table}
        tables[str(name)] = kind.unpack(known, 0 if labels is None else len(labels)).bounded()
    return Tally(
        tables,
        None if labels is None else tuple(labels),
        rounded,
        None if slices is None else {part["value"]: _unpack(part) for part in slices},
        document["by"],
        is_older=bool(document.get("is_older")) or "view" not in document,
        **_unpack_view(document),
        **_unpack_not_attempted(document),
    )


def _unpack_not_attempted(document: dict[str, Any]) -> dict[str, Any]:
    """How many rows were not attempted; earlier versions knew of none."""
    parts = {part["value"]: part["rows"] for part in document.get("slices_not_attempted", ())}
    return {"not_attempted": document.get("not_attempted", 0), "slices_not_attempted": parts}


def _unpack_view(document: dict[str, Any]) -> dict[str, Any]:
    """The view, and the tallies of classes; earlier versions knew of none."""
    view, event, events = (document.get(name) for name in ("view", "event", "events"))
    if view == "classes" and not events:
        raise ValueError("it is of classes, and holds none")
    parts = None if events is None else {part["value"]: _unpack(part) for part in events}
    return {"view": view or "prediction", "event": event, "events": parts}


def _without_newer_terms(tally: Tally, other: Tally) -> Tally:
    """A tally without the terms that an earlier version, which saved the other, did not know."""
    if not other.is_older or tally.is_older:
        return tally
    tables = {
        name: replace(table, totals={term: sums for term, sums in table.totals.items() if term in known.totals})
        for name, table in tally.tables.items()
        if (known := other.tables.get(name)) is not None
    }
    return replace(tally, tables=tables, _cache={})


def _check_alike(one: Tally, other: Tally) -> None:
    if (one.view, one.event) != (other.view, other.event):
        raise InvalidTally(
            f"one tally is {_viewed(one)}, the other {_viewed(other)}; make both with the same of= and the same event."
        )
    terms = {(key, term) for key, table in one.tables.items() for term in table.totals}
    others = {(key, term) for key, table in other.tables.items() for term in table.totals}
    if terms != others:
        key, term = sorted(terms ^ others)[0]
        side = "first" if (key, term) in terms else "second"
        raise InvalidTally(
            f"these tallies hold different terms: only the {side} has {term!r} by {key}. "
            "Make both with the same metrics, with the same constructor and for the same number of classes."
        )
    if one.labels and other.labels and type(one.labels[0]) is not type(other.labels[0]):
        raise InvalidTally(
            f"one tally has labels such as {one.labels[0]!r}, the other such as {other.labels[0]!r}; convert one."
        )
    if one.events is not None and other.events is not None and set(one.events) != set(other.events):
        raise InvalidTally(
            "these tallies are of different classes and cannot be added; make both with the same labels=."
        )
    if one.by != other.by:
        raise InvalidTally(f"one tally is sliced by {one.by or 'nothing'}, the other by {other.by or 'nothing'}.")
    if one.slices and other.slices and type(next(iter(one.slices))) is not type(next(iter(other.slices))):
        raise InvalidTally("the slices of the two tallies are of different kinds (booleans, integers, strings).")
    ranks = any(table.steps is not None for table in one.tables.values())
    if ranks and set(one.labels or ()) != set(other.labels or ()):
        raise InvalidTally(
            "these tallies hold scores of different classes and cannot be added; make both with the same labels=, or "
            "with metrics= that need no scores."
        )


def _viewed(tally: Tally) -> str:
    event = "" if tally.event is None else f" {tally.event!r}"
    return f"of={tally.view!r}{event}"


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


def _place(tally: Tally, labels: tuple[Label, ...] | None) -> Mapping[str, Table]:
    if tally.labels == labels or tally.labels is None or labels is None:
        return tally.tables
    where = {label: i for i, label in enumerate(labels)}
    position = np.array([where[label] for label in tally.labels], dtype=np.int64)
    return {name: table.relabel(position) for name, table in tally.tables.items()}


def _add_slices(one: Mapping[Label, Tally] | None, other: Mapping[Label, Tally] | None) -> Mapping[Label, Tally] | None:
    if one is None or other is None:
        return None
    return {
        value: one[value] + other[value] if value in one and value in other else (one.get(value) or other[value])
        for value in (*one, *(value for value in other if value not in one))
    }


def add_not_attempted(tally: Tally, rows: int, of_slices: Mapping[Label, int]) -> Tally:
    """The same totals, with more rows that were not attempted; of each slice its own, of each class all."""
    events = None
    if tally.events is not None:
        events = {label: add_not_attempted(part, rows, {}) for label, part in tally.events.items()}
    return _add_to_slices(replace(tally, not_attempted=tally.not_attempted + rows, events=events), of_slices)


def _add_to_slices(tally: Tally, rows: Mapping[Label, int]) -> Tally:
    slices, apart = dict(tally.slices or {}), dict(tally.slices_not_attempted)
    for value, count in rows.items():
        if value in slices:
            slices[value] = add_not_attempted(slices[value], count, {})
        else:
            apart[value] = apart.get(value, 0) + count
    return replace(tally, slices=None if tally.slices is None else slices, slices_not_attempted=apart)


def sliced_otherwise(held: str | None, wanted: str) -> str:
    """What to say of slices that a tally does not have."""
    if held is None:
        return f"this tally has no slices by {printable(wanted, 40)!r}: make it with by={printable(wanted, 40)!r}"
    return f"this tally is sliced by {held!r}, not by {printable(wanted, 40)!r}; pass by={held!r}"

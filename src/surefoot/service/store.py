"""What the service has been told, each row once: predictions in the order of issue, labels in the order of arrival."""

from __future__ import annotations

import math
import time
from collections import ChainMap
from collections.abc import Iterable, MutableMapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from surefoot._io.printable import printable_value
from surefoot.service.batches import Label, Prediction, is_class
from surefoot.service.database import Cursor, Database, Kinds
from surefoot.service.refused import Refused

Job = Sequence[Prediction] | Sequence[Label]
#: Models and versions that one store holds at most, versions of one model, and slices of each.
MOST_STREAMS, MOST_VERSIONS, MOST_SLICES = 1_000, 100, 100
_COUNTS = ("places", "events", "labelled", "tally_only", "early", "repeated", "lost")
_COLUMNS: Kinds = {
    "event": int, "place": int, "confidence": float, "doubt": float, "unit": int, "slice": str, "slice_place": int,
    "predicted": str, "hour": int, "label": str, "correct": int, "label_event": int, "complete": int,
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What is known of an id. ``place`` numbers the predictions that are bet on, in the order of issue.

    A prediction whose label was known before it came has no place: it goes to the tally, and is never bet on.
    ``slice_place`` numbers those of its slice.
    """

    event: int | None = None
    place: int | None = None
    confidence: float | None = None
    doubt: float | None = None
    unit: int | None = None
    slice: str | None = None
    slice_place: int | None = None
    predicted: str | None = None
    hour: int | None = None
    label: str | None = None
    correct: int | None = None
    label_event: int | None = None
    complete: int | None = None


@dataclass(frozen=True)
class Counts:
    """Of a stream: predictions that are bet on, events, labels counted, and what is beside them.

    ``early`` are labels that wait for their prediction, ``lost`` those that were dropped because none came in time.
    """

    places: int = 0
    events: int = 0
    labelled: int = 0
    tally_only: int = 0
    early: int = 0
    repeated: int = 0
    lost: int = 0


@dataclass(frozen=True)
class Part:
    """A slice: the how-manieth that appeared, from 1, and how many of its predictions are bet on."""

    number: int
    places: int = 0


@dataclass(frozen=True)
class Receipt:
    """What became of the rows of a request."""

    counted: int
    repeated: int


@dataclass(frozen=True)
class Stream:
    """A version of a model."""

    key: int
    model: str
    version: str
    created: int
    counts: Counts


class Store:
    """Rows by id, added in transactions that are on disk when they return.

    Parameters
    ----------
    database : Database
        Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    # -- writing -----------------------------------------------------------------------------------------------------

    def add(self, model: str, version: str, jobs: Sequence[Job]) -> list[Receipt | Refused]:
        """Add some requests in one transaction; each counts whole or is refused whole."""
        with self.database.writing() as cursor:
            return self.add_within(cursor, model, version, jobs)

    def add_within(self, cursor: Cursor, model: str, version: str, jobs: Sequence[Job]) -> list[Receipt | Refused]:
        """Add some requests in a transaction that has begun. Who adds to several streams takes them in one order."""
        key, counts, is_new = self._lock(cursor, model, version)
        ids = list({row.id for job in jobs for row in job})
        found = cursor.named("prediction", ["id", *_COLUMNS], "id", key, ids) if ids else []
        held = {name: Row(*values) for name, *values in found}
        parts, slices = self._parts(cursor, key, jobs)
        before = counts
        changed: dict[str, Row] = {}
        changed_parts: dict[str, Part] = {}
        results: list[Receipt | Refused] = []
        for job in jobs:
            own = ChainMap({}, changed_parts, parts)
            draft = _Draft(ChainMap({}, changed, held), counts, own, slices)
            try:
                results.append(draft.add(job))
            except Refused as refused:
                results.append(refused)
                continue
            changed |= draft.changed
            changed_parts |= own.maps[0]
            counts, slices = draft.counts, draft.slices
        if changed:
            rows = [(key, name, *(getattr(row, column) for column in _COLUMNS)) for name, row in changed.items()]
            cursor.put("prediction", {"stream": int, "id": str, **_COLUMNS}, 2, rows)
        if changed_parts:
            cursor.many(
                "INSERT INTO part (stream, name, number, places) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (stream, name) DO UPDATE SET places = excluded.places",
                [(key, name, part.number, part.places) for name, part in changed_parts.items()],
            )
        if counts != before:
            assignments = ", ".join(f"{name} = ?" for name in _COUNTS)
            values = (getattr(counts, name) for name in _COUNTS)
            cursor.run(f"UPDATE stream SET {assignments} WHERE id = ?", *values, key)
        if is_new and not changed:
            # all was refused: nothing has begun
            cursor.run("DELETE FROM stream WHERE id = ?", key)
        return results

    def add_labelled(self, cursor: Cursor, model: str, version: str, rows: int) -> int:
        """Rows that were counted elsewhere with their labels: they are never bet on. Return the key of the stream."""
        key, *_ = self._lock(cursor, model, version)
        cursor.run(
            "UPDATE stream SET tally_only = tally_only + ?, labelled = labelled + ? WHERE id = ?", rows, rows, key
        )
        return key

    def begin(self, model: str, version: str) -> Stream:
        """A version of a model, begun if it is new."""
        with self.database.writing() as cursor:
            self._lock(cursor, model, version)
        return self.find(model, version)

    def _lock(self, cursor: Cursor, model: str, version: str) -> tuple[int, Counts, bool]:
        """The stream, made if it is new, and whether it was made; who else would write to it waits."""
        statement = (
            f"UPDATE stream SET events = events WHERE model = ? AND version = ? RETURNING id, {', '.join(_COUNTS)}"
        )
        found = cursor.one(statement, model, version)
        made = None
        if found is None:
            numbers = cursor.one("SELECT count(*), count(CASE WHEN model = ? THEN 1 END) FROM stream", model)
            assert numbers is not None
            if numbers[0] >= MOST_STREAMS:
                raise Refused(403, f"there are {MOST_STREAMS:,} models and versions already, the most of one store")
            if numbers[1] >= MOST_VERSIONS:
                raise Refused(403, f"model {model} has {MOST_VERSIONS} versions already, the most of one model")
            made = cursor.one(
                "INSERT INTO stream (model, version, created) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
                model,
                version,
                int(time.time()),
            )
            found = cursor.one(statement, model, version)
            assert found is not None
        key, *counts = found
        return key, Counts(*counts), made is not None

    def _parts(self, cursor: Cursor, key: int, jobs: Sequence[Iterable[Any]]) -> tuple[dict[str, Part], int]:
        """The slices that are named in some requests, and how many there are in all."""
        names = list({row.slice for job in jobs for row in job if isinstance(row, Prediction) and row.slice})
        if not names:
            return {}, 0
        number = cursor.one("SELECT count(*) FROM part WHERE stream = ?", key)
        held = cursor.named("part", ["name", "number", "places"], "name", key, names)
        return {name: Part(*values) for name, *values in held}, number[0] if number else 0

    # -- reading -----------------------------------------------------------------------------------------------------

    def streams(self) -> list[Stream]:
        """All models and versions, by name."""
        with self.database.reading() as cursor:
            rows = cursor.all(
                f"SELECT id, model, version, created, {', '.join(_COUNTS)} FROM stream ORDER BY model, version"
            )
        return [Stream(key, model, version, created, Counts(*counts)) for key, model, version, created, *counts in rows]

    def find(self, model: str, version: str) -> Stream:
        """One of them; raise if nothing was ever sent to it."""
        with self.database.reading() as cursor:
            found = cursor.one(
                f"SELECT id, model, version, created, {', '.join(_COUNTS)} FROM stream WHERE model = ? AND version = ?",
                model,
                version,
            )
        if found is None:
            raise Refused(404, f"nothing was sent yet to {model}/{version}")
        key, model, version, created, *counts = found
        return Stream(key, model, version, created, Counts(*counts))


class _Draft:
    """The rows of one request on top of what is known, before any of it is kept."""

    def __init__(self, rows: ChainMap[str, Row], counts: Counts, parts: ChainMap[str, Part], slices: int) -> None:
        self.rows, self._now = rows, asdict(counts)
        self._parts, self.slices = parts, slices
        self.changed: MutableMapping[str, Row] = rows.maps[0]
        self._units: dict[str, int] = {}
        self._hour = int(time.time()) // 3600

    def add(self, job: Iterable[Prediction | Label]) -> Receipt:
        repeated = 0
        counted = 0
        for row in job:
            is_new = self._predict(row) if isinstance(row, Prediction) else self._label(row.id, row.correct, row.label)
            counted, repeated = counted + is_new, repeated + (not is_new)
        self._now["repeated"] += repeated
        return Receipt(counted, repeated)

    @property
    def counts(self) -> Counts:
        return Counts(**self._now)

    def _event(self) -> int:
        self._now["events"] += 1
        event: int = self._now["events"]
        return event

    def _predict(self, new: Prediction) -> bool:
        row = self.rows.get(new.id)
        if row is not None and row.event is not None:
            return self._repeat(row, new)
        event = self._event()
        if row is None and new.correct is None:
            place = self._now["places"]
            unit = place if new.group is None else self._units.setdefault(new.group, place)
            self._now["places"] += 1
            part = self._part(new.slice)
            if new.slice is not None and part is not None:
                self._parts[new.slice] = replace(part, places=part.places + 1)
            self.changed[new.id] = Row(
                event,
                place,
                new.confidence,
                new.doubt,
                unit,
                new.slice,
                None if part is None else part.places,
                new.predicted,
                self._hour,
            )
            return True
        self._part(new.slice)
        made = replace(
            row or Row(),
            event=event,
            hour=self._hour,
            confidence=new.confidence,
            doubt=new.doubt,
            slice=new.slice,
            predicted=new.predicted,
        )
        # its label was known before: it says nothing that could have been bet on
        correct = made.correct if made.correct is not None else new.correct
        if row is not None:
            self._now["early"] -= 1
            correct = _resolve(new.id, made, row.correct, row.label)
            if new.correct is not None and bool(correct) != new.correct:
                raise _contradiction(new.id, correct, new.correct)
        self._now["tally_only"] += 1
        self._now["labelled"] += 1
        self.changed[new.id] = replace(
            made, correct=int(bool(correct)), label_event=made.label_event or event, complete=event
        )
        return True

    def _part(self, name: str | None) -> Part | None:
        """The slice of that name, begun if it is new."""
        if name is None:
            return None
        part = self._parts.get(name)
        if part is None:
            if self.slices >= MOST_SLICES:
                raise Refused(
                    400,
                    f"slice {printable_value(name)} would be one more than the {MOST_SLICES} that a model has at most; "
                    "send coarser slices, or none",
                )
            self.slices += 1
            part = self._parts[name] = Part(self.slices)
        return part

    def _repeat(self, row: Row, new: Prediction) -> bool:
        assert row.confidence is not None
        assert row.doubt is not None
        same = math.isclose(row.confidence, new.confidence, rel_tol=1e-9) and math.isclose(
            row.doubt, new.doubt, rel_tol=1e-6, abs_tol=1e-12
        )
        if not same:
            raise Refused(
                409,
                f"id {printable_value(new.id)} was sent with confidence {row.confidence!r} before, and now with "
                f"{new.confidence!r}; each prediction needs its own id",
            )
        for what, before, now in (("class", row.predicted, new.predicted), ("slice", row.slice, new.slice)):
            if None not in (before, now) and before != now:
                raise Refused(
                    409,
                    f"id {printable_value(new.id)} was sent with {what} {printable_value(before)} before, and now with "
                    f"{printable_value(now)}; each prediction needs its own id",
                )
        if row.slice is None and new.slice is not None:
            raise Refused(
                409,
                f"id {printable_value(new.id)} was sent without a slice before, and now with "
                f"{printable_value(new.slice)}; a slice is watched from its prediction on, so it cannot be added later",
            )
        if row.predicted is None and new.predicted is not None:
            # what was not said before is kept, so that a label may come as a class
            row = replace(row, predicted=new.predicted)
            self.changed[new.id] = row
        return False if new.correct is None else self._label(new.id, new.correct, None)

    def _label(self, name: str, correct: bool | None, label: str | None) -> bool:
        row = self.rows.get(name)
        if row is None:
            event = self._event()
            self._now["early"] += 1
            known = None if correct is None else int(correct)
            self.changed[name] = Row(hour=self._hour, label=label, correct=known, label_event=event)
            return True
        if row.event is None:
            if (row.correct, row.label) != (None if correct is None else int(correct), label):
                raise _contradiction(name, row.correct if row.label is None else row.label, label or correct)
            return False
        now = _resolve(name, row, correct, label)
        if row.correct is not None:
            # two classes may both be wrong, and only one of them is true
            if None not in (row.label, label) and row.label != label:
                raise _contradiction(name, row.label, label)
            if row.correct != now:
                raise _contradiction(name, row.correct, now)
            return False
        event = self._event()
        self._now["labelled"] += 1
        self.changed[name] = replace(row, label=label, correct=now, label_event=event, complete=event)
        return True


def _resolve(name: str, row: Row, correct: int | bool | None, label: str | None) -> int:
    """Whether a prediction was correct, by what came as its label."""
    if label is None:
        return int(bool(correct))
    if row.predicted is None:
        raise Refused(
            409,
            f"id {printable_value(name)} was predicted without a class, so the label {printable_value(label)} cannot "
            "be compared; send correct (true or false), or predicted with the prediction",
        )
    return int(is_class(row.predicted, label, f"id {printable_value(name)}"))


def _contradiction(name: str, before: Any, now: Any) -> Refused:
    words = ("wrong", "correct")

    def said(value: Any) -> str:
        return words[value] if isinstance(value, int) else printable_value(value)

    return Refused(409, f"id {printable_value(name)} was labelled {said(before)} before, and now {said(now)}")

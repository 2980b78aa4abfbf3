"""Totals of the labelled rows of a stream: tallies of hours, which become days, and one of all time.

Each row is added once. Tallies are made beside the store, and added in one short transaction if nobody else did
meanwhile, so that rows that come in do not wait for them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from surefoot.core.tally import Tally
from surefoot.metrics import ALL
from surefoot.metrics.tallying import terms_for
from surefoot.metrics.terms import DOUBT, ERRORS, ROWS
from surefoot.predictions import Predictions
from surefoot.service.database import Cursor, Database
from surefoot.service.refused import Refused
from surefoot.service.store import Stream

#: Rows that are added, or dropped, in one go.
PIECE, DROPPED = 50_000, 5_000
#: Hours of a day, and after how many hours tallies of hours become one of their day.
DAY, KEPT_HOURS = 24, 7 * 24
#: Hours for which ids are kept, whatever number of predictions has passed.
KEPT_IDS = 24
#: The hour under which the tally of all time is kept.
EVER = -1


def fold(database: Database, stream: Stream) -> int:
    """Add rows that are complete to the tallies of their hours, each once; return how many events passed."""
    with database.reading() as cursor:
        found = cursor.one("SELECT tallied, tallies, events FROM stream WHERE id = ?", stream.key)
        assert found is not None
        start, turn, stop = int(found[0]), int(found[1]), min(int(found[2]), int(found[0]) + PIECE)
        rows = _complete(cursor, stream.key, start, stop)
        added = _Added(cursor, stream.key)
        for (part, hour), own in _grouped(rows).items():
            tally, expected, observed = _tally(own), *_errors(own)
            added.add(part, hour, 1, len(own), expected, observed, tally)
            added.add(part, EVER, 0, len(own), expected, observed, tally)
    if stop > start:
        with database.writing() as cursor:
            if _is_own_turn(cursor, stream.key, turn):
                added.write(cursor)
                cursor.run("UPDATE stream SET tallied = ? WHERE id = ?", stop, stream.key)
    return stop - start


def fold_all(database: Database, stream: Stream) -> None:
    """Add all rows that are complete."""
    while fold(database, stream):
        pass


def add(cursor: Cursor, key: int, tally: Tally) -> None:
    """Add rows that were counted elsewhere to the totals of this hour and of all time, in a transaction that writes."""
    added, hour = _Added(cursor, key), int(time.time()) // 3600
    for when, hours in ((hour, 1), (EVER, 0)):
        added.add("", when, hours, round(tally[ROWS]), tally[DOUBT], round(tally[ERRORS]), tally)
    cursor.run("UPDATE stream SET tallies = tallies + 1 WHERE id = ?", key)
    added.write(cursor)


def _is_own_turn(cursor: Cursor, key: int, turn: int) -> bool:
    """Whether nobody has changed the tallies since they were read; then it is for us to do so."""
    statement = "UPDATE stream SET tallies = tallies + 1 WHERE id = ? AND tallies = ? RETURNING id"
    return cursor.one(statement, key, turn) is not None


def _complete(cursor: Cursor, key: int, start: int, stop: int) -> list[Any]:
    return cursor.all(
        "SELECT slice, hour, correct, confidence, doubt FROM prediction "
        "WHERE stream = ? AND complete > ? AND complete <= ? ORDER BY complete",
        key, start, stop,
    )  # fmt: skip


def _grouped(rows: list[Any]) -> dict[tuple[str, int], list[Any]]:
    groups: dict[tuple[str, int], list[Any]] = {}
    for part, hour, *values in rows:
        groups.setdefault((part or "", hour), []).append(values)
    return groups


def _tally(rows: list[Any]) -> Tally:
    correct, confidence, doubt = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    p = Predictions.from_correct(correct == 1, confidence, doubt=doubt)
    return p.tally(terms_for([metric for metric in ALL.values() if not metric.missing(p) and metric.additive]))


def _errors(rows: list[Any]) -> tuple[float, int]:
    return sum(row[2] for row in rows), sum(row[0] == 0 for row in rows)


class _Added:
    """Tallies as they will be, of slices and hours: rows, expected and observed errors, and the tally."""

    def __init__(self, cursor: Cursor, key: int) -> None:
        self._cursor, self._key = cursor, key
        self._held: dict[tuple[str, int], list[Any]] = {}

    def add(self, part: str, hour: int, hours: int, rows: int, expected: float, observed: int, more: Tally) -> None:
        if (part, hour) not in self._held:
            found = self._cursor.one(
                "SELECT hours, rows, expected, observed, document FROM tally "
                "WHERE stream = ? AND slice = ? AND hour = ?",
                self._key, part, hour,
            )  # fmt: skip
            if found is not None:
                *numbers, text = found
                self._held[part, hour] = [*numbers, Tally.from_text(text)]
        if (held := self._held.get((part, hour))) is None:
            self._held[part, hour] = [hours, rows, expected, observed, more]
            return
        # what holds a whole day goes on holding it
        held[0] = max(held[0], hours)
        for i, one in enumerate((rows, expected, observed, more), 1):
            held[i] = held[i] + one

    def merge(self, part: str, hour: int, day: int, rows: int, expected: float, observed: int, document: str) -> None:
        """Move a tally of an hour to that of its day."""
        if hour == day and (part, day) not in self._held:
            self._held[part, day] = [DAY, rows, expected, observed, Tally.from_text(document)]
        else:
            self.add(part, day, DAY, rows, expected, observed, Tally.from_text(document))

    def write(self, cursor: Cursor) -> None:
        cursor.many(
            "INSERT INTO tally (stream, slice, hour, hours, rows, expected, observed, document) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stream, slice, hour) DO UPDATE SET hours = excluded.hours, "
            "rows = excluded.rows, expected = excluded.expected, observed = excluded.observed, "
            "document = excluded.document",
            [
                (self._key, part, hour, *numbers, tally.to_text())
                for (part, hour), (*numbers, tally) in self._held.items()
            ],
        )


def total(
    database: Database, stream: Stream, *, part: str | None = None, since: int | None = None, until: int | None = None
) -> Tally | None:
    """The tally of all complete rows of some hours, of one slice or of all; None if there are none."""
    fold_all(database, stream)
    conditions = ["stream = ?", "hours = 0" if since is None and until is None else "hours > 0"]
    values: list[Any] = [stream.key]
    for condition, value in (("slice = ?", part), ("hour + hours > ?", since), ("hour < ?", until)):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    with database.reading() as cursor:
        for bound in (since, until):
            _check_bound(cursor, stream.key, bound)
        found = cursor.all(f"SELECT document FROM tally WHERE {' AND '.join(conditions)} ORDER BY hour, slice", *values)
    tallies = [Tally.from_text(text) for (text,) in found]
    return sum(tallies[1:], tallies[0]) if tallies else None


def _check_bound(cursor: Cursor, key: int, bound: int | None) -> None:
    """Raise if an hour lies within a day of which only the sum is kept."""
    if bound is None or bound % DAY == 0:
        return
    statement = "SELECT hour FROM tally WHERE stream = ? AND hours > 1 AND hour < ? AND hour + hours > ? LIMIT 1"
    if (found := cursor.one(statement, key, bound, bound)) is not None:
        day = time.strftime("%Y-%m-%d", time.gmtime(found[0] * 3600))
        raise Refused(400, f"the hours of {day} have become one day; begin and end with whole days there")


def by_hour(database: Database, stream: Stream) -> list[tuple[str, int, int, int, float, int]]:
    """Of each slice and hour: how many hours, rows, expected and observed errors."""
    with database.reading() as cursor:
        rows = cursor.all(
            "SELECT slice, hour, hours, rows, expected, observed FROM tally "
            "WHERE stream = ? AND hours > 0 ORDER BY hour, slice",
            stream.key,
        )
    return [tuple(row) for row in rows]


def by_slice(database: Database, stream: Stream) -> dict[str, tuple[int, float, int]]:
    """Of each slice rows, expected and observed errors, of all time; without a name those that have no slice."""
    with database.reading() as cursor:
        rows = cursor.all(
            "SELECT slice, rows, expected, observed FROM tally WHERE stream = ? AND hours = 0", stream.key
        )
    return {part: (number, expected, observed) for part, number, expected, observed in rows}


def by_day(rows: list[tuple[str, int, int, int, float, int]]) -> list[dict[str, Any]]:
    """Rows, expected and observed errors of each day, in UTC."""
    days: dict[int, list[float]] = {}
    for _, hour, _, number, expected, observed in rows:
        held = days.setdefault(hour // 24, [0, 0.0, 0])
        held[0] += number
        held[1] += expected
        held[2] += observed
    return [
        {
            "day": time.strftime("%Y-%m-%d", time.gmtime(day * 86_400)),
            "rows": int(number),
            "expected_errors": expected,
            "observed_errors": int(observed),
        }
        for day, (number, expected, observed) in sorted(days.items())
    ]


def merge_hours(database: Database, stream: Stream, now_hour: int, keep_hours: int = KEPT_HOURS) -> None:
    """Tallies of hours become one of their day after so many hours."""
    before = (now_hour - keep_hours) // DAY * DAY
    old = "FROM tally WHERE stream = ? AND hours = 1 AND hour < ?"
    with database.reading() as cursor:
        found = cursor.one("SELECT tallies FROM stream WHERE id = ?", stream.key)
        assert found is not None
        rows = cursor.all(
            f"SELECT slice, hour, rows, expected, observed, document {old} ORDER BY hour", stream.key, before
        )
        added = _Added(cursor, stream.key)
        # a day begins with its first hour, which is then no more that hour's
        for part, hour, number, expected, observed, document in rows:
            day = hour // DAY * DAY
            added.merge(part, hour, day, number, expected, observed, document)
    if not rows:
        return
    with database.writing() as cursor:
        if _is_own_turn(cursor, stream.key, int(found[0])):
            cursor.run(f"DELETE {old}", stream.key, before)
            added.write(cursor)


def forget(
    database: Database, stream: Stream, label_window: int, before_hour: int, this_hour: int | None = None
) -> None:
    """Drop the ids of rows that are counted, or no longer awaited, once a window of predictions has passed.

    None that came in an hour from ``before_hour`` on; rows of hours after ``this_hour``, when the clock was ahead, do
    not keep those behind them. In short transactions, so that rows that come in wait for none of them long.
    """
    after: int | None = 0
    while after is not None:
        with database.writing() as cursor:
            after = _forget_some(cursor, stream.key, label_window, (before_hour, this_hour or 1 << 60), after)


def _forget_some(cursor: Cursor, key: int, label_window: int, hours: tuple[int, int], after: int) -> int | None:
    """Drop some ids behind an event; the event up to which that is done, or None if there is no more to do."""
    # who else would drop them waits here
    found = cursor.one(
        "UPDATE stream SET followed = followed WHERE id = ? RETURNING places, events, followed, tallied", key
    )
    assert found is not None
    places, events, *done = found
    before_hour, this_hour = hours
    place, counted = places - label_window, min(done)
    # labels that came first: those whose prediction is counted, and those whose prediction never came
    early = min(counted, events - 2 * label_window)
    span = cursor.one(
        "SELECT min(place), min(hour), min(event), max(event) FROM (SELECT place, hour, event FROM prediction "
        "WHERE stream = ? AND event > ? AND event <= ? ORDER BY event LIMIT ?) AS piece",
        key, after, counted, DROPPED,
    )  # fmt: skip
    assert span is not None
    first, hour, begun, last = span
    # rows with a label that was known have no place, and are dropped by their event
    is_over = (
        last is None or before_hour <= hour <= this_hour or (first is not None and first >= place and begun > early)
    )
    if not is_over:
        cursor.run(
            "DELETE FROM prediction WHERE stream = ? AND event > ? AND event <= ? AND hour < ? "
            "AND (place < ? OR (place IS NULL AND event <= ?)) AND (complete IS NULL OR complete <= ?)",
            key, after, last, before_hour, place, early, counted,
        )  # fmt: skip
        return int(last)
    if early > 0:
        lost = cursor.all(
            "DELETE FROM prediction WHERE stream = ? AND event IS NULL AND label_event <= ? AND hour < ? RETURNING id",
            key, early, before_hour,
        )  # fmt: skip
        if lost:
            cursor.run("UPDATE stream SET early = early - ?, lost = lost + ? WHERE id = ?", len(lost), len(lost), key)
    return None

"""From the rows of a stream to its evidence and its totals: a monitor and tallies that follow what is stored.

Both are functions of what is stored and of how far it was followed, so that any process can go on from where any
other stopped, and a crash loses nothing but work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot.core.tally import Tally
from surefoot.metrics import ALL
from surefoot.metrics.tallying import terms_for
from surefoot.predictions import Predictions
from surefoot.risk.stream.monitor import Monitor
from surefoot.service.database import Cursor, Database
from surefoot.service.store import Store, Stream

#: Events that are followed in one go.
PIECE = 20_000
#: Days after which the tallies of hours become one of their day.
DAY, KEPT_HOURS = 24, 7 * 24


class Follower:
    """The monitor of one stream, up to the last event that it has seen."""

    def __init__(self, store: Store, stream: Stream, *, label_window: int) -> None:
        self._database, self.stream = store.database, stream
        self._lock = threading.Lock()
        with self._database.reading() as cursor:
            found = cursor.one("SELECT followed, monitor FROM stream WHERE id = ?", stream.key)
        assert found is not None
        self.followed: int = found[0]
        self.monitor = Monitor(label_window=label_window) if found[1] is None else Monitor.from_text(found[1])
        self._saved = self.followed

    def follow(self) -> Monitor:
        """Take in what has come since the last time; return the monitor."""
        with self._lock:
            while (start := self.followed) < (stop := min(self._last_event(), start + PIECE)):
                with self._database.reading() as cursor:
                    for kind, rows in _runs(cursor, self.stream.key, start, stop):
                        _tell(self.monitor, kind, rows)
                self.followed = stop
            return self.monitor

    def save(self) -> None:
        """Keep the monitor, so that a restart need not follow everything again; one that is further stays."""
        with self._lock:
            if self.followed == self._saved:
                return
            text = self.monitor.to_text()
            with self._database.writing() as cursor:
                cursor.run(
                    "UPDATE stream SET followed = ?, monitor = ? WHERE id = ? AND followed < ?",
                    self.followed,
                    text,
                    self.stream.key,
                    self.followed,
                )
            self._saved = self.followed

    def _last_event(self) -> int:
        with self._database.reading() as cursor:
            found = cursor.one("SELECT events FROM stream WHERE id = ?", self.stream.key)
        return int(found[0]) if found else 0


def _runs(cursor: Cursor, key: int, start: int, stop: int) -> Iterator[tuple[str, list[Any]]]:
    """Predictions and labels as they came, in runs of one kind."""
    predictions = cursor.all(
        "SELECT event, place, confidence, doubt, unit FROM prediction "
        "WHERE stream = ? AND event > ? AND event <= ? AND place IS NOT NULL ORDER BY event",
        key, start, stop,
    )  # fmt: skip
    labels = cursor.all(
        "SELECT label_event, place, correct FROM prediction "
        "WHERE stream = ? AND label_event > ? AND label_event <= ? AND place IS NOT NULL ORDER BY label_event",
        key, start, stop,
    )  # fmt: skip
    i = j = 0
    while i < len(predictions) or j < len(labels):
        ahead, behind = i, j
        limit = labels[j][0] if j < len(labels) else stop + 1
        while i < len(predictions) and predictions[i][0] < limit:
            i += 1
        if i > ahead:
            yield "predictions", predictions[ahead:i]
        limit = predictions[i][0] if i < len(predictions) else stop + 1
        while j < len(labels) and labels[j][0] < limit:
            j += 1
        if j > behind:
            yield "labels", labels[behind:j]


def _tell(monitor: Monitor, kind: str, rows: list[Any]) -> None:
    if kind == "predictions":
        _, places, confidence, doubt, units = zip(*rows, strict=True)
        monitor.expect(list(places), np.array(confidence), doubt=np.array(doubt), groups=np.array(units))
    else:
        _, places, correct = zip(*rows, strict=True)
        monitor.update(np.array(correct, dtype=bool), ids=list(places))


# -- totals ----------------------------------------------------------------------------------------------------------


def fold(database: Database, stream: Stream) -> int:
    """Add the next rows that are complete to the tallies of their hours, each once; return how many events passed."""
    with database.reading() as cursor:
        found = cursor.one("SELECT tallied, events FROM stream WHERE id = ?", stream.key)
        assert found is not None
        start, stop = int(found[0]), min(int(found[1]), int(found[0]) + PIECE)
        rows = _complete(cursor, stream.key, start, stop)
    # added up before the lock is taken: who sends rows does not wait for that
    groups = {where: (_tally(own), len(own), *_errors(own)) for where, own in _grouped(rows).items()}
    if stop > start:
        with database.writing() as cursor:
            statement = "UPDATE stream SET tallied = ? WHERE id = ? AND tallied = ? RETURNING id"
            if cursor.one(statement, stop, stream.key, start) is not None:
                for (part, hour), own in groups.items():
                    add_tally(cursor, stream.key, part, hour, 1, *own)
    return stop - start


def fold_all(database: Database, stream: Stream) -> None:
    """Add all rows that are complete."""
    while fold(database, stream):
        pass


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


def add_tally(
    cursor: Cursor, key: int, part: str, hour: int, hours: int, more: Tally, rows: int, expected: float, observed: int
) -> None:
    """Add a tally to that of an hour or a day."""
    held = cursor.one("SELECT document FROM tally WHERE stream = ? AND slice = ? AND hour = ?", key, part, hour)
    total = more if held is None else Tally.from_text(held[0]) + more
    cursor.run(
        "INSERT INTO tally (stream, slice, hour, hours, rows, expected, observed, document) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (stream, slice, hour) DO UPDATE SET hours = excluded.hours, "
        "rows = tally.rows + excluded.rows, expected = tally.expected + excluded.expected, "
        "observed = tally.observed + excluded.observed, document = excluded.document",
        key, part, hour, hours, rows, expected, observed, total.to_text(),
    )  # fmt: skip


def total(
    database: Database, stream: Stream, *, part: str | None = None, since: int | None = None, until: int | None = None
) -> Tally | None:
    """The tally of all complete rows of some hours, of one slice or of all; None if there are none."""
    fold_all(database, stream)
    conditions: list[str] = ["stream = ?"]
    values: list[Any] = [stream.key]
    for condition, value in (("slice = ?", part), ("hour + hours > ?", since), ("hour < ?", until)):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    with database.reading() as cursor:
        found = cursor.all(f"SELECT document FROM tally WHERE {' AND '.join(conditions)} ORDER BY hour, slice", *values)
    tallies = [Tally.from_text(text) for (text,) in found]
    return sum(tallies[1:], tallies[0]) if tallies else None


def by_hour(database: Database, stream: Stream) -> list[tuple[str, int, int, int, float, int]]:
    """Of each slice and hour: how many hours, rows, expected and observed errors."""
    with database.reading() as cursor:
        rows = cursor.all(
            "SELECT slice, hour, hours, rows, expected, observed FROM tally WHERE stream = ? ORDER BY hour, slice",
            stream.key,
        )
    return [tuple(row) for row in rows]


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


def merge_hours(database: Database, stream: Stream, now_hour: int) -> None:
    """Tallies of hours of a week ago become one of their day."""
    before = (now_hour - KEPT_HOURS) // DAY * DAY
    with database.writing() as cursor:
        cursor.run("UPDATE stream SET tallied = tallied WHERE id = ?", stream.key)
        old = cursor.all(
            "SELECT slice, hour, rows, expected, observed, document FROM tally "
            "WHERE stream = ? AND hours = 1 AND hour < ? ORDER BY hour",
            stream.key, before,
        )  # fmt: skip
        for part, hour, rows, expected, observed, document in old:
            cursor.run(
                "DELETE FROM tally WHERE stream = ? AND slice = ? AND hour = ? AND hours = 1", stream.key, part, hour
            )
            day = hour // DAY * DAY
            add_tally(cursor, stream.key, part, day, DAY, Tally.from_text(document), rows, expected, observed)


def forget(database: Database, stream: Stream, label_window: int) -> None:
    """Drop the ids of rows that are counted, or no longer awaited, once a window of predictions has passed."""
    with database.writing() as cursor:
        # who else would drop them waits here
        found = cursor.one(
            "UPDATE stream SET followed = followed WHERE id = ? RETURNING places, events, followed, tallied", stream.key
        )
        assert found is not None
        places, events, *done = found
        place, event = places - label_window, min(*done, events - 2 * label_window)
        if place > 0:
            cursor.run(
                "DELETE FROM prediction WHERE stream = ? AND place < ? AND event <= ? "
                "AND (complete IS NULL OR complete <= ?)",
                stream.key, place, min(done), min(done),
            )  # fmt: skip
        if event > 0:
            # labels that came first: those whose prediction is counted, and those whose prediction never came
            cursor.run(
                "DELETE FROM prediction WHERE stream = ? AND place IS NULL AND event <= ? AND complete <= ?",
                stream.key, event, min(done),
            )  # fmt: skip
            lost = cursor.all(
                "DELETE FROM prediction WHERE stream = ? AND event IS NULL AND label_event <= ? RETURNING id",
                stream.key, event,
            )  # fmt: skip
            if lost:
                cursor.run("UPDATE stream SET early = early - ? WHERE id = ?", len(lost), stream.key)

"""The monitors of a stream, which follow what is stored.

They are a function of what is stored and of how far it was followed, so that any process can go on from where any other
stopped, and a crash loses nothing but work.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from surefoot.risk.stream.monitor import Monitor
from surefoot.service.batches import MOST_ROWS
from surefoot.service.database import Cursor
from surefoot.service.parts import WatchedParts, tell
from surefoot.service.store import Store, Stream
from surefoot.service.totals import forget

#: Events that are followed in one go.
PIECE = 20_000


class Follower:
    """The monitor of one stream, and those of its slices, up to the last event that they have seen.

    What is read from them is read within :meth:`looking`: one thread at a time, for a monitor settles its rows when it
    is looked at.
    """

    def __init__(self, store: Store, stream: Stream, *, label_window: int, mean_time: float = 10_000) -> None:
        self._database, self.stream = store.database, stream
        self._label_window, self._mean_time = label_window, mean_time
        self._lock = threading.RLock()
        with self._database.reading() as cursor:
            self._load(cursor)

    def _load(self, cursor: Cursor) -> None:
        """Begin where the monitors were saved last, by this server or another."""
        found = cursor.one("SELECT followed, monitor FROM stream WHERE id = ?", self.stream.key)
        assert found is not None
        self.followed: int = found[0]
        self.monitor = self._begin() if found[1] is None else Monitor.from_text(found[1])
        self.parts = WatchedParts(cursor, self.stream.key, self.monitor)
        self._saved = self.followed

    def _begin(self) -> Monitor:
        return Monitor(label_window=self._label_window, mean_time_between_false_alarms=self._mean_time)

    @contextmanager
    def looking(self) -> Iterator[Follower]:
        """Take in what has come since the last time, and hold still while it is looked at."""
        with self._lock:
            while self._follow_piece():
                pass
            yield self

    def follow(self) -> Monitor:
        """Take in what has come since the last time; return the monitor."""
        with self.looking():
            return self.monitor

    def _follow_piece(self) -> bool:
        """Go through some events; whether there were any."""
        with self._database.reading() as cursor:
            found = cursor.one("SELECT events, followed FROM stream WHERE id = ?", self.stream.key)
            assert found is not None
            last, saved = found
            if saved > self.followed:
                # another server is further, and ids that it has seen may be dropped
                self._load(cursor)
            start = self.followed
            if start >= last:
                return False
            stop = _end_of_piece(cursor, self.stream.key, start, last)
            predictions = cursor.all(
                "SELECT event, place, confidence, doubt, unit, slice, slice_place FROM prediction "
                "WHERE stream = ? AND event > ? AND event <= ? AND place IS NOT NULL ORDER BY event",
                self.stream.key, start, stop,
            )  # fmt: skip
            labels = cursor.all(
                "SELECT label_event, place, correct, slice, slice_place FROM prediction "
                "WHERE stream = ? AND label_event > ? AND label_event <= ? AND place IS NOT NULL ORDER BY label_event",
                self.stream.key, start, stop,
            )  # fmt: skip
            self.parts.meet(cursor, {row[5] for row in predictions if row[5] is not None})
        try:
            tell(self.monitor, [row[:5] for row in predictions], [row[:3] for row in labels])
            self.parts.tell(predictions, labels)
        except BaseException:
            # what was half told is not to be told again
            with self._database.reading() as cursor:
                self._load(cursor)
            raise
        self.followed = stop
        return True

    def save(self) -> None:
        """Keep the monitors, so that a restart need not follow everything again; those that are further stay."""
        with self._lock:
            if self.followed == self._saved:
                return
            text, parts = self.monitor.to_text(), self.parts.texts()
            with self._database.writing() as cursor:
                found = cursor.one(
                    "UPDATE stream SET followed = ?, monitor = ? WHERE id = ? AND followed < ? RETURNING id",
                    self.followed,
                    text,
                    self.stream.key,
                    self.followed,
                )
                if found is not None:
                    self.parts.save(cursor, parts)
            self._saved = self.followed

    def forget(self, before_hour: int, this_hour: int | None = None) -> None:
        """Drop ids that are no longer needed, and await the labels of slices no longer than those of the stream."""
        forget(self._database, self.stream, self.monitor.label_window, before_hour, this_hour)
        with self._lock, self._database.reading() as cursor:
            self.parts.stop_awaiting(cursor)


def _end_of_piece(cursor: Cursor, key: int, start: int, last: int) -> int:
    """The event up to which to go: some thousands, and no group of a request is taken apart."""
    stop = min(last, start + PIECE)
    while stop < last:
        # what follows, as far as the request may go on in which the last event lies
        after = (key, stop, stop + MOST_ROWS)
        (first,) = cursor.one(
            "SELECT min(place) FROM prediction WHERE stream = ? AND event > ? AND event <= ?", *after
        ) or (None,)
        (later,) = cursor.one(
            "SELECT max(event) FROM prediction WHERE stream = ? AND event > ? AND event <= ? AND unit < ?",
            *after, -1 if first is None else first,
        ) or (None,)  # fmt: skip
        if later is None:
            break
        stop = later
    return stop

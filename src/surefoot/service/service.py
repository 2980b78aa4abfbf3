"""The service without its network: what is stored, what follows from it, and the chores in the background."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.core.tally import Tally
from surefoot.render.monitor_view import headline, plain, summary
from surefoot.risk.stream.monitor import Monitor
from surefoot.service import following
from surefoot.service.batches import check_name
from surefoot.service.database import Database
from surefoot.service.following import Follower
from surefoot.service.refused import Refused
from surefoot.service.store import Job, Store, Stream
from surefoot.service.tokens import Tokens
from surefoot.service.writer import Writer

log = logging.getLogger("surefoot.service")

#: Seconds between looks at the evidence, between additions to tallies, and between saves of monitors.
_LOOK, _TALLY, _SAVE = 0.5, 10.0, 30.0


class Service:
    """Models, their streams and what watches them.

    Parameters
    ----------
    database : Database
        Where rows are kept.
    label_window : int, default=100000
        A label that has not come after this many further predictions of its model is no longer awaited, and ids are
        dropped after as many.
    """

    def __init__(self, database: Database, *, label_window: int = 100_000) -> None:
        self.database, self.label_window = database, label_window
        self.store, self.tokens = Store(database), Tokens(database)
        self._writer = Writer(self.store)
        self._followers: dict[int, Follower] = {}
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._chores = threading.Thread(target=self._run, name="surefoot-chores", daemon=True)

    def start(self) -> None:
        """Begin the chores."""
        self._chores.start()

    def stop(self) -> None:
        """Store what waits, save what was followed, and close the database."""
        self._stopped.set()
        if self._chores.is_alive():
            self._chores.join()
        self._writer.close()
        for follower in list(self._followers.values()):
            follower.save()
        self.database.close()

    # -- requests ----------------------------------------------------------------------------------------------------

    def add(self, model: str, version: str, job: Job) -> Any:
        """Store rows; the future's result is there once they are on disk."""
        return self._writer.submit(check_name("model", model), check_name("version", version), job)

    def find(self, model: str, version: str) -> Stream:
        """A version of a model."""
        return self.store.find(check_name("model", model), check_name("version", version))

    def monitor(self, stream: Stream) -> Monitor:
        """Its monitor, with all that is stored by now."""
        with self._lock:
            follower = self._followers.get(stream.key)
            if follower is None:
                follower = Follower(self.store, stream, label_window=self.label_window)
                self._followers[stream.key] = follower
        return follower.follow()

    def state(self, stream: Stream) -> dict[str, Any]:
        """Where it stands, as plain data."""
        monitor = self.monitor(stream)
        counts = self.store.find(stream.model, stream.version).counts
        issued = counts.places + counts.tally_only
        return {
            "model": stream.model,
            "version": stream.version,
            "predictions": issued,
            "labelled": counts.labelled,
            "unlabelled_share": (issued - counts.labelled) / issued if issued else None,
            "labels_without_prediction": counts.early,
            "counted_without_bet": counts.tally_only,
            "repeated": counts.repeated,
            "monitor": plain(monitor),
            "label_window": monitor.label_window,
        }

    def total(self, stream: Stream, *, part: str | None, since: int | None, until: int | None) -> Tally:
        """The tally of the labelled rows of a slice or of all, of some hours or of all."""
        found = following.total(self.database, stream, part=part, since=since, until=until)
        if found is None:
            raise Refused(404, "there are no labelled rows yet of this model, slice and time")
        return found

    def assessment(self, stream: Stream, **which: Any) -> Assessment:
        """The assessment of these rows."""
        return assess(self.total(stream, **which))

    # -- chores ------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        tallied = saved = time.monotonic()
        while not self._stopped.wait(_LOOK):
            try:
                now = time.monotonic()
                streams = self.store.streams()
                for stream in streams:
                    self._look(stream)
                if now - tallied > _TALLY:
                    tallied = now
                    for stream in streams:
                        following.fold_all(self.database, stream)
                if now - saved > _SAVE:
                    saved = now
                    self.tidy()
            except Exception:
                # the next round tries again: nothing that was acknowledged depends on it
                log.exception("a chore failed")

    def _look(self, stream: Stream) -> None:
        monitor = self._followers[stream.key].monitor if stream.key in self._followers else None
        before = (monitor.alarm, len(monitor.drift_rows)) if monitor is not None else (False, 0)
        monitor = self.monitor(stream)
        if (monitor.alarm, len(monitor.drift_rows)) != before:
            log.warning("%s/%s: %s", stream.model, stream.version, _words(monitor))

    def tidy(self) -> None:
        """Save monitors, merge old hours, and drop ids that are no longer needed."""
        for stream in self.store.streams():
            following.merge_hours(self.database, stream, int(time.time()) // 3600)
            if (follower := self._followers.get(stream.key)) is not None:
                follower.save()
                following.forget(self.database, stream, follower.monitor.label_window)


def _words(monitor: Monitor) -> str:
    return f"{headline(monitor)}. {summary(monitor)}"

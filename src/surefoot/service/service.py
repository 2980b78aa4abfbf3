"""The service without its network: what is stored, what follows from it, and the chores in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from surefoot._io.documents import strict
from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.core.tally import Tally
from surefoot.decisions.expected import Expected
from surefoot.render.monitor_view import plain
from surefoot.risk.stream.slices import limit
from surefoot.service import notices, reference, totals
from surefoot.service.batches import check_name
from surefoot.service.clock import Clock
from surefoot.service.database import Database
from surefoot.service.following import Follower
from surefoot.service.kept import Suggestion, labelled_rows, suggest
from surefoot.service.notices import Outbox
from surefoot.service.reference import Reference
from surefoot.service.refused import Refused
from surefoot.service.standing import headline, summary
from surefoot.service.store import Job, Store, Stream
from surefoot.service.tokens import Tokens
from surefoot.service.webhook import Messenger, Webhook
from surefoot.service.writer import Writer

log = logging.getLogger("surefoot.service")

#: Seconds between looks at the evidence, at that of slices, between additions to tallies, and between saves.
_LOOK, _SLICES, _TALLY, _SAVE = 0.5, 5.0, 10.0, 30.0
#: Seconds for which what is expected of rows without labels is not computed anew.
_FRESH = 60.0


class Service:
    """Models, their streams and what watches them.

    Parameters
    ----------
    database : Database
        Where rows are kept.
    label_window : int, default=100000
        A label that has not come after this many further predictions of its model is no longer awaited.
    keep_ids : int, default=24
        Hours for which ids are kept; they are dropped once ``label_window`` further predictions have come, too.
    keep_hours : int, default=168
        Hours for which totals are kept by hour; older ones by day.
    mean_time : float, default=10000
        On calibrated predictions, drift is detected at most once in this many rows on average. A model keeps the one
        that it began with.
    webhook : Webhook, optional
        What is told of alarms.
    """

    def __init__(
        self,
        database: Database,
        *,
        label_window: int = 100_000,
        keep_ids: int = totals.KEPT_IDS,
        keep_hours: int = totals.KEPT_HOURS,
        mean_time: float = 10_000,
        webhook: Webhook | None = None,
    ) -> None:
        self.database, self.label_window = database, label_window
        self.keep_ids, self.keep_hours = keep_ids, keep_hours
        self._mean_time = mean_time
        self.store, self.tokens = Store(database), Tokens(database)
        self._writer = Writer(self.store)
        self._outbox = Outbox(database)
        self._messenger = None if webhook is None else Messenger(self._outbox, webhook)
        self._followers: dict[int, Follower] = {}
        self._expected: dict[int, tuple[float, int, Expected | str]] = {}
        self._suggested: dict[int, tuple[float, int, Suggestion | None]] = {}
        self._clock = Clock()
        #: What was announced of each stream, by this process, and of which streams chores have failed.
        self._announced: dict[int, Any] = {}
        self._failing: set[str] = set()
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._chores = threading.Thread(target=self._run, name="surefoot-chores", daemon=True)

    def start(self) -> None:
        """Begin the chores."""
        self._chores.start()
        if self._messenger is not None:
            self._messenger.start()

    def stop(self) -> None:
        """Store what waits, save what was followed, and close the database."""
        self._stopped.set()
        if self._chores.is_alive():
            self._chores.join()
        if self._messenger is not None:
            self._messenger.stop()
        self._writer.close()
        for follower in list(self._followers.values()):
            try:
                follower.save()
            except Refused as refused:
                log.warning("%s", refused.message)
        self.database.close()

    # -- requests ----------------------------------------------------------------------------------------------------

    def add(self, model: str, version: str, job: Job) -> Any:
        """Store rows; the future's result is there once they are on disk."""
        return self._writer.submit(check_name("model", model), check_name("version", version), job)

    def find(self, model: str, version: str) -> Stream:
        """A version of a model."""
        return self.store.find(check_name("model", model), check_name("version", version))

    @contextmanager
    def looking(self, stream: Stream) -> Iterator[Follower]:
        """Its monitors, with all that is stored by now; they hold still meanwhile."""
        with self._lock:
            follower = self._followers.get(stream.key)
            if follower is None:
                follower = Follower(self.store, stream, label_window=self.label_window, mean_time=self._mean_time)
                self._followers[stream.key] = follower
        with follower.looking():
            yield follower

    def state(self, stream: Stream) -> dict[str, Any]:
        """Where it stands, as plain data."""
        with self.looking(stream) as follower:
            counts = self.store.find(stream.model, stream.version).counts
            monitor = {**plain(follower.monitor), "headline": headline(counts, follower.monitor)}
            # labels that came last are in the totals, too
            totals.fold_all(self.database, stream)
            slices = slices_of(follower, totals.by_slice(self.database, stream))
            window = follower.monitor.label_window
        issued = counts.places + counts.tally_only
        known = reference.find(self.database, stream)
        return {
            "model": stream.model,
            "version": stream.version,
            "predictions": issued,
            "labelled": counts.labelled,
            "unlabelled_share": (issued - counts.labelled) / issued if issued else None,
            "labels_without_prediction": counts.early,
            "labels_dropped": counts.lost,
            "counted_without_bet": counts.tally_only,
            "repeated": counts.repeated,
            "monitor": monitor,
            "slices": slices,
            "reference": None if known is None else {"added": known.added, **reference.facts(known)},
            "expected": None if known is None else reference.plain(self.expected(stream, known)),
            "label_window": window,
            "retention": {
                "ids_for_predictions": window,
                "ids_for_hours": self.keep_ids,
                "hours_before_days": self.keep_hours,
            },
            "notices": self._outbox.counts(stream),
        }

    def total(self, stream: Stream, *, part: str | None, since: int | None, until: int | None) -> Tally:
        """The tally of the labelled rows of a slice or of all, of some hours or of all."""
        found = totals.total(self.database, stream, part=part, since=since, until=until)
        if found is None:
            raise Refused(404, "there are no labelled rows yet of this model, slice and time")
        return found

    def assessment(self, stream: Stream, *, part: str | None, since: int | None, until: int | None) -> Assessment:
        """The assessment of these rows, which names them as its source."""
        found = assess(self.total(stream, part=part, since=since, until=until))
        return replace(found, source=_source(stream, part, since, until))

    def keep_reference(self, model: str, version: str, text: bytes) -> int:
        """Keep a tally as what a model is compared with; return how many rows it has."""
        check_name("model", model)
        tally = reference.read_reference(text)
        stream = self.store.begin(model, check_name("version", version))
        rows = reference.keep(self.database, stream, tally)
        self._expected.pop(stream.key, None)
        return rows

    def reference(self, stream: Stream) -> Reference | None:
        """The tally that a model is compared with."""
        return reference.find(self.database, stream)

    def suggestion(self, stream: Stream, since: int = 0) -> Suggestion | None:
        """What a calibrator brings on the last labelled rows, from an hour on; computed once a minute at most."""
        now = time.monotonic()
        held = self._suggested.get(stream.key)
        if held is None or now - held[0] > _FRESH or held[1] != since:
            held = (now, since, suggest(labelled_rows(self.database, stream, since)))
            self._suggested[stream.key] = held
        return held[2]

    def expected(self, stream: Stream, known: Reference) -> Expected | str:
        """What to expect of rows without labels, computed once a minute at most."""
        now = time.monotonic()
        held = self._expected.get(stream.key)
        if held is None or now - held[0] > _FRESH or held[1] != known.added:
            held = (now, known.added, reference.expected_of(self.database, stream, known))
            self._expected[stream.key] = held
        return held[2]

    # -- chores ------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        sliced = tallied = saved = time.monotonic()
        while not self._stopped.wait(_LOOK):
            now = time.monotonic()
            with_slices, with_tallies, with_saves = now - sliced > _SLICES, now - tallied > _TALLY, now - saved > _SAVE
            sliced, tallied, saved = (
                now if due else before
                for due, before in ((with_slices, sliced), (with_tallies, tallied), (with_saves, saved))
            )
            streams = self._try("the store", self.store.streams) or []
            for stream in streams:
                name = f"{stream.model}/{stream.version}"
                self._try(f"the evidence of {name}", self._look, stream, with_slices)
                if with_tallies:
                    self._try(f"the totals of {name}", totals.fold_all, self.database, stream)
                if with_saves:
                    self._try(f"the chores of {name}", self.tidy, stream)

    def _try(self, what: str, chore: Any, *arguments: Any) -> Any:
        """Do something; if it fails, the next round tries again: nothing that was acknowledged depends on it."""
        try:
            result = chore(*arguments)
        except Exception as error:
            # said once, and again only after it has worked meanwhile
            if what not in self._failing:
                self._failing.add(what)
                log.warning("%s: %s", what, error, exc_info=not isinstance(error, Refused))
            return None
        self._failing.discard(what)
        return result

    def _look(self, stream: Stream, with_slices: bool) -> None:
        with self.looking(stream) as follower:
            m = follower.monitor
            flagged = tuple(part.name for part in follower.parts.look() if part.is_flagged) if with_slices else None
            before = self._announced.get(stream.key, (False, 0, ()))
            now = (m.alarm, len(m.drift_rows), before[2] if flagged is None else flagged)
            if now == before:
                return
            found, title = list(notices.happenings(follower)), headline(stream.counts, m)
            words = _words(stream, follower)
        log.warning("%s/%s: %s", stream.model, stream.version, words)
        if self._messenger is not None and found and self._outbox.add(stream, found, title):
            self._messenger.wake()
        self._announced[stream.key] = now

    def tidy(self, stream: Stream) -> None:
        """Save monitors, merge old hours, and drop ids that are no longer needed."""
        hour = int(time.time()) // 3600
        totals.merge_hours(self.database, stream, hour, self.keep_hours)
        if (follower := self._followers.get(stream.key)) is not None:
            follower.save()
            if self._clock.is_steady():
                # the hour in which a row came began up to an hour before it
                follower.forget(hour - self.keep_ids, hour)


def slices_of(follower: Follower, sums: Mapping[str, tuple[int, float, int]]) -> list[dict[str, Any]]:
    """The slices as plain data; call it within ``follower.looking()``.

    Those with evidence come first, with the rows that were labelled after their prediction; ``all_labelled`` counts the
    others, too.
    """
    level, parts = follower.monitor.level, follower.parts.look()
    known = {part.name for part in parts}
    found = [
        {
            "slice": part.name,
            "rows": part.monitor.rows,
            "expected_errors": part.monitor.stated,
            "observed_errors": part.monitor.errors,
            **strict({"log_e": part.monitor.log_e, "largest_log_e": part.log_peak}),
            "flagged_alone_from": limit(part.number, level),
            "flagged": part.is_flagged,
        }
        for part in parts
    ]
    # all of whose labels were known before their predictions came
    unwatched = {
        "rows": 0, "expected_errors": 0.0, "observed_errors": 0, "log_e": 0.0, "largest_log_e": 0.0,
        "flagged_alone_from": None, "flagged": False,
    }  # fmt: skip
    found += [{"slice": name, **unwatched} for name in sorted(sums) if name and name not in known]
    names = ("rows", "expected_errors", "observed_errors")
    none = (0, 0.0, 0)
    return [{**one, "all_labelled": dict(zip(names, sums.get(one["slice"], none), strict=True))} for one in found]


def _source(stream: Stream, part: str | None, since: int | None, until: int | None) -> str:
    """Which rows a report is of, such as ``fraud/3, slice DE, from 2026-03-01 until 2026-04-01``."""
    which = [] if part is None else [f"slice {part}" if part else "rows without a slice"]
    bounds = (("from", since), ("until", until))
    times = " ".join(f"{word} {_time(hour)}" for word, hour in bounds if hour is not None)
    return ", ".join([f"{stream.model}/{stream.version}", *which, *([times] if times else [])])


def _time(hour: int) -> str:
    """A day, or an hour of it, in UTC, as a query names it."""
    return time.strftime("%Y-%m-%dT%H", time.gmtime(hour * 3600)).removesuffix("T00")


def _words(stream: Stream, follower: Follower) -> str:
    flagged = [part.name for part in follower.parts.look() if part.is_flagged]
    slices = f" Slices flagged: {', '.join(flagged)}." if flagged else ""
    m = follower.monitor
    return f"{headline(stream.counts, m)}. {summary(stream.counts, m)}{slices}"

"""The slices of a stream, each watched by a monitor of its own, and which of them are flagged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.risk.stream.monitor import Monitor
from surefoot.risk.stream.slices import flag_slices
from surefoot.service.database import Cursor


@dataclass
class WatchedPart:
    """A slice: the how-manieth that appeared, its monitor, and the largest evidence that it has shown."""

    name: str
    number: int
    monitor: Monitor
    log_peak: float = 0.0
    is_flagged: bool = False
    #: Whether rows came since its evidence was looked at, and since it was saved.
    has_news: bool = False
    is_unsaved: bool = False


class WatchedParts:
    """All slices of a stream, as far as their rows were followed.

    Parameters
    ----------
    cursor : Cursor
        A transaction in which the saved ones are read.
    key : int
        The stream.
    like : Monitor
        The monitor of the whole stream; those of slices watch for the same.
    """

    def __init__(self, cursor: Cursor, key: int, like: Monitor) -> None:
        self._key, self._like = key, like
        self._held: dict[str, WatchedPart] = {}
        for name, number, text, peak in cursor.all(
            "SELECT name, number, monitor, peak FROM part WHERE stream = ? AND monitor IS NOT NULL", key
        ):
            self._held[name] = WatchedPart(name, number, Monitor.from_text(text), peak or 0.0, has_news=True)

    def meet(self, cursor: Cursor, names: Iterable[str]) -> None:
        """Begin to watch slices that are new."""
        new = [name for name in names if name not in self._held]
        if not new:
            return
        for name, number in cursor.named("part", ["name", "number"], "name", self._key, new):
            self._held[name] = WatchedPart(name, number, self._begin())

    def _begin(self) -> Monitor:
        like = self._like
        return Monitor(
            level=like.level,
            mean_time_between_false_alarms=like.mean_time_between_false_alarms,
            alternative=like.alternative,
            label_window=like.label_window,
        )

    def tell(self, predictions: Sequence[Any], labels: Sequence[Any]) -> None:
        """Predictions and labels came.

        A prediction is (event, place, confidence, doubt, unit, slice, slice_place), and a label (event, place, correct,
        slice, slice_place).
        """
        issued: dict[str, list[Any]] = {}
        known: dict[str, list[Any]] = {}
        for event, _, confidence, doubt, unit, name, place in predictions:
            if name is not None:
                issued.setdefault(name, []).append((event, place, confidence, doubt, unit))
        for event, _, correct, name, place in labels:
            if name is not None:
                known.setdefault(name, []).append((event, place, correct))
        for name in {**issued, **known}:
            part = self._held[name]
            tell(part.monitor, issued.get(name, ()), known.get(name, ()))
            part.has_news = part.is_unsaved = True

    def look(self) -> list[WatchedPart]:
        """The slices in the order in which they appeared, as they stand now."""
        parts = sorted(self._held.values(), key=lambda part: part.number)
        if any(part.has_news for part in parts):
            # slices of which no row is bet on hold their number all the same
            peaks = [0.0] * parts[-1].number
            for part in parts:
                if part.has_news:
                    part.log_peak, part.has_news = max(part.log_peak, part.monitor.log_e), False
                peaks[part.number - 1] = part.log_peak
            flags = flag_slices(peaks, self._like.level)
            for part in parts:
                part.is_flagged = flags[part.number - 1]
        return parts

    def texts(self) -> dict[str, tuple[str, float]]:
        """What there is to save: the state of each monitor, and the largest evidence."""
        return {part.name: (part.monitor.to_text(), part.log_peak) for part in self.look() if part.is_unsaved}

    def save(self, cursor: Cursor, texts: dict[str, tuple[str, float]]) -> None:
        """Keep what :meth:`texts` gave."""
        cursor.many(
            "UPDATE part SET monitor = ?, peak = CASE WHEN peak > ? THEN peak ELSE ? END WHERE stream = ? AND name = ?",
            [(text, peak, peak, self._key, name) for name, (text, peak) in texts.items()],
        )
        for name in texts:
            self._held[name].is_unsaved = False

    def stop_awaiting(self, cursor: Cursor) -> None:
        """Await no labels of rows whose ids are dropped."""
        for part in self._held.values():
            awaited = part.monitor.pending
            if not awaited:
                continue
            found = cursor.one(
                "SELECT slice_place FROM prediction WHERE stream = ? AND slice = ? AND slice_place IS NOT NULL "
                "ORDER BY slice_place LIMIT 1",
                self._key, part.name,
            )  # fmt: skip
            issued = part.monitor.issued
            part.monitor.stop_awaiting(issued if found is None else min(found[0], issued))
            if part.monitor.pending != awaited:
                part.has_news = part.is_unsaved = True


def tell(monitor: Monitor, predictions: Sequence[Any], labels: Sequence[Any]) -> None:
    """Tell a monitor of predictions (event, place, confidence, doubt, unit) and of labels (event, place, correct).

    Both are in the order of their events, and places number the predictions. Evidence is in the order of issue, so all
    predictions may be told at once; but whether a label came in time is decided by the predictions that came before it,
    however many events are told together.
    """
    before = monitor.issued
    issued = np.array([event for event, *_ in predictions])
    events, places = (np.array([row[i] for row in labels], dtype=np.int64) for i in (0, 1))
    is_late = before + np.searchsorted(issued, events) - places > monitor.label_window
    # those of predictions that were told before come first: the new ones may end the wait for them
    _label(monitor, labels, ~is_late & (places < before))
    if predictions:
        _, names, confidence, doubt, units = zip(*predictions, strict=True)
        monitor.expect(list(names), np.array(confidence), doubt=np.array(doubt), groups=np.array(units))
    _label(monitor, labels, ~is_late & (places >= before))
    monitor.stop_awaiting(monitor.issued - monitor.label_window)
    _label(monitor, labels, is_late)


def _label(monitor: Monitor, labels: Sequence[Any], chosen: Any) -> None:
    some = [labels[i] for i in np.flatnonzero(chosen).tolist()]
    if some:
        _, places, correct = zip(*some, strict=True)
        monitor.update(np.array(correct, dtype=bool), ids=list(places))

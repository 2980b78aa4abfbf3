"""Many streams whose labels come late, through a store and its followers, beside monitors that no store is behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.service.batches import Label, Prediction
from surefoot.service.database import Database
from surefoot.service.following import Follower
from surefoot.service.store import Receipt, Store

#: Rows that are issued between two looks.
STEP = 50


@dataclass
class Simulated:
    """A stream, and after which look it alarmed and had drift: by the service, and by a monitor of its own."""

    confidence: Any
    correct: Any
    #: The row that has been issued last when the label of a row comes.
    due: Any
    follower: Follower | None = None
    offline: sf.Monitor = field(default_factory=sf.Monitor)
    alarmed: dict[str, int | None] = field(default_factory=lambda: {"service": None, "offline": None})
    drifted: dict[str, int | None] = field(default_factory=lambda: {"service": None, "offline": None})
    #: At how many looks the two differed.
    differences: int = 0

    def labels_at(self, look: int) -> Any:
        """Rows whose labels come before a look, in the order in which they do."""
        here = np.flatnonzero(self.due // STEP == look)
        return here[np.argsort(self.due[here], kind="stable")]


def draw(rows: int, seed: int, *, change: int | None = None, errors_first: bool = False) -> Simulated:
    """Calibrated predictions, or twice the errors from a row on; labels come up to some hundred rows late."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.6, 0.99, rows)
    share = 1 - confidence
    if change is not None:
        share[change:] = np.minimum(2 * share[change:], 0.9)
    correct = rng.random(rows) >= share
    delay = rng.integers(0, rng.integers(1, 400), rows)
    if errors_first:
        delay = np.where(correct, delay, 0)
    return Simulated(confidence, correct, np.arange(rows) + delay)


def run(database: Database, streams: list[Simulated]) -> None:
    """All streams side by side, looked at after every step."""
    store = Store(database)
    rows = len(streams[0].correct)
    looks = 1 + max(int(one.due.max()) for one in streams) // STEP
    for look in range(looks):
        with database.writing() as cursor:
            for number, one in enumerate(streams):
                some = range(look * STEP, min((look + 1) * STEP, rows))
                labels = one.labels_at(look)
                jobs = [
                    [Prediction(str(i), float(one.confidence[i]), 1.0 - float(one.confidence[i])) for i in some],
                    [Label(str(i), correct=bool(one.correct[i])) for i in labels],
                ]
                for result in store.add_within(cursor, f"m{number}", "1", [job for job in jobs if job]):
                    assert isinstance(result, Receipt)
                if len(some):
                    one.offline.expect(list(some), one.confidence[some], groups=np.arange(len(some)))
                if len(labels):
                    one.offline.update(one.correct[labels], ids=labels.tolist())
        for number, one in enumerate(streams):
            if one.follower is None:
                one.follower = Follower(store, store.find(f"m{number}", "1"), label_window=100_000)
            online = one.follower.follow()
            one.differences += (online.alarm_row, online.drift_rows) != (one.offline.alarm_row, one.offline.drift_rows)
            for name, monitor in (("service", online), ("offline", one.offline)):
                if monitor.alarm and one.alarmed[name] is None:
                    one.alarmed[name] = look
                if monitor.drift and one.drifted[name] is None:
                    one.drifted[name] = look

"""Saved monitors: their state as plain data, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from surefoot._io import documents
from surefoot._io.documents import numbers
from surefoot.errors import InvalidMonitor
from surefoot.risk.stream.episodes import Episode, History, Runs
from surefoot.risk.stream.eprocess import Side
from surefoot.risk.stream.id_set import IdSet, plain_id
from surefoot.risk.stream.issued import AWAITED, Issued
from surefoot.risk.stream.monitor_shape import SHAPE, SIDES

SCHEMA = 2

COUNTS = ("rows", "errors", "repeated", "unlabelled")
Built = TypeVar("Built")


@dataclass
class MonitorState:
    """What a monitor goes on from: the arguments it was made with, its counts, its bets, and the rows it knows of."""

    options: dict[str, Any]
    counts: dict[str, int]
    stated: float
    alarm_row: int | None
    alarm_side: str | None
    drift_rows: list[int]
    has_new_drift: bool
    sides: dict[str, Side]
    restarted: int
    episodes: tuple[Episode, ...]
    runs: dict[str, Runs]
    history: History
    issued: Issued
    counted: IdSet


def save(path: str | PathLike[str], state: MonitorState) -> None:
    """Write the state: the whole of it, or nothing."""
    documents.write(path, "monitor", SCHEMA, _pack(state))


def dump(state: MonitorState) -> str:
    """The text of a saved state."""
    return documents.dump("monitor", SCHEMA, _pack(state))


def _pack(state: MonitorState) -> dict[str, Any]:
    return {
        **state.options,
        **state.counts,
        "stated": state.stated,
        "alarm_row": state.alarm_row,
        "alarm_side": state.alarm_side,
        "drift_rows": state.drift_rows,
        "drift": state.has_new_drift,
        "sides": {
            name: {"wealth": numbers(side.wealth), "stakes": numbers(side.stakes), "is_refuted": side.is_refuted}
            for name, side in state.sides.items()
        },
        "restarted": state.restarted,
        "episodes": [asdict(episode) for episode in state.episodes],
        "runs": {name: runs.pack() for name, runs in state.runs.items()},
        "history": state.history.pack(),
        "issued": {
            "start": state.issued.start,
            "rows": [list(row) for row in state.issued.rows.tolist()],
            "awaited": [[name, place] for name, place in state.issued.places.items()],
        },
        "seen": state.counted.pack(),
    }


def parse(text: str, source: str, build: Callable[[MonitorState], Built]) -> Built:
    """As :func:`load`, of the text of a saved state."""
    content = text.encode()
    return documents.parse(content, source, "monitor", SCHEMA, SHAPE, lambda body: build(_unpack(body)), InvalidMonitor)


def load(path: str | PathLike[str], build: Callable[[MonitorState], Built]) -> Built:
    """What ``build`` makes of a saved state; one that is damaged, foreign or newer is an error."""
    return documents.read(path, "monitor", SCHEMA, SHAPE, lambda body: build(_unpack(body)), InvalidMonitor)


def _unpack(body: dict[str, Any]) -> MonitorState:
    # the first version held no window, and what was expected apart, in the order of issue
    options = (
        "level",
        "mean_time_between_false_alarms",
        "alternative",
        *(("label_window",) * ("label_window" in body)),
    )
    counts = {name: body.get(name, 0) if name == "unlabelled" else body[name] for name in COUNTS}
    if "issued" not in body and "expected" not in body:
        raise ValueError("it does not hold the predictions whose labels are awaited")
    watched = SIDES if body["alternative"] == "both" else (body["alternative"],)
    if missing := [name for name in watched if name not in body["sides"]]:
        raise ValueError(f"the bets of {missing[0]} are missing")
    return MonitorState(
        options={name: body[name] for name in options},
        counts=counts,
        stated=float(body["stated"]),
        alarm_row=body["alarm_row"],
        alarm_side=body.get("alarm_side"),
        drift_rows=list(body["drift_rows"]),
        has_new_drift=bool(body["drift"]),
        sides={name: _unpack_side(side) for name, side in body["sides"].items()},
        restarted=int(body.get("restarted", 0)),
        # earlier versions held none of these
        episodes=tuple(_unpack_episode(episode) for episode in body.get("episodes", ())),
        runs={name: Runs.unpack(runs) for name, runs in body.get("runs", {}).items()},
        history=History.unpack(body["history"]) if "history" in body else History(),
        issued=_unpack_issued(body["issued"])
        if "issued" in body
        else _issued_of_first_version(counts["rows"], body["expected"]),
        counted=IdSet([(start, stop) for start, stop in body["seen"]["stretches"]], body["seen"]["names"]),
    )


def _unpack_episode(body: dict[str, Any]) -> Episode:
    episode = Episode(**{field.name: body[field.name] for field in fields(Episode)})
    if not episode.onset <= episode.first_alarm <= episode.last_alarm:
        raise ValueError("an episode ends before it begins")
    return episode


def _unpack_side(body: dict[str, Any]) -> Side:
    wealth, stakes = (np.array([float(value) for value in body[name]]) for name in ("wealth", "stakes"))
    return Side(wealth, stakes, body["is_refuted"])


def _unpack_issued(body: dict[str, Any]) -> Issued:
    issued = Issued(int(body["start"]))
    confidence, doubt, state, unit = np.array(body["rows"], dtype=np.float64).reshape(-1, 4).T
    issued.add(confidence, doubt, state, np.unique(unit, return_counts=True)[1])
    issued.places = {plain_id(name): int(place) for name, place in body["awaited"]}
    awaited = np.flatnonzero(issued.rows["state"] == AWAITED) + issued.start
    if sorted(issued.places.values()) != awaited.tolist():
        raise ValueError("the rows whose labels are awaited are not those named")
    return issued


def _issued_of_first_version(rows: int, claims: list[Any]) -> Issued:
    issued = Issued(rows)
    for name, confidence, doubt in claims:
        issued.places[plain_id(name)] = issued.stop
        issued.add([float(confidence)], [float(doubt)], AWAITED, [1])
    return issued

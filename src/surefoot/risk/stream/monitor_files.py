"""Saved monitors."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from surefoot._io import documents
from surefoot._io.documents import numbers
from surefoot.errors import InvalidMonitor
from surefoot.risk.stream.eprocess import Side
from surefoot.risk.stream.id_set import IdSet
from surefoot.risk.stream.issued import AWAITED, Issued
from surefoot.risk.stream.monitor import Monitor

SCHEMA = 2

_COUNTS = ("rows", "errors", "repeated", "unlabelled")


def save(monitor: Monitor, path: str | PathLike[str]) -> None:
    documents.write(path, "monitor", SCHEMA, _packed(monitor))


def load(path: str | PathLike[str]) -> Monitor:
    return documents.read(path, "monitor", SCHEMA, _unpacked, InvalidMonitor)


def _packed(m: Monitor) -> dict[str, Any]:
    m._look()
    return {
        "level": m.level,
        "mean_time_between_false_alarms": m.mean_time_between_false_alarms,
        "alternative": m.alternative,
        "label_window": m.label_window,
        **{name: getattr(m, name) for name in _COUNTS},
        "stated": m.stated,
        "alarm_row": m.alarm_row,
        "drift_rows": m.drift_rows,
        "drift": m.drift,
        "sides": {
            name: {"wealth": numbers(side.wealth), "stakes": numbers(side.stakes), "is_refuted": side.is_refuted}
            for name, side in m._sides.items()
        },
        "restarted": m._restarted,
        "issued": {
            "start": m._issued.start,
            "rows": [list(row) for row in m._issued.rows.tolist()],
            "awaited": [[name, place] for name, place in m._issued.places.items()],
        },
        "seen": m._seen.packed(),
    }


def _unpacked(body: dict[str, Any]) -> Monitor:
    # the first version held no window, and what was expected apart, in the order of issue
    m = Monitor(
        **{name: body[name] for name in ("level", "mean_time_between_false_alarms", "alternative")},
        **({"label_window": body["label_window"]} if "label_window" in body else {}),
    )
    for name in _COUNTS:
        count = body.get(name, 0) if name == "unlabelled" else body[name]
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"{name} is {count!r}")
        setattr(m, name, count)
    m.stated, m._alarm_row, m._drift_rows, m._unseen_drift = (
        float(body["stated"]),
        body["alarm_row"],
        list(body["drift_rows"]),
        bool(body["drift"]),
    )
    for name, new in m._sides.items():
        old = {field: np.array([float(v) for v in body["sides"][name][field]]) for field in ("wealth", "stakes")}
        if old["wealth"].shape != new.wealth.shape or old["stakes"].shape != new.stakes.shape:
            raise ValueError("the bets are not those of this version")
        m._sides[name] = Side(**old, is_refuted=bool(body["sides"][name]["is_refuted"]))
    m._restarted = int(body.get("restarted", 0))
    if "issued" in body:
        m._issued = _issued(body["issued"])
    else:
        m._issued = Issued(m.rows)
        for name, confidence, doubt in body["expected"]:
            m._issued.places[name] = m._issued.stop
            m._issued.add([float(confidence)], [float(doubt)], AWAITED, [1])
    m._seen = IdSet([(start, stop) for start, stop in body["seen"]["stretches"]], body["seen"]["names"])
    return m


def _issued(body: dict[str, Any]) -> Issued:
    held = Issued(int(body["start"]))
    confidence, doubt, state, unit = np.array(body["rows"], dtype=np.float64).reshape(-1, 4).T
    _, sizes = np.unique(unit, return_counts=True)
    held.add(confidence, doubt, state, sizes)
    places = {name: int(place) for name, place in body["awaited"]}
    awaited = np.flatnonzero(held.rows["state"] == AWAITED) + held.start
    if sorted(places.values()) != awaited.tolist():
        raise ValueError("the rows whose labels are awaited are not those named")
    held.places = places
    return held

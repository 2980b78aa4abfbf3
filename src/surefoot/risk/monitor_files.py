"""Saved monitors."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from surefoot import documents
from surefoot.documents import numbers
from surefoot.errors import InvalidMonitor
from surefoot.risk.monitor import Monitor
from surefoot.risk.seen import Seen
from surefoot.risk.watching import Side

SCHEMA = 1

_COUNTS = ("rows", "errors", "repeated")


def save(monitor: Monitor, path: str | PathLike[str]) -> None:
    documents.write(path, "monitor", SCHEMA, _packed(monitor))


def load(path: str | PathLike[str]) -> Monitor:
    return documents.read(path, "monitor", SCHEMA, _unpacked, InvalidMonitor)


def _packed(m: Monitor) -> dict[str, Any]:
    return {
        "level": m.level,
        "mean_time_between_false_alarms": m.mean_time_between_false_alarms,
        "alternative": m.alternative,
        **{name: getattr(m, name) for name in _COUNTS},
        "stated": m.stated,
        "alarm_row": m.alarm_row,
        "drift_rows": m.drift_rows,
        "drift": m.drift,
        "sides": {
            name: {"wealth": numbers(side.wealth), "stakes": numbers(side.stakes), "is_refuted": side.is_refuted}
            for name, side in m._sides.items()
        },
        "expected": [[name, confidence, doubt] for name, (confidence, doubt) in m._expected.items()],
        "seen": m._seen.packed(),
    }


def _unpacked(body: dict[str, Any]) -> Monitor:
    m = Monitor(
        level=body["level"],
        mean_time_between_false_alarms=body["mean_time_between_false_alarms"],
        alternative=body["alternative"],
    )
    for name in _COUNTS:
        if isinstance(body[name], bool) or not isinstance(body[name], int) or body[name] < 0:
            raise ValueError(f"{name} is {body[name]!r}")
        setattr(m, name, body[name])
    m.stated, m.alarm_row, m.drift_rows, m._unseen_drift = (
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
    m._expected = {name: (float(confidence), float(doubt)) for name, confidence, doubt in body["expected"]}
    m._seen = Seen([(start, stop) for start, stop in body["seen"]["stretches"]], body["seen"]["names"])
    return m

"""Labelled rows whose ids are still kept: to take along, and what a calibrator that is fitted to them brings."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._stats.quantiles import quantile
from surefoot.calibrators.registry import METHODS
from surefoot.errors import CertaintyWarning
from surefoot.service.database import Database
from surefoot.service.store import Stream

#: Rows that are read, the last ones; and how many it takes to fit a calibrator to one half and look at the other.
MOST_ROWS, _LEAST = 20_000, 200
#: The calibrator that is suggested, which has a guarantee, and its name in a shell.
METHOD, NAME = "SafePlatt", "safe_platt"
_COLUMNS = ("id", "confidence", "doubt", "correct", "predicted", "label", "slice")


@dataclass(frozen=True)
class Suggestion:
    """Log loss of the last labelled rows as it is, and with the calibrator, fitted to one half for the other in turn.

    ``saved`` is how much lower it is, with a 95% confidence interval.
    """

    rows: int
    log_loss: float
    log_loss_after: float
    saved: float
    low: float
    high: float


def hour_of(database: Database, stream: Stream, place: int) -> int | None:
    """The hour in which a prediction came, by its place; None if neither it nor a later one is kept."""
    with database.reading() as cursor:
        found = cursor.one(
            "SELECT hour FROM prediction WHERE stream = ? AND event > ? AND place >= ? ORDER BY event LIMIT 1",
            stream.key, place, place,
        )  # fmt: skip
    return None if found is None else int(found[0])


def labelled_rows(database: Database, stream: Stream, since: int = 0) -> list[Any]:
    """The last labelled rows that are kept, in the order in which they came, from an hour on."""
    with database.reading() as cursor:
        rows: list[Any] = cursor.all(
            f"SELECT {', '.join(_COLUMNS)} FROM prediction WHERE stream = ? AND event > 0 AND hour >= ? "
            "AND complete IS NOT NULL ORDER BY event DESC LIMIT ?",
            stream.key, since, MOST_ROWS,
        )  # fmt: skip
    return rows[::-1]


def as_lines(rows: list[Any]) -> str:
    """Rows as JSON lines; what is not known is left out."""
    lines = []
    for row in rows:
        held = {name: value for name, value in zip(_COLUMNS, row, strict=True) if value is not None}
        lines.append(json.dumps({**held, "correct": bool(held["correct"])}) + "\n")
    return "".join(lines)


def suggest(rows: list[Any]) -> Suggestion | None:
    """What the calibrator brings; None where there are too few rows, or all have one outcome."""
    if len(rows) < _LEAST:
        return None
    confidence, doubt, correct = np.array([row[1:4] for row in rows], dtype=np.float64).T
    after, half = np.empty(len(rows)), np.arange(len(rows)) % 2
    for turn in (0, 1):
        own = half == turn
        if not 0 < correct[own].sum() < own.sum():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CertaintyWarning)
            fitted = METHODS[METHOD]().fit(confidence[own], correct[own].astype(int), labels=[0, 1])
        after[~own] = fitted.predict_proba(confidence[~own])[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        before, then = (
            -np.log(np.where(correct > 0, sure, unsure)) for sure, unsure in ((confidence, doubt), (after, 1 - after))
        )
        saved = before - then
        mean, reach = float(saved.mean()), quantile(0.95) * float(saved.std()) / math.sqrt(len(rows))
    return Suggestion(len(rows), float(before.mean()), float(then.mean()), mean, mean - reach, mean + reach)

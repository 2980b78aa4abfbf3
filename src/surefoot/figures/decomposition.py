"""A score taken apart: a bar for what was uncertain, what discrimination gains, and what miscalibration costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from surefoot.figures.coverage import round_numbers
from surefoot.figures.figure import Axis, Tick
from surefoot.figures.labels import significant
from surefoot.risk.intervals import Interval

PARTS = ("uncertainty", "discrimination", "miscalibration")


@dataclass(frozen=True)
class Step:
    """A bar from where the one before it ends; the interval is that of its end."""

    words: str
    start: float
    end: float
    kind: Literal["total", "gain", "cost"]
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Waterfall:
    """The parts of a score, one bar each, on one axis from 0."""

    steps: tuple[Step, ...]
    axis: Axis


def decomposition_of(metrics: Mapping[str, float], intervals: Mapping[str, Interval] | None = None) -> Waterfall | None:
    """The bars of the Brier score; None where its parts are not known."""
    if any(math.isnan(metrics.get(name, math.nan)) for name in PARTS):
        return None
    uncertainty, discrimination, miscalibration = (metrics[name] for name in PARTS)
    best = uncertainty - discrimination
    score = best + miscalibration

    def ends(name: str, start: float, sign: int) -> tuple[float, float] | None:
        found = (intervals or {}).get(name)
        if found is None or found.is_absent:
            return None
        one, other = sorted((start + sign * found.low, start + sign * found.high))
        return max(0.0, one), other

    steps = (
        Step(f"Uncertainty {_text(uncertainty)}", 0.0, uncertainty, "total"),
        Step(
            f"− Discrimination {_text(discrimination)}",
            uncertainty,
            best,
            "gain",
            ends("discrimination", uncertainty, -1),
        ),
        Step(f"+ Miscalibration {_text(miscalibration)}", best, score, "cost", ends("miscalibration", best, 1)),
        Step(f"= Brier score {_text(score)}", 0.0, score, "total"),
    )
    reach = [end for step in steps for end in (step.start, step.end, *(step.interval or ()))]
    top = max(reach) * 1.02 or 0.01
    ticks = tuple(Tick(value, f"{value:g}") for value in round_numbers(top))
    return Waterfall(steps, Axis("Brier score", 0.0, top, ticks))


def _text(value: float) -> str:
    return significant(value) if abs(value) >= 1e-12 else "0"

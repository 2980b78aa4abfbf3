"""The parts of a figure: axes, curves, points, bars and texts, all in the units of the axes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

#: More errors than expected, fewer, neither for sure, or nothing to tell by.
Kind = Literal["over", "under", "fair", "dot"]
#: Besides a ring, a limit with the truth above it, and one with the truth below it.
MarkKind = Kind | Literal["ring", "none", "below"]
#: A note explains a line, and a faint label belongs to a minor curve.
TextKind = Literal["note", "label", "faint", "factor"]

#: The height in pixels that offsets of texts are made for.
HEIGHT = 300


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis."""

    value: float
    label: str


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, its ends, and its ticks."""

    title: str
    low: float
    high: float
    ticks: tuple[Tick, ...]
    is_log: bool = False

    def share(self, value: float) -> float:
        """The position of a value, 0 at the low end and 1 at the high one."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def clipped_share(self, value: float) -> float:
        """The position of a value, at an end where it lies beyond."""
        return self.share(min(max(value, self.low), self.high))

    def value(self, share: float) -> float:
        """The value at a position."""
        if self.is_log:
            return float(self.low * (self.high / self.low) ** share)
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True)
class Mark:
    """A symbol at a place."""

    kind: MarkKind
    x: float
    y: float


@dataclass(frozen=True)
class Text:
    """Words at a place, moved right and down by ``offset`` pixels, with a mark before them in a legend."""

    words: str
    x: float
    y: float
    anchor: Literal["start", "middle", "end"]
    offset: tuple[float, float]
    kind: TextKind = "note"
    mark: MarkKind | None = None


@dataclass(frozen=True)
class Curve:
    """A line through many places; a minor one stands behind the main one."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    is_main: bool = True


@dataclass(frozen=True)
class Area:
    """What lies between two lines: a band of confidence."""

    x: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]


@dataclass(frozen=True)
class Point:
    """What is drawn for one row of the table behind the figure, and the range of x in which a pointer selects it."""

    row: int
    left: float
    right: float
    marks: tuple[Mark, ...]
    kind: Kind = "dot"
    interval: tuple[float, float] | None = None
    label: Text | None = None
    #: Whether the interval stands back: that of no error at all reaches far, and many of them would be a fence.
    is_faint: bool = False


@dataclass(frozen=True)
class Bar:
    """The number of rows in a bin, its height as a share of the highest bar."""

    x: float
    width: float
    height: float
    label: str


@dataclass(frozen=True)
class Layer:
    """The points and bars of all rows, or of one slice."""

    points: tuple[Point, ...]
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class Figure:
    """All that a renderer draws; ``layers`` holds all rows under ``"all"`` and slices under keys of their own."""

    title: str
    x: Axis
    y: Axis
    layers: Mapping[str, Layer]
    #: The ends of the line that data are compared to.
    ideal: tuple[tuple[float, float], tuple[float, float]] | None = None
    curves: tuple[Curve, ...] = ()
    texts: tuple[Text, ...] = ()
    areas: tuple[Area, ...] = ()
    #: In pixels; one of several small pictures is lower.
    height: float = HEIGHT

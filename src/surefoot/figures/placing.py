"""Where words fit into a figure: a text is placed where nothing else is, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from surefoot.figures.figure import HEIGHT, Axis, Point, Text, TextKind, Tick

#: The narrowest width, in pixels, in which texts must not collide: a phone's.
NARROW = 262
#: The width of a character as a share of the size of the type, and sizes of the type in pixels.
_CHARACTER, SIZE, SMALL, TINY = 0.6, 12.0, 11.0, 10.5
#: Half the size of a mark, half the width of a line, and the least gap between tick labels.
_MARK, _LINE, _GAP = 6.0, 2.0, 7.0
#: Room that a text has to either side.
_ROOM = 2.0


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def width_of(words: str, size: float = SIZE) -> float:
    """About how wide words are, in pixels."""
    return _CHARACTER * size * len(words)


@dataclass
class Canvas:
    """A figure while it is filled: axes in pixels of the narrowest picture, and what is already there."""

    x: Axis
    y: Axis
    taken: list[Box] = field(default_factory=list)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The place of a value, in pixels."""
        return NARROW * self.x.share(x), HEIGHT * (1 - self.y.share(y))

    def add_mark(self, x: float, y: float) -> None:
        left, top = self.at(x, y)
        self.taken.append(Box(left - _MARK, top - _MARK, left + _MARK, top + _MARK))

    def add_line(self, x: float, low: float, high: float) -> None:
        """A vertical line."""
        (left, bottom), (_, top) = self.at(x, low), self.at(x, high)
        self.taken.append(Box(left - _LINE, min(top, bottom), left + _LINE, max(top, bottom)))

    def add_curve(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        """A curve, as boxes from each of its points to the next."""
        places = [self.at(x, y) for x, y in zip(xs, ys, strict=True)]
        for (left, one), (right, other) in pairwise(places):
            self.taken.append(Box(left - _LINE, min(one, other) - _LINE, right + _LINE, max(one, other) + _LINE))

    def add_point(self, point: Point) -> None:
        for mark in point.marks:
            self.add_mark(mark.x, mark.y)
        if point.interval is not None:
            self.add_line(point.marks[0].x, *point.interval)

    def box_of(self, text: Text, size: float = SIZE) -> Box:
        """The place that a text takes."""
        x, y = self.at(text.x, text.y)
        x, y, wide = x + text.offset[0], y + text.offset[1], width_of(text.words, size)
        left = x if text.anchor == "start" else x - wide if text.anchor == "end" else x - wide / 2
        return Box(left - _ROOM, y - 0.8 * size, left + wide + _ROOM, y + 0.25 * size)

    def place(self, candidates: Iterable[Text], *, size: float = SIZE) -> Text | None:
        """The first candidate that is inside and covers nothing; it is taken from then on."""
        for text in candidates:
            box = self.box_of(text, size)
            inside = box.left >= -4 and box.right <= NARROW + 10 and box.top >= -4 and box.bottom <= HEIGHT
            if inside and not any(box.overlaps(other) for other in self.taken):
                self.taken.append(box)
                return text
        return None


def notes_along(words: str, places: Iterable[tuple[float, float]], kind: TextKind = "note") -> list[Text]:
    """Candidates for a note on a rising line: over it, to the left."""
    return [Text(words, x, y, "end", (-8, -6), kind) for x, y in places]


def fitting_ticks(axis: Axis, choices: Iterable[tuple[Tick, ...]]) -> tuple[Tick, ...]:
    """The first choice of ticks whose labels do not touch in the narrowest picture; the last if all do."""
    ticks: tuple[Tick, ...] = ()
    for ticks in choices:
        places = [(NARROW * axis.share(tick.value), width_of(tick.label)) for tick in ticks]
        gaps = (right - left - (wide + wider) / 2 for (left, wide), (right, wider) in pairwise(places))
        if all(gap >= _GAP for gap in gaps):
            break
    return ticks

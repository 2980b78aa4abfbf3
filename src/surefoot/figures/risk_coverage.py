"""Errors among accepted rows by how many are accepted, with the band, the promise and the threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.core.table import Floats
from surefoot.figures.coverage import round_numbers
from surefoot.figures.figure import Area, Axis, Curve, Figure, Layer, Mark, Point, Text
from surefoot.figures.labels import QUARTERS, percent_ticks
from surefoot.figures.placing import Canvas

#: Shares of rows accepted that have a row in the table behind the figure.
_MARKED = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
#: The share of rows below which a few errors make the curve jump: it does not decide the height of the axis.
_FEW = 0.05
#: How close to the threshold another mark would touch its mark.
_BESIDE = 0.04
#: How many times the promised rate the axis reaches at most.
_TIMES = 10
#: Places of a curve that are drawn.
_DRAWN = 240


@dataclass(frozen=True)
class Chosen:
    """The threshold, and the words at its mark."""

    coverage: float
    error_rate: float
    limits: tuple[float, float]
    words: str


@dataclass(frozen=True)
class RiskCoverage:
    """The curve from few accepted rows to all, the promised error rate if there is one, and the threshold."""

    coverage: Floats
    error_rate: Floats
    lower: Floats
    upper: Floats
    promise: float | None = None
    promise_words: str = ""
    chosen: Chosen | None = None

    @property
    def marked(self) -> list[int]:
        """The places on the curve that are marked: round shares of rows, as near as there are any."""
        return list(dict.fromkeys(int(np.abs(self.coverage - share).argmin()) for share in _MARKED))

    def figure(self) -> Figure:
        top = self._top()
        at = self._drawn()
        xs = tuple(self.coverage[at].tolist())
        lower, upper = (tuple(np.minimum(values[at], top).tolist()) for values in (self.lower, self.upper))
        x = Axis("Coverage: share of rows accepted, surest first", 0, 1, QUARTERS)
        y = Axis("Errors among them", 0, top, percent_ticks(round_numbers(top)))
        curves = tuple(_parts(self.coverage[at], self.error_rate[at], top))
        points = tuple(self._points(top))
        promise = None if self.promise is None else ((0.0, self.promise), (1.0, self.promise))
        texts = self._texts(Canvas(x, y), curves, points)
        return Figure(
            "Errors by coverage", x, y, {"all": Layer(points)}, promise, curves, texts, (Area(xs, lower, upper),)
        )

    @property
    def is_cut(self) -> bool:
        """Whether higher error rates are left out, so that the promise can be seen."""
        return self._top() < self._highest()

    def _highest(self) -> float:
        """The end of an axis that holds the curve and its band where there are rows enough, and the promise."""
        enough = self.coverage >= min(_FEW, float(self.coverage.max()))
        promise = 0.0 if self.promise is None else 1.5 * self.promise
        chosen = 0.0 if self.chosen is None else 1.1 * self.chosen.limits[1]
        highest = max(1.1 * float(self.error_rate[enough].max()), 1.05 * float(self.upper[-1]), promise, chosen)
        return min(1.0, highest) or 0.01

    def _top(self) -> float:
        return self._highest() if self.promise is None else min(self._highest(), _TIMES * self.promise)

    def _drawn(self) -> list[int]:
        """Places on the curve, not more than can be told apart."""
        if len(self.coverage) <= _DRAWN:
            return list(range(len(self.coverage)))
        wanted = np.linspace(float(self.coverage[0]), 1, _DRAWN)
        nearest = np.searchsorted(self.coverage, wanted).clip(0, len(self.coverage) - 1)
        return np.unique(np.append(nearest, len(self.coverage) - 1)).tolist()  # type: ignore[no-any-return]

    def _points(self, top: float) -> list[Point]:
        points = []
        for row, i in enumerate(self.marked):
            place, rate = float(self.coverage[i]), float(self.error_rate[i])
            is_hidden = self.chosen is not None and abs(place - self.chosen.coverage) < _BESIDE
            if rate <= top and not is_hidden:
                points.append(Point(row, place - 0.04, place + 0.04, (Mark("ring", place, rate),)))
        if self.chosen is not None:
            # on top of the others
            place = self.chosen.coverage
            mark = Mark("dot", place, self.chosen.error_rate)
            low, high = (min(end, top) for end in self.chosen.limits)
            points.append(Point(len(self.marked), place - 0.02, place + 0.02, (mark,), interval=(low, high)))
        return points

    def _texts(self, canvas: Canvas, curves: tuple[Curve, ...], points: tuple[Point, ...]) -> tuple[Text, ...]:
        for curve in curves:
            canvas.add_curve(curve.x, curve.y)
        for point in points:
            canvas.add_point(point)
        found: list[Text | None] = []
        if self.promise is not None:
            canvas.add_curve((0, 1), (self.promise, self.promise))
        if self.chosen is not None:
            one = self.chosen
            offsets = (
                ("end", (-10, 16)),
                ("start", (10, 20)),
                ("end", (-10, 30)),
                ("start", (10, 34)),
                ("end", (-10, -8)),
            )
            higher = (
                ("start", (10, -8)),
                ("end", (-10, -24)),
                ("start", (10, -24)),
                ("end", (-10, -44)),
                ("start", (10, -44)),
            )
            found.append(
                canvas.place(
                    [
                        Text(one.words, one.coverage, one.error_rate, anchor, offset, "label")  # type: ignore[arg-type]
                        for anchor, offset in (*offsets, *higher)
                    ]
                )
            )
        if self.promise is not None:
            places = [(0.0, "start", 4), (1.0, "end", -4), (0.5, "middle", 0)]
            found.append(
                canvas.place(
                    [
                        Text(self.promise_words, x, self.promise, anchor, (dx, dy))  # type: ignore[arg-type]
                        for dy in (-6, 16)
                        for x, anchor, dx in places
                    ]
                )
            )
        return tuple(text for text in found if text is not None)


def _parts(xs: Floats, ys: Floats, top: float) -> list[Curve]:
    """The parts of a curve that are below the end of the axis."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (ys <= top).astype(int), [0]]))).tolist()
    runs = [slice(first, after) for first, after in zip(edges[::2], edges[1::2], strict=True) if after - first > 1]
    return [Curve(tuple(xs[run].tolist()), tuple(ys[run].tolist())) for run in runs]

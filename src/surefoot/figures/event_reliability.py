"""Reliability of an event: how often it happens by its predicted probability, over the whole range and at its ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from surefoot._stats.binomial import limits
from surefoot.figures.figure import HEIGHT, Area, Axis, Curve, Figure, Layer, Mark, Point, Text, Tick
from surefoot.figures.labels import QUARTERS, percent_ticks, significant
from surefoot.figures.placing import Canvas, fitting_ticks, notes_along
from surefoot.figures.reliability import Bin, layers_of
from surefoot.metrics.flexible import FlexibleCurve
from surefoot.metrics.tallying import RELIABILITY_BINS
from surefoot.risk.law.cells import PER_DECADE
from surefoot.risk.law.counts import Counts

#: Where on the line its name may stand, as shares of the axis.
_ALONG = (0.62, 0.53, 0.75, 0.45, 0.85, 0.97, 0.35)
#: The height of one of several small pictures.
_SMALL = 130
#: Powers of ten that the axes of log-odds reach at most, and at least.
_FARTHEST, _NEAREST = 5, 2
#: The width of a bar as a share of its bin.
_WIDE = 0.7


def event_figure(
    layers: Mapping[str, Sequence[Bin]],
    curve: FlexibleCurve | None,
    title: str = "Reliability",
    *,
    is_small: bool = False,
) -> Figure:
    """The observed share of events by predicted probability, from 0 to 1, with the smoothed curve and its band.

    Points below the line: fewer events than predicted. One of several small pictures has no titles and no words.
    """
    halves = percent_ticks((0, 0.5, 1))
    x = Axis("" if is_small else "Predicted probability", 0, 1, halves if is_small else QUARTERS)
    y = Axis("" if is_small else "Observed share", 0, 1, halves if is_small else QUARTERS)

    def point(row: int, one: Bin) -> Point:
        interval = None if math.isnan(one.low) else (1 - one.high, 1 - one.low)
        mark = Mark(one.kind, 1 - one.doubt, 1 - one.error)
        return Point(row, one.least, one.most, (mark,), one.kind, interval)

    drawn = layers_of(
        layers, point, lambda one: (one.least + one.most) / 2, _WIDE / (len(RELIABILITY_BINS.edges) + 1), x
    )
    if is_small:
        drawn = {key: _unlabelled(layer) for key, layer in drawn.items()}
    curves, areas = smoothed(curve)
    figure = Figure(title, x, y, drawn, ((0, 0), (1, 1)), curves, (), areas, _SMALL if is_small else HEIGHT)
    return figure if is_small else replace(figure, texts=_notes(figure))


def smoothed(curve: FlexibleCurve | None) -> tuple[tuple[Curve, ...], tuple[Area, ...]]:
    """The curve and its band; nothing where there is none, or only one point of it."""
    if curve is None or len(curve.predicted) < 2:
        return (), ()
    columns = (curve.predicted, curve.observed, curve.lower, curve.upper)
    x, y, lower, upper = (tuple(column.tolist()) for column in columns)
    return (Curve(x, y),), (Area(x, lower, upper),)


def _notes(figure: Figure) -> tuple[Text, ...]:
    """What the line means, and its lower side, where there is room."""
    canvas = Canvas(figure.x, figure.y)
    for point in figure.layers["all"].points:
        canvas.add_point(point)
    for curve in figure.curves:
        canvas.add_curve(curve.x, curve.y)
    along = [(value, value) for value in map(canvas.x.value, _ALONG)]
    words = "below the line: fewer than predicted"
    low = canvas.y.low
    below = [Text(words, canvas.x.value(share), low, "end", (-4, -10)) for share in (1.0, 0.95)]
    found = (canvas.place(notes_along("calibrated", along)), canvas.place(below))
    return tuple(text for text in found if text is not None)


def log_odds_bins(counts: Counts, effect: float = 1.0) -> tuple[Bin, ...]:
    """Bins of predicted probability that get finer towards both ends, two for every factor of ten.

    ``least`` and ``most`` are the range of probability, and errors are rows without the event, as in every bin.
    """
    kept = (counts.doubt > 0) & (counts.confidence > 0)
    if not kept.any():
        return ()
    p, q = counts.confidence[kept], counts.doubt[kept]
    most = _FARTHEST * PER_DECADE
    # what lies beyond the axes is one bin at either end
    steps = np.clip(np.floor((np.log10(p) - np.log10(q)) * PER_DECADE), -most - 1, most).astype(np.int64)
    codes, where = np.unique(steps, return_inverse=True)
    columns = (counts.rows[kept], (counts.rows * counts.doubt)[kept], counts.wrong[kept])
    rows, stated, seen = (np.bincount(where, column).astype(np.float64) for column in columns)
    low, high = limits(seen / effect, rows / effect)
    found = []
    for i, code in enumerate(codes.tolist()):
        least = 0.0 if code < -most else _probability(code / PER_DECADE)
        above = 1.0 if code >= most else _probability((code + 1) / PER_DECADE)
        numbers = (float(column[i]) for column in (rows, stated, seen, low, high))
        found.append(Bin(least, above, *numbers))
    return tuple(found)


def _probability(log10_odds: float) -> float:
    return float(1 / (1 + 10.0**-log10_odds))


def _place(p: float, reach: float) -> float:
    """Where a probability stands: the logarithm of its odds, at an end of the axis where it lies beyond."""
    if p <= 0 or p >= 1:
        return reach if p >= 1 else -reach
    return min(reach, max(-reach, math.log10(p) - math.log10(1 - p)))


def log_odds_figure(layers: Mapping[str, Sequence[Bin]]) -> Figure:
    """The same on axes of log-odds, on which probabilities near 0 and near 1 have room."""
    ends = [end for bins in layers.values() for one in bins for end in (one.doubt, 1 - one.doubt)]
    least = min((end for end in ends if end > 0), default=0.01)
    # what lies beyond the farthest power has half a power of its own
    reach = min(_FARTHEST + 0.5, float(max(_NEAREST, math.ceil(-math.log10(least)))))
    ticks = _ticks(int(reach))
    x, y = Axis("Predicted probability", -reach, reach, ticks), Axis("Observed share", -reach, reach, ticks)

    def point(row: int, one: Bin) -> Point:
        where, share = _place(1 - one.doubt, reach), 1 - one.error
        left, right = _place(one.least, reach), _place(one.most, reach)
        interval = None if math.isnan(one.low) else (_place(1 - one.high, reach), _place(1 - one.low, reach))
        if 0 < share < 1 or interval is None:
            return Point(row, left, right, (Mark(one.kind, where, _place(share, reach)),), one.kind, interval)
        # no event, or nothing else: a mark at the share that the interval leaves possible
        limit = interval[1] if share <= 0 else interval[0]
        kind = one.kind if one.kind in ("over", "under") else "below" if share <= 0 else "none"
        return Point(row, left, right, (Mark(kind, where, limit),), one.kind)

    def centre(one: Bin) -> float:
        return (_place(one.least, reach) + _place(one.most, reach)) / 2

    drawn = layers_of(layers, point, centre, 0.8 / PER_DECADE, x)
    figure = Figure("Reliability near 0% and 100%", x, y, drawn, ((-reach, -reach), (reach, reach)))
    return replace(figure, texts=_notes(figure))


def _ticks(reach: int) -> tuple[Tick, ...]:
    """Round probabilities on an axis of log-odds, as many as there is room for."""

    def every(step: int) -> tuple[Tick, ...]:
        powers = range(step, reach + 1, step)
        low = [Tick(_place(10.0**-d, reach), f"{significant(100 * 10.0**-d, 1)}%") for d in reversed(powers)]
        high = [Tick(_place(1 - 10.0**-d, reach), f"{100 - 100 * 10.0**-d:.6g}%") for d in powers]
        return (*low, Tick(0.0, "50%"), *high)

    return fitting_ticks(Axis("", -reach, reach, ()), map(every, range(1, reach + 1)))


def _unlabelled(layer: Layer) -> Layer:
    """A layer without the numbers on its bars."""
    return replace(layer, bars=tuple(replace(bar, label="") for bar in layer.bars))

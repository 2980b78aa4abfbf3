"""The decision curve: the net benefit of acting on predictions, by the probability from which you act."""

from __future__ import annotations

import numpy as np

from surefoot._stats.binomial import limits
from surefoot.core.table import Floats
from surefoot.figures.figure import Axis, Curve, Figure, Layer, Mark, Point, Text, Tick
from surefoot.figures.labels import QUARTERS
from surefoot.figures.placing import Canvas
from surefoot.metrics.net_benefit import DecisionCurve

#: Thresholds that are marked, with a row each in the table behind the figure.
MARKED = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def marked(curve: DecisionCurve) -> list[int]:
    """The places of the marked thresholds on a curve."""
    found = (int(np.abs(curve.threshold - threshold).argmin()) for threshold in MARKED)
    return list(dict.fromkeys(found))


def useful_range(curve: DecisionCurve, rows: float, level: float = 0.95) -> tuple[float, float] | None:
    """The thresholds at which the model beats acting on all rows and on none beyond chance; None if there are none.

    Of several runs of them, the one with the largest advantage. To act on some rows is better than to act on none where
    the share of events among them is above the threshold, and better than to act on all where that among the others is
    below it: both by the limits of Clopper and Pearson, at each threshold. Both have to hold, so that even with a
    hundred thresholds a useless model seldom has one. ``rows`` is the number of independent rows of equal weight that
    tell as much.
    """
    t = curve.threshold
    odds = t / (1 - t)
    true = np.clip((curve.net_benefit + odds * curve.treated) / (1 + odds), 0, curve.treated)
    events = float(np.clip((curve.treat_all[0] + odds[0]) / (1 + odds[0]), 0, 1))
    left = np.maximum(1 - curve.treated, 0.0)
    among, _ = limits(true * rows, curve.treated * rows, level)
    _, others = limits(np.clip(events - true, 0, left) * rows, left * rows, level)
    is_useful = (among > t) & (others < t) & (curve.treated > 0) & (left > 1e-12)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_useful.astype(int), [0]])))
    runs = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    if not runs:
        return None
    advantage = curve.net_benefit - np.maximum(curve.treat_all, curve.treat_none)
    first, after = max(runs, key=lambda run: float(advantage[run[0] : run[1]].max()))
    return float(t[first]), float(t[after - 1])


def looks_useful(curve: DecisionCurve) -> bool:
    """Whether acting on predictions comes out best at any threshold, be it by chance."""
    return bool((curve.net_benefit > np.maximum(curve.treat_all, curve.treat_none) + 1e-12).any())


def decision_figure(curve: DecisionCurve) -> Figure:
    """The model, acting on all rows, and acting on none, which is the line at 0."""
    top = max(float(curve.net_benefit.max()), float(curve.treat_all.max()), 0.0) * 1.08 or 0.01
    low = max(-0.3 * top, min(float(curve.net_benefit.min()), 0.0)) - 0.02 * top
    x, y = Axis("Act from this probability on", 0, 1, QUARTERS), Axis("Net benefit", low, top, _ticks(low, top))
    points = []
    for row, i in enumerate(marked(curve)):
        value, threshold = float(curve.net_benefit[i]), float(curve.threshold[i])
        if value < low:
            continue
        points.append(Point(row, threshold - 0.015, threshold + 0.015, (Mark("dot", threshold, value),)))
    every = _parts(curve.threshold, curve.treat_all, low, is_main=False)
    curves = (*every, *_parts(curve.threshold, curve.net_benefit, low))
    texts = _texts(Canvas(x, y), curves, points, low)
    return Figure("Decision curve", x, y, {"all": Layer(tuple(points))}, ((0, 0), (1, 0)), curves, texts)


def _parts(xs: Floats, ys: Floats, low: float, *, is_main: bool = True) -> list[Curve]:
    """The parts of a curve that are above the lower end of the axis."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (ys >= low).astype(int), [0]]))).tolist()
    runs = [slice(first, after) for first, after in zip(edges[::2], edges[1::2], strict=True) if after - first > 1]
    return [Curve(tuple(xs[run].tolist()), tuple(ys[run].tolist()), is_main) for run in runs]


def _texts(canvas: Canvas, curves: tuple[Curve, ...], points: list[Point], low: float) -> tuple[Text, ...]:
    """The names of the curves, where there is room."""
    for curve in curves:
        canvas.add_curve(curve.x, curve.y)
    for point in points:
        canvas.add_point(point)
    canvas.add_curve((0, 1), (0, 0))
    found = [canvas.place([Text("act on none", share, 0, "end", (0, dy)) for dy in (14, -6) for share in (1.0, 0.7)])]
    longest = {curve.is_main: curve for curve in sorted(curves, key=lambda curve: len(curve.x))}
    for curve in longest.values():
        words = "model" if curve.is_main else "act on all"
        kind = "label" if curve.is_main else "faint"
        places = [
            Text(words, curve.x[i], curve.y[i], anchor, offset, kind)  # type: ignore[arg-type]
            for share in (0.25, 0.4, 0.1, 0.6, 0.8, 0.95)
            for i in [int(share * (len(curve.x) - 1))]
            for anchor, offset in (("start", (8, -8)), ("end", (-8, 16)), ("start", (8, 16)), ("end", (-8, -8)))
        ]
        found.append(canvas.place(places))
    return tuple(text for text in found if text is not None)


def _ticks(low: float, top: float) -> tuple[Tick, ...]:
    step = 10.0 ** np.floor(np.log10(top / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if top / (step * factor) <= 4)
    values = np.arange(np.ceil(low / step), np.floor(top / step) + 1) * step
    return tuple(Tick(float(value), f"{value:.3g}" if abs(value) > 1e-12 else "0") for value in values)

"""The report's figures as SVG that needs no script: x in percent of the width, y in pixels, so text keeps its size.

Everything here takes numbers, never a name from outside: words in a figure are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from surefoot.figures.figure import HEIGHT, Bar, Curve, Figure, Layer, Point, Text
from surefoot.figures.labels import significant, typeset
from surefoot.figures.ruler import csr_axis

#: The classes of texts in the style sheet, where they have other names.
_CLASSES = {"spare": "note roomy", "faint": "label plain", "factor": "factor over"}


def element(name: str, body: str = "", **attributes: str | float | None) -> str:
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else f"{value:.4g}"}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{body}</{name}>"


def at(share: float) -> str:
    return f"{100 * share:.4g}%"


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return element("line", x1=at(x1), y1=y1, x2=at(x2), y2=y2, class_=kind)


def text(
    x: float, y: float, words: str, kind: str, anchor: str | None = None, dx: float | None = None, dy: float = 4
) -> str:
    return element("text", words, x=at(x), y=y + dy, dx=dx, text_anchor=anchor, class_=kind)


def mark(kind: str, x: float, y: float) -> str:
    return element("use", href=f"#m-{kind}", x=at(x), y=y, class_=kind)


def draw(figure: Figure, alt: str) -> str:
    """A figure: its axes, the line data are compared to, curves, texts and points, and the strip of rows below."""

    def place(x: float, y: float) -> tuple[float, float]:
        return figure.x.share(x), HEIGHT * (1 - figure.y.share(y))

    def words(one: Text) -> str:
        x, y = place(one.x, one.y)
        (dx, dy), anchor = one.offset, None if one.anchor == "middle" else one.anchor
        legend = mark(one.mark, x, y) if one.mark else ""
        return legend + text(x, y, one.words, _CLASSES.get(one.kind, one.kind), anchor, dx or None, dy)

    def point(one: Point) -> str:
        left, right = sorted((figure.x.share(one.left), figure.x.share(one.right)))
        drawn = element("rect", x=at(left), width=at(right - left), y=0, height=HEIGHT, class_="hit")
        if one.interval is not None:
            ends = (place(one.marks[0].x, y) for y in one.interval)
            drawn += line(*next(ends), *next(ends), "ci faint" if one.is_faint else f"ci {one.kind}")
        drawn += "".join(mark(each.kind, *place(each.x, each.y)) for each in one.marks)
        return element("g", drawn + (words(one.label) if one.label else ""), class_="pt", data_i=str(one.row))

    def curve(one: Curve) -> str:
        """A path in an inner picture that stretches with the width, while its stroke does not."""
        points = "L".join(
            f"{1000 * x:.1f},{y:.1f}" for x, y in (place(*each) for each in zip(one.x, one.y, strict=True))
        )
        kind = "curve" if one.is_main else "curve plain"
        path = element("path", d=f"M{points}", class_=kind, vector_effect="non-scaling-stroke")
        shape = {"viewBox": f"0 0 1000 {HEIGHT}", "width": "100%", "preserveAspectRatio": "none"}
        return element("svg", path, **shape, height=HEIGHT, overflow="visible")

    body = axes(figure)
    if figure.ideal is not None:
        body += line(*place(*figure.ideal[0]), *place(*figure.ideal[1]), "ideal")
    body += "".join(map(curve, figure.curves)) + "".join(map(words, figure.texts))
    body += layers(figure, lambda layer: "".join(map(point, layer.points)))
    return element("svg", body, class_="chart", height=HEIGHT, role="img", aria_label=alt) + strip(figure)


def axes(figure: Figure) -> str:
    """Horizontal hairlines only, and titles in words at the ends of the axes."""
    body = ""
    for tick in figure.y.ticks:
        y = HEIGHT * (1 - figure.y.share(tick.value))
        body += line(0, y, 1, y, "grid") + text(0, y, tick.label, "tick", "end", dx=-8)
    for tick in figure.x.ticks:
        x = figure.x.share(tick.value)
        body += line(x, HEIGHT, x, HEIGHT + 5, "axis") + text(x, HEIGHT + 18, tick.label, "tick")
    titles = text(0, -18, f"↑ {figure.y.title}", "title", "start", dx=-46)
    titles += text(1, HEIGHT + 38, f"{figure.x.title} →", "title", "end")
    return body + line(0, HEIGHT, 1, HEIGHT, "axis") + titles


def layers(figure: Figure, body: Callable[[Layer], str]) -> str:
    """The points of all rows, and hidden those of each slice."""
    if len(figure.layers) == 1:
        return body(figure.layers["all"])
    return "".join(
        element("g", body(layer), class_="layer", data_slice=key, hidden=None if key == "all" else "")
        for key, layer in figure.layers.items()
    )


def strip(figure: Figure) -> str:
    """Rows in each bin, linear bars, the number on top; empty for a figure without bins."""
    if not figure.layers["all"].bars:
        return ""

    def column(one: Bar) -> str:
        x, wide, height = figure.x.share(one.x), one.width / (figure.x.high - figure.x.low), 30 * one.height
        bar = element("rect", x=at(x - wide / 2), width=at(wide), y=46 - height, height=height, class_="bar")
        return bar + text(x, 46 - height - 8, one.label, "count")

    bars = layers(figure, lambda layer: "".join(map(column, layer.bars)))
    axis = line(0, 46, 1, 46, "axis") + text(0, 42, "rows", "tick", "end", dx=-8)
    return element("svg", bars + axis, class_="chart strip", height=48, aria_hidden="true")


def ruler(csr: float, lower: float, typical: tuple[float, float] | None, kind: str, alt: str) -> str:
    """CSR on a log axis: 1, where calibrated models land, and this model with its lower bound."""
    axis = csr_axis(csr, typical)
    x, here = axis.clipped_share, axis.clipped_share(csr)
    body = line(0, 24, 1, 24, "axis")
    for tick in axis.ticks:
        u = x(tick.value)
        body += line(u, 20, u, 28, "axis")
        anchor = "start" if u == 0 else "end" if u == 1 else None
        body += text(u, 46, tick.label, "tick strong" if tick.value == 1 else "tick", anchor)
    if typical is not None:
        low, high = map(x, typical)
        box = element("rect", x=at(low), width=at(max(high - low, 0.002)), y=14, height=20, class_="nullband")
        body = box + body
        if abs((low + high) / 2 - here) > 0.22:
            body += text((low + high) / 2, 4, "calibrated models", "note")
    if lower > 0:
        body += line(x(lower), 24, 1, 24, f"reach {kind}") + line(x(lower), 16, x(lower), 32, f"ci {kind}")
    body += mark(kind, here, 24)
    anchor = "start" if here < 0.2 else "end" if here > 0.8 else None
    body += text(here, 4, f"this model {typeset(significant(csr))}", f"label {kind}", anchor)
    return element("svg", body, class_="chart", height=50, role="img", aria_label=alt)


def forest(middle: float, low: float, high: float, kind: str, widest: float) -> str:
    """Overstatement with its interval, in a cell of a table, 0 in the middle; without one where none is meant."""

    def x(value: float) -> float:
        return min(1.0, max(0.0, 0.5 + value / widest / 2))

    step = next(s for s in (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if widest / s <= 4)
    ends = np.arange(step, widest, step)
    ticks = "".join(line(x(v), 0, x(v), 20, "grid") for v in (*-ends, *ends))
    reach = "" if math.isnan(low) else line(x(low), 10, x(high), 10, f"ci {kind}")
    drawn = ticks + line(0.5, 0, 0.5, 20, "axis") + reach + mark(kind, x(middle), 10)
    return element("svg", drawn, class_="spark", height=20, aria_hidden="true")


def dumbbell(one: float, other: float, low: float) -> str:
    """Two values joined by a line, from ``low`` to 1."""

    def x(value: float) -> float:
        return (value - low) / (1 - low)

    drawn = line(0, 10, 1, 10, "grid") + line(x(one), 10, x(other), 10, "ci fair")
    drawn += mark("ring", x(one), 10) + mark("dot", x(other), 10)
    return element("svg", drawn, class_="spark", height=20, aria_hidden="true")

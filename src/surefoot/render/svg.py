"""The report's figures as SVG that needs no script: x in percent of the width, y in pixels, so text keeps its size.

Everything here takes numbers, never a name from outside: words in a figure are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from surefoot.figures.decomposition import Waterfall
from surefoot.figures.figure import HEIGHT, Area, Bar, Curve, Figure, Layer, Point, Text
from surefoot.figures.labels import significant, typeset
from surefoot.figures.placing import width_of
from surefoot.figures.ruler import csr_axis

#: The classes of texts in the style sheet, where they have other names.
_CLASSES = {"faint": "label plain", "factor": "factor over"}
#: The width of the ruler on the narrowest screen, in pixels.
RULER = 328


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

    height = figure.height

    def place(x: float, y: float) -> tuple[float, float]:
        return figure.x.share(x), height * (1 - figure.y.share(y))

    def words(one: Text) -> str:
        x, y = place(one.x, one.y)
        (dx, dy), anchor = one.offset, None if one.anchor == "middle" else one.anchor
        legend = mark(one.mark, x, y) if one.mark else ""
        return legend + text(x, y, one.words, _CLASSES.get(one.kind, one.kind), anchor, dx or None, dy)

    def point(one: Point) -> str:
        left, right = sorted((figure.x.share(one.left), figure.x.share(one.right)))
        drawn = element("rect", x=at(left), width=at(right - left), y=0, height=height, class_="hit")
        if one.interval is not None:
            ends = (place(one.marks[0].x, y) for y in one.interval)
            drawn += line(*next(ends), *next(ends), "ci faint" if one.is_faint else f"ci {one.kind}")
        drawn += "".join(mark(each.kind, *place(each.x, each.y)) for each in one.marks)
        return element("g", drawn + (words(one.label) if one.label else ""), class_="pt", data_i=str(one.row))

    def stretched(path: str) -> str:
        """An inner picture that stretches with the width, while the strokes in it do not."""
        shape = {"viewBox": f"0 0 1000 {height:g}", "width": "100%", "preserveAspectRatio": "none"}
        return element("svg", path, **shape, height=height, overflow="visible")

    def path_of(xs: Sequence[float], ys: Sequence[float]) -> str:
        places = (place(*each) for each in zip(xs, ys, strict=True))
        return "L".join(f"{1000 * x:.1f},{y:.1f}" for x, y in places)

    def curve(one: Curve) -> str:
        kind = "curve" if one.is_main else "curve plain"
        path = element("path", d=f"M{path_of(one.x, one.y)}", class_=kind, vector_effect="non-scaling-stroke")
        return stretched(path)

    def area(one: Area) -> str:
        outline = path_of((*one.x, *one.x[::-1]), (*one.upper, *one.lower[::-1]))
        return stretched(element("path", d=f"M{outline}Z", class_="area"))

    body = axes(figure)
    if figure.areas:
        body += of_all_rows(figure, "".join(map(area, figure.areas)))
    if figure.ideal is not None:
        body += line(*place(*figure.ideal[0]), *place(*figure.ideal[1]), "ideal")
    curves = "".join(map(curve, figure.curves))
    body += (of_all_rows(figure, curves) if figure.areas else curves) + "".join(map(words, figure.texts))
    body += layers(figure, lambda layer: "".join(map(point, layer.points)))
    return element("svg", body, class_="chart", height=height, role="img", aria_label=alt) + strip(figure)


def of_all_rows(figure: Figure, drawn: str) -> str:
    """What does not change with the slice that is shown, and goes while one is."""
    return drawn if len(figure.layers) == 1 else element("g", drawn, class_="allonly")


def axes(figure: Figure) -> str:
    """Horizontal hairlines only, and titles in words at the ends of the axes."""
    body, height = "", figure.height
    for tick in figure.y.ticks:
        y = height * (1 - figure.y.share(tick.value))
        body += line(0, y, 1, y, "grid") + text(0, y, tick.label, "tick", "end", dx=-8)
    for tick in figure.x.ticks:
        x = figure.x.share(tick.value)
        body += line(x, height, x, height + 5, "axis") + text(x, height + 18, tick.label, "tick")
    titles = text(0, -18, f"↑ {figure.y.title}", "title", "start", dx=-46) if figure.y.title else ""
    titles += text(1, height + 38, f"{figure.x.title} →", "title", "end") if figure.x.title else ""
    return body + line(0, height, 1, height, "axis") + titles


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
    if figure.height < HEIGHT:
        return _low_strip(figure)

    def column(one: Bar) -> str:
        x, wide, height = figure.x.share(one.x), one.width / (figure.x.high - figure.x.low), 30 * one.height
        # a bar at an end of the axis stays inside of it: its name stands on the left
        left, right = max(0.0, x - wide / 2), min(1.0, x + wide / 2)
        bar = element("rect", x=at(left), width=at(right - left), y=46 - height, height=height, class_="bar")
        return bar + text(x, 46 - height - 8, one.label, "count")

    bars = layers(figure, lambda layer: "".join(map(column, layer.bars)))
    axis = line(0, 46, 1, 46, "axis") + text(0, 42, "rows", "tick", "end", dx=-8)
    return element("svg", bars + axis, class_="chart strip", height=48, aria_hidden="true")


def _low_strip(figure: Figure) -> str:
    """The same for one of several small pictures: bars alone."""

    def column(one: Bar) -> str:
        x, wide, height = figure.x.share(one.x), one.width / (figure.x.high - figure.x.low), 16 * one.height
        return element("rect", x=at(x - wide / 2), width=at(wide), y=16 - height, height=height, class_="bar")

    bars = "".join(map(column, figure.layers["all"].bars))
    return element("svg", bars + line(0, 16, 1, 16, "axis"), class_="chart strip", height=18, aria_hidden="true")


def waterfall(found: Waterfall, alt: str) -> str:
    """A bar for each part of a score, where the one before it ends, and below the score itself."""
    pitch, high = 62, 20
    height = pitch * len(found.steps)
    x = found.axis.share
    body = ""
    for tick in found.axis.ticks:
        u = x(tick.value)
        body += line(u, 0, u, height, "grid") + text(u, height + 14, typeset(tick.label), "tick")
    for i, step in enumerate(found.steps):
        y = pitch * i + 22
        left, right = sorted((x(step.start), x(step.end)))
        bar = element(
            "rect", x=at(left), width=at(max(right - left, 0.002)), y=y, height=high, class_=f"part {step.kind}"
        )
        hit = element("rect", x=at(0), width=at(1), y=pitch * i, height=pitch, class_="hit")
        mark = element("use", href="#m-dot", x=at(x(step.end)), y=y + high / 2, class_="none")
        words = text(0, y - 11, typeset(step.words), "label", "start")
        if step.interval is not None:
            ends = [x(end) for end in step.interval]
            bar += line(ends[0], y + high + 6, ends[1], y + high + 6, "ci")
        body += element("g", hit + bar + mark + words, class_="pt", data_i=str(i))
        if i + 1 < len(found.steps):
            u = x(step.end)
            body += line(u, y + high, u, y + pitch, "joint")
    body += line(0, height, 1, height, "axis")
    return element("svg", body, class_="chart", height=height + 24, role="img", aria_label=alt)


def _side(share: float) -> str | None:
    """How words over a ruler are aligned: at its ends they would reach out of it."""
    return "start" if share < 0.2 else "end" if share > 0.8 else None


def _at_end(share: float) -> tuple[float, float]:
    """Where words over a ruler stand."""
    side = _side(share)
    return (share if side is None else 0.0 if side == "start" else 1.0), 4


def _span(share: float, words: str) -> tuple[float, float]:
    """What part of the narrowest ruler words over it take."""
    wide = 1.15 * width_of(words) / RULER
    place, _ = _at_end(share)
    left = {"start": place, "end": place - wide, None: place - wide / 2}[_side(share)]
    return left, left + wide


def ruler(csr: float, lower: float, typical: tuple[float, float] | None, kind: str, alt: str) -> str:
    """CSR on a log axis: 1, where calibrated models land, and this model with its lower bound."""
    axis = csr_axis(csr, typical)
    x, here = axis.clipped_share, axis.clipped_share(csr)
    own = f"this model {typeset(significant(csr))}"
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
        middle, words = (low + high) / 2, "calibrated models"
        one, other = _span(middle, words), _span(here, own)
        if one[1] < other[0] or other[1] < one[0]:
            body += text(*_at_end(middle), words, "note", _side(middle))
    if lower > 0:
        body += line(x(lower), 24, 1, 24, f"reach {kind}") + line(x(lower), 16, x(lower), 32, f"ci {kind}")
    body += mark(kind, here, 24)
    body += text(*_at_end(here), own, f"label {kind}", _side(here))
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

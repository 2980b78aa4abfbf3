"""The report's figures as SVG that needs no script: x in percent of the width, y in pixels, so text keeps its size.

Everything here takes numbers, never a name from outside: words in a figure are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from surefoot.figures.reliability import Bin, Concentration, Coverage
from surefoot.render.numbers import raised_digits, significant, typeset

#: The height of a plot, in pixels.
HEIGHT = 300
#: Powers of ten that the stretched axis reaches at most.
_FARTHEST = 13.0
Scale = Callable[[float], float]
Layers = Mapping[str, Sequence[Bin]]


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


def chart(height: float, body: str, alt: str, kind: str = "chart") -> str:
    return element("svg", body, class_=kind, height=height, role="img", aria_label=alt)


def curve(xs: Iterable[float], ys: Iterable[float], kind: str) -> str:
    """A curve in percent of the width: an inner picture that stretches, whose stroke does not."""
    points = "L".join(f"{1000 * x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    path = element("path", d=f"M{points}", class_=kind, vector_effect="non-scaling-stroke")
    return element(
        "svg",
        path,
        viewBox=f"0 0 1000 {HEIGHT}",
        width="100%",
        height=HEIGHT,
        preserveAspectRatio="none",
        overflow="visible",
    )


def frame(
    xticks: Iterable[tuple[float, str]], yticks: Iterable[tuple[float, str]], x: Scale, y: Scale, below: str, above: str
) -> str:
    """Axes: horizontal hairlines only, and titles in words at their ends."""
    lines = [line(0, y(v), 1, y(v), "grid") + text(0, y(v), s, "tick", "end", dx=-8) for v, s in yticks]
    ticks = [
        element("line", x1=at(x(v)), x2=at(x(v)), y1=HEIGHT, y2=HEIGHT + 5, class_="axis")
        + text(x(v), HEIGHT + 18, s, "tick")
        for v, s in xticks
    ]
    titles = text(0, -18, above, "title", "start", dx=-46) + text(1, HEIGHT + 38, below, "title", "end")
    return "".join([*lines, *ticks]) + line(0, HEIGHT, 1, HEIGHT, "axis") + titles


def band(x1: float, x2: float) -> str:
    """What the pointer has to meet."""
    return element("rect", x=at(min(x1, x2)), width=at(abs(x2 - x1)), y=0, height=HEIGHT, class_="hit")


def layers(table: Layers, point: Callable[[Bin], str]) -> str:
    """The points of all rows, and hidden those of each slice."""
    groups = []
    for key, bins in table.items():
        points = "".join(element("g", point(one), class_="pt", data_i=str(i)) for i, one in enumerate(bins))
        groups.append(element("g", points, class_="layer", data_slice=key, hidden=None if key == "all" else ""))
    return "".join(groups)


def strip(table: Layers, centre: Callable[[Bin], float], wide: float) -> str:
    """Rows in each bin, linear bars, the number on top."""

    def bars(bins: Sequence[Bin]) -> str:
        most = max(one.rows for one in bins)
        drawn = []
        for one in bins:
            height = max(1.0, 30 * one.rows / most)
            bar = element(
                "rect", x=at(centre(one) - wide / 2), width=at(wide), y=46 - height, height=height, class_="bar"
            )
            drawn.append(bar + text(centre(one), 46 - height - 8, short(one.rows), "count"))
        return "".join(drawn)

    groups = "".join(
        element("g", bars(bins), class_="layer", data_slice=key, hidden=None if key == "all" else "")
        for key, bins in table.items()
        if bins
    )
    axis = line(0, 46, 1, 46, "axis") + text(0, 42, "rows", "tick", "end", dx=-8)
    return element("svg", groups + axis, class_="chart strip", height=48, aria_hidden="true")


def short(n: float) -> str:
    """A count for a bar: 812, 9.2k, 1.3M."""
    if n < 1000:
        return f"{n:,.0f}"
    return f"{n / 1000:.1f}k" if n < 999_950 else f"{n / 1e6:,.1f}M"


def reliability(table: Layers, alt: str) -> str:
    """Share correct by stated confidence; up is more accurate, right is more confident."""
    low = min(0.9, math.floor(10 * min(one.least for bins in table.values() for one in bins)) / 10)

    def x(c: float) -> float:
        return (c - low) / (1 - low)

    def y(share: float) -> float:
        return HEIGHT * (1 - share)

    def point(one: Bin) -> str:
        u = x(1 - one.doubt)
        reach = "" if math.isnan(one.low) else line(u, y(1 - one.high), u, y(1 - one.low), f"ci {one.kind}")
        return band(x(one.least), x(one.most)) + reach + mark(one.kind, u, y(1 - one.error))

    step = 0.2 if low < 0.75 else 0.05
    xticks = [(v, f"{v:.0%}") for v in np.arange(low, 1.001, step)]
    body = frame(
        xticks, [(v, f"{v:.0%}") for v in (0, 0.25, 0.5, 0.75, 1)], x, y, "Stated confidence →", "↑ Share correct"
    )
    middle = low + 0.62 * (1 - low)
    body += line(x(low), y(low), x(1), y(1), "ideal")
    body += text(x(middle), y(middle), "calibrated", "note", "end", dx=-8, dy=-6)
    body += text(1, HEIGHT - 14, "below the line: overconfident", "note", "end", dx=-4)
    bars = strip(table, lambda one: x((one.least + one.most) / 2), 0.7 / 15 / (1 - low))
    return chart(HEIGHT, body + layers(table, point), alt) + bars


def stretched(table: Layers, alt: str) -> str:
    """The same with doubt on a log scale on both axes: every gridline claims ten times fewer mistakes."""
    least = min(one.least for bins in table.values() for one in bins)
    top = min(_FARTHEST, max(2.0, -math.log10(least)))

    def x(doubt: float) -> float:
        return min(1.0, -math.log10(doubt) / top)

    def y(doubt: float) -> float:
        return HEIGHT * (1 + math.log10(max(doubt, 10.0**-top)) / top)

    def point(one: Bin) -> str:
        u = x(one.doubt)
        reach = "" if math.isnan(one.low) else line(u, y(one.high), u, y(one.low), f"ci {one.kind}")
        drawn = band(x(one.least), x(one.most)) + reach + mark(one.kind if one.seen else "none", u, y(one.error))
        if one.kind == "over" and one.error > 3 * one.doubt:
            # over the interval where there is no room under it
            below = y(one.high) + 14
            times = typeset(f"×{significant(one.error / one.doubt, 2)}")
            drawn += text(u, below if below < HEIGHT - 4 else y(one.low) - 6, times, "factor over", dy=0)
        return drawn

    step = 1 if top <= 7 else 2 if top <= 13 else 4
    decades = range(step, math.floor(top + 0.01) + 1, step)
    names = [
        (10.0**-d, f"1 in {10**d:,}" if d == step else f"{10**d:,}" if d < 7 else f"10{raised_digits(d)}")
        for d in decades
    ]
    body = frame(names, [(1.0, "always"), *names], x, y, "Expected errors, rarer →", "↑ Observed errors, rarer")
    body += line(0, HEIGHT, 1, 0, "ideal")
    half = 10.0 ** (-top * 0.53)
    body += text(x(half), y(half), "calibrated", "note", "end", dx=-8, dy=-6)
    body += text(0.73, HEIGHT - 14, "below the line: overconfident", "note roomy", "end")
    bars = strip(table, lambda one: x(math.sqrt(one.least * one.most)), 0.8 * 0.5 / top)
    return chart(HEIGHT, body + layers(table, point), alt) + bars


def ranks_of(mistakes: int) -> list[int]:
    """Numbers of rows to be told: 1, 2, 5, 10, ... and all."""
    round_ones = [b * 10**d for d in range(12) for b in (1, 2, 5)]
    return [*(k for k in round_ones if k < mistakes), mistakes]


def concentration(found: Concentration, alt: str) -> str:
    """Which share of CSR the most surprising rows carry."""
    most = max(2, found.mistakes)

    def x(rows: float) -> float:
        return math.log(rows) / math.log(most)

    def y(share: float) -> float:
        return HEIGHT * (1 - share)

    xticks = [(10.0**d, f"{10**d:,}") for d in range(math.floor(math.log10(most)) + 1)]
    body = frame(
        xticks,
        [(v, f"{v:.0%}") for v in (0, 0.25, 0.5, 0.75, 1)],
        x,
        y,
        "Rows set aside, most surprising first →",
        "↑ Share of CSR they carry",
    )
    ks = np.unique(np.geomspace(1, found.mistakes, 90).astype(int)).tolist()
    body += curve([x(k) for k in ks], [y(found.of(k)) for k in ks], "curve")
    if found.csr > 1:
        calm = found.of(found.to_calm)
        body += line(0, y(calm), 1, y(calm), "ideal")
        body += text(0, y(calm), "the rest has CSR 1", "note", "start", dx=4, dy=16 if calm > 0.15 else -6)
    for i, k in enumerate(ranks_of(found.mistakes)):
        body += element(
            "g", band(x(k) - 0.04, x(k) + 0.04) + mark("dot", x(k), y(found.of(k))), class_="pt", data_i=str(i)
        )
    for k in (10, 50):
        if k < found.mistakes / 2 and x(k) > 0.3:
            body += text(x(k), y(found.of(k)), f"{k} rows, {found.of(k):.0%}", "label", "end", dx=-10, dy=0)
    return chart(HEIGHT, body, alt)


#: Shares of rows answered that the coverage figure tells of.
COVERAGES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def coverage(found: Coverage, alt: str) -> str:
    """The share of mistakes among the surest rows."""
    shares = [*np.linspace(max(0.005, float(found.coverage[0])), 1, 200).tolist(), *COVERAGES]
    most = max(map(found.error, shares)) * 1.05 or 0.01

    def x(share: float) -> float:
        return share

    def y(error: float) -> float:
        return HEIGHT * (1 - error / most)

    ticks = nice(most)
    body = frame(
        [(v, f"{v:.0%}") for v in (0, 0.25, 0.5, 0.75, 1)],
        [(v, f"{100 * v:g}%") for v in ticks],
        x,
        y,
        "Rows answered, surest first →",
        "↑ Errors among them",
    )
    shares = np.linspace(max(0.005, float(found.coverage[0])), 1, 200).tolist()
    body += curve(shares, [y(found.error(share)) for share in shares], "curve")
    overall = found.error(1.0)
    body += line(0, y(overall), 1, y(overall), "ideal") + text(
        0, y(overall), "if all are answered", "note", "start", dx=4, dy=-6
    )
    for i, share in enumerate(COVERAGES):
        error = found.error(share)
        body += element(
            "g", band(share - 0.05, share + 0.05) + mark("dot", share, y(error)), class_="pt", data_i=str(i)
        )
    return chart(HEIGHT, body, alt)


def nice(most: float) -> list[float]:
    """Round numbers from 0 to the largest."""
    step = 10.0 ** math.floor(math.log10(most / 2))
    step *= next(f for f in (1, 2, 5, 10) if most / (step * f) <= 5)
    return [round(i * step, 12) for i in range(math.floor(most / step + 1e-9) + 1)]


#: False alarms that the ROC figure tells of, as shares of what is drawn.
ROC_MARKS = (0.05, 0.1, 0.2, 0.5, 1.0)


def roc(
    grid: Sequence[float],
    plain: Sequence[float],
    weighted: Sequence[float],
    areas: tuple[str, str],
    wide: float,
    alt: str,
) -> str:
    """ROC and confidence-weighted ROC, up to ``wide`` false alarms."""
    floor = 0.0 if wide >= 1 else min(0.9, math.floor(10 * min(np.interp(wide / 50, grid, plain), 0.9)) / 10)

    def x(false: float) -> float:
        return false / wide

    def y(true: float) -> float:
        return HEIGHT * (1 - (true - floor) / (1 - floor))

    steps = [floor + i * (1 - floor) / 4 for i in range(5)]
    body = frame(
        [(v * wide, f"{100 * v * wide:g}%") for v in (0, 0.2, 0.4, 0.6, 0.8, 1)],
        [(v, f"{100 * v:.3g}%") for v in steps],
        x,
        y,
        "False alarms (false positive rate) →",
        "↑ Found (true positive rate)",
    )
    if wide >= 1:
        body += line(0, HEIGHT, 1, 0, "ideal")
    for values, kind in ((plain, "curve plain"), (weighted, "curve")):
        kept = [(f, t) for f, t in zip(grid, values, strict=True) if f <= wide and t >= floor]
        body += curve([x(f) for f, _ in kept], [y(t) for _, t in kept], kind)
    for i, share in enumerate(ROC_MARKS):
        one, other = (float(np.interp(share * wide, grid, values)) for values in (plain, weighted))
        marks = (mark("ring", share, y(one)) if one >= floor else "") + (
            mark("dot", share, y(other)) if other >= floor else ""
        )
        if marks:
            body += element("g", band(share - 0.03, share + 0.03) + marks, class_="pt", data_i=str(i))
    for place, kind, label, words in (
        (0.62, "dot", "label", f"cwROC, area {areas[1]}"),
        (0.72, "ring", "label plain", f"ROC, area {areas[0]}"),
    ):
        body += mark(kind, 0.4, HEIGHT * place) + text(0.4, HEIGHT * place, words, label, "start", dx=12)
    return chart(HEIGHT, body, alt)


def ruler(csr: float, lower: float, typical: tuple[float, float] | None, kind: str, alt: str) -> str:
    """CSR on a log axis: 1, where calibrated models land, and this model with its lower bound."""
    shown = min(max(csr, 1e-3), 1e12)
    first = min(-1, math.floor(math.log10(min(shown, 0.1 if typical is None else max(typical[0], 1e-3)))))
    last = max(2, math.ceil(math.log10(shown * 1.5)))

    def x(value: float) -> float:
        return (math.log10(min(max(value, 10.0**first), 10.0**last)) - first) / (last - first)

    body = ""
    if typical is not None:
        low, high = x(max(typical[0], 1e-12)), x(max(typical[1], 1e-12))
        body += element("rect", x=at(low), width=at(max(high - low, 0.002)), y=14, height=20, class_="nullband")
    body += line(0, 24, 1, 24, "axis")
    step = max(1, (last - first) // 6)
    for decade in range(first, last + 1):
        if decade != 0 and (decade - first) % step:
            continue
        anchor = "start" if decade == first else "end" if decade == last else None
        words = (
            f"{10.0**decade:g}" if decade <= 0 else f"{10**decade:,}" if decade < 7 else f"10{raised_digits(decade)}"
        )
        u = (decade - first) / (last - first)
        body += line(u, 20, u, 28, "axis") + text(u, 46, words, "tick strong" if decade == 0 else "tick", anchor)
    here = x(shown)
    if typical is not None:
        middle = x(math.sqrt(max(typical[0], 10.0**first) * max(typical[1], 10.0**first)))
        if abs(middle - here) > 0.22:
            body += text(middle, 4, "calibrated models", "note")
    if not math.isnan(lower) and lower > 0:
        body += line(x(lower), 24, 1, 24, f"reach {kind}") + line(x(lower), 16, x(lower), 32, f"ci {kind}")
    body += mark(kind, here, 24)
    anchor = "start" if here < 0.1 else "end" if here > 0.9 else None
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
    return element(
        "svg",
        drawn + mark("ring", x(one), 10) + mark("dot", x(other), 10),
        class_="spark",
        height=20,
        aria_hidden="true",
    )

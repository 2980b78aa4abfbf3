"""Reliability: rows grouped by confidence, with the errors expected and observed, and the figures of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from surefoot._stats.binomial import limits
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.figures.concentration import ENOUGH_ERRORS
from surefoot.figures.figure import Axis, Bar, Figure, Kind, Layer, Mark, Point, Text, Tick
from surefoot.figures.labels import QUARTERS, decade, percent_ticks, short_count, significant, typeset
from surefoot.figures.placing import NARROW, SMALL, TINY, Canvas, fitting_ticks, notes_along, width_of
from surefoot.metrics.tallying import (
    BAND_DOUBT,
    BAND_WEIGHT,
    BAND_WRONG,
    BIN_GAP,
    BIN_WEIGHT,
    BIN_WRONG,
    DOUBT_BANDS,
    RELIABILITY_BINS,
)
from surefoot.risk.effects import equal_weights, in_rows
from surefoot.risk.law.cells import PER_DECADE, half_decade
from surefoot.risk.law.counts import counts_of

#: Powers of ten that the axes of doubt reach at most.
_FARTHEST = 13.0
#: The share of a sum of weights that adding them up may lose.
_DUST = 1e-9
#: Observed over expected errors from which a point is labelled with the factor.
_WORTH_A_LABEL = 3
#: Where on the line its name may stand, as shares of the axis.
_ALONG = (0.62, 0.53, 0.75, 0.45, 0.85, 0.97)


@dataclass(frozen=True)
class Band:
    """Samples of similar confidence, with their expected and observed errors.

    Attributes
    ----------
    least, below : float
        The doubt (1 - confidence) of these samples is at least ``least`` and below ``below``.
    rows : float
        The number of samples.
    stated, seen : float
        Expected errors and observed errors.
    """

    least: float
    below: float
    rows: float
    stated: float
    seen: float

    @property
    def doubt(self) -> float:
        """The expected share of errors."""
        return self.stated / self.rows


def bands(t: Tally) -> tuple[Band, ...]:
    """Bands of doubt, a factor of ten each."""
    if not t.has(BAND_WEIGHT):
        return ()
    table = t.table(DOUBT_BANDS)
    edges = (0.0, *DOUBT_BANDS.edges, 1.0)
    rows, stated, seen = (table.totals[term.name].value * in_rows(t) for term in (BAND_WEIGHT, BAND_DOUBT, BAND_WRONG))
    return tuple(
        Band(edges[code], edges[code + 1], float(rows[i]), float(stated[i]), float(seen[i]))
        for i, code in enumerate(table.codes)
        if rows[i]
    )


@dataclass(frozen=True)
class Bin:
    """A bin of a reliability diagram.

    Attributes
    ----------
    least, most : float
        The range of confidences, or of doubts (1 - confidence) in the diagram near certainty.
    rows : float
        The number of samples.
    stated, seen : float
        Expected errors and observed errors.
    low, high : float
        The 95% confidence interval of the share of errors (Clopper and Pearson); nan for weighted samples.
    """

    least: float
    most: float
    rows: float
    stated: float
    seen: float
    low: float
    high: float

    @property
    def doubt(self) -> float:
        """The expected share of errors: the mean of 1 - confidence."""
        return self.stated / self.rows

    @property
    def error(self) -> float:
        """The observed share of errors."""
        return self.seen / self.rows

    @property
    def kind(self) -> Kind:
        """``"over"`` or ``"under"`` if the interval excludes ``doubt``, else ``"fair"``; ``"dot"`` without one."""
        if math.isnan(self.low):
            return "dot"
        return "over" if self.low > self.doubt else "under" if self.high < self.doubt else "fair"


def reliability(t: Tally, *, intervals: bool = True, effect: float = 1.0) -> tuple[Bin, ...]:
    """Fifteen bins of confidence, those of ECE; ``effect`` is the design effect of rows that belong together."""
    if not all(t.has(term) for term in (BIN_WEIGHT, BIN_GAP, BIN_WRONG)):
        return ()
    table = t.table(RELIABILITY_BINS)
    weight, gap, wrong = (table.totals[term.name].value for term in (BIN_WEIGHT, BIN_GAP, BIN_WRONG))
    alike = equal_weights(t)
    scale = in_rows(t)
    edges = (0.0, *RELIABILITY_BINS.edges, 1.0)
    pairs = [(edges[code], edges[code + 1]) for code in table.codes.tolist()]
    # expected errors are the observed ones less the gap between them
    stated = np.clip(wrong - gap, 0.0, weight)
    # what sums of weights lose: counts are whole numbers, and a bin may hold errors only
    rows, seen = weight * scale, np.where(weight - wrong <= _DUST * weight, weight, wrong) * scale
    if alike:
        rows, seen = np.rint(rows), np.rint(seen)
    return _bins(pairs, rows, stated * scale, seen, effect, intervals=intervals and alike)


def near_certainty(t: Tally, *, intervals: bool = True, effect: float = 1.0) -> tuple[Bin, ...]:
    """Bins of doubt, two for every factor of ten: where overconfidence lives. None where weights are unequal."""
    if not equal_weights(t):
        return ()
    counts = counts_of(t).doubtful()
    if not counts.n:
        return ()
    codes, where = np.unique(half_decade(counts.doubt), return_inverse=True)
    columns = (counts.rows, counts.rows * counts.doubt, counts.wrong)
    rows, stated, seen = (np.bincount(where, column).astype(np.float64) for column in columns)
    least = np.full(len(codes), np.inf)
    np.minimum.at(least, where, counts.doubt)
    pairs = [
        (min(10.0 ** (-(code + 1) / PER_DECADE), float(least[i])), 10.0 ** (-code / PER_DECADE))
        for i, code in enumerate(codes.tolist())
    ]
    return _bins(pairs, rows, stated, seen, effect, intervals=intervals)


def _bins(
    pairs: Sequence[tuple[float, float]], rows: Floats, stated: Floats, seen: Floats, effect: float, *, intervals: bool
) -> tuple[Bin, ...]:
    low, high = limits(seen / effect, rows / effect) if intervals else (np.full(len(rows), math.nan),) * 2
    return tuple(
        Bin(*pairs[i], float(rows[i]), float(stated[i]), float(seen[i]), float(low[i]), float(high[i]))
        for i in range(len(rows))
        if rows[i] > 0
    )


def reliability_figure(layers: Mapping[str, Sequence[Bin]]) -> Figure:
    """Share correct by confidence; up is more accurate, right is more confident."""
    low = min(0.9, math.floor(10 * min(one.least for bins in layers.values() for one in bins)) / 10)
    ticks = np.arange(low, 1.001, 0.2 if low < 0.75 else 0.05).tolist()
    x = Axis("Confidence", low, 1, percent_ticks(ticks))
    y = Axis("Share correct", 0, 1, QUARTERS)

    def point(row: int, one: Bin) -> Point:
        interval = None if math.isnan(one.low) else (1 - one.high, 1 - one.low)
        mark = Mark(one.kind, 1 - one.doubt, 1 - one.error)
        return Point(row, one.least, one.most, (mark,), one.kind, interval, is_faint=not one.seen)

    drawn = layers_of(layers, point, lambda one: (one.least + one.most) / 2, 0.7 / (len(RELIABILITY_BINS.edges) + 1), x)
    canvas = Canvas(x, y)
    return Figure("Reliability", x, y, drawn, ((low, low), (1, 1)), texts=_notes(canvas, drawn["all"]))


def near_certainty_figure(layers: Mapping[str, Sequence[Bin]]) -> Figure:
    """Observed by expected errors, both in powers of ten: every gridline expects ten times fewer errors."""
    least = min(one.least for bins in layers.values() for one in bins)
    top = min(_FARTHEST, max(2.0, -math.log10(least)))
    ticks = _ticks_of_doubt(top)
    x = Axis("Expected errors, rarer", 0, top, ticks)
    y = Axis("Observed errors, rarer", 0, top, (Tick(0, "always"), *ticks))

    def rarity(share: float) -> float:
        return min(top, -math.log10(share)) if share > 0 else top

    def point(row: int, one: Bin) -> Point:
        where = rarity(one.doubt)
        left, right = rarity(one.most), rarity(one.least)
        if math.isnan(one.low):
            mark = Mark(one.kind if one.seen else "none", where, rarity(one.error))
            return Point(row, left, right, (mark,), one.kind)
        if not one.seen:
            # no error: a mark at the rate that the interval leaves possible, and no line over all that is rarer
            limit = Mark("under" if one.kind == "under" else "none", where, rarity(one.high))
            return Point(row, left, right, (limit,), one.kind)
        ends = (rarity(one.high), rarity(one.low))
        return Point(row, left, right, (Mark(one.kind, where, rarity(one.error)),), one.kind, ends)

    drawn = layers_of(layers, point, lambda one: rarity(math.sqrt(one.least * one.most)), 0.8 / PER_DECADE, x)
    texts: tuple[Text, ...] = ()
    for key, bins in layers.items():
        canvas = Canvas(x, y)
        drawn[key] = _with_factors(drawn[key], bins, canvas)
        if key == "all":
            texts = _notes(canvas, Layer(()))
    return Figure("Reliability near certainty", x, y, drawn, ((0, 0), (top, top)), texts=texts)


def _ticks_of_doubt(top: float) -> tuple[Tick, ...]:
    """Powers of ten up to ``top``, as many as there is room for."""

    def every(step: int) -> tuple[Tick, ...]:
        decades = range(step, math.floor(top + 0.01) + 1, step)
        return tuple(Tick(d, f"1 in {decade(d, 5)}" if d == step else decade(d, 5)) for d in decades)

    return fitting_ticks(Axis("", 0, top, ()), map(every, range(1, 5)))


def _with_factors(layer: Layer, bins: Sequence[Bin], canvas: Canvas) -> Layer:
    """The same points, labelled with observed over expected errors where that is clear and there is room."""
    for point in layer.points:
        canvas.add_point(point)
    labels: dict[int, Text] = {}
    worth = [
        (one.error / one.doubt, point)
        for one, point in zip(bins, layer.points, strict=True)
        if one.kind == "over" and one.seen >= ENOUGH_ERRORS and one.error > _WORTH_A_LABEL * one.doubt
    ]
    for ratio, point in sorted(worth, key=lambda pair: -pair[0]):
        assert point.interval is not None
        x, (low, high) = point.marks[0].x, point.interval
        words = typeset(f"×{significant(ratio, 2)}")
        candidates = [
            Text(words, x, low, "middle", (0, 14), "factor"),
            Text(words, x, high, "middle", (0, -6), "factor"),
        ]
        text = canvas.place(candidates, size=SMALL)
        if text is not None:
            labels[point.row] = text
    return replace(layer, points=tuple(replace(point, label=labels.get(point.row)) for point in layer.points))


def _notes(canvas: Canvas, layer: Layer) -> tuple[Text, ...]:
    """What the line means, and its lower side, where there is room."""
    for point in layer.points:
        canvas.add_point(point)
    along = [(value, value) for value in map(canvas.x.value, _ALONG)]
    words = "below the line: overconfident"
    below = [Text(words, canvas.x.value(share), canvas.y.low, "end", (-4, -10)) for share in (1.0, 0.9, 0.8)]
    found = (canvas.place(notes_along("calibrated", along)), canvas.place(below))
    return tuple(text for text in found if text is not None)


def layers_of(
    layers: Mapping[str, Sequence[Bin]],
    point: Callable[[int, Bin], Point],
    centre: Callable[[Bin], float],
    width: float,
    x: Axis,
) -> dict[str, Layer]:
    """The points of each layer, and bars that count the rows in each bin, never too low to be visible.

    Bars have their number on top where there is room, the highest first.
    """
    found = {}
    for key, bins in layers.items():
        most = max((one.rows for one in bins), default=1.0)
        labelled: list[tuple[float, float]] = []
        labels = dict.fromkeys(range(len(bins)), "")
        for i, one in sorted(enumerate(bins), key=lambda pair: -pair[1].rows):
            place, reach = NARROW * x.share(centre(one)), width_of(short_count(one.rows), TINY) / 2 + 2
            if all(abs(place - other) >= reach + wide for other, wide in labelled):
                labels[i] = short_count(one.rows)
                labelled.append((place, reach))
        bars = (Bar(centre(one), width, max(1 / 30, one.rows / most), labels[i]) for i, one in enumerate(bins))
        found[key] = Layer(tuple(point(i, one) for i, one in enumerate(bins)), tuple(bars))
    return found

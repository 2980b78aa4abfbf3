"""Reliability: rows grouped by confidence, with the errors expected and observed, and the figures of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot._stats.binomial import limits
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.figures.figure import HEIGHT, Axis, Bar, Figure, Kind, Layer, Mark, Point, Text, Tick
from surefoot.figures.labels import QUARTERS, decade, percent_ticks, short_count, significant, typeset
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
#: Observed over expected errors from which a point is labelled with the factor.
_WORTH_A_LABEL = 3


@dataclass(frozen=True)
class Band:
    """The rows whose doubt lies in [least, below): how many, and the errors expected and observed among them."""

    least: float
    below: float
    rows: float
    stated: float
    seen: float

    @property
    def doubt(self) -> float:
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
    """The rows between ``least`` and ``most``, which are confidences, or doubts in the diagram near certainty."""

    least: float
    most: float
    rows: float
    #: Errors expected, and errors observed.
    stated: float
    seen: float
    #: The 95% interval of the share of errors (Clopper and Pearson); nan for weighted rows.
    low: float
    high: float

    @property
    def doubt(self) -> float:
        return self.stated / self.rows

    @property
    def error(self) -> float:
        return self.seen / self.rows

    @property
    def kind(self) -> Kind:
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
    # what was stated is what was seen less the gap between them
    stated = np.clip(wrong - gap, 0.0, weight)
    return _bins(pairs, weight * scale, stated * scale, wrong * scale, effect, intervals=intervals and alike)


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
    seen = np.round(seen, 6)
    low, high = limits(seen / effect, rows / effect) if intervals else (np.full(len(rows), math.nan),) * 2
    return tuple(
        Bin(*pairs[i], float(rows[i]), float(stated[i]), float(seen[i]), float(low[i]), float(high[i]))
        for i in range(len(rows))
        if rows[i] > 0
    )


def reliability_figure(layers: Mapping[str, Sequence[Bin]]) -> Figure:
    """Share correct by stated confidence; up is more accurate, right is more confident."""
    low = min(0.9, math.floor(10 * min(one.least for bins in layers.values() for one in bins)) / 10)
    ticks = np.arange(low, 1.001, 0.2 if low < 0.75 else 0.05).tolist()
    x = Axis("Stated confidence", low, 1, percent_ticks(ticks))

    def point(row: int, one: Bin) -> Point:
        interval = None if math.isnan(one.low) else (1 - one.high, 1 - one.low)
        return Point(row, one.least, one.most, (Mark(one.kind, 1 - one.doubt, 1 - one.error),), one.kind, interval)

    middle = x.value(0.62)
    return Figure(
        "Reliability",
        x,
        Axis("Share correct", 0, 1, QUARTERS),
        _layers(layers, point, lambda one: (one.least + one.most) / 2, 0.7 / (len(RELIABILITY_BINS.edges) + 1)),
        ((low, low), (1, 1)),
        texts=(
            Text("calibrated", middle, middle, "end", (-8, -6)),
            Text("below the line: overconfident", 1, 0, "end", (-4, -10)),
        ),
    )


def near_certainty_figure(layers: Mapping[str, Sequence[Bin]]) -> Figure:
    """Observed by expected errors, both in powers of ten: every gridline expects ten times fewer errors."""
    least = min(one.least for bins in layers.values() for one in bins)
    top = min(_FARTHEST, max(2.0, -math.log10(least)))
    step = 1 if top <= 7 else 2
    decades = range(step, math.floor(top + 0.01) + 1, step)
    ticks = tuple(Tick(d, f"1 in {decade(d)}" if d == step else decade(d)) for d in decades)
    y = Axis("Observed errors, rarer", 0, top, (Tick(0, "always"), *ticks))

    def rarity(share: float) -> float:
        return min(top, -math.log10(share)) if share > 0 else top

    def point(row: int, one: Bin) -> Point:
        x, ends = rarity(one.doubt), (rarity(one.high), rarity(one.low))
        label = None
        if one.kind == "over" and one.error > _WORTH_A_LABEL * one.doubt:
            words = typeset(f"×{significant(one.error / one.doubt, 2)}")
            # over the interval where there is no room under it
            has_room = y.share(ends[0]) * HEIGHT > 18
            label = Text(words, x, ends[0 if has_room else 1], "middle", (0, 14 if has_room else -6), "factor")
        mark = Mark(one.kind if one.seen else "none", x, rarity(one.error))
        interval = None if math.isnan(one.low) else ends
        return Point(row, rarity(one.most), rarity(one.least), (mark,), one.kind, interval, label)

    return Figure(
        "Reliability near certainty",
        Axis("Expected errors, rarer", 0, top, ticks),
        y,
        _layers(layers, point, lambda one: rarity(math.sqrt(one.least * one.most)), 0.8 / PER_DECADE),
        ((0, 0), (top, top)),
        texts=(
            Text("calibrated", 0.53 * top, 0.53 * top, "end", (-8, -6)),
            Text("below the line: overconfident", 0.73 * top, 0, "end", (0, -10), "spare"),
        ),
    )


def _layers(
    layers: Mapping[str, Sequence[Bin]],
    point: Callable[[int, Bin], Point],
    centre: Callable[[Bin], float],
    width: float,
) -> dict[str, Layer]:
    """The points of each layer, and bars that count the rows in each bin, never lower than can be seen."""
    found = {}
    for key, bins in layers.items():
        most = max((one.rows for one in bins), default=1.0)
        bars = (Bar(centre(one), width, max(1 / 30, one.rows / most), short_count(one.rows)) for one in bins)
        found[key] = Layer(tuple(point(i, one) for i, one in enumerate(bins)), tuple(bars))
    return found

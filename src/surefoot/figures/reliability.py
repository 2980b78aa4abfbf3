"""Rows put together by what they claim: how many, the mistakes they allowed for, those they made, and an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from surefoot._stats.binomial import limits
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
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
from surefoot.risk.law.counts import Counts, counts_of

#: More mistakes than stated, fewer, neither for sure, or nothing to tell by.
Kind = Literal["over", "under", "fair", "dot"]


@dataclass(frozen=True)
class Band:
    """The rows whose doubt lies in [least, below): how many, the mistakes they allowed for, and those they made."""

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
    """The rows that claim between ``least`` and ``most``: confidences, or doubts in the stretched diagram."""

    least: float
    most: float
    rows: float
    #: Mistakes they allowed for, and mistakes they made.
    stated: float
    seen: float
    #: The share of mistakes that so many rows may stand for, at 95% (Clopper and Pearson); nan for weighted rows.
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
    pairs: Sequence[tuple[float, float]],
    rows: Floats,
    stated: Floats,
    seen: Floats,
    effect: float,
    *,
    intervals: bool,
) -> tuple[Bin, ...]:
    seen = np.round(seen, 6)
    low, high = limits(seen / effect, rows / effect) if intervals else (np.full(len(rows), math.nan),) * 2
    return tuple(
        Bin(*pairs[i], float(rows[i]), float(stated[i]), float(seen[i]), float(low[i]), float(high[i]))
        for i in range(len(rows))
        if rows[i] > 0
    )


@dataclass(frozen=True)
class Concentration:
    """What share of CSR the most surprising mistakes carry: of the first ``rows``, the share."""

    rows: Floats
    share: Floats
    csr: float
    #: All rows with doubt, over which CSR is the mean.
    n: float

    @property
    def mistakes(self) -> int:
        return round(float(self.rows[-1]))

    def of(self, rows: float) -> float:
        """The share that so many rows carry."""
        return min(1.0, float(np.interp(rows, np.append(0.0, self.rows), np.append(0.0, self.share))))

    def without(self, rows: float) -> float:
        """The CSR of the others; nan if there are none."""
        left = self.n - rows
        return (1 - self.of(rows)) * self.csr * self.n / left if left > 0 else math.nan

    @cached_property
    def to_calm(self) -> int:
        """How many must be set aside before the CSR of the others is at most 1."""
        few, many = 0, self.mistakes
        while few < many:
            middle = (few + many) // 2
            if self.without(middle) <= 1 + 1e-12 or math.isnan(self.without(middle)):
                many = middle
            else:
                few = middle + 1
        return few


def concentration(counts: Counts, csr: float) -> Concentration | None:
    """From the rows by doubt; None where there is no mistake, or one that claimed certainty."""
    counts = counts.doubtful()
    wrong = counts.surprises()
    if not len(wrong.doubt) or not math.isfinite(csr):
        return None
    order = np.argsort(wrong.doubt, kind="stable")
    surprise = wrong.surprise[order]
    shares = np.cumsum(surprise) / surprise.sum()
    return Concentration(np.cumsum(wrong.wrong[order]), np.minimum(shares, 1.0), csr, counts.n)


@dataclass(frozen=True)
class Coverage:
    """Mistakes on the surest rows: ``coverage`` is the share of rows answered, ``wrong`` the share answered wrongly."""

    coverage: Floats
    #: Of all rows, not of those answered.
    wrong: Floats

    def error(self, share: float) -> float:
        """The share of mistakes among the rows answered; of rows that are equally sure, some at random."""
        missed = float(np.interp(share, np.append(0.0, self.coverage), np.append(0.0, self.wrong)))
        return missed / share


def coverage(counts: Counts) -> Coverage:
    """The risk-coverage curve, from the rows by doubt."""
    order = np.argsort(counts.doubt, kind="stable")
    return Coverage(np.cumsum(counts.rows[order]) / counts.n, np.cumsum(counts.wrong[order]) / counts.n)

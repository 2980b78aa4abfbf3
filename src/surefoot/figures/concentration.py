"""Surprise concentration: which share of CSR the most surprising rows carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from surefoot.core.table import Floats
from surefoot.figures.figure import Axis, Curve, Figure, Layer, Mark, Point, Text, Tick
from surefoot.figures.labels import QUARTERS, decade
from surefoot.risk.law.counts import Counts

#: CSR that rounding leaves above 1.
_DUST = 1e-12


@dataclass(frozen=True)
class Concentration:
    """What share of CSR the most surprising errors carry: of the first ``rows``, the share."""

    rows: Floats
    share: Floats
    csr: float
    #: All rows with doubt, over which CSR is the mean.
    n: float

    @property
    def errors(self) -> int:
        return round(float(self.rows[-1]))

    @property
    def ranks(self) -> list[int]:
        """Numbers of rows that are marked: 1, 2, 5, 10, ... and all."""
        round_numbers = (digit * 10**power for power in range(12) for digit in (1, 2, 5))
        return [*(k for k in round_numbers if k < self.errors), self.errors]

    def share_of(self, rows: float) -> float:
        """The share that so many rows carry."""
        return min(1.0, float(np.interp(rows, np.append(0.0, self.rows), np.append(0.0, self.share))))

    def csr_without(self, rows: float) -> float:
        """The CSR of the others; nan if there are none."""
        left = self.n - rows
        return (1 - self.share_of(rows)) * self.csr * self.n / left if left > 0 else math.nan

    @cached_property
    def rows_to_remove(self) -> int:
        """How many must be set aside before the CSR of the others is at most 1."""
        few, many = 0, self.errors
        while few < many:
            middle = (few + many) // 2
            if not self.csr_without(middle) > 1 + _DUST:
                many = middle
            else:
                few = middle + 1
        return few

    @property
    def title(self) -> str:
        if self.csr <= 1:
            return "How surprise is spread over the errors"
        if self.rows_to_remove <= 5:
            rows = "1 row" if self.rows_to_remove == 1 else f"{self.rows_to_remove} rows"
            return f"A handful of rows: without {rows}, CSR is at most 1"
        return f"Not a handful of rows: {self.rows_to_remove:,} must go before CSR falls to 1"

    def figure(self) -> Figure:
        """The share of CSR by the number of rows set aside, on a log axis."""
        most = max(2, self.errors)
        decades = tuple(Tick(10.0**d, decade(d)) for d in range(math.floor(math.log10(most)) + 1))
        x = Axis("Rows set aside, most surprising first", 1, most, decades, is_log=True)
        drawn = np.unique(np.geomspace(1, self.errors, 90).astype(int)).tolist()
        points = tuple(
            Point(i, x.value(x.share(k) - 0.04), x.value(x.share(k) + 0.04), (Mark("dot", k, self.share_of(k)),))
            for i, k in enumerate(self.ranks)
        )
        texts = [
            Text(f"{k} rows, {self.share_of(k):.0%}", k, self.share_of(k), "end", (-10, 0), "label")
            for k in (10, 50)
            if k < self.errors / 2 and x.share(k) > 0.3
        ]
        ideal = None
        if self.csr > 1:
            calm = self.share_of(self.rows_to_remove)
            ideal = ((1, calm), (most, calm))
            # under the line where there is room
            texts.append(Text("the rest has CSR 1", 1, calm, "start", (4, 16 if calm > 0.15 else -6)))
        return Figure(
            self.title,
            x,
            Axis("Share of CSR they carry", 0, 1, QUARTERS),
            {"all": Layer(points)},
            ideal,
            (Curve(tuple(drawn), tuple(map(self.share_of, drawn))),),
            tuple(texts),
        )


def concentration(counts: Counts, csr: float) -> Concentration | None:
    """From the rows by doubt; None where there is no error, or one at confidence 1."""
    counts = counts.doubtful()
    wrong = counts.surprises()
    if not len(wrong.doubt) or not math.isfinite(csr):
        return None
    order = np.argsort(wrong.doubt, kind="stable")
    surprise = wrong.surprise[order]
    shares = np.cumsum(surprise) / surprise.sum()
    return Concentration(np.cumsum(wrong.wrong[order]), np.minimum(shares, 1.0), csr, counts.n)

"""Surprise concentration: which share of CSR the most surprising rows hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from surefoot.core.table import Floats
from surefoot.figures.figure import Axis, Curve, Figure, Layer, Mark, Point, Text, Tick
from surefoot.figures.labels import QUARTERS, decade
from surefoot.figures.placing import Canvas, fitting_ticks
from surefoot.risk.law.counts import Counts

#: Errors that a title rests on at least, and rows that are a few.
ENOUGH_ERRORS, _HANDFUL = 10, 5
#: CSR that rounding leaves above 1.
_DUST = 1e-12


@dataclass(frozen=True)
class Concentration:
    """What share of CSR the most surprising errors hold: of the first ``rows``, the share."""

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
        """The share that so many rows hold."""
        return min(1.0, float(np.interp(rows, np.append(0.0, self.rows), np.append(0.0, self.share))))

    def csr_without(self, rows: float) -> float:
        """The CSR of the others; nan if there are none."""
        left = self.n - rows
        return (1 - self.share_of(rows)) * self.csr * self.n / left if left > 0 else math.nan

    @cached_property
    def rows_to_remove(self) -> int:
        """How many must be removed before the CSR of the others is at most 1."""
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
        """The finding; the plain name of the figure where there are too few errors for one."""
        if self.csr <= 1 or self.errors < ENOUGH_ERRORS:
            return "How CSR is spread over the errors"
        if self.rows_to_remove <= _HANDFUL:
            rows = "1 row" if self.rows_to_remove == 1 else f"{self.rows_to_remove} rows"
            return f"A few rows decide: without {rows}, CSR is at most 1"
        return f"Many rows contribute: CSR is above 1 until {self.rows_to_remove:,} are removed"

    def figure(self) -> Figure:
        """The share of CSR by the number of rows removed, on a log axis."""
        most = max(2, self.errors)
        last = math.floor(math.log10(most))
        bare = Axis("Rows removed, most surprising first", 1, most, (), is_log=True)
        every = tuple(Tick(k, f"{k:,}") for d in range(last + 1) for k in (10**d, 2 * 10**d, 5 * 10**d) if k <= most)
        decades = (
            tuple(Tick(10.0**d, decade(d, 5)) for d in range(0, last + 1, step)) for step in range(1, max(2, last + 1))
        )
        x = replace(bare, ticks=fitting_ticks(bare, (every, *decades)))
        y = Axis("Share of CSR they hold", 0, 1, QUARTERS)
        drawn = np.unique(np.geomspace(1, self.errors, 90).astype(int)).tolist()
        points = tuple(
            Point(i, x.value(x.share(k) - 0.04), x.value(x.share(k) + 0.04), (Mark("dot", k, self.share_of(k)),))
            for i, k in enumerate(self.ranks)
        )
        curve = Curve(tuple(drawn), tuple(map(self.share_of, drawn)))
        ideal = None
        if self.csr > 1:
            calm = self.share_of(self.rows_to_remove)
            ideal = ((1, calm), (most, calm))
        texts = self._texts(Canvas(x, y), points, curve, ideal)
        return Figure(self.title, x, y, {"all": Layer(points)}, ideal, (curve,), texts)

    def _texts(
        self,
        canvas: Canvas,
        points: tuple[Point, ...],
        curve: Curve,
        ideal: tuple[tuple[float, float], tuple[float, float]] | None,
    ) -> tuple[Text, ...]:
        """What the line means, and how much ten and fifty rows hold, where there is room."""
        canvas.add_curve(curve.x, curve.y)
        for point in points:
            canvas.add_point(point)
        found = []
        if ideal is not None:
            (left, calm), (right, _) = ideal
            canvas.add_curve((left, right), (calm, calm))
            words = "without them, CSR is 1"
            found.append(
                canvas.place(
                    [
                        Text(words, left, calm, "start", (4, 16)),
                        Text(words, left, calm, "start", (4, -6)),
                        Text(words, right, calm, "end", (-4, 16)),
                        Text(words, right, calm, "end", (-4, -6)),
                    ]
                )
            )
        for k in (10, 50):
            if k < self.errors / 2 and canvas.x.share(k) > 0.3:
                share = self.share_of(k)
                words = f"{k} rows, {share:.0%}"
                left_of, under = (
                    Text(words, k, share, "end", (-10, 0), "label"),
                    Text(words, k, share, "start", (6, 18), "label"),
                )
                found.append(canvas.place([left_of, under]))
        return tuple(text for text in found if text is not None)


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

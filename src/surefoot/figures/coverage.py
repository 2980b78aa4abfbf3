"""Risk and coverage: how often the model is wrong if only the surest rows are answered."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot.core.table import Floats
from surefoot.figures.figure import Axis, Curve, Figure, Layer, Mark, Point, Text
from surefoot.figures.labels import QUARTERS, percent_ticks
from surefoot.figures.placing import Canvas
from surefoot.risk.law.counts import Counts

#: Shares of rows answered that are marked.
_MARKED = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True)
class Coverage:
    """Errors on the surest rows: ``coverage`` is the share of rows answered, ``wrong`` the share answered wrongly."""

    coverage: Floats
    #: Of all rows, not of those answered.
    wrong: Floats

    def error(self, share: float) -> float:
        """The share of errors among the rows answered; of rows that are equally sure, some at random."""
        missed = float(np.interp(share, np.append(0.0, self.coverage), np.append(0.0, self.wrong)))
        return missed / share

    @property
    def samples(self) -> tuple[tuple[float, float], ...]:
        """The marked shares of rows answered, with the errors among them."""
        return tuple((share, self.error(share)) for share in _MARKED)

    @property
    def curve(self) -> Curve:
        """The errors among the rows answered, from the first on."""
        shares = np.linspace(max(0.005, float(self.coverage[0])), 1, 200).tolist()
        return Curve(tuple(shares), tuple(map(self.error, shares)))

    def figure(self) -> Figure:
        """The share of errors by the share of rows answered."""
        curve, overall = self.curve, self.error(1.0)
        highest = max(*curve.y, *(error for _, error in self.samples)) * 1.05 or 0.01
        points = tuple(
            Point(i, share - 0.05, share + 0.05, (Mark("dot", share, error),))
            for i, (share, error) in enumerate(self.samples)
        )
        x = Axis("Coverage: share of rows answered, surest first", 0, 1, QUARTERS)
        y = Axis("Errors among them", 0, highest, percent_ticks(round_numbers(highest)))
        canvas = Canvas(x, y)
        canvas.add_curve(curve.x, curve.y)
        for point in points:
            canvas.add_point(point)
        words = "if all rows are answered"
        note = canvas.place(
            [
                Text(words, 0, overall, "start", (4, -6)),
                Text(words, 0, overall, "start", (4, 16)),
                Text(words, 1, overall, "end", (-10, -6)),
                Text(words, 1, overall, "end", (-10, 16)),
            ]
        )
        return Figure(
            "Errors by coverage",
            x,
            y,
            {"all": Layer(points)},
            ((0, overall), (1, overall)),
            (curve,),
            () if note is None else (note,),
        )


def coverage(counts: Counts) -> Coverage:
    """The risk-coverage curve, from the rows by doubt."""
    order = np.argsort(counts.doubt, kind="stable")
    return Coverage(np.cumsum(counts.rows[order]) / counts.n, np.cumsum(counts.wrong[order]) / counts.n)


def round_numbers(highest: float) -> list[float]:
    """Round numbers from 0 to the highest, at most six."""
    step = 10.0 ** math.floor(math.log10(highest / 2))
    step *= next(f for f in (1, 2, 5, 10) if highest / (step * f) <= 5)
    return [round(i * step, 12) for i in range(math.floor(highest / step + 1e-9) + 1)]

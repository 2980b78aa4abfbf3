"""A monitor's wealth over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.render.mpl.display import INK, MUTED, OVER, Display, add_note, add_titles
from surefoot.risk.stream.monitor import Monitor


@dataclass
class WealthDisplay(Display):
    """The evidence of all rows so far, row by row, against the line at which it is an alarm; drifts as marks."""

    rows: list[int]
    log_e: list[float]
    level: float
    drifts: list[int]

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> WealthDisplay:
        if assessment.predictions is None:
            raise InvalidPredictions("evidence over time needs the rows, which a tally does not hold.")
        return cls.from_predictions(assessment.predictions)

    @classmethod
    @takes_predictions
    def from_predictions(
        cls,
        x: Any = None,
        second: Any = None,
        third: Any = None,
        /,
        *,
        monitor: Monitor | None = None,
        points: int = 400,
        **columns: Unpack[Columns],
    ) -> WealthDisplay:
        """Make the display of predictions in the order of time.

        Parameters
        ----------
        monitor : Monitor, optional
            A monitor that goes on with these samples; by default a new one.
        points : int, default 400
            How many points of the curve to compute.

        Returns
        -------
        WealthDisplay
            Call its ``plot``.
        """
        p = as_predictions(x, second, third, columns, function="from_predictions").rows("evidence over time")
        if not p.has_equal_weights:
            raise InvalidPredictions(
                "a weight is no number of bets: evidence over time takes rows that weigh the same."
            )
        p = p[p.weight > 0] if p.is_weighted else p
        monitor = Monitor() if monitor is None else monitor
        cuts = np.unique(np.linspace(0, len(p), min(points, len(p)) + 1).astype(int)).tolist()
        rows, log_e = [monitor.rows], [monitor.log_e]
        for start, stop in pairwise(cuts):
            part = p[start:stop]
            monitor.update(part.correct, doubt=part.doubt_of(slice(None)))
            rows.append(monitor.rows)
            log_e.append(monitor.log_e)
        return cls(rows, log_e, monitor.level, list(monitor.drift_rows))

    def frame(self) -> dict[str, list[Any]]:
        return {"rows": self.rows, "log_e": self.log_e}

    def _draw(self, ax: Any) -> None:
        tens = [value / math.log(10) for value in self.log_e]
        ax.plot(self.rows, tens, color=INK, linewidth=1.4)
        alarm = -math.log10(self.level)
        ax.axhline(alarm, color=OVER, linestyle="--", linewidth=1)
        add_note(ax, self.rows[0], alarm, f"alarm at {1 / self.level:,.0f}", va="bottom")
        ax.axhline(0, color=MUTED, linestyle=":", linewidth=1)
        for row in self.drifts:
            ax.plot(row, 0, "v", color=OVER, markersize=5, clip_on=False, transform=ax.get_xaxis_transform())
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_major_formatter(lambda value, _: f"10^{value:g}")
        add_titles(ax, "Evidence so far", "Rows →", "e-value, log scale →")

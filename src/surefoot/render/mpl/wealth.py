"""A monitor's wealth over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.labels import power_of_ten
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.render.mpl.display import INK, MUTED, OVER, Display, add_titles
from surefoot.risk.stream.monitor import Monitor

#: Powers of ten that are drawn at most: evidence may be infinite.
_MOST = 300.0


@dataclass
class WealthDisplay(Display):
    """The evidence of a monitor over time, against the threshold of an alarm; marks show drifts.

    Attributes
    ----------
    rows : list of int
        Numbers of rows, rising.
    log_e : list of float
        The logarithm of the e-value after so many rows.
    level : float
        The e-value is an alarm from 1 / level on.
    drifts : list of int
        The rows at which the change detector went off.
    """

    rows: list[int]
    log_e: list[float]
    level: float
    drifts: list[int]

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> WealthDisplay:
        if assessment.predictions is None:
            raise InvalidPredictions("evidence over time needs the rows; a tally does not hold them.")
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
            raise InvalidPredictions("evidence over time takes rows of equal weight; leave the weights out.")
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

    @classmethod
    def from_monitor(cls, monitor: Monitor) -> WealthDisplay:
        """Make the display of a monitor as it stands.

        The curve goes through the points of its history, which a monitor that was loaded from a file has too.

        Parameters
        ----------
        monitor : Monitor
            The monitor; it is left as it is.

        Returns
        -------
        WealthDisplay
            Call its ``plot``.
        """
        if not isinstance(monitor, Monitor):
            kind = type(monitor).__name__  # type: ignore[unreachable]
            raise InvalidPredictions(f"monitor is a {kind}; give a surefoot.Monitor.")
        rows, log_e, _ = (list(column) for column in zip(*monitor.history, strict=True))
        return cls(rows, log_e, monitor.level, list(monitor.drift_rows))

    def frame(self) -> dict[str, list[Any]]:
        return {"rows": self.rows, "log_e": self.log_e}

    def _draw(self, ax: Any) -> None:
        tens = [max(-_MOST, min(_MOST, value / math.log(10))) for value in self.log_e]
        ax.plot(self.rows, tens, color=INK, linewidth=1.4)
        alarm = -math.log10(self.level)
        ax.axhline(alarm, color=OVER, linestyle="--", linewidth=1)
        ax.axhline(0, color=MUTED, linestyle=":", linewidth=1)
        for row in self.drifts:
            ax.plot(row, 0, "v", color=OVER, markersize=5, clip_on=False, transform=ax.get_xaxis_transform())
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.locator_params(axis="x", nbins=6)
        low, high = min([*tens, -0.5]), max([*tens, alarm])
        ax.set_ylim(low - 0.04 * (high - low), high + 0.08 * (high - low))
        powers = _whole_powers(low, high)
        ax.set_yticks(powers, [power_of_ten(power) if power else "1" for power in powers])
        facts = f"{self.rows[-1]:,} rows; alarm from an e-value of {1 / self.level:,.0f} on (dashed)"
        if self.drifts:
            facts += f"; ▼ drift detected ({len(self.drifts):,})"
        add_titles(ax, "Evidence against calibration over time", "Rows →", "e-value, log scale →", facts)


def _whole_powers(low: float, high: float) -> list[int]:
    """Whole powers of ten to label, at most seven."""
    step = max(1, math.ceil((high - low) / 6))
    return list(range(step * math.ceil(low / step), math.floor(high) + 1, step))

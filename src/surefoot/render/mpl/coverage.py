"""Risk and coverage: how often it is wrong if only the surest rows are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.reliability import Coverage, coverage
from surefoot.render.mpl.display import INK, MUTED, Display, noted, titled


@dataclass
class RiskCoverageDisplay(Display):
    """The share of mistakes among the surest rows, by how many of all rows these are. Every row counts once."""

    curve: Coverage

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> RiskCoverageDisplay:
        if assessment.counts is None or not assessment.counts.n:
            raise InvalidPredictions("there are no rows to answer.")
        return cls(coverage(assessment.counts))

    def frame(self) -> dict[str, list[Any]]:
        shares = np.linspace(0.005, 1, 200)
        return {"coverage": shares.tolist(), "error": [self.curve.error(share) for share in shares.tolist()]}

    def _draw(self, ax: Any) -> None:
        overall, drawn = self.curve.error(1.0), self.frame()
        ax.axhline(overall, color=MUTED, linestyle=":", linewidth=1)
        ax.plot(drawn["coverage"], drawn["error"], color=INK, linewidth=1.6)
        noted(ax, 0.02, overall, "if all are answered", va="bottom")
        ax.set(xlim=(0, 1.01), ylim=(0, None))
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.yaxis.set_major_formatter("{x:.1%}")
        titled(ax, "Errors by rows answered", "Rows answered, surest first →", "Errors among them →")

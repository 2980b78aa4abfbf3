"""Risk and coverage: how often the model is wrong if only the surest rows are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.coverage import Coverage, coverage
from surefoot.figures.figure import Figure
from surefoot.render.mpl.display import FigureDisplay


@dataclass
class RiskCoverageDisplay(FigureDisplay):
    """The share of errors among the surest rows, by how many of all rows these are. Every row counts once."""

    curve: Coverage

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> RiskCoverageDisplay:
        if assessment.counts is None or not assessment.counts.n:
            raise InvalidPredictions("there are no rows to answer.")
        return cls(coverage(assessment.counts))

    def frame(self) -> dict[str, list[Any]]:
        return {"coverage": list(self.curve.curve.x), "error": list(self.curve.curve.y)}

    def _figure(self) -> Figure:
        return self.curve.figure()

"""Reliability diagrams: share correct by stated confidence, and the same near certainty."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.figure import Figure
from surefoot.figures.reliability import Bin, near_certainty_figure, reliability_figure
from surefoot.render.mpl.display import FigureDisplay


@dataclass
class ReliabilityDisplay(FigureDisplay):
    """Share correct by stated confidence, in the bins of ECE, with 95% intervals and the rows in each bin."""

    bins: tuple[Bin, ...]

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> ReliabilityDisplay:
        return cls(assessment.reliability)

    def frame(self) -> dict[str, list[Any]]:
        columns = [*asdict(self.bins[0]), "doubt", "error", "kind"] if self.bins else []
        return {name: [getattr(one, name) for one in self.bins] for name in columns}

    def _figure(self) -> Figure:
        return reliability_figure({"all": self.bins})


class StretchedReliabilityDisplay(ReliabilityDisplay):
    """The same with doubt on a log scale on both axes: below the line is overconfident, and × says how much."""

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> StretchedReliabilityDisplay:
        if not assessment.near_certainty:
            raise InvalidPredictions("with unequal weights, or no doubt anywhere, there is nothing to stretch.")
        return cls(assessment.near_certainty)

    def _figure(self) -> Figure:
        return near_certainty_figure({"all": self.bins})

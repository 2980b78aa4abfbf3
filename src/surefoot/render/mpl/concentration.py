"""Surprise concentration: which share of CSR the most surprising rows carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.concentration import Concentration, concentration
from surefoot.figures.figure import Figure
from surefoot.render.mpl.display import FigureDisplay


@dataclass
class ConcentrationDisplay(FigureDisplay):
    """The share of CSR that the first rows carry, most surprising first; and how many must go before it is 1."""

    found: Concentration

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> ConcentrationDisplay:
        counts = assessment.counts
        is_weighted = math.isnan(assessment.risk.deflation)
        found = None if counts is None or is_weighted else concentration(counts, assessment.risk.csr)
        if found is None:
            raise InvalidPredictions(
                "no error was made, CSR is infinite, or weights are unequal: there is nothing to share out."
            )
        return cls(found)

    def frame(self) -> dict[str, list[Any]]:
        return {"rows": self.found.rows.tolist(), "share": self.found.share.tolist()}

    def _figure(self) -> Figure:
        return self.found.figure()

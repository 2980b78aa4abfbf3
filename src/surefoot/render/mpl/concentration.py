"""Surprise concentration: which share of CSR the most surprising rows carry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.reliability import Concentration, concentration
from surefoot.render.mpl.display import INK, MUTED, Display, noted, titled


@dataclass
class ConcentrationDisplay(Display):
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

    def _draw(self, ax: Any) -> None:
        ax.plot(self.found.rows, self.found.share, color=INK, linewidth=1.6, marker="o", markersize=2.5)
        title = "How surprise is spread over the errors"
        if self.found.csr > 1:
            calm = self.found.of(self.found.to_calm)
            ax.axhline(calm, color=MUTED, linestyle=":", linewidth=1)
            noted(ax, 1, calm, "the rest has CSR 1", va="top" if calm > 0.1 else "bottom")
            title = f"{self.found.to_calm:,} rows must go before CSR falls to 1"
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set_major_formatter("{x:.0%}")
        ax.set(xlim=(0.9, None), ylim=(0, 1.03))
        titled(ax, title, "Rows set aside, most surprising first →", "Share of CSR they carry →")

"""ROC and confidence-weighted ROC together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.roc import macro_curves
from surefoot.render.mpl.display import INK, MUTED, Display, noted, titled


@dataclass
class RocDisplay(Display):
    """The share found against the share of false alarms, plain and with each row weighted by its confidence.

    Of two classes the second's; of more the mean over all, one against the rest.
    """

    false: list[float]
    found: list[float]
    weighted: list[float]
    auc: float
    cw_auc: float
    metrics: ClassVar[tuple[str, ...]] = ("auc", "cw_auc")

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> RocDisplay:
        p = assessment.predictions
        curves = None if p is None or p.probabilities is None else macro_curves(p)
        if curves is None:
            raise InvalidPredictions("ROC curves need the probabilities of rows of at least two classes.")
        return cls(*curves, assessment.metrics["auc"], assessment.metrics["cw_auc"])

    def frame(self) -> dict[str, list[Any]]:
        return {"false_alarms": self.false, "found": self.found, "found_weighted": self.weighted}

    def _draw(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1)
        ax.plot(self.false, self.found, "--", color=MUTED, linewidth=1.2)
        ax.plot(self.false, self.weighted, "-", color=INK, linewidth=1.6)
        inside = {"xycoords": "axes fraction"}
        noted(ax, 0.4, 0.22, f"—  cwROC, area {self.cw_auc:.4f}", **inside)
        noted(ax, 0.4, 0.14, f"- -  ROC, area {self.auc:.4f}", **inside)
        # of good rankings only the top left corner has something to show
        wide, low = (0.1, 0.5) if self.auc > 0.97 else (1.0, 0.0)
        ax.set(xlim=(-0.01 * wide, 1.01 * wide), ylim=(low, 1 + 0.01 * (1 - low)))
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.yaxis.set_major_formatter("{x:.0%}")
        titled(
            ax,
            "ROC and confidence-weighted ROC" + (", top left corner" if wide < 1 else ""),
            "False alarms →",
            "Found →",
        )

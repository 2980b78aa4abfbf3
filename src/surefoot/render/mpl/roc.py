"""ROC and confidence-weighted ROC together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.figure import Figure
from surefoot.figures.roc import Roc, roc
from surefoot.render.mpl.display import FigureDisplay


@dataclass
class RocDisplay(FigureDisplay):
    """The share found against the share of false alarms, plain and with each row weighted by its confidence.

    Of two classes the second's; of more the mean over all, one against the rest.
    """

    curves: Roc
    metrics: ClassVar[tuple[str, ...]] = ("auc", "cw_auc")

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> RocDisplay:
        p, curves = assessment.predictions, None
        if p is not None and p.probabilities is not None:
            curves = roc(p, assessment.metrics["auc"], assessment.metrics["cw_auc"])
        if curves is None:
            raise InvalidPredictions("ROC curves need the probabilities of rows of at least two classes.")
        return cls(curves)

    def frame(self) -> dict[str, list[Any]]:
        columns = {
            "false_alarms": self.curves.false_alarms,
            "found": self.curves.found,
            "found_weighted": self.curves.weighted,
        }
        return {name: values.tolist() for name, values in columns.items()}

    def _figure(self) -> Figure:
        figure = self.curves.figure()
        return replace(figure, title=f"{figure.title}, top left corner") if self.curves.width < 1 else figure

"""Displays of the figures that the report shows too."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Unpack

from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.concentration import Concentration, concentration
from surefoot.figures.coverage import Coverage, coverage
from surefoot.figures.figure import Figure
from surefoot.figures.reliability import Bin, near_certainty_figure, reliability_figure
from surefoot.figures.roc import Roc, roc
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.render.mpl.display import FigureDisplay, check_prediction, facts_of


@dataclass
class ReliabilityDisplay(FigureDisplay):
    """Reliability diagram: the share correct by confidence, with 95% confidence intervals.

    Points below the diagonal are overconfident. The bins are those of ECE; bars show the samples in each.

    Attributes
    ----------
    bins : tuple of Bin
        The bins that are drawn.
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        The ECE, shown below the title; nan if unknown.

    Examples
    --------
    >>> display = ReliabilityDisplay.from_predictions(["a", "b", "b"], ["a", "b", "a"], [0.9, 0.8, 0.6])
    >>> [round(error, 2) for error in display.frame()["error"]]
    [1.0, 0.0, 0.0]
    """

    bins: tuple[Bin, ...]

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> ReliabilityDisplay:
        check_prediction(assessment, cls.__name__)
        if not assessment.reliability:
            raise InvalidPredictions("a reliability diagram needs rows, or a tally that holds its bins.")
        return cls(assessment.reliability, **facts_of(assessment))

    def frame(self) -> dict[str, list[Any]]:
        columns = [*asdict(self.bins[0]), "doubt", "error", "kind"] if self.bins else []
        return {name: [getattr(one, name) for one in self.bins] for name in columns}

    def _figure(self) -> Figure:
        return reliability_figure({"all": self.bins})


class StretchedReliabilityDisplay(ReliabilityDisplay):
    """Reliability diagram near certainty, with doubt (1 - confidence) on log scales on both axes.

    Points below the line are overconfident; × says by how much.

    Attributes
    ----------
    bins : tuple of Bin
        The bins that are drawn, two for every factor of ten of doubt.
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        The ECE, shown below the title; nan if unknown.
    """

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> StretchedReliabilityDisplay:
        check_prediction(assessment, cls.__name__)
        if not assessment.near_certainty:
            raise InvalidPredictions("a stretched diagram needs rows of equal weight, and confidences below 1.")
        return cls(assessment.near_certainty, **facts_of(assessment))

    def _figure(self) -> Figure:
        return near_certainty_figure({"all": self.bins})


@dataclass
class ConcentrationDisplay(FigureDisplay):
    """The share of CSR that the most surprising samples hold, and how many must be removed before CSR is 1.

    Attributes
    ----------
    found : Concentration
        The samples and their shares.
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        The ECE, shown below the title; nan if unknown.
    """

    found: Concentration

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> ConcentrationDisplay:
        check_prediction(assessment, cls.__name__)
        counts = assessment.counts
        is_weighted = math.isnan(assessment.risk.deflation)
        found = None if counts is None or is_weighted else concentration(counts, assessment.risk.csr)
        if found is None:
            raise InvalidPredictions(
                "a concentration needs errors, a finite CSR and rows of equal weight; here no error was made, CSR is "
                "infinite, or weights are unequal."
            )
        return cls(found, **facts_of(assessment))

    def frame(self) -> dict[str, list[Any]]:
        return {"rows": self.found.rows.tolist(), "share": self.found.share.tolist()}

    def _figure(self) -> Figure:
        return self.found.figure()


@dataclass
class RiskCoverageDisplay(FigureDisplay):
    """Risk-coverage curve: the share of errors among the most confident samples.

    Every sample counts once, whatever its weight.

    Attributes
    ----------
    curve : Coverage
        The curve that is drawn.
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        The ECE, shown below the title; nan if unknown.
    """

    curve: Coverage

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> RiskCoverageDisplay:
        check_prediction(assessment, cls.__name__)
        if assessment.counts is None or not assessment.counts.n:
            raise InvalidPredictions("a risk-coverage curve needs rows.")
        return cls(coverage(assessment.counts), **facts_of(assessment))

    def frame(self) -> dict[str, list[Any]]:
        return {"coverage": list(self.curve.curve.x), "error": list(self.curve.curve.y)}

    def _figure(self) -> Figure:
        return self.curve.figure()


@dataclass
class RocDisplay(FigureDisplay):
    """ROC curves, plain and with each sample weighted by its confidence.

    With two classes the curve of the second; with more the mean over all classes, each against the rest. Of an event
    (``of="event"``) the plain curve alone: nothing was decided that one could be confident in.

    Attributes
    ----------
    curves : Roc
        The curves that are drawn.
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        The ECE, shown below the title; nan if unknown.
    """

    curves: Roc
    metrics: ClassVar[tuple[str, ...]] = ("auc", "cw_auc", "ece")

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> RocDisplay:
        if assessment.view == "classes":
            check_prediction(assessment, cls.__name__)
        p, curves = assessment.predictions, None
        if p is not None and p.has_ranking and "auc" in assessment.metrics:
            curves = roc(p, assessment.metrics["auc"], assessment.metrics.get("cw_auc", math.nan))
        if curves is None:
            raise InvalidPredictions(
                "ROC curves need probabilities or scores of all classes, for rows of at least two classes."
            )
        return cls(curves, **facts_of(assessment))

    @classmethod
    @takes_predictions
    def from_predictions(
        cls, x: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]
    ) -> RocDisplay:
        """Make the display of predictions in memory.

        Returns
        -------
        RocDisplay
            Call its ``plot``.
        """
        predictions = as_predictions(x, second, third, columns, function="from_predictions", is_ranking=True)
        rows = predictions.rows("a ROC display")
        names = cls.metrics if rows.view == "prediction" else ("auc", "ece")
        return cls.from_assessment(assess(rows, metrics=names))

    @property
    def auc(self) -> float:
        """The area under the ROC curve."""
        return self.curves.auc

    @property
    def cw_auc(self) -> float:
        """The area under the confidence-weighted ROC curve; nan of an event, which has none."""
        return self.curves.cw_auc

    def frame(self) -> dict[str, list[Any]]:
        columns = {
            "false_alarms": self.curves.false_alarms,
            "found": self.curves.found,
            "found_weighted": self.curves.weighted,
        }
        return {name: values.tolist() for name, values in columns.items() if values is not None}

    def _figure(self) -> Figure:
        figure = self.curves.figure()
        return replace(figure, title=f"{figure.title}, top left corner") if self.curves.width < 1 else figure

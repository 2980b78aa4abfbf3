"""The display of where a model may act alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from surefoot.assessment.assess import assess_estimator
from surefoot.assessment.result import Assessment
from surefoot.decisions.act_alone import ActAlone, act_alone
from surefoot.errors import InvalidPredictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.render.act_alone_figure import figure_title, risk_coverage_of
from surefoot.render.mpl.display import Display, add_titles, check_prediction, draw_figure
from surefoot.render.numbers import count


@dataclass
class ActAloneDisplay(Display):
    """Errors among accepted samples by how many are accepted, with the promised error rate and the threshold.

    The band holds the error rates that the test of each threshold leaves possible. The promise is kept where it ends
    below the dotted line.

    Attributes
    ----------
    found : ActAlone
        The result that is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(0.5, 1, 2000)
    >>> correct = rng.random(2000) < confidence
    >>> display = ActAloneDisplay.from_predictions(correct=correct, confidence=confidence, error=0.1)
    >>> display.found.threshold
    0.842
    """

    found: ActAlone
    metrics: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def from_assessment(cls, assessment: Assessment, *, error: float = 0.05, level: float = 0.05) -> ActAloneDisplay:
        """Make the display of an assessment.

        Parameters
        ----------
        assessment : Assessment
            The assessment to draw.
        error : float, default=0.05
            The error rate that accepted predictions may have.
        level : float, default=0.05
            The chance that the promise does not hold.

        Returns
        -------
        display
            Call its ``plot``.

        Raises
        ------
        InvalidPredictions
            If the assessment holds no rows.
        """
        check_prediction(assessment, cls.__name__)
        if assessment.predictions is None:
            raise InvalidPredictions("acting alone needs the rows; give the tally to surefoot.act_alone.")
        return cls(act_alone(assessment.predictions, error=error, level=level))

    @classmethod
    @takes_predictions
    def from_predictions(
        cls,
        x: Any = None,
        second: Any = None,
        third: Any = None,
        /,
        *,
        error: float = 0.05,
        level: float = 0.05,
        **columns: Unpack[Columns],
    ) -> ActAloneDisplay:
        """Make the display of predictions.

        Parameters
        ----------
        error : float, default=0.05
            The error rate that accepted predictions may have.
        level : float, default=0.05
            The chance that the promise does not hold.

        Returns
        -------
        display
            Call its ``plot``.
        """
        return cls(act_alone(x, second, third, error=error, level=level, **columns))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, error: float = 0.05, level: float = 0.05
    ) -> ActAloneDisplay:
        """Make the display of a fitted classifier on held-out data.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba`` and ``classes_``.
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels.
        error : float, default=0.05
            The error rate that accepted predictions may have.
        level : float, default=0.05
            The chance that the promise does not hold.

        Returns
        -------
        display
            Call its ``plot``.
        """
        return cls.from_assessment(assess_estimator(estimator, X, y), error=error, level=level)

    def frame(self) -> dict[str, list[Any]]:
        """Return the numbers that are drawn.

        Returns
        -------
        dict of str to list
            The columns of the curve: pass it to pandas, Polars or PyArrow.
        """
        names = ("threshold", "coverage", "error_rate", "lower", "upper", "rows", "errors")
        return {name: getattr(self.found.curve, name).tolist() for name in names}

    def _draw(self, ax: Any) -> None:
        drawn = risk_coverage_of(self.found)
        figure = drawn.figure()
        draw_figure(ax, figure)
        facts = f"n = {count(self.found.rows)}{',  higher error rates are cut off' if drawn.is_cut else ''}"
        add_titles(ax, figure_title(self.found), f"{figure.x.title} →", f"{figure.y.title} →", facts)

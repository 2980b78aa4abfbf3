"""Calibrators, or models, on the plane of value against risk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surefoot._io.printable import printable
from surefoot.assessment.assess import assess, assess_estimator
from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.figure import Mark
from surefoot.render.looks import KINDS
from surefoot.render.mpl.display import (
    MUTED,
    VERDICT_KEY,
    Display,
    add_note,
    add_titles,
    draw_key,
    draw_mark,
    literal,
    power_label,
)
from surefoot.render.numbers import count

#: CSR drawn at most: what is larger, or infinite, stands at the edge.
_MOST = 1e6
#: Marks up to which names stand at them, and the height of a line of names beside the plot.
_FEW, _LINE = 4, 0.06


@dataclass
class CalibratorsDisplay(Display):
    """Value against risk of calibrators or models, one mark each.

    The horizontal axis is confidence-weighted accuracy (right is better), the vertical one CSR (1 is calibrated).

    Attributes
    ----------
    assessments : mapping of str to Assessment
        The assessment of each model, by name.
    """

    assessments: Mapping[str, Assessment]

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> CalibratorsDisplay:
        return cls({"this model": assessment})

    @classmethod
    def from_predictions(cls, models: Mapping[str, Any]) -> CalibratorsDisplay:  # type: ignore[override]
        """Make the display of several models.

        Parameters
        ----------
        models : mapping of str to Predictions or Assessment
            The models by name.

        Returns
        -------
        CalibratorsDisplay
            Call its ``plot``.
        """
        if not isinstance(models, Mapping) or not models:
            raise InvalidPredictions("give predictions by name: {'raw': p, 'platt': q}.")
        return cls({name: x if isinstance(x, Assessment) else assess(x, metrics=()) for name, x in models.items()})

    @classmethod
    def from_estimator(cls, estimators: Mapping[str, Any], X: Any, y: Any) -> CalibratorsDisplay:
        """Make the display of fitted classifiers on the same held-out data.

        Parameters
        ----------
        estimators : mapping of str to classifier
            Fitted classifiers by name, with ``predict_proba`` and ``classes_``.
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels.

        Returns
        -------
        CalibratorsDisplay
            Call its ``plot``.
        """
        return cls({name: assess_estimator(model, X, y) for name, model in estimators.items()})

    def frame(self) -> dict[str, list[Any]]:
        found = self.assessments.values()
        return {
            "name": list(self.assessments),
            "cw_accuracy": [a["cw_accuracy"] for a in found],
            "csr": [a.risk.csr for a in found],
            "pvalue_combined": [a.risk.pvalue_combined for a in found],
            "verdict": [a.verdict for a in found],
        }

    def _draw(self, ax: Any) -> None:
        ax.axhline(1, color=MUTED, linestyle=":", linewidth=1)
        marks = []
        for name, a in self.assessments.items():
            x, y = a["cw_accuracy"], min(max(a.risk.csr, 1e-3), _MOST)
            draw_mark(ax, Mark(KINDS.get(a.verdict, "fair"), x, y), size=6)
            marks.append((y, x, literal(printable(name, 24)) + (" (CSR infinite)" if math.isinf(a.risk.csr) else "")))
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(power_label)
        ax.minorticks_off()
        ax.xaxis.set_major_formatter("{x:.1%}")
        ax.locator_params(axis="x", nbins=6)
        ax.margins(x=0.2, y=0.2)
        low, high = ax.get_xlim()
        ax.set_xlim(max(low, 0.0), min(high, 1.0 + 0.02 * (high - low)))
        low, high = ax.get_ylim()
        # at least two labelled powers of ten
        ax.set_ylim(min(low, 0.08), max(high, 12.0))
        sizes = {a.risk.n for a in self.assessments.values()}
        facts = f"n = {count(next(iter(sizes)))}" if len(sizes) == 1 else ""
        add_titles(ax, "Value against risk", "Confidence-weighted accuracy →", "CSR, riskier →", facts)
        draw_key(ax, VERDICT_KEY, (KINDS.get(a.verdict, "fair") for a in self.assessments.values()))
        if len(marks) <= _FEW:
            for y, x, words in marks:
                add_note(ax, x, y, words, textcoords="offset points", xytext=(6, 3))
        else:
            self._list_names(ax, marks)

    def _list_names(self, ax: Any, marks: list[tuple[float, float, str]]) -> None:
        """Write names in a column beside the plot, each led to its mark: at the marks they would cover each other."""
        low, high = (math.log(limit) for limit in ax.get_ylim())
        # from below, each at its own height or where there is room
        place = -1.0
        lines = []
        for y, x, words in sorted(marks):
            place = max((math.log(y) - low) / (high - low), place + _LINE)
            lines.append((place, x, y, words))
        beyond = max(0.0, place - 1.0)
        for height, x, y, words in lines:
            ax.annotate(
                words,
                (x, y),
                xytext=(1.06, height - beyond),
                textcoords="axes fraction",
                color=MUTED,
                fontsize="small",
                va="center",
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.4, "shrinkB": 4, "relpos": (0, 0.5)},
            )

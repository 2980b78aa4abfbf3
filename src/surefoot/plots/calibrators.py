"""Calibrators, or models, on the plane of value against risk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.assessment import Assessment, assess
from surefoot.errors import InvalidPredictions
from surefoot.names import shown
from surefoot.plots.display import LOOKS, MUTED, Display, noted, titled

_KINDS = {"overconfident": "over", "underconfident": "under"}
#: CSR drawn at most: what is larger, or infinite, stands at the edge.
_MOST = 1e6


@dataclass
class CalibratorsDisplay(Display):
    """What confidences are worth (cwA, right is better) against their risk (CSR, 1 is calibrated), one mark each."""

    assessments: Mapping[str, Assessment]

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> CalibratorsDisplay:
        return cls({"this model": assessment})

    @classmethod
    def from_predictions(cls, models: Mapping[str, Any]) -> CalibratorsDisplay:  # type: ignore[override]
        """From predictions, or assessments, by name."""
        if not isinstance(models, Mapping) or not models:
            raise InvalidPredictions("give predictions by name: {'raw': p, 'platt': q}.")
        return cls({name: x if isinstance(x, Assessment) else assess(x, metrics=()) for name, x in models.items()})

    @classmethod
    def from_estimator(cls, estimators: Mapping[str, Any], X: Any, y: Any) -> CalibratorsDisplay:
        """From fitted classifiers by name, all on the same held-out data."""
        from surefoot.assessment import assess_estimator

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
        for name, a in self.assessments.items():
            hue, shape = LOOKS[_KINDS.get(a.verdict, "fair")]
            x, y = a["cw_accuracy"], min(max(a.risk.csr, 1e-3), _MOST)
            ax.plot(x, y, shape, color=hue, markersize=6, markerfacecolor="white" if shape == "o" else hue)
            words = shown(name, 24) + (" (CSR infinite)" if math.isinf(a.risk.csr) else "")
            noted(ax, x, y, words, textcoords="offset points", xytext=(6, 3))
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.tick_params(which="minor", labelleft=False)
        ax.xaxis.set_major_formatter("{x:.1%}")
        ax.margins(x=0.2, y=0.2)
        titled(ax, "Value against risk", "Confidence-weighted accuracy →", "CSR, riskier →")

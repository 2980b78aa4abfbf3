"""Plots by matplotlib, in the manner of scikit-learn's displays: computed once, drawn as often as one likes.

Each display has ``from_predictions`` and ``from_estimator``, ``plot(ax=None)`` and ``frame()``, the numbers that are
drawn. No global style is touched. Shapes repeat what colours say: ▼ more errors than expected, ▲ fewer, ○ neither.
"""

from surefoot.render.mpl.act_alone import ActAloneDisplay
from surefoot.render.mpl.calibrators import CalibratorsDisplay
from surefoot.render.mpl.events import (
    ClassReliabilityDisplay,
    DecisionCurveDisplay,
    DecompositionDisplay,
    EventReliabilityDisplay,
)
from surefoot.render.mpl.figures import (
    ConcentrationDisplay,
    ReliabilityDisplay,
    RiskCoverageDisplay,
    RocDisplay,
    StretchedReliabilityDisplay,
)
from surefoot.render.mpl.slices import SlicesDisplay
from surefoot.render.mpl.wealth import WealthDisplay

__all__ = [
    "ActAloneDisplay",
    "CalibratorsDisplay",
    "ClassReliabilityDisplay",
    "ConcentrationDisplay",
    "DecisionCurveDisplay",
    "DecompositionDisplay",
    "EventReliabilityDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "RocDisplay",
    "SlicesDisplay",
    "StretchedReliabilityDisplay",
    "WealthDisplay",
]

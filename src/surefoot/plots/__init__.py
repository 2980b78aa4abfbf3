"""Plots by matplotlib, in the manner of scikit-learn's displays: computed once, drawn as often as one likes.

Each display has ``from_predictions`` and ``from_estimator``, ``plot(ax=None)`` and ``frame()``, the numbers that are
drawn. No global style is touched. Shapes repeat what hues say: ▼ more mistakes than stated, ▲ fewer, ○ neither.
"""

from surefoot.plots.calibrators import CalibratorsDisplay
from surefoot.plots.concentration import ConcentrationDisplay
from surefoot.plots.coverage import RiskCoverageDisplay
from surefoot.plots.reliability import ReliabilityDisplay, StretchedReliabilityDisplay
from surefoot.plots.roc import RocDisplay
from surefoot.plots.slices import SlicesDisplay
from surefoot.plots.wealth import WealthDisplay

__all__ = [
    "CalibratorsDisplay",
    "ConcentrationDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "RocDisplay",
    "SlicesDisplay",
    "StretchedReliabilityDisplay",
    "WealthDisplay",
]

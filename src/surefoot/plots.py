"""Plots by matplotlib: ``surefoot.plots.ReliabilityDisplay.from_predictions(...).plot()`` and its siblings."""

from surefoot.render.mpl import (
    CalibratorsDisplay,
    ConcentrationDisplay,
    ReliabilityDisplay,
    RiskCoverageDisplay,
    RocDisplay,
    SlicesDisplay,
    StretchedReliabilityDisplay,
    WealthDisplay,
)

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

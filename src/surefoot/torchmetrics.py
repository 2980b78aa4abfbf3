"""Metrics for training loops: see :mod:`surefoot.integrations.torchmetrics`."""

from surefoot.integrations.torchmetrics import (
    CWAUROC,
    CalibratedSizeRatio,
    ConfidenceWeightedAccuracy,
    ConfidenceWeightedConfusionMatrix,
    RiskProbability,
)

__all__ = [
    "CWAUROC",
    "CalibratedSizeRatio",
    "ConfidenceWeightedAccuracy",
    "ConfidenceWeightedConfusionMatrix",
    "RiskProbability",
]

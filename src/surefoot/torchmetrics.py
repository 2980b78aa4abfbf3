"""Metrics for training loops: see :mod:`surefoot.integrations.torchmetrics`."""

from surefoot.integrations.torchmetrics import (
    CWAUROC,
    BrierScore,
    CalibratedSizeRatio,
    ConfidenceWeightedAccuracy,
    ConfidenceWeightedConfusionMatrix,
    ExpectedCalibrationError,
    Reliability,
    RiskProbability,
)

__all__ = [
    "CWAUROC",
    "BrierScore",
    "CalibratedSizeRatio",
    "ConfidenceWeightedAccuracy",
    "ConfidenceWeightedConfusionMatrix",
    "ExpectedCalibrationError",
    "Reliability",
    "RiskProbability",
]

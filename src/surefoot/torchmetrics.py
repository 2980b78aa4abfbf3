"""Metrics for training loops: see :mod:`surefoot.integrations.torchmetrics`."""

from surefoot.errors import MissingPackage

try:
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
except ModuleNotFoundError as error:
    if error.name not in ("torch", "torchmetrics"):
        raise
    raise MissingPackage(
        "metrics for training loops need torch and torchmetrics: pip install 'surefoot[torch]'."
    ) from error

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

"""Metrics for training loops, as torchmetrics classes; most states are float64 sums of fixed size.

``update(preds, target)`` takes probabilities, or logits with ``from_logits=True``; which of the two is never guessed.
``preds`` of the same shape as ``target`` are P(second class); with one more dimension, the second dimension holds the
classes. States add up over batches and processes and stay float64 under ``half()``. ``reset``, ``forward``,
``MetricCollection``, checkpoints and pickling work as for any torchmetrics metric.

Examples
--------
>>> import torch
>>> csr = CalibratedSizeRatio()
>>> csr.update(torch.tensor([0.9, 0.2, 0.75]), torch.tensor([1, 0, 0]))
>>> round(float(csr.compute()), 6)
1.333333
"""

from surefoot.integrations.torchmetrics.area import CWAUROC
from surefoot.integrations.torchmetrics.confusion import ConfidenceWeightedConfusionMatrix
from surefoot.integrations.torchmetrics.reliability import Reliability
from surefoot.integrations.torchmetrics.sums import (
    BrierScore,
    CalibratedSizeRatio,
    ConfidenceWeightedAccuracy,
    ExpectedCalibrationError,
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

"""What the user holds, checked once: truth, predicted, confidence, doubt, weight, wherever they lie."""

from surefoot.predictions import base
from surefoot.predictions.arguments import as_predictions
from surefoot.predictions.arrays import ArrayBorder, ArrayPredictions
from surefoot.predictions.base import Predictions
from surefoot.predictions.frames import FramePredictions, describe
from surefoot.predictions.tensors import BORDER, TensorPredictions

base.BORDERS[:] = [BORDER, ArrayBorder()]
base.DESCRIBE[:] = [describe]

__all__ = ["ArrayPredictions", "FramePredictions", "Predictions", "TensorPredictions", "as_predictions"]

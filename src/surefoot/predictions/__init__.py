"""What the user holds, checked once: truth, predicted, confidence, doubt, weight, wherever they lie."""

from surefoot.predictions import borders
from surefoot.predictions.arguments import as_predictions
from surefoot.predictions.arrays import ArrayBorder, ArrayPredictions
from surefoot.predictions.base import Predictions
from surefoot.predictions.description import describe
from surefoot.predictions.frames import FramePredictions
from surefoot.predictions.tensors import BORDER, TensorPredictions

borders.BORDERS[:] = [BORDER, ArrayBorder()]
borders.DESCRIBE[:] = [describe]

__all__ = ["ArrayPredictions", "FramePredictions", "Predictions", "TensorPredictions", "as_predictions"]

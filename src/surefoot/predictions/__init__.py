"""What the user holds, checked and named: truth, predicted, confidence, doubt, weight."""

from surefoot.predictions.arguments import as_predictions
from surefoot.predictions.arrays import Predictions

__all__ = ["Predictions", "as_predictions"]

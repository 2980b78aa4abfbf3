"""What the user holds, checked and named: truth, predicted, confidence, doubt, weight."""

from surefoot.predictions.doors import Predictions, as_predictions

__all__ = ["Predictions", "as_predictions"]

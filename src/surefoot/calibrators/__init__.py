"""Calibrators: they correct probabilities, and some come with a guarantee.

Fit one to probabilities and true labels of samples that the model was not trained on, or let
:func:`surefoot.calibrate` compare them all. ``METHODS`` maps the name of each class to the class.
"""

from typing import TYPE_CHECKING, Any

from surefoot.calibrators.beta import Beta
from surefoot.calibrators.calibrator import Calibrator
from surefoot.calibrators.deflation import Deflation
from surefoot.calibrators.isotonic import Isotonic
from surefoot.calibrators.platt import Platt
from surefoot.calibrators.registry import METHODS, load
from surefoot.calibrators.safe_bins import SafeBins
from surefoot.calibrators.safe_platt import SafePlatt
from surefoot.calibrators.temperature import Temperature
from surefoot.calibrators.venn_abers import VennAbers
from surefoot.errors import MissingPackage

if TYPE_CHECKING:
    from surefoot.calibrators.wrapper import Calibrated


def __getattr__(name: str) -> Any:
    # a classifier of scikit-learn's, which is loaded when it is used
    if name != "Calibrated":
        raise AttributeError(f"module 'surefoot.calibrators' has no attribute {name!r}")
    try:
        from surefoot.calibrators.wrapper import Calibrated
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise MissingPackage("Calibrated needs scikit-learn, 1.6 or newer: pip install scikit-learn.") from error
    return Calibrated


__all__ = [
    "METHODS",
    "Beta",
    "Calibrated",
    "Calibrator",
    "Deflation",
    "Isotonic",
    "Platt",
    "SafeBins",
    "SafePlatt",
    "Temperature",
    "VennAbers",
    "load",
]

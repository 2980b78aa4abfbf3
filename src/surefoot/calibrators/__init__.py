"""Calibrators: corrected probabilities, and for some a proof that they do not make things worse."""

from surefoot.calibrators.beta import Beta
from surefoot.calibrators.calibrator import Calibrator, load
from surefoot.calibrators.deflation import Deflation
from surefoot.calibrators.isotonic import Isotonic
from surefoot.calibrators.platt import Platt
from surefoot.calibrators.safe_bins import SafeBins
from surefoot.calibrators.safe_platt import SafePlatt
from surefoot.calibrators.temperature import Temperature
from surefoot.calibrators.venn_abers import VennAbers

METHODS: dict[str, type[Calibrator]] = {
    kind.__name__: kind for kind in (Platt, Isotonic, Temperature, Beta, VennAbers, Deflation, SafePlatt, SafeBins)
}

__all__ = [
    "METHODS",
    "Beta",
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

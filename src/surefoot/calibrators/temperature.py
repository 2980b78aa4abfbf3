"""Temperature scaling: all logits are divided by one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._stats.logarithms import log_sum
from surefoot._stats.roots import root
from surefoot.calibrators.calibrator import Calibrator, check_finite
from surefoot.core.table import Floats
from surefoot.predictions import ArrayPredictions

_LOWEST, _HIGHEST = 1e-3, 1e3
_FLOOR = -745.0


@dataclass(frozen=True)
class Sharpness:
    """The inverse of the temperature."""

    inverse: float

    def __post_init__(self) -> None:
        check_finite(self.inverse)


class Temperature(Calibrator):
    r"""Temperature scaling: divide the logits by the number that gives the least log loss.

    The order of the classes, and so the decision, stays the same. Probabilities are taken as logits by their
    logarithms.

    Parameters
    ----------
    from_logits : bool, default=False
        Whether you pass logits instead of probabilities; it is never guessed.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
        The classes, in the order of the columns of ``predict_proba``.
    maps_ : tuple
        The fitted functions: one for each class, or one in all.
    support_ : Support or None
        What keeps probabilities away from 0 and 1, for calibrators with a guarantee.
    cost : str
        What the method costs, in a sentence.

    Notes
    -----
    .. math:: p'_k \propto e^{z_k / T}

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML (2017).

    Examples
    --------
    >>> model = Temperature().fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])
    >>> model.predict_proba([0.9])[:, 1].round(4).tolist()
    [0.75]
    """

    cost = "One parameter; a poor fit where classes or regions need different corrections."
    guarantee = "None: with few rows it may raise confidences that are already too high."
    _map = Sharpness

    def fit(self, probabilities: Any, y: Any, sample_weight: Any = None, *, labels: Any = None) -> Any:
        rows = self._predictions(y, probabilities, sample_weight, labels)
        assert rows.labels is not None
        z = log_probabilities(rows)
        own = z[np.arange(len(z)), rows.codes("truth")]

        def slope(inverse: float) -> float:
            """Of the log-loss, which is convex: the mean logit less that of the truth."""
            return float(rows.weight @ ((_shares(z * inverse) * z).sum(axis=1) - own))

        if slope(_HIGHEST) <= 0:
            best = _HIGHEST
        elif slope(_LOWEST) >= 0:
            best = _LOWEST
        else:
            best = root(slope, _LOWEST, _HIGHEST, 1e-12)
        self.classes_, self.maps_ = np.array(rows.labels), (Sharpness(best),)
        return self

    def _map_count(self, classes: int) -> int:
        return 1

    def predict_proba(self, probabilities: Any) -> Floats:
        rows = self._without_truth(probabilities)
        (sharpness,) = self.maps_
        return _shares(log_probabilities(rows) * sharpness.inverse)


def log_probabilities(rows: ArrayPredictions) -> Floats:
    """Logarithms of the probabilities of all classes, from the log-odds where these are known."""
    assert rows.labels is not None
    odds = np.stack([rows.score_log_odds(k, slice(None)) for k in range(len(rows.labels))], axis=1)
    logarithm: Floats = np.maximum(-np.logaddexp(0, -odds), _FLOOR)
    return logarithm


def _shares(z: Floats) -> Floats:
    shares: Floats = np.exp(z - log_sum(z, axis=1)[:, None])
    return shares

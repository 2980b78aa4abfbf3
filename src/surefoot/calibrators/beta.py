"""Beta calibration: a sigmoid of the two logarithms of a probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot._stats.logistic import expit, logistic_fit
from surefoot.calibrators.calibrator import EventCalibrator, Events, Map, check_finite
from surefoot.core.table import Floats

#: As the reference: the least probability, and a penalty that is felt only where classes can be told apart entirely.
_LEAST = float(np.finfo(np.float64).eps)
_RIDGE = 1 / 99999999999


@dataclass(frozen=True)
class TwoLogarithms(Map):
    of_p: float
    of_rest: float
    intercept: float

    def __post_init__(self) -> None:
        check_finite(self.of_p, self.of_rest, self.intercept)

    def __call__(self, probability: Floats, log_odds: Floats) -> tuple[Floats, Floats]:
        z = _features(probability) @ np.array([self.of_p, self.of_rest, self.intercept])
        return expit(z), expit(-z)


class Beta(EventCalibrator):
    r"""Beta calibration: a sigmoid of the logarithms of p and 1 - p.

    It includes the identity, so that it leaves calibrated probabilities alone; Platt scaling does not. The fit is the
    same as that of the package ``betacal`` with three parameters.

    Parameters
    ----------
    top_label : bool, default=False
        Whether to correct only the confidence in the decision, rather than each class against the rest.
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
    .. math:: p' = \frac1{1 + e^{-(a \log p - b \log(1 - p) + c)}}

    a, b and c have maximum likelihood. A negative a or b is set to 0, and the others are fitted again.

    References
    ----------
    Kull, Silva Filho and Flach, Beta calibration, AISTATS (2017).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(4000)
    >>> model = Beta().fit(p, (rng.random(4000) < p).astype(int))
    >>> model.predict_proba([0.3])[:, 1].round(1).tolist()
    [0.3]
    """

    cost = "Three parameters; near 0 and 1 it rests on few rows."
    guarantee = "None: it is a maximum likelihood fit of three parameters."
    _map = TwoLogarithms

    def _fit_map(self, events: Events) -> TwoLogarithms:
        features = _features(events.probability)
        target, start = events.happened.astype(np.float64), np.zeros(3)
        found = logistic_fit(features, target, events.weight, start, ridge=_RIDGE)
        # as the reference: the first logarithm that counts the wrong way is left out, and the other fitted anew
        backwards = [i for i in (0, 1) if found[i] < 0]
        if backwards:
            found = logistic_fit(features, target, events.weight, start, ridge=_RIDGE, fixed=(backwards[0],))
        return TwoLogarithms(*found.tolist())


def _features(probability: Floats) -> Floats:
    p = np.clip(probability, _LEAST, 1 - _LEAST)
    return np.stack([np.log(p), -np.log1p(-p), np.ones(len(p))], axis=1)

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
    r"""A sigmoid of :math:`a \log p - b \log(1 - p) + c`, with a and b not negative but for scores that run backwards.

    Kull, Silva Filho and Flach (2017). Holds the identity, which Platt's sigmoid of probabilities does not. The same as
    ``betacal``'s three parameters.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(4000)
    >>> model = Beta().fit(p, (rng.random(4000) < p).astype(int))
    >>> model.predict_proba([0.3])[:, 1].round(1).tolist()
    [0.3]
    """

    cost = "Three parameters; at the ends of the scale it follows few rows."
    guarantee = "None: maximum likelihood of three parameters."
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

"""Platt's sigmoid: two numbers, fitted by maximum likelihood to smoothed answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot._stats.logistic import expit, logistic_fit
from surefoot.calibrators.calibrator import EventCalibrator, Events, Map, check_finite
from surefoot.core.table import Floats


@dataclass(frozen=True)
class Sigmoid(Map):
    slope: float
    intercept: float
    on_log_odds: bool

    def __post_init__(self) -> None:
        check_finite(self.slope, self.intercept)

    def __call__(self, probability: Floats, log_odds: Floats) -> tuple[Floats, Floats]:
        z = self.slope * (np.clip(log_odds, -1e3, 1e3) if self.on_log_odds else probability) + self.intercept
        return expit(z), expit(-z)


class Platt(EventCalibrator):
    r"""A sigmoid of the stated probability (of the logit, if logits are given).

    .. math:: p' = \frac1{1 + e^{-(a p + b)}}

    Two parameters, fitted to answers pulled towards the middle as Platt proposed: the same as scikit-learn's. One class
    against the rest; ``top_label=True`` corrects the confidence of the decision alone.

    Examples
    --------
    >>> model = Platt().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    >>> model.predict_proba([0.5]).round(3).tolist()
    [[0.5, 0.5]]
    """

    cost = "Two parameters; wrong where the truth is no sigmoid."
    guarantee = "None: it is the usual choice, right on average over the rows it was fitted to."
    _map = Sigmoid

    def _fit_map(self, events: Events) -> Sigmoid:
        x = np.clip(events.log_odds, -1e3, 1e3) if self.from_logits else events.probability
        return sigmoid(x, events, on_log_odds=self.from_logits)


def sigmoid(x: Floats, events: Events, *, on_log_odds: bool) -> Sigmoid:
    """The sigmoid of a feature that fits best to smoothed answers."""
    yes = float(events.weight[events.happened].sum())
    no = float(events.weight.sum()) - yes
    target = np.where(events.happened, (yes + 1) / (yes + 2), 1 / (no + 2))
    features = np.stack([x, np.ones(len(x))], axis=1)
    start = np.array([0.0, np.log((yes + 1) / (no + 1))])
    slope, intercept = logistic_fit(features, target, events.weight, start).tolist()
    return Sigmoid(slope, intercept, on_log_odds)

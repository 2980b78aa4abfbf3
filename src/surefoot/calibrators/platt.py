"""Platt scaling: a sigmoid of two parameters, fitted by maximum likelihood to smoothed labels."""

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
    r"""Platt scaling: a sigmoid of the probability (of the logit, with ``from_logits=True``).

    The fit is the same as scikit-learn's sigmoid calibration. It corrects each class against the rest, or with
    ``top_label=True`` the confidence in the decision only.

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
    .. math:: p' = \frac1{1 + e^{-(a p + b)}}

    a and b have maximum likelihood for labels that are smoothed towards the middle, as Platt proposed.

    References
    ----------
    Platt, Probabilistic outputs for support vector machines (1999).

    Examples
    --------
    >>> model = Platt().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    >>> model.predict_proba([0.5]).round(3).tolist()
    [[0.5, 0.5]]
    """

    cost = "Two parameters; a poor fit where the true relation is not a sigmoid."
    guarantee = "None: it is right on average over the rows it was fitted to."
    _map = Sigmoid

    def _fit_map(self, events: Events) -> Sigmoid:
        x = np.clip(events.log_odds, -1e3, 1e3) if self.from_logits else events.probability
        return sigmoid(x, events, on_log_odds=self.from_logits)


def sigmoid(x: Floats, events: Events, *, on_log_odds: bool, near: Sigmoid | None = None) -> Sigmoid:
    """The sigmoid of a feature that fits best to smoothed answers; found sooner from one that is ``near``."""
    yes = float(events.weight[events.happened].sum())
    no = float(events.weight.sum()) - yes
    target = np.where(events.happened, (yes + 1) / (yes + 2), 1 / (no + 2))
    features = np.stack([x, np.ones(len(x))], axis=1)
    start = np.array([0.0, np.log((yes + 1) / (no + 1))] if near is None else [near.slope, near.intercept])
    slope, intercept = logistic_fit(features, target, events.weight, start).tolist()
    return Sigmoid(slope, intercept, on_log_odds)

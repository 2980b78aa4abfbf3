"""Isotonic regression: the best rising step function, with plateaus that may be exactly 0 or 1."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.calibrators.calibrator import EventCalibrator, Events, Map, check_steps
from surefoot.core.table import Floats
from surefoot.errors import CertaintyWarning


@dataclass(frozen=True)
class Steps(Map):
    at: Floats
    value: Floats

    def __post_init__(self) -> None:
        check_steps(self.at, self.value)

    def __call__(self, probability: Floats, log_odds: Floats) -> tuple[Floats, Floats]:
        p = np.interp(probability, self.at, self.value)
        return p, 1 - p


class Isotonic(EventCalibrator):
    """Isotonic regression: the rising function with the least squared error.

    The fit is the same as scikit-learn's, linear between its points. Where all calibration rows at one end of the scale
    have the same label, it returns exactly 0 or 1. No number of rows can support that, and the paper finds that it
    makes most models risky; a :class:`CertaintyWarning` says how many rows are affected.

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

    References
    ----------
    Zadrozny and Elkan, Transforming classifier scores into accurate multiclass probability estimates, KDD (2002).

    Examples
    --------
    >>> model = Isotonic().fit([0.2, 0.2, 0.2, 0.7, 0.7, 0.7], [0, 0, 1, 1, 1, 0])
    >>> model.predict_proba([0.1, 0.2, 0.7])[:, 1].round(3).tolist()
    [0.333, 0.333, 0.667]
    """

    cost = "Needs many rows; with few, its steps are noise."
    guarantee = "None: it returns probabilities of exactly 0 and 1, which a single error refutes."
    _map = Steps

    def _fit_map(self, events: Events) -> Steps:
        at, weight, value = group_rows(events.probability, events.happened, events.weight)
        fitted = nearest_rising(value, weight)
        # points within a plateau tell nothing: a straight line passes through them
        kept = np.ones(len(at), dtype=bool)
        kept[1:-1] = (fitted[1:-1] != fitted[:-2]) | (fitted[1:-1] != fitted[2:])
        sure = float(weight[(fitted == 0) | (fitted == 1)].sum())
        if sure:
            warnings.warn(
                f"isotonic returns probabilities of exactly 0 or 1 for {sure:,.0f} of {float(weight.sum()):,.0f} "
                "calibration rows; a single error refutes them. SafePlatt never returns 0 or 1.",
                CertaintyWarning,
                stacklevel=4,
            )
        return Steps(at[kept], fitted[kept])


def group_rows(x: Floats, happened: Any, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Distinct values, rising, with their weight and the share of it that happened, of the rows that count."""
    counting = weight > 0
    at, place = np.unique(x[counting], return_inverse=True)
    total = np.bincount(place, weight[counting]).astype(np.float64)
    yes = np.bincount(place, weight[counting] * happened[counting])
    return at, total, yes / total


def nearest_rising(value: Floats, weight: Floats) -> Floats:
    """The rising sequence nearest to the values."""
    from scipy.optimize import isotonic_regression

    fitted: Floats = isotonic_regression(value, weights=weight).x
    return fitted

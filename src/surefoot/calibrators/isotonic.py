"""Isotonic regression: the best rising step function, with plateaus that may claim certainty."""

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
    """The rising function of the stated probability that fits best, as scikit-learn's: straight between its points.

    Where all calibration rows at one end were of one kind it says 0 or 1, which no number of rows can show: a warning
    says how many rows stand behind it. The paper finds that this turns most models dangerous.

    Examples
    --------
    >>> model = Isotonic().fit([0.2, 0.2, 0.2, 0.7, 0.7, 0.7], [0, 0, 1, 1, 1, 0])
    >>> model.predict_proba([0.1, 0.2, 0.7])[:, 1].round(3).tolist()
    [0.333, 0.333, 0.667]
    """

    cost = "Many rows, or its plateaus are noise."
    guarantee = "None: its outputs of exactly 0 and 1 are claims of certainty that a single mistake refutes."
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
                f"isotonic outputs of exactly 0 or 1 rest on {sure:,.0f} of {float(weight.sum()):,.0f} calibration "
                "rows: claims of certainty that one mistake refutes. SafePlatt makes none.",
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

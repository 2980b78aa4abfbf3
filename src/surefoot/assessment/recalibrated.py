"""What recalibration would bring: fitted to one half of the rows, and looked at on the other, in turn."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot._stats.logistic import expit, logistic_fit
from surefoot._stats.quantiles import quantile
from surefoot.predictions import ArrayPredictions
from surefoot.risk.estimates import drop_weightless
from surefoot.risk.groups import variance_of_mean
from surefoot.risk.law.cells import Codes

#: Rows from which two halves tell something, and up to which nobody waits for it.
_LEAST, _MOST = 200, 1_000_000
#: Confidences closer to 0 or 1 are moved here before log-odds are taken.
_EDGE = 1e-12


@dataclass(frozen=True)
class Recalibrated:
    """Log loss of correctness, as it is and after recalibration.

    Attributes
    ----------
    log_loss, log_loss_after : float
        Mean log loss; infinite if something that was given no probability happened.
    saved : float
        How much lower it is afterwards.
    saved_interval : tuple of float
        A paired 95% confidence interval for that, from groups where there are any; nan if log loss is infinite.
    """

    log_loss: float
    log_loss_after: float
    saved: float
    saved_interval: tuple[float, float]


def recalibrated(rows: ArrayPredictions | None, groups: Codes | None = None) -> Recalibrated | None:
    """What Platt scaling of the confidences brings on rows it was not fitted to; None where that cannot be told."""
    if rows is None or rows.view != "prediction" or not rows.has_equal_weights:
        return None
    rows, groups = drop_weightless(rows, groups)
    if not _LEAST <= len(rows) <= _MOST:
        return None
    correct = np.asarray(rows.correct, dtype=np.float64)
    doubt = np.asarray(rows.doubt)
    confidence = 1 - doubt
    odds = np.log(np.maximum(confidence, _EDGE)) - np.log(np.maximum(doubt, _EDGE))
    features = np.column_stack([odds, np.ones(len(odds))])
    after = np.empty(len(odds))
    # every other row or group, so that both halves are of all times
    half = (np.arange(len(odds)) if groups is None else groups) % 2
    for turn in (0, 1):
        own = half == turn
        if not 0 < correct[own].sum() < own.sum():
            return None
        line = logistic_fit(features[own], correct[own], np.ones(own.sum()), np.array([1.0, 0.0]), ridge=1e-6)
        after[~own] = expit(features[~own] @ line)
    with np.errstate(divide="ignore", invalid="ignore"):
        before, then = (
            -np.log(np.where(correct > 0, sure, unsure)) for sure, unsure in ((confidence, doubt), (after, 1 - after))
        )
        saved = before - then
        mean = float(before.mean()) - float(then.mean())
        variance, freedom = float(saved.var()) / len(saved), math.inf
        if groups is not None:
            variance, freedom = variance_of_mean(saved - mean, groups)
    reach = quantile(0.95, freedom) * math.sqrt(variance)
    return Recalibrated(float(before.mean()), float(then.mean()), mean, (mean - reach, mean + reach))

"""ROC and confidence-weighted ROC over all classes."""

from __future__ import annotations

import math
import warnings

import numpy as np

from surefoot.errors import UndefinedMetricWarning
from surefoot.metrics.ranking import cw_roc_curve, roc_curve
from surefoot.predictions import Predictions

#: Rows times classes up to which the curves are drawn.
_MOST = 5_000_000


def macro_curves(predictions: Predictions) -> tuple[list[float], list[float], list[float]] | None:
    """False alarms, and the share found, plain and weighted; of two classes the second's, of more the mean over all.

    None where no class has rows inside and outside of it, or where ranking all of them takes too long.
    """
    labels = predictions.labels
    assert labels is not None
    chosen = labels[1:] if len(labels) == 2 else labels
    if len(predictions) * len(chosen) > _MOST:
        return None
    grid = np.unique(np.concatenate([np.geomspace(1e-4, 1, 120), np.linspace(0, 1, 101)]))
    sums, classes = [np.zeros(len(grid)), np.zeros(len(grid))], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for label in chosen:
            curves = [f(predictions, label=label) for f in (roc_curve, cw_roc_curve)]
            if any(math.isnan(one.auc) for one in curves):
                continue
            classes += 1
            for total, one in zip(sums, curves, strict=True):
                total += np.interp(grid, one.fpr, one.tpr)
    if not classes:
        return None
    plain, weighted = (total / classes for total in sums)
    return grid.tolist(), plain.tolist(), weighted.tolist()

"""Scorers for scikit-learn: every metric, usable in ``cross_validate`` and ``GridSearchCV``.

``SCORERS["cw_accuracy"]`` and its like take a fitted classifier with ``predict_proba``. As scikit-learn wants it,
larger is better: a metric of which smaller values are better comes negated, and one that should be near its ideal as
the negative distance from it, so that a CSR of 1 scores 0. ``scorer.set_score_request(sample_weight=True)`` routes
weights.
"""

from __future__ import annotations

import warnings
from typing import Any

from surefoot.errors import InvalidPredictions, MissingPackage, UndefinedMetricWarning
from surefoot.metrics import ALL
from surefoot.predictions import Predictions

try:
    from sklearn.base import BaseEstimator
except ImportError as error:
    raise MissingPackage("the scorers need scikit-learn: pip install scikit-learn.") from error


class Scorer(BaseEstimator):  # type: ignore[misc]
    """A metric as scikit-learn scores models: ``scorer(estimator, X, y)``, larger is better."""

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of a fitted classifier on held-out data; nan where the metric is not defined on them."""
        metric = ALL[self.metric]
        if not hasattr(estimator, "predict_proba"):
            raise InvalidPredictions(
                f"{type(estimator).__name__} has no predict_proba, and {self.metric} needs confidences."
            )
        p = Predictions.from_probabilities(
            y, estimator.predict_proba(X), labels=estimator.classes_, sample_weight=sample_weight
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            value = float(metric(p))
        if metric.direction == "higher":
            return value
        if metric.direction == "lower" or metric.ideal is None:
            return -value
        return -abs(value - metric.ideal)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return self.score(estimator, X, y, sample_weight=sample_weight)


#: A scorer for every metric that has a better and a worse.
SCORERS = {name: Scorer(name) for name, metric in ALL.items() if metric.direction != "none"}

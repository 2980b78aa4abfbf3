"""Scorers for scikit-learn: every metric, usable in ``cross_validate`` and ``GridSearchCV``.

``SCORERS["cw_accuracy"]`` and the others take a fitted classifier with ``predict_proba``. Larger scores are better, as
scikit-learn requires: a metric whose smaller values are better is negated, and a metric that should be near its ideal
value becomes the negative distance from it, so that a CSR of 1 scores 0. To route weights, call
``scorer.set_score_request(sample_weight=True)``.
"""

from __future__ import annotations

import warnings
from typing import Any

from surefoot.errors import InvalidPredictions, MetricUnavailable, MissingPackage, UndefinedMetricWarning
from surefoot.metrics import ALL
from surefoot.predictions import Predictions

try:
    from sklearn.base import BaseEstimator
except ImportError as error:
    raise MissingPackage("the scorers need scikit-learn: pip install scikit-learn.") from error


class Scorer(BaseEstimator):  # type: ignore[misc]
    """A metric as a scikit-learn scorer: ``scorer(estimator, X, y)``, larger is better.

    Parameters
    ----------
    metric : str
        The name of a metric in ``surefoot.metrics.ALL``. ``SCORERS`` has a scorer for each that has a better and a
        worse.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(200, random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=SCORERS["cw_accuracy"], cv=3).shape
    (3,)
    """

    def __init__(self, metric: str) -> None:
        self.metric = metric

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of a fitted classifier on held-out data.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba`` and ``classes_``.
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.

        Returns
        -------
        float
            The score, larger is better; nan where the metric is not defined on these data.

        Raises
        ------
        InvalidPredictions
            If the estimator has no ``predict_proba``.
        MetricUnavailable
            If the metric is of one event, and the estimator has more than two classes.
        """
        metric = ALL[self.metric]
        if not hasattr(estimator, "predict_proba"):
            raise InvalidPredictions(
                f"{type(estimator).__name__} has no predict_proba, and {self.metric} needs confidences."
            )
        classes = estimator.classes_
        asked: dict[str, Any] = {}
        if "prediction" not in metric.views:
            if len(classes) > 2 and "classes" not in metric.views:
                raise MetricUnavailable(
                    f"{self.metric} is of one event, and this classifier has {len(classes)} classes; score one that "
                    "predicts whether the event happens, or a metric that is a mean over classes, such as "
                    "calibration_slope."
                )
            # of two classes the second is the event, as everywhere in scikit-learn
            asked = {"of": "event", "pos_label": classes[1]} if len(classes) == 2 else {"of": "classes"}
        p = Predictions.from_probabilities(
            y, estimator.predict_proba(X), labels=classes, sample_weight=sample_weight, **asked
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
        """Return the score, as :meth:`score` does.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba`` and ``classes_``.
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels.
        sample_weight : array-like of shape (n,), optional
            The weight of each sample.

        Returns
        -------
        float
            The score, larger is better.
        """
        return self.score(estimator, X, y, sample_weight=sample_weight)


#: A scorer for every metric that has a better and a worse.
SCORERS = {name: Scorer(name) for name, metric in ALL.items() if metric.direction != "none"}

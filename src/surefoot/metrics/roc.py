"""ROC curves, plain and weighted by confidence."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from surefoot.core.keys import CLASS_SCORE, from_ordered_bits
from surefoot.core.metric import Metric
from surefoot.core.table import Floats
from surefoot.core.term import Term
from surefoot.core.view import OF_PREDICTIONS, ONE_A_ROW
from surefoot.errors import InvalidPredictions, MetricUnavailable, NeedsRows, UndefinedMetricWarning
from surefoot.metrics.ranking import AUC, CW_AUC, PLAIN, WEIGHTED, pair_probability
from surefoot.predictions import Predictions
from surefoot.predictions.arguments import Columns, as_predictions, takes_predictions
from surefoot.predictions.labels import as_labels
from surefoot.predictions.memory import InMemory


@dataclass(frozen=True)
class RocCurve:
    """A ROC curve from (0, 0) to (1, 1), with a point for each distinct score.

    Attributes
    ----------
    fpr, tpr : numpy.ndarray
        False and true positive rates, rising from 0 to 1.
    thresholds : numpy.ndarray
        The score from which samples count as positive, falling from infinity.
    auc : float
        The area under the curve.
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats
    auc: float


def _curve(predictions: Predictions, label: Any, metric: Metric, terms: tuple[Term, Term]) -> RocCurve:
    missing = metric.missing(predictions)
    if missing:
        raise MetricUnavailable(missing)
    position = _position(predictions, label)
    if not isinstance(predictions, InMemory):
        raise NeedsRows("a ROC curve")
    table = predictions.tally(terms, exact=True).table(CLASS_SCORE).of_class(position)
    positive, negative = (table.totals[term.name].value[::-1] for term in terms)
    tpr, fpr = (_shares(mass) for mass in (positive, negative))
    scores = from_ordered_bits(table.codes[::-1])
    thresholds = np.append(np.inf, predictions.score_probabilities(scores, position))
    area = pair_probability(positive[::-1], negative[::-1])
    if math.isnan(area):
        warnings.warn("the class has no positives or no negatives", UndefinedMetricWarning, stacklevel=3)
    return RocCurve(fpr, tpr, thresholds, area)


def _shares(mass: Floats) -> Floats:
    """Cumulative shares from 0 to exactly 1; nan where there is nothing to share."""
    upto = np.append(0.0, np.cumsum(mass))
    return upto / upto[-1] if upto[-1] else np.full(len(upto), np.nan)


def _position(predictions: Predictions, label: Any) -> int:
    labels = predictions.labels
    assert labels is not None
    if label is None:
        if len(labels) == 2:
            return 1
        raise InvalidPredictions(f"label is missing: with {len(labels)} classes, name that of the curve.")
    wanted = as_labels("label", [label])[0].item()
    if wanted not in labels or type(wanted) is not type(labels[0]):
        raise InvalidPredictions(f"label is {label!r}, which is not one of the classes.")
    return labels.index(wanted)


@takes_predictions
def roc_curve(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    label: Any = None,
    **columns: Unpack[Columns],
) -> RocCurve:
    """The ROC curve of a class.

    Parameters
    ----------
    label : label, optional
        The class whose curve is wanted; of two classes, by default the second.

    Returns
    -------
    RocCurve
        False and true positive rates, thresholds, and the area under the curve.

    Examples
    --------
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.tpr.tolist(), curve.thresholds.tolist()
    ([0.0, 0.5, 0.5, 1.0, 1.0], [inf, 0.8, 0.4, 0.35, 0.1])
    """
    predictions = as_predictions(x, second, third, columns, function="roc_curve", is_ranking=True, views=ONE_A_ROW)
    return _curve(predictions, label, AUC, PLAIN)


@takes_predictions
def cw_roc_curve(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    label: Any = None,
    **columns: Unpack[Columns],
) -> RocCurve:
    """The ROC curve of a class, with each sample weighted by the confidence in its predicted class.

    Parameters
    ----------
    label : label, optional
        The class whose curve is wanted; of two classes, by default the second.

    Returns
    -------
    RocCurve
        Weighted false and true positive rates, thresholds, and the area under the curve.

    Examples
    --------
    >>> curve = cw_roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.fpr.round(3).tolist()
    [0.0, 0.0, 0.4, 0.4, 1.0]
    """
    predictions = as_predictions(
        x, second, third, columns, function="cw_roc_curve", is_ranking=True, views=OF_PREDICTIONS
    )
    return _curve(predictions, label, CW_AUC, WEIGHTED)

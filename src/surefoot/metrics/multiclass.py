"""Scores over all classes: the probability of each class against whether it is the true one."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Unpack

from surefoot.core.expression import log
from surefoot.core.keys import Closed
from surefoot.core.metric import Metric
from surefoot.core.tally import Tally
from surefoot.core.term import Term, of_each_class
from surefoot.core.view import OF_PREDICTIONS
from surefoot.metrics.binned import check_bins, ece_metric
from surefoot.metrics.function import function_of, measure
from surefoot.metrics.proper import SQUARED_GAP
from surefoot.metrics.terms import WEIGHT
from surefoot.predictions.arguments import Columns, takes_predictions


def _surprise(row: Any) -> Any:
    # rows of other classes add nothing, and rows that do not count must not add 0 * inf
    return -row.weight * log(row.correct * row.confidence + row.wrong + (row.weight == 0))


#: Minus the logarithm of the probability of a class, over the rows where it is the true one.
SURPRISE_WHERE_TRUE = Term("surprise where it happened", _surprise)


def _mean_of_sums(term: Term, scale: Callable[[int], float]) -> Callable[[Tally], float]:
    """The sum over classes of a term, per weight of rows."""

    def formula(t: Tally) -> float:
        parts = list((t.events or {}).values())
        return scale(len(parts)) * sum(part[term] for part in parts) / t[WEIGHT]

    return formula


MULTICLASS_BRIER = Metric(
    "multiclass_brier",
    (WEIGHT, of_each_class(SQUARED_GAP)),
    # of two classes both have the same gap, and the usual score counts it once
    _mean_of_sums(SQUARED_GAP, lambda classes: 0.5 if classes == 2 else 1.0),
    title="Brier score over all classes",
    about="score",
    reading="Squared distance of all probabilities from the true class; mixes calibration with sharpness.",
    notation=r"\frac1N \sum_i \sum_k (p_{ik} - [y_i = k])^2",
    ideal=0.0,
    direction="lower",
    range=(0.0, 2.0),
    reference="Brier, Monthly Weather Review 78 (1950)",
    views=OF_PREDICTIONS,
)
MULTICLASS_LOG_LOSS = Metric(
    "multiclass_log_loss",
    (WEIGHT, of_each_class(SURPRISE_WHERE_TRUE)),
    _mean_of_sums(SURPRISE_WHERE_TRUE, lambda classes: 1.0),
    title="Log loss over all classes",
    about="score",
    reading="Minus the logarithm of the probability of the true class; also called cross-entropy.",
    notation=r"-\frac1N \sum_i \log p_{i y_i}",
    ideal=0.0,
    direction="lower",
    range=(0.0, math.inf),
    reference="Good, Journal of the Royal Statistical Society B 14 (1952)",
    views=OF_PREDICTIONS,
)


@cache
def classwise_ece_metric(n_bins: int = 15, closed: Closed = "right") -> Metric:
    """The mean over classes of the expected calibration error of each class as an event."""
    of_one = ece_metric(n_bins, closed)

    def formula(t: Tally) -> float:
        values = [of_one.evaluate(part).value for part in (t.events or {}).values()]
        return math.fsum(values) / len(values)

    return Metric(
        "classwise_ece",
        tuple(of_each_class(term) for term in of_one.terms),
        formula,
        title=f"Class-wise calibration error, {n_bins} bins",
        reading="Mean over classes of the gap between the probability of a class and how often it is true.",
        notation=r"\frac1K \sum_k \sum_m \frac{|B_{km}|}{N} \bigl|\mathrm{freq}_k(B_{km}) - \bar p_k(B_{km})\bigr|",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Kull et al., NeurIPS (2019)",
        views=OF_PREDICTIONS,
    )


@function_of(MULTICLASS_BRIER)
def multiclass_brier() -> None:
    r"""Brier score over all classes: mean squared distance of the probabilities from the true class.

    Lower is better. It is scikit-learn's ``brier_score_loss``; :func:`brier` is that of the predicted class alone.

    Returns
    -------
    float
        From 0 to 2; of two classes, from 0 to 1.

    Notes
    -----
    .. math:: \frac1N \sum_i \sum_k \bigl(p_{ik} - [y_i = k]\bigr)^2

    Of two classes it is half of that, the usual Brier score, as in scikit-learn.

    References
    ----------
    Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78 (1950).

    Examples
    --------
    >>> multiclass_brier([0, 2], [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]])
    0.4375
    """


@function_of(MULTICLASS_LOG_LOSS)
def multiclass_log_loss() -> None:
    r"""Log loss over all classes: mean of minus the logarithm of the probability of the true class.

    Lower is better. It is scikit-learn's ``log_loss``; :func:`log_loss` is that of the predicted class alone.

    Returns
    -------
    float
        0 or more; infinite if a true class had probability 0.

    Notes
    -----
    .. math:: -\frac1N \sum_i \log p_{i y_i}

    scikit-learn moves a probability of 0 to the smallest difference of its float type; here the loss is infinite.

    References
    ----------
    Good, Rational decisions, Journal of the Royal Statistical Society B 14 (1952).

    Examples
    --------
    >>> round(multiclass_log_loss([0, 2], [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]), 6)
    0.693147
    """


@takes_predictions
def classwise_ece(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 15,
    closed: Closed = "right",
    **columns: Unpack[Columns],
) -> float:
    r"""Class-wise calibration error: the mean over classes of the gap between probability and frequency.

    Lower is better. Every class counts alike, and every sample in each of them: with many classes most probabilities
    are near 0, and so is the value.

    Parameters
    ----------
    n_bins : int, default=15
        The number of bins of equal width.
    closed : {"right", "left"}, default="right"
        Which edge belongs to a bin.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    ece : that of the predicted class; ``ece(..., of="classes")`` is this number.

    Notes
    -----
    .. math:: \frac1K \sum_k \sum_m \frac{|B_{km}|}{N} \bigl|\mathrm{freq}_k(B_{km}) - \bar p_k(B_{km})\bigr|

    References
    ----------
    Kull et al., Beyond temperature scaling: obtaining well-calibrated multi-class probabilities with Dirichlet
    calibration, NeurIPS (2019).

    Examples
    --------
    >>> classwise_ece([0, 2], [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]], n_bins=1)
    0.25
    """
    check_bins(n_bins, closed)
    return measure(classwise_ece_metric(int(n_bins), closed), x, second, third, columns)

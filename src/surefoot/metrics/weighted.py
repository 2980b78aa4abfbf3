"""Accuracy, plain and weighted by confidence: what the confidences are worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.tally import Tally
from surefoot.core.view import OF_PREDICTIONS
from surefoot.metrics.function import function_of
from surefoot.metrics.terms import CONFIDENCE, CORRECT, CORRECT_CONFIDENCE, WEIGHT


def _accuracy(t: Tally) -> float:
    return t[CORRECT] / t[WEIGHT]


def _cw_accuracy(t: Tally) -> float | Outcome:
    return t[CORRECT_CONFIDENCE] / t[CONFIDENCE] if t[CONFIDENCE] else undefined("every confidence is 0")


def _gain(t: Tally) -> float | Outcome:
    weighted = _cw_accuracy(t)
    return weighted if isinstance(weighted, Outcome) else gain_between(weighted, _accuracy(t))


def gain_between(weighted: Any, plain: Any) -> Any:
    """How much of the gap between the lower of the two and 1 the weighting wins (or, negative, loses)."""
    room = 1 - np.minimum(weighted, plain)
    gains = np.divide(np.subtract(weighted, plain), room, out=np.zeros(np.shape(room)), where=room != 0)
    return gains if gains.ndim else float(gains)


ACCURACY = Metric(
    "accuracy",
    (WEIGHT, CORRECT),
    _accuracy,
    title="Accuracy",
    about="value",
    reading="Share of the rows that are predicted correctly.",
    notation=r"\frac1N \sum_i [\hat y_i = y_i]",
    ideal=1.0,
    direction="higher",
    range=(0.0, 1.0),
    reference="the share of correct predictions",
    views=OF_PREDICTIONS,
)
CW_ACCURACY = Metric(
    "cw_accuracy",
    (CONFIDENCE, CORRECT_CONFIDENCE),
    _cw_accuracy,
    title="Confidence-weighted accuracy (cwA)",
    about="value",
    reading="Share of all confidence that was spent on correct rows.",
    notation=r"\frac{\sum_i c_i [\hat y_i = y_i]}{\sum_i c_i}",
    ideal=1.0,
    direction="higher",
    range=(0.0, 1.0),
    views=OF_PREDICTIONS,
)
GAIN = Metric(
    "gain",
    (WEIGHT, CORRECT, CONFIDENCE, CORRECT_CONFIDENCE),
    _gain,
    title="Gain of cwA over accuracy",
    about="value",
    reading="Share of the error that weighting by confidence removes; at 0 the confidences tell nothing.",
    notation=r"\frac{\mathrm{cwA} - \mathrm{Acc}}{1 - \min(\mathrm{cwA}, \mathrm{Acc})}",
    ideal=1.0,
    direction="higher",
    range=(-1.0, 1.0),
    views=OF_PREDICTIONS,
)
MEAN_CONFIDENCE = Metric(
    "mean_confidence",
    (WEIGHT, CONFIDENCE),
    lambda t: t[CONFIDENCE] / t[WEIGHT],
    title="Mean confidence",
    about="value",
    reading="What the model says its accuracy is; compare it with the accuracy.",
    notation=r"\frac1N \sum_i c_i",
    range=(0.0, 1.0),
    reference="the accuracy the model states",
)


@function_of(ACCURACY)
def accuracy() -> None:
    r"""The share of predictions that are correct.

    Compare it with :func:`mean_confidence`: a model whose mean confidence is higher overstates its accuracy.

    Returns
    -------
    float
        From 0 to 1; higher is better.

    Notes
    -----
    .. math:: \mathrm{Acc} = \frac1N \sum_i [\hat y_i = y_i]

    Examples
    --------
    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "b", "b"], [0.9, 0.9, 0.9, 0.3])
    0.75
    """


@function_of(CW_ACCURACY)
def cw_accuracy() -> None:
    r"""Confidence-weighted accuracy (cwA): the share of all confidence that went to correct predictions.

    It equals :func:`accuracy` if confidences tell nothing about correctness, and is above it if they do. It measures
    what the confidences are worth, not whether they are safe: read it beside :func:`csr`.

    Returns
    -------
    float
        From 0 to 1; higher is better. nan, with a warning, if every confidence is 0.

    Notes
    -----
    .. math:: \mathrm{cwA} = \frac{\sum_i c_i [\hat y_i = y_i]}{\sum_i c_i}

    References
    ----------
    Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026).

    Examples
    --------
    >>> cw_accuracy(["a", "b", "b", "a"], ["a", "b", "b", "b"], [0.75, 0.75, 0.75, 0.25])
    0.9
    """


@function_of(GAIN)
def gain() -> None:
    r"""Gain of confidence-weighted over plain accuracy: the share of the error that the weighting removes.

    0 if confidences tell nothing about correctness (and if both accuracies are 1); negative if errors carry more
    confidence than correct predictions.

    Returns
    -------
    float
        From -1 to 1; higher is better. nan, with a warning, if every confidence is 0.

    Notes
    -----
    .. math:: \mathrm{gain} = \frac{\mathrm{cwA} - \mathrm{Acc}}{1 - \min(\mathrm{cwA}, \mathrm{Acc})}

    References
    ----------
    Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026).

    Examples
    --------
    >>> round(gain(["a", "b", "b", "a"], ["a", "b", "b", "b"], [0.75, 0.75, 0.75, 0.25]), 12)
    0.6
    """


@function_of(MEAN_CONFIDENCE)
def mean_confidence() -> None:
    r"""The mean confidence: the accuracy that the model states.

    Compare it with :func:`accuracy`; the difference is the overstatement.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \bar c = \frac1N \sum_i c_i

    Examples
    --------
    >>> mean_confidence([1, 0], [1, 1], [1.0, 0.5])
    0.75
    """

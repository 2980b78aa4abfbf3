"""Accuracy, plain and weighted by confidence: what the confidences are worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.tally import Tally
from surefoot.metrics.function import function_of
from surefoot.metrics.terms import CONFIDENCE, CORRECT, CORRECT_CONFIDENCE, WEIGHT


def _accuracy(t: Tally) -> float:
    return t[CORRECT] / t[WEIGHT]


def _cw_accuracy(t: Tally) -> float | Outcome:
    return t[CORRECT_CONFIDENCE] / t[CONFIDENCE] if t[CONFIDENCE] else undefined("every confidence is 0")


def _gain(t: Tally) -> float | Outcome:
    weighted = _cw_accuracy(t)
    return weighted if isinstance(weighted, Outcome) else gained(weighted, _accuracy(t))


def gained(weighted: Any, plain: Any) -> Any:
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

    .. math:: \mathrm{Acc} = \frac1N \sum_i [\hat y_i = y_i]

    Arguments as :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "b", "b"], [0.9, 0.9, 0.9, 0.3])
    0.75
    """


@function_of(CW_ACCURACY)
def cw_accuracy() -> None:
    r"""The share of all confidence that went to correct predictions.

    .. math:: \mathrm{cwA} = \frac{\sum_i c_i [\hat y_i = y_i]}{\sum_i c_i}

    Equal to the accuracy when confidence says nothing, 1 for an oracle. It measures what the confidences are worth and
    is blind to their risk: read it beside :func:`csr`. nan with a warning when every confidence is 0. Arguments as
    :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> cw_accuracy(["a", "b", "b", "a"], ["a", "b", "b", "b"], [0.75, 0.75, 0.75, 0.25])
    0.9
    """


@function_of(GAIN)
def gain() -> None:
    r"""What weighting by confidence wins of the distance to perfect accuracy.

    .. math:: \mathrm{gain} = \frac{\mathrm{cwA} - \mathrm{Acc}}{1 - \min(\mathrm{cwA}, \mathrm{Acc})}

    0 when confidence says nothing (and when both are 1), negative when mistakes carry more confidence than correct
    predictions. Arguments as :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> round(gain(["a", "b", "b", "a"], ["a", "b", "b", "b"], [0.75, 0.75, 0.75, 0.25]), 12)
    0.6
    """


@function_of(MEAN_CONFIDENCE)
def mean_confidence() -> None:
    r"""The mean confidence: the accuracy the model states.

    .. math:: \bar c = \frac1N \sum_i c_i

    Arguments as :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> mean_confidence([1, 0], [1, 1], [1.0, 0.5])
    0.75
    """

"""Proper scores of correctness against confidence."""

from __future__ import annotations

import math
from typing import Any

from surefoot.core.expression import log
from surefoot.core.metric import Metric
from surefoot.core.term import Term
from surefoot.metrics.function import function_of
from surefoot.metrics.terms import WEIGHT

SQUARED_GAP = Term("squared gap", lambda row: row.weight * (row.confidence - row.correct) ** 2)


def _surprisal(row: Any) -> Any:
    stated = row.correct * row.confidence + row.wrong * row.doubt
    # a row that does not count must not add 0 * inf, so its logarithm is kept finite
    return -row.weight * log(stated + (row.weight == 0))


SURPRISAL = Term("surprisal", _surprisal)

BRIER = Metric(
    "brier",
    (WEIGHT, SQUARED_GAP),
    lambda t: t[SQUARED_GAP] / t[WEIGHT],
    title="Brier score of correctness",
    about="score",
    reading="Squared distance of confidence from being right; mixes calibration with sharpness.",
    notation=r"\frac1N \sum_i (c_i - [\hat y_i = y_i])^2",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference="Brier, Monthly Weather Review 78 (1950)",
)
LOG_LOSS = Metric(
    "log_loss",
    (WEIGHT, SURPRISAL),
    lambda t: t[SURPRISAL] / t[WEIGHT],
    title="Log loss of correctness",
    about="score",
    reading="Punishes sure mistakes by the logarithm of their doubt; mixes calibration with sharpness.",
    notation=r"-\frac1N \sum_i \log\bigl(c_i\ \text{if correct, else}\ 1 - c_i\bigr)",
    ideal=0.0,
    direction="lower",
    range=(0.0, math.inf),
    reference="Good, Journal of the Royal Statistical Society B 14 (1952)",
)


@function_of(BRIER)
def brier() -> None:
    r"""Mean squared distance between confidence and whether the prediction was correct.

    .. math:: \frac1N \sum_i \bigl(c_i - [\hat y_i = y_i]\bigr)^2

    The top-label form: for two classes it is the usual Brier score, for more it is not the sum over classes. Lower is
    better; mixes calibration with sharpness. Arguments as :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> brier([1, 0], [1, 1], [0.5, 0.5])
    0.25
    """


@function_of(LOG_LOSS)
def log_loss() -> None:
    r"""Mean negative logarithm of the probability given to what happened, correct or not.

    .. math:: -\frac1N \sum_i \log\bigl(c_i\ \text{if correct, else}\ 1 - c_i\bigr)

    The top-label form, of correctness against confidence, not scikit-learn's over classes. Lower is better; infinite
    when a row that claimed certainty is wrong, or one of confidence 0 is right. Arguments as
    :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> round(log_loss([1, 0], [1, 1], [0.5, 0.5]), 6)
    0.693147
    """

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
    reading="Penalises confident errors by the logarithm of their doubt; mixes calibration with sharpness.",
    notation=r"-\frac1N \sum_i \log\bigl(c_i\ \text{if correct, else}\ 1 - c_i\bigr)",
    ideal=0.0,
    direction="lower",
    range=(0.0, math.inf),
    reference="Good, Journal of the Royal Statistical Society B 14 (1952)",
)


@function_of(BRIER)
def brier() -> None:
    r"""Brier score of correctness: mean squared distance between confidence and correctness.

    Lower is better. It mixes calibration with sharpness.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \frac1N \sum_i \bigl(c_i - [\hat y_i = y_i]\bigr)^2

    This is the top-label form: for two classes it is the usual Brier score; for more it is not the sum over classes.

    References
    ----------
    Brier, Verification of forecasts expressed in terms of probability, Monthly Weather Review 78 (1950).

    Examples
    --------
    >>> brier([1, 0], [1, 1], [0.5, 0.5])
    0.25
    """


@function_of(LOG_LOSS)
def log_loss() -> None:
    r"""Log loss of correctness: mean negative logarithm of the probability given to the outcome.

    Lower is better. It mixes calibration with sharpness.

    Returns
    -------
    float
        0 or more; infinite if a sample of confidence 1 is wrong, or one of confidence 0 is correct.

    Notes
    -----
    .. math:: -\frac1N \sum_i \log\bigl(c_i\ \text{if correct, else}\ 1 - c_i\bigr)

    This is the top-label form, of correctness against confidence. For two classes it is scikit-learn's ``log_loss``;
    for more it is not.

    References
    ----------
    Good, Rational decisions, Journal of the Royal Statistical Society B 14 (1952).

    Examples
    --------
    >>> round(log_loss([1, 0], [1, 1], [0.5, 0.5]), 6)
    0.693147
    """

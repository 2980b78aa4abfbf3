"""Entropic calibration difference: is the model less sure, or surer, than what happened allows?"""

from __future__ import annotations

import math
from typing import Any

from surefoot.core.expression import log
from surefoot.core.metric import Metric
from surefoot.core.term import Term
from surefoot.core.view import OF_PREDICTIONS
from surefoot.metrics.function import function_of
from surefoot.metrics.terms import WEIGHT


def _difference(row: Any) -> Any:
    happened = row.correct * row.confidence + row.wrong * row.doubt
    other = row.correct * row.doubt + row.wrong * row.confidence
    # 0 log 0 is 0, and a row that does not count must not add 0 * inf
    return row.weight * other * (log(other + (other == 0)) - log(happened + (row.weight == 0)))


ENTROPIC_DIFFERENCE = Term("entropic difference", _difference)

ECD = Metric(
    "ecd",
    (WEIGHT, ENTROPIC_DIFFERENCE),
    lambda t: t[ENTROPIC_DIFFERENCE] / t[WEIGHT],
    title="Entropic calibration difference",
    about="score",
    reading="Log loss minus the entropy of the confidences: positive is overconfident, negative underconfident.",
    notation=r"\frac1N \sum_i (c_i - [\hat y_i = y_i]) \log\frac{c_i}{1 - c_i}",
    ideal=0.0,
    direction="nearest",
    range=(-0.279, math.inf),
    reference="Sumler, Devlin, Maskell and Lane, arXiv 2502.14545 (2025)",
    views=OF_PREDICTIONS,
)


@function_of(ECD)
def ecd() -> None:
    r"""Entropic calibration difference: the log loss minus the entropy of the confidences.

    Positive if overconfident, negative if underconfident, 0 if calibrated (and if every confidence is 0.5).

    Returns
    -------
    float
        -0.279 or more; infinite if a sample of confidence 1 is wrong.

    See Also
    --------
    ecd_test : whether it is larger than chance explains.

    Notes
    -----
    .. math:: \mathrm{ECD} = \frac1N \sum_i \bigl(c_i - [\hat y_i = y_i]\bigr) \log\frac{c_i}{1 - c_i}

    Correct samples of confidence 1 add 0.

    References
    ----------
    Sumler, Devlin, Maskell and Lane, arXiv 2502.14545 (2025).

    Examples
    --------
    >>> round(ecd([1, 0], [1, 1], [0.75, 0.75]), 6)  # (-0.25 + 0.75) log(3) / 2
    0.274653
    """

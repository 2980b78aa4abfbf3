"""Entropic calibration difference: is the model less sure, or surer, than what happened allows?"""

from __future__ import annotations

import math
from typing import Any

from surefoot.core.expression import log
from surefoot.core.metric import Metric
from surefoot.core.term import Term
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
    reading="Log loss seen less the entropy stated: positive is overconfident, negative underconfident.",
    notation=r"\frac1N \sum_i (c_i - [\hat y_i = y_i]) \log\frac{c_i}{1 - c_i}",
    ideal=0.0,
    direction="nearest",
    range=(-0.279, math.inf),
    reference="Sumler, Devlin, Maskell and Lane, arXiv 2502.14545 (2025)",
)


@function_of(ECD)
def ecd() -> None:
    r"""Mean difference between the certainty the model states and the log-probability of what happened.

    .. math:: \mathrm{ECD} = \frac1N \sum_i \bigl(c_i - [\hat y_i = y_i]\bigr) \log\frac{c_i}{1 - c_i}

    Positive when overconfident, negative when underconfident, 0 when calibrated (and when every confidence is 0.5).
    A row adds at least -0.279; a certain row adds 0 if right and makes it infinite if wrong. Arguments as
    :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> round(ecd([1, 0], [1, 1], [0.75, 0.75]), 6)  # (-0.25 + 0.75) log(3) / 2
    0.274653
    """

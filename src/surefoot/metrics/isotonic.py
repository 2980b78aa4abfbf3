"""The distance from confidence to its isotonic fit."""

from __future__ import annotations

import numpy as np

from surefoot.core.metric import Metric, Outcome
from surefoot.core.tally import Tally
from surefoot.metrics.by_confidence import NOTHING, TERMS, levels
from surefoot.metrics.function import function_of


def _mcaldist(t: Tally) -> float | Outcome:
    from scipy.optimize import isotonic_regression

    at = levels(t)
    if not len(at.weight):
        return NOTHING
    fit = isotonic_regression(at.correct / at.weight, weights=at.weight).x
    return float((at.weight * np.abs(at.confidence - fit)).sum() / at.weight.sum())


MCALDIST = Metric(
    "mcaldist",
    TERMS,
    _mcaldist,
    title="Mean distance to calibration",
    reading="How far confidences move, on average, to the best rising fit of these rows.",
    notation=r"\frac1N \sum_i |c_i - g(c_i)|",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference="after Qiao and Zheng, COLT (2024)",
)


@function_of(MCALDIST)
def mcaldist() -> None:
    r"""The mean distance from confidence to its isotonic fit, a calibrated prediction made of the same rows.

    .. math:: \frac1N \sum_i |c_i - g(c_i)|, \quad g \text{ the least-squares rising fit of correctness}

    An upper bound of the distance to calibration, and at least |mean confidence - accuracy|. Lower is better. Rows of
    equal confidence are averaged first, so order does not matter. O(N log N); needs the rows. Arguments as :func:`ece`.

    Examples
    --------
    >>> mcaldist([1, 1], [1, 0], [0.75, 0.25])
    0.25
    """

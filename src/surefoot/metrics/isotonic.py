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
    reading="Mean distance from each confidence to the best rising fit of these samples.",
    notation=r"\frac1N \sum_i |c_i - g(c_i)|",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference="after Qiao and Zheng, COLT (2024)",
)


@function_of(MCALDIST)
def mcaldist() -> None:
    r"""The mean distance from confidence to its isotonic fit.

    Lower is better. It bounds the distance to the nearest calibrated predictions from above.

    Returns
    -------
    float
        From 0 to 1; at least \|mean confidence - accuracy\|.

    Notes
    -----
    .. math:: \frac1N \sum_i |c_i - g(c_i)|, \quad g \text{ the least-squares rising fit of correctness}

    Samples of equal confidence are averaged first, so the order of rows does not matter. It takes O(N log N) time and
    needs the rows; a :class:`Tally` is not enough.

    References
    ----------
    After Qiao and Zheng, On the distance from calibration in sequential prediction, COLT (2024).

    Examples
    --------
    >>> mcaldist([1, 1], [1, 0], [0.75, 0.25])
    0.25
    """

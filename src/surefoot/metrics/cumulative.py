"""Cumulative differences: how far correctness and confidence drift apart as rows are added in order of confidence."""

from __future__ import annotations

import numpy as np

from surefoot.core.metric import Metric, Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.metrics.by_confidence import NOTHING, TERMS, levels
from surefoot.metrics.function import function_of

_REFERENCE = "Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, JMLR (2022)"


def _walk(t: Tally) -> Floats:
    """The cumulative difference after each distinct confidence, from 0 on."""
    at = levels(t)
    walk: Floats = np.append(0.0, np.cumsum(at.gap)) / at.weight.sum()
    return walk


def _mad(t: Tally) -> float | Outcome:
    return float(np.abs(_walk(t)).max()) if len(levels(t).weight) else NOTHING


def _range(t: Tally) -> float | Outcome:
    return float(np.ptp(_walk(t))) if len(levels(t).weight) else NOTHING


ECCE_MAD = Metric(
    "ecce_mad",
    TERMS,
    _mad,
    title="Cumulative calibration error, largest",
    reading="Largest cumulative gap, from the least confident sample to the most confident, without bins.",
    notation=r"\max_k |C_k|, \quad C_k = \frac1N \sum_{j \le k} (y_{(j)} - c_{(j)})",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference=_REFERENCE,
)
ECCE_R = Metric(
    "ecce_r",
    TERMS,
    _range,
    title="Cumulative calibration error, range",
    reading="Largest cumulative gap over any range of confidence, without bins.",
    notation=r"\max_k C_k - \min_k C_k, \quad C_k = \frac1N \sum_{j \le k} (y_{(j)} - c_{(j)})",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference=_REFERENCE,
)


@function_of(ECCE_MAD)
def ecce_mad() -> None:
    r"""The largest cumulative difference between correctness and confidence, in order of confidence.

    Lower is better. It needs no bins, and :func:`ecce_test` says how large it is by chance.

    Returns
    -------
    float
        From 0 to 1; at least half of \|mean confidence - accuracy\|.

    Notes
    -----
    .. math:: \max_k |C_k|, \quad C_k = \frac1N \sum_{j \le k} (y_{(j)} - c_{(j)})

    This is the idea of Kolmogorov and Smirnov. Differences are taken at the ends of groups of equal confidence, so the
    order of rows does not matter. It takes O(N log N) time and needs the rows; a :class:`Tally` is not enough.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, Metrics of calibration for probabilistic predictions, JMLR (2022).

    Examples
    --------
    >>> ecce_mad([1, 1, 1, 1], [1, 0, 1, 1], [0.5, 0.75, 1.0, 1.0])
    0.125
    """


@function_of(ECCE_R)
def ecce_r() -> None:
    r"""The range of the cumulative differences between correctness and confidence, in order of confidence.

    Lower is better. It is the largest cumulative difference over any range of confidences.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    ecce_mad : the largest difference from the least confident sample on.
    ecce_test : how large both are by chance.

    Notes
    -----
    .. math:: \max_{k \ge 0} C_k - \min_{k \ge 0} C_k, \quad C_k = \frac1N \sum_{j \le k} (y_{(j)} - c_{(j)})

    This is Kuiper's idea.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, Metrics of calibration for probabilistic predictions, JMLR (2022).

    Examples
    --------
    >>> ecce_r([1, 1, 1], [1, 0, 1], [0.5, 0.75, 1.0])
    0.25
    """

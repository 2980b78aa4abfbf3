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
    reading="Largest miss that builds up from the least sure row to the surest, without bins.",
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
    reading="Largest miss over any range of confidence, without bins.",
    notation=r"\max_k C_k - \min_k C_k, \quad C_k = \frac1N \sum_{j \le k} (y_{(j)} - c_{(j)})",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference=_REFERENCE,
)


@function_of(ECCE_MAD)
def ecce_mad() -> None:
    r"""The largest cumulative difference between correctness and confidence, in order of confidence.

    .. math:: \max_k |C_k|, \quad C_k = \frac1N \sum_{j \le k} (y_{(j)} - c_{(j)})

    Kolmogorov and Smirnov's idea, without bins. Lower is better; its size under calibration is known
    (:func:`ecce_test`). Taken at the ends of groups of equal confidence, so the order of rows does not matter. At least
    half of |mean confidence - accuracy|. O(N log N); needs the rows. Arguments as :func:`ece`.

    Examples
    --------
    >>> ecce_mad([1, 1, 1, 1], [1, 0, 1, 1], [0.5, 0.75, 1.0, 1.0])
    0.125
    """


@function_of(ECCE_R)
def ecce_r() -> None:
    r"""The range of the cumulative differences between correctness and confidence, in order of confidence.

    .. math:: \max_{k \ge 0} C_k - \min_{k \ge 0} C_k, \quad C_k = \frac1N \sum_{j \le k} (y_{(j)} - c_{(j)})

    Kuiper's idea: the largest difference over any stretch of confidences. Otherwise as :func:`ecce_mad`.

    Examples
    --------
    >>> ecce_r([1, 1, 1], [1, 0, 1], [0.5, 0.75, 1.0])
    0.25
    """

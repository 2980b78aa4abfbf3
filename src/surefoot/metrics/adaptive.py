"""Bins that follow the data: split at the mean, or at quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Unpack

import numpy as np

from surefoot._io.arguments import check_whole
from surefoot.core.metric import Metric, Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.view import ONE_A_ROW
from surefoot.metrics.binned import check_bins
from surefoot.metrics.by_confidence import NOTHING, TERMS, Levels, levels
from surefoot.metrics.function import measure
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions


@cache
def adaptive_ece_metric(min_size: int = 100) -> Metric:
    """Expected calibration error over parts that are split at their mean while they hold this many rows."""

    def formula(t: Tally) -> float | Outcome:
        at = levels(t)
        if not len(at.weight):
            return NOTHING
        columns = [np.append(x, 0.0) for x in (at.weight, at.rows, at.weight * at.confidence, at.gap)]
        total, starts, stops = 0.0, np.array([0]), np.array([len(at.weight)])
        while len(starts):
            # added up anew, not as differences of running sums: rounding must not move a mean off a tie
            edges = np.column_stack([starts, stops]).ravel()
            weight, rows, confidence, gap = (np.add.reduceat(x, edges)[::2] for x in columns)
            # clipped: the mean of equal values may round past them
            mean = np.clip(confidence / weight, at.confidence[starts], at.confidence[stops - 1])
            middles = np.searchsorted(at.confidence, mean, side="left")
            is_split = (rows >= min_size) & (middles > starts)
            total += float(np.abs(gap[~is_split]).sum())
            starts, middles, stops = starts[is_split], middles[is_split], stops[is_split]
            starts, stops = np.column_stack([starts, middles]).ravel(), np.column_stack([middles, stops]).ravel()
        return total / float(at.weight.sum())

    return Metric(
        "adaptive_ece",
        TERMS,
        formula,
        title=f"Expected calibration error, parts split at their mean down to {min_size} rows",
        reading="As ECE, over parts that are split where the samples are.",
        notation=r"\sum_b \frac{|B_b|}{N} \bigl|\mathrm{acc}(B_b) - \mathrm{conf}(B_b)\bigr|",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Vaicenavicius, Widmann, Andersson, Lindsten, Roll and Schön, AISTATS (2019)",
        inferential=True,
    )


@dataclass(frozen=True)
class EciParts:
    """The estimated calibration index and its parts.

    Attributes
    ----------
    eci : float
        The index over all bins; 1 if calibrated.
    over, under : float
        The index over the overconfident bins, and over the underconfident bins; nan if there are none.
    balance : float
        Positive if overconfidence outweighs underconfidence, negative if it is the other way round.
    """

    eci: float
    over: float
    under: float
    balance: float


def _eci_parts(at: Levels, n_bins: int) -> EciParts:
    distinct = len(at.confidence)
    edges = at.confidence if distinct < n_bins else np.unique(_quantiles(at, n_bins))
    bins = np.searchsorted(edges, at.confidence, side="right")
    weight, confidence, correct = (np.bincount(bins, x) for x in (at.weight, at.weight * at.confidence, at.correct))
    held = weight > 0
    x, f, share = confidence[held] / weight[held], correct[held] / weight[held], weight[held] / weight.sum()
    distance = np.abs(x - f) / np.maximum(x, 1 - x)

    def mean(which: Any) -> float:
        return float((share * distance)[which].sum() / share[which].sum()) if which.any() else math.nan

    over, under = mean(f < x), mean(f > x)
    balance = (0.0 if math.isnan(over) else over) - (0.0 if math.isnan(under) else under)
    return EciParts(1 - float((share * distance).sum()), 1 - over, 1 - under, balance)


def _quantiles(at: Levels, n_bins: int) -> Floats:
    """Quantiles of the confidences of all rows, interpolated as NumPy does."""
    upto = np.cumsum(at.rows)
    position = np.linspace(0, 1, n_bins + 1) * (upto[-1] - 1)
    below = np.floor(position)
    low, high = (
        at.confidence[np.minimum(np.searchsorted(upto, index, side="right"), len(upto) - 1)]
        for index in (below, below + 1)
    )
    share = position - below
    # from the nearer end
    values: Floats = np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share))
    return values


@cache
def eci_metric(n_bins: int = 15) -> Metric:
    """Estimated calibration index over this many quantile bins."""

    def formula(t: Tally) -> float | Outcome:
        at = levels(t)
        return _eci_parts(at, n_bins).eci if len(at.weight) else NOTHING

    return Metric(
        "eci",
        TERMS,
        formula,
        title=f"Estimated calibration index, {n_bins} quantile bins",
        reading="1 minus the gaps, each relative to the largest possible gap in its bin.",
        notation=r"1 - \sum_b \frac{|B_b|}{N} \frac{|x_b - f_b|}{\max(x_b, 1 - x_b)}",
        ideal=1.0,
        direction="higher",
        range=(0.0, 1.0),
        reference="Famiglini, Campagner and Cabitza, ECAI (2023)",
        inferential=True,
    )


@takes_predictions
def adaptive_ece(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    min_size: int = 100,
    **columns: Unpack[Columns],
) -> float:
    r"""Expected calibration error over parts of the data, split at their mean confidence again and again.

    Lower is better.

    Parameters
    ----------
    min_size : int, default=100
        Parts with fewer samples than this are not split.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \sum_b \frac{|B_b|}{N} \bigl|\mathrm{acc}(B_b) - \mathrm{conf}(B_b)\bigr|

    It takes O(N log N) time and needs the rows; a :class:`Tally` is not enough.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll and Schön, Evaluating model calibration in classification, AISTATS
    (2019).

    Examples
    --------
    >>> adaptive_ece([1, 1], [1, 0], [0.75, 0.25], min_size=2)
    0.25
    """
    check_whole("min_size", min_size)
    return measure(adaptive_ece_metric(min_size), x, second, third, columns)


@takes_predictions
def eci(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 15,
    **columns: Unpack[Columns],
) -> float:
    r"""Estimated calibration index: 1 minus the gaps of bins, each relative to the largest possible gap.

    1 if calibrated; higher is better.

    Parameters
    ----------
    n_bins : int, default=15
        The number of bins.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    eci_parts : the index over overconfident and over underconfident bins.

    Notes
    -----
    .. math:: 1 - \sum_b \frac{|B_b|}{N} \frac{|x_b - f_b|}{\max(x_b, 1 - x_b)}

    where x is the mean confidence of a bin and f its accuracy. Bins are cut at quantiles and closed on the left, so
    that the largest confidence has its own bin, as in CalFram's code; with fewer distinct confidences than bins, each
    has its own. It takes O(N log N) time and needs the rows; a :class:`Tally` is not enough.

    References
    ----------
    Famiglini, Campagner and Cabitza, Towards a rigorous calibration assessment framework, ECAI (2023).

    Examples
    --------
    >>> eci([1, 1], [1, 0], [0.75, 0.25], n_bins=2)
    0.6666666666666667
    """
    check_bins(n_bins)
    return measure(eci_metric(int(n_bins)), x, second, third, columns)


@takes_predictions
def eci_parts(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 15,
    **columns: Unpack[Columns],
) -> EciParts:
    """Estimated calibration index, and its parts over overconfident and underconfident bins.

    Parameters
    ----------
    n_bins : int, default=15
        The number of bins.

    Returns
    -------
    EciParts
        ``eci``, ``over``, ``under`` and ``balance``.

    See Also
    --------
    eci : the index alone, with its formula.

    Examples
    --------
    >>> eci_parts([1, 1], [1, 0], [0.75, 0.25], n_bins=2).balance
    0.0
    """
    check_bins(n_bins)
    p = as_predictions(x, second, third, columns, function="eci_parts", views=ONE_A_ROW)
    return _eci_parts(levels(p.rows("eci_parts").tally(TERMS)), int(n_bins))

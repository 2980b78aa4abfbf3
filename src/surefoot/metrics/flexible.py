"""The flexible calibration curve: outcomes smoothed over probabilities by local regression, and the errors it shows.

The smoother is the loess that Austin and Steyerberg use, local quadratic regression over the nearest 75% of the
samples, evaluated without interpolation: R's ``loess(y ~ p, surface = "direct")``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._stats.local_regression import local_regression, smoother_rows
from surefoot._stats.quantiles import quantile
from surefoot.core.frames import CurveTable
from surefoot.core.keys import EXACT_CONFIDENCE
from surefoot.core.metric import Metric, Outcome
from surefoot.core.ordering import stable_order
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.core.view import OF_EVENTS, ONE_A_ROW
from surefoot.errors import InvalidPredictions
from surefoot.metrics.by_confidence import NOTHING, TERMS, WEIGHT_AT, Levels, levels
from surefoot.metrics.function import function_of
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions

#: Distinct probabilities up to which the curve is exact; of more, neighbours are put together.
MOST = 4096
#: Points of a curve that is handed out.
_POINTS = 512

SQUARED_WEIGHT_AT = Term("squared weight by confidence", lambda row: row.weight**2, EXACT_CONFIDENCE)


class _Cells(NamedTuple):
    """Probabilities, rising, with their weight and the share of events."""

    probability: Floats
    weight: Floats
    share: Floats
    #: The variance of the share, in units of that of one row.
    spread: Floats


def _cells(at: Levels, squares: Floats, most: int) -> _Cells:
    """The distinct probabilities, or if they are many, the means of neighbours.

    A cell then holds at most a share 2 / most of the weight, unless it is one probability, and of the range.
    """
    codes = np.arange(len(at.weight))
    if len(codes) > most:
        half, low, high = most // 2, at.confidence[0], at.confidence[-1]
        by_weight = ((np.cumsum(at.weight) - at.weight / 2) / at.weight.sum() * half).astype(np.intp)
        by_value = np.minimum((at.confidence - low) / (high - low) * half, half - 1).astype(np.intp)
        codes = np.cumsum((np.diff(by_weight, prepend=-1) != 0) | (np.diff(by_value, prepend=-1) != 0)) - 1
    weight = np.bincount(codes, at.weight).astype(np.float64)
    mean = np.bincount(codes, at.weight * at.confidence) / weight if len(weight) < len(codes) else at.confidence
    return _Cells(mean, weight, np.bincount(codes, at.correct) / weight, np.bincount(codes, squares) / weight**2)


def _smooth(at: Levels) -> Floats:
    """The smoothed share of events at each distinct probability, from 0 to 1."""
    cells = _cells(at, at.weight, MOST)
    # the ends of the range as well, so that nothing is extrapolated
    points = np.unique(np.concatenate([at.confidence[[0, -1]], cells.probability]))
    curve = local_regression(cells.probability, cells.share, cells.weight, points)
    return np.clip(np.interp(at.confidence, points, curve), 0.0, 1.0)


class _Errors(NamedTuple):
    """The distance of each distinct probability from the curve."""

    distance: Floats
    #: Its share of the weight, and that of the lightest sample.
    share: Floats
    lightest: float

    def quantile(self, q: float) -> float:
        """The quantile of NumPy and of R (type 7), where samples are so many copies of the lightest.

        Of N copies in order, it is the mean of the distances from place q (N - 1) to the next place.
        """
        order = stable_order(self.distance)
        upto = np.cumsum(self.share[order])
        low = q * (upto[-1] - self.lightest)
        inside = np.minimum(upto, low + self.lightest) - np.maximum(upto - self.share[order], low)
        return float(np.average(self.distance[order], weights=np.maximum(inside, 0.0)))


def _errors(t: Tally) -> _Errors | None:
    """The distances, or None without rows."""
    at = levels(t)
    if not len(at.weight):
        return None
    total = at.weight.sum()
    # a sum of so many shares has lost the digits that a smaller one would need
    lightest = max(float((at.weight / at.rows).min() / total), 1e-9)
    return _Errors(np.abs(_smooth(at) - at.confidence), at.weight / total, lightest)


def _metric(name: str, title: str, reading: str, notation: str, of_errors: Callable[[_Errors], float]) -> Metric:
    def formula(t: Tally) -> float | Outcome:
        errors = t.cached("errors of the flexible curve", lambda: _errors(t))
        return NOTHING if errors is None else of_errors(errors)

    return Metric(
        name,
        TERMS,
        formula,
        title=title,
        reading=reading,
        notation=notation,
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Austin and Steyerberg, Statistics in Medicine 38 (2019)",
        views=OF_EVENTS,
    )


_DISTANCE = r"|\hat f(p_i) - p_i|"
ICI = _metric(
    "ici",
    "Integrated calibration index",
    "Mean distance between the predicted probability and the flexible calibration curve.",
    rf"\frac1N \sum_i {_DISTANCE}",
    lambda errors: float((errors.distance * errors.share).sum()),
)
E50 = _metric(
    "e50",
    "E50",
    "Median distance between the predicted probability and the flexible calibration curve.",
    rf"\mathrm{{median}}_i\, {_DISTANCE}",
    lambda errors: errors.quantile(0.5),
)
E90 = _metric(
    "e90",
    "E90",
    "90th percentile of the distance between the predicted probability and the flexible calibration curve.",
    rf"\mathrm{{quantile}}_{{0.9}}\, {_DISTANCE}",
    lambda errors: errors.quantile(0.9),
)
EMAX = _metric(
    "emax",
    "Emax",
    "Largest distance between the predicted probability and the flexible calibration curve.",
    rf"\max_i\, {_DISTANCE}",
    lambda errors: float(errors.distance.max()),
)


@dataclass(frozen=True, eq=False)
class FlexibleCurve(CurveTable):
    """How often the event occurs, smoothed over the predicted probability, with a pointwise band.

    Attributes
    ----------
    predicted : array of shape (n_points,)
        Predicted probabilities, rising: the distinct ones, or 512 of them if there are more.
    observed : array of shape (n_points,)
        The smoothed share of events there.
    lower, upper : array of shape (n_points,)
        Pointwise confidence limits of ``observed``.
    """

    predicted: Floats
    observed: Floats
    lower: Floats
    upper: Floats


@takes_predictions
def flexible_curve(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> FlexibleCurve:
    r"""Flexible calibration curve: how often the event occurs, smoothed over its predicted probability.

    On the diagonal the model is calibrated; below it, it overpredicts there. Of predictions, it is the share of correct
    ones, smoothed over confidence.

    Parameters
    ----------
    level : float, default 0.95
        The confidence level of ``lower`` and ``upper``, at each point by itself.

    Returns
    -------
    FlexibleCurve
        Arrays ``predicted``, ``observed``, ``lower`` and ``upper``.

    Raises
    ------
    NeedsRows
        If the predictions are in a lazy frame.

    See Also
    --------
    ici : the mean distance of the curve from the diagonal.
    reliability_curve : the same in bins.

    Notes
    -----
    At each probability a quadratic is fitted by weighted least squares to the nearest 75% of the weight, with tricube
    weights, and clipped to [0, 1]; :func:`ici` has the details. The band is that of a linear smoother,

    .. math:: \hat f(p) \pm z \sqrt{\textstyle\sum_j l_j^2\, \tilde f_j (1 - \tilde f_j)}

    where :math:`l_j` are the weights of the samples in the value, and :math:`\tilde f_j` is the curve at each of them
    after adding :math:`z^2 / 2` events and as many non-events (Agresti and Coull), so that the band does not vanish
    where no event was seen. It holds at each point by itself, not for the whole curve at once, and leaves out
    the bias of smoothing.

    References
    ----------
    Austin and Steyerberg, The Integrated Calibration Index (ICI) and related metrics for quantifying the calibration of
    logistic regression models, Statistics in Medicine 38 (2019).
    Cleveland and Devlin, Locally weighted regression, Journal of the American Statistical Association 83 (1988).

    Examples
    --------
    >>> curve = flexible_curve([0, 1, 0, 1], [0.2, 0.2, 0.8, 0.8], of="event")
    >>> curve.predicted.tolist(), curve.observed.tolist()
    ([0.2, 0.8], [0.5, 0.5])
    """
    check_share("level", level, "0.95")
    p = as_predictions(x, second, third, columns, function="flexible_curve", views=ONE_A_ROW)
    p = p.rows("flexible_curve")
    t = p.tally((*TERMS, SQUARED_WEIGHT_AT))
    at, table = levels(t), t.table(EXACT_CONFIDENCE)
    if not len(at.weight):
        raise InvalidPredictions("every weight is 0, so there is nothing to smooth", argument="sample_weight")
    squares = table.totals[SQUARED_WEIGHT_AT.name].value[table.totals[WEIGHT_AT.name].value > 0]
    cells = _cells(at, squares, MOST)
    points = np.unique(np.concatenate([at.confidence[[0, -1]], _cells(at, squares, _POINTS).probability]))
    z = quantile(level)
    smooth, spread = np.empty(len(cells.weight)), np.empty(len(cells.weight))
    for part, weights in smoother_rows(cells.probability, cells.weight, cells.probability):
        smooth[part], spread[part] = weights @ cells.share, weights**2 @ cells.spread
    rows = 1 / spread
    share = (np.clip(smooth, 0.0, 1.0) * rows + z**2 / 2) / (rows + z**2)
    variance = cells.spread * share * (1 - share)
    observed, reach = np.empty(len(points)), np.empty(len(points))
    for part, weights in smoother_rows(cells.probability, cells.weight, points):
        observed[part], reach[part] = weights @ cells.share, z * np.sqrt(weights**2 @ variance)
    observed = np.clip(observed, 0.0, 1.0)
    lower, upper = np.maximum(observed - reach, 0.0), np.minimum(observed + reach, 1.0)
    return FlexibleCurve(points, observed, lower, upper)


@function_of(ICI)
def ici() -> None:
    r"""Integrated calibration index: mean distance between predicted probability and the flexible calibration curve.

    Lower is better. 0.02 means that predicted probabilities are off by two percentage points on average.

    Parameters
    ----------
    of : {"event", "classes"}, default "event"
        Whether ``pos_label`` is the event, or each class in turn, of which the mean is returned.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    e50, e90, emax : the median, the 90th percentile and the maximum of the same distances.
    flexible_curve : the curve itself.

    Notes
    -----
    .. math:: \mathrm{ICI} = \frac1N \sum_i |\hat f(p_i) - p_i|

    where :math:`\hat f` is a local regression of the events on their probabilities. At each p a quadratic is fitted by
    weighted least squares, with weights :math:`w_j (1 - (|p_j - p| / h)^3)^3`, where h is the distance within which 75%
    of the weight lies; the value is clipped to [0, 1]. Without weights and ties this is R's
    ``loess(y ~ p, surface = "direct")``, save that R takes one neighbour fewer if N is not a multiple of 4. By
    default R interpolates its curve, which can move it by some thousandths. Where too few different probabilities are
    near, the degree is lower.

    Up to 4,096 different probabilities the curve is exact. Of more, neighbours are put together in as many cells:
    that moves the ICI by less than 0.00005. It needs the rows; a :class:`Tally` is not enough. Being a distance, the
    ICI of few samples is above 0 even if the model is calibrated.

    References
    ----------
    Austin and Steyerberg, The Integrated Calibration Index (ICI) and related metrics for quantifying the calibration of
    logistic regression models, Statistics in Medicine 38 (2019).

    Examples
    --------
    >>> round(ici([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]), 4)
    0.25
    """


@function_of(E50)
def e50() -> None:
    r"""E50: median distance between predicted probability and the flexible calibration curve.

    Lower is better.

    Parameters
    ----------
    of : {"event", "classes"}, default "event"
        Whether ``pos_label`` is the event, or each class in turn, of which the mean is returned.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \mathrm{median}_i\, |\hat f(p_i) - p_i|

    with the curve of :func:`ici`.

    References
    ----------
    Austin and Steyerberg, Statistics in Medicine 38 (2019).

    Examples
    --------
    >>> round(e50([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]), 4)
    0.25
    """


@function_of(E90)
def e90() -> None:
    r"""E90: 90th percentile of the distance between predicted probability and the flexible calibration curve.

    Lower is better: nine in ten predicted probabilities are off by less.

    Parameters
    ----------
    of : {"event", "classes"}, default "event"
        Whether ``pos_label`` is the event, or each class in turn, of which the mean is returned.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \mathrm{quantile}_{0.9}\, |\hat f(p_i) - p_i|

    with the curve of :func:`ici`. The percentile is that of ``numpy.quantile`` and of R's ``quantile``, which
    interpolates between two samples. With weights, a sample is so many copies of the lightest one.

    References
    ----------
    Austin and Steyerberg, Statistics in Medicine 38 (2019).

    Examples
    --------
    >>> round(e90([0, 1, 0, 1], [0.25, 0.25, 0.5, 0.5]), 4)
    0.25
    """


@function_of(EMAX)
def emax() -> None:
    r"""Emax: largest distance between a predicted probability and the flexible calibration curve.

    Lower is better. It is set by the ends of the curve, where few samples lie, and varies much from sample to sample.

    Parameters
    ----------
    of : {"event", "classes"}, default "event"
        Whether ``pos_label`` is the event, or each class in turn, of which the mean is returned.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \max_i\, |\hat f(p_i) - p_i|

    with the curve of :func:`ici`.

    References
    ----------
    Austin and Steyerberg, Statistics in Medicine 38 (2019).

    Examples
    --------
    >>> round(emax([0, 1, 0, 1], [0.25, 0.25, 0.5, 0.5]), 4)
    0.25
    """

"""Logistic recalibration: calibration slope, intercept and calibration in the large, of events or of correctness."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surefoot._stats.logistic import expit, logistic_fit
from surefoot._stats.roots import root
from surefoot.core.keys import EACH_ROW
from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.core.view import OF_EVENTS, OF_ONE_EVENT, OF_PREDICTIONS, ONE_A_ROW
from surefoot.metrics.by_confidence import NOTHING
from surefoot.metrics.function import function_of

#: Row by row: of probabilities that round to the same number near 1, doubts still tell the log-odds.
WEIGHT_OF = Term("weight of each row", lambda row: row.weight, EACH_ROW)
EVENT_OF = Term("correct weight of each row", lambda row: row.weight * row.correct, EACH_ROW)
CONFIDENCE_OF = Term("confidence of each row", lambda row: row.confidence, EACH_ROW)
DOUBT_OF = Term("doubt of each row", lambda row: row.doubt, EACH_ROW)
RECALIBRATION_TERMS = (WEIGHT_OF, EVENT_OF, CONFIDENCE_OF, DOUBT_OF)


class LogOdds(NamedTuple):
    """The log-odds of the probabilities between 0 and 1, with the share of weight and of events in each row."""

    log_odds: Floats
    weight: Floats
    events: Floats
    #: Whether there were also probabilities of 0 or 1, which came out as they said.
    has_certain: bool


def log_odds_of(t: Tally) -> LogOdds | Outcome:
    """What a logistic regression on the log-odds is fitted to, or why there is none.

    Of a probability of 0 or 1 the log-odds are infinite. A row that came out as it said adds nothing to the likelihood
    of any line that rises, and is left out; one that did not makes every such line impossible.
    """
    table = t.table(EACH_ROW)
    held = table.totals[WEIGHT_OF.name].value > 0
    weight, events, confidence, doubt = (table.totals[term.name].value[held] for term in RECALIBRATION_TERMS)
    if not len(weight):
        return NOTHING
    if (((confidence == 0) & (events > 0)) | ((doubt == 0) & (events == 0))).any():
        return undefined(
            "a sample with a probability of exactly 0 or 1 had the other outcome, which no line of log-odds allows"
        )
    inside = (confidence > 0) & (doubt > 0)
    if not inside.any():
        return undefined("every probability is 0 or 1, so there are no log-odds")
    weight, events = weight[inside], events[inside]
    if not events.any() or (events > 0).all():
        return undefined("all outcomes are the same, so nothing can be fitted")
    # only ratios of weights matter, and tiny ones must not vanish
    total = float(weight.sum())
    log_odds = np.log(confidence[inside]) - np.log(doubt[inside])
    return LogOdds(log_odds, weight / total, events / total, not inside.all())


class Line(NamedTuple):
    """The line logit P = intercept + slope * logit p."""

    slope: float
    intercept: float


def recalibration_line(at: LogOdds) -> Line | Outcome:
    """The line of greatest likelihood, or why there is none."""
    x, weight, events, has_certain = at
    if x.min() == x.max():
        return undefined("it needs two different probabilities between 0 and 1")
    happened, not_happened = x[events > 0], x[events < weight]
    if happened.min() >= not_happened.max() or not_happened.min() >= happened.max():
        return undefined("the probabilities separate the two outcomes, so the slope is unbounded")
    # from the share of events alone, on a scale of its own: from a line far off, Newton's steps can lead astray
    centre = float((weight * x).sum())
    scale = float(np.sqrt((weight * (x - centre) ** 2).sum()))
    features = np.stack([(x - centre) / scale, np.ones(len(x))], axis=1)
    share = float(events.sum())
    start = np.array([0.0, math.log(share) - math.log(float((weight - events).sum()))])
    line = logistic_fit(features, events / weight, weight, start)
    unmet = (events - weight * expit(features @ line)) @ features
    if not np.abs(unmet).max() <= 1e-9:
        return undefined("the probabilities all but separate the two outcomes, so the slope is not known")
    steepness, level = line.tolist()
    slope = steepness / scale
    intercept = level - slope * centre
    if has_certain and slope <= 0:
        return undefined("the line does not rise, which samples with a probability of exactly 0 or 1 do not allow")
    return Line(slope, intercept)


def shift_of(at: LogOdds) -> float:
    """The intercept of greatest likelihood where the slope is 1: expected events are then as many as observed."""
    x, weight, events, _ = at
    observed = float(events.sum())
    even = math.log(observed) - math.log(float((weight - events).sum()))
    low, high = even - float(x.max()), even - float(x.min())
    margin = 1e-9 * (1 + abs(low) + abs(high))
    return root(lambda a: float((weight * expit(a + x)).sum()) - observed, low - margin, high + margin, xtol=1e-14)


def _of_line(part: str) -> Callable[[Tally], float | Outcome]:
    def fit(t: Tally) -> Line | Outcome:
        at = log_odds_of(t)
        return at if isinstance(at, Outcome) else recalibration_line(at)

    def formula(t: Tally) -> float | Outcome:
        line: Line | Outcome = t.cached("recalibration line", lambda: fit(t))
        return line if isinstance(line, Outcome) else float(getattr(line, part))

    return formula


def _in_the_large(t: Tally) -> float | Outcome:
    at = log_odds_of(t)
    return at if isinstance(at, Outcome) else shift_of(at)


_COX = "Cox, Biometrika (1958)"
_MILLER = "Miller, Hui and Tierney, Statistics in Medicine (1991)"
_SLOPE, _INTERCEPT = _of_line("slope"), _of_line("intercept")
_SLOPE_NOTATION = r"b \text{ of } \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, "
_INTERCEPT_NOTATION = r"a \text{ of } \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, "

CALIBRATION_SLOPE = Metric(
    "calibration_slope",
    RECALIBRATION_TERMS,
    _SLOPE,
    title="Calibration slope",
    reading="Events against the log-odds of their probability; below 1 predictions are too extreme, above 1 too timid.",
    notation=f"{_SLOPE_NOTATION}p",
    ideal=1.0,
    direction="nearest",
    reference=_MILLER,
    views=OF_EVENTS,
)
CALIBRATION_INTERCEPT = Metric(
    "calibration_intercept",
    RECALIBRATION_TERMS,
    _INTERCEPT,
    title="Calibration intercept",
    reading="The log-odds of the event where the model says 1/2, after adjusting for the slope. Whether predictions "
    "are too high on the whole is calibration in the large.",
    notation=f"{_INTERCEPT_NOTATION}p",
    ideal=0.0,
    direction="nearest",
    reference=_MILLER,
    views=OF_ONE_EVENT,
)
CALIBRATION_IN_THE_LARGE = Metric(
    "calibration_in_the_large",
    RECALIBRATION_TERMS,
    _in_the_large,
    title="Calibration in the large",
    reading="By how much the log-odds of all predictions are too low; below 0, predictions are too high on the whole.",
    notation=r"a \text{ of } \mathrm{logit}\, P(y = 1) = a + \mathrm{logit}\, p",
    ideal=0.0,
    direction="nearest",
    reference=_MILLER,
    views=OF_ONE_EVENT,
)
CORRECTNESS_SLOPE = Metric(
    "correctness_slope",
    RECALIBRATION_TERMS,
    _SLOPE,
    title="Slope of correctness",
    reading="Correctness against the log-odds of confidence; below 1, confidences are too extreme.",
    notation=f"{_SLOPE_NOTATION}c",
    ideal=1.0,
    direction="nearest",
    reference=_COX,
    views=OF_PREDICTIONS,
)
CORRECTNESS_INTERCEPT = Metric(
    "correctness_intercept",
    RECALIBRATION_TERMS,
    _INTERCEPT,
    title="Intercept of correctness",
    reading="The log-odds of being correct where confidence is 1/2, after adjusting for the slope.",
    notation=f"{_INTERCEPT_NOTATION}c",
    ideal=0.0,
    direction="nearest",
    reference=_COX,
    views=OF_PREDICTIONS,
)
COX_SLOPE = Metric(
    "cox_slope",
    RECALIBRATION_TERMS,
    _SLOPE,
    title="Cox's calibration slope",
    reading="Correctness (of events, the event) against the log-odds of its probability; below 1, probabilities are "
    "too extreme.",
    notation=f"{_SLOPE_NOTATION}c",
    ideal=1.0,
    direction="nearest",
    reference=_COX,
    renamed="correctness_slope",
    renamed_of_events="calibration_slope",
)
COX_INTERCEPT = Metric(
    "cox_intercept",
    RECALIBRATION_TERMS,
    _INTERCEPT,
    title="Cox's calibration intercept",
    reading="The log-odds of being correct (of events, of the event) where the model says 1/2, after adjusting for the "
    "slope.",
    notation=f"{_INTERCEPT_NOTATION}c",
    ideal=0.0,
    direction="nearest",
    reference=_COX,
    views=ONE_A_ROW,
    renamed="correctness_intercept",
    renamed_of_events="calibration_intercept",
)


@function_of(CALIBRATION_SLOPE)
def calibration_slope() -> None:
    r"""Calibration slope: the slope b of the event on the log-odds of its predicted probability.

    1 if calibrated. Below 1, predictions are too extreme: high risks are too high and low risks too low, as after
    overfitting. Above 1 they are too timid.

    Parameters
    ----------
    of : {"event", "classes"}, default "event"
        Whether ``pos_label`` is the event, or each class in turn, of which the mean is returned.

    Returns
    -------
    float
        The slope; nan, with a warning, if it cannot be fitted: all outcomes are the same, there is one probability
        only, the probabilities separate events from non-events, or a sample with a probability of exactly 0 or 1 had
        the other outcome.

    See Also
    --------
    calibration_in_the_large : whether predictions are too high on the whole.
    correctness_slope : the slope of correctness on the confidence in the predicted label.

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, p

    fitted by maximum likelihood (logistic recalibration). A sample with a probability of exactly 0 or 1 that came out
    as predicted does not change the likelihood and is left out. It needs the rows; a :class:`Tally` is not enough.

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika (1958).
    Miller, Hui and Tierney, Validation techniques for logistic regression models, Statistics in Medicine (1991).

    Examples
    --------
    >>> event, risk = [1, 1, 1, 0, 1, 0, 0, 0], [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]
    >>> round(calibration_slope(event, risk), 3)
    0.5
    """


@function_of(CALIBRATION_INTERCEPT)
def calibration_intercept() -> None:
    r"""Calibration intercept: the intercept a of the event on the log-odds of its predicted probability.

    0 if calibrated. It is the log-odds of the event where the model says 1/2, and changes with the slope. To ask
    whether predictions are too high on the whole, use :func:`calibration_in_the_large`, which some texts also call the
    calibration intercept.

    Parameters
    ----------
    of : {"event"}, default "event"
        The intercept is of one event, ``pos_label``.

    Returns
    -------
    float
        The intercept; nan, with a warning, if it cannot be fitted (see :func:`calibration_slope`).

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, p

    References
    ----------
    Miller, Hui and Tierney, Validation techniques for logistic regression models, Statistics in Medicine (1991).

    Examples
    --------
    >>> event, risk = [1, 1, 1, 0, 1, 0, 0, 0], [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]
    >>> abs(round(calibration_intercept(event, risk), 3))
    0.0
    """


@function_of(CALIBRATION_IN_THE_LARGE)
def calibration_in_the_large() -> None:
    r"""Calibration in the large: the intercept a of the event on the log-odds of its probability, with slope 1.

    0 if as many events occur as were expected. Below 0 the model overpredicts: fewer events occur than expected.

    Parameters
    ----------
    of : {"event"}, default "event"
        Calibration in the large is of one event, ``pos_label``.

    Returns
    -------
    float
        The intercept; nan, with a warning, if all outcomes are the same, every probability is 0 or 1, or a sample with
        a probability of exactly 0 or 1 had the other outcome.

    See Also
    --------
    oe_ratio : the same question as a ratio of observed to expected events.

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + \mathrm{logit}\, p

    fitted by maximum likelihood, that is, logistic regression with the log-odds as offset. It needs the rows; a
    :class:`Tally` is not enough.

    References
    ----------
    Steyerberg, Clinical Prediction Models, Springer (2009).

    Examples
    --------
    >>> round(calibration_in_the_large([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]), 4)
    -1.0986
    """


@function_of(CORRECTNESS_SLOPE)
def correctness_slope() -> None:
    r"""Slope b of correctness on the log-odds of the confidence in the predicted label.

    1 if calibrated; below 1 confidences are too extreme, above 1 not extreme enough. It is not the calibration slope of
    an event: for that, use :func:`calibration_slope` with ``of="event"``.

    Returns
    -------
    float
        The slope; nan, with a warning, if it cannot be fitted (see :func:`calibration_slope`).

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c

    where y is whether the predicted label is correct, fitted by maximum likelihood. It needs the rows; a :class:`Tally`
    is not enough.

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika (1958).

    Examples
    --------
    >>> round(correctness_slope([1] * 8, [1, 1, 1, 0, 1, 0, 0, 0], [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]), 3)
    0.5
    """


@function_of(CORRECTNESS_INTERCEPT)
def correctness_intercept() -> None:
    r"""Intercept a of correctness on the log-odds of the confidence in the predicted label.

    0 if calibrated; below 0, accuracy is lower than confidence at even odds. It is not the calibration intercept of an
    event: for that, use :func:`calibration_intercept` with ``of="event"``.

    Returns
    -------
    float
        The intercept; nan, with a warning, if it cannot be fitted (see :func:`calibration_slope`).

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika (1958).

    Examples
    --------
    >>> abs(round(correctness_intercept([1] * 8, [1, 1, 1, 0, 1, 0, 0, 0], [0.9] * 4 + [0.1] * 4), 3))
    0.0
    """


@function_of(COX_SLOPE)
def cox_slope() -> None:
    r"""Cox's slope, under its former name: of correctness by default, of the event with ``of="event"``.

    Use :func:`correctness_slope` or :func:`calibration_slope`, which say which of the two they are.

    Returns
    -------
    float
        The slope; nan, with a warning, if it cannot be fitted (see :func:`calibration_slope`).

    Warns
    -----
    AmbiguousViewWarning
        If there are two classes and ``of`` is not given.

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika (1958).

    Examples
    --------
    >>> round(cox_slope(correct=[1, 1, 1, 0, 1, 0, 0, 0], confidence=[0.9] * 4 + [0.1] * 4), 3)
    0.5
    """


@function_of(COX_INTERCEPT)
def cox_intercept() -> None:
    r"""Cox's intercept, under its former name: of correctness by default, of the event with ``of="event"``.

    Use :func:`correctness_intercept` or :func:`calibration_intercept`, which say which of the two they are.

    Returns
    -------
    float
        The intercept; nan, with a warning, if it cannot be fitted (see :func:`calibration_slope`).

    Warns
    -----
    AmbiguousViewWarning
        If there are two classes and ``of`` is not given.

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika (1958).

    Examples
    --------
    >>> abs(round(cox_intercept(correct=[1, 1, 1, 0, 1, 0, 0, 0], confidence=[0.9] * 4 + [0.1] * 4), 3))
    0.0
    """

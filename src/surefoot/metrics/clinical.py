"""What clinicians ask for first: O/E, scaled Brier, Spiegelhalter's z, Hosmer and Lemeshow's chi squared."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any, Unpack

import numpy as np

from surefoot._io.arguments import check_whole
from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.core.view import OF_EVENTS, OF_ONE_EVENT, OF_PREDICTIONS
from surefoot.metrics.by_confidence import NOTHING, TERMS, levels
from surefoot.metrics.function import function_of, measure
from surefoot.metrics.proper import SQUARED_GAP
from surefoot.metrics.terms import CONFIDENCE, CORRECT, WEIGHT, WRONG
from surefoot.predictions.arguments import Columns, takes_predictions

LEAN = Term("lean of mistakes", lambda row: row.weight * (row.correct - row.confidence) * (row.doubt - row.confidence))
LEAN_VARIANCE = Term(
    "variance of lean by squared weight",
    lambda row: row.weight**2 * (row.doubt - row.confidence) ** 2 * row.confidence * row.doubt,
)


def _spiegelhalter(t: Tally) -> float | Outcome:
    if not t[LEAN_VARIANCE]:
        return undefined("every confidence is 0, 1/2 or 1, so the Brier score cannot vary")
    return t[LEAN] / math.sqrt(t[LEAN_VARIANCE])


SPIEGELHALTER_Z = Metric(
    "spiegelhalter_z",
    (LEAN, LEAN_VARIANCE),
    _spiegelhalter,
    title="Spiegelhalter's z",
    about="risk",
    reading="How far the Brier score is from its expected value under calibration, in standard deviations.",
    notation=r"\frac{\sum_i (y_i - c_i)(1 - 2 c_i)}{\sqrt{\sum_i (1 - 2 c_i)^2 c_i (1 - c_i)}}",
    ideal=0.0,
    direction="nearest",
    reference="Spiegelhalter, Statistics in Medicine (1986)",
    inferential=True,
    renamed="correctness_spiegelhalter_z",
)
CORRECTNESS_SPIEGELHALTER_Z = replace(
    SPIEGELHALTER_Z,
    name="correctness_spiegelhalter_z",
    title="Spiegelhalter's z of correctness",
    views=OF_PREDICTIONS,
    renamed="",
)


@cache
def hosmer_lemeshow_metric(n_groups: int = 10) -> Metric:
    """Hosmer and Lemeshow's chi squared over this many groups of equal size."""

    def formula(t: Tally) -> float | Outcome:
        at = levels(t)
        if not len(at.weight):
            return NOTHING
        upto = np.cumsum(at.rows)
        # the group of the last row of each confidence: rows of equal confidence stay together
        group = np.ceil(upto * n_groups / upto[-1] - 1e-9).astype(np.intp)
        # a row of mean weight is one row: the size of chi squared is that of so many
        unit = at.weight.sum() / at.rows.sum()
        rows, stated, seen = (np.bincount(group, x / unit) for x in (at.weight, at.weight * at.confidence, at.correct))
        rows, stated, seen = rows[rows > 0], stated[rows > 0], seen[rows > 0]
        spread = stated * (1 - stated / rows)
        if ((spread <= 0) & (np.abs(seen - stated) > 1e-12 * rows)).any():
            return math.inf
        held = spread > 0
        return float(((seen - stated)[held] ** 2 / spread[held]).sum())

    return Metric(
        "hosmer_lemeshow",
        TERMS,
        formula,
        title=f"Hosmer and Lemeshow's chi squared, {n_groups} groups",
        reading="Squared gaps over groups of samples; about the number of groups if the model is calibrated. It grows "
        "with the number of samples.",
        notation=r"\sum_g \frac{(O_g - E_g)^2}{E_g (1 - E_g / n_g)}",
        ideal=0.0,
        direction="lower",
        range=(0.0, math.inf),
        reference="Hosmer and Lemeshow, Communications in Statistics (1980)",
        inferential=True,
        renamed="correctness_hosmer_lemeshow",
    )


def correctness_hosmer_lemeshow_metric(n_groups: int = 10) -> Metric:
    """The same of correct predictions against confidences."""
    return replace(
        hosmer_lemeshow_metric(n_groups),
        name="correctness_hosmer_lemeshow",
        title=f"Hosmer and Lemeshow's chi squared of correctness, {n_groups} groups",
        views=OF_PREDICTIONS,
        renamed="",
    )


def _oe_ratio(t: Tally) -> float | Outcome:
    if t[CONFIDENCE]:
        return t[CORRECT] / t[CONFIDENCE]
    return math.inf if t[CORRECT] else undefined("no event was expected, and none occurred")


OE_RATIO = Metric(
    "oe_ratio",
    (CORRECT, CONFIDENCE),
    _oe_ratio,
    title="O/E ratio",
    reading="Observed over expected events; below 1, the model overpredicts.",
    notation=r"\frac{\sum_i y_i}{\sum_i p_i}",
    ideal=1.0,
    direction="nearest",
    range=(0.0, math.inf),
    reference="Debray et al., BMJ 356 (2017)",
    views=OF_ONE_EVENT,
)


def _scaled_brier(t: Tally) -> float | Outcome:
    # the score of a model that says the share of events of every sample
    uninformed = t[CORRECT] / t[WEIGHT] * (t[WRONG] / t[WEIGHT])
    if not uninformed:
        return undefined("all outcomes are the same, so there is no score to compare with")
    return 1 - t[SQUARED_GAP] / t[WEIGHT] / uninformed


SCALED_BRIER = Metric(
    "scaled_brier",
    (WEIGHT, SQUARED_GAP, CORRECT, WRONG),
    _scaled_brier,
    title="Scaled Brier score",
    about="score",
    reading="By how much the Brier score is better than that of the overall rate for every sample: 1 is perfect, 0 is "
    "no better.",
    notation=r"1 - \frac{\mathrm{Brier}}{\bar y (1 - \bar y)}",
    ideal=1.0,
    direction="higher",
    range=(-math.inf, 1.0),
    reference="Steyerberg et al., Epidemiology 21 (2010)",
    views=OF_EVENTS,
)


@function_of(OE_RATIO)
def oe_ratio() -> None:
    r"""O/E ratio: observed events over expected events.

    1 if as many events occur as the probabilities add up to. Below 1 the model overpredicts, above 1 it underpredicts.

    Parameters
    ----------
    of : {"event"}, default "event"
        The ratio is of one event, ``pos_label``.

    Returns
    -------
    float
        0 or more; infinite if events occurred and none was expected; nan, with a warning, if there is neither.

    See Also
    --------
    calibration_in_the_large : the same question on the scale of log-odds.

    Notes
    -----
    .. math:: \frac{O}{E} = \frac{\sum_i y_i}{\sum_i p_i}

    References
    ----------
    Debray et al., A guide to systematic review and meta-analysis of prediction model performance, BMJ 356 (2017).

    Examples
    --------
    >>> oe_ratio([1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5])
    0.5
    """


@function_of(SCALED_BRIER)
def scaled_brier() -> None:
    r"""Scaled Brier score: by how much the Brier score is better than that of an uninformed model.

    Higher is better. 1 is perfect; 0 is no better than giving every sample the overall rate; below 0 is worse than
    that. Also known as the index of prediction accuracy.

    Parameters
    ----------
    of : {"event", "classes"}, default "event"
        Whether ``pos_label`` is the event, or each class in turn, of which the mean is returned.

    Returns
    -------
    float
        At most 1; nan, with a warning, if all outcomes are the same.

    Notes
    -----
    .. math:: 1 - \frac{\mathrm{Brier}}{\bar y (1 - \bar y)}

    where :math:`\bar y` is the share of events (of predictions, that of correct ones) in these samples.

    References
    ----------
    Steyerberg et al., Assessing the performance of prediction models, Epidemiology 21 (2010).

    Examples
    --------
    >>> scaled_brier(y_true=[1, 0, 0, 0], probabilities=[0.75, 0.25, 0.25, 0.25])
    0.6666666666666667
    """


@function_of(SPIEGELHALTER_Z)
def spiegelhalter_z() -> None:
    r"""Spiegelhalter's z: how far the Brier score is from its expected value under calibration.

    In standard deviations: values beyond ±1.96 have a chance of 5% if the model is calibrated. With ``of="event"`` it
    is the textbook's, of events against their probabilities. Of predictions, it is that of correctness against
    confidence, which is also called :func:`correctness_spiegelhalter_z`.

    Returns
    -------
    float
        0 on average if calibrated; nan, with a warning, if every probability is 0, 1/2 or 1.

    Warns
    -----
    AmbiguousViewWarning
        If there are two classes and ``of`` is not given.

    Notes
    -----
    .. math:: z = \frac{\sum_i (y_i - p_i)(1 - 2 p_i)}{\sqrt{\sum_i (1 - 2 p_i)^2 p_i (1 - p_i)}}

    It gives samples near 0 and 1 little more weight than others. Each term stays the same if an event and its opposite
    change places: with two classes, of which the more probable one is predicted, both views give the same value.

    References
    ----------
    Spiegelhalter, Probabilistic prediction in patient management and clinical trials, Statistics in Medicine (1986).

    Examples
    --------
    >>> round(spiegelhalter_z(correct=[1, 1, 0], confidence=[0.9, 0.9, 0.9]), 4)
    1.3472
    """


@function_of(CORRECTNESS_SPIEGELHALTER_Z)
def correctness_spiegelhalter_z() -> None:
    r"""Spiegelhalter's z of correctness against the confidence in the predicted label.

    In standard deviations: values beyond ±1.96 have a chance of 5% if the model is calibrated. Positive if errors carry
    too much confidence (for confidences above 1/2). For events, use :func:`spiegelhalter_z` with ``of="event"``.

    Returns
    -------
    float
        0 on average if calibrated; nan, with a warning, if every confidence is 0, 1/2 or 1.

    Notes
    -----
    .. math:: z = \frac{\sum_i (y_i - c_i)(1 - 2 c_i)}{\sqrt{\sum_i (1 - 2 c_i)^2 c_i (1 - c_i)}}

    References
    ----------
    Spiegelhalter, Probabilistic prediction in patient management and clinical trials, Statistics in Medicine (1986).

    Examples
    --------
    >>> round(correctness_spiegelhalter_z([1, 1, 1], [1, 1, 0], [0.9, 0.9, 0.9]), 4)
    1.3472
    """


@takes_predictions
def hosmer_lemeshow(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_groups: int = 10,
    **columns: Unpack[Columns],
) -> float:
    r"""Hosmer and Lemeshow's chi squared of observed against expected events.

    Lower is better. Compare it with the chi squared distribution: with ``n_groups`` degrees of freedom for new data
    (10 for the usual ten groups), with two fewer (8) for the data that the model was fitted to. With ``of="event"`` it
    is the textbook's. Of predictions, it compares correct predictions with confidences, and is also called
    :func:`correctness_hosmer_lemeshow`.

    Parameters
    ----------
    n_groups : int, default=10
        The number of groups of equal size, in order of probability.

    Returns
    -------
    float
        0 or more; infinite if a group of probability 0 has an event, or a group of probability 1 has a non-event.

    Warns
    -----
    AmbiguousViewWarning
        If there are two classes and ``of`` is not given.

    Notes
    -----
    .. math:: \sum_g \frac{(O_g - E_g)^2}{E_g (1 - E_g / n_g)}

    Samples of equal probability stay together, in the group of the last. It grows with the number of samples and
    depends on the groups. It takes O(N log N) time and needs the rows; a :class:`Tally` is not enough.

    References
    ----------
    Hosmer and Lemeshow, Goodness of fit tests for the multiple logistic regression model, Communications in Statistics
    (1980).

    Examples
    --------
    >>> hosmer_lemeshow(correct=[1, 1, 0, 1], confidence=[0.5, 0.5, 0.75, 0.75], n_groups=2)
    2.6666666666666665
    """
    check_whole("n_groups", n_groups)
    return measure(hosmer_lemeshow_metric(int(n_groups)), x, second, third, columns)


@takes_predictions
def correctness_hosmer_lemeshow(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_groups: int = 10,
    **columns: Unpack[Columns],
) -> float:
    r"""Hosmer and Lemeshow's chi squared of observed against expected correct predictions.

    Lower is better. Compare it with the chi squared distribution with ``n_groups`` degrees of freedom. For events, use
    :func:`hosmer_lemeshow` with ``of="event"``.

    Parameters
    ----------
    n_groups : int, default=10
        The number of groups of equal size, in order of confidence.

    Returns
    -------
    float
        0 or more; infinite if a group of confidence 1 has an error, or a group of confidence 0 a correct sample.

    Notes
    -----
    .. math:: \sum_g \frac{(O_g - E_g)^2}{E_g (1 - E_g / n_g)}

    Samples of equal confidence stay together, in the group of the last. It needs the rows; a :class:`Tally` is not
    enough.

    References
    ----------
    Hosmer and Lemeshow, Goodness of fit tests for the multiple logistic regression model, Communications in Statistics
    (1980).

    Examples
    --------
    >>> correctness_hosmer_lemeshow([1, 1, 1, 1], [1, 1, 0, 1], [0.5, 0.5, 0.75, 0.75], n_groups=2)
    2.6666666666666665
    """
    check_whole("n_groups", n_groups)
    return measure(correctness_hosmer_lemeshow_metric(int(n_groups)), x, second, third, columns)

"""What clinicians ask for first: Spiegelhalter's z, Hosmer and Lemeshow's chi squared, Cox's slope and intercept."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Unpack

import numpy as np

from surefoot._io.arguments import check_whole
from surefoot._stats.logistic import logistic_fit
from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.metrics.by_confidence import NOTHING, TERMS, levels
from surefoot.metrics.function import function_of, measure
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
    )


def _cox_line(t: Tally) -> dict[str, float] | Outcome:
    """Slope and intercept of the logistic regression of correctness on the log-odds of confidence."""
    at = levels(t)
    inside = (at.confidence > 0) & (at.confidence < 1)
    x = np.log(at.confidence[inside]) - np.log1p(-at.confidence[inside])
    total = max(float(at.weight[inside].sum()), 5e-324)
    weight, correct = at.weight[inside] / total, at.correct[inside] / total
    if len(x) < 2:
        return undefined("it needs two different confidences between 0 and 1")
    if not correct.any() or (correct >= weight).all():
        return undefined("all rows are correct, or all are wrong, so no line can be fitted")
    right, wrong = x[correct > 0], x[correct < weight]
    if right.min() >= wrong.max() or wrong.min() >= right.max():
        return undefined("confidence separates correct rows from wrong ones, so the slope is unbounded")
    features = np.stack([x, np.ones(len(x))], axis=1)
    slope, intercept = logistic_fit(features, correct / weight, weight, np.array([1.0, 0.0])).tolist()
    return {"slope": slope, "intercept": intercept}


def _of_cox_line(part: str) -> Callable[[Tally], float | Outcome]:
    def formula(t: Tally) -> float | Outcome:
        line: dict[str, float] | Outcome = t.cached("cox line", lambda: _cox_line(t))
        return line if isinstance(line, Outcome) else line[part]

    return formula


_COX = "Cox, Biometrika (1958)"
COX_SLOPE = Metric(
    "cox_slope",
    TERMS,
    _of_cox_line("slope"),
    title="Cox's calibration slope",
    reading="Correctness against the log-odds of confidence; below 1, confidences are too extreme.",
    notation=r"b \text{ of } \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c",
    ideal=1.0,
    direction="nearest",
    reference=_COX,
)
COX_INTERCEPT = Metric(
    "cox_intercept",
    TERMS,
    _of_cox_line("intercept"),
    title="Cox's calibration intercept",
    reading="Below 0, confidences are too high on the whole, after adjusting for the slope.",
    notation=r"a \text{ of } \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c",
    ideal=0.0,
    direction="nearest",
    reference=_COX,
)


@function_of(SPIEGELHALTER_Z)
def spiegelhalter_z() -> None:
    r"""Spiegelhalter's z: how far the Brier score is from its expected value under calibration.

    In standard deviations: values beyond ±1.96 have a chance of 5% if the model is calibrated. Positive if errors carry
    too much confidence (for confidences above 1/2).

    Returns
    -------
    float
        0 on average if calibrated; nan, with a warning, if every confidence is 0, 1/2 or 1.

    Notes
    -----
    .. math:: z = \frac{\sum_i (y_i - c_i)(1 - 2 c_i)}{\sqrt{\sum_i (1 - 2 c_i)^2 c_i (1 - c_i)}}

    It gives samples near 0 and 1 little more weight than others.

    References
    ----------
    Spiegelhalter, Probabilistic prediction in patient management and clinical trials, Statistics in Medicine (1986).

    Examples
    --------
    >>> round(spiegelhalter_z([1, 1, 1], [1, 1, 0], [0.9, 0.9, 0.9]), 4)
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
    r"""Hosmer and Lemeshow's chi squared of observed against expected correct predictions.

    Lower is better. Compare it with the chi squared distribution with ``n_groups`` degrees of freedom (two fewer for a
    model that was fitted to these rows).

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

    Samples of equal confidence stay together, in the group of the last. It takes O(N log N) time and needs the rows; a
    :class:`Tally` is not enough.

    References
    ----------
    Hosmer and Lemeshow, Goodness of fit tests for the multiple logistic regression model, Communications in Statistics
    (1980).

    Examples
    --------
    >>> hosmer_lemeshow([1, 1, 1, 1], [1, 1, 0, 1], [0.5, 0.5, 0.75, 0.75], n_groups=2)
    2.6666666666666665
    """
    check_whole("n_groups", n_groups)
    return measure(hosmer_lemeshow_metric(int(n_groups)), x, second, third, columns)


@function_of(COX_SLOPE)
def cox_slope() -> None:
    r"""Cox's calibration slope: the slope b of correctness on the log-odds of confidence.

    1 if calibrated; below 1 confidences are too extreme, above 1 not extreme enough.

    Returns
    -------
    float
        The slope; nan, with a warning, if it cannot be fitted (all correct, all wrong, one confidence only, or correct
        and wrong samples separated by confidence).

    See Also
    --------
    cox_intercept : the intercept a.

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c

    fitted by maximum likelihood to the samples with confidence between 0 and 1. It needs the rows; a :class:`Tally` is
    not enough.

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika (1958).

    Examples
    --------
    >>> round(cox_slope([1] * 8, [1, 1, 1, 0, 1, 0, 0, 0], [0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]), 3)
    0.5
    """


@function_of(COX_INTERCEPT)
def cox_intercept() -> None:
    r"""Cox's calibration intercept: the intercept a of correctness on the log-odds of confidence.

    0 if calibrated; below 0, accuracy is lower than confidence at even odds.

    Returns
    -------
    float
        The intercept; nan, with a warning, if it cannot be fitted (see :func:`cox_slope`).

    Notes
    -----
    .. math:: \mathrm{logit}\, P(y = 1) = a + b\, \mathrm{logit}\, c

    References
    ----------
    Cox, Two further applications of a model for binary regression, Biometrika (1958).

    Examples
    --------
    >>> abs(round(cox_intercept([1] * 8, [1, 1, 1, 0, 1, 0, 0, 0], [0.9] * 4 + [0.1] * 4), 3))
    0.0
    """

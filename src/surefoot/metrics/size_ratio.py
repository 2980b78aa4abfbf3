"""Calibrated size ratio: what the mistakes cost at the confidence they carried."""

from __future__ import annotations

import math

from surefoot.core.expression import reciprocal
from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.metrics.function import function_of
from surefoot.metrics.terms import CERTAIN_WRONG, DOUBTFUL

# rows that claim certainty have no finite surprise: they add 0 here and are counted apart
SURPRISE = Term("surprise", lambda row: row.weight * row.wrong * reciprocal(row.doubt))
#: The variance of a calibrated row's surprise, c/q; a weight multiplies the surprise, so its square the variance.
ODDS = Term("odds by squared weight", lambda row: row.weight**2 * row.confidence * reciprocal(row.doubt))

_NO_DOUBT = "no row admits doubt, so there is nothing to compare mistakes with"


def _csr(t: Tally) -> float | Outcome:
    if t[CERTAIN_WRONG]:
        return math.inf
    return t[SURPRISE] / t[DOUBTFUL] if t[DOUBTFUL] else undefined(_NO_DOUBT)


def _sigma(t: Tally) -> float | Outcome:
    return math.sqrt(t[ODDS]) / t[DOUBTFUL] if t[DOUBTFUL] else undefined(_NO_DOUBT)


def _z(t: Tally) -> float | Outcome:
    ratio, sigma = _csr(t), _sigma(t)
    if ratio == math.inf:
        return math.inf
    if isinstance(ratio, Outcome) or isinstance(sigma, Outcome):
        return undefined(_NO_DOUBT)
    if sigma == math.inf and ratio <= 1:
        return 0.0  # less than 1e-150 below
    if sigma == math.inf:
        return undefined("the odds add up to more than a float can hold")
    # every confidence is 0: a calibrated model is then wrong on every row, without any spread
    if sigma == 0:
        return 0.0 if ratio == 1 else -math.inf
    return (ratio - 1) / sigma


def _p_risk(t: Tally) -> float | Outcome:
    z = _z(t)
    if isinstance(z, Outcome):
        return z
    return normal_cdf(z) if z > 0 else 0.0


def normal_cdf(z: float) -> float:
    """The standard normal distribution function, accurate in both tails."""
    return math.erfc(-z / math.sqrt(2)) / 2


_TERMS = (DOUBTFUL, SURPRISE, CERTAIN_WRONG)

CSR = Metric(
    "csr",
    _TERMS,
    _csr,
    title="Calibrated size ratio",
    about="risk",
    reading="The mistakes are those of a calibrated model on this many times as many rows: above 1 they carry "
    "too much confidence.",
    notation=r"\frac1N \sum_i \frac{[\hat y_i \ne y_i]}{1 - c_i}",
    ideal=1.0,
    direction="nearest",
    range=(0.0, math.inf),
)
CSR_SIGMA = Metric(
    "csr_sigma",
    (DOUBTFUL, ODDS),
    _sigma,
    title="Standard deviation of CSR under calibration",
    about="risk",
    reading="How far CSR would stray from 1 by chance if the model were calibrated.",
    notation=r"\frac1N \sqrt{\sum_i \frac{c_i}{1 - c_i}}",
    range=(0.0, math.inf),
    inferential=True,
)
CSR_Z = Metric(
    "csr_z",
    (*_TERMS, ODDS),
    _z,
    title="CSR in standard deviations from 1",
    about="risk",
    reading="The paper's z. One row of tiny doubt can blind it, and its normal law is rough near certainty: see "
    "the exact p-value.",
    notation=r"\frac{\mathrm{CSR} - 1}{\sigma}",
    ideal=0.0,
    direction="nearest",
    inferential=True,
)
P_RISK = Metric(
    "p_risk",
    (*_TERMS, ODDS),
    _p_risk,
    title="Probability of risk, by the paper's normal law",
    about="risk",
    reading="The paper's probability that the profile is risky, 0 where CSR is at most 1; kept for comparison "
    "with the paper.",
    notation=r"\Phi(z) \text{ if } \mathrm{CSR} > 1 \text{ else } 0",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    inferential=True,
)


@function_of(CSR)
def csr() -> None:
    r"""How many times larger calibrated data would have to be to show these mistakes.

    .. math:: \mathrm{CSR} = \frac1N \sum_{i:\,\hat y_i \ne y_i} \frac{1}{1 - c_i}

    1 under calibration, above 1 when mistakes carry too much confidence, infinite when a row that claimed certainty is
    wrong. Rows that claim certainty and are right are left out; if no others remain, nan with a warning. With weights
    it is the weighted mean. Arguments as :meth:`Predictions.from_labels`, or a :class:`Predictions`.

    Examples
    --------
    >>> csr([1, 0, 1, 1], [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.75])
    1.0
    """


@function_of(CSR_SIGMA)
def csr_sigma() -> None:
    r"""The standard deviation CSR would have on these confidences if they were calibrated.

    .. math:: \sigma = \frac{1}{\sum_i w_i} \sqrt{\sum_i w_i^2 \frac{c_i}{1 - c_i}}

    Depends on all rows, right and wrong. Weights enter squared: a row of weight 2 is one draw that counts double, not
    two draws. Rows that claim certainty are left out. Arguments as :func:`csr`.

    Examples
    --------
    >>> csr_sigma([1, 0, 1, 1], [1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5])
    0.5
    """


@function_of(CSR_Z)
def csr_z() -> None:
    r"""How many standard deviations CSR lies above 1.

    .. math:: z = \frac{\mathrm{CSR} - 1}{\sigma}

    Infinite when a row that claimed certainty is wrong. Where confidences crowd near 1 its law is far from normal: read
    it beside CSR, not instead. Arguments as :func:`csr`.

    Examples
    --------
    >>> csr_z([1, 0, 1, 1], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5])
    1.0
    """


@function_of(P_RISK)
def p_risk() -> None:
    r"""The paper's probability that the confidences are risky.

    .. math:: P_\mathrm{risk} = \Phi(z) \text{ if } \mathrm{CSR} > 1, \text{ else } 0

    1 when a row that claimed certainty is wrong. It rests on a normal law that does not hold where confidences crowd
    near 1. Arguments as :func:`csr`.

    Examples
    --------
    >>> round(p_risk([1, 0, 1, 1], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]), 4)
    0.8413
    """

"""Calibrated size ratio: what errors cost at the confidence they carry."""

from __future__ import annotations

import math

from surefoot.core.expression import reciprocal
from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.metrics.function import function_of
from surefoot.metrics.terms import CERTAIN_WRONG, DOUBTFUL

# rows of confidence 1 have no finite surprise: they add 0 here and are counted apart
SURPRISE = Term("surprise", lambda row: row.weight * row.wrong * reciprocal(row.doubt))
#: The variance of a calibrated row's surprise, c/q; a weight multiplies the surprise, so its square the variance.
ODDS = Term("odds by squared weight", lambda row: row.weight**2 * row.confidence * reciprocal(row.doubt))

_NO_DOUBT = "every confidence is 1, so no errors are expected to compare with"


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
    reading="Errors weighted by 1 / doubt, over what a calibrated model has on average: above 1 they carry "
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
    reading="The paper's z. It assumes a normal distribution, a poor fit near certainty: see the exact p-value.",
    notation=r"\frac{\mathrm{CSR} - 1}{\sigma}",
    ideal=0.0,
    direction="nearest",
    inferential=True,
)
P_RISK = Metric(
    "p_risk",
    (*_TERMS, ODDS),
    _p_risk,
    title="Probability of risk (normal approximation)",
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
    r"""Calibrated size ratio: how many times more calibrated samples it takes to make these errors.

    1 if the model is calibrated; above 1 if errors carry too much confidence; infinite if a sample of confidence 1 is
    wrong.

    Returns
    -------
    float
        From 0 to infinity; nan, with a warning, if every confidence is 1 and every sample is correct.

    See Also
    --------
    risk_test : whether CSR is larger than chance explains.

    Notes
    -----
    .. math:: \mathrm{CSR} = \frac1N \sum_{i:\,\hat y_i \ne y_i} \frac{1}{1 - c_i}

    Correct samples of confidence 1 are left out. With weights it is the weighted mean.

    References
    ----------
    Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026).

    Examples
    --------
    >>> csr([1, 0, 1, 1], [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.75])
    1.0
    """


@function_of(CSR_SIGMA)
def csr_sigma() -> None:
    r"""Standard deviation that CSR would have if these confidences were calibrated.

    It says how far CSR strays from 1 by chance.

    Returns
    -------
    float
        0 or more; nan, with a warning, if every confidence is 1.

    Notes
    -----
    .. math:: \sigma = \frac{1}{\sum_i w_i} \sqrt{\sum_i w_i^2 \frac{c_i}{1 - c_i}}

    It depends on all samples, correct and wrong. Weights enter squared: a sample of weight 2 is one draw that counts
    double, not two draws. Samples of confidence 1 are left out.

    References
    ----------
    Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026).

    Examples
    --------
    >>> csr_sigma([1, 0, 1, 1], [1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5])
    0.5
    """


@function_of(CSR_Z)
def csr_z() -> None:
    r"""How many standard deviations CSR lies above 1.

    Where confidences are near 1, its distribution is far from normal: read it beside CSR, not instead of it.

    Returns
    -------
    float
        0 if CSR is 1; infinite if a sample of confidence 1 is wrong; nan, with a warning, if every confidence is 1.

    See Also
    --------
    risk_test : the exact p-value.

    Notes
    -----
    .. math:: z = \frac{\mathrm{CSR} - 1}{\sigma}

    References
    ----------
    Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026).

    Examples
    --------
    >>> csr_z([1, 0, 1, 1], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5])
    1.0
    """


@function_of(P_RISK)
def p_risk() -> None:
    r"""The paper's probability that the confidences are risky.

    It assumes a normal distribution, which is a poor fit where confidences are near 1; :func:`risk_test` is exact.

    Returns
    -------
    float
        From 0 to 1; 0 if CSR is at most 1, and 1 if a sample of confidence 1 is wrong.

    See Also
    --------
    risk_test : the exact p-value.

    Notes
    -----
    .. math:: P_\mathrm{risk} = \Phi(z) \text{ if } \mathrm{CSR} > 1, \text{ else } 0

    References
    ----------
    Martin-Maroto, Abderrahaman-Elena and de Polavieja, Beyond ECE (2026).

    Examples
    --------
    >>> round(p_risk([1, 0, 1, 1], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]), 4)
    0.8413
    """

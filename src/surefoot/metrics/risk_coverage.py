"""Selective prediction: errors among the most confident samples, averaged over how many of them are accepted."""

from __future__ import annotations

import numpy as np

from surefoot.core.metric import Metric, Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.view import OF_PREDICTIONS
from surefoot.metrics.by_confidence import NOTHING
from surefoot.metrics.confidence_order import ORDER, confidence_order
from surefoot.metrics.function import function_of


def _aurc(t: Tally) -> float | Outcome:
    accepted = confidence_order(t).falling()
    if not len(accepted.wrong):
        return NOTHING
    weight = accepted.weight
    return float((weight * np.cumsum(accepted.wrong) / np.cumsum(weight)).sum() / weight.sum())


def _aurc_error(t: Tally) -> float:
    """How far cells can put AURC off.

    Of a cell with weight ``m``, errors ``e``, and errors ``E`` in weight ``k`` before it: at best its correct rows come
    first and as one, then its errors one by one, which for ever smaller rows is an integral; at worst its errors come
    first and as one.
    """
    accepted = confidence_order(t).falling()
    if accepted.is_exact:
        return 0.0
    of_cells = accepted.is_cell
    m, e = accepted.weight, accepted.wrong
    k, errors = np.cumsum(m) - m, np.cumsum(e) - e
    total = m.sum()
    m, e, k, errors = m[of_cells], e[of_cells], k[of_cells], errors[of_cells]
    right = m - e
    stated = m * (errors + e) / (k + m)
    # correct rows, then the integral of (E + v) / (k + right + v) over the errors
    best = right * _share(errors, k + right) + e - (k + right - errors) * _log_ratio(k + m, k + right)
    worst = e * _share(errors + e, k + e) + (errors + e) * _log_ratio(k + m, k + e)
    return float(np.maximum(stated - best, worst - stated).clip(min=0).sum() / total)


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share


def _log_ratio(more: Floats, less: Floats) -> Floats:
    """Their logarithm; 0 where there is nothing below, as what it is multiplied with is 0 then."""
    return np.log(np.divide(more, less, out=np.ones(len(more)), where=less > 0))


def _augrc(t: Tally) -> float | Outcome:
    accepted = confidence_order(t).falling()
    if not len(accepted.wrong):
        return NOTHING
    weight, wrong = accepted.weight, accepted.wrong
    return float((weight * (np.cumsum(wrong) - wrong / 2)).sum() / weight.sum() ** 2)


def _augrc_error(t: Tally) -> float:
    """Half of the pairs of an error and a correct row that share a cell: in either order they count one or none."""
    order = confidence_order(t)
    return float((order.wrong * order.correct)[order.is_cell].sum() / 2 / order.weight.sum() ** 2)


AURC = Metric(
    "aurc",
    ORDER,
    _aurc,
    title="Area under the risk-coverage curve (AURC)",
    about="value",
    reading="Error rate among the accepted samples, averaged over all thresholds of confidence.",
    notation=r"\frac1N \sum_i \frac{\sum_j [c_j \ge c_i]\,[\hat y_j \ne y_j]}{\sum_j [c_j \ge c_i]}",
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference="Geifman, Uziel and El-Yaniv, ICLR (2019)",
    views=OF_PREDICTIONS,
    error=_aurc_error,
)
AUGRC = Metric(
    "augrc",
    ORDER,
    _augrc,
    title="Area under the generalized risk-coverage curve (AUGRC)",
    about="value",
    reading="Share of all samples that are accepted errors, averaged over all coverages.",
    notation=r"\frac{1}{N^2} \sum_{i,j} \Bigl([c_j > c_i] + \tfrac12 [c_j = c_i]\Bigr) [\hat y_j \ne y_j]",
    ideal=0.0,
    direction="lower",
    range=(0.0, 0.5),
    reference="Traub et al., NeurIPS (2024)",
    views=OF_PREDICTIONS,
    error=_augrc_error,
)


@function_of(AURC)
def aurc() -> None:
    r"""Area under the risk-coverage curve: the error rate of accepted samples, averaged over thresholds.

    Lower is better. Accept the samples whose confidence reaches a threshold: the risk is their error rate, the coverage
    their share. AURC averages the risk over the thresholds that the samples set. It rewards a low error rate as well as
    confidences that tell errors from correct predictions, and says nothing about calibration.

    Returns
    -------
    float
        From 0 to 1; 0 if there is no error.

    See Also
    --------
    augrc : weighs every error alike, however few samples are accepted with it.

    Notes
    -----
    .. math:: \frac1N \sum_i r(c_i), \quad
              r(\tau) = \frac{\sum_j [c_j \ge \tau]\,[\hat y_j \ne y_j]}{\sum_j [c_j \ge \tau]}

    Samples of equal confidence are accepted together, so the order of rows does not matter; where all confidences
    differ, this is the usual mean over the N most confident, N - 1 most confident, ... samples. Some packages integrate
    by trapezoids instead, which differs by about 1 / N. A :class:`Tally` holds the confidences in cells when there are
    more than 4096 values; then :meth:`Metric.bound` says how far off it may be.

    References
    ----------
    Geifman and El-Yaniv, Selective classification for deep neural networks, NeurIPS (2017).
    Geifman, Uziel and El-Yaniv, Bias-reduced uncertainty estimation for deep neural classifiers, ICLR (2019).

    Examples
    --------
    >>> aurc([1, 1, 1, 1], [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.3333333333333333
    """


@function_of(AUGRC)
def augrc() -> None:
    r"""Area under the generalized risk-coverage curve: the share of accepted errors, averaged over coverages.

    Lower is better. It is the chance that a random sample is an error and more confident than another: how often a
    silent failure passes, whatever the threshold.

    Returns
    -------
    float
        From 0 to 0.5; 0 if there is no error, 0.5 if nothing is correct.

    See Also
    --------
    aurc : divides by the samples that are accepted, so that the most confident errors weigh most.

    Notes
    -----
    .. math:: \frac{1}{N^2} \sum_{i,j} \Bigl([c_j > c_i] + \tfrac12 [c_j = c_i]\Bigr) [\hat y_j \ne y_j]
              = (1 - \mathrm{AUROC})\, a (1 - a) + \tfrac12 (1 - a)^2

    where a is the accuracy and AUROC is that of confidence for correctness. Ties count one half, so the order of rows
    does not matter. A :class:`Tally` holds the confidences in cells when there are more than 4096 values; then
    :meth:`Metric.bound` says how far off it may be.

    References
    ----------
    Traub et al., Overcoming common flaws in the evaluation of selective classification systems, NeurIPS (2024).

    Examples
    --------
    >>> augrc([1, 1, 1, 1], [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6])
    0.1875
    """

"""Calibration errors over parts of the range of confidence: the worst interval, and two bins with any border."""

from __future__ import annotations

import numpy as np

from surefoot.core.metric import Metric, Outcome
from surefoot.core.tally import Tally
from surefoot.metrics.by_confidence import NOTHING, TERMS, levels
from surefoot.metrics.cumulative import ECCE_R
from surefoot.metrics.function import function_of


def _atb(t: Tally) -> float | Outcome:
    """Between two neighbouring confidences the bins are the same wherever the border lies."""
    at = levels(t)
    if not len(at.weight):
        return NOTHING
    below = np.append(0.0, np.cumsum(at.gap)) / at.weight.sum()
    above = below[-1] - below
    return float((np.diff(at.confidence, prepend=0.0, append=1.0) * (below**2 + above**2)).sum())


ATB = Metric(
    "atb",
    TERMS,
    _atb,
    title="Averaged two-bin calibration error (ATB)",
    reading=(
        "Squared gaps of two bins, below and above a border, averaged over the border; in expectation, no model gains "
        "by misstating its probabilities."
    ),
    notation=(
        r"\int_0^1 \Bigl(\frac1N \sum_{c_i < q} (y_i - c_i)\Bigr)^2 "
        r"+ \Bigl(\frac1N \sum_{c_i \ge q} (y_i - c_i)\Bigr)^2 \, dq"
    ),
    ideal=0.0,
    direction="lower",
    range=(0.0, 1.0),
    reference="Hartline, Hu and Wu, COLT (2026)",
)


@function_of(ATB)
def atb() -> None:
    r"""Averaged two-bin calibration error: squared gaps below and above a border, averaged over all borders.

    Lower is better. It is truthful: in expectation over the outcomes, a model gets its least value by stating the true
    probabilities, also on a small sample. Other calibration errors reward models that misstate them. It is a squared
    error: compare its square root with ECE.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    ecce_r : the largest gap over any interval of confidence.

    Notes
    -----
    .. math:: \int_0^1 \Bigl(\frac1N \sum_{i : c_i < q} (y_i - c_i)\Bigr)^2
              + \Bigl(\frac1N \sum_{i : c_i \ge q} (y_i - c_i)\Bigr)^2 \, dq

    The integral is a sum over the distinct confidences, and exact. A calibrated model does not get 0 on a sample, but
    on average the mean of c (1 - c), divided by N. It takes O(N log N) time and needs the rows; a :class:`Tally` is not
    enough.

    References
    ----------
    Hartline, Hu and Wu, A perfectly truthful calibration measure, COLT (2026).

    Examples
    --------
    >>> atb([1, 1], [1, 0], [0.75, 0.25])
    0.015625
    """


@function_of(ECCE_R)
def cutoff_ce() -> None:
    r"""Cutoff calibration error: the largest gap between correctness and confidence over any interval of confidence.

    Lower is better. It is another name of :func:`ecce_r`: the sum over an interval is the difference of two cumulative
    sums, so the largest over all intervals is the range of the cumulative differences. The authors arrived at it from
    decisions: it bounds what anyone who acts on thresholds of confidence can lose to miscalibration, and it can be
    estimated from a sample, where ECE cannot.

    Returns
    -------
    float
        From 0 to 1; the same as :func:`ecce_r`.

    See Also
    --------
    ecce_r : the same number.
    ecce_test : how large it is by chance.

    Notes
    -----
    .. math:: \sup_{I} \Bigl|\frac1N \sum_{i : c_i \in I} (y_i - c_i)\Bigr|, \quad I \text{ an interval in } [0, 1]

    Because it is the same number, it is not listed again in ``surefoot.metrics.ALL``.

    References
    ----------
    Rossellini, Soloff, Barber, Ren and Willett, Can a calibration metric be both testable and actionable?, COLT (2025).
    Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, Metrics of calibration for probabilistic predictions, JMLR (2022).

    Examples
    --------
    >>> cutoff_ce([1, 1, 1], [1, 0, 1], [0.5, 0.75, 1.0])
    0.25
    """

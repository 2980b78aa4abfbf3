r"""Evidence that may be looked at whenever one likes: likelihood ratios of overconfidence against calibration.

For any alternative that says how often rows of each doubt are wrong, the likelihood ratio is, if confidences are not
too high, a fair or losing bet: its mean is at most 1, whenever one stops. The e-value is a mixture of 39 such bets:
accuracy falls short by a factor everywhere (deflation, the direction of CSR), errors are a power of doubt, or only the
most confident rows are too confident. P(e-value ever reaches 1/a) <= a.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._io.arguments import check_level
from surefoot._stats.logarithms import log_mean, log_sum
from surefoot.core.doubt_table import CUTS
from surefoot.core.table import Floats
from surefoot.risk.law.counts import Counts

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bet:
    """One alternative, and the share of the stake it gets.

    Accuracy is (1 - ``shortfall``) times confidence where doubt is below ``below``; or, if there is a ``power``,
    mistakes come with probability doubt ** power.
    """

    share: float
    shortfall: float = 0.0
    below: float = math.inf
    power: float | None = None


def factors(bets: Sequence[Bet], doubt: Floats, confidence: Floats, surprise: Flags) -> Floats:
    """What each bet multiplies its stake by on each row: its likelihood ratio against calibration."""
    # the ratio of a deflated model is 1 + shortfall (Z - 1) with Z = [surprise] / doubt
    excess = surprise / doubt - 1
    within = {below: np.where(doubt < below, excess, 0.0) for below in {bet.below for bet in bets} if below < math.inf}
    # from whichever of doubt and confidence is small, so that no digits are lost
    small = confidence < 0.01
    log_doubt = np.log(doubt)
    log_doubt[small] = np.log1p(-confidence[small])
    made = np.empty((len(bets), len(doubt)))
    for row, bet in zip(made, bets, strict=True):
        if bet.power is None:
            np.multiply(within.get(bet.below, excess), bet.shortfall, out=row)
            row += 1
        else:
            wrong = np.exp((bet.power - 1) * log_doubt)
            right = 1 - wrong * doubt
            right[small] = -np.expm1(bet.power * log_doubt[small])
            row[:] = np.divide(right, confidence, out=np.full_like(right, bet.power), where=confidence > 0)
            np.copyto(row, wrong, where=surprise)
    return made


def spread(count: int, least: float = 0.001, most: float = 0.95) -> tuple[Floats, Floats]:
    """Shortfalls even in log-odds, with shares by the arcsine law, which no constant shortfall beats by much."""
    shortfalls = 1 / (1 + np.exp(-np.linspace(math.log(least / (1 - least)), math.log(most / (1 - most)), count)))
    shares = np.sqrt(shortfalls * (1 - shortfalls))
    return shortfalls, shares / shares.sum()


def _mixture() -> tuple[Bet, ...]:
    shortfalls, shares = spread(16)
    powers = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2)
    tails = [(cut, shortfall) for cut in CUTS for shortfall in (0.003, 0.01, 0.03, 0.1, 0.3)]
    return (
        *(Bet(0.4 * share, x) for x, share in zip(shortfalls.tolist(), shares.tolist(), strict=True)),
        *(Bet(0.3 / len(powers), power=power) for power in powers),
        *(Bet(0.3 / len(tails), shortfall, cut) for cut, shortfall in tails),
    )


#: The bets of the e-value.
MIXTURE = _mixture()
_LOG_SHARES = np.log([bet.share for bet in MIXTURE])

#: The bets of the change detector: fewer, for each of them starts anew at every row.
DETECTOR = (
    *(Bet(0.1, shortfall) for shortfall in (0.01, 0.03, 0.1, 0.3, 0.6)),
    *(Bet(0.1, power=power) for power in (0.9, 0.7, 0.5)),
    *(Bet(0.1, shortfall, 0.01) for shortfall in (0.01, 0.1)),
)


def log_e(counts: Counts) -> float:
    """The logarithm of the e-value against overconfidence (of mirrored counts, against underconfidence)."""
    return float(log_wealth(gains_of(counts)))


def log_wealth(gains: Floats) -> Any:
    """The logarithm of the wealth of all bets of the mixture together, from what each has gained."""
    return log_sum(_LOG_SHARES + gains, axis=-1)


def gains_of(counts: Counts, bets: Sequence[Bet] = MIXTURE) -> Floats:
    """What each bet has gained over all rows, in logarithms: these add up over disjoint rows."""
    counts = counts.doubtful()
    wrong = counts.surprises()
    on_wrong = factors(bets, wrong.doubt, wrong.confidence, np.ones(len(wrong.doubt), dtype=bool))
    # of a cell, the rows that are no surprise are taken at the mean of all: what they gain hardly varies within it
    on_right = factors(bets, counts.doubt, counts.confidence, np.zeros(len(counts.doubt), dtype=bool))
    gained: Floats = (np.log(on_wrong) * wrong.wrong).sum(axis=1) + (np.log(on_right) * counts.right).sum(axis=1)
    return gained


def e_product(log_e_values: Iterable[float]) -> float:
    """Combine the log e-values of independent shards, or of successive batches: evidence multiplies.

    Use it where no sample is in two of the parts. For overlapping slices use :func:`e_mean`.

    Parameters
    ----------
    log_e_values : iterable of float
        Natural logarithms of e-values, such as ``risk_test(...).log_e`` of each part.

    Returns
    -------
    float
        The log e-value of all parts together: the sum. 3.0 (= log 20) or more rejects calibration at the 5% level.

    See Also
    --------
    e_mean : for tests that share samples.
    e_bh : which of many tests to reject.

    Examples
    --------
    >>> e_product([1.5, 2.0, -0.5])
    3.0
    """
    return math.fsum(log_e_values)


def e_mean(log_e_values: Iterable[float]) -> float:
    """Combine the log e-values of overlapping slices, or of several tests of the same samples.

    The mean of e-values is an e-value however they depend on each other.

    Parameters
    ----------
    log_e_values : iterable of float
        Natural logarithms of e-values, at least one.

    Returns
    -------
    float
        The logarithm of the mean e-value.

    Raises
    ------
    ValueError
        If there are no e-values.

    See Also
    --------
    e_product : for independent parts, where evidence multiplies.

    Examples
    --------
    >>> round(e_mean([0.0, math.log(3)]), 4) == round(math.log(2), 4)
    True
    """
    values = list(log_e_values)
    if not values:
        raise ValueError("log_e_values is empty; e_mean needs at least one e-value.")
    return float(log_mean(values))


def e_bh(log_e_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Decide which of many models or slices are overconfident, with a bound on the false discovery rate.

    On average, at most a share ``level`` of those flagged are in fact calibrated. This holds however the e-values
    depend on each other.

    Parameters
    ----------
    log_e_values : sequence of float
        Natural logarithms of K e-values, one for each model or slice.
    level : float, default=0.05
        The false discovery rate, between 0 and 1.

    Returns
    -------
    list of bool
        Whether each is flagged, in the order given.

    Raises
    ------
    ValueError
        If a value is nan, or ``level`` is not between 0 and 1.

    Notes
    -----
    The e-BH procedure sorts the e-values and flags the k largest, for the largest k whose k-th e-value is at least
    K / (k level).

    References
    ----------
    Wang and Ramdas, False discovery rate control with e-values, JRSS B 84 (2022).

    Examples
    --------
    >>> e_bh([math.log(100), math.log(2), math.log(50)], level=0.05)
    [True, False, True]
    """
    check_level(level)
    values = np.array(log_e_values, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError(f"log_e_values[{int(np.isnan(values).argmax())}] is nan; leave out what could not be tested.")
    falling = np.sort(values)[::-1]
    enough = falling >= np.log(len(values) / (np.arange(1, len(values) + 1) * level)) if len(values) else falling > 0
    if not enough.any():
        return [False] * len(values)
    return [bool(value) for value in values >= falling[np.flatnonzero(enough)[-1]]]

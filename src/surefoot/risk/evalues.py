r"""Evidence that may be looked at whenever one likes: likelihood ratios of overconfidence against calibration.

For any alternative that says how often rows of each doubt are wrong, the likelihood ratio is, if confidences are not
too high, a fair or losing bet: its mean is at most 1, whenever one stops. The e-value is a mixture of 39 such bets:
accuracy falls short by a factor everywhere (deflation, the direction of CSR), errors are a power of doubt, or only the
most confident rows are too confident. P(e-value ever reaches 1/a) <= a.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.risk.counts import Counts
from surefoot.tallies import Floats

#: What a bet gains, in logarithms, on a row that is a surprise and on one that is not, from doubt and confidence.
Gains = Callable[[Floats, Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Bet:
    """One alternative: the share of the stake it gets, and what it gains on a row."""

    share: float
    gains: Gains


def deflation_gains(shortfall: float, below: float = math.inf) -> Gains:
    """Accuracy is (1 - shortfall) times confidence, for doubts below ``below``."""

    def gains(doubt: Floats, confidence: Floats) -> tuple[Floats, Floats]:
        inside = doubt < below
        return np.where(inside, np.log1p(shortfall * confidence / doubt), 0.0), np.where(
            inside, math.log1p(-shortfall), 0.0
        )

    return gains


def power_gains(power: float) -> Gains:
    """Errors come with probability doubt ** power."""

    def gains(doubt: Floats, confidence: Floats) -> tuple[Floats, Floats]:
        # from whichever of doubt and confidence is small, so that no digits are lost
        log_doubt = np.where(doubt < 0.5, np.log(doubt), np.log1p(-np.minimum(confidence, 0.5)))
        kept = -np.expm1(power * log_doubt)
        ratio = np.divide(kept, confidence, out=np.full_like(kept, power), where=confidence > 0)
        return (power - 1) * log_doubt, np.log(ratio)

    return gains


def spread(count: int, least: float = 0.001, most: float = 0.95) -> tuple[Floats, Floats]:
    """Shortfalls even in log-odds, with shares by the arcsine law, which no constant shortfall beats by much."""
    shortfalls = 1 / (1 + np.exp(-np.linspace(math.log(least / (1 - least)), math.log(most / (1 - most)), count)))
    shares = np.sqrt(shortfalls * (1 - shortfalls))
    return shortfalls, shares / shares.sum()


def _mixture() -> tuple[Bet, ...]:
    shortfalls, shares = spread(16)
    powers, cuts, tail_shortfalls = (
        (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2),
        (0.1, 0.01, 0.001),
        (0.003, 0.01, 0.03, 0.1, 0.3),
    )
    tails = [(cut, shortfall) for cut in cuts for shortfall in tail_shortfalls]
    return (
        *(Bet(0.4 * share, deflation_gains(x)) for x, share in zip(shortfalls.tolist(), shares.tolist(), strict=True)),
        *(Bet(0.3 / len(powers), power_gains(power)) for power in powers),
        *(Bet(0.3 / len(tails), deflation_gains(shortfall, cut)) for cut, shortfall in tails),
    )


#: The bets of the e-value.
MIXTURE = _mixture()


def log_e(counts: Counts) -> float:
    """The logarithm of the e-value against overconfidence (of mirrored counts, against underconfidence)."""
    return _log_sum([math.log(bet.share) + gained for bet, gained in zip(MIXTURE, gains_of(counts), strict=True)])


def gains_of(counts: Counts, bets: Sequence[Bet] = MIXTURE) -> list[float]:
    """What each bet has gained over all rows, in logarithms: these add up over disjoint rows."""
    counts = counts.doubtful()
    wrong = counts.surprises()
    # of a cell, the rows that are no surprise are taken at the mean of all: what they gain hardly varies within it
    return [
        float(
            (wrong.wrong * bet.gains(wrong.doubt, wrong.confidence)[0]).sum()
            + (counts.right * bet.gains(counts.doubt, counts.confidence)[1]).sum()
        )
        for bet in bets
    ]


def e_product(log_e_values: Iterable[float]) -> float:
    """The log e-value of independent shards or successive batches together: evidence multiplies.

    Examples
    --------
    >>> e_product([1.5, 2.0, -0.5])
    3.0
    """
    return math.fsum(log_e_values)


def e_mean(log_e_values: Iterable[float]) -> float:
    """The log e-value of overlapping slices, or of several tests of the same rows: the mean, valid however they depend.

    Examples
    --------
    >>> round(e_mean([0.0, math.log(3)]), 4) == round(math.log(2), 4)
    True
    """
    values = list(log_e_values)
    if not values:
        raise ValueError("e_mean of no e-values; give at least one.")
    return _log_sum(values) - math.log(len(values))


def e_bh(log_e_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Which of many models or slices are overconfident, by e-BH: at most ``level`` of those named are so by accident.

    Valid however the e-values depend on each other (Wang and Ramdas 2022). The k largest are named for the largest k
    whose k-th is at least K / (k level).

    Examples
    --------
    >>> e_bh([math.log(100), math.log(2), math.log(50)], level=0.05)
    [True, False, True]
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level!r}; it should be between 0 and 1.")
    values = np.array(log_e_values, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("an e-value is nan; leave out what could not be tested.")
    falling = np.sort(values)[::-1]
    enough = falling >= np.log(len(values) / (np.arange(1, len(values) + 1) * level)) if len(values) else falling > 0
    if not enough.any():
        return [False] * len(values)
    return [bool(value) for value in values >= falling[np.flatnonzero(enough)[-1]]]


def _log_sum(logs: Sequence[float]) -> float:
    top = max(logs)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(x - top) for x in logs))

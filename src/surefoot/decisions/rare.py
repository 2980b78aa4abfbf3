"""Limits of numbers of events that are few, such as five errors expected among 200 rows.

Log-odds and logarithms are nearly normal where many events make a metric. Few events come in whole numbers: these are
binomial, with a probability that is not known for sure.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.core.table import Floats

#: Events below which they are counted.
FEW = 30.0
#: Into how many equally likely pieces the unknown mean is cut.
_PIECES = 200
#: A probability of each event below which their number is that of Poisson.
_POISSON = 1e-6


def limits_of_number(mean: float, chance: float, unknown: float, tail: float) -> tuple[float, float]:
    """The least and the largest number of events; fewer, and more, have a probability of at most ``tail`` each.

    ``chance`` is the variance of their number if the mean is known, and ``unknown`` the variance of the mean. The
    largest number allows for one event more among those that the mean was learnt from (Fay and Feuer 1997): where none
    was seen, they may yet occur.

    Examples
    --------
    >>> limits_of_number(5.0, 5.0, 0.0, 0.025)
    (1.0, 10.0)
    >>> limits_of_number(9.0, 0.9, 0.0, 0.025)
    (7.0, 10.0)
    """
    trials = _whole(mean, chance)
    if trials is not None:
        # those that do not occur are the fewer ones
        low, high = limits_of_number(max(trials - mean, 1e-12), chance, unknown, tail)
        return float(max(0, math.floor(trials - high + 1e-9))), float(math.ceil(trials - low - 1e-9))
    fewer, more = _tables(mean, chance, unknown)
    low = int(np.searchsorted(fewer, tail, side="right"))
    return float(low), float(np.searchsorted(more, 1 - tail, side="left"))


def tails_of_number(most: float, least: float, mean: float, chance: float, unknown: float) -> tuple[float, float]:
    """The chances of at most ``most`` events, and of at least ``least``: those that limits are found by.

    Examples
    --------
    >>> [round(tail, 4) for tail in tails_of_number(0, 1, 0.1, 0.09, 0.0)]
    [0.9, 0.1]
    >>> [round(tail, 4) for tail in tails_of_number(8, 9, 9.0, 0.9, 0.0)]
    [0.2639, 0.7361]
    """
    trials = _whole(mean, chance)
    if trials is not None:
        others = math.ceil(trials - least - 1e-9), math.floor(trials - most + 1e-9)
        at_most, at_least = tails_of_number(*others, max(trials - mean, 1e-12), chance, unknown)
        return at_least, at_most
    fewer, more = _tables(mean, chance, unknown)
    return _at(fewer, most), 1 - _at(more, least - 1)


def _whole(mean: float, chance: float) -> float | None:
    """The number of trials of a binomial number, where an event occurs in most of them."""
    share = 1 - min(chance, mean) / mean
    return mean / share if share > 0.5 else None


def _tables(mean: float, chance: float, unknown: float) -> tuple[Floats, Floats]:
    """The chances of at most 0, 1, 2, ... events; and with one event more among those that the mean was learnt from."""
    # what varies more than Poisson numbers do is not known
    chance, unknown = min(chance, mean), unknown + max(0.0, chance - mean)
    share = 1 - chance / mean
    trials = mean / share if share > _POISSON else math.inf
    another = unknown / mean
    return _up_to(mean, unknown, trials), _up_to(mean + another, unknown + another**2, trials)


def _at(table: Floats, number: float) -> float:
    return 0.0 if number < 0 else float(table[int(number)]) if number < len(table) else 1.0


def _up_to(mean: float, unknown: float, trials: float) -> Floats:
    """The chances of at most 0, 1, 2, ... events, as far as they differ from 1."""
    means = np.minimum(_means(mean, unknown), trials)
    numbers = np.arange(min(trials, means[-1] + 10 * math.sqrt(means[-1]) + 20) + 1)
    found: Floats = _chance_of_at_most(numbers[:, None], trials, means).mean(axis=1)
    return found


def _means(mean: float, unknown: float) -> Floats:
    """Means that are equally likely: quantiles of a gamma law."""
    from scipy.special import gammaincinv

    if unknown <= 1e-9 * mean**2:
        return np.array([mean])
    shape = mean**2 / unknown
    found: Floats = gammaincinv(shape, (np.arange(_PIECES) + 0.5) / _PIECES) * mean / shape
    return found


def _chance_of_at_most(number: Floats, trials: float, mean: Floats) -> Floats:
    """The chance of at most so many events: binomial, with a number of trials that need not be whole, or Poisson."""
    from scipy.special import betainc, gammaincc

    if math.isinf(trials):
        found: Floats = gammaincc(number + 1, mean)
        return found
    left = np.maximum(trials - number, 1e-12)
    return np.where(number >= trials, 1.0, betainc(left, number + 1, 1 - mean / trials))

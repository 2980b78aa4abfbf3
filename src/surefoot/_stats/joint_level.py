r"""The level at which the binomial tests of all thresholds hold together.

Sort rows by falling confidence and ask after each of them whether so few errors would be likely if a share
:math:`\varepsilon` of rows were wrong: :math:`P(\mathrm{Bin}(k, \varepsilon) \le \text{errors}) \le a`. How likely is
it that a walk of independent errors at that rate ever looks so good, for some k up to N? ``joint_level`` finds the a at
which it is as likely as ``level``.

A walk never falls, so if it crosses the boundary at all, it does so at a k that first allows one more error. The chance
is a sum over numbers of errors: exact for the first hundreds. Beyond, the walk is close to Brownian motion, and crosses
a level of the normal law at no more than the rate :math:`\tfrac12 b \varphi(b)` for each factor e of rows.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrin, ndtri

from surefoot._stats.binomial import at_most, probability_of

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

#: Numbers of errors up to which the walk is followed step by step.
_EXACT = 120
#: How far the chance may stay below the level, as a share of it.
_CLOSE = 0.01


def joint_level(rows: int, rate: float, level: float) -> float:
    """The level for the test of each threshold, so that none of all thresholds is passed wrongly, but for ``level``.

    Numbers of rows are rounded up to two or three digits, which makes the level a little smaller and is done once for
    many slices.

    >>> 0.005 < joint_level(10_000, 0.01, 0.05) < 0.0075
    True
    """
    digits = 10 ** max(0, len(str(rows)) - 2)
    return _joint_level(-(-rows // digits) * digits, rate, level)


@lru_cache(maxsize=4096)
def _joint_level(rows: int, rate: float, level: float) -> float:
    if not first_rows(0, rate, level) <= rows:
        return level  # no test can pass
    # chances are nearly a power of the level of each test: a secant on logarithms, from below
    at = math.log(level) - 0.7 * math.log1p(math.log(max(rows * rate, 1.0)))
    low, high = -math.inf, math.log(level)
    slope = 0.85
    for _ in range(40):
        excess = math.log(max(chance_of_crossing(rows, rate, math.exp(at)), 1e-300)) - math.log(level)
        if -_CLOSE <= excess <= 0:
            break
        low, high = (max(low, at), high) if excess <= 0 else (low, min(high, at))
        step = at - (excess + _CLOSE / 2) / slope
        if not low < step < high:
            step = (low + high) / 2 if math.isfinite(low) else at - 1
        if high - low < 1e-6:
            at = low
            break
        at = step
    return math.exp(at if excess <= 0 else low)


def chance_of_crossing(rows: int, rate: float, level: float) -> float:
    """How likely errors at this rate are, for some number of rows up to ``rows``, so few that their test passes."""
    first = steps(rows, rate, level, _EXACT)
    if not len(first):
        return 0.0
    chance = _chance_of_steps(first, rate)
    if len(first) < _EXACT or rows <= first[-1]:
        return chance
    # from the last step on; this rate is a little too large, never too small
    reach = -ndtri(level)
    density = math.exp(-(reach**2) / 2) / math.sqrt(2 * math.pi)
    return float(chance + reach * density / 2 * math.log(rows / first[-1]))


def steps(rows: int, rate: float, level: float, most: int) -> Counts:
    """For 0, 1, ... errors the least number of rows with which they pass the test, as far as there are rows."""
    errors = np.arange(min(most, rows))
    first = first_rows(errors, rate, level)
    return first[first <= rows].astype(np.int64)


def first_rows(errors: npt.ArrayLike, rate: float, level: float) -> Floats:
    """The least numbers of rows with which these numbers of errors pass the test."""
    errors = np.asarray(errors, dtype=np.float64)
    found: Floats = np.ceil(np.maximum(bdtrin(errors, level, rate), errors + 1) - 1e-6)
    # the inverse is found by iteration: mended by the test itself
    for _ in range(64):
        late = (found - 1 > errors) & _passes(errors, found - 1, rate, level)
        early = ~_passes(errors, found, rate, level)
        if not (late | early).any():
            break
        found = found - late + early
    return found


def _passes(errors: Floats, rows: Floats, rate: float, level: float) -> npt.NDArray[np.bool_]:
    return at_most(errors, rows, rate) <= level


def _chance_of_steps(first: Counts, rate: float) -> float:
    """How likely a walk is, after some ``first[m]`` rows, to have had at most m errors."""
    chance, before, least = 0.0, 0, 0
    increments: dict[int, Floats] = {}
    mass = np.ones(1)  # of walks that have not crossed, by their number of errors from ``least`` on
    for allowed, rows in enumerate(first.tolist()):
        more = rows - before
        if more not in increments:
            increments[more] = _binomial(more, rate)
        mass = np.convolve(mass, increments[more])
        crossed = allowed + 1 - least
        chance += float(mass[:crossed].sum())
        # far above the boundary nothing comes back to it
        farthest = int(rows * rate + 9 * math.sqrt(rows * rate) + 20) - allowed
        mass, least, before = mass[crossed : crossed + max(farthest, 2)], allowed + 1, rows
    return chance


def _binomial(rows: int, rate: float) -> Floats:
    """The probabilities of 0, 1, ... errors of so many rows, as far as they matter."""
    mean = rows * rate
    errors = np.arange(min(rows, int(mean + 9 * math.sqrt(mean) + 20)) + 1)
    return probability_of(errors, rows, rate)

r"""How large: the factor by which accuracy falls short of confidence, and a lower bound for CSR.

"Accuracy is :math:`(1 - \lambda) c`" is the model whose score test is CSR: :math:`N (\mathrm{CSR} - 1)` is the slope of
its log-likelihood at 0, and the best :math:`\lambda` is the one that brings the CSR of the deflated confidences to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from surefoot.risk.counts import Counts
from surefoot.risk.evalues import spread
from surefoot.roots import root

#: Half the 95% point of chi squared with one degree of freedom: how far the log-likelihood may fall.
_FALL = 1.9207294103470494
_LEAST = 1e-300
_SHARES = spread(40)


def deflation(counts: Counts) -> tuple[float, tuple[float, float]]:
    """The best shortfall of accuracy, from 0 to 1, and its 95% likelihood interval.

    All rows tell, those that claim certainty too, which CSR leaves out: they are right where accuracy is confidence.
    """
    sure, sure_wrong = counts.certain()
    counts = counts.doubtful()
    surprises = counts.surprises()
    odds, wrong = surprises.confidence / surprises.doubt, surprises.wrong
    right = counts.n - float(wrong.sum()) + sure - sure_wrong

    def likelihood(log_shortfall: float) -> float:
        # -inf is no shortfall, 0 a total one
        shortfall = math.exp(log_shortfall)
        lost = right * _log_rest(log_shortfall) if right else 0.0
        impossible = sure_wrong * log_shortfall if sure_wrong else 0.0
        return float((wrong * np.log1p(shortfall * odds)).sum()) + impossible + lost

    def slope(log_shortfall: float) -> float:
        shortfall = math.exp(log_shortfall)
        steep = float((wrong * odds / (1 + shortfall * odds)).sum()) + (sure_wrong / shortfall if sure_wrong else 0.0)
        return steep * -math.expm1(log_shortfall) - right

    lowest, highest = math.log(_LEAST), -1e-15
    if slope(lowest) <= 0:
        best = -math.inf
    elif slope(highest) >= 0:
        best = 0.0
    else:
        best = root(slope, lowest, highest, xtol=1e-12)
    top = likelihood(best) if right or best < 0 else float((wrong * np.log1p(odds)).sum())

    def fall(log_shortfall: float) -> float:
        return top - likelihood(log_shortfall) - _FALL

    below = _root(fall, lowest, best) if best > lowest and fall(-math.inf) > 0 else -math.inf
    above = _root(fall, max(best, lowest), highest) if fall(highest) > 0 else 0.0
    return math.exp(best), (math.exp(below), math.exp(above))


def _log_rest(log_shortfall: float) -> float:
    """The logarithm of 1 - shortfall."""
    return math.log(-math.expm1(log_shortfall)) if log_shortfall < 0 else -math.inf


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    # at the best value itself the fall is 0: inside, whatever rounding says
    if function(low) * function(high) > 0:
        return low if abs(function(low)) < abs(function(high)) else high
    return root(function, low, high, xtol=1e-12)


def csr_lower(counts: Counts, level: float = 0.05) -> float:
    """A bound that CSR in the long run lies above with probability 1 - ``level``, whenever one looks.

    The largest m against which betting on "CSR is above m" has multiplied the stake by 1 / ``level``. There is no such
    bound from above: mistakes at doubts too small to have been seen yet may hold any share of CSR.
    """
    if counts.certain()[1]:
        return math.inf
    counts = counts.doubtful()
    surprises = counts.surprises()
    wrong, doubt = surprises.wrong, surprises.doubt
    if not len(wrong):
        return 0.0
    right = counts.n - float(wrong.sum())
    shortfalls, shares = _SHARES
    needed = -math.log(level)

    def wealth(log_m: float) -> float:
        surprise = np.exp(np.minimum(-np.log(doubt) - log_m, 700.0)) - 1
        logs = (
            np.log(shares)
            + (wrong * np.log1p(shortfalls[:, None] * surprise)).sum(axis=1)
            + right * np.log1p(-shortfalls)
        )
        top = float(logs.max())
        return top + math.log(float(np.exp(logs - top).sum())) - needed

    high = math.log(float((wrong / doubt).sum()) / counts.n) + 1e-9
    low = high - 1.0
    while wealth(low) < 0:
        low = high - 2 * (high - low)
        if low < high - 600:
            return 0.0
    return math.exp(root(wealth, low, high, xtol=1e-10))

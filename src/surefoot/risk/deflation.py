r"""How large: the factor by which accuracy falls short of confidence, and a lower bound for CSR.

"Accuracy is :math:`(1 - \lambda) c`" is the model whose score test is CSR: :math:`N (\mathrm{CSR} - 1)` is the slope of
its log-likelihood at 0, and the best :math:`\lambda` is the one that brings the CSR of the deflated confidences to 1.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from surefoot._stats.logarithms import log_sum
from surefoot._stats.roots import root
from surefoot.risk.evalues import spread
from surefoot.risk.law.bernoulli_sum import BernoulliSum
from surefoot.risk.law.cells import Cells
from surefoot.risk.law.counts import MOST, Counts
from surefoot.risk.law.null import upper_tail

#: The logarithms of the shortfalls between which the best and the limits are looked for; the chance at a limit.
_LOWEST, _HIGHEST = math.log(1e-300), -1e-15
_TAIL = 0.025
_MOST = 1 - 1e-12
_SHARES = spread(40)


class Deflation:
    """The best shortfall of accuracy, from 0 to 1, and its limits at 95%.

    All rows tell, those that claim certainty too, which CSR leaves out: they are right where accuracy is confidence.
    Limits are the shortfalls under which a CSR of the deflated confidences as large, or as small, has a chance of 2.5%
    by the exact law; so with no mistakes at all the upper one is that of the rule of three.
    """

    def __init__(self, counts: Counts) -> None:
        self._sure, self._sure_wrong = counts.certain()
        self._counts = counts.doubtful()
        surprises = self._counts.surprises()
        self._odds, self._wrong = surprises.confidence / surprises.doubt, surprises.wrong
        self._right = self._counts.n - float(self._wrong.sum()) + self._sure - self._sure_wrong

    @cached_property
    def best(self) -> float:
        """Where the likelihood is largest."""
        if self._slope(_LOWEST) <= 0:
            return 0.0
        return 1.0 if self._slope(_HIGHEST) >= 0 else math.exp(root(self._slope, _LOWEST, _HIGHEST, xtol=1e-12))

    def _slope(self, log_shortfall: float) -> float:
        """The slope of the log-likelihood."""
        shortfall, odds = math.exp(log_shortfall), self._odds
        steep = float((self._wrong * odds / (1 + shortfall * odds)).sum())
        steep += self._sure_wrong / shortfall if self._sure_wrong else 0.0
        return steep * -math.expm1(log_shortfall) - self._right

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The limits."""
        return self._low(), self._high()

    def _low(self) -> float:
        if not self.best or self._tail(0.0, above=True) >= _TAIL:
            return 0.0
        inside = outside = self.best
        while self._tail(outside, above=True) >= _TAIL:
            inside, outside = outside, outside / 2
            if outside < 10 / MOST:
                return 0.0
        return self._between(inside, outside, above=True) if outside < self.best else self.best

    def _high(self) -> float:
        inside = self.best
        if not inside and self._tail(0.0, above=False) < _TAIL:
            return 0.0
        outside = max(inside, 1 / (self._counts.n + self._sure))
        while outside < _MOST and self._tail(outside, above=False) >= _TAIL:
            inside, outside = outside, min(2 * outside, _MOST)
        if outside == _MOST and self._tail(outside, above=False) >= _TAIL:
            return 1.0
        return self._between(inside, outside, above=False) if outside > inside else inside

    def _between(self, inside: float, outside: float, *, above: bool) -> float:
        """Where the chance is 2.5%, or a little beyond: to four thousandths."""
        while abs(outside - inside) > 4e-3 * outside:
            middle = (inside + outside) / 2
            if self._tail(middle, above=above) >= _TAIL:
                inside = middle
            else:
                outside = middle
        return outside

    def _tail(self, shortfall: float, *, above: bool) -> float:
        """The chance of a CSR of the deflated confidences at least as large as that observed, or at most."""
        cells = self._cells.deflated(shortfall)
        # 1 / chance stays finite
        chance, otherwise = np.maximum(cells.p, 1 / MOST), cells.q
        fired, rows, observed = cells.fired, cells.rows, cells.fired / chance
        if self._sure and shortfall:
            # those that claimed certainty are wrong as often as accuracy falls short of it
            own = max(shortfall, 1 / MOST)
            rows, observed = np.append(rows, self._sure), np.append(fired / chance, self._sure_wrong / own)
            chance, otherwise = np.append(chance, own), np.append(otherwise, 1 - shortfall)
        elif self._sure_wrong:
            return 0.0 if above else 1.0
        law = BernoulliSum(chance, otherwise, 1 / chance, rows, cells.is_exact)
        tail = upper_tail(law, min(float(observed.sum()), law.total))
        # P(S > s) is P(S >= s) less what half of P(S = s) was taken off for
        return tail.p if above else 1 - max(0.0, 2 * tail.mid - tail.p)

    @cached_property
    def _cells(self) -> Cells:
        return Cells.of(self._counts).merged


def csr_lower(counts: Counts, level: float = 0.05) -> float:
    """A bound that CSR in the long run lies above with probability 1 - ``level``, whenever one looks.

    The largest m against which betting on "CSR is above m" has multiplied the stake by 1 / ``level``. There is no such
    bound from above: mistakes at doubts too small to have been observed yet may hold any share of CSR.
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
        gains = (wrong * np.log1p(shortfalls[:, None] * surprise)).sum(axis=1) + right * np.log1p(-shortfalls)
        return float(log_sum(np.log(shares) + gains)) - needed

    high = math.log(float((wrong / doubt).sum()) / counts.n) + 1e-9
    low = high - 1.0
    while wealth(low) < 0:
        low = high - 2 * (high - low)
        if low < high - 600:
            return 0.0
    return math.exp(root(wealth, low, high, xtol=1e-10))

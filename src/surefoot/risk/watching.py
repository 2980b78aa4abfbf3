r"""A stream watched after every row, on one side: the e-process, and the change detector.

The e-process multiplies the stakes of the bets of the e-value, row by row; if the confidences are not too high, the
chance that it ever reaches 1/a is at most a. The detector of Shiryaev and Roberts adds a stake at every row,
:math:`R_k \leftarrow (R_k + 1) L_k`, so that it is quick to see a change whenever it comes; up to row t its mean is at
most t, so the mean time until it reaches A is at least A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from surefoot.risk.evalues import DETECTOR, MIXTURE, Bet, Flags, factors
from surefoot.tallies import Floats

#: Rows multiplied up in one go, few enough that no product leaves the range of floats, and rows held in the cache.
_RUN = 32
_BLOCK = 4096

_SHARES = np.array([bet.share for bet in MIXTURE])
_WEIGHTS = np.array([bet.share for bet in DETECTOR])

#: Doubts below this are taken for it: the stakes of a run stay finite. Evidence can only be lost by that.
_LEAST_DOUBT = 1e-9
#: Stakes stay below this: far above any threshold, and far below what floats hold.
_MOST = 1e250


@dataclass
class Side:
    """What is known of one side: the logarithms of the bets' wealth, and the stakes of the detector."""

    wealth: Floats = field(default_factory=lambda: np.zeros(len(MIXTURE)))
    stakes: Floats = field(default_factory=lambda: np.zeros(len(DETECTOR)))
    #: Whether what was claimed to be impossible has happened.
    is_refuted: bool = False

    @property
    def log_e(self) -> float:
        top = float(self.wealth.max())
        return math.inf if self.is_refuted else top + math.log(float((_SHARES * np.exp(self.wealth - top)).sum()))

    @property
    def evidence(self) -> float:
        """Of a change: its mean after t rows is at most t if there is none."""
        return float((_WEIGHTS * self.stakes).sum())

    def follow(self, doubt: Floats, confidence: Floats, surprise: Flags) -> tuple[Floats, Floats]:
        """Go through some rows: the logarithm of the e-value after each, and the detector's evidence."""
        log_e = np.empty(len(doubt))
        for rows in _blocks(len(doubt)):
            log_e[rows] = self._grow(doubt[rows], confidence[rows], surprise[rows])
        refutations = np.flatnonzero(surprise & (doubt == 0))
        if self.is_refuted:
            log_e[:] = math.inf
        elif len(refutations):
            self.is_refuted = True
            log_e[refutations[0] :] = math.inf
        return log_e, self.detect(doubt, confidence, surprise)

    def detect(self, doubt: Floats, confidence: Floats, surprise: Flags) -> Floats:
        """Go through some rows with the detector alone: its evidence after each."""
        evidence = np.empty(len(doubt))
        for rows in _blocks(len(doubt)):
            evidence[rows] = self._restake(doubt[rows], confidence[rows], surprise[rows])
        evidence[surprise & (doubt == 0)] = math.inf
        return evidence

    def restart(self) -> None:
        """Forget what the detector has seen."""
        self.stakes = np.zeros(len(DETECTOR))

    def _grow(self, doubt: Floats, confidence: Floats, surprise: Flags) -> Floats:
        products = _products(MIXTURE, doubt, confidence, surprise)
        ends = np.log(products[:, :, -1])
        before = self.wealth[:, None] + np.cumsum(ends, axis=1) - ends
        self.wealth = before[:, -1] + ends[:, -1]
        top = before.max(axis=0)
        total = np.einsum("kr,krs->rs", _SHARES[:, None] * np.exp(before - top), products)
        log_e: Floats = (np.log(total) + top[:, None]).ravel()
        return log_e[: len(doubt)]

    def _restake(self, doubt: Floats, confidence: Floats, surprise: Flags) -> Floats:
        products = _products(DETECTOR, doubt, confidence, surprise)
        # a stake added before row s is worth products[t] / products[s - 1] after row t
        added = np.empty_like(products)
        added[:, :, 0] = 1.0
        np.divide(1.0, products[:, :, :-1], out=added[:, :, 1:])
        np.cumsum(added, axis=2, out=added)
        before = np.empty(products.shape[:2])
        stakes = self.stakes
        # what overflows has long gone off
        with np.errstate(over="ignore"):
            for run in range(products.shape[1]):
                before[:, run] = stakes
                stakes = np.minimum(products[:, run, -1] * (stakes + added[:, run, -1]), _MOST)
            added += before[:, :, None]
            added *= products
        self.stakes = np.minimum(added.reshape(len(added), -1)[:, len(doubt) - 1], _MOST)
        evidence: Floats = np.einsum("k,krs->rs", _WEIGHTS, added).ravel()
        return evidence[: len(doubt)]


def _blocks(rows: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK)]


def _products(bets: tuple[Bet, ...], doubt: Floats, confidence: Floats, surprise: Flags) -> Floats:
    """What each bet has multiplied its stake by since the start of each run: bets by runs by rows of a run.

    The last run is filled up with ones.
    """
    runs = -(-len(doubt) // _RUN)
    size = len(doubt) if runs == 1 else _RUN
    made = np.ones((len(bets), runs * size))
    made[:, : len(doubt)] = factors(bets, np.maximum(doubt, _LEAST_DOUBT), confidence, surprise)
    made[:, : len(doubt)][:, doubt == 0] = 1.0  # certain rows are not bet on
    products = made.reshape(len(bets), runs, size)
    return np.cumprod(products, axis=2, out=products)

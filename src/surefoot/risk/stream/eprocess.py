r"""A stream watched after every row, on one side: the e-process, and the change detector.

The e-process multiplies what the bets of the e-value gain, in the order in which predictions were issued; if the
confidences are not too high, the chance that it ever reaches 1/a is at most a. The detector of Shiryaev and Roberts
adds a stake for every row, :math:`R_k \leftarrow (R_k + 1) L_k`, so that it is quick to see a change whenever it
comes; up to row t its mean is at most t, so the mean time until it reaches A is at least A. Rows that were issued
together get one stake: the mean time is then at least A such units.

Of rows that were issued together (a batch, a patient) the gains are averaged before they multiply: the mean of fair
bets is fair, however these depend on each other. And a label that has not come counts as if it were no surprise,
which is the smaller of what it can turn out to be: so neither process is ever above the one that knows all labels,
and nothing that decides when labels come can make them go off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from surefoot.core.table import Floats
from surefoot.risk.evalues import DETECTOR, MIXTURE, Bet, Flags, factors, log_wealth
from surefoot.risk.law.cells import Codes

#: Units multiplied up in one go, few enough that no product leaves the range of floats, and units and rows held in
#: the cache.
_RUN = 32
_BLOCK = 4096
_ROWS = 1 << 16

_SHARES = np.array([bet.share for bet in MIXTURE])
_WEIGHTS = np.array([bet.share for bet in DETECTOR])

#: Doubts below this are taken for it: the stakes of a run stay finite. Evidence can only be lost by that.
LEAST_DOUBT = 1e-9
#: Stakes stay below this: far above any threshold, and far below what floats hold.
_MOST = 1e250


@dataclass(frozen=True)
class Segment:
    """Some rows in the order of issue, as one side sees them, in units of rows that were issued together."""

    doubt: Floats
    confidence: Floats
    #: Whether a row's label has come, and is a surprise.
    surprise: Flags
    #: How many rows each unit has; None if each has one.
    sizes: Floats | None = None

    def __len__(self) -> int:
        return len(self.doubt) if self.sizes is None else len(self.sizes)

    @property
    def ends(self) -> Floats:
        """How many rows have passed after each unit."""
        return np.arange(1.0, len(self) + 1) if self.sizes is None else np.cumsum(self.sizes)

    def __getitem__(self, units: slice) -> Segment:
        if self.sizes is None:
            return Segment(self.doubt[units], self.confidence[units], self.surprise[units])
        start, stop, _ = units.indices(len(self))
        before, ends = int(self.sizes[:start].sum()), int(self.sizes[:stop].sum())
        rows = slice(before, ends)
        return Segment(self.doubt[rows], self.confidence[rows], self.surprise[rows], self.sizes[start:stop])

    @property
    def blocks(self) -> Iterator[tuple[slice, Segment]]:
        for start in range(0, len(self), _BLOCK):
            some = slice(start, start + _BLOCK)
            yield some, self[some]

    @property
    def refutations(self) -> Flags:
        """The units in which what was claimed to be impossible has happened."""
        impossible: Flags = self.surprise & (self.doubt == 0)
        if self.sizes is None or not len(impossible):
            return impossible
        refuted: Flags = np.logical_or.reduceat(impossible, _starts(self.sizes))
        return refuted

    def gains(self, bets: tuple[Bet, ...]) -> Floats:
        """What each bet multiplies its stake by on each unit: the mean of its rows."""
        if self.sizes is None:
            return self._gains_of_rows(bets, slice(None))
        unit = np.repeat(np.arange(len(self.sizes)), self.sizes.astype(np.int64))
        sums = np.zeros((len(bets), len(self.sizes)))
        for start in range(0, len(unit), _ROWS):
            rows = slice(start, start + _ROWS)
            here = np.flatnonzero(np.diff(unit[rows], prepend=-1))
            sums[:, unit[rows][here]] += np.add.reduceat(self._gains_of_rows(bets, rows), here, axis=1)
        return sums / self.sizes

    def _gains_of_rows(self, bets: tuple[Bet, ...], rows: slice) -> Floats:
        doubt = self.doubt[rows]
        made = factors(bets, np.maximum(doubt, LEAST_DOUBT), self.confidence[rows], self.surprise[rows])
        made[:, doubt == 0] = 1.0  # certain rows are not bet on
        return made


def _starts(sizes: Floats) -> Codes:
    return (np.cumsum(sizes) - sizes).astype(np.int64)


@dataclass
class Side:
    """What is known of one side: the logarithms of the bets' wealth, and the stakes of the detector."""

    wealth: Floats = field(default_factory=lambda: np.zeros(len(MIXTURE)))
    stakes: Floats = field(default_factory=lambda: np.zeros(len(DETECTOR)))
    #: Whether what was claimed to be impossible has happened.
    is_refuted: bool = False

    @property
    def log_e(self) -> float:
        return math.inf if self.is_refuted else float(log_wealth(self.wealth))

    @property
    def evidence(self) -> float:
        """Of a change: its mean after t rows is at most t if there is none."""
        return float((_WEIGHTS * self.stakes).sum())

    def grow(self, units: Segment) -> Floats:
        """Go through some units with the e-process: its logarithm after each."""
        log_e = np.empty(len(units))
        for some, block in units.blocks:
            log_e[some] = self._grow(block)
        refutations = np.flatnonzero(units.refutations)
        if self.is_refuted:
            log_e[:] = math.inf
        elif len(refutations):
            self.is_refuted = True
            log_e[refutations[0] :] = math.inf
        return log_e

    def detect(self, units: Segment) -> Floats:
        """Go through some units with the detector: its evidence after each."""
        evidence = np.empty(len(units))
        for some, block in units.blocks:
            evidence[some] = self._restake(block)
        evidence[units.refutations] = math.inf
        return evidence

    def restart(self) -> None:
        """Forget what the detector has seen."""
        self.stakes = np.zeros(len(DETECTOR))

    def _grow(self, units: Segment) -> Floats:
        products = _products(MIXTURE, units)
        ends = np.log(products[:, :, -1])
        before = self.wealth[:, None] + np.cumsum(ends, axis=1) - ends
        self.wealth = before[:, -1] + ends[:, -1]
        top = before.max(axis=0)
        total = np.einsum("kr,krs->rs", _SHARES[:, None] * np.exp(before - top), products)
        log_e: Floats = (np.log(total) + top[:, None]).ravel()
        return log_e[: len(units)]

    def _restake(self, units: Segment) -> Floats:
        products = _products(DETECTOR, units)
        # a stake added before unit s is worth products[t] / products[s - 1] after unit t
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
        self.stakes = np.minimum(added.reshape(len(added), -1)[:, len(units) - 1], _MOST)
        evidence: Floats = np.einsum("k,krs->rs", _WEIGHTS, added).ravel()
        return evidence[: len(units)]


def _products(bets: tuple[Bet, ...], units: Segment) -> Floats:
    """What each bet has multiplied its stake by since the start of each run: bets by runs by units of a run.

    The last run is filled up with ones.
    """
    runs = -(-len(units) // _RUN)
    size = len(units) if runs == 1 else _RUN
    made = np.ones((len(bets), runs * size))
    made[:, : len(units)] = units.gains(bets)
    products = made.reshape(len(bets), runs, size)
    return np.cumprod(products, axis=2, out=products)

"""How likely the verdict sees overconfidence: the omnibus test, drawn with and without it."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from surefoot.core.table import Floats
from surefoot.risk.law.cells import Cells
from surefoot.risk.omnibus import Draws, TestedSide

#: Draws with and without overconfidence: a power is known to 1 point. At small levels more are needed, up to so many.
DRAWS, MOST = 2500, 25_000


class Power:
    """The power of the omnibus test for rows with given doubts, one side at half of ``level`` as in a verdict."""

    def __init__(self, doubt: Floats, count: Floats, level: float) -> None:
        ones = np.ones(len(doubt))
        n = float(count.sum())
        self.level = level
        self.draws = min(MOST, max(DRAWS, math.ceil(25 / level)))
        self.cells = Cells(doubt, 1 - doubt, ones, count, np.zeros(len(doubt)), n, True).merged

    def of(self, deflation: float) -> float:
        """The share of draws that are found if accuracy is (1 - deflation) times confidence."""
        smallest = self._smallest(Draws(self.cells.deflated(deflation), seed=1).more(DRAWS))
        adjusted = 1 + np.searchsorted(self._smallest_by_chance, smallest, side="right")
        return float((adjusted <= self.level / 2 * (self.draws + 1)).mean())

    @cached_property
    def _calibrated(self) -> dict[str, tuple[Floats, Floats]]:
        """What each direction comes to in calibrated draws, rising; of a figure, the counts of each of its bands."""
        return {name: (np.sort(table, axis=0), table) for name, table in self._side.tables(self._fired).items()}

    @cached_property
    def _fired(self) -> Floats:
        return Draws(self.cells).more(self.draws)

    @cached_property
    def _side(self) -> TestedSide:
        return TestedSide(self.cells, 0.0)

    @cached_property
    def _smallest_by_chance(self) -> Floats:
        return np.sort(self._smallest(self._fired))

    @cached_property
    def _lowest(self) -> dict[str, Floats]:
        """Of each figure, how rarely any of its bands is as full as the fullest, in calibrated draws."""
        return {name: np.sort(_ranks(*columns).min(axis=1)) for name, columns in self._calibrated.items()}

    def _smallest(self, fired: Floats) -> Floats:
        """The smallest p-value of each draw over all directions, in units of one calibrated draw."""
        found = []
        for name, table in self._side.tables(fired).items():
            lowest = _ranks(self._calibrated[name][0], table).min(axis=1)
            found.append(np.searchsorted(self._lowest[name], lowest, side="right"))
        smallest: Floats = np.min(found, axis=0).astype(np.float64)
        return smallest


def _ranks(rising: Floats, table: Floats) -> Floats:
    """How many calibrated draws are as large as each entry, column by column."""
    near = table - 1e-9 * np.abs(table) - 1e-12
    columns = [len(rising) - np.searchsorted(rising[:, i], near[:, i], side="left") for i in range(table.shape[1])]
    ranks: Floats = np.stack(columns, axis=1).astype(np.float64)
    return ranks


def least_size_above(powers: dict[int, float], least: float) -> int:
    """The smallest number of rows from which on no power that is known is below ``least``."""
    low = [n for n, power in powers.items() if power < least]
    return min((n for n in powers if n > max(low, default=0)), default=math.ceil(2 * max(powers)))

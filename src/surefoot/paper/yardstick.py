"""Printed cells of real data against the range of our splits, and what an exact replicate would reach by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from surefoot._stats.binomial import at_most, more_than
from surefoot.paper.real import REGIMES, UNCALIBRATED, Found
from surefoot.paper.tables import printed_table

#: Columns of the real tables that vary continuously, and in which table they are taken; verdicts are not among them.
CONTINUOUS = {
    "acc": "real",
    "cwa": "real",
    "gain": "cwauc_real",
    "csr": "real",
    "sigma": "real",
    "auc": "cwauc_real",
    "cwauc": "cwauc_real",
    "auc_gain": "cwauc_real",
    "ece_15": "real_other_indicators",
    "brier": "real_other_indicators",
    "ecd": "real_other_indicators",
    "tce_0.05": "real_other_indicators",
    "tcal": "real_other_indicators",
    "mcaldist": "real_other_indicators",
    "cwsa_0.5": "real_other_indicators",
    "cwsa_plus_0.5": "real_other_indicators",
}
#: What is compared beside them, and not counted: verdicts, P_risk, which is often exactly 0 or 1, and differences.
BESIDE = {
    "p_risk": "real",
    "delta_cwa": "cwauc_real",
    "delta_auc": "cwauc_real",
    "ecd_test": "real_other_indicators",
    "tcal_reject": "real_other_indicators",
}
#: Half of the last printed digit; of numbers above 1 the slack is relative to them.
HALF_DIGIT = 5e-5


@dataclass(frozen=True)
class RealCell:
    """A printed cell, and ours on each split."""

    name: str
    regime: str
    quantity: str
    printed: float
    ours: tuple[float, ...]

    @property
    def least(self) -> float:
        return min(self.ours)

    @property
    def most(self) -> float:
        return max(self.ours)

    @property
    def side(self) -> int:
        """0 if the printed number is in the range of our splits, -1 if below, 1 if above."""
        return self._side(HALF_DIGIT * max(1.0, abs(self.printed)))

    def _side(self, slack: float) -> int:
        return int(self.printed > self.most + slack) - int(self.printed < self.least - slack)

    @property
    def is_inside(self) -> bool:
        return self.side == 0

    @property
    def is_inside_by_slack(self) -> bool:
        """Whether it would be outside if the slack were half of the last printed digit, however large the number."""
        return self.is_inside and self._side(HALF_DIGIT) != 0

    @property
    def counts(self) -> bool:
        """Whether it is counted: each number once.

        Accuracy is that of the raw model in every regime, and wine is printed three times.
        """
        is_first = self.regime == "raw" or (self.quantity != "acc" and self.name not in UNCALIBRATED)
        return self.quantity in CONTINUOUS and is_first


def compare(found: Found) -> list[RealCell]:
    """Every printed cell of the data sets that were run."""
    cells = []
    tables = {table: printed_table(table, 2) for table in ("real", "real_other_indicators", "cwauc_real")}
    for name in dict.fromkeys(name for name, _ in found):
        own = [by_regime for (which, _), by_regime in found.items() if which == name]
        for regime in REGIMES:
            for quantity, table in (CONTINUOUS | BESIDE).items():
                ours = tuple(float(one[regime][quantity]) for one in own)
                cells.append(RealCell(name, regime, quantity, tables[table][regime, name][quantity], ours))
    return cells


@dataclass(frozen=True)
class Share:
    """How many of some cells lie inside, and how many an exact replicate would reach."""

    inside: int
    cells: int
    expected: float
    below: int
    above: int

    @property
    def share(self) -> float:
        return self.inside / self.cells

    @property
    def share_expected(self) -> float:
        return self.expected / self.cells

    def pvalue(self) -> float:
        """Two-sided, of so few or so many inside if cells are independent and an exact replicate's."""
        p = self.share_expected
        few, many = float(at_most(self.inside, self.cells, p)), float(more_than(self.inside - 1, self.cells, p))
        return min(1.0, 2 * min(few, many))


def share_of(cells: Iterable[RealCell]) -> Share:
    """Of the cells that count."""
    own = [cell for cell in cells if cell.counts]
    sides = [cell.side for cell in own]
    expected = float(sum(replicate(len(cell.ours)) for cell in own))
    return Share(sides.count(0), len(own), expected, sides.count(-1), sides.count(1))


def replicate(splits: int) -> Fraction:
    """How often one more split lies in the range of so many: it is neither the least nor the most of them all."""
    return Fraction(splits - 1, splits + 1)


def of_columns(cells: Sequence[RealCell]) -> dict[str, dict[str, Share]]:
    """For each column and regime, its share over data sets, which are independent."""
    return {
        quantity: {
            regime: share_of(own)
            for regime in REGIMES
            if (own := [c for c in cells if c.quantity == quantity and c.regime == regime and c.counts])
        }
        for quantity in CONTINUOUS
    }


def width_ratio(cells: Sequence[RealCell], others: Sequence[RealCell]) -> float:
    """How much wider ranges are than others of the same cells, in the median."""
    pairs = [
        (one.most - one.least) / (other.most - other.least)
        for one, other in zip(cells, others, strict=True)
        if one.counts and other.most > other.least
    ]
    return float(np.median(pairs))

"""Does a printed number of a simulation agree with ours? Each kind of number has a rule that an exact copy passes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot._stats.binomial import at_most, more_than
from surefoot.core.table import Floats

#: Repetitions that the paper averages, digits it prints, standard errors allowed, and the level of the test of rates.
REPETITIONS, _HALF_DIGIT, _ERRORS, _LEVEL = 100, 5e-5, 4.0, 1e-4
RATES = ("over_1_sigma", "over_3_sigma")
#: Profiles of which the mean of 1 / doubt is infinite, and with it the variance of CSR and sigma.
HEAVY = ("uniform", "skew_high", "bimodal", "tight_hi", "normal")
#: The share of bootstrapped means that a mean of infinite variance is to lie among, and how many are drawn.
_BOOTSTRAPPED, _DRAWS = 0.999, 20_000
#: The share of our single runs that a printed single run is to lie among.
SINGLE = 0.99

Kind = Literal["mean", "rate", "infinite variance", "single run"]


@dataclass(frozen=True)
class Cell:
    """A printed number, ours, and whether they agree; ``again`` says that it is printed, or follows, elsewhere."""

    table: str
    row: tuple[str, ...]
    quantity: str
    printed: float
    ours: float
    agrees: bool
    kind: Kind = "mean"
    again: bool = False


def cell(
    table: str,
    row: tuple[str, ...],
    quantity: str,
    printed: float,
    drawn: Floats,
    *,
    repetitions: int = REPETITIONS,
    again: bool = False,
) -> Cell:
    """A mean over repetitions, or a rate."""
    ours = float(drawn.mean())
    if quantity in RATES:
        agrees = _rate_agrees(printed, drawn, repetitions)
        return Cell(table, row, quantity, printed, ours, agrees, "rate", again)
    slack = _HALF_DIGIT * max(1.0, abs(printed) * 1e-3)
    if quantity in ("csr", "sigma") and any(name in HEAVY for name in row):
        low, high = bootstrapped(drawn, repetitions)
        agrees = low - slack <= printed <= high + slack
        return Cell(table, row, quantity, printed, ours, agrees, "infinite variance", again)
    error = float(drawn.std(ddof=1)) * math.sqrt(1 / repetitions + 1 / len(drawn)) if len(drawn) > 1 else math.nan
    agrees = abs(printed - ours) <= _ERRORS * error + slack
    agrees = agrees or (quantity == "p_risk" and _seldom_agrees(printed, drawn, repetitions))
    return Cell(table, row, quantity, printed, ours, bool(agrees), "mean", again)


def bootstrapped(drawn: Floats, repetitions: int) -> tuple[float, float]:
    """Between which 99.9% of the means of so many repetitions lie, drawn from ours with replacement."""
    rng = np.random.default_rng(0)
    means = np.concatenate(
        [drawn[rng.integers(0, len(drawn), (1000, repetitions))].mean(axis=1) for _ in range(_DRAWS // 1000)]
    )
    low, high = np.quantile(means, [(1 - _BOOTSTRAPPED) / 2, (1 + _BOOTSTRAPPED) / 2])
    return float(low), float(high)


def _rate_agrees(printed: float, drawn: Floats, repetitions: int) -> bool:
    """Two-sided, against the range of rates that our own repetitions leave open."""
    events = round(printed * repetitions)
    hits, n = float(drawn.sum()), len(drawn)
    # our rate is itself an estimate: four standard errors to either side
    spread = 4 * math.sqrt(max(hits, 1.0) * max(n - hits, 1.0) / n) / n
    low, high = max(0.0, hits / n - spread), min(1.0, hits / n + spread)
    enough = float(more_than(events - 1, repetitions, high))
    few = float(at_most(events, repetitions, low))
    return 2 * enough >= _LEVEL and 2 * few >= _LEVEL


def _seldom_agrees(printed: float, drawn: Floats, repetitions: int) -> bool:
    """A mean of P_risk that is 0, or 1, but for a few experiments: so many of them, as a rate."""
    usual = round(printed)
    odd = np.abs(drawn - usual) > 1e-3
    events = math.ceil(abs(printed - usual) * repetitions - 1e-9)
    return events <= 5 and _rate_agrees(events / repetitions, odd.astype(np.float64), repetitions)


def single_cell(
    table: str, row: tuple[str, ...], quantity: str, printed: float, drawn: Floats, *, again: bool = False
) -> Cell:
    """One experiment that the paper prints: no further out than half a percent of ours on either side."""
    # both count the printed value itself, as one more run
    below = (1 + np.count_nonzero(drawn <= printed + _HALF_DIGIT)) / (len(drawn) + 1)
    above = (1 + np.count_nonzero(drawn >= printed - _HALF_DIGIT)) / (len(drawn) + 1)
    agrees = bool(2 * min(below, above) >= 1 - SINGLE)
    return Cell(table, row, quantity, printed, float(drawn.mean()), agrees, "single run", again)


def count_agreement(cells: Iterable[Cell]) -> tuple[int, int]:
    """Cells that agree, and all; each number once."""
    own = [one for one in cells if not one.again]
    return sum(one.agrees for one in own), len(own)

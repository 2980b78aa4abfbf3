"""Does a printed number agree with ours? By four standard errors of what the paper averaged, or a binomial test."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from surefoot._stats.binomial import at_most, more_than
from surefoot.core.table import Floats

#: Repetitions that the paper averages, digits it prints, standard errors allowed, and the level of the test of rates.
REPETITIONS, _HALF_DIGIT, _ERRORS, _LEVEL = 100, 5e-5, 4.0, 1e-4
RATES = ("over_1_sigma", "over_3_sigma")
#: Profiles of which the mean of 1 / doubt is infinite, and with it the variance of CSR and sigma.
HEAVY = ("uniform", "skew_high", "bimodal", "tight_hi", "normal")


@dataclass(frozen=True)
class Cell:
    """A printed number, ours, and whether they agree; ``why`` says what keeps them from being compared."""

    table: str
    row: tuple[str, ...]
    quantity: str
    printed: float
    ours: float
    #: Of the mean of as many repetitions as the paper has.
    error: float
    agrees: bool
    why: str = ""


def cell(
    table: str, row: tuple[str, ...], quantity: str, printed: float, drawn: Floats, *, repetitions: int = REPETITIONS
) -> Cell:
    """A mean over repetitions, or a rate."""
    ours = float(drawn.mean())
    if quantity in RATES:
        error = math.sqrt(ours * (1 - ours) / repetitions)
        return Cell(table, row, quantity, printed, ours, error, _rate_agrees(printed, drawn, repetitions))
    error = float(drawn.std(ddof=1)) * math.sqrt(1 / repetitions + 1 / len(drawn)) if len(drawn) > 1 else math.nan
    agrees = abs(printed - ours) <= _ERRORS * error + _HALF_DIGIT * max(1.0, abs(printed) * 1e-3)
    agrees = agrees or (quantity == "p_risk" and _seldom_agrees(printed, drawn, repetitions))
    why = ""
    if quantity in ("csr", "sigma") and any(name in HEAVY for name in row):
        why = "infinite variance: a mean of any number of repetitions is at the mercy of a few rows"
    return Cell(table, row, quantity, printed, ours, error, bool(agrees), why)


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


def single_cell(table: str, row: tuple[str, ...], quantity: str, printed: float, drawn: Floats) -> Cell:
    """One experiment that the paper prints: within the range of ours."""
    made = cell(table, row, quantity, printed, drawn, repetitions=1)
    inside = float(np.min(drawn)) - _HALF_DIGIT <= printed <= float(np.max(drawn)) + _HALF_DIGIT
    return replace(made, agrees=made.agrees or inside)


def count_agreement(cells: list[Cell]) -> tuple[int, int, int]:
    """Cells that agree, those that can be compared, and those that cannot."""
    comparable = [one for one in cells if not one.why]
    return sum(one.agrees for one in comparable), len(comparable), len(cells) - len(comparable)

"""Calibrated events and classes are seldom called: a quick part of what benchmarks/VALIDITY.md has at length."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.events import class_alarms, event_alarms, of_event, pvalues


@pytest.mark.parametrize("cell", [("uniform, with exact 0 and 1", 100, 0), ("rare, Beta(0.5, 10)", 300, 0)])
def test_a_calibrated_event_is_seldom_called_anything(cell: tuple[str, int, int]) -> None:
    shares, agreement = event_alarms(cell, 200)
    # the most alarms that 199 of 200 such tests have by chance, if each is at 5%
    assert round(200 * shares[0]) <= binom.ppf(0.995, 200, 0.05)
    assert agreement.compared == agreement.agreed == 4


def test_calibrated_classes_are_seldom_called_anything() -> None:
    share, _ = class_alarms((20, 100), 100)
    assert round(100 * share) <= binom.ppf(0.995, 100, 0.05)


def test_the_false_alarms_of_one_probability_by_full_enumeration() -> None:
    """All that can happen to 100 rows of P(event) = 0.2 is a number of events, whose chance is known."""
    flagged = 0.0
    for events in range(101):
        over, under = pvalues(of_event(np.arange(100) < events, np.full(100, 0.2)))
        flagged += float(binom.pmf(events, 100, 0.2)) if min(over, under) <= 0.025 else 0.0
    assert 0.025 <= flagged <= 0.05


@pytest.mark.parametrize(
    ("p", "events"), [(0.7296554464299441, 30), (0.7296554464299441, 12), (0.9808353387762301, 25)]
)
def test_one_probability_is_tested_on_one_side(p: float, events: int) -> None:
    """Log-odds that are all at their mean say nothing of extremeness, though their mean is rounded."""
    over, under = pvalues(of_event(np.arange(30) < events, np.full(30, p)))
    shown, other = (over, under) if events < 30 * p else (under, over)
    assert shown < 0.01
    assert other > 0.9

"""Curves of rows that belong together: every row repeated says as much as the rows once."""

from __future__ import annotations

import numpy as np
import pytest
from risk_sample import DIED, RISK

import surefoot as sf
from surefoot.predictions import ArrayPredictions
from surefoot.risk.grouped_curves import decision_curve_of_groups, flexible_curve_of_groups

TIMES = 20


def event(times: int) -> ArrayPredictions:
    p = sf.Predictions.from_probabilities(
        np.repeat(DIED, times).astype(int), np.repeat(RISK, times), labels=[0, 1], of="event", pos_label=1
    )
    assert isinstance(p, ArrayPredictions)
    return p


def test_net_benefit_of_repeated_rows_has_the_limits_of_the_rows_once() -> None:
    once = sf.decision_curve(event(1))
    found = decision_curve_of_groups(event(TIMES), np.repeat(np.arange(len(RISK)), TIMES))
    assert found.net_benefit == pytest.approx(once.net_benefit, abs=1e-12)
    assert found.lower == pytest.approx(once.lower, abs=1e-9)
    assert found.upper == pytest.approx(once.upper, abs=1e-9)
    # what is said without groups is much narrower
    plain = sf.decision_curve(event(TIMES))
    assert (plain.upper - plain.lower)[29] < 0.3 * (found.upper - found.lower)[29]


def test_the_band_of_repeated_rows_is_that_of_the_rows_once() -> None:
    once, found = sf.flexible_curve(event(1)), flexible_curve_of_groups(event(TIMES), TIMES)
    assert found.observed == pytest.approx(once.observed, abs=1e-9)
    # two events are added to the rows once, and to as many rows more often: that is all the difference
    assert found.upper - found.lower == pytest.approx(once.upper - once.lower, rel=0.1, abs=0.01)
    assert sf.flexible_curve(event(TIMES)).upper == pytest.approx(flexible_curve_of_groups(event(TIMES), 1.0).upper)


def test_a_report_of_groups_has_one_interval_of_each_number() -> None:
    groups = np.repeat(np.arange(len(RISK)), TIMES)
    repeated, once = sf.assess(event(TIMES), groups=groups), sf.assess(event(1))
    display = sf.plots.DecisionCurveDisplay.from_assessment(repeated)
    assert display.curve.lower == pytest.approx(sf.decision_curve(event(1)).lower, abs=1e-9)
    assert repeated.intervals["brier"].low == pytest.approx(once.intervals["brier"].low, rel=0.01)

"""Partitions that are watched apart, and judged together."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from surefoot.risk.stream.combining import combine
from surefoot.risk.stream.monitor import Monitor


def test_it_is_the_mean_of_the_e_values() -> None:
    monitors = []
    for rows, right in ((40, 0.3), (60, 0.9), (80, 0.8)):
        monitor = Monitor()
        monitor.update(np.arange(rows) < right * rows, np.full(rows, 0.9))
        monitors.append(monitor)
    expected = sum(monitor.e_value for monitor in monitors) / 3
    assert combine(monitors) == pytest.approx(math.log(expected), rel=1e-12)
    assert combine(monitors[:1]) == monitors[0].log_e


def test_one_that_is_refuted_refutes_all_and_none_is_an_error() -> None:
    refuted = Monitor()
    refuted.update([False], [1.0])
    assert combine([Monitor(), refuted]) == math.inf
    with pytest.raises(ValueError, match="empty"):
        combine([])


def test_its_mean_is_1_over_every_outcome_of_calibrated_partitions() -> None:
    """Two partitions of three rows each: every outcome, weighted by its probability under the stated confidences."""
    claims = [(0.9, 0.7, 0.6), (0.8, 0.95, 0.55)]
    mean = 0.0
    for outcome in product((True, False), repeat=6):
        monitors, chance = [], 1.0
        for confidence, correct in zip(claims, (outcome[:3], outcome[3:]), strict=True):
            monitor = Monitor()
            monitor.update(list(correct), list(confidence))
            monitors.append(monitor)
            chance *= math.prod(c if right else 1 - c for c, right in zip(confidence, correct, strict=True))
        mean += chance * math.exp(combine(monitors))
    assert mean == pytest.approx(1.0, rel=1e-9)

"""The level at which the tests of all thresholds hold together, against enumeration, recursion row by row and draws."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from surefoot._stats import joint_level as module
from surefoot._stats.joint_level import chance_of_crossing, first_rows, joint_level, steps


def passes(errors: int, rows: int, rate: float, level: float) -> bool:
    return rows > 0 and binom.cdf(errors, rows, rate) <= level


def chance_row_by_row(rows: int, rate: float, level: float) -> float:
    """The chance that a walk ever passes, followed row after row."""
    alive, crossed = np.zeros(rows + 2), 0.0
    alive[0] = 1.0
    for k in range(1, rows + 1):
        alive[1:] = alive[1:] * (1 - rate) + alive[:-1] * rate
        alive[0] *= 1 - rate
        good = binom.cdf(np.arange(rows + 2), k, rate) <= level
        crossed += alive[good].sum()
        alive[good] = 0.0
    return crossed


def test_the_chance_by_enumeration_of_all_sequences():
    rate, level, rows = 0.4, 0.2, 9
    chance = sum(
        np.prod([rate if wrong else 1 - rate for wrong in sequence])
        for sequence in product([0, 1], repeat=rows)
        if any(passes(sum(sequence[:k]), k, rate, level) for k in range(1, rows + 1))
    )
    assert chance_of_crossing(rows, rate, level) == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize(("rows", "rate", "level"), [(60, 0.05, 0.05), (300, 0.05, 0.016), (400, 0.3, 0.004)])
def test_the_chance_row_by_row(rows, rate, level):
    assert chance_of_crossing(rows, rate, level) == pytest.approx(chance_row_by_row(rows, rate, level), rel=1e-9)


@pytest.mark.parametrize("rate", [0.02, 0.3])
def test_beyond_the_exact_part_the_chance_is_never_too_small(rate, monkeypatch):
    rows = int(1500 / rate)
    quick = chance_of_crossing(rows, rate, 0.003)
    monkeypatch.setattr(module, "_EXACT", 5000)
    exact = chance_of_crossing(rows, rate, 0.003)
    assert exact <= quick <= 1.15 * exact


@pytest.mark.parametrize("rows", [30, 59, 60, 75, 300, 1050, 2000, 33_333])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_the_level_is_kept_and_nearly_used_up(rows, rate, level):
    each = joint_level(rows, rate, level)
    assert each <= level
    chance = chance_of_crossing(rows, rate, each)
    assert chance <= level
    # a slightly larger one would be too large, but for what rounding rows up costs; unless it is the level itself
    assert each == level or chance_of_crossing(int(rows * 1.11), rate, 1.1 * each) > level


def test_the_first_rows_that_pass():
    for rate, level in ((0.05, 0.05), (0.3, 0.001), (0.01, 1e-5)):
        for errors in (0, 1, 7, 40):
            first = int(first_rows(errors, rate, level))
            assert passes(errors, first, rate, level)
            assert not passes(errors, first - 1, rate, level)
    assert steps(58, 0.05, 0.05, 10).tolist() == []
    assert steps(93, 0.05, 0.05, 10).tolist() == [59, 93]  # the sample sizes of "zero failures, one failure" tables


def test_walks_cross_as_often_as_they_should():
    rng = np.random.default_rng(1)
    rows, rate = 2000, 0.05
    each = joint_level(rows, rate, 0.05)
    allowed = np.full(rows + 1, -1)
    for errors, first in enumerate(steps(rows, rate, each, rows)):
        allowed[first:] = errors
    walks = np.cumsum(rng.random((20_000, rows)) < rate, axis=1)
    share = (walks <= allowed[1:]).any(axis=1).mean()
    assert 0.049 - 3 * 0.0016 < share < 0.05 + 3 * 0.0016

"""Tails of the number of errors from sums of strata: never below the exact one, and equal to it where strata are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from surefoot.risk.law.strata import Strata, log_bounds, pvalue


def strata(rows: object, errors: object, expected: object, least: object = None) -> Strata:
    columns = [np.atleast_2d(np.array(one, dtype=float)) for one in (rows, errors, expected)]
    return Strata(*columns, columns[2] if least is None else np.atleast_2d(np.array(least, dtype=float)))


def law(chances: np.ndarray) -> np.ndarray:
    """The exact law of a count of independent events, by convolution."""
    f = np.ones(1)
    for q in chances:
        f = np.convolve(f, [1 - q, q])
    return f


@pytest.mark.parametrize("seed", range(40))
def test_no_pvalue_and_no_bound_is_below_the_exact_tail(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 40))
    chances = rng.beta(rng.uniform(0.1, 2), rng.uniform(0.1, 4), rows)
    bands = rng.integers(0, int(rng.integers(1, 5)), rows)
    f, mean = law(chances), float(chances.sum())
    counts, expected = np.bincount(bands, minlength=5), np.bincount(bands, chances, 5)
    for k in range(rows + 1):
        group = strata(counts, [k, 0, 0, 0, 0], expected)
        exact = float(f[k:].sum() if k > mean else f[: k + 1].sum())
        assert pvalue(group) >= exact * (1 - 1e-9)
        assert log_bounds(group)[0] >= (math.log(exact) if exact else -math.inf) - 1e-9


def test_of_equal_chances_it_is_the_binomial_tail() -> None:
    assert pvalue(strata([50], [20], [5])) == pytest.approx(binom.sf(19, 50, 0.1), rel=1e-9)
    assert pvalue(strata([500], [20], [50])) == pytest.approx(binom.cdf(20, 500, 0.1), rel=1e-9)


def test_of_two_strata_it_is_the_tail_of_two_binomials() -> None:
    one, two = binom.pmf(np.arange(41), 40, 0.05), binom.pmf(np.arange(61), 60, 0.4)
    exact = np.convolve(one, two)[40:].sum()
    assert pvalue(strata([40, 60], [10, 30], [2, 24])) == pytest.approx(exact, rel=1e-9)
    # averaged over all rows it would be larger
    assert exact < binom.sf(39, 100, 0.26)


def test_one_error_where_hardly_any_is_expected_is_as_unlikely_as_expected_errors_say() -> None:
    assert pvalue(strata([1000], [1], [1e-5])) == 1e-5
    assert pvalue(strata([1000], [1], [0.0])) == 0.0


def test_as_many_errors_as_expected_say_nothing() -> None:
    assert pvalue(strata([100], [10], [10])) == 1.0
    assert pvalue(strata([100], [11], [10.5])) == 1.0
    assert log_bounds(strata([100], [10], [10])).tolist() == [0.0]


def test_chernoffs_bound_is_within_a_hundred_of_the_tail() -> None:
    for k in (30, 60, 120, 400):
        group = strata([2000, 2000], [k, k], [20, 200])
        if k * 2 > 220:
            assert 0 <= log_bounds(group)[0] - math.log(pvalue(group)) < math.log(100)


def test_rows_rounded_to_certainty_are_no_evidence_of_underconfidence() -> None:
    # 100 rows whose doubt is a convention of 0.1 each, and no error
    assert pvalue(strata([100], [0], [10])) == pytest.approx(0.9**100)
    assert pvalue(strata([100], [0], [10], [0])) == 1.0
    # against too many errors the convention counts
    assert pvalue(strata([100], [30], [10], [0])) == pvalue(strata([100], [30], [10]))


def test_parts_are_taken_from_groups() -> None:
    rest = strata([10, 20], [1, 2], [0.5, 3]) - strata([4, 20], [1, 2], [0.25, 3])
    assert rest.rows.tolist() == [[6, 0]]
    assert rest.errors.tolist() == [[0, 0]]
    assert rest.overstatement == pytest.approx([-0.25 / 6])

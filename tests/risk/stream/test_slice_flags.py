"""Which slices of a stream are flagged, whenever one looks."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from surefoot.risk.stream.slices import _log_adjusted, flag_slices, limit, weight


@pytest.mark.parametrize("number", [1, 2, 10, 100])
def test_the_largest_value_becomes_an_e_value(number) -> None:
    """The law of the largest value of a fair bet is at most 1 / y, so the integral of A(y) / y^2 is its mean."""
    log_u = math.log(limit(number, 0.05))

    def density(t: float) -> float:
        return math.exp(_log_adjusted(t, log_u) - t)

    pieces = [0.0, 1e-4, 1e-3, 0.1, 1.0, log_u]
    total = sum(quad(density, a, b)[0] for a, b in pairwise(pieces))
    # beyond u: half of u at once, and half of the gradual part, which falls as 1 / t^2
    total += quad(density, log_u, 200.0, limit=200)[0] + 0.5 / 200.0
    assert total == pytest.approx(1.0, abs=2e-3)


def test_the_weights_of_any_number_of_slices_sum_to_1() -> None:
    assert sum(weight(i) for i in range(1, 1001)) == pytest.approx(1 - 1 / 1001, rel=1e-12)


def test_a_slice_alone_is_flagged_from_its_limit() -> None:
    for number, value in ((1, 80), (2, 240), (5, 1_200)):
        before = [0.0] * (number - 1)
        assert limit(number, 0.05) == pytest.approx(value)
        assert flag_slices([*before, math.log(value * 1.000001)])[-1]
        assert not any(flag_slices([*before, math.log(value * 0.999)]))
    assert flag_slices([]) == []
    assert flag_slices([math.inf, -5.0]) == [True, False]


def by_definition(log_peaks, level):
    """e-BH as it is written: the k largest, for the largest k at which the k-th is at least 1 / (k level)."""
    values = [weight(i) * math.exp(_log_adjusted(p, math.log(limit(i, level)))) for i, p in enumerate(log_peaks, 1)]
    falling = sorted(values, reverse=True)
    most = max((k for k, value in enumerate(falling, 1) if value >= 1 / (k * level)), default=0)
    return [most > 0 and value >= falling[most - 1] for value in values]


def test_it_is_e_bh_and_only_grows_with_the_evidence() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        peaks = np.where(rng.random(12) < 0.5, rng.exponential(1, 12), rng.uniform(0, 16, 12))
        found = flag_slices(peaks.tolist())
        assert found == by_definition(peaks.tolist(), 0.05)
        more = flag_slices((peaks + rng.exponential(1, 12)).tolist())
        assert all(later for before, later in zip(found, more, strict=True) if before)


@pytest.mark.parametrize("are_alike", [False, True])
def test_false_discoveries_at_the_worst_law_that_ville_allows(are_alike) -> None:
    """P(largest value >= y) = 1 / y exactly, independent or all the same; four of twelve slices are off."""
    rng = np.random.default_rng(4)
    runs, level = 3_000, 0.2
    some, false = 0, []
    for _ in range(runs):
        null = -np.log(np.full(12, rng.random()) if are_alike else rng.random(12))
        some += any(flag_slices(null.tolist(), level))
        off = null + np.where(np.arange(12) % 3 == 0, 12.0, 0.0)
        flags = np.array(flag_slices(off.tolist(), level))
        false.append(flags[np.arange(12) % 3 != 0].sum() / max(flags.sum(), 1))
    assert some <= runs * (level + 3 * math.sqrt(level * (1 - level) / runs))
    assert np.mean(false) <= level + 3 * np.std(false) / math.sqrt(runs)

"""Worse than a baseline: by more than chance explains, and by enough to matter."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import surefoot as sf
from surefoot.assessment.baseline import compare_with_baseline


def model(n: int, shortfall: float = 0.0, *, seed: int, low: float = 0.6, high: float = 0.98) -> sf.Predictions:
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(low, high, n)
    return sf.Predictions.from_correct(rng.random(n) < confidence * (1 - shortfall), confidence)


def compared(now: sf.Predictions, baseline: sf.Predictions, **options):
    before = sf.assess(sf.tally(baseline), **options)
    return compare_with_baseline(sf.assess(now, metrics=[], **options), before)


def change(found, name: str):
    return next(one for one in found.changes if one.name == name)


def test_a_model_that_overstates_more_is_worse() -> None:
    found = compared(model(4000, 0.06, seed=1), model(4000, seed=0))
    one = change(found, "overstatement")
    assert found.is_worse
    assert one.is_worse
    assert 0.02 < one.at_least < one.change
    assert one.change == pytest.approx(found.now.risk.overstatement - found.baseline.risk.overstatement)


def test_chance_is_seldom_called_worse() -> None:
    """Of models that are as good as before, at most 5% are called worse: here 60 pairs of few rows."""
    called = 0
    for seed in range(60):
        called += compared(model(150, seed=2 * seed), model(150, seed=2 * seed + 1)).is_worse
    assert called <= 4


def test_chance_is_seldom_called_worse_even_where_both_are_overconfident() -> None:
    pairs = ((model(300, 0.1, seed=2 * seed), model(300, 0.1, seed=2 * seed + 1)) for seed in range(40))
    assert sum(compared(now, before).is_worse for now, before in pairs) <= 3


def test_a_rise_that_is_certain_but_small_is_not_worse() -> None:
    """Of 200,000 rows half a point is beyond chance, and does not matter while the baseline is overconfident, too."""
    found = compared(model(200_000, 0.025, seed=1), model(200_000, 0.02, seed=0))
    assert change(found, "overstatement").is_significant
    assert not found.is_worse
    assert compared(model(200_000, 0.025, seed=1), model(200_000, 0.02, seed=0), margin=0.002).is_worse


def test_a_rise_that_is_large_but_by_chance_is_not_worse() -> None:
    correct = np.array([True] * 17 + [False] * 3)
    less = np.array([True] * 15 + [False] * 5)
    found = compared(
        sf.Predictions.from_correct(less, np.full(20, 0.85)), sf.Predictions.from_correct(correct, np.full(20, 0.85))
    )
    assert change(found, "overstatement").change == pytest.approx(0.1)
    assert not found.is_worse


def test_errors_of_a_model_that_is_nearly_always_right_are_compared_by_their_ratio() -> None:
    """Three times as many errors are less than two points where one in 200 is wrong."""
    n = 20_000
    confidence = np.full(n, 0.995)
    before = sf.Predictions.from_correct(np.arange(n) >= 100, confidence)
    now = sf.Predictions.from_correct(np.arange(n) >= 300, confidence)
    found = compared(now, before)
    assert not change(found, "overstatement").is_worse
    assert change(found, "oe_ratio").change == pytest.approx(3)
    assert change(found, "oe_ratio").is_worse
    assert change(found, "oe_ratio_above_99").is_worse


def test_the_limit_of_a_ratio_is_that_of_a_binomial_share() -> None:
    """30 errors now and 10 before, as many expected: the limit of the share 30 / 40 by Clopper and Pearson."""
    from scipy.stats import binomtest

    n = 1000
    before = sf.Predictions.from_correct(np.arange(n) >= 10, np.full(n, 0.98))
    now = sf.Predictions.from_correct(np.arange(n) >= 30, np.full(n, 0.98))
    one = change(compared(now, before), "oe_ratio")
    low = binomtest(30, 40).proportion_ci(1 - 2 * 0.05 / 3).low
    assert one.at_least == pytest.approx(low / (1 - low), rel=1e-9)
    assert (one.baseline, one.now) == (pytest.approx(0.5), pytest.approx(1.5))


def test_newly_risky_needs_more_than_another_verdict() -> None:
    found = compared(model(20_000, 0.015, seed=1), model(20_000, seed=0))
    assert found.now.verdict == "overconfident"
    assert found.baseline.verdict != "overconfident"
    assert found.is_newly_risky == change(found, "overstatement").is_significant
    few = compared(model(20_000, 0.015, seed=1), model(60, seed=2))
    assert few.now.verdict == "overconfident"
    assert not any(one.is_significant for one in few.changes)
    assert not few.is_newly_risky
    assert not few.is_worse


def test_certainty_that_is_wrong_where_it_never_was() -> None:
    n = 500
    before = sf.Predictions.from_correct(np.ones(n, dtype=bool), np.full(n, 1.0))
    now = sf.Predictions.from_correct(np.arange(n) >= 25, np.full(n, 1.0))
    found = compared(now, before)
    assert change(found, "oe_ratio").change == math.inf
    assert found.is_worse
    json.dumps(found.to_dict(), allow_nan=False)
    assert not compared(before, now).is_worse


def test_unequal_weights_are_compared_by_overstatement_alone() -> None:
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 1.5, 3000)

    def weighted(shortfall: float, seed: int) -> sf.Predictions:
        p = model(3000, shortfall, seed=seed)
        return sf.Predictions.from_correct(p.correct, p.confidence, sample_weight=weight)

    found = compared(weighted(0.15, 1), weighted(0.0, 0))
    assert [one.name for one in found.changes] == ["overstatement"]
    assert found.is_worse
    assert not compared(weighted(0.0, 1), weighted(0.0, 0)).is_worse


def right(n: int, share: float, confidence: float) -> sf.Predictions:
    """Rows of one confidence, of which just this share is correct."""
    return sf.Predictions.from_correct(np.arange(n) < round(share * n), np.full(n, confidence))


def test_an_underconfident_model_that_becomes_calibrated_has_improved() -> None:
    """98% right at 80% before, 80% right now: overstatement rose by 18 points and O/E to 10 times, from below."""
    found = compared(right(5000, 0.8, 0.8), right(5000, 0.98, 0.8))
    rose = change(found, "overstatement")
    assert (rose.change, rose.now) == (pytest.approx(0.18), pytest.approx(0.0, abs=1e-12))
    assert change(found, "oe_ratio").change == pytest.approx(10)
    assert all(one.is_significant and not one.is_too_high for one in found.changes)
    assert not found.is_worse
    assert not any(one["too_high"] for one in found.to_dict()["changes"])
    # by chance a little too many errors are no sign of being worse, either; many are
    assert not compared(right(5000, 0.795, 0.8), right(5000, 0.98, 0.8)).is_worse
    assert compared(right(5000, 0.75, 0.8), right(5000, 0.98, 0.8)).is_worse


def test_the_limit_of_what_is_now_is_that_of_a_binomial_share() -> None:
    from scipy.stats import binomtest

    found = compared(right(1000, 0.97, 0.98), right(1000, 0.99, 0.98))
    low = binomtest(30, 1000).proportion_ci(1 - 2 * 0.05 / 3).low
    assert change(found, "oe_ratio").now_at_least == pytest.approx(low / 0.02, rel=1e-9)
    assert change(found, "overstatement").now_at_least == pytest.approx(low - 0.02, rel=1e-9)


def test_o_e_is_left_out_where_one_run_alone_expects_errors() -> None:
    """10,000 rows with confidence 1 and no error before; now 58 errors where 50 are expected."""
    certain, now = right(10_000, 1.0, 1.0), right(10_000, 0.9942, 0.995)
    found = compared(now, certain)
    assert found.now.risk.oe_ratio == pytest.approx(1.16)
    assert [one.name for one in found.changes] == ["overstatement"]
    assert not found.is_worse
    assert [one.name for one in compared(certain, now).changes] == ["overstatement"]


def test_a_tally_is_given_the_design_effect_of_the_rows_with_groups() -> None:
    """Rows of ten to a group that are right or wrong together: sums know no groups, so the limits were too narrow."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 10)
    confidence = np.full(3000, 0.8)
    before, now = (sf.Predictions.from_correct(np.repeat(rng.random(300) < 0.8, 10), confidence) for _ in range(2))
    current = sf.assess(now, metrics=[], groups=groups)
    assert current.risk.design_effect > 5
    by_rows = compare_with_baseline(current, sf.assess(before, metrics=[]))
    by_sums = compare_with_baseline(current, sf.assess(sf.tally(before)))
    assert by_sums.changes == by_rows.changes
    # the limit for a tenth of the rows, each a group, is the same: their design effect is 1
    tenth = [sf.Predictions.from_correct(p.correct[::10], confidence[::10]) for p in (now, before)]
    alone = change(compare_with_baseline(*(sf.assess(p, metrics=[]) for p in tenth)), "overstatement")
    found = change(by_sums, "overstatement")
    assert found.change == pytest.approx(alone.change)
    assert found.at_least == pytest.approx(alone.at_least, rel=0.02)

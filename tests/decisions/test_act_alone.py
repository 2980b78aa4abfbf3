"""From which confidence a model may act alone: against brute force, and the promise by simulation."""

import math

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

import surefoot as sf
from surefoot._stats.joint_level import joint_level
from surefoot.core.thresholds import THRESHOLDS
from surefoot.decisions.offers import best_offer, offers_of
from surefoot.errors import InvalidPredictions, MetricUnavailable


def sample(rows: int, seed: int = 0, power: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Correctness and confidence; with another power than 1 not calibrated."""
    rng = np.random.default_rng(seed)
    confidence = rng.beta(8, 1, rows)
    return rng.random(rows) < confidence**power, confidence


def brute_force(correct, confidence, error, level) -> list[float]:
    """The thresholds that pass, tested one by one; of those that accept the same rows the highest."""
    each = joint_level(len(correct), error, level)
    passing = []
    for threshold, above in zip(THRESHOLDS.tolist(), [*THRESHOLDS.tolist()[1:], 2.0], strict=True):
        accepted = confidence >= threshold
        if ((confidence >= threshold) & (confidence < above)).any() and binom.cdf(
            (~correct[accepted]).sum(), accepted.sum(), error
        ) <= each:
            passing.append(threshold)
    return passing


@pytest.mark.parametrize("error", [0.01, 0.03, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("rows", [60, 400, 3000])
def test_the_lowest_threshold_that_passes(rows, error):
    correct, confidence = sample(rows)
    found = sf.act_alone(correct=correct, confidence=confidence, error=error)
    passing = brute_force(correct, confidence, error, 0.05)
    assert found.threshold == (passing[0] if passing else None)
    accepted = confidence >= (math.inf if found.threshold is None else found.threshold)
    assert found.coverage == accepted.mean()
    assert found.expected_errors == (~correct[accepted]).sum()
    assert found.accepted == accepted.sum()
    if passing:
        assert found.error_limit <= error
        low, high = found.coverage_interval
        inside = accepted.sum(), rows - accepted.sum()
        assert low == pytest.approx(beta.ppf(0.025, inside[0], inside[1] + 1))
        assert high == pytest.approx(beta.ppf(0.975, inside[0] + 1, inside[1]) if inside[1] else 1.0)


def test_the_curve_and_its_band():
    correct, confidence = sample(2000)
    found = sf.act_alone(correct=correct, confidence=confidence, error=0.05)
    curve, each = found.curve, joint_level(2000, 0.05, 0.05)
    assert (np.diff(curve.threshold) < 0).all()
    for i in range(0, len(curve.threshold), 40):
        accepted = confidence >= curve.threshold[i]
        rows, errors = accepted.sum(), (~correct[accepted]).sum()
        assert curve.coverage[i] == accepted.mean()
        assert curve.error_rate[i] == errors / rows
        assert curve.upper[i] == pytest.approx(beta.ppf(1 - each, errors + 1, rows - errors))
        assert curve.lower[i] == pytest.approx(beta.ppf(each, errors, rows - errors + 1) if errors else 0.0)
    # the promise holds where the band is below it
    lowest = curve.threshold[curve.upper <= 0.05].min()
    assert found.threshold == pytest.approx(lowest, abs=0.002)
    assert (curve.to_frame("polars")["coverage"].to_numpy() == curve.coverage).all()


def test_the_same_from_rows_tallies_and_frames(tmp_path):
    correct, confidence = sample(20_000)
    group = np.array(["a", "b", "c"])[np.arange(20_000) % 3]
    frame = pl.DataFrame({"correct": correct, "confidence": confidence, "group": group})
    database = duckdb.connect()
    database.register("rows", frame.to_arrow())
    columns = {"correct": "correct", "confidence": "confidence"}
    parts = [sf.Predictions.from_correct(correct[i::7], confidence[i::7]) for i in range(7)]
    merged = sum(sf.tally(part, by=group[i::7]) for i, part in enumerate(parts))
    merged.save(tmp_path / "all.tally")
    whole = sf.act_alone(correct=correct, confidence=confidence, error=0.04)
    sliced = sf.act_alone(correct=correct, confidence=confidence, error=0.04, by=group)
    others = [
        sf.act_alone(merged, error=0.04),
        sf.act_alone(sf.Tally.load(tmp_path / "all.tally"), error=0.04),
        sf.act_alone(frame.lazy(), **columns, error=0.04),
        sf.act_alone(frame, **columns, error=0.04),
        sf.act_alone(database.table("rows"), **columns, error=0.04),
    ]
    for other in others:
        assert (other.threshold, other.coverage, other.expected_errors) == (
            *(whole.threshold, whole.coverage, whole.expected_errors),
        )
        assert (other.curve.upper == whole.curve.upper).all()
    by_frame = sf.act_alone(frame.lazy(), **columns, error=0.04, by="group")
    assert by_frame.by == "group"
    for value in "abc":
        assert by_frame.slices[value].threshold == sliced.slices[value].threshold
    with pytest.raises(InvalidPredictions, match="this tally is sliced by"):
        sf.act_alone(merged, error=0.04, by="color")


def test_slices_share_the_level():
    correct, confidence = sample(6000)
    group = np.arange(6000) % 3
    found = sf.act_alone(correct=correct, confidence=confidence, error=0.05, by=group)
    for value in range(3):
        own = group == value
        alone = sf.act_alone(correct=correct[own], confidence=confidence[own], error=0.05, level=0.05 / 4)
        assert found.slices[value].threshold == alone.threshold
        assert found.policy.slices[value].accept == alone.threshold
    assert found.threshold == sf.act_alone(correct=correct, confidence=confidence, error=0.05, level=0.05 / 4).threshold
    with pytest.raises(ValueError, match="not known when a decision is made"):
        sf.act_alone([0, 1], [0, 1], [0.9, 0.8], error=0.05, by="truth")


def test_by_predicted_class():
    rng = np.random.default_rng(3)
    truth = rng.choice(["cat", "dog"], 4000)
    confidence = rng.beta(8, 1, 4000).clip(0.5)
    # dogs are always right
    predicted = np.where((rng.random(4000) < confidence) | (truth == "dog"), truth, "dog")
    found = sf.act_alone(truth, predicted, confidence, error=0.02, by="predicted")
    assert found.slices["cat"].coverage == 1.0
    assert found.slices["cat"].threshold == 0.5  # the lowest that occurs
    assert found.slices["dog"].coverage < 1.0
    assert found.policy.decide([0.6, 0.6], by=["cat", "dog"]).tolist() == ["accept", "review"]


@pytest.mark.parametrize("shape", ["level", "waves", "two values"])
def test_the_promise_is_kept_at_its_worst(shape):
    """Where the error rate is just above the promise, it is broken as often as stated, and no more."""
    rng = np.random.default_rng(7)
    error, level, rows, draws = 0.1, 0.1, 400, 1500
    broken = 0
    for _ in range(draws):
        confidence = rng.choice([0.6, 0.9], rows) if shape == "two values" else rng.random(rows)
        rate = error * 1.0001
        if shape == "waves":
            rate = np.where((confidence * 10).astype(int) % 2, 2 * rate, 0)
        found = sf.act_alone(
            correct=rng.random(rows) >= rate, confidence=confidence, error=error, level=level
        ).threshold
        # waves: at whole tenths with an even number above them the rate is the promise, in between below or above it
        broken += found is not None and (shape != "waves" or int(found * 10 + 1e-9) % 2 == 1 or found * 10 % 1 < 1e-9)
    assert broken / draws <= level + 3 * math.sqrt(level * (1 - level) / draws)
    if shape == "level":
        assert broken / draws >= level - 4 * math.sqrt(level * (1 - level) / draws)


def test_without_a_threshold_it_says_how_many_rows_might_do():
    right = np.ones(40, dtype=bool)
    found = sf.act_alone(correct=right, confidence=np.full(40, 0.9), error=0.05)
    assert found.threshold is None
    assert (found.coverage, found.expected_errors, found.error_limit) == (
        0.0,
        0.0,
        pytest.approx(math.nan, nan_ok=True),
    )
    assert 59 <= found.rows_needed <= 500  # 59 without an error are the least
    assert found.policy.decide(1.0) == "review"
    # no number of rows makes an error rate of a half one of 5%
    coin = sf.act_alone(correct=np.arange(1000) % 2 == 0, confidence=np.full(1000, 0.9), error=0.05)
    assert (coin.threshold, coin.rows_needed) == (None, None)
    # and where they say so, more rows like these do
    correct, confidence = sample(500)
    few = sf.act_alone(correct=correct, confidence=confidence, error=0.03)
    assert few.threshold is None
    copies = math.ceil(few.rows_needed / 500)
    many = sf.act_alone(correct=np.tile(correct, copies), confidence=np.tile(confidence, copies), error=0.03)
    assert many.threshold is not None


def test_refusal_is_the_mirror_image():
    rng = np.random.default_rng(5)
    confidence = rng.random(4000)
    correct = rng.random(4000) < confidence
    found = sf.act_alone(correct=correct, confidence=confidence, error=0.1, refuse=0.6)
    each = joint_level(4000, 0.4, 0.025)
    passing = [
        threshold
        for threshold in THRESHOLDS.tolist()
        if (below := confidence < threshold).any()
        and binom.cdf(correct[below].sum(), below.sum(), 0.4) <= each
        and threshold <= found.threshold
    ]
    # refusing one more row pays while it is wrong more often than promised
    gain = [(~correct[confidence < t]).sum() - 0.6 * (confidence < t).sum() for t in THRESHOLDS]
    passing = [threshold for threshold in passing if threshold <= THRESHOLDS[int(np.argmax(gain))]]
    assert 0.35 < found.refuse < 0.45
    # of those that refuse the same rows the lowest
    refused = confidence < passing[-1]
    assert found.refuse == min(t for t in passing if ((confidence < t) == refused).all())
    assert found.refused == (confidence < found.refuse).mean()
    assert found.threshold == brute_force(correct, confidence, 0.1, 0.025)[0]
    assert found.policy.decide([0.05, found.refuse, 0.999]).tolist() == ["refuse", "review", "accept"]


def test_nothing_is_both_accepted_and_refused():
    """At 0.9 predictions are nearly always right and at 0.6 always wrong: between them both promises would hold."""
    confidence = np.repeat([0.9, 0.6], [2000, 2000])
    found = sf.act_alone(correct=confidence > 0.8, confidence=confidence, error=0.05, refuse=0.5)
    assert (found.threshold, found.refuse) == (0.9, 0.601)


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.2, 0.5, 0.75, 0.9, 0.99, 1.0])), min_size=1, max_size=60),
    st.floats(0.05, 0.6),
)
def test_costs_by_brute_force(rows, ratio):
    correct, confidence = (np.array(column) for column in zip(*rows, strict=True))
    found = sf.act_alone(correct=correct, confidence=confidence, cost_error=1.0, cost_review=ratio)
    costs = {1.1: ratio}
    for threshold in [0.0, *np.unique(confidence)]:
        accepted = confidence >= threshold
        costs[threshold] = ((~correct & accepted).sum() + ratio * (~accepted).sum()) / len(rows)
    assert found.cost.cost == pytest.approx(min(costs.values()))
    assert found.cost.cost_interval[0] <= found.cost.cost <= found.cost.cost_interval[1] + 1e-12
    assert found.cost.cost_of_acting == pytest.approx((~correct).mean())
    low, high = found.cost.threshold_interval
    assert low <= (1.0 if found.threshold is None else found.threshold) <= high


def test_the_interval_of_the_best_threshold_covers_it():
    """Calibrated: to act pays from where the doubt is the ratio of costs."""
    rng = np.random.default_rng(2)
    held = []
    for _ in range(200):
        confidence = rng.random(600)
        found = sf.act_alone(correct=rng.random(600) < confidence, confidence=confidence, cost_error=5, cost_review=1)
        low, high = found.cost.threshold_interval
        held.append(low <= 0.8 <= high)
    assert np.mean(held) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 200)


def test_the_interval_of_the_best_threshold_holds_the_estimate_of_many_thresholds():
    """With more thresholds than are compared with each other."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        confidence, best = rng.random(20_000), rng.integers(600, 980) / 1000
        found = sf.act_alone(correct=confidence >= best, confidence=confidence, cost_error=10, cost_review=1).cost
        low, high = found.threshold_interval
        assert low <= found.threshold <= high
        assert low <= best <= high


def test_the_least_cost_among_thresholds_that_keep_the_promise():
    correct, confidence = sample(5000)
    promise = sf.act_alone(correct=correct, confidence=confidence, error=0.03)
    both = sf.act_alone(correct=correct, confidence=confidence, error=0.03, cost_error=2, cost_review=1)
    assert both.threshold == promise.threshold  # errors are cheap: as low as the promise allows
    careful = sf.act_alone(correct=correct, confidence=confidence, error=0.03, cost_error=1000, cost_review=1)
    assert careful.threshold is None or careful.threshold > promise.threshold


def test_intervals_of_coverage_hold_though_the_threshold_is_chosen():
    rng = np.random.default_rng(11)
    held = []
    for _ in range(400):
        confidence = rng.beta(8, 1, 1500)
        found = sf.act_alone(correct=rng.random(1500) < confidence, confidence=confidence, error=0.08)
        if found.threshold is not None:
            low, high = found.coverage_interval
            held.append(low <= beta.sf(found.threshold, 8, 1) <= high)
    assert len(held) > 300
    assert np.mean(held) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / len(held))


def test_what_cannot_be_promised_is_refused():
    correct, confidence = sample(100)
    for wrong, words in [
        ({}, "give error"),
        ({"error": 1}, "between 0 and 1"),
        ({"error": 5}, "between 0 and 1"),
        ({"error": 1e-300}, "takes too many rows to promise"),
        ({"error": 0.1, "level": 0}, "between 0 and 1"),
        ({"error": 0.1, "level": 0.95}, "use level=0.05"),
        ({"error": 0.1, "refuse": 0.05}, "refuse is 0.05, not above error"),
        ({"cost_error": 3}, "together"),
        ({"cost_error": 3, "cost_review": 0}, "positive"),
    ]:
        with pytest.raises(ValueError, match=words):
            sf.act_alone(correct=correct, confidence=confidence, **wrong)
    with pytest.raises(InvalidPredictions, match="one row of each group"):
        sf.act_alone(correct=correct, confidence=confidence, error=0.1, groups=np.arange(100) // 2)
    with pytest.raises(InvalidPredictions, match="different weights"):
        sf.act_alone(correct=correct, confidence=confidence, sample_weight=np.arange(1, 101), error=0.1)
    equal = sf.act_alone(correct=correct, confidence=confidence, sample_weight=np.full(100, 3.0), error=0.2)
    assert equal.rows == 100
    with pytest.raises(MetricUnavailable, match="does not hold what act_alone needs"):
        sf.act_alone(sf.tally(sf.Predictions.from_correct(correct, confidence), ["accuracy"]), error=0.1)
    event = sf.Predictions.from_probabilities([0, 1] * 50, confidence, of="event")
    with pytest.raises(InvalidPredictions, match="of="):
        sf.act_alone(event, error=0.1)


def test_offers_hold_together_and_leave_out_what_is_no_gain():
    correct, confidence = sample(20_000)  # wrong one time in nine
    tally = sf.tally(sf.Predictions.from_correct(correct, confidence))
    offers = offers_of(tally, 0.05)
    assert [offer.error for offer in offers] == [0.01, 0.02, 0.05, 0.1]
    for offer in offers:
        assert offer.threshold == sf.act_alone(tally, error=offer.error, level=0.05 / 4).threshold
    assert best_offer(offers).error == 0.02  # a quarter of the rows, and none at 0.01
    sure = offers_of(sf.tally(sf.Predictions.from_correct(np.ones(5000, dtype=bool), confidence[:5000])), 0.05)
    lowest = float(THRESHOLDS[confidence[:5000].min() >= THRESHOLDS].max())
    assert [(offer.error, offer.threshold, offer.coverage) for offer in sure] == [(0.01, lowest, 1.0)]
    poor = offers_of(sf.tally(sf.Predictions.from_correct(np.arange(50) % 25 > 0, np.full(50, 0.96))), 0.05)
    assert [offer.error for offer in poor] == [0.01, 0.02]
    assert best_offer(poor) is None

"""The risk test: its fields, its edges, its state, and what it says of real networks."""

import dataclasses
import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import surefoot as sf
from surefoot import InvalidPredictions, MetricUnavailable, Predictions, risk_test
from surefoot.risk.evalues import MIXTURE
from surefoot.risk.law.counts import counts_of
from surefoot.risk.test import TERMS
from surefoot.synthetic import PROFILES, predictions


def of(doubt, wrong, **more) -> Predictions:
    return Predictions.from_correct(~np.asarray(wrong, dtype=bool), doubt=np.asarray(doubt, dtype=float), **more)


def numbers(result) -> dict[str, float]:
    return {name: value for name, value in dataclasses.asdict(result).items() if isinstance(value, float)}


def test_two_rows_by_hand() -> None:
    # doubts 1/2 and 1/4, the second row wrong: S = 4; calibrated, S is 0, 2, 4 or 6
    r = risk_test(of([0.5, 0.25], [False, True]))
    assert r.pvalue == pytest.approx(0.25)
    assert r.pvalue_mid == pytest.approx(1 / 4 * 1 / 2 + 1 / 4 * 1 / 2 / 2)
    assert r.statistic == r.csr == 2.0
    # capped at N/10 every mistake weighs the same: at least one of two is wrong
    assert r.pvalue_capped == pytest.approx(1 - 1 / 2 * 3 / 4)
    assert r.pvalue_combined == pytest.approx(0.5)
    # mirrored: the first row correct adds 1 / 0.5; S is 0, 4/3, 2 or 10/3
    u = risk_test(of([0.5, 0.25], [False, True]), alternative="underconfident")
    assert u.statistic == 1.0
    assert u.pvalue == pytest.approx(0.5)
    assert u.csr == 2.0


def test_the_normal_method_is_the_papers() -> None:
    p = predictions("bell", "overconf_half", 400, rng=np.random.default_rng(0))
    r = risk_test(p, method="normal")
    assert r.pvalue == pytest.approx(1 - sf.p_risk(p), abs=1e-12)
    assert r.z == sf.csr_z(p)
    assert r.p_risk == sf.p_risk(p)
    assert r.method == "normal"


def test_a_normal_chance_smaller_than_any_float_is_not_zero() -> None:
    """190 standard deviations away: only what was given no doubt at all has a p-value of 0."""
    wrong = of(np.full(4000, 0.1), np.ones(4000, dtype=bool))
    assert risk_test(wrong, method="normal").pvalue == 5e-324
    weighted = sf.Predictions.from_correct(wrong.correct, wrong.confidence, sample_weight=np.tile([1.0, 2.0], 2000))
    by_sums = risk_test(sf.tally(weighted), method="normal")
    assert by_sums.pvalue == 5e-324
    assert by_sums.pvalue_omnibus == 1e-323
    assert "< 1e-300" in str(sf.assess(sf.tally(weighted)))
    certain = sf.Predictions.from_correct([False, True], [1.0, 0.5], sample_weight=[1.0, 2.0])
    assert risk_test(sf.tally(certain), method="normal").pvalue == 0.0


@pytest.mark.parametrize("alternative", ["overconfident", "underconfident"])
@pytest.mark.parametrize(
    ("doubt", "wrong"),
    [
        ([0.3], [True]),
        ([0.3], [False]),
        ([1e-300], [True]),
        ([1e-300] * 3, [True] * 3),
        ([5e-324, 0.5], [True, False]),
        ([1.0], [True]),
        ([1.0], [False]),
        ([1.0] * 500, [True] * 500),
        ([0.0], [False]),
        ([0.0], [True]),
        ([0.0, 1.0], [False, True]),
        ([0.25] * 700, [True] * 700),
        ([0.25] * 700, [False] * 700),
        ([0.25] * 5000, [False] * 5000),
        (np.linspace(1e-9, 1, 5000), [True] * 5000),
        (np.linspace(1e-9, 1, 5000), [False] * 5000),
        (np.geomspace(1e-300, 1, 6000), np.arange(6000) % 2 == 0),
    ],
)
def test_p_values_are_numbers_whatever_comes(doubt, wrong, alternative: str) -> None:
    r = risk_test(of(doubt, wrong), alternative=alternative)
    for name in ("pvalue", "pvalue_mid", "pvalue_capped", "pvalue_combined", "pvalue_omnibus"):
        assert 0 <= getattr(r, name) <= 1
    assert r.e_value >= 0
    assert 0 <= r.deflation_interval[0] <= r.deflation <= r.deflation_interval[1] <= 1
    assert r.csr_lower >= 0
    assert 0 <= r.heaviest_share <= 1
    certain = np.asarray(doubt) == (0 if alternative == "overconfident" else 1)
    refuted = (certain & (np.asarray(wrong) == (alternative == "overconfident"))).any()
    assert (r.pvalue == 0) == refuted


def test_one_certain_mistake_is_infinite_evidence() -> None:
    r = risk_test(of([0.0, 0.2, 0.3], [True, False, False]))
    assert (r.csr, r.pvalue, r.pvalue_combined, r.e_value, r.csr_lower) == (math.inf, 0, 0, math.inf, math.inf)
    assert (r.certain, r.certain_wrong, r.p_risk) == (1, 1, 1)
    # certain rows that are right change nothing
    with_certain, without = (
        risk_test(of([0.0, 0.2, 0.3], [False, True, False])),
        risk_test(of([0.2, 0.3], [True, False])),
    )
    # but that deflation and overstatement, which are of all rows, are less
    of_all = ("deflation", "overstatement", "overstatement_interval", "oe_interval")
    same = {"n": 2, "certain": 0, **{name: getattr(without, name) for name in of_all}}
    assert dataclasses.replace(with_certain, **same) == without
    assert with_certain.deflation < without.deflation


def test_state_is_the_tally_and_merges_in_any_order() -> None:
    rng = np.random.default_rng(1)
    for profile, size in (("skew_high", 3000), ("uniform", 60_000), ("log_uniform_high", 60_000)):
        p = predictions(profile, "overconf_root", size, rng=rng)
        whole = risk_test(p)
        for name, value in numbers(risk_test(sf.tally(p))).items():
            assert value == pytest.approx(numbers(whole)[name], rel=1e-12, nan_ok=True), name
        part = rng.integers(0, 5, size)
        tallies = [p[part == i].tally(TERMS) for i in range(5)]
        orders = [
            sum(tallies),
            sum(tallies[::-1]),
            (tallies[0] + tallies[3]) + (tallies[1] + (tallies[4] + tallies[2])),
        ]
        for merged in orders:
            np.testing.assert_array_equal(merged.tables["doubt"].codes, orders[0].tables["doubt"].codes)
            for name, value in numbers(risk_test(merged)).items():
                assert value == pytest.approx(numbers(whole)[name], rel=1e-9, nan_ok=True), name


def test_a_saved_tally_gives_the_same_test(tmp_path) -> None:
    p = predictions("bimodal", "perfect", 20_000, rng=np.random.default_rng(3))
    t = sf.tally(p)
    t.save(tmp_path / "t.tally")
    assert risk_test(sf.Tally.load(tmp_path / "t.tally")) == risk_test(t)


@pytest.mark.parametrize("profile", PROFILES)
def test_cells_move_p_by_less_than_a_thousandth(profile: str) -> None:
    rng = np.random.default_rng(7)
    for size in (5000, 40_000):
        p = predictions(profile, "perfect", size, rng=rng)
        kept = {}
        for alternative in ("overconfident", "underconfident"):
            kept[alternative] = risk_test(p, alternative=alternative)
            counts = counts_of(p.tally(TERMS))
            assert not counts.is_exact
        import surefoot.core.doubt_table as doubt_table
        import surefoot.engines.numpy as arrays

        try:
            doubt_table.FEW = arrays.FEW = 10**9
            for alternative, in_cells in kept.items():
                exact = risk_test(p, alternative=alternative)
                for name in ("pvalue", "pvalue_capped"):
                    assert getattr(in_cells, name) == pytest.approx(getattr(exact, name), rel=1e-3)
                assert in_cells.log_e == pytest.approx(exact.log_e, rel=1e-3)
                assert in_cells.deflation == pytest.approx(exact.deflation, rel=1e-3, abs=1e-9)
                assert in_cells.csr_lower == pytest.approx(exact.csr_lower, rel=1e-3)
        finally:
            doubt_table.FEW = arrays.FEW = 4096


def test_lazy_frames_give_the_test_of_arrays() -> None:
    rng = np.random.default_rng(2)
    for size, plateaus in ((500, False), (150_000, False), (150_000, True)):
        doubt = rng.choice([0.01, 0.1, 0.101, 0.3], size) if plateaus else rng.beta(0.5, 3.0, size)
        correct = rng.random(size) > doubt
        arrays = numbers(risk_test(of(doubt, ~correct)))
        frame = pl.DataFrame({"k": correct, "c": 1 - doubt, "d": doubt}).lazy()
        lazy = numbers(risk_test(Predictions.from_frame(frame, correct="k", confidence="c", doubt="d")))
        # cells of a frame are cut at other places than those of arrays: as wide, so as good, but not the same
        for name, value in lazy.items():
            if name == "pvalue_omnibus" and size > 4096 and not plateaus:
                # simulated over those cells
                assert value == pytest.approx(arrays[name], abs=0.05)
                continue
            rel = 1e-6 if size > 4096 and not plateaus else 1e-10
            assert value == pytest.approx(arrays[name], rel=rel, nan_ok=True), name


def test_e_value_is_the_mixture_of_the_likelihood_ratios() -> None:
    rng = np.random.default_rng(4)
    p = predictions("tight_hi", "overconf_root", 60, rng=rng)
    q, wrong = p.doubt, p.wrong.astype(bool)
    total = 0.0
    for bet in MIXTURE:
        rate = q**bet.power if bet.power else np.where(q < bet.below, q + bet.shortfall * (1 - q), q)
        total += bet.share * math.prod(np.where(wrong, rate / q, (1 - rate) / (1 - q)).tolist())
    assert len(MIXTURE) == 39
    assert sum(bet.share for bet in MIXTURE) == pytest.approx(1)
    assert risk_test(p).e_value == pytest.approx(total, rel=1e-10)


def test_the_mean_of_the_e_value_under_calibration_is_one() -> None:
    # over all 2^6 outcomes, weighted by their probability
    doubt = np.array([0.02, 0.004, 0.3, 0.6, 0.15, 0.0005])
    for alternative in ("overconfident", "underconfident"):
        mean = 0.0
        for outcome in range(64):
            wrong = (outcome >> np.arange(6)) & 1 == 1
            chance = math.prod(np.where(wrong, doubt, 1 - doubt).tolist())
            mean += chance * risk_test(of(doubt, wrong), alternative=alternative).e_value
        assert mean == pytest.approx(1, rel=1e-9)


def test_deflation_brings_csr_to_one_and_maximises_the_likelihood() -> None:
    for profile in PROFILES:
        p = predictions(profile, "overconf_half", 2000, rng=np.random.default_rng(6))
        r = risk_test(p)
        assert 0.4 < r.deflation < 0.6
        c, wrong = p.confidence, p.wrong.astype(bool)
        assert sf.csr(Predictions.from_correct(~wrong, (1 - r.deflation) * c)) == pytest.approx(1, rel=1e-6)
        # with so many mistakes the limits are those of the likelihood, nearly

        def loss(x: float, c=c, wrong=wrong) -> float:
            return -float(np.log(np.where(wrong, 1 - (1 - x) * c, (1 - x) * c)).sum())

        for end in r.deflation_interval:
            assert loss(end) - loss(r.deflation) == pytest.approx(1.9207, abs=0.25)


@pytest.mark.parametrize("seed", range(4))
def test_at_the_limits_of_deflation_what_was_seen_has_a_chance_of_a_fortieth(seed: int) -> None:
    """By simulation: the CSR of the deflated confidences, of draws with that deflation."""
    rng = np.random.default_rng(seed)
    q = rng.beta(0.5, 3, 40) + 1e-6
    wrong = rng.random(40) < np.minimum(q + 0.1, 1)
    low, high = risk_test(of(q, wrong)).deflation_interval
    for end, reached in ((low, np.greater_equal), (high, np.less_equal)):
        chance = q + end * (1 - q)
        drawn = (rng.random((40_000, 40)) < chance) @ (1 / chance)
        share = reached(drawn, (wrong / chance).sum() * (1 + (1e-9 if end == high else -1e-9))).mean()
        assert share == pytest.approx(0.025, abs=4 * math.sqrt(0.025 * 0.975 / 40_000) + 5e-4) or end == 0


def test_without_mistakes_the_upper_limit_of_deflation_is_the_rule_of_three() -> None:
    for n in (30, 300, 3000):
        r = risk_test(of(np.full(n, 1e-9), np.zeros(n, dtype=bool)))
        assert (r.deflation, r.deflation_interval[0]) == (0, 0)
        assert r.deflation_interval[1] == pytest.approx(1 - 0.025 ** (1 / n), rel=5e-3)


def test_the_lower_bound_is_where_betting_has_won_twentyfold() -> None:
    p = predictions("bell", "overconf_half", 300, rng=np.random.default_rng(8))
    r = risk_test(p)
    z = p.wrong / p.doubt
    lam = 1 / (1 + np.exp(-np.linspace(math.log(0.001 / 0.999), math.log(0.95 / 0.05), 40)))
    share = np.sqrt(lam * (1 - lam))
    wealth = np.exp(np.log1p(lam[:, None] * (z / r.csr_lower - 1)).sum(axis=1)) @ share / share.sum()
    assert wealth == pytest.approx(20, rel=1e-6)
    assert 1 < r.csr_lower < r.csr


def test_unequal_weights_are_atoms_and_need_the_rows() -> None:
    doubt, wrong, weight = [0.5, 0.25, 0.4], [False, True, True], [1.0, 3.0, 2.0]
    p = of(doubt, wrong, sample_weight=weight)
    r = risk_test(p)
    # S = 12 + 5 of atoms 2, 12 and 5: reached by {12, 5} and {2, 12, 5}
    assert r.pvalue == pytest.approx(0.25 * 0.4)
    assert math.isnan(r.e_value)
    assert math.isnan(r.deflation)
    with pytest.raises(MetricUnavailable, match="unequal weights"):
        risk_test(sf.tally(p))
    # equal weights, and rows that count for nothing, change nothing
    same = risk_test(of([*doubt, 0.1], [*wrong, True], sample_weight=[2.0, 2.0, 2.0, 0.0]))
    assert same.pvalue == risk_test(of(doubt, wrong)).pvalue
    assert same.e_value == risk_test(of(doubt, wrong)).e_value


def test_what_cannot_be_done_is_said() -> None:
    p = of([0.5, 0.25], [False, True])
    with pytest.raises(ValueError, match="alternative is 'two-sided'"):
        risk_test(p, alternative="two-sided")
    with pytest.raises(ValueError, match="method is 'bayes'"):
        risk_test(p, method="bayes")
    with pytest.raises(ValueError, match="rng="):
        risk_test(p, method="monte_carlo")
    with pytest.raises(ValueError, match="draws is 0"):
        risk_test(p, method="monte_carlo", rng=np.random.default_rng(), draws=0)
    with pytest.raises(MetricUnavailable, match=r"surefoot\.tally\(predictions\)"):
        risk_test(sf.tally(p, ["csr"]))
    with pytest.raises(InvalidPredictions):
        risk_test([1, 0], [1, 1], [0.5, 1.5])
    with pytest.raises(InvalidPredictions, match="takes no other data arguments"):
        risk_test(sf.tally(p), [1, 0])


def test_the_note_says_when_not_to_believe_the_normal_law() -> None:
    assert risk_test(of([0.5] * 2000, [True, False] * 1000)).note == ""
    assert "poor fit" in risk_test(of([0.01] * 300, [False] * 300)).note
    assert "One row holds 99%" in risk_test(of([0.5] * 20 + [1e-6], [False] * 21)).note


def test_monte_carlo_is_reproducible_and_never_zero() -> None:
    p = predictions("normal", "overconf_half", 200, rng=np.random.default_rng(0))
    one, two = (risk_test(p, method="monte_carlo", rng=np.random.default_rng(1), draws=99) for _ in range(2))
    assert one == two
    assert one.pvalue == 0.01


def test_real_networks(real_predictions) -> None:
    pd = pytest.importorskip("pandas")
    vgg = pd.read_parquet(real_predictions / "verified_calibration_cifar10_vgg16.parquet")
    r = risk_test(Predictions.from_frame(vgg, truth="label", probabilities="probs"))
    # the figures of design/terminal.txt; its limits of deflation were those of the likelihood, 1.8% and 2.5%
    assert (round(r.csr, 1), f"{r.pvalue:.1e}", round(r.csr_lower, 2)) == (13.4, "3.8e-05", 7.98)
    assert r.pvalue_capped < 1e-88
    assert [f"{x:.1%}" for x in (r.deflation, *r.deflation_interval)] == ["2.1%", "1.7%", "2.5%"]
    assert round(r.log_e / math.log(10)) == 224
    lenet = pd.read_parquet(real_predictions / "netcal_lenet_5_cifar_10.parquet")
    r = risk_test(Predictions.from_frame(lenet, truth="label", probabilities="probs"))
    assert (f"{r.pvalue:.1e}", round(r.csr_lower, 2), f"{r.deflation:.1%}") == ("1.6e-07", 1.46, "13.7%")
    employment = pd.read_parquet(real_predictions / "nannyml_employment_ma.parquet")[:4000]
    r = risk_test(
        Predictions.from_frame(
            employment, truth="employed", predicted="prediction", probabilities="predicted_probability"
        )
    )
    assert (round(r.pvalue, 2), round(r.pvalue_capped, 2), round(r.csr_lower, 3)) == (0.54, 0.54, 0.707)


def test_a_certain_mistake_is_seen_in_a_lazy_frame_beside_tiny_doubts() -> None:
    rng = np.random.default_rng(0)
    doubt = rng.random(20_000)
    correct = rng.random(20_000) > doubt
    doubt[:6000], correct[:6000] = 0, True
    correct[0], doubt[-1], correct[-1] = False, 1e-300, True
    frame = pl.DataFrame({"correct": correct, "doubt": doubt}).lazy()
    r = sf.risk_test(sf.Predictions.from_frame(frame, correct="correct", doubt="doubt"))
    assert (r.pvalue, r.e_value, r.certain_wrong) == (0.0, np.inf, 1)


def test_deflation_where_certain_rows_are_wrong() -> None:
    """Three of a hundred: the best value is 3%, and the limits are those of Clopper and Pearson."""
    r = sf.risk_test(sf.Predictions.from_correct([True] * 97 + [False] * 3, np.ones(100)))
    assert r.deflation == pytest.approx(0.03)
    exact = binomtest(3, 100).proportion_ci(0.95, "exact")
    assert r.deflation_interval == pytest.approx((exact.low, exact.high), rel=5e-3)


def test_rows_that_claim_certainty_tell_of_deflation_too() -> None:
    """By a grid over the likelihood of all rows: right rows (1 - s) c, wrong ones the rest."""
    correct = np.array([True] * 50 + [True] * 26 + [False] * 24)
    confidence = np.array([1.0] * 50 + [0.8] * 50)
    grid = np.linspace(0, 0.999, 100_000)[:, None]
    right = (1 - grid) * confidence
    loglik = np.where(correct, np.log(right), np.log1p(-np.minimum(right, 1 - 1e-15))).sum(axis=1)
    best = float(grid[loglik.argmax(), 0])
    r = sf.risk_test(sf.Predictions.from_correct(correct, confidence))
    assert r.deflation == pytest.approx(best, abs=1e-3)
    assert r.deflation_interval[0] <= best <= r.deflation_interval[1] < 0.25


def test_rows_that_are_too_often_right_leave_no_shortfall() -> None:
    from scipy.stats import binom

    # so few mistakes have a chance below 2.5% even without any shortfall
    assert binom.cdf(5, 200, 0.1) < 0.025
    correct = [True] * 195 + [False] * 5
    assert risk_test(Predictions.from_correct(correct, [0.9] * 200)).deflation_interval == (0.0, 0.0)

"""What hostile readers found in the risk package, and what it should have said."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot import InvalidPredictions, Monitor
from surefoot.risk.law.bernoulli_sum import BernoulliSum
from surefoot.risk.law.null import upper_tail
from surefoot.synthetic import predictions

from_correct = sf.Predictions.from_correct


def test_a_row_of_tiny_doubt_does_not_move_the_others() -> None:
    logits = np.zeros((601, 2))
    logits[0] = [400, 0]
    truth = np.r_[0, np.repeat([0, 1], [280, 320])]
    a = sf.assess(sf.Predictions.from_logits(truth, logits))
    assert a.verdict == "inconclusive"
    assert a.risk.pvalue == pytest.approx(binom.sf(319, 600, 0.5), rel=0.01)


@pytest.mark.parametrize(
    ("n1", "q1", "n2", "q2", "k1", "k2"),
    [
        (100_000, 1e-6, 1000, 0.5, 3, 476),
        (1_000_000, 1e-6, 1000, 0.37, 3, 347),
        (100_000, 1e-6, 1000, 0.5, 2, 453),
        (100_000, 1e-5, 1000, 0.5, 2, 476),
    ],
)
def test_a_rare_plateau_beside_many_low_confidences(n1, q1, n2, q2, k1, k2) -> None:
    wrong = np.zeros(n1 + n2, dtype=bool)
    wrong[:k1] = wrong[n1 : n1 + k2] = True
    s, exact = k1 / q1 + k2 / q2, 0.0
    for k in range(60):
        needed = np.ceil((s - k / q1) * q2 * (1 - 1e-12))
        exact += binom.pmf(k, n1, q1) * (binom.sf(needed - 1, n2, q2) if needed > 0 else 1.0)
    r = sf.risk_test(from_correct(~wrong, doubt=np.r_[np.full(n1, q1), np.full(n2, q2)]))
    assert 0.999 * exact <= r.pvalue <= 1.05 * exact


def test_a_lattice_of_many_chances_is_one() -> None:
    rng = np.random.default_rng(0)
    doubt = rng.uniform(0.2, 0.4, 1500)
    wrong = np.arange(1500) < 509
    mass = np.zeros(1501)
    mass[0] = 1
    for q in doubt:
        mass[1:] = mass[1:] * (1 - q) + mass[:-1] * q
        mass[0] *= 1 - q
    # weighted by their doubt, all rows add 1
    r = sf.risk_test(from_correct(~wrong, doubt=doubt, sample_weight=doubt))
    assert 0.999 * mass[509:].sum() <= r.pvalue <= 1.05 * mass[509:].sum()


@pytest.mark.parametrize("noise", [1e-14, 1e-9, 1e-6])
def test_a_plateau_with_rounding_noise_is_a_plateau(noise: float) -> None:
    rng = np.random.default_rng(0)
    for n, k in ((3000, 1545), (6000, 3065)):
        doubt = 0.5 * (1 + noise * rng.uniform(-1, 1, n))
        wrong = np.zeros(n, dtype=bool)
        wrong[np.argsort(-doubt)[:k]] = True
        exact = binom.sf(k - 1, n, 0.5)
        assert 0.999 * exact <= sf.risk_test(from_correct(~wrong, doubt=doubt)).pvalue <= 1.05 * exact


def test_rows_too_light_to_matter_need_not_fire() -> None:
    r = sf.risk_test(from_correct([0, 0, 1, 1, 1, 1], doubt=[0.5] * 6, sample_weight=[1e12, 1e12, 1, 1, 1, 1]))
    assert r.pvalue == pytest.approx(0.25)
    r = sf.risk_test(from_correct([0, 0] + [1] * 20, doubt=[1e-13] * 2 + [0.5] * 20))
    assert r.pvalue == pytest.approx(1e-26)


def test_mid_p_where_nothing_surprises() -> None:
    assert sf.risk_test(from_correct([True] * 100, [0.9] * 100)).pvalue_mid == pytest.approx(1 - 0.9**100 / 2)


def test_extreme_doubts_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = sf.assess(from_correct([True] * 99 + [False], doubt=[5e-324] * 100))
    assert 0 < a.risk.pvalue < 1e-300


def test_plans_where_any_mistake_tells() -> None:
    # one mistake rejects: the chance of none in n rows is (1 - 0.01)^n
    # at 161 rows one of them is wrong four times in five; a plan is a little on the safe side
    assert 161 <= sf.required_n([1 - 1e-9], deflation=0.01) <= 180
    # known to a point of power
    assert sf.minimum_detectable([1 - 1e-12], n=10) == pytest.approx(1 - 0.2 ** (1 / 10), rel=0.06)
    assert sf.minimum_detectable([0.9999], n=100) == pytest.approx(1 - 0.2 ** (1 / 100), rel=0.06)


def test_plans_for_low_confidences_and_for_many_rows() -> None:
    # binomial power by hand: with 1000 rows at 0.2, 0.17 is found four times in five by one test at 2.5%, and 0.189 by
    # one at 1.25%: below one half, confidences that are too low are looked for as well
    assert 0.165 < sf.minimum_detectable([0.2], n=1000) < 0.2
    assert 250 < sf.required_n([0.2], deflation=0.3) < 400
    # normal power: (z + z) / deflation squared, times the odds of doubt
    assert sf.minimum_detectable([0.9], n=10**8) == pytest.approx((2.2414 + 0.8416) * (0.1 / 0.9) ** 0.5 / 1e4, rel=0.1)
    with pytest.raises(ValueError, match="more than 1,000,000,000 rows"):
        sf.required_n([0.9], deflation=1e-6)
    assert sf.minimum_detectable([1e-9], n=1000) == 1.0
    assert sf.minimum_detectable([0.9], n=np.int64(100)) == sf.minimum_detectable([0.9], n=100)


def test_where_calibrated_models_land_at_the_edges() -> None:
    def typical(correct, confidence):
        return sf.assess(from_correct(correct, confidence)).typical_csr

    assert typical(np.arange(1000) % 5 == 0, [0.2] * 1000)[1] == pytest.approx(1.026, abs=0.002)
    assert typical([True, False] * 4, [0.5] * 8) == pytest.approx((0.5, 1.5))
    assert typical([False] * 10, [0.0] * 10) == (1.0, 1.0)
    assert typical([True], [0.9]) == pytest.approx((0.0, 10.0))


@pytest.mark.filterwarnings("ignore::surefoot.errors.FewMistakesWarning")
def test_an_interval_holds_its_estimate() -> None:
    tied = sf.Predictions.from_probabilities([0] * 20 + [1] * 30, [0.7] * 50)
    even = from_correct([True, False] * 100, [0.9] * 200)
    same = from_correct([True] * 80 + [False] * 20, [0.9] * 100)
    for found in (
        sf.intervals(tied),
        sf.intervals(even, groups=np.repeat(np.arange(100), 2)),
        sf.intervals(same, groups=["a", "b"] * 50),
    ):
        for name, interval in found.items():
            if interval.is_absent:
                assert "nothing varies" in interval.note
                continue
            assert interval.low <= interval.value <= interval.high
            if " - " not in name:
                assert interval.low < interval.high


def test_rows_that_do_not_count_are_no_mistakes_to_rest_on() -> None:
    p = from_correct([True] * 80 + [False] * 20, [0.9] * 100, sample_weight=[1.0] * 80 + [0.0] * 20)
    with pytest.warns(sf.FewMistakesWarning, match="rests on 0 mistakes"):
        sf.intervals(p)


def test_a_certain_mistake_is_seen_in_a_lazy_frame_beside_tiny_doubts() -> None:
    rng = np.random.default_rng(0)
    doubt = rng.random(20_000)
    correct = rng.random(20_000) > doubt
    doubt[:6000], correct[:6000] = 0, True
    correct[0], doubt[-1], correct[-1] = False, 1e-300, True
    frame = pl.DataFrame({"correct": correct, "doubt": doubt}).lazy()
    r = sf.risk_test(sf.Predictions.from_frame(frame, correct="correct", doubt="doubt"))
    assert (r.pvalue, r.e_value, r.certain_wrong) == (0.0, np.inf, 1)


def test_a_label_cannot_change_the_confidence_that_was_issued() -> None:
    m = Monitor()
    m.expect(["a"], [0.999])
    with pytest.raises(InvalidPredictions, match=r"was issued with confidence 0\.999"):
        m.update([False], [0.5], ids=["a"])
    assert (m.rows, m.pending) == (0, 1)
    m.update([False], [0.999], ids=["a"])
    assert (m.rows, m.pending) == (1, 0)


def test_nothing_is_a_batch_too_and_ids_may_be_generated() -> None:
    m = Monitor()
    m.update([], [])
    m.update([], ids=[])
    m.expect([], [])
    m.update([True, True], [0.5, 0.6], ids=(i for i in (7, 8)))
    assert m.rows == 2


def test_a_stream_that_goes_off_all_the_time() -> None:
    rng = np.random.default_rng(1)
    confidence = rng.random(60_000)
    m = Monitor(mean_time_between_false_alarms=20)
    m.update(confidence < 0.5, confidence, ids=rng.permutation(60_000) * 2)
    assert len(m.drift_rows) > 1000  # each restarts a few rows, not all that follow: it used to take minutes


def test_many_slices_can_be_assessed() -> None:
    p = predictions("uniform", "perfect", 3000, rng=np.random.default_rng(2))
    a = sf.assess(p, by=np.arange(3000) % 150)
    assert len(a.slices) == 150
    assert sum(part.verdict in ("overconfident", "underconfident", "mixed") for part in a.slices) <= 1


def test_scales_far_apart_are_not_lost() -> None:
    # three heavy rows beside 300 ordinary ones: given that one heavy row fires, the ordinary ones decide
    rng = np.random.default_rng(1)
    doubt = rng.uniform(0.02, 0.6, 300)
    light = BernoulliSum(doubt, 1 - doubt, 1 / doubt, np.ones(300))
    drawn = (rng.random((40_000, 300)) < doubt) @ (1 / doubt)
    remainder = float(np.quantile(drawn, 0.9))
    beyond = upper_tail(light, remainder).p
    assert beyond == pytest.approx(0.1, abs=0.006)
    tied = np.append(doubt, 1e-6)
    rows = BernoulliSum(tied, 1 - tied, 1 / tied, np.append(np.ones(300), 3.0))
    assert upper_tail(rows, 1e6 + remainder).p == pytest.approx(3e-6 * beyond, rel=0.01)
    single = np.append(doubt, [1e-6, 1.1e-6, 1.3e-6])
    rows = BernoulliSum(single, 1 - single, 1 / single, np.ones(303))
    # the heaviest reaches it alone, the next with the ordinary rows
    assert upper_tail(rows, 1 / 1.1e-6 + remainder).p == pytest.approx(1e-6 + 1.1e-6 * beyond, rel=0.01)


def test_weighted_rows_of_three_scales() -> None:
    share = np.linspace(0.1, 1, 20)
    q0, q1 = 1.16610761e-05, 0.299070302
    confidence = np.r_[np.full(872, 1 - q0), np.full(5, 1 - q1), np.full(20, 0.7)]
    weight = np.r_[np.full(872, 168244.39180088 * q0), np.full(5, 2062368.79692338 * q1), share * 0.3]
    # by 400,000 draws, standard error 0.0006 at most
    for wrong, simulated in ((2, 0.1438), (3, 0.1134), (4, 0.0790), (5, 0.0544), (6, 0.0407)):
        correct = np.ones(897, dtype=bool)
        correct[872:875] = correct[897 - wrong :] = False
        p = sf.risk_test(from_correct(correct, confidence, sample_weight=weight)).pvalue
        assert p == pytest.approx(simulated, abs=0.002)


def test_tied_sums_of_like_scale_count_what_was_seen() -> None:
    q = np.array([0.017341157904046008, 0.02411228242590745, 0.0395061378510985])
    tail = upper_tail(BernoulliSum(q, 1 - q, 1 / q, np.array([85.0, 82, 1381])), 1944.8418783659079)
    assert 0.999 * 0.029772 <= tail.p <= 1.03 * 0.029772  # by enumeration
    q = np.array([0.006977092273585957, 1.573271730259031e-05, 0.003061074729533889])
    weight = np.array([345.0460624568349, 157696.92529077013, 33.53910334784149])
    tail = upper_tail(BernoulliSum(q, 1 - q, weight, np.array([127.0, 309, 71])), 315427.3896848881)
    assert 0.999 * 7.865e-6 <= tail.p <= 1.05 * 7.865e-6


def test_the_scale_of_tiny_weights_does_not_matter_to_cox() -> None:
    confidence = [0.9999996674266838, 0.999999970823666, 0.9999999999997089]
    slopes = [
        sf.cox_slope([1] * 3, [1, 0, 1], confidence, sample_weight=np.full(3, weight))
        for weight in (1e-12, 1e-9, 1, 1e9)
    ]
    assert slopes == pytest.approx([slopes[2]] * 4, rel=1e-9)


def test_a_wide_kernel_overflows_nothing() -> None:
    assert 0 <= sf.ls_ece([1, 1], [1, 0], [0.5, 0.5], bandwidth=100.0) <= 1


def test_every_row_of_many_a_surprise_is_the_product_of_their_chances() -> None:
    # in cells, rows add a little less in all than they did: what was seen must not seem out of reach
    rng = np.random.default_rng(0)
    for rows, most in ((5000, 1e-3), (5000, 2e-3), (5000, 4e-3), (20_000, 1e-3)):
        doubt = most * rng.random(rows)
        expected = float(np.exp(np.log1p(-doubt).sum()))
        right = from_correct(np.ones(rows, dtype=bool), doubt=doubt)
        wrong = from_correct(np.zeros(rows, dtype=bool), doubt, doubt=1 - doubt)
        assert sf.risk_test(right, alternative="underconfident").pvalue == pytest.approx(expected, rel=1e-3)
        assert sf.risk_test(wrong).pvalue == pytest.approx(expected, rel=1e-3)


def test_nearly_every_row_a_surprise_comes_to_an_end() -> None:
    rng = np.random.default_rng(1)
    for rows, spared in ((3000, 2), (20_000, 30), (200_000, 100)):
        doubt = rng.uniform(0.1, 0.5, rows)
        correct = np.arange(rows) < spared
        assert sf.risk_test(from_correct(correct, doubt=doubt)).pvalue < 1e-300
        assert sf.risk_test(from_correct(~correct, doubt=doubt), alternative="underconfident").pvalue < 1e-50

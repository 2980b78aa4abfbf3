"""Intervals against the delta method by hand, DeLong and resampling; plans against simulation."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import binomtest

import surefoot as sf
from surefoot import FewMistakesWarning, InvalidPredictions, Predictions, intervals
from surefoot.metrics.tallying import BANDS
from surefoot.risk.law.counts import counts_of
from surefoot.risk.law.null import upper_tail
from surefoot.risk.planning import typical_range
from surefoot.synthetic import PROFILES, predictions


def binary(size: int, seed: int = 0) -> Predictions:
    rng = np.random.default_rng(seed)
    score = rng.random(size)
    return Predictions.from_probabilities((rng.random(size) < score).astype(int), score)


def test_accuracy_has_the_interval_of_clopper_and_pearson() -> None:
    p = Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 100)
    i = intervals(p)["accuracy"]
    assert i.standard_error == pytest.approx(math.sqrt(0.8 * 0.2 / 99))
    exact = binomtest(80, 100).proportion_ci(0.95, "exact")
    assert (i.low, i.high) == (pytest.approx(exact.low), pytest.approx(exact.high))
    # equal confidences: the weighted accuracy is the plain one, and with many mistakes their difference is known
    assert intervals(p)["cw_accuracy"].high == pytest.approx(i.high)
    many = Predictions.from_correct([True] * 60 + [False] * 40, [0.9] * 100)
    assert intervals(many)["cw_accuracy - accuracy"].high == pytest.approx(0, abs=1e-12)


def test_differences_without_mistakes_have_the_width_of_the_rule_of_three() -> None:
    """Twice as many confidences may come with a mistake as 3.7 in n; it takes at most its weight off accuracy."""
    confidence = np.linspace(0.6, 0.99, 100)
    with pytest.warns(FewMistakesWarning):
        i = intervals(Predictions.from_correct([True] * 100, confidence))["cw_accuracy - accuracy"]
    highest = -math.log(0.025) / 100  # (1 - x)^n = 0.025, nearly
    assert i.value == 0
    assert i.high == pytest.approx(highest)
    assert i.low == pytest.approx(-highest * (0.99 / confidence.mean() - 1))


def test_few_rows_of_a_class_give_no_interval_of_an_area_but_the_reason() -> None:
    rng = np.random.default_rng(5)
    p = Predictions.from_probabilities([1] * 8 + [0] * 200, rng.random(208))
    with pytest.warns(FewMistakesWarning, match="only 8 rows; an area needs 10"):
        found = intervals(p)
    assert found["auc"].is_absent
    assert found["cw_auc - auc"].is_absent
    assert found["auc"].value == pytest.approx(sf.auc(p))
    assert not found["accuracy"].is_absent


def test_intervals_cover_at_the_edges() -> None:
    """A quick part of what benchmarks/VALIDITY.md has at length: few mistakes, few positives, few groups."""
    from benchmarks.evidence import interval_coverage

    for cell in ((0.5, 0.99, 30, False), (0.04, 0.965, 300, False), (0.5, 0.9, 15, True)):
        for name, (held, given) in interval_coverage(cell, 150).items():
            # 95% and more; 3.3 standard errors of 93% among 150
            assert held >= 0.93 - 3.3 * math.sqrt(0.93 * 0.07 / 150) or given < 0.1, (cell, name)


def test_standard_errors_are_those_of_resampling() -> None:
    p = binary(600)
    rng = np.random.default_rng(1)
    draws = {name: [] for name in ("accuracy", "cw_accuracy", "auc", "cw_auc")}
    for _ in range(1500):
        some = p[rng.integers(0, 600, 600)]
        for name, values in draws.items():
            values.append(sf.metrics.ALL[name](some))
    found = intervals(p)
    for name, values in draws.items():
        assert found[name].value == pytest.approx(sf.metrics.ALL[name](p), rel=1e-12)
        assert found[name].standard_error == pytest.approx(np.std(values), rel=0.1)
    for one, other in (("cw_accuracy", "accuracy"), ("cw_auc", "auc")):
        spread = np.std(np.array(draws[one]) - np.array(draws[other]))
        assert found[f"{one} - {other}"].standard_error == pytest.approx(spread, rel=0.1)


def test_macro_areas_of_many_classes_get_intervals_too() -> None:
    rng = np.random.default_rng(2)
    probabilities = rng.dirichlet([1, 1, 1], 900)
    truth = np.array([rng.choice(3, p=row) for row in probabilities])
    p = Predictions.from_probabilities(truth, probabilities)
    found = intervals(p)
    assert found["auc"].value == pytest.approx(sf.auc(p), rel=1e-12)
    assert found["cw_auc"].low < sf.cw_auc(p) < found["cw_auc"].high


def test_groups_widen_the_interval_as_copies_should() -> None:
    p = binary(300)
    copied = p[np.repeat(np.arange(300), 4)]
    groups = np.repeat(np.arange(300), 4)
    once, naive, grouped = intervals(p), intervals(copied), intervals(copied, groups=groups)
    for name in once:
        # but for the one row that the mean costs
        assert naive[name].standard_error == pytest.approx(once[name].standard_error / 2, rel=0.01)
        assert grouped[name].standard_error == pytest.approx(once[name].standard_error, rel=0.01)
        assert grouped[name].high == pytest.approx(once[name].high, abs=0.02)


def test_nothing_wrong_gives_the_rule_of_three() -> None:
    with pytest.warns(FewMistakesWarning, match="rests on 0 samples of the rarer outcome"):
        i = intervals(Predictions.from_correct([True] * 100, [0.9] * 100))["accuracy"]
    assert (i.value, i.high) == (1.0, 1.0)
    assert i.low == pytest.approx(0.025 ** (1 / 100))


def test_few_mistakes_are_warned_of_and_bad_arguments_refused() -> None:
    few = Predictions.from_correct([True] * 90 + [False] * 10, [0.9] * 100)
    with pytest.warns(FewMistakesWarning, match="10 samples of the rarer outcome"):
        intervals(few)
    with pytest.warns(FewMistakesWarning, match="3 groups"):
        intervals(binary(300), groups=np.arange(300) % 3)
    with pytest.raises(ValueError, match="level is 95"):
        intervals(few, level=95)
    with pytest.raises(InvalidPredictions, match="groups"):
        intervals(few, groups=[1, 2])


def test_the_interval_of_ece_covers() -> None:
    rng = np.random.default_rng(3)
    for mode in ("overconf_root", "perfect"):
        truth = sf.ece(predictions("uniform", mode, 2_000_000, rng=rng))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            samples = [predictions("uniform", mode, 800, rng=rng) for _ in range(200)]
            hits = sum(i.low <= truth <= i.high for i in (intervals(p)["ece"] for p in samples))
        assert hits >= 180  # 190 expected; 3.3 standard errors


@pytest.mark.parametrize("profile", ["bell", "tight_hi", "skew_high"])
def test_the_planned_number_of_rows_has_the_planned_power(profile: str) -> None:
    rng = np.random.default_rng(4)
    confidence, _ = PROFILES[profile].draw(1000, rng)
    n = sf.required_n(confidence, deflation=0.1, power=0.8, level=0.05)
    assert sf.minimum_detectable(confidence, n=n) == pytest.approx(0.1, rel=0.1)
    found = 0
    for _ in range(150):
        c, q = PROFILES[profile].draw(n, rng)
        p = Predictions.from_correct(rng.random(n) < 0.9 * c, c, doubt=q)
        found += sf.risk_test(p).pvalue_omnibus <= 0.025
    # as planned, within 3 standard errors, and not much more
    assert found / 150 >= 0.8 - 3 * math.sqrt(0.8 * 0.2 / 150)
    assert found / 150 <= 0.95


def test_the_power_stays_from_the_answer_on() -> None:
    confidence = [0.9] * 5 + [0.99] * 5
    n = sf.required_n(confidence, deflation=0.3)
    curve = sf.power_curve(confidence, deflation=0.3, n=range(n, 2 * n + 1, max(1, n // 8)))
    assert min(curve.values()) >= 0.78
    assert sf.power_curve(confidence, deflation=0.3, n=n)[n] == curve[n]


def test_a_plan_counts_on_rows_that_claim_certainty() -> None:
    """One of them that is wrong decides: of n / 2 such rows there is one with a chance of 1 - 0.9 ** (n / 2)."""
    n = sf.required_n([1.0, 0.8], deflation=0.1)
    assert 1 - 0.9 ** (n / 2) >= 0.7
    assert n <= 36
    assert n < sf.required_n([0.8], deflation=0.1) / 4
    # nearly all of them certain: 1 - 0.7 ** n
    assert sf.required_n([1.0] * 99 + [0.8], deflation=0.3) in (5, 6)


def test_more_is_needed_to_see_less() -> None:
    confidence = np.linspace(0.5, 0.99, 200)
    few, more = (sf.required_n(confidence, deflation=d) for d in (0.2, 0.05))
    assert few < more / 8
    assert sf.required_n(confidence, deflation=0.05, power=0.95) > more
    assert sf.required_n(confidence, deflation=0.05, level=0.01) > more
    assert sf.minimum_detectable([0.5] * 2) == 1.0


def test_plans_refuse_what_makes_no_sense() -> None:
    for arguments in (
        {"deflation": 0},
        {"deflation": 1},
        {"deflation": 0.1, "power": 1},
        {"deflation": 0.1, "level": 0},
    ):
        with pytest.raises(ValueError, match="should be a number between 0 and 1"):
            sf.required_n([0.7, 0.8], **arguments)
    with pytest.raises(InvalidPredictions, match="planning needs some that lie between"):
        sf.required_n([1.0, 1.0], deflation=0.1)
    with pytest.raises(InvalidPredictions, match="confidence"):
        sf.required_n([0.5, 1.2], deflation=0.1)
    with pytest.raises(ValueError, match="need a level of at least"):
        sf.required_n([0.7, 0.8], deflation=0.1, level=0.0005)
    with pytest.raises(ValueError, match="n is 0"):
        sf.minimum_detectable([0.7], n=0)


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
        return sf.assess(Predictions.from_correct(correct, confidence)).typical_csr

    assert typical(np.arange(1000) % 5 == 0, [0.2] * 1000)[1] == pytest.approx(1.026, abs=0.002)
    assert typical([True, False] * 4, [0.5] * 8) == pytest.approx((0.5, 1.5))
    assert typical([False] * 10, [0.0] * 10) == (1.0, 1.0)
    assert typical([True], [0.9]) == pytest.approx((0.0, 10.0))


@pytest.mark.parametrize("decades", [0.5, 4, 12])
@pytest.mark.parametrize("n", [300, 3000, 40_000])
def test_nine_in_ten_calibrated_models_land_in_the_range_also_where_doubts_span_decades(decades: float, n: int) -> None:
    # against the law by inversion, which finds the tail at one place to many digits
    doubt = 10 ** np.random.default_rng(n).uniform(-decades, -0.3, n)
    p = Predictions.from_correct(np.arange(n) % 9 > 0, 1 - doubt, doubt=doubt)
    counts = counts_of(p.tally(BANDS)).doubtful()
    low, high = typical_range(counts)
    rows = counts.under_calibration()
    assert upper_tail(rows, low * counts.n).p == pytest.approx(0.95, abs=0.003)
    assert upper_tail(rows, high * counts.n).p == pytest.approx(0.05, abs=0.003)


@pytest.mark.filterwarnings("ignore::surefoot.errors.FewMistakesWarning")
def test_an_interval_holds_its_estimate() -> None:
    tied = sf.Predictions.from_probabilities([0] * 20 + [1] * 30, [0.7] * 50)
    even = Predictions.from_correct([True, False] * 100, [0.9] * 200)
    same = Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 100)
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
    p = Predictions.from_correct([True] * 80 + [False] * 20, [0.9] * 100, sample_weight=[1.0] * 80 + [0.0] * 20)
    with pytest.warns(sf.FewMistakesWarning, match="rests on 0 samples of the rarer outcome"):
        sf.intervals(p)

"""The omnibus test: against enumeration, against what it must never miss, and against itself."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.risk.omnibus import NAMES
from surefoot.synthetic import PROFILES, predictions

from_correct = sf.Predictions.from_correct


def outcomes(doubt):
    """Every way in which samples can be wrong, with its probability if they are calibrated."""
    for wrong in itertools.product((False, True), repeat=len(doubt)):
        wrong = np.array(wrong)
        yield wrong, float(np.where(wrong, doubt, 1 - doubt).prod())


WEIGHTS = {
    "errors": lambda q, n: np.ones(len(q)),
    "half": lambda q, n: q**-0.5,
    "csr": lambda q, n: 1 / q,
    "capped": lambda q, n: np.minimum(1 / q, 0.1 * n),
    "extremeness": lambda q, n: np.log((1 - q) / q),
}


@pytest.mark.parametrize("alternative", ["overconfident", "underconfident"])
def test_every_direction_has_the_p_value_of_full_enumeration(alternative: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(8):
        doubt = np.clip(rng.beta(0.7, 1.5, 9), 0.01, 0.99)
        seen = rng.random(9) < np.sqrt(doubt)
        r = sf.risk_test(from_correct(~seen, doubt=doubt), alternative=alternative)
        assert [one.name for one in r.directions] == list(NAMES)
        under = alternative == "underconfident"
        chance = 1 - doubt if under else doubt
        for one in r.directions:
            weight = WEIGHTS[one.name](chance, 9)
            if under and one.name == "extremeness":
                weight = -weight  # right where sure: too timid
            fired = ~seen if under else seen
            s = float((weight * fired).sum())
            exact = math.fsum(
                p for wrong, p in outcomes(doubt) if (weight * (~wrong if under else wrong)).sum() >= s - 1e-9
            )
            assert one.statistic == pytest.approx(s)
            assert one.observed == one.statistic
            assert one.expected == pytest.approx(float((weight * chance).sum()))
            assert 0.999 * exact <= one.pvalue <= 1.05 * exact
            assert one.pvalue_adjusted >= one.pvalue - 0.02


def test_its_false_alarms_are_at_most_its_level_by_full_enumeration() -> None:
    doubt = np.array([0.02, 0.1, 0.1, 0.3, 0.35, 0.45, 0.6])
    p = [(sf.risk_test(from_correct(~wrong, doubt=doubt)).pvalue_omnibus, chance) for wrong, chance in outcomes(doubt)]
    for level in (0.005, 0.01, 0.025, 0.05, 0.1, 0.2):
        # its own law is simulated: 4,999 draws tell 2.5% to within 0.2% (a standard error)
        noise = 3 * math.sqrt(level * (1 - level) / 4999)
        assert math.fsum(chance for value, chance in p if value <= level) <= level + noise


def test_the_same_input_gives_the_same_bits_in_any_order() -> None:
    p = predictions("uniform", "perfect", 700, rng=np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(700)
    one, other = sf.risk_test(p), sf.risk_test(p[order])
    assert one.pvalue_omnibus == other.pvalue_omnibus == sf.risk_test(p).pvalue_omnibus
    assert sf.risk_test(sf.tally(p)).directions == one.directions


def test_directions_that_coincide_count_once() -> None:
    # one doubt: every direction is the count, so that nothing is adjusted but for bands and e-value
    r = sf.risk_test(from_correct(np.arange(200) >= 35, np.full(200, 0.9)))
    exact = binom.sf(34, 200, 0.1)
    assert [one.pvalue for one in r.directions] == pytest.approx([exact] * 5, rel=1e-6)
    assert exact <= r.pvalue_omnibus <= 5.01 * exact
    # no weight is capped: capped is CSR
    q = np.random.default_rng(0).uniform(0.2, 0.5, 400)
    r = sf.risk_test(from_correct(np.random.default_rng(1).random(400) >= q, doubt=q))
    found = {one.name: one for one in r.directions}
    assert found["capped"].pvalue == found["csr"].pvalue == r.pvalue
    assert found["capped"].pvalue_adjusted == found["csr"].pvalue_adjusted


def near_certain_and_middle(sure: int, middle: int, excess: float, rng, low: float = 0.5, high: float = 0.7):
    """Near-certain samples that are calibrated beside others that are too confident."""
    q = np.exp(rng.uniform(math.log(1e-7), math.log(0.1), sure))
    c = rng.uniform(low, high, middle)
    wrong = np.append(rng.random(sure) < q, rng.random(middle) < 1 - c + excess)
    doubt = np.append(q, 1 - c)
    z = (wrong.sum() - doubt.sum()) / math.sqrt((doubt * (1 - doubt)).sum())
    return from_correct(~wrong, doubt=doubt), z


@pytest.mark.parametrize(
    ("sure", "middle", "excess", "low", "high"),
    [
        (1000, 1500, 0.10, 0.5, 0.7),
        (300, 600, 0.10, 0.5, 0.7),
        (2000, 4000, 0.05, 0.5, 0.7),
        (5000, 15_000, 0.05, 0.6, 0.8),
        (1000, 1500, 0.10, 0.3, 0.5),
        (200, 500, 0.10, 0.7, 0.9),
    ],
)
def test_near_certain_samples_do_not_drown_the_middle(sure, middle, excess, low, high) -> None:
    rng = np.random.default_rng([sure, middle])
    found = []
    for _ in range(60):
        p, z = near_certain_and_middle(sure, middle, excess, rng, low, high)
        if z > 4:
            found.append(sf.risk_test(p).pvalue_omnibus <= 0.025)
    assert len(found) >= 10
    assert np.mean(found) >= 0.9


def test_the_figure_of_the_case_that_was_cleared() -> None:
    p, z = near_certain_and_middle(1000, 1500, 0.10, np.random.default_rng(0))
    a = sf.assess(p)
    assert z > 6
    assert a.risk.pvalue_combined > 0.05  # CSR alone saw nothing
    assert (a.verdict, a.degree) == ("overconfident", "clearly")
    assert a.risk.overstatement_interval[0] > 0
    assert a.risk.oe_interval[0] > 1
    assert "hidden" not in str(a)


@pytest.mark.parametrize("profile", PROFILES)
def test_calibrated_models_are_seldom_called_otherwise(profile: str) -> None:
    rng = np.random.default_rng(list(PROFILES).index(profile))
    called = 0
    for _ in range(150):
        p = predictions(profile, "perfect", 120, rng=rng)
        called += sf.assess(p, metrics=()).verdict in ("overconfident", "underconfident", "mixed")
    # 5% of 150 plus three standard errors
    assert called <= 15


def test_of_unequal_weights_only_ratios_count_and_sums_are_those_of_the_rows() -> None:
    """Nearly equal samples are put together, and what surprises weigh stays; 20,000 draws of all rows tell the law."""
    rng = np.random.default_rng(59)
    q = rng.beta(2, 5, 1000)
    wrong = rng.random(1000) < q**1.1
    weight = rng.gamma(1, 1, 1000)
    for side, surprise, chance in (("overconfident", wrong, q), ("underconfident", ~wrong, 1 - q)):
        results = [
            sf.risk_test(from_correct(~wrong, doubt=q, sample_weight=scale * weight), alternative=side)
            for scale in (1, 1.5, 10, 1e-3)
        ]
        assert len({r.pvalue_omnibus for r in results}) == 1
        errors = next(one for one in results[0].directions if one.name == "errors")
        assert errors.observed == pytest.approx(float(weight[surprise].sum()), rel=1e-12)
        assert errors.expected == pytest.approx(float((weight * chance).sum()), rel=1e-12)
        draws = np.array([weight[rng.random(1000) < chance].sum() for _ in range(20_000)])
        p = float((draws >= weight[surprise].sum()).mean())
        assert errors.pvalue == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 20_000))


def test_unequal_weights_are_tested_too() -> None:
    rng = np.random.default_rng(5)
    q = rng.uniform(0.05, 0.5, 2000)
    weight = rng.uniform(0.5, 3, 2000)
    calibrated = sf.risk_test(from_correct(rng.random(2000) >= q, doubt=q, sample_weight=weight))
    assert calibrated.pvalue_omnibus > 0.01
    assert calibrated.consistency == ()
    bad = from_correct(rng.random(2000) >= np.minimum(q + 0.08, 1), doubt=q, sample_weight=weight)
    assert sf.risk_test(bad).pvalue_omnibus < 1e-4
    of_sums = sf.assess(sf.tally(bad))
    assert of_sums.verdict == "overconfident"
    assert [one.name for one in of_sums.risk.directions] == ["errors", "csr"]


@pytest.mark.parametrize(("accuracy", "n"), [(0.6, 30), (0.9, 30), (0.99, 30), (0.995, 300), (0.99, 1000), (0.9, 1000)])
def test_intervals_of_the_sizes_cover_what_they_should(accuracy: float, n: int) -> None:
    rng = np.random.default_rng(n)
    hits, sets = np.zeros(2), 400
    for _ in range(sets):
        chance = np.clip(rng.beta(20 * (1 - accuracy), 20 * accuracy, n), 1e-9, 1)
        doubt = np.clip(chance / 2, 1e-9, 1)  # twice as many errors as stated
        r = sf.risk_test(from_correct(rng.random(n) >= chance, doubt=doubt), method="normal")
        ratio, points = chance.sum() / doubt.sum(), (chance - doubt).mean()
        hits += (
            r.oe_interval[0] <= ratio <= r.oe_interval[1],
            r.overstatement_interval[0] <= points <= r.overstatement_interval[1],
        )
    assert (hits / sets >= 0.94).all()


def test_sizes_by_hand() -> None:
    r = sf.risk_test(from_correct([True] * 8 + [False] * 2, [0.9] * 10))
    assert (r.expected_errors, r.observed_errors) == pytest.approx((1.0, 2.0))
    assert r.oe_ratio == pytest.approx(2.0)
    assert r.overstatement == pytest.approx(0.1)
    # Clopper and Pearson for 2 of 10
    assert r.overstatement_interval == pytest.approx((0.0252107 - 0.1, 0.5560955 - 0.1), abs=1e-6)
    assert r.oe_interval == pytest.approx((0.252107, 5.560955), abs=1e-5)
    none = sf.risk_test(from_correct([True] * 5, [1.0] * 5))
    assert math.isnan(none.oe_ratio)
    assert none.overstatement == 0
    wrong = sf.risk_test(from_correct([False] + [True] * 4, [1.0] * 5))
    assert wrong.oe_ratio == math.inf
    assert wrong.pvalue_omnibus == 0


def test_a_hundred_million_rows_merged_from_tallies() -> None:
    t = sf.tally(predictions("skew_high", "perfect", 200_000, rng=np.random.default_rng(0)))
    for _ in range(9):
        t = t + t
    # copies of one sample are not calibrated: what was chance in it is not in five hundred of it
    for side in ("overconfident", "underconfident"):
        r = sf.risk_test(t, alternative=side)
        assert r.n == 102_400_000
        assert 0 <= r.pvalue_omnibus <= 1
    assert r.oe_interval[1] - r.oe_interval[0] < 0.01

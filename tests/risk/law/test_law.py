"""The law of the surprise: against enumeration, lattice convolution, the binomial law and itself at the edges."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import binom

import surefoot as sf
from benchmarks.evidence import deep_tail
from surefoot.risk.law.bernoulli_sum import BernoulliSum
from surefoot.risk.law.null import upper_tail
from surefoot.synthetic import PROFILES

from_correct = sf.Predictions.from_correct


def rows(chance, weight=None, count=None) -> BernoulliSum:
    chance = np.asarray(chance, dtype=float)
    return BernoulliSum(
        chance,
        1 - chance,
        1 / chance if weight is None else np.asarray(weight, dtype=float),
        np.ones(len(chance)) if count is None else np.asarray(count, dtype=float),
    )


def enumerated(chance, weight, s) -> tuple[float, float]:
    """P(S >= s) and P(S > s) over all subsets."""
    sums, mass = np.zeros(1), np.ones(1)
    for q, w in zip(chance, weight, strict=True):
        sums, mass = np.append(sums, sums + w), np.append(mass * (1 - q), mass * q)
    return math.fsum(mass[sums >= s * (1 - 1e-10)]), math.fsum(mass[sums > s * (1 + 1e-10)])


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("tied", [False, True])
def test_every_p_value_of_few_rows_is_that_of_full_enumeration(profile: str, tied: bool) -> None:
    for seed in range(25):
        rng = np.random.default_rng([seed, tied])
        n = int(rng.integers(1, 19))
        _, doubt = PROFILES[profile].draw(n, rng)
        doubt = np.clip(np.round(doubt, 1), 0.05, 0.95) if tied else np.clip(doubt, 1e-12, 1 - 1e-12)
        wrong = rng.random(n) < doubt ** rng.choice([0.5, 1.0, 2.0])
        for weight in (1 / doubt, np.minimum(1 / doubt, n / 10), np.ones(n)):
            s = float((weight * wrong).sum())
            tail = upper_tail(rows(doubt, weight), s)
            if s == 0:
                assert tail.p == 1
                continue
            at_least, above = enumerated(doubt, weight, s)
            assert 0.999 * at_least <= tail.p <= 1.05 * at_least
            assert tail.mid == pytest.approx((at_least + above) / 2, rel=1e-9)


def lattice(weights, counts, s: int) -> float:
    """P(S >= s) by convolving integer weights one row at a time."""
    mass, tail = np.zeros(s), 0.0
    mass[0] = 1
    for w, count in zip(weights, counts, strict=True):
        q = 1 / w
        for _ in range(count):
            tail += q * mass[max(s - w, 0) :].sum()
            moved = mass * (1 - q)
            if w < s:
                moved[w:] += q * mass[:-w]
            mass = moved
    return tail


@pytest.mark.parametrize("n", [50, 100, 257, 1000, 4000])
@pytest.mark.parametrize("weights", [[100], [10], [2, 5], [20, 100], [2, 3, 5, 10, 50], [3, 7, 400]])
def test_plateaus_agree_with_a_lattice_convolution(n: int, weights: list[int]) -> None:
    rng = np.random.default_rng([n, *weights])
    for excess in (1, 1.5, 3):
        counts = rng.multinomial(n, np.ones(len(weights)) / len(weights))
        wrong = rng.binomial(counts, np.minimum(excess / np.array(weights), 1))
        s = int((wrong * weights).sum())
        expected = lattice(weights, counts, s) if s else 1.0
        if expected > 1e-250:
            p = upper_tail(rows(1 / np.array(weights), np.array(weights), counts), s).p
            assert p == pytest.approx(expected, rel=0.02)


def test_equal_doubts_are_binomial() -> None:
    # the figure of risk.md: all confidences 0.99, N = 10,000
    assert upper_tail(rows([0.01], count=[10_000]), 11_800).p == pytest.approx(binom.sf(117, 10_000, 0.01), rel=0.005)
    for n, k in ((1, 1), (10, 3), (300, 20), (5000, 90), (100_000, 1100)):
        expected = binom.sf(k - 1, n, 0.01)
        assert upper_tail(rows([0.01], count=[n]), 100 * k).p == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("n", [1, 2, 40, 300, 5000])
def test_it_is_a_probability_that_falls_with_s_for_every_csr(profile: str, n: int) -> None:
    _, doubt = PROFILES[profile].draw(n, np.random.default_rng(n))
    law = rows(np.clip(doubt, 1e-300, 1))
    last = 1.0
    for ratio in (0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 1, 1.1, 2, 10, 1e3, 1e6):
        p = upper_tail(law, ratio * n).p
        assert 0 <= p <= last * 1.02
        last = p


def test_edges() -> None:
    assert upper_tail(rows([0.3]), 0.0).p == 1
    assert upper_tail(rows([0.3]), 1 / 0.3).p == pytest.approx(0.3, rel=1e-12)
    assert upper_tail(rows([0.3]), 4.0).p == math.ulp(0.0)  # cannot happen, and is not called impossible
    assert upper_tail(rows([1.0, 1.0]), 2.0).p == 1
    assert upper_tail(rows([1e-300, 1e-300]), 1e300).p == pytest.approx(2e-300, rel=1e-12)
    assert upper_tail(rows([1e-300, 1e-300]), 2e300).p == math.ulp(0.0)
    # all wrong: the product of the doubts
    doubts = np.full(1000, 0.9)
    assert upper_tail(rows(doubts), float((1 / doubts).sum())).p == pytest.approx(0.9**1000, rel=1e-9)


def test_the_far_tail_keeps_its_digits() -> None:
    # independent check of the inversion: the exact binomial, 20 standard deviations out
    p = upper_tail(rows([0.5], count=[20_000]), 2 * 11_500).p
    assert math.log(p) == pytest.approx(binom.logsf(11_499, 20_000, 0.5), rel=1e-4)


def test_a_row_heavier_than_all_is_no_trouble_to_the_others() -> None:
    rng = np.random.default_rng(3)
    doubt = 0.2 + 0.3 * rng.random(2000)
    alone = upper_tail(rows(doubt), 2150.0).p
    with_heavy = upper_tail(rows(np.append(doubt, 1e-9)), 2150.0).p
    assert with_heavy == pytest.approx(alone + 1e-9 * (1 - alone), rel=1e-9)


def test_monte_carlo_agrees() -> None:
    for profile in PROFILES:
        rng = np.random.default_rng(5)
        p = sf.synthetic.predictions(profile, "perfect", 500, rng=rng)
        exact = sf.risk_test(p)
        drawn = sf.risk_test(p, method="monte_carlo", rng=rng, draws=20_000)
        for name in ("pvalue", "pvalue_capped"):
            a, b = getattr(exact, name), getattr(drawn, name)
            assert abs(a - b) <= 4.5 * math.sqrt(a * (1 - a) / 20_000) + 1e-3


def test_the_grid_agrees_with_full_enumeration() -> None:
    from surefoot.risk.law.grid import tail_on_grid
    from surefoot.risk.law.inversion import _saddlepoint

    for seed in range(60):
        rng = np.random.default_rng(seed)
        doubt = np.clip(rng.beta(0.5, 2.0, 18), 1e-4, 1 - 1e-4)
        weight = rng.choice([1 / doubt, np.sqrt(1 / doubt), np.minimum(1 / doubt, 1.8)])
        wrong = rng.random(18) < np.sqrt(doubt)
        s = float((weight * wrong).sum())
        # the grid is for rows that do not reach s alone, and for sums that all of them do not just reach
        if not 3 <= wrong.sum() <= 14 or (weight >= s * (1 - 1e-9)).any():
            continue
        law = rows(doubt, weight)
        tail = tail_on_grid(law, s, *_saddlepoint(law, s))
        at_least, _ = enumerated(doubt, weight, s)
        assert 0.999 * at_least <= tail.p <= 1.05 * at_least + 1e-12


@pytest.mark.parametrize("n", [60, 300, 3000])
def test_a_count_of_errors_is_poisson_binomial(n: int) -> None:
    rng = np.random.default_rng(n)
    doubt = rng.beta(0.5, 3.0, n)
    mass = np.zeros(n + 1)
    mass[0] = 1
    for q in doubt:
        mass[1:] = mass[1:] * (1 - q) + mass[:-1] * q
        mass[0] *= 1 - q
    mean, spread = doubt.sum(), math.sqrt((doubt * (1 - doubt)).sum())
    for z in (-4, -1, 0, 1, 3, 6, 10):
        k = round(mean + z * spread)
        if k >= 1:
            expected = float(mass[k:].sum())
            tail = upper_tail(rows(doubt, np.ones(n)), k)
            # cells of 1.6% stand for rows where there are many
            assert tail.p == pytest.approx(expected, rel=1e-9 if n < 1000 else 2e-3)
            assert tail.mid == pytest.approx(expected - mass[k] / 2, rel=1e-6 if n < 1000 else 2e-3)


def test_many_rows_alike_on_a_grid() -> None:
    """Rows that all but surely fire, and rows that seldom do: against a convolution one row at a time."""
    from surefoot.risk.law.grid import tail_on_grid
    from surefoot.risk.law.inversion import _saddlepoint

    weights = np.array([3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47], dtype=float)
    rng = np.random.default_rng(8)
    for _ in range(10):
        chance = np.where(np.arange(14) % 3 == 0, 0.999, rng.uniform(0.001, 0.05, 14))
        count = rng.integers(1, 60, 14).astype(float)
        law = rows(chance, weights, count)
        mean = float((count * chance * weights).sum())
        spread = math.sqrt(float((count * chance * (1 - chance) * weights**2).sum()))
        for z in (-2, 0, 2, 5):
            s = round(mean + z * spread)
            mass, beyond = np.zeros(s), 0.0
            mass[0] = 1
            for q, w, n in zip(chance, weights.astype(int), count.astype(int), strict=True):
                for _ in range(n):
                    beyond += q * mass[max(s - w, 0) :].sum()
                    mass[w:] = mass[w:] * (1 - q) + q * mass[:-w]
                    mass[:w] *= 1 - q
            p = tail_on_grid(law, s, *_saddlepoint(law, s)).p
            assert 0.999 * beyond <= p <= 1.1 * beyond


def test_a_heavy_row_does_not_swallow_light_ones() -> None:
    # one error at a doubt of 1e-12 beside ten of nineteen at one half
    doubt = np.append(1e-12, np.full(19, 0.5))
    wrong = np.append(True, np.arange(19) < 10)
    p = sf.risk_test(sf.Predictions.from_correct(~wrong, doubt=doubt)).pvalue
    assert p == pytest.approx(1e-12 * binom.sf(9, 19, 0.5), rel=1e-6)
    # a quick part of what benchmarks/VALIDITY.md has at length: doubts from 1e-300 to 0.5
    least, most = deep_tail(0, 400)
    assert 0.999 <= least <= most <= 1.05


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

"""Each numbered proposition of the paper, as a property of the code."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import surefoot as sf


@st.composite
def profiles(draw: st.DrawFn, *, least: float = 0.0, most: float = 0.999) -> sf.Predictions:
    """Predictions of up to 40 rows and up to four classes, with no row that claims certainty."""
    n = draw(st.integers(1, 40))
    classes = draw(st.integers(2, 4))
    label = st.integers(0, classes - 1)
    rows = st.lists(label, min_size=n, max_size=n)
    confidence = draw(st.lists(st.floats(least, most), min_size=n, max_size=n))
    return sf.Predictions.from_labels(draw(rows), draw(rows), np.array(confidence))


@st.composite
def ranked(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Binary truths with both classes, and scores with ties."""
    n = draw(st.integers(2, 30))
    truth = np.array([0, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    score = np.array(draw(st.lists(st.integers(0, 16), min_size=n, max_size=n))) / 16
    return truth, score


def pointwise_calibrated(seed: int, groups: int) -> sf.Predictions:
    """Groups of equal confidence m/n in which exactly m of n predictions are correct."""
    rng = np.random.default_rng(seed)
    correct, confidence = [], []
    for _ in range(groups):
        n = int(rng.integers(2, 30))
        m = int(rng.integers(0, n))
        correct += [True] * m + [False] * (n - m)
        confidence += [m / n] * n
    return sf.Predictions.from_correct(np.array(correct), np.array(confidence))


@given(p=profiles(), n_bins=st.integers(1, 20))
def test_proposition_1_ece_is_the_sum_over_bins_of_absolute_sums_of_indicators(p: sf.Predictions, n_bins: int) -> None:
    edges = np.linspace(0, 1, n_bins + 1)
    total = 0.0
    for m in range(n_bins):
        inside = (p.confidence > edges[m]) & (p.confidence <= edges[m + 1])
        if m == 0:
            inside |= p.confidence == 0
        total += abs(sum(float(y) - float(c) for y, c in zip(p.correct[inside], p.confidence[inside], strict=True)))
    assert sf.ece(p, n_bins=n_bins) == pytest.approx(total / len(p), abs=1e-13)


@given(seed=st.integers(0, 10_000), groups=st.integers(1, 10))
def test_proposition_2_pointwise_calibration_makes_csr_one(seed: int, groups: int) -> None:
    assert sf.csr(pointwise_calibrated(seed, groups)) == pytest.approx(1, rel=1e-13)


def test_proposition_3_limitwise_calibration_makes_csr_about_one() -> None:
    # sigma of a uniform profile on (0, 0.9) at this size is 0.004: four of them, once, from a fixed seed
    rng = np.random.default_rng(0)
    c = rng.uniform(0, 0.9, 100_000)
    p = sf.Predictions.from_correct(rng.random(len(c)) < c, c)
    assert abs(sf.csr(p) - 1) < 4 * sf.csr_sigma(p)


@given(seed=st.integers(0, 10_000), groups=st.integers(1, 10))
def test_proposition_4_ece_zero_in_ever_finer_bins_makes_csr_one(seed: int, groups: int) -> None:
    p = pointwise_calibrated(seed, groups)
    # denominators are below 30, so confidences differ by over 1/900: each of these bins holds one value
    assert sf.ece(p, n_bins=1000) == pytest.approx(0, abs=1e-14)
    assert sf.csr(p) == pytest.approx(1, rel=1e-13)


@given(n=st.integers(1, 200), wrong=st.integers(1, 200), log_bound=st.floats(0, 9))
def test_proposition_5_ece_below_one_over_n_with_csr_above_any_bound(n: int, wrong: int, log_bound: float) -> None:
    bound, wrong = 10**log_bound, min(wrong, n)
    # right rows claim all but certainty and wrong rows claim nothing, except one wrong row that claims far too much
    correct = np.arange(n) >= wrong
    doubt = np.where(correct, 1e-300, 1.0)
    doubt[0] = min(1 / (2 * n * bound), 0.5)
    p = sf.Predictions.from_correct(correct, doubt=doubt)
    assert sf.ece(p) < 1 / n
    assert sf.csr(p) > bound


def test_proposition_6_sigma_is_the_standard_deviation_of_csr_over_every_outcome() -> None:
    c = np.array([0.1, 0.4, 0.5, 0.75, 0.9, 0.2, 0.6])
    mean = square = 0.0
    for outcome in range(2 ** len(c)):
        correct = np.array([(outcome >> i) & 1 for i in range(len(c))], dtype=bool)
        chance = float(np.prod(np.where(correct, c, 1 - c)))
        value = sf.csr(sf.Predictions.from_correct(correct, c))
        mean += chance * value
        square += chance * value**2
    assert mean == pytest.approx(1, rel=1e-12)
    assert math.sqrt(square - mean**2) == pytest.approx(
        sf.csr_sigma(sf.Predictions.from_correct(np.ones(len(c), dtype=bool), c)), rel=1e-12
    )


def test_proposition_6_with_weights_sigma_takes_their_squares() -> None:
    c, w = np.array([0.1, 0.4, 0.5, 0.75]), np.array([1.0, 2.0, 0.5, 3.0])
    square = 0.0
    for outcome in range(16):
        correct = np.array([(outcome >> i) & 1 for i in range(4)], dtype=bool)
        chance = float(np.prod(np.where(correct, c, 1 - c)))
        square += chance * (sf.csr(sf.Predictions.from_correct(correct, c, sample_weight=w)) - 1) ** 2
    p = sf.Predictions.from_correct([True] * 4, c, sample_weight=w)
    assert sf.csr_sigma(p) == pytest.approx(math.sqrt(square), rel=1e-12)


@given(p=profiles())
def test_proposition_7_jensen_bounds_csr_from_below(p: sf.Predictions) -> None:
    assume(p.wrong.any())
    bound = (1 - sf.accuracy(p)) / (1 - p.confidence[p.wrong].mean())
    assert sf.csr(p) >= bound * (1 - 1e-12)


@given(seed=st.integers(0, 10_000), groups=st.integers(1, 10))
def test_proposition_8_csr_one_keeps_the_confidence_of_mistakes_below_the_accuracy(seed: int, groups: int) -> None:
    p = pointwise_calibrated(seed, groups)
    assert p.confidence[p.wrong].mean() <= sf.accuracy(p) + 1e-12


@given(p=profiles(least=0.001))
def test_proposition_9_cwa_is_accuracy_plus_covariance_over_mean_confidence(p: sf.Predictions) -> None:
    c, y = p.confidence, p.correct.astype(float)
    covariance = (c * y).mean() - c.mean() * y.mean()
    assert sf.cw_accuracy(p) == pytest.approx(y.mean() + covariance / c.mean(), abs=1e-11)


@given(correct=st.lists(st.booleans(), min_size=1, max_size=50))
def test_corollary_10_a_flat_profile_is_calibrated_and_worth_nothing(correct: list[bool]) -> None:
    share = sum(correct) / len(correct)
    assume(0 < share < 1)
    p = sf.Predictions.from_correct(correct, np.full(len(correct), share))
    assert sf.csr(p) == pytest.approx(1, rel=1e-12)
    assert sf.ece(p) == pytest.approx(0, abs=1e-14)
    assert sf.cw_accuracy(p) == pytest.approx(share, rel=1e-12)
    assert sf.gain(p) == pytest.approx(0, abs=1e-12)


@given(p=profiles())
def test_proposition_11_the_four_structural_relations(p: sf.Predictions) -> None:
    cells = sf.cw_confusion(p)
    mass = p.confidence.sum()
    for k, label in enumerate(cells.labels):
        positive, negative = p.confidence[p.truth == label].sum(), p.confidence[p.truth != label].sum()
        assert cells.tp[k] + cells.fn[k] == pytest.approx(positive, abs=1e-12)
        assert cells.fp[k] + cells.tn[k] == pytest.approx(negative, abs=1e-12)
        assert positive + negative == pytest.approx(mass, abs=1e-12)
        assert cells.tp[k] + cells.fp[k] + cells.fn[k] + cells.tn[k] == pytest.approx(mass, abs=1e-12)


@given(p=profiles(least=0.01))
@pytest.mark.filterwarnings("ignore::surefoot.errors.UndefinedMetricWarning")
def test_proposition_12_identities_between_classical_metrics_carry_over(p: sf.Predictions) -> None:
    precision, recall = sf.cw_precision(p, average=None), sf.cw_recall(p, average=None)
    f1, jaccard = sf.cw_f1(p, average=None), sf.cw_jaccard(p, average=None)
    with np.errstate(invalid="ignore", divide="ignore"):
        harmonic = 2 * precision * recall / (precision + recall)
    held = np.isfinite(harmonic)
    np.testing.assert_allclose(f1[held], harmonic[held], rtol=1e-12)
    np.testing.assert_allclose(jaccard, f1 / (2 - f1), rtol=1e-12, equal_nan=True)


@given(p=profiles(least=0.01))
def test_proposition_13_cwa_is_the_true_positive_mass_over_the_positive_mass(p: sf.Predictions) -> None:
    cells = sf.cw_confusion(p)
    assert sf.cw_accuracy(p) == pytest.approx(cells.tp.sum() / (cells.tp + cells.fn).sum(), rel=1e-12)
    assert sf.cw_accuracy(p) == pytest.approx(cells.tp.sum() / p.confidence.sum(), rel=1e-12)


@given(p=profiles(least=0.01))
def test_proposition_14_per_class_accuracies_add_up_affinely(p: sf.Predictions) -> None:
    accuracies = sf.cw_metric(lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn))(p, average=None)
    assume(len(accuracies) > 1)
    assert accuracies.sum() == pytest.approx(len(accuracies) - 2 + 2 * sf.cw_accuracy(p), rel=1e-12)


def pairs(truth: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every pair of a positive and a negative: whether it is ranked rightly, and its weight."""
    confidence = np.where(score > 0.5, score, 1 - score)
    i, j = np.flatnonzero(truth == 1), np.flatnonzero(truth == 0)
    difference = score[i][:, None] - score[j][None, :]
    return np.heaviside(difference, 0.5).ravel(), (confidence[i][:, None] * confidence[j][None, :]).ravel()


@given(case=ranked())
def test_proposition_15_cw_auc_is_the_chance_that_a_weighted_pair_is_ranked_rightly(case) -> None:
    rightly, weight = pairs(*case)
    assert sf.auc(*case) == pytest.approx(rightly.mean(), rel=1e-12, abs=1e-15)
    assert sf.cw_auc(*case) == pytest.approx(np.average(rightly, weights=weight), rel=1e-12, abs=1e-15)


@given(case=ranked())
def test_proposition_15_cw_auc_is_the_area_under_the_weighted_curve(case) -> None:
    curve = sf.cw_roc_curve(*case)
    assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr), rel=1e-12, abs=1e-15)


@given(case=ranked())
def test_proposition_16_cw_auc_less_auc_is_a_covariance(case) -> None:
    rightly, weight = pairs(*case)
    covariance = (rightly * weight).mean() - rightly.mean() * weight.mean()
    assert sf.cw_auc(*case) - sf.auc(*case) == pytest.approx(covariance / weight.mean(), abs=1e-13)


@given(case=ranked(), power=st.sampled_from([0.25, 0.5, 2.0, 3.0]))
def test_proposition_17_auc_does_not_change_under_a_rising_map_and_cw_auc_may(case, power: float) -> None:
    truth, score = case
    assert sf.auc(truth, score**power) == sf.auc(truth, score)


def test_proposition_17_cw_auc_does_change_under_a_rising_map() -> None:
    truth, score = [0, 0, 1, 1], np.array([0.1, 0.4, 0.35, 0.8])
    assert sf.cw_auc(truth, score**3) != pytest.approx(sf.cw_auc(truth, score), rel=1e-3)


def test_proposition_17_fails_for_isotonic_maps_which_only_rise_weakly() -> None:
    from sklearn.isotonic import IsotonicRegression

    truth, score = np.array([0, 1, 0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    fitted = IsotonicRegression(y_min=0, y_max=1).fit_transform(score, truth)
    # 1 0 pools to 1/2, twice: by hand 0, .5, .5, .5, .5, 1
    assert fitted.tolist() == [0, 0.5, 0.5, 0.5, 0.5, 1]
    assert sf.auc(truth, score) == pytest.approx(6 / 9)
    assert sf.auc(truth, fitted) == pytest.approx(7 / 9)

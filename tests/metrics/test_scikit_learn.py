"""Against scikit-learn, with the confidences as its sample weights."""

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf

pytestmark = [
    pytest.mark.filterwarnings("ignore::surefoot.errors.UndefinedMetricWarning"),
    pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true:UserWarning"),
]


def drawn(seed: int, rows: int, classes: int, grid: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truths, probabilities with heavy ties, and weights."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, grid, (rows, classes))
    probabilities = counts / counts.sum(axis=1, keepdims=True)
    truth = np.array([rng.choice(classes, p=p) for p in probabilities])
    truth[:classes] = np.arange(classes)  # every class occurs
    return truth, probabilities, rng.integers(1, 5, rows) / 4


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 5), grid=st.integers(2, 6))
def test_cw_auc_equals_roc_auc_score_with_heavy_ties(seed: int, classes: int, grid: int) -> None:
    truth, probabilities, weight = drawn(seed, 60, classes, grid)
    p = sf.Predictions.from_probabilities(truth, probabilities, sample_weight=weight)
    confidence = probabilities.max(axis=1)
    for k in range(classes):
        of_class = truth == k
        for ours, weights in ((sf.auc, weight), (sf.cw_auc, weight * confidence)):
            expected = sk.roc_auc_score(of_class, probabilities[:, k], sample_weight=weights)
            assert ours(p, average=None)[k] == pytest.approx(expected, rel=1e-12, abs=1e-14)
        expected = sk.average_precision_score(of_class, probabilities[:, k], sample_weight=weight * confidence)
        assert sf.cw_average_precision(p, average=None)[k] == pytest.approx(expected, rel=1e-12)


@given(seed=st.integers(0, 10_000), classes=st.integers(3, 5))
def test_averages_of_cw_auc_equal_scikit_learns(seed: int, classes: int) -> None:
    truth, probabilities, _ = drawn(seed, 60, classes, 50)
    confidence = probabilities.max(axis=1)
    expected = sk.roc_auc_score(truth, probabilities, multi_class="ovr", sample_weight=confidence)
    assert sf.cw_auc(truth, probabilities) == pytest.approx(expected, rel=1e-12)
    expected = sk.roc_auc_score(truth, probabilities, multi_class="ovr", average="weighted")
    assert sf.auc(truth, probabilities, average="weighted") == pytest.approx(expected, rel=1e-12)


@given(seed=st.integers(0, 10_000), grid=st.integers(2, 40))
def test_binary_rankings_equal_scikit_learns(seed: int, grid: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, grid + 1, 50) / grid
    y = rng.integers(0, 2, 50)
    y[:2] = 0, 1
    confidence = np.where(p > 0.5, p, 1 - p)
    assert sf.cw_auc(y, p) == pytest.approx(sk.roc_auc_score(y, p, sample_weight=confidence), rel=1e-12)
    assert sf.cw_average_precision(y, p) == pytest.approx(
        sk.average_precision_score(y, p, sample_weight=confidence), rel=1e-12
    )
    fpr, tpr, thresholds = sk.roc_curve(y, p, sample_weight=confidence, drop_intermediate=False)
    curve = sf.cw_roc_curve(y, p)
    np.testing.assert_allclose(curve.fpr, fpr, rtol=0, atol=1e-14)
    np.testing.assert_allclose(curve.tpr, tpr, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    assert curve.auc == pytest.approx(sf.cw_auc(y, p), rel=1e-14)


def confusion_case(seed: int, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, classes, (2, 40))
    # quarters, so that sums are exact and a sum that should be 0 is
    return truth, predicted, rng.integers(1, 5, 40) / 4


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6), average=st.sampled_from(["macro", "weighted", "micro"]))
def test_precision_recall_f_and_jaccard_equal_scikit_learns(seed: int, classes: int, average: str) -> None:
    y, p, c = confusion_case(seed, classes)
    options = {"average": average, "sample_weight": c, "zero_division": np.nan}
    assert sf.cw_precision(y, p, c, average=average) == pytest.approx(sk.precision_score(y, p, **options), rel=1e-12)
    assert sf.cw_recall(y, p, c, average=average) == pytest.approx(sk.recall_score(y, p, **options), rel=1e-12)
    assert sf.cw_f1(y, p, c, average=average) == pytest.approx(sk.f1_score(y, p, **options), rel=1e-12)
    assert sf.cw_fbeta(y, p, c, beta=0.5, average=average) == pytest.approx(
        sk.fbeta_score(y, p, beta=0.5, **options), rel=1e-12
    )
    options["zero_division"] = 0
    assert sf.cw_jaccard(y, p, c, average=average) == pytest.approx(sk.jaccard_score(y, p, **options), rel=1e-12)


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6))
def test_matrix_and_its_coefficients_equal_scikit_learns(seed: int, classes: int) -> None:
    y, p, c = confusion_case(seed, classes)
    np.testing.assert_array_equal(sf.cw_confusion(y, p, c).matrix, sk.confusion_matrix(y, p, sample_weight=c))
    np.testing.assert_array_equal(sf.confusion(y, p).matrix, sk.confusion_matrix(y, p))
    assert sf.cw_mcc(y, p, c) == pytest.approx(sk.matthews_corrcoef(y, p, sample_weight=c), rel=1e-12, abs=1e-14)
    assert sf.cw_kappa(y, p, c) == pytest.approx(sk.cohen_kappa_score(y, p, sample_weight=c), rel=1e-12, abs=1e-14)
    assert sf.cw_balanced_accuracy(y, p, c) == pytest.approx(
        sk.balanced_accuracy_score(y, p, sample_weight=c), rel=1e-12
    )
    cells = sk.multilabel_confusion_matrix(y, p, sample_weight=c)
    ours = sf.cw_confusion(y, p, c)
    np.testing.assert_array_equal(cells[:, 0, 0], ours.tn)
    np.testing.assert_array_equal(cells[:, 0, 1], ours.fp)
    np.testing.assert_array_equal(cells[:, 1, 0], ours.fn)
    np.testing.assert_array_equal(cells[:, 1, 1], ours.tp)


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 6))
def test_one_against_the_rest_equals_scikit_learn_on_the_binarised_problem(seed: int, classes: int) -> None:
    y, p, c = confusion_case(seed, classes)
    labels = np.unique(np.concatenate([y, p]))
    for ours, theirs in (
        (sf.cw_mcc, sk.matthews_corrcoef),
        (sf.cw_kappa, sk.cohen_kappa_score),
        (sf.cw_balanced_accuracy, sk.balanced_accuracy_score),
    ):
        values = ours(y, p, c, average=None)
        for value, k in zip(values, labels, strict=True):
            if 0 < (y == k).sum() < len(y) and 0 < (p == k).sum() < len(p):
                assert value == pytest.approx(theirs(y == k, p == k, sample_weight=c), rel=1e-12, abs=1e-14)
    for k, specificity, npv in zip(
        labels, sf.cw_specificity(y, p, c, average=None), sf.cw_npv(y, p, c, average=None), strict=True
    ):
        assert specificity == pytest.approx(sk.recall_score(y != k, p != k, sample_weight=c), rel=1e-12)
        assert npv == pytest.approx(sk.precision_score(y != k, p != k, sample_weight=c), rel=1e-12)


def test_labels_pick_and_order_the_classes_as_in_scikit_learn() -> None:
    y, p, c = confusion_case(1, 5)
    chosen = [3, 0]
    np.testing.assert_array_equal(
        sf.cw_confusion(y, p, c, labels=chosen).matrix, sk.confusion_matrix(y, p, labels=chosen, sample_weight=c)
    )
    np.testing.assert_allclose(
        sf.cw_recall(y, p, c, labels=chosen, average=None),
        sk.recall_score(y, p, labels=chosen, average=None, sample_weight=c),
        rtol=1e-14,
    )


def test_log_loss_and_brier_equal_scikit_learns_of_correctness() -> None:
    rng = np.random.default_rng(5)
    c = rng.uniform(0.01, 0.99, 300)
    correct = rng.random(300) < c
    w = rng.uniform(0.1, 3, 300)
    p = sf.Predictions.from_correct(correct, c, sample_weight=w)
    assert sf.log_loss(p) == pytest.approx(sk.log_loss(correct, c, sample_weight=w), rel=1e-12)
    assert sf.brier(p) == pytest.approx(sk.brier_score_loss(correct, c, sample_weight=w), rel=1e-12)

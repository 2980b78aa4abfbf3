"""Metrics on cases small enough to compute by hand, and at their edges."""

import math

import numpy as np
import pytest

import surefoot as sf
from surefoot import Predictions

nan = math.nan


def by_correct(correct, confidence, **options) -> Predictions:
    return Predictions.from_correct(correct, confidence, **options)


def test_csr_by_hand() -> None:
    p = by_correct([1, 0, 0, 1], [0.75, 0.5, 0.75, 0.9])
    assert sf.csr(p) == (2 + 4) / 4
    assert sf.csr_sigma(p) == pytest.approx(math.sqrt(3 + 1 + 3 + 9) / 4, rel=1e-14)
    assert sf.csr_z(p) == pytest.approx(0.5, rel=1e-14)
    assert sf.p_risk(p) == pytest.approx(0.6914624612740131, rel=1e-14)


def test_p_risk_is_zero_while_csr_is_at_most_one() -> None:
    assert sf.p_risk(by_correct([1, 1, 0], [0.5, 0.5, 0.5])) == 0
    assert sf.p_risk(by_correct([1, 0], [0.5, 0.5])) == 0


def test_p_risk_rises_to_one() -> None:
    assert sf.p_risk(by_correct([0] * 50, [0.99] * 50)) == 1.0


def test_confidence_zero_everywhere_has_no_spread() -> None:
    assert sf.csr_z(by_correct([0, 0], [0.0, 0.0])) == 0
    assert sf.csr_z(by_correct([0, 1], [0.0, 0.0])) == -math.inf
    with pytest.warns(sf.UndefinedMetricWarning, match="every confidence is 0"):
        assert math.isnan(sf.cw_accuracy(by_correct([0, 1], [0.0, 0.0])))


def test_gain_is_zero_when_both_are_one_and_negative_when_mistakes_are_surer() -> None:
    assert sf.gain(by_correct([1, 1], [0.5, 0.7])) == 0
    # cwA .25, accuracy .5: -.25 of the .75 between .25 and 1
    assert sf.gain(by_correct([1, 0], [0.25, 0.75])) == pytest.approx(-1 / 3, rel=1e-14)


def test_zero_and_one_belong_to_the_first_and_last_bin() -> None:
    for closed in ("right", "left"):
        p = by_correct([0, 1, 1, 1], [0.0, 0.05, 0.95, 1.0])
        # two bins: (0 + .05 - 1) and (.95 + 1 - 2)
        assert sf.ece(p, n_bins=2, closed=closed) == pytest.approx((0.95 + 0.05) / 4, rel=1e-13)


def test_an_edge_belongs_to_the_side_that_is_closed() -> None:
    p = by_correct([1, 0], [0.5, 0.6])
    assert sf.ece(p, n_bins=2, closed="right") == pytest.approx((0.5 + 0.6) / 2)
    assert sf.ece(p, n_bins=2, closed="left") == pytest.approx(abs(1.1 - 1) / 2)


def test_float32_confidences_are_binned_after_upcasting() -> None:
    c = np.array([0.6], dtype=np.float32)  # 0.6000000238
    assert float(c[0]) > np.linspace(0, 1, 6)[3]
    p = by_correct([True, True], np.array([0.6, 0.7], dtype=np.float32))
    assert sf.ece(p, n_bins=5) == pytest.approx(0.35, rel=1e-6)


def test_mce_is_the_largest_gap_of_an_occupied_bin() -> None:
    assert sf.mce(by_correct([1, 1, 0], [0.9, 0.8, 0.4]), n_bins=2) == pytest.approx(0.4)
    ignored = by_correct([1, 0], [0.9, 0.4], sample_weight=[1, 0])
    assert sf.mce(ignored, n_bins=2) == pytest.approx(0.1)


def test_equal_mass_bins_keep_equal_confidences_together() -> None:
    p = by_correct([1, 0, 1, 1], [0.5, 0.5, 0.5, 0.9])
    # the three at .5 end at row 3 of 4: second bin, with .9
    assert sf.equal_mass_ece(p, n_bins=2) == pytest.approx(abs(1.5 + 0.9 - 3) / 4)
    # rows 1-2 and 3-4 of four distinct ones
    q = by_correct([1, 0, 1, 1], [0.1, 0.2, 0.6, 0.9])
    assert sf.equal_mass_ece(q, n_bins=2) == pytest.approx((abs(0.3 - 1) + abs(1.5 - 2)) / 4)


@pytest.mark.parametrize("bad", [0, -1, 2.5, "15", True])
def test_the_number_of_bins_is_checked(bad: object) -> None:
    p = by_correct([1], [0.5])
    for function in (sf.ece, sf.mce, sf.equal_mass_ece):
        with pytest.raises(ValueError, match="n_bins"):
            function(p, n_bins=bad)
    with pytest.raises(ValueError, match="closed"):
        sf.ece(p, closed="both")


def test_log_loss_at_the_ends() -> None:
    assert sf.log_loss(by_correct([1, 1], [1.0, 0.5])) == pytest.approx(math.log(2) / 2)
    assert sf.log_loss(by_correct([0, 1], [1.0, 0.5])) == math.inf
    assert sf.log_loss(by_correct([1, 0], [0.0, 0.0])) == math.inf
    assert sf.log_loss(by_correct([0, 1], [1.0, 0.5], sample_weight=[0, 1])) == pytest.approx(math.log(2))


def test_log_loss_uses_the_doubt_that_subtraction_would_lose() -> None:
    p = Predictions.from_logits([1], [[40.0, 0.0]])
    assert sf.log_loss(p) == pytest.approx(40, rel=1e-12)


def test_ecd_at_the_ends() -> None:
    assert sf.ecd(by_correct([1, 0], [1.0, 0.0])) == 0
    assert sf.ecd(by_correct([0, 1], [1.0, 0.5])) == math.inf
    assert sf.ecd(by_correct([1, 1], [0.0, 0.5])) == math.inf
    assert sf.ecd(by_correct([0, 1], [1.0, 0.5], sample_weight=[0, 1])) == 0


def test_confusion_names_its_cells() -> None:
    c = sf.cw_confusion(["a", "b", "b", "c"], ["a", "b", "c", "c"], [0.5, 0.25, 0.75, 1.0])
    assert c.labels == ("a", "b", "c")
    assert c.matrix.tolist() == [[0.5, 0, 0], [0, 0.25, 0.75], [0, 0, 1]]
    assert c.tp.tolist() == [0.5, 0.25, 1]
    assert c.fp.tolist() == [0, 0, 0.75]
    assert c.fn.tolist() == [0, 0.75, 0]
    assert c.tn.tolist() == [2, 1.5, 0.75]


def test_true_negatives_never_fall_below_zero() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        y = np.zeros(30, dtype=int)
        c = rng.random(30)
        assert (sf.cw_confusion(y, np.zeros(30, dtype=int), c, labels=[0, 1]).tn >= 0).all()


@pytest.mark.parametrize("classes", [2, 3, 8, 13, 64])
def test_true_negatives_are_all_cells_outside_a_row_and_a_column(classes: int) -> None:
    rng = np.random.default_rng(classes)
    y, guess = rng.integers(0, classes, (2, 40 * classes))
    # sixteenths add up without rounding
    c = rng.integers(1, 16, len(y)) / 16
    expected = [c[(y != k) & (guess != k)].sum() for k in range(classes)]
    assert sf.cw_confusion(y, guess, c, labels=list(range(classes))).tn.tolist() == expected


def test_an_absent_class_is_nan_with_a_warning_and_left_out_of_the_mean() -> None:
    y, p, c = [0, 0, 1], [0, 0, 1], [0.5, 0.5, 0.5]
    with pytest.warns(sf.UndefinedMetricWarning, match="cw_recall: not defined for class 7, and left out"):
        assert sf.cw_recall(y, p, c, labels=[0, 1, 7]) == 1.0
    with pytest.warns(sf.UndefinedMetricWarning, match="not defined for class 7$"):
        np.testing.assert_array_equal(sf.cw_recall(y, p, c, labels=[0, 1, 7], average=None), [1, 1, nan])
    table = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1]]
    with pytest.warns(sf.UndefinedMetricWarning, match="auc: not defined for class 2"):
        assert sf.auc(y, table) == 1.0


def test_one_class_alone_has_no_correlation() -> None:
    for function in (sf.cw_mcc, sf.cw_kappa):
        with pytest.warns(sf.UndefinedMetricWarning, match="only one class"):
            assert math.isnan(function([1, 1], [1, 1], [0.5, 0.5]))


def test_only_known_averages() -> None:
    with pytest.raises(ValueError, match="average is 'mean'"):
        sf.cw_f1([0, 1], [0, 1], [0.5, 0.5], average="mean")
    with pytest.raises(ValueError, match="average is 'micro'"):
        sf.auc([0, 1], [0.2, 0.8], average="micro")


def test_metrics_the_data_cannot_give_say_why() -> None:
    p = by_correct([1, 0], [0.5, 0.5])
    with pytest.raises(sf.MetricUnavailable, match="cw_mcc needs true and predicted labels"):
        sf.cw_mcc(p)
    with pytest.raises(sf.MetricUnavailable, match="auc needs the probability of each class"):
        sf.auc(p)
    with pytest.raises(sf.MetricUnavailable, match="needs the probability of each class"):
        sf.roc_curve(Predictions.from_labels([0, 1], [0, 1], [0.5, 0.5]))


def test_rankings_from_logits_see_what_probabilities_round_away() -> None:
    logits = np.array([[0.0, 45.0], [0.0, 50.0], [0.0, -1.0]])
    truth = [0, 1, 1]
    # positives at 50 and -1, the negative at 45: one pair of two is right; softmax rounds 45 and 50 to the same 1.0
    assert sf.auc(Predictions.from_logits(truth, logits)) == 0.5
    assert sf.auc(truth, 1 / (1 + np.exp(-logits[:, 1]))) == 0.25


def test_tiny_probabilities_keep_their_order_for_both_classes() -> None:
    truth, p = [0, 1, 0, 1], [1e-30, 1e-20, 0.3, 0.6]
    np.testing.assert_array_equal(sf.auc(truth, p, average=None), [0.75, 0.75])
    curve = sf.roc_curve(truth, p, label=0)
    assert curve.thresholds.tolist() == [math.inf, 1, 1, 0.7, 0.4]


def test_roc_curve_of_a_class_among_several() -> None:
    truth, table = ["a", "b", "c"], [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6]]
    curve = sf.roc_curve(truth, table, label="b")
    assert curve.tpr.tolist() == [0, 1, 1, 1]
    assert curve.fpr.tolist() == [0, 0, 0.5, 1]
    assert curve.auc == 1.0
    with pytest.raises(sf.InvalidPredictions, match="name that of the curve"):
        sf.roc_curve(truth, table)
    with pytest.raises(sf.InvalidPredictions, match="not one of the classes"):
        sf.roc_curve(truth, table, label="z")


def test_a_thousand_classes() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(2000, 1000)).astype(np.float32)
    truth = rng.integers(0, 1000, 2000)
    logits[np.arange(2000), truth] += 3
    p = Predictions.from_logits(truth, logits)
    with pytest.warns(sf.UndefinedMetricWarning):
        value = sf.cw_auc(p)
    k = int(np.bincount(truth).argmax())
    from sklearn.metrics import roc_auc_score

    expected = roc_auc_score(truth == k, p.probabilities[:, k], sample_weight=p.confidence)
    assert sf.cw_roc_curve(p, label=k).auc == pytest.approx(expected, rel=1e-12)
    assert 0.9 < value < 1
    with pytest.warns(sf.UndefinedMetricWarning):
        assert sf.cw_f1(p) > 0


def test_cw_metric_of_any_formula() -> None:
    cw_fpr = sf.cw_metric(lambda tp, fp, fn, tn: fp / (fp + tn))
    y, p, c = [0, 1, 1, 0], [0, 1, 0, 0], [0.5, 0.25, 0.75, 1.0]
    assert cw_fpr(y, p, c, average=None).tolist() == [0.75, 0.0]
    assert cw_fpr(y, p, c) == 0.375
    assert cw_fpr(y, p, c, average="micro") == pytest.approx(0.75 / 2.5)


def test_a_formula_with_an_if_is_evaluated_class_by_class() -> None:
    def guarded(tp: float, fp: float, fn: float, tn: float) -> float:
        return tp / (tp + fp) if tp + fp > 0 else 0.0

    truth, predicted, confidence = [0, 1, 2, 1], [0, 1, 1, 0], [0.5, 0.75, 0.25, 0.5]
    found = sf.cw_metric(guarded)(truth, predicted, confidence, average=None)
    # class 2 is never predicted, and the formula has a value for that
    assert found.tolist() == [0.5, 0.75, 0.0]
    assert sf.cw_metric(guarded)(truth, predicted, confidence) == pytest.approx(1.25 / 3)
    rooted = sf.cw_metric(lambda tp, fp, fn, tn: math.sqrt(max(tp, fn)))
    assert rooted(truth, predicted, confidence, average=None) == pytest.approx([0.5**0.5, 0.75**0.5, 0.5])
    constant = sf.cw_metric(lambda tp, fp, fn, tn: 0.25)
    assert constant(truth, predicted, confidence, average=None).tolist() == [0.25] * 3
    # nothing to divide by is nan, as with arrays
    plain = sf.cw_metric(lambda tp, fp, fn, tn: tp / (tp + fp) if tp >= 0 else 0)
    with pytest.warns(sf.UndefinedMetricWarning, match="class 2"):
        found = plain(truth, predicted, confidence)
    assert found == pytest.approx(0.625)


def test_a_confusion_matrix_has_the_positives_and_negatives_of_each_class() -> None:
    weighted = sf.cw_confusion([0, 1, 1], [0, 1, 0], [0.5, 0.75, 0.25])
    assert weighted.p.tolist() == [0.5, 1.0]
    assert weighted.n.tolist() == [1.0, 0.5]

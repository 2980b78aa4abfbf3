"""The calls that people make first, in the order of the guide: each works as written, or says what to write instead."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

import surefoot as sf

RNG = np.random.default_rng(11)
P1 = RNG.beta(2, 2, 400)
Y = (RNG.random(400) < P1).astype(int)
P2 = np.column_stack([1 - P1, P1])
WORDS = np.array(["no", "yes"])[Y]
PREDICTED = (P1 > 0.5).astype(int)
CONFIDENCE = np.maximum(P1, 1 - P1)
CORRECT = PREDICTED == Y
LOGITS = np.log(P2)
FRAME = pd.DataFrame({"label": Y, "p": P1, "decided": PREDICTED, "sure": CONFIDENCE, "region": WORDS, "w": 1.0})
WHOLE = sf.assess(sf.Predictions.from_probabilities(Y, P1))


def alike(a: sf.Assessment, rel: float = 1e-12) -> bool:
    names = ("csr", "accuracy", "ece", "cw_accuracy", "brier", "log_loss")
    return a.verdict == WHOLE.verdict and all(a[name] == pytest.approx(WHOLE[name], rel=rel) for name in names)


# -- assess ------------------------------------------------------------------------------------------------------------


def test_assess_of_labels_and_probabilities() -> None:
    assert alike(sf.assess(Y, P2))
    assert alike(sf.assess(WORDS, P2))
    assert alike(sf.assess(WORDS, P1, pos_label="yes"))
    assert alike(sf.assess(Y, P1, pos_label=1))
    assert alike(sf.assess(y_true=Y, probabilities=P1))
    assert alike(sf.assess(truth=Y, y_proba=P1))
    assert alike(sf.assess(list(Y), P2.tolist()))


def test_assess_of_labels_predictions_and_confidence() -> None:
    assert alike(sf.assess(Y, PREDICTED, CONFIDENCE))
    assert alike(sf.assess(Y, PREDICTED, confidence=CONFIDENCE))
    assert alike(sf.assess(y_true=Y, y_pred=PREDICTED, confidence=CONFIDENCE))
    assert alike(sf.assess(truth=Y, predicted=PREDICTED, confidence=CONFIDENCE))


def test_assess_of_correctness_and_confidence() -> None:
    assert alike(sf.assess(correct=CORRECT, confidence=CONFIDENCE))


def test_assess_of_logits() -> None:
    assert alike(sf.assess(Y, LOGITS, from_logits=True), rel=1e-9)
    assert alike(sf.assess(Y, LOGITS[:, 1] - LOGITS[:, 0], from_logits=True), rel=1e-9)


@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME), pl.from_pandas(FRAME).lazy()])
def test_assess_of_a_frame(frame: object) -> None:
    assert alike(sf.assess(frame, y_true="label", y_proba="p"))
    assert alike(sf.assess(frame, truth="label", probabilities="p"))
    assert alike(sf.assess(frame, y_true="label", y_pred="decided", confidence="sure", sample_weight="w"))
    assert {part.value for part in sf.assess(frame, y_true="label", y_proba="p", by="region").slices} == {"no", "yes"}


def test_assess_of_a_frame_of_logits() -> None:
    frame = pd.DataFrame({"label": Y, "z_0": LOGITS[:, 0], "z_1": LOGITS[:, 1]})
    assert alike(sf.assess(frame, y_true="label", y_proba="z_", from_logits=True), rel=1e-9)
    with pytest.raises(sf.InvalidPredictions, match="collect the frame first"):
        sf.assess(pl.from_pandas(frame).lazy(), y_true="label", y_proba="z_", from_logits=True)


def test_assess_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    FRAME.to_csv(path, index=False)
    for given in (str(path), path):
        a = sf.assess(given, y_true="label", y_proba="p")
        assert alike(a)
        assert a.source == "predictions.csv"
        assert "label" in a.columns
    a = sf.assess(path, truth="label", probabilities="p", by="region", metrics=["mce"])
    assert (a.by, len(a.slices)) == ("region", 2)
    assert a.mce == pytest.approx(WHOLE.mce)
    assert sf.assess(path, truth="region", probabilities="p", pos_label="yes").accuracy == WHOLE.accuracy
    assert sf.assess(path, truth="label", probabilities="p", groups="region").risk.groups == 2
    with pytest.raises(sf.InvalidPredictions, match="by is no name; of a file, give the name of a column"):
        sf.assess(path, truth="label", probabilities="p", by=WORDS)


def test_two_columns_that_can_mean_two_things_are_refused_with_both_ways() -> None:
    for first in (Y, Y.astype(bool), Y.tolist(), Y.astype(float)):
        for call, name in ((sf.assess, "assess"), (sf.ece, "ece"), (sf.risk_test, "risk_test")):
            with pytest.raises(sf.InvalidPredictions) as raised:
                call(first, P1)
            positive = True if first is not Y and np.asarray(first).dtype == bool else 1
            assert f"{name}(y_true=x, probabilities=numbers), or add pos_label={positive}" in str(raised.value)
            call(first, P1, pos_label=positive)
            assert f"{name}(correct=x, confidence=numbers)" in str(raised.value)


def test_the_signature_names_every_argument() -> None:
    for function in (sf.assess, sf.ece, sf.cw_f1, sf.auc, sf.risk_test, sf.reliability_curve):
        shown = inspect.signature(function).parameters
        assert {
            "y_true",
            "y_pred",
            "confidence",
            "correct",
            "probabilities",
            "pos_label",
            "from_logits",
        } <= shown.keys()
        assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in shown.values())
        assert all(f"{name} : " in (function.__doc__ or "") for name in shown), function.__name__


def test_a_wrong_name_suggests_the_right_one() -> None:
    with pytest.raises(TypeError, match="unexpected argument 'probabilites'; did you mean 'probabilities'"):
        sf.assess(y_true=Y, probabilites=P1)
    with pytest.raises(TypeError, match="'y_true' and 'truth', which mean the same"):
        sf.ece(y_true=Y, truth=Y, probabilities=P1)
    with pytest.raises(TypeError, match="'y_true' was given twice"):
        sf.ece(Y, y_true=Y, probabilities=P1)


def test_what_is_given_instead_of_data_gets_a_way_out() -> None:
    with pytest.raises(sf.InvalidPredictions, match=r"surefoot\.load\('x\.csv'\)"):
        sf.ece("x.csv")
    with pytest.raises(sf.InvalidPredictions, match=r"assess_estimator\(model, X, y\)"):
        sf.assess(type("Model", (), {"predict_proba": None})(), P2)
    with pytest.raises(sf.InvalidPredictions, match="give them by name, such as y_true='label'"):
        sf.assess(FRAME, P1)
    with pytest.raises(sf.InvalidPredictions, match="confidence is missing"):
        sf.ece(Y, PREDICTED)
    with pytest.raises(sf.InvalidPredictions, match="labels does not go with correct="):
        sf.ece(correct=CORRECT, confidence=CONFIDENCE, labels=[0, 1])


def test_what_is_advised_works_when_typed() -> None:
    with pytest.raises(sf.InvalidPredictions, match=r"Predictions\.from_correct\(x, numbers\)"):
        sf.compare({"one": (Y, P1), "two": (Y, P2)})
    with pytest.raises(sf.InvalidPredictions, match=r"give labels=\(negative, positive\)"):
        sf.ece(["ill"] * 400, P1)
    assert sf.ece(["ill"] * 400, P1, labels=("well", "ill")) > 0
    with pytest.raises(sf.InvalidPredictions, match="use from_logits=True"):
        sf.ece(Y, 10 * P1, pos_label=1)
    with pytest.raises(sf.InvalidPredictions, match=r"give y_true\.ravel\(\)"):
        sf.ece(Y[:, None], P2)
    with pytest.raises(sf.InvalidPredictions, match=r"one-hot, give y_true\.argmax\(axis=1\)"):
        sf.ece(np.eye(2)[Y], P2)


def test_labels_without_confidence_are_labels_wherever_they_come_from() -> None:
    for wrap in (list, np.asarray, pd.Series, pl.Series, pd.Categorical):
        for labels in (WORDS, PREDICTED):
            with pytest.raises(sf.InvalidPredictions, match="confidence is missing"):
                sf.ece(wrap(labels), wrap(labels))


def test_options_by_position_and_confidence_beside_probabilities() -> None:
    with pytest.raises(sf.InvalidPredictions, match="options of a function are given by name, such as n_bins=10"):
        sf.ece(Y, P2, 10)
    with pytest.raises(TypeError, match="probabilities were given twice"):
        sf.ece(Y, P2, y_proba=P2)
    with pytest.raises(TypeError, match="did you mean 'n_bins'"):
        sf.ece(Y, P2, nbins=10)
    with pytest.raises(TypeError, match="did you mean 'groups'"):
        sf.assess(Y, P2, group=WORDS)
    with pytest.raises(TypeError, match="'sample_weight' and 'weight', which mean the same"):
        sf.ece(Y, P2, sample_weight=P1, weight=P1)
    with pytest.raises(TypeError, match="from_logits is 0; it should be True or False"):
        sf.assess(Y, P1, from_logits=0)


def test_columns_of_a_frame_or_a_file_are_names(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    FRAME.to_csv(path, index=False)
    for x, of in ((FRAME, "a dataframe"), (pl.from_pandas(FRAME).lazy(), "a dataframe"), (path, "a file")):
        with pytest.raises(
            sf.InvalidPredictions, match=f"sample_weight is a ndarray, but of {of} a column is given by"
        ):
            sf.assess(x, y_true="label", y_proba="p", sample_weight=P1)


def test_a_file_and_a_frame_give_the_same_numbers(tmp_path: Path) -> None:
    frame = FRAME.assign(pred=RNG.integers(0, 2, 400), weight=RNG.random(400))
    frame.to_csv(tmp_path / "f.csv", index=False)
    found = sf.assess(tmp_path / "f.csv", y_true="label", y_proba="p")
    assert found.accuracy == sf.assess(frame, y_true="label", y_proba="p").accuracy == WHOLE.accuracy
    with pytest.raises(sf.InvalidPredictions, match="name probabilities="):
        sf.assess(tmp_path / "f.csv", from_logits=True)


def test_columns_named_after_labels_are_matched_by_name() -> None:
    expected = sf.ece(WORDS, P2)
    turned = pd.DataFrame({"yes": P1, "no": 1 - P1})
    assert sf.ece(WORDS, turned) == pytest.approx(expected)
    assert sf.ece(WORDS, turned, labels=["no", "yes"]) == pytest.approx(expected)
    frame = turned.assign(label=WORDS)
    by_class = sf.cw_f1(WORDS, P2, average=None)
    chosen = sf.cw_f1(frame, y_true="label", y_proba=["yes", "no"], labels=["yes", "no"], average=None)
    assert chosen.tolist() == pytest.approx(by_class[::-1].tolist())


# -- metrics and displays ----------------------------------------------------------------------------------------------

RANKED = ("auc", "cw_auc", "auc_gain", "cw_average_precision")
EVERY_CLASS = [name for name, metric in sf.metrics.ALL.items() if metric.is_of_every_class]
BY_CLASS = [
    name for name, metric in sf.metrics.ALL.items() if metric.is_of_classes and name not in (*RANKED, *EVERY_CLASS)
]


@pytest.mark.parametrize("name", sf.metrics.ALL)
@pytest.mark.filterwarnings("ignore::surefoot.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore::surefoot.AmbiguousViewWarning")
def test_every_metric_takes_every_form(name: str) -> None:
    metric = getattr(sf, name)
    expected = metric(sf.Predictions.from_probabilities(Y, P1))
    assert metric(Y, P2) == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert metric(WORDS, P1, pos_label="yes") == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert metric(y_true=Y, probabilities=P1) == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert metric(Y, LOGITS, from_logits=True) == pytest.approx(expected, rel=1e-6, abs=1e-12, nan_ok=True)
    assert metric(FRAME, y_true="label", y_proba="p") == pytest.approx(expected, rel=1e-12, nan_ok=True)
    if name in (*RANKED, *EVERY_CLASS):
        if name in RANKED:
            assert metric(Y, P1) == expected
        with pytest.raises(sf.MetricUnavailable, match="probabilities"):
            metric(Y, PREDICTED, CONFIDENCE)
        return
    assert metric(Y, PREDICTED, CONFIDENCE) == pytest.approx(expected, rel=1e-12, nan_ok=True)
    if sf.metrics.ALL[name].missing(sf.Predictions.from_correct(CORRECT, CONFIDENCE)):
        with pytest.raises((sf.MetricUnavailable, sf.InvalidPredictions)):
            metric(correct=CORRECT, confidence=CONFIDENCE)
    else:
        assert metric(correct=CORRECT, confidence=CONFIDENCE) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_ece_with_bins() -> None:
    by_hand = sum(
        abs(CORRECT[(i / 10 < CONFIDENCE) & ((i + 1) / 10 >= CONFIDENCE)].sum()
            - CONFIDENCE[(i / 10 < CONFIDENCE) & ((i + 1) / 10 >= CONFIDENCE)].sum())
        for i in range(10)
    ) / len(Y)  # fmt: skip
    assert sf.ece(Y, P2, n_bins=10) == pytest.approx(by_hand)
    assert sf.ece(Y, P1, pos_label=1, n_bins=10) == pytest.approx(by_hand)
    # of two classes, the squared error of correctness is that of the event
    assert sf.brier(Y, P2) == pytest.approx(brier_score_loss(Y, P1))


def test_labels_choose_and_order_classes_with_or_without_probabilities() -> None:
    expected = sf.cw_f1(Y, PREDICTED, CONFIDENCE, average=None)
    assert sf.cw_f1(Y, PREDICTED, CONFIDENCE, labels=[1, 0], average=None).tolist() == expected[::-1].tolist()
    assert sf.cw_f1(Y, P2, labels=[0, 1], average=None).tolist() == pytest.approx(expected.tolist())
    assert sf.confusion(Y, PREDICTED).matrix.tolist() == sf.confusion(Y, P2).matrix.tolist()
    assert sf.confusion(WORDS, np.array(["no", "yes"])[PREDICTED]).labels == ("no", "yes")


def test_a_confusion_matrix_needs_no_confidence_and_ignores_nothing() -> None:
    expected = sf.confusion(Y, PREDICTED).matrix.tolist()
    assert sf.confusion(Y, PREDICTED, CONFIDENCE).matrix.tolist() == expected
    assert sf.confusion(Y, PREDICTED.astype(float), pos_label=None).matrix.tolist() == expected
    assert sf.confusion(truth=Y, predicted=PREDICTED, y_true=None).matrix.tolist() == expected
    assert sf.confusion(Y, PREDICTED, weight=np.full(400, 2.0)).matrix.sum() == 800
    with pytest.raises(TypeError, match="unexpected argument 'normalize'"):
        sf.confusion(Y, PREDICTED, normalize=True)
    with pytest.raises(TypeError, match="'y_true' was given twice"):
        sf.confusion(Y, PREDICTED, y_true=Y)
    lazy = pl.from_pandas(FRAME).lazy()
    chosen = sf.cw_f1(lazy, y_true="label", y_pred="decided", confidence="sure", labels=[1], average=None)
    assert chosen.tolist() == pytest.approx(sf.cw_f1(Y, PREDICTED, CONFIDENCE, labels=[1], average=None).tolist())


@pytest.mark.parametrize(
    "display",
    ["ReliabilityDisplay", "StretchedReliabilityDisplay", "RocDisplay", "RiskCoverageDisplay", "ConcentrationDisplay"],
)
def test_every_display_takes_labels_and_probabilities(display: str) -> None:
    made = getattr(sf.plots, display)
    expected = made.from_predictions(sf.Predictions.from_probabilities(Y, P2)).frame()
    assert made.from_predictions(Y, P2).frame() == expected
    assert made.from_predictions(y_true=Y, probabilities=P2).frame() == expected


def test_tests_and_intervals_take_the_same() -> None:
    p = sf.Predictions.from_probabilities(Y, P2)
    assert sf.risk_test(Y, P2).pvalue == sf.risk_test(p).pvalue
    assert sf.risk_test(FRAME, y_true="label", y_proba="p", groups="region").groups == 2
    assert sf.intervals(Y, P2)["ece"] == sf.intervals(p)["ece"]
    assert sf.ecce_test(Y, P2) == sf.ecce_test(p)
    assert sf.compare({"one": (Y, P2), "two": (Y, PREDICTED, CONFIDENCE)}).is_paired


# -- the positive class ------------------------------------------------------------------------------------------------


def test_the_positive_class_is_never_guessed() -> None:
    for call in (sf.assess, sf.ece, sf.auc, sf.Predictions.from_probabilities):
        with pytest.raises(sf.InvalidPredictions) as raised:
            call(WORDS, P1)
        assert "'no' or 'yes'" in str(raised.value)
        assert "pos_label=" in str(raised.value)
        assert "--positive" in str(raised.value)
    found = sf.calibrate(WORDS, P1, pos_label="yes")
    assert found.calibrator.predict_proba([0.2]).shape[0] == 1


def test_swapped_labels_are_warned_of_with_the_way_to_swap_them() -> None:
    sure = np.clip(Y * 0.8 + 0.1 + RNG.normal(0, 0.05, len(Y)), 0.01, 0.99)
    (warning,) = sf.assess(1 - Y, sure, pos_label=1).warnings
    assert "labels or columns may be swapped" in warning
    assert "set pos_label=0 (command line: --positive 0)" in warning
    (warning,) = sf.assess(1 - Y, np.column_stack([1 - sure, sure])).warnings
    assert "set labels=[1, 0]" in warning
    assert not sf.assess(1 - Y, np.column_stack([1 - sure, sure]), labels=[1, 0]).warnings
    (warning,) = sf.assess(1 - Y, (sure > 0.5).astype(int), np.maximum(sure, 1 - sure)).warnings
    assert "same codes" in warning
    (warning,) = sf.assess(correct=(sure > 0.5) != Y, confidence=np.maximum(sure, 1 - sure)).warnings
    assert "invert it: correct=1 - column" in warning
    assert warning in str(sf.assess(correct=(sure > 0.5) != Y, confidence=np.maximum(sure, 1 - sure)).to_dict())


def test_swapped_labels_are_warned_of_wherever_rows_lie() -> None:
    sure = np.clip(Y * 0.8 + 0.1, 0.01, 0.99)
    frame = pl.DataFrame({"label": 1 - Y, "p": sure})
    assert sf.assess(frame.lazy(), y_true="label", y_proba="p").warnings
    assert sf.assess(sf.tally(sf.Predictions.from_probabilities(1 - Y, sure))).warnings


def test_swapped_classes_of_many_are_warned_of_in_tallies_too() -> None:
    truth = RNG.choice(3, 600, p=[0.8, 0.1, 0.1])
    table = np.where(np.arange(3) == ((truth + RNG.choice(2, 600)) % 3)[:, None], 0.8, 0.1)
    p = sf.Predictions.from_probabilities(truth, table)
    (one,), (other,) = sf.assess(p).warnings, sf.assess(sf.tally(p)).warnings
    assert one == other
    assert "always predicting 0" in one


def test_a_balanced_model_is_not_told_to_swap_what_is_right() -> None:
    truth = (RNG.random(2000) < 0.05).astype(int)
    p = np.clip(0.45 + 0.3 * truth + RNG.normal(0, 0.15, 2000), 0.01, 0.99)
    (warning,) = sf.assess(truth, np.column_stack([1 - p, p])).warnings
    assert "usual for a model trained with balanced class weights" in warning
    assert "labels=[1, 0]" not in warning


def test_an_ordinary_model_is_not_warned_of() -> None:
    heavy = np.ones(600)
    heavy[0] = 1e6
    wrong = np.arange(600) == 0
    assert not sf.assess(y_true=wrong.astype(int) * 0, y_pred=wrong * 1, confidence=[0.9] * 600, weight=heavy).warnings
    # a hard task: one answer in ten is right, and surer than the others
    right = RNG.random(500) < 0.1
    assert not sf.assess(correct=right, confidence=np.clip(0.8 + 0.1 * right, 0, 1)).warnings
    # a batch of one class
    assert not sf.assess(y_true=np.zeros(300, int), probabilities=RNG.beta(1, 3, 300)).warnings
    assert WHOLE.warnings == ()
    few = sf.assess(correct=[False] * 3, confidence=[0.9] * 3)
    assert few.warnings == ()
    # a hard set of many classes, at chance
    truth = RNG.integers(0, 10, 500)
    assert sf.assess(truth, RNG.dirichlet(np.ones(10), 500)).warnings == ()


# -- what an assessment gives ------------------------------------------------------------------------------------------


def test_the_summary_leads_with_the_answer() -> None:
    lines = WHOLE.summary().splitlines()
    assert 3 <= len(lines) <= 12
    assert "400 rows" in lines[0]
    assert "expected" in WHOLE.summary() or "imply" in WHOLE.summary()
    assert "ECE" in WHOLE.summary()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_frame_has_a_row_for_each_metric(backend: str) -> None:
    a = sf.assess(Y, PREDICTED, CONFIDENCE)
    frame = a.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    rows = pl.DataFrame(frame) if backend != "pandas" else pl.from_pandas(frame)
    assert set(rows["metric"]) == {name for name, metric in sf.metrics.ALL.items() if metric.is_offered("prediction")}
    row = rows.filter(pl.col("metric") == "accuracy").row(0, named=True)
    assert (row["value"], row["better"]) == (a.accuracy, "higher")
    assert row["lower"] < row["value"] < row["upper"]
    assert "probabilities" in rows.filter(pl.col("metric") == "auc")["reason"][0]
    with pytest.raises(ValueError, match="backend is 'excel'"):
        a.to_frame("excel")


def test_markdown_and_pictures(tmp_path: Path) -> None:
    text = WHOLE.to_markdown(tmp_path / "a.md")
    assert (tmp_path / "a.md").read_text() == text
    assert "|" in text
    figure = WHOLE.plot()
    assert len(figure.axes) >= 4
    import matplotlib.pyplot as plt

    plt.close(figure)


def test_metrics_are_attributes_and_a_mapping() -> None:
    assert WHOLE.csr == WHOLE["csr"] == dict(WHOLE.metrics)["csr"]
    assert {"csr", "ece", "verdict", "summary"} <= set(dir(WHOLE))
    assert dict(WHOLE) == dict(WHOLE.metrics)
    assert "ece" in WHOLE
    assert not hasattr(WHOLE, "nonsense")
    with pytest.raises(AttributeError, match="tce was not computed; add it to metrics="):
        _ = sf.assess(Y, P2, metrics=["ece"]).tce
    bare = sf.assess(correct=CORRECT, confidence=CONFIDENCE)
    with pytest.raises(AttributeError, match="probabilities"):
        _ = bare.auc
    assert copy.deepcopy(WHOLE).csr == pickle.loads(pickle.dumps(WHOLE)).csr == WHOLE.csr


def test_results_show_themselves_in_a_notebook() -> None:
    assert "<" in WHOLE._repr_html_()
    assert "one" in sf.compare({"one": (Y, P2), "two": (Y, PREDICTED, CONFIDENCE)})._repr_html_()
    assert "safe_platt" in sf.calibrate(Y, P1)._repr_html_()


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_reliability_curve_is_that_of_scikit_learn_with_limits(strategy: str) -> None:
    prob_true, prob_pred = sf.reliability_curve(Y, P1, of="event", n_bins=7, strategy=strategy)
    expected = calibration_curve(Y, P1, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(prob_true, expected[0], rtol=1e-12)
    np.testing.assert_allclose(prob_pred, expected[1], rtol=1e-12)
    curve = sf.reliability_curve(Y, P2, n_bins=5)
    assert curve.count.sum() == len(Y)
    assert ((curve.lower <= curve.prob_true) & (curve.prob_true <= curve.upper)).all()
    assert curve.to_frame().shape == (len(curve.count), 7)
    doubled = sf.reliability_curve(Y, P2, n_bins=5, sample_weight=np.full(len(Y), 2.0))
    np.testing.assert_allclose(doubled.lower, curve.lower)
    flipped = sf.reliability_curve(WORDS, P2, of="event", pos_label="no", n_bins=7, strategy=strategy)
    expected = calibration_curve(1 - Y, 1 - P1, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(flipped.prob_true, expected[0], rtol=1e-12)
    with pytest.raises(sf.InvalidPredictions, match="is the event"):
        sf.reliability_curve(WORDS, P2, of="event")
    with pytest.raises(ValueError, match="strategy is 'kmeans'"):
        sf.reliability_curve(Y, P2, strategy="kmeans")
    with pytest.raises(sf.InvalidPredictions, match="only whether each was correct"):
        sf.reliability_curve(correct=CORRECT, confidence=CONFIDENCE, of="event")


def test_the_limits_of_the_curve_are_those_of_clopper_and_pearson() -> None:
    curve = sf.reliability_curve(correct=[True] * 10, confidence=[0.9] * 10)
    # ten of ten: the lower limit is the tenth root of 2.5%
    assert curve.lower.tolist() == pytest.approx([0.025**0.1])
    assert curve.upper.tolist() == [1.0]


def test_completion_and_help_show_the_public_names_and_nothing_else() -> None:
    assert dir(sf) == sorted(sf.__all__)
    assert not [name for name in dir(sf) if name.startswith("_") and name != "__version__"]
    import pydoc

    text = pydoc.plain(pydoc.render_doc(sf))
    assert "reliability_curve" in text
    assert "_OFFERED" not in text

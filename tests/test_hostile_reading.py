"""Mistakes that a hostile reader found, each kept from coming back."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions, tally
from surefoot.metrics import ALL


@pytest.mark.parametrize("seed", range(50))
def test_a_perfect_ranking_is_exactly_one_and_gains_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.random(20)
    y = (p > np.median(p)).astype(int)
    assert sf.auc(y, p) == 1.0
    assert sf.cw_auc(y, p) == 1.0
    assert sf.auc_gain(y, p) == 0.0


@pytest.mark.parametrize("seed", range(200))
def test_every_ranking_from_a_tally_lies_within_its_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 400))
    p = np.clip(rng.random(n) * 10.0 ** rng.uniform(-4, 0) + rng.choice([0, 0.5]), 0, 1)
    y = (rng.random(n) < p).astype(int)
    y[:2] = 0, 1
    q = Predictions.from_probabilities(y, p, sample_weight=rng.uniform(0.1, 2, n))
    t = tally(q)
    for name in ("auc", "cw_auc", "auc_gain", "cw_average_precision"):
        assert abs(ALL[name](q) - ALL[name].of(t)) <= ALL[name].bound(t) + 1e-12


def test_average_precision_states_a_bound_for_cells_of_positives_alone() -> None:
    q = Predictions.from_probabilities([0, 1, 1, 0], [0.9, 0.5, 0.50001, 0.1])
    t, metric = tally(q), ALL["cw_average_precision"]
    assert 0 < abs(metric(q) - metric.of(t)) <= metric.bound(t)


@pytest.mark.parametrize("weight", [0.1, 0.7, 3.0, 1e-20, 1e20])
def test_uniform_weights_change_nothing(weight: float) -> None:
    c, correct = np.arange(50, 95) / 100, np.arange(45) % 3 != 0
    bare = Predictions.from_correct(correct, c)
    weighted = Predictions.from_correct(correct, c, sample_weight=np.full(45, weight))
    for name in ("csr", "csr_sigma", "csr_z", "p_risk", "equal_mass_ece", "ece", "log_loss"):
        assert ALL[name](weighted) == pytest.approx(ALL[name](bare), rel=1e-12)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_weights_whose_squares_leave_float64_are_refused(weight: float) -> None:
    with pytest.raises(InvalidPredictions, match=r"sample_weight\[1\].*ratios"):
        Predictions.from_correct([True, False], [0.5, 0.5], sample_weight=[1.0, weight])


def test_correlations_survive_what_would_cancel() -> None:
    y, p, c = [0, 1, 1], [0, 1, 0], [0.9, 1e-17, 1e-17]
    assert sf.cw_mcc(y, p, c) == pytest.approx(0.7071067811865475, rel=1e-12)
    assert sf.cw_kappa(y, p, c) == pytest.approx(2 / 3, rel=1e-12)


def test_p_risk_is_zero_up_to_csr_one_whatever_sigma_is() -> None:
    p = Predictions.from_logits([0] * 9 + [1], [[800.0, 0]] * 9 + [[1.0, 0]])
    assert sf.csr(p) < 1
    assert sf.p_risk(p) == 0.0


def test_a_floor_too_small_to_keep_rows_from_certainty_is_refused() -> None:
    with pytest.raises(InvalidPredictions, match="floor is 1e-17"):
        Predictions.from_correct([False, True], [1.0, 0.5], floor=1e-17)


def test_confidence_and_doubt_in_float64_must_agree_closely() -> None:
    with pytest.raises(InvalidPredictions, match=r"doubt\[0\]"):
        Predictions.from_correct([False, True], [0.9999995, 0.5], doubt=[1e-12, 0.5])


def test_large_integers_beside_floats_are_not_made_equal() -> None:
    assert Predictions.from_labels([2**53 + 1, 1.0], [2**53, 1.0], [0.9, 0.9]).correct.tolist() == [False, True]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0.9, "x"], r"confidence\[1\] is 'x'"),
        ([0.9, True], r"confidence\[1\] is True"),
        (["0.9", "x"], r"confidence\[0\]"),
    ],
)
def test_the_row_named_is_the_row_that_offends(given: list, said: str) -> None:
    with pytest.raises(InvalidPredictions, match=said):
        Predictions.from_correct([1, 0], given)
    with pytest.raises(InvalidPredictions, match=r"correct\[1\] is 'x'"):
        Predictions.from_correct([True, "x"], [0.5, 0.5])


def test_narrow_numbers_in_lists_and_list_columns_stay_narrow() -> None:
    with pytest.warns(sf.RoundedConfidenceWarning):
        assert Predictions.from_correct([0, 1], [np.float32(1), np.float32(0.5)]).rounded == 1
    table = np.array([[0.3, 0.7], [0.6, 0.4]], dtype=np.float32)
    for frame in (pl.DataFrame({"y": [0, 1], "p": table}), pa.table({"y": [0, 1], "p": pa.array(list(table))})):
        assert Predictions.from_frame(frame, truth="y", probabilities="p").probabilities.dtype == np.float32


def test_integer_logits_are_logits() -> None:
    assert Predictions.from_logits([0, 1], [[2, 1], [0, 3]]).correct.all()


@pytest.mark.parametrize(
    "columns",
    [
        {"y": ["dog", "dog", "cat"], "p_dog": [0.9, 0.8, 0.3], "p_cat": [0.1, 0.2, 0.7]},
        {"y": [1, 1, 0], "prob_1": [0.9, 0.8, 0.3], "prob_0": [0.1, 0.2, 0.7]},
        {"y": [True, True, False], "p_True": [0.9, 0.8, 0.3], "p_False": [0.1, 0.2, 0.7]},
        {"y": [1.0, 1.0, 0.0], "p_1.0": [0.9, 0.8, 0.3], "p_0.0": [0.1, 0.2, 0.7]},
    ],
)
def test_columns_named_after_labels_are_never_taken_in_another_order(columns: dict) -> None:
    frame = pd.DataFrame(columns)
    names = [name for name in columns if name != "y"]
    for probabilities in (names, "p"):
        assert Predictions.from_frame(frame, truth="y", probabilities=probabilities).correct.all()
    assert Predictions.from_probabilities(frame["y"], frame[names]).correct.all()
    assert sf.assess(frame, truth="y", probabilities=names)["accuracy"] == 1.0


@pytest.mark.parametrize("names", [("p_Dog", "p_Cat"), ("p_dog", "p_bird")])
def test_columns_named_after_some_labels_only_are_an_error(names: tuple[str, str]) -> None:
    frame = pd.DataFrame({"y": ["dog", "cat"], names[0]: [0.9, 0.2], names[1]: [0.1, 0.8]})
    with pytest.raises(InvalidPredictions, match=r"y_true holds .* labels="):
        Predictions.from_frame(frame, truth="y", probabilities="p_")


def test_truth_and_predicted_are_not_overruled_by_a_column_called_correct() -> None:
    frame = pd.DataFrame({"truth": [0, 1], "predicted": [0, 1], "correct": [True, False], "confidence": [0.5, 0.6]})
    assert Predictions.from_frame(frame).correct.all()


def test_errors_of_a_frame_speak_of_its_own_columns() -> None:
    frame = pd.DataFrame({"label": [0, 1], "guess": [0, 1], "sure": [0.5, 1.5]})
    with pytest.raises(InvalidPredictions, match=r"column 'sure'\[1\] is 1.5"):
        Predictions.from_frame(frame, truth="label", predicted="guess", confidence="sure")


def test_two_columns_of_one_name_are_a_clear_error() -> None:
    frame = pd.DataFrame([[0, 0.5, 0.5]], columns=["y", "p", "p"])
    with pytest.raises(InvalidPredictions):
        Predictions.from_frame(frame, truth="y", probabilities="p")


def test_integer_column_names_and_record_batches_work() -> None:
    frame = pd.DataFrame({"y": [1, 0], 0: [0.1, 0.9], 1: [0.9, 0.1]})
    assert Predictions.from_frame(frame, truth="y", probabilities=[1, 0]).correct.all()
    batch = pa.record_batch({"truth": [1, 0], "predicted": [1, 0], "confidence": [0.5, 0.5]})
    assert Predictions.from_frame(batch).correct.all()


@pytest.mark.parametrize("make", [pd.Index, pd.Categorical, pd.array])
def test_columns_of_pandas_that_are_no_series_work(make) -> None:
    assert Predictions.from_labels(make(["a", "b"]), ["a", "b"], [0.5, 0.5]).correct.all()


def test_narrow_tables_that_leave_nothing_are_said_to_claim_certainty() -> None:
    with pytest.warns(sf.RoundedConfidenceWarning, match="1 of 2 rows of float32 probabilities"):
        p = Predictions.from_probabilities([0, 1], np.array([[1, 0], [0.4, 0.6]], dtype=np.float32))
    assert p.certain == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Predictions.from_probabilities([0, 1], np.ones(2, np.float32), floor=1e-8)


def test_a_slice_that_does_not_count_is_left_out() -> None:
    p = Predictions.from_correct([1, 0, 1], [0.5, 0.6, 0.7], sample_weight=[0, 1, 1])
    assert [part.value for part in sf.assess(p, by=["a", "b", "b"]).slices] == ["b"]
    assert list(tally(p, by=["a", "b", "b"]).slices) == ["b"]
    assert repr(p[:1]) == "Predictions(1 rows)"


def test_a_tally_remembers_what_it_was_sliced_by() -> None:
    p = Predictions.from_labels(["a", "b", "a"], ["a", "a", "a"], [0.9, 0.8, 0.7])
    assert [part.verdict for part in sf.assess(tally(p, by="truth")).slices] == [None, None]
    with pytest.raises(sf.InvalidTally, match="sliced by truth, the other by predicted"):
        tally(p, by="truth") + tally(p, by="predicted")
    with pytest.raises(sf.InvalidTally, match="different kinds"):
        tally(p, by=[True, False, True]) + tally(p, by=[1, 0, 1])


def test_a_changed_tally_file_is_damaged(tmp_path) -> None:
    tally(Predictions.from_correct([True, False], [0.5, 0.6])).save(tmp_path / "t")
    document = json.loads((tmp_path / "t").read_text())
    document["tables"]["all rows"]["totals"]["weight"] = [[-3]]
    (tmp_path / "t").write_text(json.dumps(document))
    with pytest.raises(sf.InvalidTally, match="damaged"):
        sf.Tally.load(tmp_path / "t")


def test_assess_takes_what_its_doors_take_and_says_what_it_does_not() -> None:
    y, p = ["x", "y"], [[0.9, 0.1], [0.2, 0.8]]
    assert sf.assess(y, p, labels=["x", "y"], sample_weight=[1, 2])["accuracy"] == 1
    with pytest.raises(TypeError, match="unexpected argument 'target'; here it takes labels"):
        sf.assess(y, p, target="z")
    with pytest.raises(InvalidPredictions, match="assess takes Predictions, a Tally"):
        sf.assess(np.array([0, 1]))
    with pytest.raises(sf.MetricUnavailable, match="does not hold what an assessment needs"):
        sf.assess(tally(Predictions.from_correct([True], [0.5]), ["brier"]))


def test_options_are_checked_whatever_was_asked_before() -> None:
    p = Predictions.from_correct([1], [0.5])
    sf.ece(p, n_bins=20)
    for bad in (20.0, [3]):
        with pytest.raises(ValueError, match="n_bins"):
            sf.ece(p, n_bins=bad)
    with pytest.raises(ValueError, match="average is"):
        sf.auc([0, 1], [0.1, 0.9], average=["macro"])
    with pytest.raises(InvalidPredictions, match="labels is empty"):
        sf.cw_precision([1, 0], [1, 0], [0.5, 0.5], labels=[])
    with pytest.raises(InvalidPredictions, match="y_true is missing"):
        sf.confusion(None, None)


def test_a_curve_without_negatives_is_nan_with_a_warning() -> None:
    with pytest.warns(sf.UndefinedMetricWarning, match="no positives or no negatives"):
        assert np.isnan(sf.roc_curve([1, 1], [0.5, 0.6]).auc)


def test_many_slices_of_many_classes_leave_out_what_is_made_class_by_class() -> None:
    rng = np.random.default_rng(0)
    p = Predictions.from_logits(rng.integers(0, 60, 600), rng.normal(size=(600, 60)))
    a = sf.assess(p, by="predicted")
    assert "cw_f1" in a.metrics
    assert all("cw_f1" not in part.metrics and "csr" in part.metrics for part in a.slices)


def test_a_weighted_assessment_says_so() -> None:
    p = Predictions.from_correct([1, 0] * 20, [0.5, 0.6] * 20, sample_weight=[0.5] * 40)
    assert "40 rows; counted by weights that add up to 20" in str(sf.assess(p))

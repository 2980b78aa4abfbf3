"""Numbers that others published, or that other implementations returned."""

import numpy as np
import pytest
from vectors import DOCUMENT, VALUES, VECTORS

import surefoot as sf

PAPER = {
    "csr": "CSR",
    "csr_sigma": "sigma_CSR",
    "csr_z": "z",
    "p_risk": "P_risk",
    "cw_accuracy": "cwA",
    "accuracy": "Acc",
    "mean_confidence": "mean_conf",
}


@pytest.fixture(params=sorted(VECTORS))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("metric", sorted(PAPER))
def test_the_papers_metrics_equal_the_reference_vectors(name: str, metric: str) -> None:
    vector = VECTORS[name]
    predictions = sf.Predictions.from_correct(vector.correct, vector.confidence)
    expected = VALUES[name]["paper_formula"][PAPER[metric]]
    assert sf.metrics.ALL[metric](predictions) == pytest.approx(expected, rel=1e-12, abs=0)


def test_ece_equals_both_edge_rules_of_the_reference(name: str) -> None:
    vector = VECTORS[name]
    predictions = sf.Predictions.from_correct(vector.correct, vector.confidence)
    expected = VALUES[name]["ECE15"]
    assert sf.ece(predictions) == pytest.approx(expected["own_right_closed"], rel=1e-12, abs=0)
    assert sf.ece(predictions, closed="left") == pytest.approx(expected["own_left_closed"], rel=1e-12, abs=0)
    assert sf.ece(predictions) == pytest.approx(expected["ref_netcal"], rel=1e-12, abs=2e-15)


def test_brier_equals_scikit_learns(name: str) -> None:
    vector = VECTORS[name]
    predictions = sf.Predictions.from_correct(vector.correct, vector.confidence)
    assert sf.brier(predictions) == pytest.approx(VALUES[name]["Brier"]["ref_sklearn"], rel=1e-12, abs=0)


def test_ecd_equals_the_reference_vectors(name: str) -> None:
    vector = VECTORS[name]
    predictions = sf.Predictions.from_correct(vector.correct, vector.confidence)
    assert sf.ecd(predictions) == pytest.approx(VALUES[name]["ECD"]["own"], rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ["A", "B", "E"])
def test_equal_mass_ece_equals_the_reference_where_no_two_confidences_are_equal(name: str) -> None:
    vector = VECTORS[name]
    assert len(np.unique(vector.confidence)) == len(vector.confidence)
    predictions = sf.Predictions.from_correct(vector.correct, vector.confidence)
    expected = VALUES[name]["ACE15_equal_mass"]["ref_tce_repo_ace"]
    assert sf.equal_mass_ece(predictions) == pytest.approx(expected, rel=1e-12, abs=0)


def test_rankings_of_vector_e_equal_the_pairwise_and_scikit_learns_values() -> None:
    vector, expected = VECTORS["E"], VALUES["E"]["multiclass"]
    assert sf.auc(vector.truth, vector.probabilities) == pytest.approx(expected["AUC_macro_pairwise"], rel=1e-12)
    assert sf.cw_auc(vector.truth, vector.probabilities) == pytest.approx(expected["cwAUC_macro_pairwise"], rel=1e-12)


def test_probabilities_and_labels_lead_to_the_same_numbers() -> None:
    vector = VECTORS["E"]
    by_constructor = sf.Predictions.from_probabilities(vector.truth, vector.probabilities)
    expected = VALUES["E"]["paper_formula"]
    for metric in ("csr", "csr_sigma", "csr_z", "p_risk", "cw_accuracy"):
        assert sf.metrics.ALL[metric](by_constructor) == pytest.approx(expected[PAPER[metric]], rel=1e-12, abs=0)


def test_vector_d_gives_every_digit_the_paper_prints_for_breast_cancer_isotonic() -> None:
    vector, printed = VECTORS["D"], DOCUMENT["paper_row_check"]["printed"]
    p = sf.Predictions.from_correct(vector.correct, vector.confidence, floor=1e-8)
    assert f"{sf.accuracy(p):.4f}" == f"{printed['Acc']:.4f}"
    assert f"{sf.cw_accuracy(p):.4f}" == f"{printed['cwA']:.4f}"
    assert f"{sf.csr(p):.4f}" == f"{printed['CSR']:.4f}"
    assert f"{sf.csr_sigma(p):.4f}" == f"{printed['sigma_CSR']:.4f}"
    assert f"{sf.ece(p):.4f}" == f"{printed['ECE15']:.4f}"
    assert f"{sf.brier(p):.4f}" == f"{printed['Brier']:.4f}"
    assert sf.p_risk(p) == 1.0


def test_edges_of_five_bins_fall_where_the_reference_puts_them() -> None:
    edge = DOCUMENT["edge_vectors"]["ece_5_bins"]
    p = sf.Predictions.from_correct(edge["correct"], edge["conf"])
    assert sf.ece(p, n_bins=5, closed="left") == pytest.approx(edge["ref_netcal"], rel=1e-12)
    # (a, b] by hand: {.1 .2 .2} sum .5-1, {.4} .4-1, {.6} .6, {.8} .8-1, {.95 1} 1.95-1; over 8
    # linspace puts an edge at 0.6000000000000001, so .6 lies below it, alone in (.4, .6...]
    assert sf.ece(p, n_bins=5) == pytest.approx((0.5 + 0.6 + 0.6 + 0.2 + 0.95) / 8, rel=1e-12)


def test_real_networks_give_the_figures_of_their_report(real_predictions) -> None:
    import pandas as pd

    vgg = pd.read_parquet(real_predictions / "verified_calibration_cifar10_vgg16.parquet")
    a = sf.assess(vgg, truth="label", probabilities="probs", by="predicted")
    assert a.verdict == "overconfident"
    assert round(a.risk.csr, 2) == 13.37
    assert round(100 * a["cw_accuracy"], 2) == 94.55
    assert round(a["auc"], 5) == 0.99719
    assert round(a["cw_auc"], 5) == 0.99765
    assert round(a.stated) == 244
    assert a.seen == 641
    assert len(a.slices) == 10

    for file, columns in (
        ("verified_calibration_cifar10_vgg16", {"truth": "label", "probabilities": "probs"}),
        ("netcal_lenet_5_cifar_10", {"truth": "label", "probabilities": "probs"}),
        (
            "nannyml_employment_ma",
            {"truth": "employed", "predicted": "prediction", "probabilities": "predicted_probability"},
        ),
    ):
        p = sf.Predictions.from_frame(pd.read_parquet(real_predictions / f"{file}.parquet"), **columns)
        t = sf.tally(p)
        for name in ("auc", "cw_auc", "auc_gain", "cw_average_precision"):
            metric = sf.metrics.ALL[name]
            assert abs(metric(p) - metric.of(t)) <= min(metric.bound(t), 1e-4)
        assert max(sf.metrics.ALL[name].bound(t) for name in ("auc", "cw_auc")) < 1e-4

    lenet = pd.read_parquet(real_predictions / "netcal_lenet_5_cifar_10.parquet")
    b = sf.assess(lenet, truth="label", probabilities="probs")
    assert round(b.risk.csr, 2) == 1.63
    assert round(b["accuracy"], 3) == 0.531
    assert round(b["cw_accuracy"], 3) == 0.602
    assert round(b["auc"], 4) == 0.8967
    assert round(b["cw_auc"], 4) == 0.9165

    work = pd.read_parquet(real_predictions / "nannyml_employment_ma.parquet")
    c = sf.assess(work, truth="employed", predicted="prediction", probabilities="predicted_probability", by="part")
    assert c.risk.n == 277_677
    assert {part.value for part in c.slices} == {"reference", "analysis"}
    by_part = {part.value: part.metrics["accuracy"] for part in c.slices}
    assert round(by_part["reference"], 4) == 0.8272
    assert round(by_part["analysis"], 4) == 0.8276

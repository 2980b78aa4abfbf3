"""What assess is asked for that it cannot give."""

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.assessment import evidence as room
from surefoot.assessment.assess import with_all_metrics

P = sf.Predictions.from_correct([True, False, True, True] * 10, [0.9, 0.6, 0.7, 0.8] * 10)


def test_metrics_are_names() -> None:
    with pytest.raises(TypeError, match="metrics is 3; give names"):
        sf.assess(P, metrics=3)
    assert sf.assess(P, metrics="ece").metrics["ece"] == sf.ece(P)
    assert sf.assess(P, metrics=iter(["ece"])).metrics["ece"] == sf.ece(P)


def test_a_tally_is_assessed_alone() -> None:
    t = sf.tally(P)
    with pytest.raises(
        sf.InvalidPredictions, match=r"assess\(tally\) takes no other data arguments; got 'probabilities'"
    ):
        sf.assess(t, [0.5])
    with pytest.raises(sf.InvalidPredictions, match="cannot be sliced afterwards"):
        sf.assess(t, by="predicted")
    with pytest.raises(sf.InvalidPredictions, match="which rows belong together"):
        sf.assess(t, groups=np.arange(40))
    assert with_all_metrics(sf.assess(t)).metrics == sf.assess(t).metrics


def test_what_orders_many_rows_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_ORDERED", 10)
    a = sf.assess(P)
    assert "smooth_ece" not in a.metrics
    with pytest.raises(
        sf.MetricUnavailable, match=r"takes long for more than 10; ask for it by itself with surefoot.smooth_ece"
    ):
        a["smooth_ece"]


def test_rows_of_unequal_length_are_named() -> None:
    with pytest.raises(sf.InvalidPredictions, match="probabilities"):
        sf.assess(["a", "b", "b"], [[0.9, 0.1], [0.2], [0.5, 0.5]])


def test_rankings_of_many_classes_are_computed_where_one_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    p = sf.Predictions.from_probabilities([0, 1, 1, 0] * 10, [0.1, 0.8, 0.7, 0.6] * 10)
    alone = sf.assess(p, metrics=["csr"]).metrics
    monkeypatch.setattr(room, "MOST_RANKED", 10)
    a = sf.assess(p, metrics=["csr"])
    assert a.metrics == {name: value for name, value in alone.items() if name not in ("auc", "cw_auc")}
    a.to_html(tmp_path / "report.html")
    assert sf.assess(p, metrics=["auc"]).metrics == alone
    assert "auc" in alone


def test_areas_of_classes_are_kept_for_the_report() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    p = rng.dirichlet(np.ones(4), 300)
    y = rng.integers(0, 3, 300)
    a = sf.assess(sf.Predictions.from_probabilities(y, p, labels=range(4)))
    weight = p.max(axis=1)
    for k in range(3):
        assert a.areas["auc"][k] == pytest.approx(roc_auc_score(y == k, p[:, k]), abs=1e-12)
        assert a.areas["cw_auc"][k] == pytest.approx(roc_auc_score(y == k, p[:, k], sample_weight=weight), abs=1e-12)
    assert np.isnan([a.areas["auc"][3], a.areas["cw_auc"][3]]).all()
    assert not sf.assess(y_true=[0, 1] * 50, probabilities=[0.2, 0.7] * 50).areas

"""Metrics where rounding, weights or options could mislead them."""

import numpy as np
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions
from surefoot.metrics import ALL


@pytest.mark.parametrize("seed", range(50))
def test_a_perfect_ranking_is_exactly_one_and_gains_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.random(20)
    y = (p > np.median(p)).astype(int)
    assert sf.auc(y, p) == 1.0
    assert sf.cw_auc(y, p) == 1.0
    assert sf.auc_gain(y, p) == 0.0


@pytest.mark.parametrize("weight", [0.1, 0.7, 3.0, 1e-20, 1e20])
def test_uniform_weights_change_nothing(weight: float) -> None:
    c, correct = np.arange(50, 95) / 100, np.arange(45) % 3 != 0
    bare = Predictions.from_correct(correct, c)
    weighted = Predictions.from_correct(correct, c, sample_weight=np.full(45, weight))
    for name in ("csr", "csr_sigma", "csr_z", "p_risk", "equal_mass_ece", "ece", "log_loss"):
        assert ALL[name](weighted) == pytest.approx(ALL[name](bare), rel=1e-12)


def test_correlations_survive_what_would_cancel() -> None:
    y, p, c = [0, 1, 1], [0, 1, 0], [0.9, 1e-17, 1e-17]
    assert sf.cw_mcc(y, p, c) == pytest.approx(0.7071067811865475, rel=1e-12)
    assert sf.cw_kappa(y, p, c) == pytest.approx(2 / 3, rel=1e-12)


def test_p_risk_is_zero_up_to_csr_one_whatever_sigma_is() -> None:
    p = Predictions.from_logits([0] * 9 + [1], [[800.0, 0]] * 9 + [[1.0, 0]])
    assert sf.csr(p) < 1
    assert sf.p_risk(p) == 0.0


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
    with pytest.raises(InvalidPredictions, match="confusion has too little to go on"):
        sf.confusion(None, None)


def test_a_curve_without_negatives_is_nan_with_a_warning() -> None:
    with pytest.warns(sf.UndefinedMetricWarning, match="no positives or no negatives"):
        assert np.isnan(sf.roc_curve([1, 1], [0.5, 0.6]).auc)

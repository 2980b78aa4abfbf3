"""Areas under risk-coverage curves: against every threshold tried one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import surefoot as sf


def _sample(seed: int, *, ties: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    c = rng.beta(3, 1, 80)
    c = np.round(c, 1) if ties else c
    return rng.random(80) < c, c, rng.uniform(0.2, 2, 80)


def _aurc(correct: np.ndarray, c: np.ndarray, w: np.ndarray) -> float:
    risks = [np.average(~correct[c >= threshold], weights=w[c >= threshold]) for threshold in c]
    return float(np.average(risks, weights=w))


def _augrc(correct: np.ndarray, c: np.ndarray, w: np.ndarray) -> float:
    """The trapezoids under the share of accepted errors, against coverage."""
    points = [(0.0, 0.0)]
    for threshold in np.unique(c)[::-1]:
        accepted = c >= threshold
        points.append((w[accepted].sum() / w.sum(), w[accepted & ~correct].sum() / w.sum()))
    coverage, risk = np.array(points).T
    return float(np.trapezoid(risk, coverage))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_areas_are_those_of_all_thresholds(seed: int, ties: bool) -> None:
    correct, c, w = _sample(seed, ties=ties)
    for weight in (np.ones(80), w):
        columns = {"correct": correct, "confidence": c, "sample_weight": weight}
        assert sf.aurc(**columns) == pytest.approx(_aurc(correct, c, weight), abs=1e-13)
        assert sf.augrc(**columns) == pytest.approx(_augrc(correct, c, weight), abs=1e-13)


def test_without_ties_aurc_is_the_mean_of_running_error_rates() -> None:
    correct, c, _ = _sample(1, ties=False)
    errors = ~correct[np.argsort(-c)]
    expected = (np.cumsum(errors) / np.arange(1, 81)).mean()
    assert sf.aurc(correct=correct, confidence=c) == pytest.approx(expected, abs=1e-14)


def test_augrc_is_made_of_accuracy_and_auroc() -> None:
    for ties in (False, True):
        correct, c, _ = _sample(2, ties=ties)
        a, area = correct.mean(), roc_auc_score(correct, c)
        expected = (1 - area) * a * (1 - a) + (1 - a) ** 2 / 2
        assert sf.augrc(correct=correct, confidence=c) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("correct", [True, False])
def test_all_right_or_all_wrong(correct: bool) -> None:
    columns = {"correct": [correct] * 4, "confidence": [0.9, 0.8, 0.8, 0.1]}
    assert sf.aurc(**columns) == (not correct)
    assert sf.augrc(**columns) == (not correct) / 2


def test_they_are_about_predictions() -> None:
    for name in ("aurc", "augrc"):
        assert sf.metrics.ALL[name].views == {"prediction"}

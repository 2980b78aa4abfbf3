"""Errors over parts of the range of confidence: against every interval and border tried one by one."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf


def _sample(seed: int, *, ties: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    c = rng.beta(2, 1, 60)
    c = np.round(c, 1) if ties else c
    return rng.random(60) < c**1.5, c, rng.uniform(0.2, 2, 60)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_cutoff_error_is_the_largest_over_all_intervals_and_is_ecce_r(seed: int, ties: bool) -> None:
    correct, c, w = _sample(seed, ties=ties)
    gap = w * (correct - c) / w.sum()
    ends = np.unique(c)
    largest = max(abs(gap[(c >= low) & (c <= high)].sum()) for low in ends for high in ends if low <= high)
    columns = {"correct": correct, "confidence": c, "sample_weight": w}
    assert sf.cutoff_ce(**columns) == pytest.approx(largest, abs=1e-14)
    assert sf.cutoff_ce(**columns) == sf.ecce_r(**columns)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_two_bins_are_averaged_over_their_border(seed: int, ties: bool) -> None:
    """Between neighbouring confidences nothing changes, so one border in the middle stands for all."""
    correct, c, w = _sample(seed, ties=ties)
    gap = w * (correct - c) / w.sum()
    edges = np.unique(np.concatenate([[0.0, 1.0], c]))
    middles = (edges[1:] + edges[:-1]) / 2
    errors = [gap[c < q].sum() ** 2 + gap[c >= q].sum() ** 2 for q in middles]
    expected = float((np.diff(edges) * errors).sum())
    assert sf.atb(correct=correct, confidence=c, sample_weight=w) == pytest.approx(expected, abs=1e-15)


def test_two_bins_agree_with_a_fine_grid_of_borders() -> None:
    correct, c, _ = _sample(4, ties=False)
    gap = (correct - c) / len(c)
    borders = (np.arange(20_000) + 0.5) / 20_000
    errors = [gap[c < q].sum() ** 2 + gap[c >= q].sum() ** 2 for q in borders]
    assert sf.atb(correct=correct, confidence=c) == pytest.approx(np.mean(errors), rel=1e-3)


def test_two_bins_reward_the_truth_exactly() -> None:
    """The mean over all outcomes of three rows, each with its chance, is least at the true probabilities."""
    truth = np.array([0.3, 0.6, 0.8])
    outcomes = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1).T
    chance = np.where(outcomes, truth, 1 - truth).prod(axis=1)

    def mean(stated: np.ndarray) -> float:
        return float(sum(p * sf.atb(correct=y > 0, confidence=stated) for p, y in zip(chance, outcomes, strict=True)))

    least = mean(truth)
    assert least == pytest.approx((truth * (1 - truth)).mean() / 3, abs=1e-15)
    rng = np.random.default_rng(0)
    assert all(mean((truth + rng.normal(0, s, 3)).clip(0, 1)) > least for s in (1e-3, 0.01, 0.1) for _ in range(10))

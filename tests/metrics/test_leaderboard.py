"""The calibration error of leaderboards: against the published procedure, step by step."""

from __future__ import annotations

import math

import numpy as np
import pytest

import surefoot as sf


def _published(confidence: np.ndarray, correct: np.ndarray, size: int, *, drop_last: bool) -> float:
    """The procedure as published: sort, cut, let the last bin run to the end, and (by its loop) leave it out."""
    order = np.argsort(confidence)
    confidence, correct = confidence[order], correct[order]
    borders = [(first, first + size) for first in range(0, len(confidence) - size + 1, size)]
    borders[-1] = (borders[-1][0], len(confidence))
    total = 0.0
    for start, end in borders[:-1] if drop_last else borders:
        gap = abs(np.nanmean(confidence[start:end]) - np.nanmean(correct[start:end]))
        total += (end - start) / len(confidence) * gap**2
    return math.sqrt(total)


def _vector(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(sum(map(ord, name)))
    n = {"two bins": 200, "just short of three": 299, "an exam": 2500, "sure": 1234, "timid": 4321}[name]
    p = rng.beta(9, 1, n) if name == "sure" else rng.beta(1, 2, n) if name == "timid" else rng.random(n)
    return p, rng.random(n) < p ** (3 if name == "an exam" else 0.8)


VECTORS = ("two bins", "just short of three", "an exam", "sure", "timid")


@pytest.mark.parametrize("ties", ["average", "as_published"])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("name", VECTORS)
def test_five_vectors_agree_with_the_published_code(name: str, drop_last: bool, ties: str) -> None:
    confidence, correct = _vector(name)
    found = sf.rms_ce(correct=correct, confidence=confidence, drop_last=drop_last, ties=ties)
    assert found == pytest.approx(_published(confidence, correct, 100, drop_last=drop_last), abs=1e-12)


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_other_sizes_agree_with_the_published_code(size: int, drop_last: bool) -> None:
    confidence, correct = _vector("an exam")
    found = sf.rms_ce(correct=correct, confidence=confidence, bin_size=size, drop_last=drop_last)
    assert found == pytest.approx(_published(confidence, correct, size, drop_last=drop_last), abs=1e-12)


def _percentages() -> tuple[np.ndarray, np.ndarray]:
    """Confidences as language models state them: a few round numbers."""
    rng = np.random.default_rng(2)
    confidence = rng.choice([0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0], 1500)
    return confidence, rng.random(1500) < 0.4 * confidence


def test_ties_as_published_agree_with_the_published_code() -> None:
    confidence, correct = _percentages()
    for drop_last in (False, True):
        found = sf.rms_ce(correct=correct, confidence=confidence, drop_last=drop_last)
        assert found == pytest.approx(_published(confidence, correct, 100, drop_last=drop_last), abs=1e-12)


def test_ties_are_averaged_over_their_orders() -> None:
    """In each bin the mean gap is that over all orders of tied rows; the published value scatters around it."""
    confidence, correct = _percentages()
    rng = np.random.default_rng(0)
    found = sf.rms_ce(correct=correct, confidence=confidence, ties="average")
    gaps = np.zeros(15)
    for _ in range(400):
        shuffled = rng.permutation(1500)
        order = shuffled[np.argsort(confidence[shuffled], kind="stable")]
        gaps += (correct[order] - confidence[order]).reshape(15, 100).mean(axis=1) / 400
        again = sf.rms_ce(correct=correct[shuffled], confidence=confidence[shuffled], ties="average")
        assert again == pytest.approx(found, abs=1e-14)
    assert found == pytest.approx(math.sqrt((gaps**2).mean()), rel=0.01)


def test_the_surest_answers_are_what_the_published_code_leaves_out() -> None:
    confidence = np.append(np.full(100, 0.5), np.full(100, 0.99))
    correct = np.append(np.arange(100) % 2 == 0, np.zeros(100, dtype=bool))
    assert sf.rms_ce(correct=correct, confidence=confidence, drop_last=True) == 0
    assert sf.rms_ce(correct=correct, confidence=confidence) == pytest.approx(0.99 / math.sqrt(2))


def test_few_rows_are_one_bin() -> None:
    assert sf.rms_ce(correct=[True, False], confidence=[0.9, 0.7]) == pytest.approx(0.3)
    for rows in (2, 199):
        with pytest.warns(sf.UndefinedMetricWarning, match="drop_last leaves out: 0 says nothing"):
            assert sf.rms_ce(correct=[True] * rows, confidence=[0.9] * rows, drop_last=True) == 0


def test_weights_are_refused_unless_they_are_equal() -> None:
    correct, confidence = [True, False, True], [0.9, 0.7, 0.6]
    with pytest.raises(sf.MetricUnavailable, match="counts rows"):
        sf.rms_ce(correct=correct, confidence=confidence, sample_weight=[1, 2, 3])
    doubled = sf.rms_ce(correct=correct, confidence=confidence, sample_weight=[2, 2, 2])
    assert doubled == pytest.approx(sf.rms_ce(correct=correct, confidence=confidence))


@pytest.mark.parametrize("option", [{"bin_size": 0}, {"bin_size": 1.5}, {"drop_last": 1}, {"ties": "first"}])
def test_options_are_checked(option: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="it should be"):
        sf.rms_ce(correct=[True], confidence=[0.5], **option)

"""The inputs of the reference vectors, rebuilt from their recipes and checked against their hashes."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf

DOCUMENT = json.loads((Path(__file__).parent / "data" / "vectors.json").read_text())
VALUES: dict[str, Any] = DOCUMENT["values"]


@dataclass(frozen=True)
class Vector:
    confidence: np.ndarray
    correct: np.ndarray
    truth: np.ndarray | None = None
    probabilities: np.ndarray | None = None


def _a() -> Vector:
    rng = np.random.default_rng(0)
    confidence = rng.beta(3, 1, size=500)
    return Vector(confidence, rng.random(500) < confidence**1.5)


def _b() -> Vector:
    rng = np.random.default_rng(1)
    confidence = 0.5 + 0.5 * rng.random(200)
    return Vector(confidence, rng.random(200) < confidence)


def _d() -> Vector:
    correct = np.ones(114, dtype=bool)
    correct[[10, 25, 40]] = False
    return Vector(np.array([1e-8, 0.1175, 0.726] + [1 - 1e-8] * 111), correct)


def _e() -> Vector:
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet([2, 1, 0.7], 400)
    flatter = probabilities**0.7
    flatter /= flatter.sum(axis=1, keepdims=True)
    truth = (rng.random(400)[:, None] > np.cumsum(flatter, axis=1)).sum(axis=1)
    return Vector(probabilities.max(axis=1), probabilities.argmax(axis=1) == truth, truth, probabilities)


VECTORS = {"A": _a(), "B": _b(), "D": _d(), "E": _e()}

for _name, _vector in VECTORS.items():
    _conf = hashlib.sha256(_vector.confidence.astype("<f8").tobytes()).hexdigest()
    _corr = hashlib.sha256(_vector.correct.astype("u1").tobytes()).hexdigest()
    assert _conf == VALUES[_name]["sha256_conf_f8le"], _name
    assert _corr == VALUES[_name]["sha256_correct_u1"], _name

#: Confidences and what was correct, where formulas divide by nothing or take logarithms of it.
EDGES: dict[str, Any] = {
    "one row": ([0.7], [True]),
    "one wrong row": ([0.7], [False]),
    "two rows": ([0.7, 0.2], [True, False]),
    "all correct": (np.linspace(0.1, 0.95, 40), [True] * 40),
    "all wrong": (np.linspace(0.1, 0.95, 40), [False] * 40),
    "constant confidence": ([0.8] * 40, [True] * 30 + [False] * 10),
    "zeros and ones": ([0.0, 1.0] * 20, [False, True] * 20),
    "zeros and ones, some wrong": ([0.0, 1.0] * 20, [False, True] * 19 + [True, False]),
    "halves": ([0.5] * 30, [True, False] * 15),
    "zero only": ([0.0], [False]),
    "one only": ([1.0], [True]),
}


def of(name: str) -> sf.Predictions:
    """A vector as predictions."""
    return sf.Predictions.from_correct(VECTORS[name].correct, VECTORS[name].confidence)


def close(mine: float, reference: float, tolerance: float = 1e-10) -> None:
    assert mine == pytest.approx(reference, rel=tolerance)

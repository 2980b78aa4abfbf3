"""The data sets that the report and every display are looked at with."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import surefoot as sf

#: What a language model says.
STATED = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
#: How often it says each.
OFTEN = (0.03, 0.04, 0.06, 0.12, 0.25, 0.25, 0.15, 0.1)
CLASSES = {"binary": 2, "ten": 10, "hundred": 100}
KINDS = (*CLASSES, "verbalised")
SIZES = (40, pytest.param(20_000, marks=pytest.mark.heavy))


def predictions(kind: str, rows: int, *, is_over: bool = True, seed: int = 0) -> sf.Predictions:
    """Predictions of a kind, calibrated or overconfident."""
    rng = np.random.default_rng(seed)
    if kind == "verbalised":
        confidence = rng.choice(STATED, rows, p=OFTEN)
        return sf.Predictions.from_correct(rng.random(rows) < confidence - 0.18 * is_over, confidence)
    classes = CLASSES[kind]
    scores = rng.normal(0, 1, (rows, classes))
    scores[np.arange(rows), rng.integers(0, classes, rows)] += {2: 2, 10: 4, 100: 6.5}[classes]
    p = np.exp(2 * scores)
    p /= p.sum(axis=1, keepdims=True)
    truth = (p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(0, classes - 1)
    sharp = p**1.8 if is_over else p
    names = [f"class {i}" for i in range(classes)]
    shares = sharp / sharp.sum(axis=1, keepdims=True)
    return sf.Predictions.from_probabilities(np.array(names)[truth], shares, labels=names)


@cache
def assessed(kind: str, rows: int, *, is_over: bool = True) -> sf.Assessment:
    """The assessment of such predictions, by predicted class where there are classes."""
    p = predictions(kind, rows, is_over=is_over)
    return sf.assess(p, by=None if kind == "verbalised" else "predicted")

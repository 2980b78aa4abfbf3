"""Thresholds of confidence: which cell a row lies in, by sorting; and that they read as they are meant."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.thresholds import THRESHOLD_CELL, THRESHOLDS
from surefoot.metrics.terms import BY_THRESHOLD, ERRORS_BY_THRESHOLD, ROWS_BY_THRESHOLD


def confidences() -> np.ndarray:
    """At every threshold, right beside it on either side, and elsewhere."""
    rng = np.random.default_rng(0)
    near = [THRESHOLDS, np.nextafter(THRESHOLDS, 2), np.nextafter(THRESHOLDS, -1).clip(0)]
    return np.concatenate([*near, rng.random(20_000), 1 - 10 ** -rng.uniform(0, 12, 20_000), [0.0, 1.0]])


def counted(table, term) -> np.ndarray:
    found = np.zeros(len(THRESHOLDS))
    found[table.codes] = table.totals[term.name].value
    return found


def test_thresholds_read_as_few_digits():
    assert (np.diff(THRESHOLDS) > 0).all()
    assert [repr(float(t)) for t in THRESHOLDS[[0, 1, 973, 989, 990, 991, 1079, 1080, 1440]]] == [
        *("0.0", "0.001", "0.973", "0.989", "0.99", "0.9901", "0.9989", "0.999", "0.9999999")
    ]


def test_a_row_lies_in_the_cell_of_the_highest_threshold_it_reaches():
    values = confidences()
    correct = np.random.default_rng(1).random(len(values)) < 0.8
    cell = np.searchsorted(THRESHOLDS, values, "right") - 1
    rows = np.bincount(cell, minlength=len(THRESHOLDS))
    errors = np.bincount(cell, ~correct, minlength=len(THRESHOLDS))
    # the wheel is tested without packages that only some users have
    frame = pytest.importorskip("polars").LazyFrame({"correct": correct, "confidence": values})
    for p in (
        sf.Predictions.from_correct(correct, values),
        sf.Predictions.from_frame(frame, correct="correct", confidence="confidence"),
    ):
        table = p.tally(BY_THRESHOLD).table(THRESHOLD_CELL)
        assert (counted(table, ROWS_BY_THRESHOLD) == rows).all()
        assert (counted(table, ERRORS_BY_THRESHOLD) == errors).all()

"""Calibration error within each predicted class, on every engine."""

import duckdb
import numpy as np
import polars as pl
import pytest

import surefoot as sf

#: Two predicted classes; all confidences are of one bin of four. Of "a", 2 of 2 are right at 0.75: a gap of -0.25 each.
#: Of "b", 1 of 3 is right at 0.75: 3 * 0.75 - 1 = 1.25 in all.
TRUTH, PREDICTED, CONFIDENCE = ["a", "a", "b", "a", "a"], ["a", "a", "b", "b", "b"], [0.75] * 5


def test_by_hand() -> None:
    assert sf.top_label_ece(TRUTH, PREDICTED, CONFIDENCE, n_bins=4) == pytest.approx((0.5 + 1.25) / 5)
    macro = sf.top_label_ece(TRUTH, PREDICTED, CONFIDENCE, n_bins=4, average="macro")
    assert macro == pytest.approx((0.25 + 1.25 / 3) / 2)
    assert sf.ece(TRUTH, PREDICTED, CONFIDENCE, n_bins=4) == pytest.approx(abs(-0.5 + 1.25) / 5)


def test_weights_count_like_copies() -> None:
    weighted = sf.top_label_ece(TRUTH, PREDICTED, CONFIDENCE, sample_weight=[1, 0, 2, 1, 1])
    rows = [0, 2, 2, 3, 4]
    copied = sf.top_label_ece(*([column[i] for i in rows] for column in (TRUTH, PREDICTED, CONFIDENCE)))
    assert weighted == pytest.approx(copied)


def _sample(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    table = rng.dirichlet([2.0, 1.0, 0.5], rows)
    flatter = table**0.6 / (table**0.6).sum(axis=1, keepdims=True)
    return (rng.random(rows)[:, None] > np.cumsum(flatter, axis=1)).sum(axis=1), table


def _expected(truth: np.ndarray, table: np.ndarray) -> float:
    """Bin by bin and class by class, with NumPy's own edges."""
    confidence, predicted = table.max(axis=1), table.argmax(axis=1)
    bins = np.searchsorted(np.linspace(0, 1, 16)[1:-1], confidence)
    gap = confidence - (predicted == truth)
    cells = [gap[(predicted == k) & (bins == m)].sum() for k in range(3) for m in range(15)]
    return float(np.abs(cells).sum() / len(truth))


@pytest.mark.parametrize("rows", [300, 600_000], ids=["NumPy", "Numba"])
def test_of_arrays_and_tallies(rows: int) -> None:
    truth, table = _sample(rows)
    p = sf.Predictions.from_probabilities(truth, table)
    assert sf.top_label_ece(p) == pytest.approx(_expected(truth, table), rel=1e-12)
    halves = sf.tally(p[: rows // 2]) + sf.tally(p[rows // 2 :])
    assert sf.metrics.ALL["top_label_ece"].of(halves) == pytest.approx(_expected(truth, table), rel=1e-12)


def test_of_lazy_frames() -> None:
    truth, table = _sample(300)
    frame = pl.DataFrame({"truth": truth, "p0": table[:, 0], "p1": table[:, 1], "p2": table[:, 2]})
    names = np.array(["x", "y", "z"])
    labels = pl.DataFrame({"truth": names[truth], "predicted": names[table.argmax(1)], "confidence": table.max(1)})
    for lazy, columns in (
        (frame.lazy(), {"truth": "truth", "probabilities": "p"}),
        (duckdb.sql("SELECT * FROM frame"), {"truth": "truth", "probabilities": "p"}),
        (labels.lazy(), {}),
    ):
        assert sf.top_label_ece(sf.Predictions.from_frame(lazy, **columns)) == pytest.approx(_expected(truth, table))


def test_labels_of_tallies_are_brought_together() -> None:
    one = sf.tally(sf.Predictions.from_labels(["b", "a"], ["b", "b"], [0.8, 0.6]), ["top_label_ece"])
    other = sf.tally(sf.Predictions.from_labels(["a", "c"], ["a", "c"], [0.9, 0.7]), ["top_label_ece"])
    together = sf.top_label_ece(["b", "a", "a", "c"], ["b", "b", "a", "c"], [0.8, 0.6, 0.9, 0.7])
    assert sf.metrics.ALL["top_label_ece"].of(one + other) == pytest.approx(together)
    assert sf.metrics.ALL["top_label_ece"].of(other + one) == pytest.approx(together)


def test_correctness_alone_does_not_tell_what_was_predicted() -> None:
    with pytest.raises(sf.MetricUnavailable, match="top_label_ece needs true and predicted labels"):
        sf.top_label_ece(sf.Predictions.from_correct([True, False], [0.9, 0.6]))
    with pytest.raises(ValueError, match="average is 'micro'"):
        sf.top_label_ece(TRUTH, PREDICTED, CONFIDENCE, average="micro")  # type: ignore[arg-type]


@pytest.mark.heavy
def test_of_tensors_and_as_mapie_has_it() -> None:
    import torch
    from mapie.metrics.calibration import top_label_ece

    from surefoot.predictions.tensors import BORDER

    truth, table = _sample(300)
    tensors = BORDER.from_probabilities(torch.tensor(truth), torch.tensor(table))
    assert sf.top_label_ece(tensors) == pytest.approx(_expected(truth, table), rel=1e-12)
    p = sf.Predictions.from_probabilities(truth, table)
    # its 16 edges make 15 bins, and one of confidence 0
    assert sf.top_label_ece(p, average="macro") == pytest.approx(top_label_ece(truth, table, num_bins=16), rel=1e-12)

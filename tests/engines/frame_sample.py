"""A frame with every kind of column, and what it means that two tallies are the same."""

import numpy as np
import pandas as pd

import surefoot as sf

ROWS = 700


def data() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 0.5], ROWS)
    p[:5] = [1, 0, 0]  # rows that claim certainty
    p[5:9] = [0.5, 0.5, 0]  # ties
    truth = np.array(["a", "b", "c"])[np.minimum((p.cumsum(axis=1) < rng.random(ROWS)[:, None]).sum(axis=1), 2)]
    largest = p.argmax(axis=1)
    guess = np.array(["a", "b", "c"])[largest]
    second = rng.random(ROWS).astype(np.float32)
    second[:3] = 0, 1, 0.5
    return pd.DataFrame(
        {
            "y": truth,
            "guess": guess,
            "sure": p.max(axis=1),
            "ok": truth == guess,
            "p_a": p[:, 0],
            "p_b": p[:, 1],
            "p_c": p[:, 2],
            "binary": rng.random(ROWS) < second,
            "second": second,
            "doubt": 1 - p.max(axis=1),
            "w": rng.integers(0, 4, ROWS) / 2,
            "group": rng.integers(0, 3, ROWS),
        }
    )


FRAME = data()


CONSTRUCTORS = {
    "labels": {"truth": "y", "predicted": "guess", "confidence": "sure"},
    "weighted labels": {"truth": "y", "predicted": "guess", "confidence": "sure", "weight": "w"},
    "correct": {"correct": "ok", "confidence": "sure", "doubt": "doubt"},
    "floor": {"correct": "ok", "confidence": "sure", "floor": 1e-8},
    "probabilities": {"truth": "y", "probabilities": "p_", "weight": "w"},
    "overridden": {"truth": "y", "probabilities": ["p_b", "p_a", "p_c"], "predicted": "guess"},
    "second label": {"truth": "binary", "probabilities": "second"},
}


def assert_same(one: sf.Tally, other: sf.Tally) -> None:
    """Each total to 1e-12 of the sum of absolute terms; all terms but the entropic one are never negative."""
    assert one.tables.keys() == other.tables.keys()
    assert one.labels == other.labels
    assert one.rounded == other.rounded
    for key, table in one.tables.items():
        np.testing.assert_array_equal(table.codes, other.tables[key].codes, err_msg=key)
        for name, sums in table.totals.items():
            scale = np.abs(sums.value).sum()
            value = other.tables[key].totals[name].value
            with np.errstate(invalid="ignore"):
                assert ((sums.value == value) | (np.abs(sums.value - value) <= 1e-12 * scale)).all(), name

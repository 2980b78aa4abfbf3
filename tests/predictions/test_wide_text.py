"""Text that one long value would make wide takes no more memory than its distinct values, and gives equal numbers."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.files.reading import read

RNG = np.random.default_rng(0)
ROWS = 300
P = RNG.dirichlet([1.0, 1.0, 1.0], ROWS)
LABELS = ["a", "b" * 70, "c"]
TRUTH = [LABELS[k] for k in (RNG.random((ROWS, 1)) < P.cumsum(axis=1)).argmax(axis=1)]
PREDICTED = [LABELS[k] for k in P.argmax(axis=1)]
REGION = [["north", "s" * 90, "x"][k] for k in RNG.integers(0, 3, ROWS)]
TWO = [label if label == "a" else LABELS[1] for label in TRUTH]
CONFIDENCE = P.max(axis=1)


def _by_slice() -> Any:
    return sf.assess(sf.Predictions.from_labels(TRUTH, PREDICTED, CONFIDENCE), by=REGION).to_dict()


USES: dict[str, Callable[[], Any]] = {
    "labels": lambda: sf.assess(sf.Predictions.from_labels(TRUTH, PREDICTED, CONFIDENCE)).to_dict(),
    "arrow": lambda: sf.assess(sf.Predictions.from_labels(pa.array(TRUTH), pa.array(PREDICTED), CONFIDENCE)).to_dict(),
    "pandas": lambda: sf.assess(
        sf.Predictions.from_labels(pd.Series(TRUTH), pd.Series(PREDICTED), CONFIDENCE)
    ).to_dict(),
    "slices": _by_slice,
    "by truth": lambda: sf.assess(
        sf.Predictions.from_probabilities(TRUTH, P, labels=LABELS), by="truth", groups=REGION
    ).to_dict(),
    "report": lambda: str(sf.assess(sf.Predictions.from_probabilities(TRUTH, P, labels=LABELS), by=REGION)),
    "classes": lambda: sf.assess(sf.Predictions.from_probabilities(TRUTH, P, labels=LABELS, of="classes")).to_dict(),
    "event": lambda: sf.assess(
        sf.Predictions.from_probabilities(TWO, P[:, 0], pos_label="a", of="event"), by=REGION
    ).to_dict(),
    "matrix": lambda: str(sf.confusion(TRUTH, PREDICTED, CONFIDENCE)),
    "act alone": lambda: sf.act_alone(
        sf.Predictions.from_labels(TRUTH, PREDICTED, CONFIDENCE), error=0.3, by=REGION
    ).to_dict(),
    "calibrate": lambda: sf.calibrators.SafePlatt().fit(P, TRUTH, labels=LABELS).predict_proba(P).tolist(),
    "tally": lambda: sf.tally(sf.Predictions.from_labels(TRUTH, PREDICTED, CONFIDENCE), by=REGION).to_text(),
}


@pytest.mark.parametrize("use", USES)
def test_the_numbers_are_the_same_however_text_is_held(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = USES[use]()
    monkeypatch.setattr("surefoot.predictions.columns._WIDE", 0)
    assert USES[use]() == expected


def test_a_label_that_is_none_of_the_classes_is_named_however_text_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surefoot.predictions.columns._WIDE", 0)
    with pytest.raises(sf.InvalidPredictions, match=r"y_true\[1\] is 'z', which is none of the labels"):
        sf.Predictions.from_probabilities(["a", "z"], P[:2], labels=LABELS)
    with pytest.raises(sf.InvalidPredictions, match="holds strings"):
        sf.Predictions.from_labels(["a", "z"], [1, 2], [0.9, 0.8])


@pytest.mark.parametrize("role", ["truth", "predicted", "region"])
def test_one_long_value_takes_little_memory(role: str, tmp_path: Path) -> None:
    # as NumPy's text, a column of so many rows would take 1.2 GB
    rows = 30_000
    held = {name: [*["yes"] * (rows - 1), "no"] for name in ("truth", "predicted", "region")}
    held[role][7] = "x" * 9_990
    table = pa.table({**held, "confidence": np.linspace(0.5, 0.99, rows)})
    pa.csv.write_csv(table, tmp_path / "a.csv")
    tracemalloc.start()
    try:
        found = read(str(tmp_path / "a.csv"), {}, by="region", group="region")
        assert sf.assess(found.held, by=found.by, groups=found.groups).risk.n == rows
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()


def test_corrected_rows_with_a_long_label_take_little_memory(tmp_path: Path) -> None:
    rows, long = 30_000, "x" * 9_990
    p = np.linspace(0.01, 0.99, rows)
    pa.csv.write_csv(pa.table({"p": p}), tmp_path / "new.csv")
    few = RNG.uniform(0.01, 0.99, 200)
    platt = sf.calibrators.Platt().fit(few, np.where(RNG.random(200) < few, long, "a"), labels=["a", long])
    platt.save(tmp_path / "c.json")
    files = {"--load": "c.json", "--apply": "new.csv", "-o": "out.parquet"}
    tracemalloc.start()
    try:
        assert run(["calibrate", *(word for o, name in files.items() for word in (o, str(tmp_path / name)))]) == 0
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()

"""The same rows in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv


@pytest.fixture
def rows() -> pa.Table:
    rng = np.random.default_rng(0)
    confidence = np.round(rng.uniform(0.5, 0.999, 500), 3)
    truth = rng.integers(0, 2, 500)
    predicted = np.where(rng.random(500) < confidence, truth, 1 - truth)
    region = np.array(["north", "south"])[rng.integers(0, 2, 500)]
    return pa.table({"label": truth, "pred": predicted, "confidence": confidence, "region": region})


@pytest.fixture
def text(rows: pa.Table, tmp_path: Path) -> str:
    csv.write_csv(rows, tmp_path / "plain.csv")
    return (tmp_path / "plain.csv").read_text()

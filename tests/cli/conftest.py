"""A file of an overconfident model."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf


@pytest.fixture
def risky(tmp_path: Path) -> Path:
    p = sf.synthetic.predictions("tight_hi", "overconf_root", 2000, rng=np.random.default_rng(0))
    path = tmp_path / "risky.parquet"
    group = np.array(["a", "b"])[np.arange(2000) % 2]
    pq.write_table(pa.table({"correct": p.correct, "confidence": p.confidence, "group": group}), path)
    return path

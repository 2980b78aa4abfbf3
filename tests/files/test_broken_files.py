"""Files that once ended in a traceback, in too much memory or in the death of the process: each is refused, or read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.files.reading import follow
from tests.fuzz.use import standard_input, use

BROKEN = Path(__file__).parents[1] / "data" / "broken"
#: Those that took the process down are read in another one.
DEADLY = ("segmentation-fault.arrow",)


@pytest.mark.parametrize("path", sorted(BROKEN.iterdir()), ids=lambda path: path.name)
@pytest.mark.parametrize("seed", range(4))
def test_a_broken_file_gives_a_result_or_an_error_of_ours(path: Path, seed: int, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    if path.name not in DEADLY:
        assert use(copy, np.random.default_rng(seed)) == ""
        return
    program = (
        f"import surefoot as sf\ntry: sf.assess({str(copy)!r})\nexcept sf.InvalidPredictions as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert copy.name in done.stdout


def test_labels_that_are_half_floats_are_followed(tmp_path: Path) -> None:
    """Arrow finds no distinct ones among them."""
    path = tmp_path / "a.npz"
    rows = np.array([0, 1, 1], np.float16)
    np.savez(path, y_true=rows, y_prob=np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]))
    (followed,) = [rows for rows, _, _ in follow(str(path), {}, identifier=None, delimiter=None)]
    assert followed.correct.tolist() == [True, True, False]


def test_a_stream_without_rows_is_refused(tmp_path: Path) -> None:
    """What its labels are was asked of its first row."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"truth": pa.array([], pa.int64()), "prob": pa.array([], pa.float64())}), path)
    with standard_input(str(path)), pytest.raises(sf.InvalidPredictions, match="no rows; there is nothing to assess"):
        list(follow("-", {}, identifier=None, delimiter=None))


def test_outcomes_that_are_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"correct": [1], "confidence": 0.9}\n{"correct": [0], "confidence": 0.8}\n')
    with pytest.raises(sf.InvalidPredictions, match="no column of predicted labels was detected"):
        sf.assess(str(path))

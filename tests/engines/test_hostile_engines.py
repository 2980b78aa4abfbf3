"""Mistakes that a hostile reader found in the engines, each kept from coming back."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions, RoundedConfidenceWarning, tally
from surefoot.metrics import ALL
from surefoot.metrics.binned import ece_metric
from surefoot.metrics.terms import ROWS

OK, SURE = [True, False, True, False], [0.9, 0.8, 0.7, 0.6]


def lazies(columns: dict) -> list:
    return [pl.DataFrame(columns).lazy(), duckdb.from_arrow(pl.DataFrame(columns).to_arrow())]


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([[1.5, -0.5], [0.2, 0.8]], r"outside \[0, 1\]"),
        ([[0, 1], [1, 0]], "lists of Int64"),
        ([["0.5", "0.5"], ["1", "0"]], "lists of String"),
        ([[None, 1.0], [0.2, 0.8]], "null"),
        ([[float("nan"), 1.0], [0.2, 0.8]], "nan"),
    ],
)
def test_lists_of_probabilities_are_checked_like_columns(lists: list, said: str) -> None:
    for frame in lazies({"t": [0, 1], "p": lists}):
        with pytest.raises(InvalidPredictions, match=said):
            Predictions.from_frame(frame, truth="t", probabilities="p")


@pytest.mark.parametrize(
    "values",
    [[float("nan"), 1.0, 2.0, 2.0], [None, "a", "a", "b"], [None, 1, 1, 2], [0.5, 1.0, 2.0, 2.0], [[1], [2], [1], [2]]],
)
def test_slices_by_what_is_no_label_are_refused(values: list) -> None:
    for frame in lazies({"ok": OK, "sure": SURE, "g": values}):
        with pytest.raises(InvalidPredictions, match="by='g'"):
            tally(Predictions.from_frame(frame, correct="ok", confidence="sure"), by="g")


def test_slices_by_labels_of_bare_correctness_are_refused_and_whole_floats_are_integers() -> None:
    for frame in lazies({"ok": OK, "sure": SURE, "g": [1.0, 2.0, 2.0, 1.0]}):
        p = Predictions.from_frame(frame, correct="ok", confidence="sure")
        with pytest.raises(InvalidPredictions, match="only whether each was correct"):
            tally(p, by="truth")
        t = tally(p, by="g")
        assert list(t.slices) == [1, 2]
        assert t[ROWS] == 4


def test_many_bins_together_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    c = rng.random(500)
    correct = rng.random(500) < c
    metrics = [ece_metric(n) for n in (1000, 999, 998, 997, 996, 995, 994, 993)]
    rows = Predictions.from_correct(correct, c)
    for frame in lazies({"ok": correct, "sure": c}):
        t = tally(Predictions.from_frame(frame, correct="ok", confidence="sure"), metrics)
        for metric in metrics:
            assert metric.of(t) == pytest.approx(metric(rows), rel=1e-12)


def test_equal_rows_do_not_add_up_their_rounding() -> None:
    value = 0.75 + 0.49 * 2.0**-31  # plain summation of 4 million such rows is off by 6e-12
    columns = {"sure": np.full(4_000_000, value), "ok": np.ones(4_000_000, dtype=bool)}
    for frame in lazies(columns):
        t = tally(Predictions.from_frame(frame, correct="ok", confidence="sure"))
        assert ALL["mean_confidence"].of(t) == pytest.approx(value, rel=1e-12)


def test_weights_of_lazy_frames_are_checked_and_rounded_rows_must_count() -> None:
    for frame in lazies({"ok": OK, "sure": SURE, "w": [1e-300] * 4}):
        with pytest.raises(InvalidPredictions, match="squares"):
            Predictions.from_frame(frame, correct="ok", confidence="sure", weight="w")
    narrow = pl.DataFrame({"ok": [True, True], "sure": np.array([1, 0.5], dtype=np.float32), "w": [0.0, 1.0]}).lazy()
    with pytest.warns(RoundedConfidenceWarning, match="1 of 2 values of column 'sure'"):
        assert Predictions.from_frame(narrow, correct="ok", confidence="sure", weight="w").rounded == 0


@pytest.mark.parametrize("bad", [float("inf"), 1e300, 2.0**60, float("nan"), 0.5])
def test_labels_of_lazy_frames_are_checked_before_they_are_cast(bad: float) -> None:
    for frame in lazies({"t": [0.0, 1.0, bad, 0.0], "g": [0.0, 1.0, 1.0, 0.0], "sure": SURE, "p": SURE}):
        with pytest.raises(InvalidPredictions, match="column 't'"):
            Predictions.from_frame(frame, truth="t", predicted="g", confidence="sure")
        with pytest.raises(InvalidPredictions, match="column 't'"):
            Predictions.from_frame(frame, truth="t", probabilities="p")


def test_the_callers_arrays_stay_writable() -> None:
    c, w, correct = np.full(600_000, 0.7), np.ones(600_000), np.ones(600_000, dtype=bool)
    sf.csr(Predictions.from_correct(correct, c, sample_weight=w))
    w[0] = c[0] = 0.5
    correct[0] = False


def test_batches_that_are_no_batches_and_batches_that_do_not_count() -> None:
    batch = pa.record_batch({"correct": [True, False], "confidence": [0.9, 0.5], "weight": [1.0, 2.0]})
    nothing = pa.record_batch({"correct": [True], "confidence": [0.9], "weight": [0.0]})
    total = sf.tally_batches([nothing, batch, nothing], weight="weight", correct="correct", confidence="confidence")
    assert ALL["accuracy"].of(total) == pytest.approx(1 / 3)
    for bad in ([None], [5], None, 7):
        with pytest.raises(InvalidPredictions, match="batch"):
            sf.tally_batches(bad)
    lazy = pl.from_arrow(pa.Table.from_batches([batch])).lazy()
    assert ALL["accuracy"].of(sf.tally_batches([lazy])) == pytest.approx(1 / 3)


def test_a_column_cannot_be_two_classes() -> None:
    frame = pd.DataFrame({"y": [0, 1], "p": [0.5, 0.5]})
    for given in (frame, pl.from_pandas(frame).lazy()):
        with pytest.raises(InvalidPredictions, match="names 'p' twice"):
            Predictions.from_frame(given, truth="y", probabilities=["p", "p"])


PROBE = """
import numpy as np, surefoot as sf
c = np.full(600_000, 0.75)
print(sf.csr(sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, c)))
"""


def run(code: str, folder: Path, **environment: str) -> str:
    variables = {**os.environ, "SUREFOOT_CACHE_DIR": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_compiled_code_is_thrown_away(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "kernels"
    run(PROBE, folder)
    for path in folder.glob(f"__pycache__/*.{suffix}"):
        path.write_bytes(b"damaged")
    for _ in range(2):
        assert float(run(PROBE, folder)) == pytest.approx(1)


def test_no_other_folder_is_used_for_compiled_code(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o777)
    run(PROBE, tmp_path / "kernels", NUMBA_CACHE_DIR=str(tmp_path / "elsewhere"))
    assert not list((tmp_path / "elsewhere").iterdir())
    assert list((tmp_path / "kernels").glob("__pycache__/*.nbc"))


AT_EXIT = """
import atexit, numpy as np, surefoot as sf
p = sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, np.full(600_000, 0.75))
atexit.register(lambda: print(sf.csr(p)))
"""

FORK = """
import os, sys, threading, time
import numpy as np, surefoot as sf
p = sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, np.full(600_000, 0.75))
thread = threading.Thread(target=lambda: sf.tally(p))
thread.start()
time.sleep(0.3)
if os.fork() == 0:
    print(sf.csr(p), flush=True)
    os._exit(0)
_, status = os.wait()
thread.join()
sys.exit(status)
"""


FIRST_TOGETHER = """
import sys, threading
import numpy as np, surefoot as sf
sys.setswitchinterval(1e-6)
p = sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, np.full(600_000, 0.75))
found, start = [], threading.Barrier(8)
threads = [threading.Thread(target=lambda: (start.wait(), found.append(sf.csr(p)))) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(found) / 8)
"""


@pytest.mark.parametrize("code", [AT_EXIT, FORK, FIRST_TOGETHER])
def test_at_exit_in_a_child_forked_meanwhile_and_first_used_by_eight_threads(tmp_path: Path, code: str) -> None:
    assert float(run(code, tmp_path / "kernels")) == pytest.approx(1)


def test_a_folder_below_that_others_could_read_is_used_if_they_cannot_reach_it(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    (folder / "__pycache__").mkdir(mode=0o755)
    run(PROBE, folder)
    assert list(folder.glob("__pycache__/*.nbc"))

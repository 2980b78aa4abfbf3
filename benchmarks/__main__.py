"""`make bench`: run every job beside what it is compared with, and beside the last run in benchmarks/RESULTS.md."""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import surefoot as sf
from benchmarks.calls import calls
from benchmarks.decisions import speed
from benchmarks.files import files
from benchmarks.logs import logs
from benchmarks.report import milliseconds, notes, page, recorded
from benchmarks.rows import Row, best
from benchmarks.waits import waits
from surefoot.engines.parallel import in_parallel, workers

SIX = ["csr", "csr_sigma", "cw_accuracy", "gain", "brier", "accuracy"]
RESULTS = Path(__file__).parent / "RESULTS.md"


def rows_of(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    confidence = rng.random(n)
    return rng.random(n) < confidence, confidence


def plain_six(correct: np.ndarray, c: np.ndarray) -> tuple[float, ...]:
    n = len(c)
    csr = np.sum(~correct / (1 - c)) / n
    sigma = np.sqrt(np.sum(c / (1 - c))) / n
    accuracy = np.mean(correct)
    weighted = np.sum(c * correct) / np.sum(c)
    return (
        csr,
        sigma,
        accuracy,
        weighted,
        (weighted - accuracy) / (1 - min(weighted, accuracy)),
        np.mean((c - correct) ** 2),
    )


def plain_ece(correct: np.ndarray, c: np.ndarray) -> float:
    bins = np.searchsorted(np.linspace(0, 1, 16)[1:-1], c)
    stated, seen = np.bincount(bins, c, 15), np.bincount(bins, correct, 15)
    return float(np.abs(stated - seen).sum() / len(c))


def read(*arrays: np.ndarray) -> None:
    """Read the bytes of arrays on all processors, as eight-byte words."""
    words = [array.view(np.uint8)[: array.nbytes // 8 * 8].view(np.float64) for array in arrays]
    pieces = [piece for array in words for piece in np.array_split(array, workers())]
    with np.errstate(all="ignore"):
        in_parallel([piece.sum for piece in pieces])


def six() -> list[Row]:
    correct, c = rows_of(10_000_000)
    p = sf.Predictions.from_correct(correct, c)
    ours = best(lambda: sf.tally(p, SIX))
    plain = best(lambda: plain_six(correct, c), 3)
    reading = best(lambda: read(correct, c))
    with_ece = best(lambda: sf.tally(p, [*SIX, "ece"]))
    plain_with = best(lambda: (plain_six(correct, c), plain_ece(correct, c)), 3)
    job = "csr, sigma, cwA, gain, Brier, accuracy, N = 1e7 float64"
    return [
        Row(job, ours, "plain whole-array NumPy formulas", plain, "20x", f"{plain / ours:.1f}x"),
        Row(job, ours, "reading those bytes (parallel sum)", reading, "0.5 of that speed", f"{reading / ours:.2f}"),
        Row(
            "the same with ECE15",
            with_ece,
            "NumPy formulas and bincount",
            plain_with,
            "10x",
            f"{plain_with / with_ece:.1f}x",
        ),
    ]


def constructor() -> list[Row]:
    rng = np.random.default_rng(1)
    y, predicted = rng.integers(0, 10, (2, 10_000_000))
    c = rng.random(10_000_000)
    ours = best(lambda: sf.Predictions.from_labels(y, predicted, c))
    reading = best(lambda: (y.sum(), predicted.sum(), c.sum()))
    return [
        Row(
            "checks of from_labels, integers, N = 1e7",
            ours,
            "reading the input",
            reading,
            "at most 5 reads",
            f"{ours / reading:.1f} reads",
        )
    ]


def small() -> list[Row]:
    correct, c = rows_of(1000)
    p = sf.Predictions.from_correct(correct, c)
    metrics = [sf.metrics.ALL[name] for name in SIX]

    def ours() -> None:
        t = sf.tally(p, metrics)
        for metric in metrics:
            metric.of(t)

    took, plain = best(ours, 200), best(lambda: plain_six(correct, c), 200)
    return [
        Row(
            "those six together, N = 1000, warm",
            took,
            "the plain NumPy formulas",
            plain,
            "at most 5x slower, under 1 ms",
            f"{took / plain:.1f}x slower",
        )
    ]


def rankings() -> list[Row]:
    from sklearn.metrics import roc_auc_score

    rows = []
    rng = np.random.default_rng(2)
    n = 5_000_000
    s = rng.random(n)
    y = (rng.random(n) < s).astype(int)
    c = np.maximum(s, 1 - s)
    p = sf.Predictions.from_probabilities(y, s)
    ours, theirs = best(lambda: sf.cw_auc(p), 3), best(lambda: roc_auc_score(y, s, sample_weight=c), 1)
    rows.append(
        Row(
            "cw_auc, binary, N = 5e6, distinct scores",
            ours,
            "scikit-learn weighted roc_auc_score",
            theirs,
            "8x",
            f"{theirs / ours:.1f}x",
        )
    )
    for n, k in ((500_000, 10), (50_000, 1000)):
        table = rng.dirichlet(np.ones(k), n)
        y = np.minimum((table.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1), k - 1)
        c = table.max(axis=1)
        p = sf.Predictions.from_probabilities(y, table, labels=range(k))
        some = range(min(k, 40))
        ours = best(lambda p=p: sf.cw_auc(p), 3)
        theirs = best(lambda: [roc_auc_score(y == j, table[:, j], sample_weight=c) for j in some], 1) * k / len(some)  # noqa: B023
        against = "scikit-learn, one class at a time" + ("" if len(some) == k else f" ({len(some)} of them, scaled)")
        rows.append(Row(f"cw_auc macro, K = {k}, N = {n:.0e}", ours, against, theirs, "8x", f"{theirs / ours:.1f}x"))
    return rows


def ece() -> list[Row]:
    correct, c = rows_of(1_000_000)
    p = sf.Predictions.from_correct(correct, c)
    ours = best(lambda: sf.ece(p), 100)
    rows = []
    try:
        import torch
        from torchmetrics.functional.classification import binary_calibration_error

        preds, target = torch.from_numpy(c), torch.from_numpy(correct.astype(np.int64))
        theirs = best(lambda: binary_calibration_error(preds, target, n_bins=15), 3)
        rows.append(
            Row("ece, N = 1e6", ours, "torchmetrics binary_calibration_error", theirs, "30x", f"{theirs / ours:.1f}x")
        )
        from netcal.metrics import ECE

        theirs = best(lambda: ECE(15).measure(c, correct.astype(int)), 3)
        rows.append(Row("ece, N = 1e6", ours, "netcal ECE", theirs, "10x", f"{theirs / ours:.1f}x"))
    except ImportError as error:
        rows.append(
            Row("ece, N = 1e6", ours, f"not measured: {error.name} is not installed", float("nan"), "30x / 10x", "-")
        )
    return rows


COLD = """
import time
start = time.perf_counter()
import numpy as np, surefoot as sf
rng = np.random.default_rng(0)
c = rng.random(10_000)
y = (rng.random(10_000) < c).astype(int)
sf.csr(y, np.ones(10_000, dtype=int), c)
print(time.perf_counter() - start)
"""


def cold() -> list[Row]:
    import os

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SUREFOOT_CACHE_DIR": str(Path(folder) / "kernels")}
        runs = [
            float(
                subprocess.run(
                    [sys.executable, "-c", COLD], env=environment, capture_output=True, text=True, check=True
                ).stdout
            )
            for _ in range(3)
        ]
    return [
        Row(
            "first csr on 1e4 rows, fresh process, cold cache, imports included",
            min(runs),
            "-",
            float("nan"),
            "under 0.5 s",
            f"{min(runs):.2f} s",
        )
    ]


def memory() -> list[Row]:
    correct, c = rows_of(100_000_000)
    p = sf.Predictions.from_correct(correct, c)
    sf.tally(p[:1_000_000])
    gc.collect()
    tracemalloc.start()
    start = time.perf_counter()
    sf.tally(p)
    took = time.perf_counter() - start
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return [
        Row(
            "tallying 1e8 float64 rows, every additive metric",
            took,
            "allocated beyond the input",
            float("nan"),
            "at most 100 MiB",
            f"{peak:.1f} MiB",
        )
    ]


LAZY = """
import re, sys
import polars as pl
import surefoot as sf
frame = pl.scan_parquet(sys.argv[1])
frame.select(pl.col("confidence").sum()).collect(engine="streaming")
bare = min(timed(lambda: frame.select(pl.col("confidence").sum()).collect(engine="streaming")) for _ in range(3))
p = sf.Predictions.from_frame(frame, correct="correct", confidence="confidence")
# the first call on a machine compiles its loops
ours = min(timed(lambda: sf.tally(p)) for _ in range(2))
# the peak since this program began; getrusage would tell that of the process it was forked from
peak = re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())
print(bare, ours, int(peak[1]) / 2**20)
"""


def lazy() -> list[Row]:
    import polars as pl

    timed = "def timed(f):\n    import time\n    s = time.perf_counter()\n    f()\n    return time.perf_counter() - s\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        correct, c = rows_of(100_000_000)
        pl.DataFrame({"correct": correct, "confidence": c}).write_parquet(path, row_group_size=1_000_000)
        del correct, c
        gc.collect()
        done = subprocess.run(
            [sys.executable, "-c", timed + LAZY, str(path)], capture_output=True, text=True, check=True
        )
    bare, ours, gib = map(float, done.stdout.split())
    return [
        Row(
            "Polars lazy over Parquet, 1e8 rows, every additive metric",
            ours,
            "a bare sum of the confidence column",
            bare,
            "at most 10x, under 2 GiB",
            f"{ours / bare:.1f}x, {gib:.2f} GiB",
        )
    ]


def risk() -> list[Row]:
    rng = np.random.default_rng(5)
    p = sf.synthetic.predictions("skew_high", "perfect", 1_000_000, rng=rng)
    confidence = np.array(p.confidence)
    took, plain = best(lambda: sf.risk_test(p), 3), best(lambda: np.sort(confidence), 3)
    rows = [
        Row(
            "risk_test, N = 1e6",
            took,
            "numpy.sort of the confidences",
            plain,
            "at most 3 sorts",
            f"{took / plain:.1f} sorts",
        )
    ]
    # as many cells as a hundred million rows would have, of a calibrated model: the law is simulated
    total = sf.tally(p)
    took = best(lambda: sf.risk_test(total), 3)
    rows.append(Row("risk_test of a tally, calibrated", took, "", float("nan"), "under 50 ms", milliseconds(took)))
    for _ in range(7):
        total = total + total
    took = best(lambda: sf.risk_test(total), 3)
    rows.append(Row("risk_test of a tally, N = 1.3e8", took, "", float("nan"), "under 50 ms", milliseconds(took)))
    slices = sf.synthetic.predictions("uniform", "perfect", 30_000, rng=rng)
    groups = np.arange(30_000) % 100
    whole = best(lambda: sf.assess(slices, metrics=()), 3)
    took = (best(lambda: sf.assess(slices, by=groups, metrics=()), 3) - whole) / 100
    rows.append(Row("assess, each of 100 slices of 300 rows", took, "", float("nan"), "10 ms", milliseconds(took)))
    m = sf.Monitor()

    def watch() -> None:
        for start in range(0, 1_000_000, 10_000):
            m.update(p.correct[start : start + 10_000], confidence[start : start + 10_000])

    took = best(watch, 2)
    rows.append(
        Row("Monitor, a million rows in batches of 10,000", took, "", float("nan"), "under 2 s", milliseconds(took))
    )
    return rows


def indicators() -> list[Row]:
    from benchmarks import transcriptions

    rng = np.random.default_rng(6)
    n = 100_000
    c = np.clip(rng.beta(4, 1, n), 1e-6, 1 - 1e-6)
    y = rng.random(n) < c
    p = sf.Predictions.from_correct(y, c)
    wanted = "at least 10x faster"
    jobs = (
        ("tce", lambda: sf.tce(p), lambda: transcriptions.tce(y, c), 1),
        ("ecd_test", lambda: sf.ecd_test(p), lambda: transcriptions.ecd_test(y, c, 5000), 1),
        (
            "tcal_test, 20 draws, none rejecting",
            lambda: sf.tcal_test(p, draws=20),
            lambda: transcriptions.tcal_test(y, c, 20),
            1,
        ),
        ("smooth_ece", lambda: sf.smooth_ece(p), lambda: transcriptions.smooth_ece(y, c), 1),
        ("ls_ece", lambda: sf.ls_ece(p), lambda: transcriptions.ls_ece(y, c), 1),
    )
    rows = []
    for name, ours, theirs, repeats in jobs:
        took = best(ours, 3)
        started = time.perf_counter()
        for _ in range(repeats):
            theirs()
        plain = (time.perf_counter() - started) / repeats
        rows.append(
            Row(f"{name}, N = 1e5", took, "a direct transcription", plain, wanted, f"{plain / took:.0f}x faster")
        )
    return rows + _against_references(p, c, y)


def _against_references(p: sf.Predictions, c: np.ndarray, y: np.ndarray) -> list[Row]:
    """Each at least as fast as the package that has it, where that is installed."""
    from importlib.util import find_spec

    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import brier_score_loss

    pairs = {
        "mcaldist": (
            lambda: sf.mcaldist(p),
            "scikit-learn",
            lambda: np.abs(c - IsotonicRegression().fit(c, y).predict(c)).mean(),
        ),
        "brier": (lambda: sf.brier(p), "scikit-learn", lambda: brier_score_loss(y, c)),
    }
    if find_spec("mapie"):
        from mapie.metrics.calibration import kolmogorov_smirnov_p_value, kuiper_p_value, spiegelhalter_statistic

        outcomes = y.astype(int)

        pairs["ecce_test"] = (
            lambda: sf.ecce_test(p),
            "MAPIE, both p-values",
            lambda: (kolmogorov_smirnov_p_value(outcomes, c), kuiper_p_value(outcomes, c)),
        )
        pairs["spiegelhalter_z"] = (
            lambda: sf.spiegelhalter_z(p),
            "MAPIE",
            lambda: spiegelhalter_statistic(outcomes, c),
        )
    if find_spec("relplot"):
        from relplot.metrics import smECE

        pairs["smooth_ece"] = (lambda: sf.smooth_ece(p), "relplot", lambda: smECE(c, y.astype(float)))
    if find_spec("netcal"):
        from netcal.metrics import ACE

        pairs["equal_mass_ece"] = (
            lambda: sf.equal_mass_ece(p),
            "netcal's ACE",
            lambda: ACE(15).measure(c, y.astype(int)),
        )
    rows = []
    for name, (ours, package, theirs) in pairs.items():
        took, plain = best(ours, 5), best(theirs, 5)
        rows.append(Row(f"{name}, N = 1e5", took, package, plain, "at least as fast", f"{plain / took:.1f}x faster"))
    return rows


def machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    packages = []
    for name in ("numpy", "numba", "scikit-learn", "polars", "torch", "torchmetrics", "netcal"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"{model}, {workers()} processors, {platform.system()}, Python {platform.python_version()}, {', '.join(packages)}"


def main() -> None:
    jobs = {
        f.__name__: f
        for f in (
            six,
            constructor,
            calls,
            waits,
            rankings,
            ece,
            small,
            cold,
            memory,
            lazy,
            files,
            logs,
            risk,
            indicators,
            speed,
        )
    }
    chosen = sys.argv[1:] or list(jobs)
    rows = []
    begun = time.perf_counter()
    for name in chosen:
        print(f"{name} ...", file=sys.stderr)
        rows += jobs[name]()
        gc.collect()
        print(f"{name} done, {time.perf_counter() - begun:.0f} s in all", file=sys.stderr)
    text = page(rows, machine(), recorded(RESULTS), notes(RESULTS))
    print(text)
    if chosen == list(jobs):
        RESULTS.write_text(text)


main()

"""What people wait for beside the sums: whole assessments, reports, slices, fits, the command line, first calls.

By processor time, of child processes too, unless a line says otherwise.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import surefoot as sf
from benchmarks.calls import many_classes, softmax, spent
from benchmarks.rows import Row
from surefoot.calibrators import Temperature

_RUN = """
import re, time
import numpy as np, surefoot as sf
held = np.load({path!r})
y, table = held["y_true"], held["probabilities"]
sf.assess(y[:2000], table[:2000])
start, before = time.process_time(), int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
sf.assess(y, table)
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
print(time.process_time() - start, (peak - before) * 1024 / table.nbytes)
"""
_FIRST = """
import time
start = time.process_time()
import numpy as np, surefoot as sf
rng = np.random.default_rng(0)
p = rng.random({rows})
sf.assess(y_true=(rng.random({rows}) < p).astype(int), probabilities=p)
print(time.process_time() - start)
"""


def waits() -> list[Row]:
    return [*_large(), *_reports(), *_slices(), *_first_calls(), *_command_line()]


def _child(*arguments: str, **environment: str) -> tuple[float, str]:
    """The processor time of a process, with bytecode at hand as where a package is installed, and what it printed."""
    here = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments], env={**here, **environment}, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def _alone(job: str, took: float, wanted: str) -> Row:
    return Row(f"{job} (processor time)", took, "", math.nan, wanted, f"{took:.2f} s")


def _beside(job: str, took: float, against: str, other: float, wanted: str) -> Row:
    return Row(f"{job} (processor time)", took, against, other, wanted, f"{took / other:.2f}x")


def _large() -> list[Row]:
    """50,000 rows of 1,000 classes."""
    y, z = many_classes()
    table = softmax(z)
    p = sf.Predictions.from_probabilities(y, table)
    a = sf.assess(p)
    whole = spent(lambda: sf.assess(p), 1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.npz")
        np.savez(path, y_true=y, probabilities=table)
        report = Path(folder, "x.html")
        rows.append(_alone("to_html of it, 50,000 x 1,000", spent(lambda: a.to_html(report), 1), "at most 1.5 s"))
        of_array, growth = map(float, _child("-c", _RUN.format(path=str(path)))[1].split())
        rows.append(
            Row(
                "assess of it, memory beyond the input",
                math.nan,
                "the input",
                math.nan,
                "at most 1x more",
                f"{growth:.2f}x",
            )
        )
        for name, more, wanted in (("", [], "at most 1.5x"), (", --html", ["--html", str(report)], "at most 2x")):
            took, _ = _child("-m", "surefoot", "assess", str(path), *more)
            rows.append(
                _beside(f"surefoot assess x.npz, 50,000 x 1,000{name}", took, "assess of the array", of_array, wanted)
            )
    some = spent(lambda: sf.assess(p, metrics=["csr"]))
    rows.append(_beside("assess(metrics=['csr']), 50,000 x 1,000", some, "assess", whole, "at most 0.1x"))
    one = spent(lambda: softmax(z))
    fit = spent(lambda: Temperature(from_logits=True).fit(z, y), 1)
    rows.append(_beside("Temperature().fit, 50,000 x 1,000", fit, "one softmax in float32", one, "at most 15 passes"))
    return rows


def _reports() -> list[Row]:
    """10,000 rows of ten classes, the size of CIFAR-10's test set, with a slice for each class."""
    rng = np.random.default_rng(3)
    table = rng.dirichlet(np.ones(10) / 5, 10_000)
    y = (table.cumsum(axis=1) < rng.random(10_000)[:, None]).sum(axis=1).clip(0, 9)

    def report(path: Path) -> Callable[[], None]:
        return lambda: sf.assess(y, table, by="predicted").to_html(path)

    with tempfile.TemporaryDirectory() as folder:
        took = spent(report(Path(folder, "x.html")), 2)
    return [_alone("assess and report, 10,000 x 10, a slice a class", took, "report at most 1 s")]


def _slices() -> list[Row]:
    rng = np.random.default_rng(4)
    n, classes = 20_000, 100
    table = rng.dirichlet(np.ones(classes) / 10, n)
    y = (table.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(0, classes - 1)
    p = sf.Predictions.from_probabilities(y, table, labels=range(classes))
    groups = np.arange(n) % 200
    whole = spent(lambda: sf.assess(p), 1)
    rows = []
    for name, by, count in (("", groups, 200), (" by truth, which are not tested", "truth", classes)):
        took = (spent(lambda by=by: sf.assess(p, by=by), 1) - whole) / count
        job = f"a slice of {n // count} rows of 100 classes{name} (processor time)"
        rows.append(Row(job, took, "", math.nan, "at most 10 ms", f"{took * 1e3:.1f} ms"))
    return rows


def _first_calls() -> list[Row]:
    """With no compiled code at hand, imports included."""
    rows = []
    for n, wanted in ((10_000, "below 1.5 s"), (1_000_000, "below 3 s")):
        times = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                program = _FIRST.format(rows=n)
                times.append(float(_child("-c", program, SUREFOOT_CACHE_DIR=str(Path(folder, "kernels")))[1]))
        rows.append(_alone(f"first assess on {n:.0e} rows, cold cache, imports included", min(times), wanted))
    return rows


def _command_line() -> list[Row]:
    rng = np.random.default_rng(5)
    confidence = rng.uniform(0.5, 1, 10_000).round(6)
    right = (rng.random(10_000) < confidence).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        np.savetxt(path, np.column_stack([right, confidence]), "%g", ",", header="correct,confidence", comments="")
        took = min(_child("-m", "surefoot", "assess", str(path))[0] for _ in range(4))
        imports = _child("-c", "import numpy")[0]
    job = "surefoot assess of 10,000 rows, warm (processor time)"
    return [Row(job, took, "Python and NumPy alone", imports, "at most 0.5 s", f"{took:.2f} s")]

"""How time and memory grow with rows and classes: ``python -m benchmarks.growth`` draws it into docs/scale.md.

Each point is a process of its own that has made the same call on 2,000 rows: processor time of the call, and the most
memory that the process held beyond its input. Slopes are those of straight lines in the picture between neighbouring points.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt

DOCS = Path(__file__).parent.parent / "docs"
PAGE, PICTURE = DOCS / "scale.md", DOCS / "growth.svg"
BEGIN, END = "<!-- growth: begin -->", "<!-- growth: end -->"
ROWS = tuple(10**k for k in range(3, 9))
CLASSES = (2, 10, 100, 1000)
ROWS_OF_CLASSES = 20_000
JOBS = ("tally", "assess", "report")
_PROGRAM = r"""
import json, re, sys, tempfile, time
from pathlib import Path
import numpy as np, surefoot as sf

job, rows, classes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)

def peak():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def of(n):
    if classes == 0:
        confidence = rng.uniform(0.5, 1, n)
        return sf.Predictions.from_correct(rng.random(n) < confidence, confidence)
    table = rng.dirichlet(np.full(classes, 2 / classes), n)
    y = (table.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1).clip(0, classes - 1)
    return sf.Predictions.from_probabilities(y, table, labels=range(classes))

def write(a):
    with tempfile.TemporaryDirectory() as folder:
        a.to_html(Path(folder, "report.html"))

do = {"tally": sf.tally, "assess": sf.assess, "report": write}[job]
small, p = of(2_000), of(rows)
if job == "report":
    small, p = sf.assess(small), sf.assess(p)
do(small)
Path("/proc/self/clear_refs").write_text("5")
before, times = peak(), []
# an assessment keeps what a report took
for _ in range(1 if job == "report" or rows > 10_000_000 else 2):
    start = time.process_time()
    do(p)
    times.append(time.process_time() - start)
print(json.dumps([min(times), max(0, peak() - before)]))
"""


def measure(job: str, rows: int, classes: int) -> tuple[float, int]:
    """Seconds of processor time, and bytes beyond the input."""
    command = [sys.executable, "-W", "ignore", "-c", _PROGRAM, job, str(rows), str(classes)]
    seconds, held = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return seconds, held


def slope(xs: tuple[int, ...], ys: list[float]) -> float:
    """The steepest rise between neighbours, of powers against powers, where the call takes more than a tenth of a unit."""
    steps = zip(xs, xs[1:], ys, ys[1:], strict=False)
    rises = [math.log(d / c) / math.log(b / a) for a, b, c, d in steps if c > 0.1]
    return max(rises, default=math.nan)


def table(name: str, xs: tuple[int, ...], found: dict[str, list[tuple[float, int]]]) -> list[str]:
    lines = [f"| {name} | {' | '.join(f'{x:,}' for x in xs)} | steepest |", "|---|" + "---:|" * (len(xs) + 1)]
    for job, points in found.items():
        seconds, mib = [t for t, _ in points], [held / 2**20 for _, held in points]
        for what, values, digits in (("s", seconds, 3), ("MiB", mib, 0)):
            rise = slope(xs, [v / (100 if what == "MiB" else 1) for v in values])
            shown = "" if math.isnan(rise) else f"x^{rise:.2f}"
            lines.append(f"| {job}, {what} | {' | '.join(f'{v:,.{digits}f}' for v in values)} | {shown} |")
    return lines


def draw(parts: list[tuple[str, tuple[int, ...], dict[str, list[tuple[float, int]]]]]) -> None:
    plt.rcParams["svg.hashsalt"] = "surefoot"
    figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharex="col", layout="constrained")
    for column, (name, xs, found) in enumerate(parts):
        for row, (label, pick) in enumerate(
            (("processor time, s", lambda point: point[0]), ("memory beyond the input, MiB", lambda p: p[1] / 2**20))
        ):
            ax = axes[row, column]
            for job, points in found.items():
                values = [max(pick(point), 1e-3 if row == 0 else 1) for point in points]
                ax.loglog(xs, values, marker="o", markersize=4, label=job)
            first = max(pick(found["tally"][-1]), 1e-3) / xs[-1]
            ax.loglog(xs, [first * x for x in xs], color="0.7", linestyle=":", label="proportional")
            ax.set_ylabel(label if column == 0 else "")
            ax.grid(color="0.92")
            ax.set_ylim(bottom=1e-3 if row == 0 else 1)
        axes[1, column].set_xlabel(name)
    axes[0, 0].legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parts = []
    for name, xs, of in (
        ("rows of correctness and confidence", ROWS, lambda x: (x, 0)),
        (f"classes, {ROWS_OF_CLASSES:,} rows", CLASSES, lambda x: (ROWS_OF_CLASSES, x)),
    ):
        found: dict[str, list[tuple[float, int]]] = {}
        for job in JOBS:
            found[job] = [measure(job, *of(x)) for x in xs]
            print(name, job, found[job], flush=True)
        parts.append((name, xs, found))
    draw(parts)
    lines = ["![Time and memory as rows and classes grow](growth.svg)", ""]
    for part in parts:
        lines += [*table(*part), ""]
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()

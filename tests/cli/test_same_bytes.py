"""The same input gives the same bytes: in every run, whatever the seed of hashes and the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Every kind of file that a command writes.
COMMANDS = """
assess in.parquet --by site --id id -o a.html -o a.json -o a.md -o a.tally --junit a.xml --fail-on risky
assess many.parquet -o many.json -o many.tally
assess in.parquet --of event --truth truth --probabilities prob -o event.html
compare x=in.parquet y=other.parquet -o c.html -o c.json -o c.md
act-alone in.parquet --error 0.2 -o act.json -o act.html -o act.md -o act.svg -o act.png
expect in.parquet --reference other.parquet -o e.html -o e.json -o e.md
calibrate --fit in.parquet --apply other.parquet --save cal.json -o cal.csv
calibrate --load cal.json --apply other.parquet -o cal.parquet
calibrate --load cal.json --apply other.parquet -o cal.arrow
calibrate --load cal.json --apply other.parquet -o cal.jsonl
monitor in.parquet --state m.state --id id -o m.html -o m.json -o m.md
merge a.tally a2.tally -o sum.tally
"""
SCRIPT = """
import shutil, sys
from surefoot.cli import run
for line in sys.stdin.read().split("\\n"):
    if line.startswith("merge"):
        shutil.copy("a.tally", "a2.tally")
    if line:
        assert run(line.split()) in (0, 1), line
"""


def made(n: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    prob = rng.uniform(0.02, 0.98, n)
    truth = (rng.random(n) < prob**1.3).astype(int)
    site = np.array(["north", "south", "east", "west"])[rng.integers(0, 4, n)]
    return pa.table({"id": [f"patient {i}" for i in range(n)], "site": site, "truth": truth, "prob": prob})


def test_the_same_bytes_whatever_hashes_and_threads(tmp_path: Path) -> None:
    found = []
    for seed, threads in (("0", "1"), ("1", "2"), ("12345", "3")):
        folder = tmp_path / seed
        folder.mkdir()
        for name, table in (("in", made(600, 1)), ("other", made(600, 2)), ("many", made(300_000, 3))):
            pq.write_table(table, folder / f"{name}.parquet")
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
        variables = {**dict.fromkeys(names, threads), "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], input=COMMANDS, env={**os.environ, **variables}, cwd=folder,
            text=True, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found.append((done.stdout, {path.name: path.read_bytes() for path in sorted(folder.iterdir())}))
    assert len(found[0][1]) == 33
    for printed, files in found[1:]:
        assert [name for name in files if files[name] != found[0][1][name]] == []
        assert printed == found[0][0]

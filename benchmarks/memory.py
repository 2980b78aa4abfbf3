"""Peak memory of each reader against the size of its file: ``python -m benchmarks.memory`` writes it into docs/scale.md.

Each file is assessed by a process of its own, and what a process takes that assesses two rows is taken off.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from pyarrow import csv

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
BEGIN, END = "<!-- memory: begin -->", "<!-- memory: end -->"
ROWS = (500_000, 2_000_000, 4_000_000)
_PROGRAM = (
    "import re, sys, surefoot as sf\n"
    "sf.assess(sys.argv[1], metrics=['csr'])\n"
    # of this process alone: what getrusage tells begins with the most that its parent held
    "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) >> 10)"
)


def _table(rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1, rows).round(4)
    truth = rng.integers(0, 10, rows)
    predicted = np.where(rng.random(rows) < confidence, truth, (truth + 1) % 10)
    return pa.table({"truth": truth, "predicted": predicted, "confidence": confidence})


def _text(held: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    csv.write_csv(held, sink)
    return bytes(sink.getvalue())


def _json(held: pa.Table, path: Path) -> None:
    columns = held.to_pydict()
    with path.open("w") as stream:
        for values in zip(*columns.values(), strict=True):
            stream.write(json.dumps(dict(zip(columns, values, strict=True))) + "\n")


def _arrow(held: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, held.schema) as writer:
        writer.write_table(held, max_chunksize=1 << 18)


#: How a table is written in each format.
WRITE: dict[str, Callable[[pa.Table, Path], object]] = {
    "csv": lambda held, path: path.write_bytes(_text(held)),
    "csv.gz": lambda held, path: path.write_bytes(gzip.compress(_text(held), 1)),
    "csv.zst": lambda held, path: path.write_bytes(zstandard.compress(_text(held))),
    "jsonl": _json,
    "parquet": lambda held, path: pq.write_table(held, path, row_group_size=1 << 18),
    "arrow": _arrow,
    "npz": lambda held, path: np.savez(path, **{name: held.column(name).to_numpy() for name in held.column_names}),
}


def peak(path: Path) -> int:
    """The most memory, in MiB, of a process that assesses a file."""
    done = subprocess.run([sys.executable, "-c", _PROGRAM, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout)


def measure() -> list[str]:
    """The table, in Markdown."""
    lines = ["| format | " + " | ".join(f"{rows / 1e6:g} million rows" for rows in ROWS) + " |"]
    lines.append("|---|" + "---|" * len(ROWS))
    with tempfile.TemporaryDirectory() as folder:
        least = Path(folder, "least.csv")
        least.write_bytes(_text(_table(2)))
        base = peak(least)
        for suffix, write in WRITE.items():
            cells = []
            for rows in ROWS:
                path = Path(folder, f"rows.{suffix}")
                write(_table(rows), path)
                cells.append(f"{max(0, peak(path) - base):,} ({path.stat().st_size >> 20:,})")
                path.unlink()
            lines.append(f"| {suffix} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure, and write the page."""
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(measure()) + f"\n{END}{after}")


if __name__ == "__main__":
    main()

"""``surefoot serve`` under load and under kills: ``python -m benchmarks.service JOB ...`` writes SERVICE.md.

Jobs: ``load``, ``load-postgres``, ``kills``, ``kills-postgres``, ``pending``, ``alarms``. Each writes its own part and
leaves the others. ``--seconds``, ``--kills``, ``--rows`` and ``--streams`` make them smaller.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import service_kills, service_load, service_streams
from benchmarks.evidence_report import table
from tests.postgres_server import running
from tests.service.serving import Server

PAGE = Path(__file__).with_name("SERVICE.md")
INTRODUCTION = """# The service

Each part is written by `python -m benchmarks.service JOB`; the figures are as measured, on a machine that other work
shared (its load average stands beside them).
"""
#: The parts in the order of the page, by job.
TITLES = {
    "load": "## Load: SQLite",
    "load-postgres": "## Load: PostgreSQL",
    "kills": "## Kills: SQLite",
    "kills-postgres": "## Kills: PostgreSQL",
    "pending": "## Memory with many pending labels",
    "alarms": "## False alarms and the delay of drift",
}


@contextmanager
def store(postgres: bool) -> Iterator[tuple[str, Any]]:
    """Where a new store is, and its database server if it has one; everything is synced to disk."""
    if postgres:
        with running(syncs=True) as database:
            yield database.address, database
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "store.db"), None


def load(args: argparse.Namespace, *, postgres: bool = False) -> str:
    rows = []
    for models in args.models:
        with store(postgres) as (where, _):
            server = Server(where)
            server.start()
            try:
                measured = service_load.run(server, rate=args.rate, seconds=args.seconds, models=models)
            finally:
                server.stop()
        rows.append(service_load.describe(f"{models}", measured))
        print(rows[-1], measured.differences[:3], measured.errors[:3], flush=True)
    columns = [
        "models", "seconds", "from when it was due, p50 / p99 / max ms", "from when it was sent, p50 / p99 ms",
        "processors used", "peak memory", "state and tally against the batch", "errors", "load average",
    ]  # fmt: skip
    return f"""{args.rate:,.0f} predictions and {args.rate:,.0f} labels a second for {args.seconds:.0f} seconds, in requests of {service_load.BATCH} rows over HTTP, each answered after its rows were synced to disk. Eight connections send predictions and eight send labels; labels come {service_load.DELAY[0]:g} to {service_load.DELAY[1]:g} seconds after their predictions, in random order. "Equal": all counts are equal, and `log_e`, expected errors and the total of every term of the tally are those of one batch of the same rows, in the order in which the store took them, to 1e-12.

{table(columns, rows)}
"""


def kills(args: argparse.Namespace, *, postgres: bool = False) -> str:
    number = args.kills or (50 if postgres else 200)
    with store(postgres) as (where, database):
        found = service_kills.run(where, number, seed=1, database=database)
    return service_kills.text(found, postgres)


def pending(args: argparse.Namespace) -> str:
    return service_streams.pending(args.rows)


def alarms(args: argparse.Namespace) -> str:
    return service_streams.alarms(args.streams)


def write(job: str, text: str) -> None:
    """Put a part in its place."""
    held = PAGE.read_text() if PAGE.exists() else ""
    parts = dict(_parts(held))
    stamp = f"Measured on {date.today().isoformat()}: {os.cpu_count()} processors, Python {platform.python_version()}."
    parts[TITLES[job]] = f"{stamp}\n\n{text.strip()}\n"
    ordered = [f"{title}\n\n{parts[title]}" for title in TITLES.values() if title in parts]
    PAGE.write_text("\n".join([INTRODUCTION, *ordered]))


def _parts(page: str) -> Iterator[tuple[str, str]]:
    for part in page.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        yield f"## {title}", body.strip() + "\n"


def main() -> None:
    jobs: dict[str, Callable[[argparse.Namespace], str]] = {
        "load": load,
        "load-postgres": lambda args: load(args, postgres=True),
        "kills": kills,
        "kills-postgres": lambda args: kills(args, postgres=True),
        "pending": pending,
        "alarms": alarms,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", default=list(jobs), choices=list(jobs))
    parser.add_argument("--rate", type=float, default=5_000, help="predictions a second, and labels")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--models", type=int, nargs="+", default=[1, 8], help="models that share the load")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--streams", type=int, default=2_000)
    args = parser.parse_args()
    for job in args.jobs:
        print(f"{job} ...", flush=True)
        write(job, jobs[job](args))


if __name__ == "__main__":
    main()

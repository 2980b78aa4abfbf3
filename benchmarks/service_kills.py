"""Servers that are killed at random moments under load: whether anything is lost, and how long a restart takes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.service_load import processor_seconds
from tests.service.killing import check, kill_again_and_again
from tests.service.serving import Server


@dataclass
class Found:
    """What a series of kills came to; that nothing was lost has been checked when there is one."""

    kills: int
    rows: int
    acknowledged: dict[str, int]
    starts: np.ndarray
    #: Of a start at the end, without load.
    processor: float
    load_average: float


def run(where: str, kills: int, *, seed: int, database: Any) -> Found:
    """Kill so often: the server, or with a database server that one, or both, in turn."""
    server = Server(where, "--label-window", "100000000")
    rng = np.random.default_rng(seed)
    # one in twenty servers lives long enough to add to tallies and to save their monitors
    waits = np.where(rng.random(kills) < 0.05, rng.uniform(10, 35, kills), rng.uniform(0.05, 2.0, kills))

    def kill(number: int) -> None:
        print(f"kill {number + 1}", end="\r", flush=True)
        if database is None or number % 3 != 1:
            server.kill()
        if database is not None and number % 3 != 0:
            database.stop()
            server.kill()
            database.start()

    sent, starts = kill_again_and_again(server, waits.tolist(), kill, rows=5_000_000, seed=seed, senders=4, pause=0.05)
    found = check(server, sent)
    server.start()
    processor = processor_seconds(server)
    server.stop()
    acknowledged = {what: found[what] for what in ("predictions", "labels")}
    return Found(kills, found["rows"], acknowledged, np.array(starts), processor, os.getloadavg()[0])


def text(found: Found, postgres: bool) -> str:
    """The part of the page."""
    what = "the server, the database (stopped as by a crash), or both, in turn" if postgres else "the server (kill -9)"
    starts = found.starts
    return f"""{found.kills} kills of {what}, at random moments, one in twenty after 10 to 35 seconds and the others within 2, while four connections sent predictions and then their labels. Then every acknowledged request was sent again, and none of its rows was new; what was not acknowledged was sent again, and each request counted whole or was there already. In the end {found.rows:,} rows (of which {found.acknowledged["predictions"]:,} predictions and {found.acknowledged["labels"]:,} labels had been acknowledged before their server died) were each counted once: counts are equal, and `log_e`, expected errors and every total of the tally are those of one batch to 1e-12.

From the start of the process until `/readyz` answered: {np.median(starts):.2f} s in the median, {np.percentile(starts, 95):.2f} s in 95%, {starts.max():.2f} s at most (load average at the end {found.load_average:.1f}); {found.processor:.2f} s of processor time.
"""

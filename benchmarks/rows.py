"""A line of the table, and how it is timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Row:
    job: str
    ours: float
    against: str
    theirs: float
    wanted: str
    ratio: str


def best(work: Callable[[], object], repeats: int = 7, clock: Callable[[], float] = time.perf_counter) -> float:
    """The least of some timings, in seconds: noise only adds. ``time.process_time`` counts all processors' work."""
    work()
    times = []
    for _ in range(repeats):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)

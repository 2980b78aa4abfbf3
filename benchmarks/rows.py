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


def best(work: Callable[[], object], repeats: int = 7) -> float:
    """The least of some timings, in seconds: noise only adds."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)

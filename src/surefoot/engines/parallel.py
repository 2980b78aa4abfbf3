"""A thread pool of our own, for work that holds no lock of Python's.

Numba's own thread layers are not used: one of them kills a forked child, another aborts the process when two Python
threads call at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")

_NAME = "surefoot"
_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
#: Whether a thread is making the pool; and whether this process never may, for it was forked from one that was.
_busy = False
_off = False


def workers() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(jobs: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run the jobs side by side and return their results in order; the first error is raised."""
    # a job that starts jobs runs them itself: waiting for a free thread from within one could wait forever
    if _off or len(jobs) == 1 or workers() == 1 or threading.current_thread().name.startswith(_NAME):
        return [job() for job in jobs]
    try:
        futures = [_threads().submit(job) for job in jobs]
    except RuntimeError:  # the interpreter is shutting down, and starts no more threads
        return [job() for job in jobs]
    return [future.result() for future in futures]


def _threads() -> ThreadPoolExecutor:
    global _busy, _pool
    with _lock:
        if _pool is None:
            _busy = True
            try:
                from concurrent.futures import ThreadPoolExecutor

                _pool = ThreadPoolExecutor(workers(), thread_name_prefix=_NAME)
            finally:
                _busy = False
        return _pool


def _after_fork() -> None:
    """A forked child has none of its parent's threads; forked while the pool was being made, it does without one."""
    global _lock, _pool, _off
    _lock, _pool, _off = threading.Lock(), None, _off or _busy


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

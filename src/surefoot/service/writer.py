"""One thread that writes: what waits is added in one transaction, and answered when it is on disk."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from surefoot.service.refused import Refused
from surefoot.service.store import Job, Receipt, Store

log = logging.getLogger("surefoot.service")

#: Requests and rows that wait at most, and that are added in one transaction.
_WAITING, _WAITING_ROWS, _TOGETHER, _TOGETHER_ROWS = 1_000, 500_000, 50, 20_000


class Writer:
    """Adds requests in the order in which they come; those that wait share a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: queue.Queue[tuple[str, str, Job, Future[Receipt]] | None] = queue.Queue(_WAITING)
        self._rows, self._lock = 0, threading.Lock()
        self._thread = threading.Thread(target=self._run, name="surefoot-writer", daemon=True)
        self._thread.start()

    def submit(self, model: str, version: str, job: Job) -> Future[Receipt]:
        """Add a request; the result is there once it is on disk."""
        future: Future[Receipt] = Future()
        # whoever sent it may go away, and it is stored all the same
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._rows and self._rows + len(job) > _WAITING_ROWS:
                raise _too_many()
            try:
                self._queue.put_nowait((model, version, job, future))
            except queue.Full:
                raise _too_many() from None
            self._rows += len(job)
        return future

    def close(self) -> None:
        """Write what waits, and stop."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            waiting = [self._queue.get()]
            while len(waiting) < _TOGETHER and _rows_of(waiting) < _TOGETHER_ROWS:
                try:
                    waiting.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            is_open = None not in waiting
            by_stream: dict[tuple[str, str], list[tuple[Job, Future[Receipt]]]] = {}
            for one in waiting:
                if one is not None:
                    model, version, job, future = one
                    by_stream.setdefault((model, version), []).append((job, future))
            if by_stream:
                self._add(by_stream)
            with self._lock:
                self._rows -= _rows_of(waiting)

    def _add(self, by_stream: dict[tuple[str, str], list[tuple[Job, Future[Receipt]]]]) -> None:
        results: list[Receipt | Refused] = []
        # every writer takes streams by their names: those of several servers wait for each other, and never in a circle
        names = sorted(by_stream)
        try:
            with self._store.database.writing() as cursor:
                for name in names:
                    jobs = [job for job, _ in by_stream[name]]
                    try:
                        results += self._store.add_within(cursor, *name, jobs)
                    except Refused as refused:
                        results += [refused] * len(jobs)
        except Exception as error:
            # whatever it was, nothing of these requests was stored, and this thread goes on for those behind them
            if not isinstance(error, Refused):
                log.exception("rows could not be stored")
            why = error.message if isinstance(error, Refused) else f"nothing was stored: {type(error).__name__}"
            results = [Refused(503, why)] * sum(map(len, by_stream.values()))
        futures = [future for name in names for _, future in by_stream[name]]
        for future, result in zip(futures, results, strict=True):
            if isinstance(result, Refused):
                future.set_exception(result)
            else:
                future.set_result(result)


def _rows_of(waiting: Sequence[Any]) -> int:
    return sum(len(one[2]) for one in waiting if one is not None)


def _too_many() -> Refused:
    return Refused(503, "too many requests wait to be stored; try again in a second")

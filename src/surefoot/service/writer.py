"""One thread that writes: what waits is added in one transaction, and answered when it is on disk."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future

from surefoot.service.refused import Refused
from surefoot.service.store import Job, Receipt, Store

#: Requests that wait at most, and that are added in one transaction.
_WAITING, _TOGETHER = 1_000, 50


class Writer:
    """Adds requests in the order in which they come; those that wait share a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: queue.Queue[tuple[str, str, Job, Future[Receipt]] | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._run, name="surefoot-writer", daemon=True)
        self._thread.start()

    def submit(self, model: str, version: str, job: Job) -> Future[Receipt]:
        """Add a request; the result is there once it is on disk."""
        future: Future[Receipt] = Future()
        try:
            self._queue.put_nowait((model, version, job, future))
        except queue.Full:
            raise Refused(503, "too many requests wait to be stored; try again in a second") from None
        return future

    def close(self) -> None:
        """Write what waits, and stop."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            waiting = [self._queue.get()]
            while len(waiting) < _TOGETHER:
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
            # a full disk, a database that is gone: nothing of these requests was stored, and who sent them is told so
            reason = " ".join(str(error).split()) or type(error).__name__
            results = [Refused(503, f"nothing was stored: {reason}; try again")] * sum(map(len, by_stream.values()))
        futures = [future for name in names for _, future in by_stream[name]]
        for future, result in zip(futures, results, strict=True):
            if isinstance(result, Refused):
                future.set_exception(result)
            else:
                future.set_result(result)

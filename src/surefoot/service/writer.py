"""One thread that writes: what waits is added in one transaction, and answered when it is on disk."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from surefoot.service.batches import Label, Prediction
from surefoot.service.refused import Refused
from surefoot.service.store import Receipt, Store

Job = Sequence[Prediction] | Sequence[Label]
#: Requests that wait at most, and that are added in one transaction.
_WAITING, _TOGETHER = 1_000, 50


class Writer:
    """Adds requests in the order in which they come; those of one stream share a transaction."""

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
            by_stream: dict[tuple[str, str], list[Any]] = {}
            for one in waiting:
                if one is not None:
                    by_stream.setdefault(one[:2], []).append(one)
            for (model, version), own in by_stream.items():
                self._add(model, version, [(job, future) for *_, job, future in own])

    def _add(self, model: str, version: str, own: list[tuple[Job, Future[Receipt]]]) -> None:
        try:
            results = self._store.add(model, version, [job for job, _ in own])
        except Refused as refused:
            results = [refused] * len(own)
        except Exception as error:
            # a full disk, a database that is gone: nothing of these requests was stored, and who sent them is told so
            reason = " ".join(str(error).split()) or type(error).__name__
            results = [Refused(503, f"nothing was stored: {reason}; try again")] * len(own)
        for (_, future), result in zip(own, results, strict=True):
            if isinstance(result, Refused):
                future.set_exception(result)
            else:
                future.set_result(result)

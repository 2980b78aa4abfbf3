"""Rows that are sent while servers are killed, and what must be true of them afterwards."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.service.database import connect
from tests.service.serving import Server, sample

BATCH = 20
PATH = "/v1/models/fraud/3"


@dataclass
class Sent:
    """Batches by number, each of predictions and then their labels, and which requests were acknowledged."""

    confidence: Any
    correct: Any
    next: int = 0
    acknowledged: dict[str, set[int]] = field(default_factory=lambda: {"predictions": set(), "labels": set()})
    refused: list[str] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    @classmethod
    def make(cls, rows: int, seed: int) -> Sent:
        return cls(*sample(rows, seed))

    def body(self, what: str, batch: int) -> list[dict[str, Any]]:
        rows = range(batch * BATCH, (batch + 1) * BATCH)
        if what == "predictions":
            return [{"id": f"row {i}", "confidence": float(self.confidence[i])} for i in rows]
        return [{"id": f"row {i}", "correct": bool(self.correct[i])} for i in rows]

    def take(self) -> int:
        """The number of a batch that nobody has sent."""
        with self.lock:
            self.next += 1
            assert self.next * BATCH <= len(self.correct), "more rows are needed"
            return self.next - 1

    def send(self, server: Server, until: threading.Event, pause: float) -> None:
        """Send batch after batch until told to stop; what fails is left to the end."""
        while not until.is_set():
            batch = self.take()
            for what in self.acknowledged:
                status, answer = server.ask(f"{PATH}/{what}", self.body(what, batch))
                if status == 200:
                    self.acknowledged[what].add(batch)
                elif status not in (0, 503):
                    self.refused.append(f"{status}: {answer}")
                if status != 200:
                    break
            # of what fails there is soon enough to send again
            until.wait(pause if status == 200 else 10 * pause)


def kill_again_and_again(
    server: Server, waits: list[float], kill: Callable[[int], None], *, rows: int, seed: int, senders: int, pause: float
) -> tuple[Sent, list[float]]:
    """Start a server and kill it after so many seconds, while rows are sent; and how long each start took."""
    sent, took = Sent.make(rows, seed), []
    for number, wait in enumerate(waits):
        took.append(server.start())
        stop = threading.Event()
        threads = [threading.Thread(target=sent.send, args=(server, stop, pause)) for _ in range(senders)]
        for thread in threads:
            thread.start()
        time.sleep(wait)
        kill(number)
        stop.set()
        for thread in threads:
            thread.join()
    took.append(server.start())
    return sent, took


def check(server: Server, sent: Sent) -> dict[str, int]:
    """Every acknowledged row is there once, and all rows are once all have been sent; the result is the batch's."""
    assert not sent.refused, sent.refused[:3]
    # what was acknowledged is there: sent again, none of it is new
    for what, batches in sent.acknowledged.items():
        for some in batched(sorted(batches), 50):
            body = [row for batch in some for row in sent.body(what, batch)]
            status, answer = server.ask(f"{PATH}/{what}", body)
            assert (status, answer) == (200, {"counted": 0, "repeated": len(body)}), (what, some, status, answer)
    # what was not may be there or not; sent again, it is there once
    for what, batches in sent.acknowledged.items():
        for batch in set(range(sent.next)) - batches:
            status, answer = server.ask(f"{PATH}/{what}", sent.body(what, batch))
            assert status == 200, answer
            assert answer["counted"] in (0, BATCH), "half of a request was kept"
    rows = sent.next * BATCH
    status, state = server.ask(f"{PATH}/state")
    assert status == 200
    assert (state["predictions"], state["labelled"], state["labels_without_prediction"]) == (rows, rows, 0)
    assert (state["monitor"]["rows"], state["monitor"]["pending"]) == (rows, 0)
    assert state["monitor"]["observed_errors"] == int((~sent.correct[:rows]).sum())
    _, tally = server.ask(f"{PATH}/tally")
    server.stop()
    # the order of issue is that of the store: senders wait for nobody
    database = connect(server.store)
    with database.reading() as cursor:
        found = cursor.all("SELECT id, place FROM prediction ORDER BY place")
    database.close()
    order = np.array([int(name.removeprefix("row ")) for name, _ in found])
    assert [place for _, place in found] == list(range(rows))
    assert np.array_equal(np.sort(order), np.arange(rows))
    batch = sf.Monitor()
    batch.update(sent.correct[order], sent.confidence[order])
    assert np.isclose(state["monitor"]["log_e"], batch.log_e, rtol=1e-12, atol=1e-12)
    assert np.isclose(state["monitor"]["expected_errors"], batch.stated, rtol=1e-12)
    whole = sf.tally(sf.Predictions.from_correct(sent.correct[:rows], sent.confidence[:rows]))
    assert different_totals(tally, whole) == []
    return {"rows": rows, **{what: len(batches) * BATCH for what, batches in sent.acknowledged.items()}}


def batched(values: list[int], size: int) -> list[list[int]]:
    return [values[start : start + size] for start in range(0, len(values), size)]


def different_totals(found: Any, other: sf.Tally) -> list[str]:
    """Terms whose totals differ by more than 1e-12 of what they add up."""
    one = found if isinstance(found, sf.Tally) else sf.Tally.from_text(json.dumps(found))
    lines = []
    for key, table in other.tables.items():
        mine = one.tables[key]
        if not np.array_equal(mine.codes, table.codes):
            lines.append(f"{key}: {len(mine.codes)} and {len(table.codes)} cells")
            continue
        for term, sums in table.totals.items():
            apart = np.abs(mine.totals[term].value - sums.value).sum()
            if not apart <= 1e-12 * np.abs(sums.value).sum():
                lines.append(f"{key}, {term}: apart by {apart:.3g} of {np.abs(sums.value).sum():.6g}")
    return lines

"""A steady load on ``surefoot serve``: how long answers take, and whether the result is that of the batch."""

from __future__ import annotations

import http.client
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import surefoot as sf
from surefoot.service.database import connect
from surefoot.service.store import Store
from tests.service.killing import different_totals
from tests.service.serving import Server

BATCH = 100
#: Connections for predictions, and as many for labels.
CONNECTIONS = 8
#: A label comes this many seconds after its prediction, drawn anew for each row.
DELAY = (0.5, 2.5)


@dataclass
class Measured:
    """What one load came to."""

    seconds: float
    late: dict[str, np.ndarray]
    answered: dict[str, np.ndarray]
    processor: float
    peak_mib: float
    errors: list[str]
    differences: list[str]
    load_average: float


@dataclass
class Stream:
    """One model: its rows, and when each of its requests is due."""

    name: str
    confidence: np.ndarray
    correct: np.ndarray
    #: Rows in the order in which their labels are sent, and the last prediction that each request needs.
    order: np.ndarray
    label_due: np.ndarray
    #: Batches of predictions that the server has.
    acknowledged: set[int] = field(default_factory=set)
    condition: threading.Condition = field(default_factory=threading.Condition)

    @classmethod
    def make(cls, name: str, rows: int, rate: float, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        confidence = rng.uniform(0.5, 0.999, rows)
        correct = rng.random(rows) < confidence
        due = np.arange(rows) / rate + rng.uniform(*DELAY, rows)
        order = np.argsort(due)
        return cls(name, confidence, correct, order, due[order][BATCH - 1 :: BATCH])

    def wait_for(self, numbers: list[int], errors: list[str]) -> None:
        """Until the predictions of these rows have been acknowledged, so that no label is the first to come."""
        needed = {number // BATCH for number in numbers}
        with self.condition:
            self.condition.wait_for(lambda: needed <= self.acknowledged or bool(errors))


def run(server: Server, *, rate: float, seconds: float, models: int) -> Measured:
    """So many predictions and as many labels a second, in requests of a hundred rows, each on eight connections."""
    connections = CONNECTIONS // models
    each = rate / models
    rows = int(each * seconds) // BATCH * BATCH
    streams = [Stream.make(f"model-{i}", rows, each, i) for i in range(models)]
    late: dict[str, list[float]] = {"predictions": [], "labels": []}
    answered: dict[str, list[float]] = {"predictions": [], "labels": []}
    errors: list[str] = []
    began = time.monotonic() + 0.5
    before = processor_seconds(server)

    def send(stream: Stream, what: str, first: int) -> None:
        with connection(server) as ask:
            for i in range(first, rows // BATCH, connections):
                some = slice(i * BATCH, (i + 1) * BATCH)
                if what == "predictions":
                    due = began + i * BATCH / each
                    numbers = range(some.start, some.stop)
                    body = {what: [{"id": f"row {n}", "confidence": float(stream.confidence[n])} for n in numbers]}
                else:
                    due = began + float(stream.label_due[i])
                    numbers = stream.order[some].tolist()
                    body = {what: [{"id": f"row {n}", "correct": bool(stream.correct[n])} for n in numbers]}
                    stream.wait_for(numbers, errors)
                text = json.dumps(body).encode()
                time.sleep(max(0.0, due - time.monotonic()))
                sent = time.monotonic()
                status, answer = ask(f"/v1/models/{stream.name}/1/{what}", text)
                now = time.monotonic()
                if status != 200:
                    errors.append(f"{status} {answer[:200]!r}")
                late[what].append(now - due)
                answered[what].append(now - sent)
                if what == "predictions":
                    with stream.condition:
                        stream.acknowledged.add(i)
                        stream.condition.notify_all()

    threads = [
        threading.Thread(target=send, args=(one, what, first))
        for one in streams
        for what in late
        for first in range(connections)
    ]
    averages = []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        averages.append(os.getloadavg()[0])
        time.sleep(1.0)
    took = time.monotonic() - began
    used = processor_seconds(server) - before
    differences = [line for one in streams for line in compare(server, one)]
    return Measured(
        took,
        {what: np.array(times) for what, times in late.items()},
        {what: np.array(times) for what, times in answered.items()},
        used,
        peak_mib(server),
        errors,
        differences,
        float(np.mean(averages)),
    )


@contextmanager
def connection(server: Server) -> Iterator[Callable[[str, bytes], tuple[int, bytes]]]:
    """One connection that stays open."""
    address = urlsplit(server.url)
    assert address.hostname is not None
    held = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

    def ask(path: str, body: bytes) -> tuple[int, bytes]:
        held.request("POST", path, body, headers)
        answer = held.getresponse()
        return answer.status, answer.read()

    yield ask
    held.close()


def compare(server: Server, stream: Stream) -> list[str]:
    """Where the service differs from the batch of the same rows in the order of issue."""
    rows = len(stream.correct)
    order = order_of_issue(server, stream)
    batch = sf.Monitor()
    batch.update(stream.correct[order], stream.confidence[order])
    _, state = server.ask(f"/v1/models/{stream.name}/1/state")
    found = state["monitor"]
    exact = {
        "predictions": (state["predictions"], rows),
        "labelled": (state["labelled"], rows),
        "counted without a bet": (state["counted_without_bet"], 0),
        "rows": (found["rows"], rows),
        "observed errors": (found["observed_errors"], int((~stream.correct).sum())),
        "pending": (found["pending"], 0),
    }
    lines = [f"{name}: {one} and {other}" for name, (one, other) in exact.items() if one != other]
    close = {"log_e": (found["log_e"], batch.log_e), "expected errors": (found["expected_errors"], batch.stated)}
    lines += [
        f"{name}: {one!r} and {other!r}"
        for name, (one, other) in close.items()
        if abs(one - other) > 1e-12 * max(1.0, abs(other))
    ]
    _, text = server.ask(f"/v1/models/{stream.name}/1/tally")
    whole = sf.tally(sf.Predictions.from_correct(stream.correct, stream.confidence))
    return [f"{stream.name}: {line}" for line in [*lines, *different_totals(text, whole)]]


def order_of_issue(server: Server, stream: Stream) -> np.ndarray:
    """Rows in the order in which the store took them; of several connections no other knows it."""
    database = connect(server.store)
    found = Store(database).find(stream.name, "1")
    with database.reading() as cursor:
        rows = cursor.all("SELECT id FROM prediction WHERE stream = ? ORDER BY place", found.key)
    database.close()
    return np.array([int(name.removeprefix("row ")) for (name,) in rows])


def processor_seconds(server: Server) -> float:
    """Seconds of processor time that the server has used."""
    assert server.process is not None
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib(server: Server) -> float:
    """The most memory that the server has held."""
    assert server.process is not None
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def describe(name: str, m: Measured) -> list[Any]:
    """A line of the table."""
    late = np.concatenate([m.late["predictions"], m.late["labels"]]) * 1e3
    own = np.concatenate([m.answered["predictions"], m.answered["labels"]]) * 1e3
    return [
        name,
        f"{m.seconds:.0f}",
        f"{np.percentile(late, 50):.0f} / {np.percentile(late, 99):.0f} / {late.max():.0f}",
        f"{np.percentile(own, 50):.0f} / {np.percentile(own, 99):.0f}",
        f"{m.processor / m.seconds:.2f}",
        f"{m.peak_mib:.0f} MiB",
        "equal" if not m.differences else f"{len(m.differences)} differ",
        f"{len(m.errors)}",
        f"{m.load_average:.1f}",
    ]

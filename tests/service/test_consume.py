"""A consumer that is killed and started again counts each row once: in a log of this process, and with Kafka."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot.service import batches, totals
from surefoot.service.batches import Label, Prediction
from surefoot.service.consuming import Intake, Message, Received
from surefoot.service.database import connect
from surefoot.service.following import Follower
from surefoot.service.kafka import properties
from surefoot.service.refused import Refused
from surefoot.service.store import Store
from tests.service.killing import different_totals
from tests.service.serving import database_of, sample

ROWS, BATCH = 2_000, 20


def messages_of(confidence: Any, correct: Any) -> list[bytes]:
    """Predictions as JSON and as Arrow in turn, the labels of each batch two messages later."""
    bodies = []
    for start in range(0, len(correct), BATCH):
        rows = [{"id": f"row {i}", "confidence": float(confidence[i])} for i in range(start, start + BATCH)]
        labels = [{"id": f"row {i}", "correct": bool(correct[i])} for i in range(start, start + BATCH)]
        bodies += [arrow(rows) if start // BATCH % 2 else json.dumps(rows).encode(), json.dumps(labels).encode()]
    return bodies


def arrow(rows: list[dict[str, Any]]) -> bytes:
    sink, table = pa.BufferOutputStream(), pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def in_log(bodies: list[bytes], topic: str = "rows", part: int = 0) -> list[Message]:
    return [Message(topic, part, i, body, "fraud", "3") for i, body in enumerate(bodies)]


def check(path: str, confidence: Any, correct: Any, order: Any = None) -> None:
    """The store holds these rows once, and comes to what one batch of them does."""
    store = Store(connect(path))
    stream = store.find("fraud", "3")
    counts = stream.counts
    assert (counts.places, counts.labelled, counts.tally_only, counts.early) == (len(correct), len(correct), 0, 0)
    with store.database.reading() as cursor:
        found = cursor.all("SELECT id FROM prediction ORDER BY place")
    order = np.array([int(name.removeprefix("row ")) for (name,) in found])
    assert np.array_equal(np.sort(order), np.arange(len(correct)))
    monitor, batch = Follower(store, stream, label_window=100_000).follow(), sf.Monitor()
    batch.update(correct[order], confidence[order])
    assert (monitor.rows, monitor.errors, monitor.pending) == (len(correct), int((~correct).sum()), 0)
    assert monitor.log_e == pytest.approx(batch.log_e, rel=1e-12, abs=1e-12)
    total = totals.total(store.database, stream)
    assert different_totals(total, sf.tally(sf.Predictions.from_correct(correct, confidence))) == []
    store.database.close()


def test_a_consumer_that_dies_anywhere_counts_each_message_once(tmp_path: Path) -> None:
    """In a log of this process: killed before a transaction, within it, and after it before the log is told."""
    confidence, correct = sample(ROWS)
    log = in_log(messages_of(confidence, correct))
    path, rng, deaths = database_of(tmp_path), np.random.default_rng(3), 0
    position = 0
    while position < len(log):
        database = connect(path)
        intake = Intake(database, "group")
        # at each start it reads from where the store says, or from a position that is out of date
        position = intake.next_of("rows", 0) or 0
        behind = max(0, position - int(rng.integers(0, 5)))
        some = log[behind : position + int(rng.integers(1, 40))]
        if rng.random() < 0.3:
            deaths += 1
            store, real = intake._store, intake._store.add_within
            store.add_within = lambda *args, real=real: real(*args) and 1 / 0
            with pytest.raises(ZeroDivisionError):
                intake.add(some)
            assert intake.next_of("rows", 0) == (position or None)
        else:
            received = intake.add(some)
            assert received.messages == len(some) - (position - behind)
            assert received.repeated == 0
            position = some[-1].offset + 1
        database.close()
    assert deaths > 2
    check(path, confidence, correct)


def test_two_consumers_of_one_partition_take_each_message_once(tmp_path: Path) -> None:
    """As when a group hands a partition over, and the one that had it does not know yet."""
    confidence, correct = sample(ROWS)
    log = in_log(messages_of(confidence, correct))
    path = database_of(tmp_path)
    one, other = (Intake(connect(path), "group") for _ in range(2))
    one.add(log[:120])
    assert other.add(log[80:160]).messages == 40
    assert one.add(log[120:150]).messages == 0
    assert other.add(log[160:]).messages == len(log) - 160
    check(path, confidence, correct)


def test_what_cannot_be_counted_is_named_and_what_is_behind_it_counts(tmp_path: Path, caplog) -> None:
    database = connect(database_of(tmp_path))
    bodies = [
        b"{",
        b'[{"id": "a", "confidence": 0.9}]',
        b'[{"id": "a", "confidence": 0.1}]',
        b'[{"id": "a", "correct": true}]',
        b'{"rows": []}',
        b"",
    ]
    found = Intake(database, "g").add(in_log(bodies))
    assert (found.messages, found.counted, found.refused) == (6, 2, 4)
    assert "rows, partition 0, offset 2: not counted: id 'a' was sent with confidence 0.9 before" in caplog.text
    named = Message("rows", 0, 6, b'{"id": "b", "confidence": 0.5}', "no name!", "1")
    assert Intake(database, "g").add([named]).refused == 1
    with database.reading() as cursor:
        assert cursor.all("SELECT next, refused FROM consumed") == [(7, 5)]
    assert Intake(database, "g").next_of("rows", 1) is None
    assert Intake(database, "other").next_of("rows", 0) is None


def test_a_message_says_what_its_rows_are() -> None:
    prediction, label = Prediction("a", 0.75, 0.25), Label("a", correct=True)
    rows = {"predictions": {"id": "a", "doubt": 0.25}, "labels": [{"id": "a", "correct": True}]}
    # a label beside its prediction was known when that was sent: nothing is bet on it
    assert batches.message(json.dumps(rows).encode()) == [[label], [prediction]]
    assert batches.message(b'{"id": "a", "confidence": 0.75}') == [[prediction]]
    assert batches.message(arrow([{"id": "a", "correct": True}])) == [[label]]
    assert batches.message(b"[]") == []
    with pytest.raises(Refused, match="there are predictions and labels"):
        batches.message(b'{"predictions": [], "label": []}')


def test_settings_are_read_as_by_the_tools_of_kafka(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text("# for the broker\nsecurity.protocol = SASL_SSL\n\nsasl.password=a=b\n")
    assert properties(path) == {"security.protocol": "SASL_SSL", "sasl.password": "a=b"}
    path.write_text("nothing\n")
    with pytest.raises(ValueError, match="line 1 is 'nothing'"):
        properties(path)


@pytest.mark.heavy
def test_a_killed_consumer_of_kafka_counts_each_row_once(tmp_path: Path) -> None:
    """Kafka's protocol over sockets, with the brokers that librdkafka simulates."""
    kafka = pytest.importorskip("confluent_kafka")
    producer = kafka.Producer({"test.mock.num.brokers": 2, "logger": silent()})
    brokers = ",".join(f"{one.host}:{one.port}" for one in producer.list_topics(timeout=10).brokers.values())
    confidence, correct = sample(10_000)
    bodies = messages_of(confidence, correct)

    def produce(start: int, stop: int, pause: float) -> None:
        for i in range(start, stop):
            # a batch and its labels lie in one partition, so that they are read in this order
            producer.produce("rows", bodies[i], partition=i // 2 % 3, headers={"model": "fraud", "version": "3"})
            producer.poll(0)
            time.sleep(pause)
        assert producer.flush(30) == 0

    half = len(bodies) // 2
    produce(0, half, 0.0)
    path = database_of(tmp_path)
    settings = tmp_path / "client.properties"
    # a dead member of the group is missed soon; no sooner than the brokers wait for the members of a new group
    settings.write_text("session.timeout.ms=4000\nheartbeat.interval.ms=500\n")
    command = [sys.executable, "-m", "surefoot", "consume", "rows", "--brokers", brokers, "--store", path]
    command += ["--config", str(settings)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        late = threading.Thread(target=produce, args=(half, len(bodies), 0.002))
        until = time.monotonic() + 60
        while not stored_in(path):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        late.start()
        while stored_in(path) <= half:
            assert time.monotonic() < until
            time.sleep(0.05)
        # in the middle of reading what comes now
        os.kill(process.pid, signal.SIGKILL)
    late.join()
    producer.produce("rows", b"not JSON", partition=0)
    assert producer.flush(30) == 0
    before = stored_in(path)
    assert half < before < len(bodies)
    done = subprocess.run([*command, "--stop-at-end"], capture_output=True, text=True, timeout=120, check=True)
    left = len(bodies) + 1 - before
    assert f"Read {left:,} messages: {(left - 1) * BATCH:,} rows counted, 0 that came again, 1 messages" in done.stdout
    assert "offset 334: not counted: the message is not JSON" in done.stderr
    check(path, confidence, correct)


def stored_in(path: str) -> int:
    """How many messages a store has counted."""
    if not os.path.exists(path):
        return 0
    database = connect(path)
    with database.reading() as cursor:
        found = cursor.one("SELECT coalesce(sum(next), 0) FROM consumed")
    database.close()
    return int(found[0]) if found else 0


def silent() -> Any:
    import logging

    logger = logging.getLogger("librdkafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


def test_it_keeps_what_the_server_on_its_store_is_told_to_keep(tmp_path: Path, monkeypatch) -> None:
    """It does the chores of the store, too: with numbers of its own it would drop ids that the server keeps."""
    from surefoot.cli import run
    from surefoot.service import kafka, service

    held: dict[str, Any] = {}

    class Noted(service.Service):
        def __init__(self, database: Any, **options: Any) -> None:
            held.update(options)
            super().__init__(database, **options)

    monkeypatch.setattr(service, "Service", Noted)
    monkeypatch.setattr(kafka, "consume", lambda *args, **options: Received())
    numbers = ["--label-window", "7", "--keep-ids", "500", "--keep-hours", "9"]
    command = ["consume", "rows", "--store", str(tmp_path / "s.db"), *numbers]
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert run([*command, "--mean-time-between-false-alarms", "1e6"]) == 0
    assert held == {"label_window": 7, "keep_ids": 500, "keep_hours": 9, "mean_time": 1e6}

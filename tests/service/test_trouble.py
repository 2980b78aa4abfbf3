"""What goes wrong under a server: a full disk, a database that is away, clocks that are moved, several writers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.service import database as databases
from surefoot.service import store as storing
from surefoot.service import totals
from surefoot.service.database import connect
from surefoot.service.following import Follower
from surefoot.service.store import Store
from tests.postgres_server import running
from tests.service.killing import different_totals
from tests.service.serving import Server, database_of, sample
from tests.service.test_store import labels, predictions

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from tests.service.sockets import LocalServer

PATH = "/v1/models/fraud/3"


def test_a_full_disk_refuses_rows_loses_none_and_goes_on_when_there_is_room(tmp_path: Path, monkeypatch) -> None:
    confidence, correct = sample(4_000)
    rows = [
        {"id": i, "confidence": c, "correct": bool(r)}
        for i, (c, r) in enumerate(zip(confidence.tolist(), correct, strict=True))
    ]
    monkeypatch.setattr(databases, "_PRAGMAS", (*databases._PRAGMAS, "max_page_count=40"))
    with LocalServer(database_of(tmp_path)) as server:
        answers = [server.ask(f"{PATH}/predictions", rows[start : start + 200]) for start in range(0, 4_000, 200)]
    taken = sum(status == 200 for status, _ in answers)
    assert 0 < taken < len(answers)
    assert {status for status, _ in answers} == {200, 503}
    assert "nothing was changed: database or disk is full; try again" in answers[-1][1]["error"]
    monkeypatch.undo()
    with LocalServer(database_of(tmp_path)) as server:
        counted = [server.ask(f"{PATH}/predictions", rows[start : start + 200])[1] for start in range(0, 4_000, 200)]
        assert [one["counted"] for one in counted] == [0 if status == 200 else 200 for status, _ in answers]
        assert server.ask(f"{PATH}/state")[1]["labelled"] == 4_000


@pytest.mark.heavy
def test_a_database_that_is_away_is_named_and_a_client_with_a_spool_loses_nothing(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    confidence, correct = sample(600)
    ids = np.arange(600)
    with running(syncs=True) as postgres, LocalServer(postgres.address) as server:
        url = "http://{}:{}".format(*server.address)
        client = sf.Client(url, server.token, spool=tmp_path / "spool.db", retries=1)
        client.predictions("fraud", "3", ids[:200], confidence[:200])
        assert client.waiting == 0
        postgres.stop()
        for path, rows in ((f"{PATH}/state", None), ("/readyz", None), (f"{PATH}/labels", {"id": 1, "correct": True})):
            status, answer = server.ask(path, rows)
            assert status == 503
            assert "the store does not answer" in str(answer)
        assert server.ask("/healthz") == (200, "ok")
        client.predictions("fraud", "3", ids[200:], confidence[200:])
        client.labels("fraud", "3", ids, correct)
        assert client.waiting == 2
        postgres.start()
        assert client.flush() == 0
        client.close()
        assert server.ask("/readyz") == (200, "ok")
        state = server.ask(f"{PATH}/state")[1]
        assert (state["predictions"], state["labelled"]) == (600, 600)
        batch = sf.Monitor()
        batch.update(correct, confidence)
        assert state["monitor"]["log_e"] == pytest.approx(batch.log_e, rel=1e-12)


@pytest.mark.parametrize("hours", [[0, -72, 5, 24 * 40, -24 * 400, 1]])
def test_a_clock_that_is_moved_changes_hours_and_no_total(tmp_path: Path, monkeypatch, hours) -> None:
    confidence, correct = sample(1_200)
    store = Store(connect(database_of(tmp_path)))
    now = 1_790_000_000
    for i, moved in enumerate(hours):
        clock = now + 3600 * moved
        monkeypatch.setattr(storing.time, "time", lambda clock=clock: clock)
        some = slice(200 * i, 200 * (i + 1))
        store.add("m", "1", [predictions(confidence[some], 200 * i), labels(correct[some], 200 * i)])
        stream = store.find("m", "1")
        total = totals.total(store.database, stream)
        assert total is not None
        seen = sf.Predictions.from_correct(correct[: some.stop], confidence[: some.stop])
        assert different_totals(total, sf.tally(seen)) == []
        totals.merge_hours(store.database, stream, clock // 3600)
    assert sum(rows for _, _, _, rows, _, _ in totals.by_hour(store.database, stream)) == 1_200
    found, batch = Follower(store, stream, label_window=100_000).follow(), sf.Monitor()
    batch.update(correct, confidence)
    assert (found.rows, found.log_e) == (1_200, pytest.approx(batch.log_e, rel=1e-12))
    store.database.close()


def two_servers(where: str) -> None:
    """Two programs on one store, each sent every row by several threads: each row counts once, and both say so."""
    confidence, correct = sample(2_000)
    one, other = Server(where), Server(where)
    one.start()
    other.start()
    other.token = one.token

    def send(start: int) -> None:
        some = range(start, start + 100)
        for server in (one, other) if start % 200 else (other, one):
            rows = [{"id": f"row {i}", "confidence": float(confidence[i])} for i in some]
            assert server.ask(f"{PATH}/predictions", rows)[0] == 200
            assert (
                server.ask(f"{PATH}/labels", [{"id": f"row {i}", "correct": bool(correct[i])} for i in some])[0] == 200
            )

    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(send, range(0, 2_000, 100)))
        states = [server.ask(f"{PATH}/state")[1] for server in (one, other)]
        tallies = [server.ask(f"{PATH}/tally")[1] for server in (one, other)]
    finally:
        one.stop()
        other.stop()
    # they may have taken the rows in other pieces, and sums then differ in their last digit
    for name, value in states[0]["monitor"].items():
        same = pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
        assert states[1]["monitor"][name] == same
    state = states[0]
    assert (state["predictions"], state["labelled"], state["repeated"]) == (2_000, 2_000, 4_000)
    assert (state["monitor"]["rows"], state["monitor"]["observed_errors"]) == (2_000, int((~correct).sum()))
    whole = sf.tally(sf.Predictions.from_correct(correct, confidence))
    assert [different_totals(tally, whole) for tally in tallies] == [[], []]


def test_two_servers_on_one_file_count_each_row_once(tmp_path: Path) -> None:
    two_servers(database_of(tmp_path))


@pytest.mark.heavy
def test_two_servers_on_one_database_count_each_row_once() -> None:
    pytest.importorskip("psycopg")
    with running() as postgres:
        two_servers(postgres.address)

"""The client repeats what fails, keeps what cannot be sent, and a killed server has lost nothing it acknowledged."""

from __future__ import annotations

import datetime
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.service.requests import ScatteredGroup, requests_of
from tests.postgres_server import running
from tests.service.killing import check, kill_again_and_again
from tests.service.serving import Server, sample

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
MODEL = ("fraud", "3")


@pytest.fixture
def server(tmp_path: Path):
    made = Server(str(tmp_path / "store.db"))
    made.start()
    yield made
    made.kill()


def test_rows_are_sent_and_counted(server) -> None:
    confidence, correct = sample(2_500)
    ids = np.arange(2_500)
    with sf.Client(server.url, server.token) as client:
        client.predictions(*MODEL, ids, confidence, slice=np.where(ids % 2, "a", "b"))
        client.labels(*MODEL, ids, correct)
        state = client.state(*MODEL)
        assert (state["predictions"], state["labelled"]) == (2_500, 2_500)
        assert state["monitor"]["observed_errors"] == int((~correct).sum())
        with pytest.raises(sf.ServiceError, match=r"409.*was sent with confidence") as raised:
            client.predictions(*MODEL, ["0"], [0.123])
        assert raised.value.status == 409
    with sf.Client(server.url, "wrong") as client, pytest.raises(sf.ServiceError, match="no valid token"):
        client.state(*MODEL)


def test_a_spool_keeps_rows_until_there_is_a_server(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spool = tmp_path / "spool.db"
    with sf.Client(f"http://127.0.0.1:{port}", "t", spool=spool, retries=0) as client:
        client.predictions(*MODEL, ["a", "b"], [0.9, 0.8])
        client.labels(*MODEL, ["a"], [True])
        assert client.waiting == 2
    server = Server(str(tmp_path / "store.db"))
    server.start()
    try:
        with sf.Client(server.url, server.token, spool=spool) as client:
            assert client.waiting == 2
            assert client.flush() == 0
            assert client.state(*MODEL)["labelled"] == 1
            with pytest.warns(UserWarning, match=r"refused 1 row for good.*409"):
                client.labels(*MODEL, ["a"], [False])
            assert client.waiting == 0
    finally:
        server.kill()


@contextmanager
def answering(answer: Callable[[str], tuple[int, str]]) -> Iterator[tuple[str, list[tuple[str, list[str]]]]]:
    """A server that gives these answers; its address, and the paths and ids that it was sent."""
    asked: list[tuple[str, list[str]]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            ((_, rows),) = json.loads(self.rfile.read(int(self.headers["Content-Length"]))).items()
            asked.append((self.path, [row["id"] for row in rows]))
            status, body = answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *words: object) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_port}", asked
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


STORED = 200, '{"counted": 1, "repeated": 0}'


@pytest.mark.parametrize(
    "answer",
    [
        (301, "<html>Moved Permanently</html>"),
        (302, ""),
        (404, "<html>Not Found</html>"),
        (404, '{"error": "there is nothing here; /openapi.json lists the paths"}'),
        (405, "Method Not Allowed"),
        (400, "<html>Bad Request</html>"),
        (409, "[]"),
        (413, "<html>Request Entity Too Large</html>"),
        (200, "<html>Please sign in</html>"),
        (204, ""),
    ],
)
def test_only_surefoot_itself_refuses_rows_for_good(answer: tuple[int, str], tmp_path: Path) -> None:
    """A proxy that redirects, or has nothing to forward to during a deployment, took rows out of the spool."""
    said = [answer]
    with (
        answering(lambda path: said[0]) as (url, asked),
        sf.Client(url, "t", spool=tmp_path / "spool.db", retries=0) as client,
    ):
        with pytest.warns(UserWarning, match=rf"answered {answer[0]}.*stay in the spool and are sent again later"):
            client.predictions(*MODEL, ["a"], [0.9])
        # said once; labels wait for their predictions, and other models do not
        assert client.flush() == 1
        client.labels(*MODEL, ["a"], [True])
        assert client.waiting == 2
        assert {path for path, _ in asked} == {"/v1/models/fraud/3/predictions"}
        said[0] = STORED
        assert client.flush() == 0
        assert [path.rpartition("/")[2] for path, _ in asked[-2:]] == ["predictions", "labels"]


@pytest.mark.parametrize("status", [400, 409, 413])
def test_rows_that_surefoot_refuses_leave_the_spool_with_a_warning(status: int, tmp_path: Path) -> None:
    with (
        answering(lambda path: (status, '{"error": "each prediction needs its own id"}')) as (url, asked),
        sf.Client(url, "t", spool=tmp_path / "spool.db", retries=0) as client,
    ):
        with pytest.warns(UserWarning, match=rf"refused 1 row for good.*{status}: each prediction") as told:
            client.predictions(*MODEL, ["a", "b"], [0.9, 0.8])
        assert (client.waiting, len(told), [len(ids) for _, ids in asked]) == (0, 2, [2, 1, 1])


def test_a_token_that_is_refused_for_one_model_holds_up_no_other(tmp_path: Path) -> None:
    allowed = {"fraud"}

    def answer(path: str) -> tuple[int, str]:
        return STORED if path.split("/")[3] in allowed else (403, '{"error": "this token does not allow it"}')

    with (
        answering(answer) as (url, asked),
        sf.Client(url, "t", spool=tmp_path / "spool.db", retries=0) as client,
    ):
        with pytest.raises(sf.ServiceError, match="does not allow") as raised:
            client.predictions("other", "1", ["a"], [0.9])
        assert (raised.value.status, raised.value.is_final) == (403, False)
        client.predictions(*MODEL, ["b"], [0.9])
        client.predictions("other", "1", ["c"], [0.9])
        client.labels(*MODEL, ["b"], [True])
        assert [ids for path, ids in asked if "fraud" in path] == [["b"], ["b"]]
        assert client.waiting == 2
        with pytest.raises(sf.ServiceError, match="does not allow"):
            client.flush()
        allowed.add("other")
        assert client.flush() == 0
        assert [ids for path, ids in asked if "other" in path][-2:] == [["a"], ["c"]]


def test_an_answer_that_is_none_of_surefoot_is_no_receipt() -> None:
    with (
        answering(lambda path: (200, "<html>Please sign in</html>")) as (url, _),
        sf.Client(url, "t") as client,
        pytest.raises(sf.ServiceError, match="answered 200: <html>Please sign in"),
    ):
        client.predictions(*MODEL, ["a"], [0.9])


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(sf.ServiceError, match=r"127\.0\.0\.1:\d+ cannot be reached"):
        sf.Client(url, retries=0).predictions(*MODEL, ["a"], [0.9])
    with pytest.raises(ValueError, match="give an address"):
        sf.Client("fraud.db")
    with pytest.raises(ValueError, match="lengths differ"):
        sf.Client(url).predictions(*MODEL, ["a"], [0.9, 0.8])
    with pytest.raises(ValueError, match="either correct= or label="):
        sf.Client(url).labels(*MODEL, ["a"])


def test_a_group_is_one_unit_however_many_rows_it_has(server) -> None:
    """All of one patient, all wrong: one surprise, as a monitor of the same rows counts it."""
    ids = np.arange(3_000)
    with sf.Client(server.url, server.token) as client:
        client.predictions(*MODEL, ids, np.full(3_000, 0.9), group=["one patient"] * 3_000)
        client.labels(*MODEL, ids, [False] * 3_000)
        found = client.state(*MODEL)["monitor"]
    own = sf.Monitor()
    own.update([False] * 3_000, [0.9] * 3_000, groups=["one patient"] * 3_000)
    assert found["log_e"] == pytest.approx(own.log_e, rel=1e-9)
    assert not found["alarm"]


def test_rows_become_requests_that_take_no_group_apart() -> None:
    rows = [{"id": i, "group": None if i % 7 else i // 700} for i in range(4_000)]
    requests = list(requests_of([rows[:2_500], rows[2_500:]]))
    assert [row for request in requests for row in request] == rows
    of_groups = [{row["group"] for row in request} - {None} for request in requests]
    assert sum(map(len, of_groups)) == len(set().union(*of_groups)) == 6
    assert max(map(len, requests)) <= 1_400
    apart = [{"id": i, "group": "a" if i in (0, 20_000) else None} for i in range(20_001)]
    for scattered in (apart, [{"id": i, "group": "a"} for i in range(10_001)]):
        with pytest.raises(ScatteredGroup, match="group 'a' takes more than 10,000 rows"):
            list(requests_of([scattered]))


def test_what_no_server_takes_is_never_spooled(server, tmp_path: Path) -> None:
    with sf.Client(server.url, server.token, spool=tmp_path / "spool.db") as client:
        with pytest.raises(ValueError, match="'my model' is no name"):
            client.predictions("my model", "1", ["x"], [0.9])
        with pytest.raises(ValueError, match=r"predictions\[1\].confidence is nan"):
            client.predictions(*MODEL, ["x", "y"], [0.9, float("nan")])
        assert client.waiting == 0
        client.predictions(*MODEL, ["a"], [0.9])
        # of 1,000 rows only the one that contradicts is left out
        with pytest.warns(UserWarning, match="refused 1 row for good.*'a' was sent with confidence 0.9 before"):
            client.predictions(*MODEL, ["a", *map(str, range(999))], [0.8] * 1_000)
        assert client.state(*MODEL)["predictions"] == 1_000
    with pytest.raises(ValueError, match="token has characters") as raised:
        sf.Client(server.url, "secret\n")
    assert "secret" not in str(raised.value)
    with (
        sf.Client(server.url, server.token) as client,
        pytest.raises(sf.ServiceError, match=r"counted from row 1,000; those before it are stored"),
    ):
        client.predictions("other", "1", range(1_500), [0.9] * 1_499 + [2.0])


def test_pushed_classes_and_ids_are_compared_as_they_mean(server, tmp_path: Path) -> None:
    """A missing label makes 1 a 1.0, Parquet holds flags and bytes, and a model's name is checked first."""
    (tmp_path / "new.csv").write_text("id,confidence,predicted,label\na,0.9,1,1.0\nb,0.9,0,\nc,0.9,0,1.0\n")
    days = pa.array([datetime.date(2026, 1, 1)] * 2)
    table = {"id": [b"d", b"e"], "confidence": [0.9, 0.9], "predicted": [True, False], "slice": days}
    pq.write_table(pa.table(table), tmp_path / "flags.parquet")
    (tmp_path / "labels.csv").write_text("id,label\nd,True\ne,True\n")

    def push(name: str, model: str = "m") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "surefoot", "push", name, "--to", server.url, "--model", model]
        return subprocess.run(
            [*command, "--token", server.token], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    for name in ("new.csv", "flags.parquet", "labels.csv"):
        assert push(name).returncode == 0
    state = server.ask("/v1/models/m/1/state")[1]
    assert (state["predictions"], state["labelled"], state["counted_without_bet"]) == (5, 4, 2)
    assert state["monitor"]["observed_errors"] == 1
    assert [day["observed_errors"] for day in state["days"]] == [2]
    assert [part["slice"] for part in state["slices"]] == ["2026-01-01"]
    refused = push("new.csv", "é")
    assert (refused.returncode, refused.stderr.count("Traceback")) == (2, 0)
    assert "is no name" in refused.stderr


def test_files_are_pushed(server, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("id,confidence,predicted\n007,0.9,cat\n7,0.8,dog\n")
    (tmp_path / "labels.csv").write_text("id,label\n007,cat\n7,cat\n")
    (tmp_path / "old.csv").write_text("id,confidence,correct\nx,0.7,1\ny,0.6,0\n")

    def push(name: str) -> str:
        command = [sys.executable, "-m", "surefoot", "push", name, "--to", server.url, "--model", "m"]
        done = subprocess.run(
            [*command, "--token", server.token], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "Predictions: id = id, confidence = confidence" in push("new.csv")
    assert "Labels: id = id, label = label" in push("labels.csv")
    assert "Sent 2 rows" in push("old.csv")
    push("old.csv")
    status, state = server.ask("/v1/models/m/1/state")
    assert status == 200
    assert (state["predictions"], state["labelled"], state["counted_without_bet"]) == (4, 4, 2)
    assert state["monitor"]["observed_errors"] == 1


@pytest.mark.heavy
def test_a_killed_server_has_lost_nothing(tmp_path: Path) -> None:
    server = Server(str(tmp_path / "store.db"), "--label-window", "10000000")
    waits = np.random.default_rng(1).uniform(0.05, 1.0, 4).tolist()
    sent, _ = kill_again_and_again(
        server, waits, lambda number: server.kill(), rows=200_000, seed=1, senders=2, pause=0.02
    )
    found = check(server, sent)
    assert found["labels"] > 0


@pytest.mark.heavy
def test_a_killed_server_and_a_crashed_database_have_lost_nothing() -> None:
    pytest.importorskip("psycopg")
    with running(syncs=True) as database:
        server = Server(database.address, "--label-window", "10000000")

        def kill(number: int) -> None:
            """The server, the database under it, or both."""
            if number != 1:
                server.kill()
            if number != 0:
                database.stop()
                if server.process.poll() is None:
                    assert server.ask("/readyz")[0] == 503
                    server.kill()
                database.start()

        sent, _ = kill_again_and_again(server, [0.4, 0.7, 0.5], kill, rows=200_000, seed=2, senders=2, pause=0.02)
        assert check(server, sent)["labels"] > 0

"""Alarms are posted once each, signed, to one address, until it acknowledges them; a crash loses none."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from surefoot.render.monitor_view import open_episode
from surefoot.service import notices, webhook
from surefoot.service.batches import Label, Prediction
from surefoot.service.database import connect
from surefoot.service.notices import Happening, Outbox
from surefoot.service.service import Service
from surefoot.service.webhook import Messenger, Webhook
from tests.service.serving import sample

SECRET = b"0123456789abcdef0123456789abcdef"


class Receiver:
    """A real HTTP server that answers as it is told, and keeps what it was sent."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.got: list[tuple[int, str, dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.statuses.pop(0) if receiver.statuses else 204
                receiver.got.append((status, self.path, dict(self.headers), body))
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?team=a"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch) -> None:
    monkeypatch.setattr(webhook, "_FIRST", 0.01)
    monkeypatch.setattr(webhook, "_LOOK", 0.01)


def until(condition) -> None:
    """Wait; the test's own limit ends it if it never comes true."""
    while not condition():
        time.sleep(0.01)


def overconfident(service: Service, rows: int = 1_500, start: int = 0, honest: float = 0.8, part: str | None = None):
    confidence, correct = sample(rows, seed=start, honest=honest)
    predicted = [Prediction(str(start + i), float(c), 1 - float(c), slice=part) for i, c in enumerate(confidence)]
    service.add("fraud", "3", predicted).result()
    service.add("fraud", "3", [Label(str(start + i), bool(right)) for i, right in enumerate(correct)]).result()
    return service.find("fraud", "3")


def service_at(path: Path, url: str) -> Service:
    return Service(connect(str(path)), webhook=Webhook(url, SECRET))


def test_it_is_signed_and_sent_again_until_it_is_acknowledged_and_then_never(tmp_path, receiver) -> None:
    receiver.statuses = [500, 302, 404]
    service = service_at(tmp_path / "store.db", receiver.url)
    stream = overconfident(service)
    service._look(stream, True)
    # the alarm, and both episodes
    assert service.state(stream)["notices"] == {"acknowledged": 0, "waiting": 3}
    assert service._messenger is not None
    service._messenger.start()
    until(lambda: service.state(stream)["notices"]["waiting"] == 0)
    assert [status for status, *_ in receiver.got].count(204) == 3
    assert len(receiver.got) == 6
    # nothing else was asked for, whatever a redirect said
    assert {path for _, path, *_ in receiver.got} == {"/hook?team=a"}
    for _, _, headers, body in receiver.got:
        time_part, signature = (part.partition("=")[2] for part in headers["Surefoot-Signature"].split(","))
        own = hmac.new(SECRET, time_part.encode() + b"." + body, hashlib.sha256).hexdigest()
        assert hmac.compare_digest(own, signature)
        assert abs(int(time_part) - time.time()) < 60
    sent = {json.loads(body)["kind"]: json.loads(body) for *_, body in receiver.got}
    assert set(sent) == {"alarm", "drift"}
    assert (sent["alarm"]["model"], sent["alarm"]["version"]) == ("fraud", "3")
    assert sent["drift"]["observed_errors"] > sent["drift"]["expected_errors"]
    # the same episode goes on: no word of it
    service._look(overconfident(service, 600, start=5_000), True)
    time.sleep(0.1)
    assert len(receiver.got) == 6
    service.stop()


def test_a_crash_before_the_acknowledgement_loses_nothing_and_repeats_nothing(tmp_path, receiver, monkeypatch) -> None:
    path = tmp_path / "store.db"
    first = service_at(path, receiver.url)
    stream = overconfident(first)
    first._look(stream, True)
    # claimed, and then killed before it could send
    key = first._outbox.waiting()[0]
    assert first._outbox.claim(key) is not None
    assert first._outbox.claim(key) is None
    monkeypatch.setattr(notices, "LEASE", 0)
    second = service_at(path, receiver.url)
    second._look(stream, True)
    assert second._messenger is not None
    second._messenger.start()
    until(lambda: second.state(stream)["notices"]["waiting"] == 0)
    assert sorted(json.loads(body)["kind"] for *_, body in receiver.got) == ["alarm", "drift", "drift"]
    # another server of the same store has nothing to add
    third = service_at(path, receiver.url)
    third._look(stream, True)
    assert third._outbox.waiting() == []
    for service in (first, second, third):
        service.stop()


def test_a_slice_is_announced_once(tmp_path, receiver) -> None:
    service = service_at(tmp_path / "store.db", receiver.url)
    overconfident(service, honest=1.0, part="fine")
    stream = overconfident(service, start=2_000, part="off")
    service._look(stream, True)
    service._look(overconfident(service, 300, start=4_000, part="off"), True)
    assert service._messenger is not None
    service._messenger.send_due()
    slices = [json.loads(body) for *_, body in receiver.got if json.loads(body)["kind"] == "slice"]
    assert [one["slice"] for one in slices] == ["off"]
    service.stop()


def test_an_episode_that_came_and_went_between_two_looks_is_announced(tmp_path, receiver) -> None:
    service = service_at(tmp_path / "store.db", receiver.url)
    overconfident(service, 400)
    stream = overconfident(service, 19_600, start=400, honest=1.0)
    service._look(stream, True)
    with service.looking(stream) as follower:
        assert open_episode(follower.monitor) is None
        episodes = [(one.side, one.onset) for one in follower.monitor.episodes]
    assert service._messenger is not None
    service._messenger.send_due()
    drift = [json.loads(body) for *_, body in receiver.got if json.loads(body)["kind"] == "drift"]
    assert [(one["side"], one["onset"]) for one in drift] == episodes
    assert not any(one["open"] for one in drift)
    service.stop()


def happening(first: int, last: int) -> Happening:
    return Happening("drift", "", first, last, "drift", {})


def test_an_episode_that_is_seen_again_elsewhere_is_the_same(tmp_path) -> None:
    """After a restart, or on another server, detections lie at other rows; the change began where it began."""
    service = Service(connect(str(tmp_path / "store.db")))
    stream = overconfident(service, 10)
    outbox = Outbox(service.database)
    assert outbox.add(stream, [happening(900, 1_000)], "t") == 1
    assert outbox.add(stream, [happening(890, 990)], "t") == 0
    assert outbox.add(stream, [happening(950, 1_400)], "t") == 0
    assert outbox.add(stream, [happening(1_300, 1_500)], "t") == 0
    assert outbox.add(stream, [happening(1_501, 1_600)], "t") == 1
    assert len(outbox.waiting()) == 2
    for key in outbox.waiting():
        outbox.release(key, is_sent=True)
    # those that are over and sent are dropped, so that there are never many
    assert outbox.add(stream, [happening(9_000, 9_100)], "t") == 1
    assert outbox.counts(stream) == {"acknowledged": 0, "waiting": 1}
    service.stop()


def test_a_clock_that_is_moved_back_holds_nothing_up(tmp_path, monkeypatch) -> None:
    service = Service(connect(str(tmp_path / "store.db")))
    outbox = Outbox(service.database)
    outbox.add(overconfident(service, 10), [happening(1, 2)], "t")
    (key,) = outbox.waiting()
    now = time.time()
    monkeypatch.setattr(notices.time, "time", lambda: now + 86_400)
    assert outbox.claim(key) is not None
    monkeypatch.setattr(notices.time, "time", lambda: now)
    assert outbox.claim(key) is not None
    service.stop()


def test_it_is_refused_without_a_secret_or_an_address() -> None:
    for url in ("ftp://host/x", "http://", "http://user:pass@host/x", "http://host/a b", "http://höst/", "/x"):
        with pytest.raises(ValueError, match="is no address"):
            Webhook(url, SECRET)
    with pytest.raises(ValueError, match="shorter than 16"):
        Webhook("http://host/x", b"short")


def test_nobody_there_is_no_error(tmp_path) -> None:
    service = Service(connect(str(tmp_path / "store.db")))
    outbox = Outbox(service.database)
    outbox.add(overconfident(service, 10), [happening(1, 2)], "t")
    messenger = Messenger(outbox, Webhook("http://127.0.0.1:9/hook", SECRET))
    for _ in range(2):
        messenger.send_due()
    assert len(outbox.waiting()) == 1
    service.stop()


def test_its_secret_is_nowhere_in_the_store(tmp_path, receiver) -> None:
    service = service_at(tmp_path / "store.db", receiver.url)
    service._look(overconfident(service), True)
    service.stop()
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"overconfident" in held
    assert SECRET not in held

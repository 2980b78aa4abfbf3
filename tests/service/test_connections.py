"""Connections on which requests come slowly, or damaged, or never: they end, and hold up no others."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from surefoot.service import connections, limits
from tests.service.serving import database_of
from tests.service.sockets import PATH, ROW, LocalServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch) -> Iterator[LocalServer]:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(limits, "MOST_SECONDS", 0.3)
    with LocalServer(database_of(tmp_path)) as made:
        yield made


def rest(held: socket.socket) -> bytes:
    """What comes until the other side closes."""
    found = b""
    try:
        while some := held.recv(65536):
            found += some
    except ConnectionError:
        pass
    return found


def answer(text: bytes) -> tuple[int, str]:
    """Status and message of a refusal, which is one line."""
    head, _, body = text.partition(b"\r\n\r\n")
    (message,) = json.loads(body).values()
    assert "\n" not in message
    return int(head.split()[1]), message


def test_a_head_that_never_ends_is_refused_and_its_connection_closed(server) -> None:
    for some in (b"P", b"POST / HTTP/1.1\r\nHost: here\r\n", server.head()[:-2]):
        with server.connect() as held:
            held.sendall(some)
            assert answer(rest(held))[0] == 408


def test_who_asks_nothing_is_not_waited_for(server) -> None:
    with server.connect() as held:
        assert rest(held) == b""


def test_a_head_that_goes_on_byte_by_byte_is_not_waited_for(server) -> None:
    ended = threading.Event()
    with server.connect() as held:

        def drip() -> None:
            while not ended.wait(0.02):
                try:
                    held.sendall(b"X: y\r\n")
                except OSError:
                    return

        held.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\n")
        dripping = threading.Thread(target=drip)
        dripping.start()
        found = rest(held)
        ended.set()
        dripping.join()
    # what was still on its way when the answer came may have taken it back
    assert not found or answer(found)[0] == 408


def test_a_body_that_never_ends_is_refused_and_nothing_is_stored(server) -> None:
    with server.connect() as held:
        held.sendall(server.head(length=1_000) + ROW)
        assert b" 408 " in held.recv(65536)
        # and whoever goes on sending it is not waited for
        held.sendall(b" ")
        rest(held)
    with server.connect() as held:
        held.sendall(f"GET {PATH.replace('predictions', 'state')} HTTP/1.1\r\nHost: h\r\n".encode())
        held.sendall(f"Authorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode())
        assert answer(rest(held)) == (404, "nothing was sent yet to fraud/3")


def test_slow_connections_hold_up_no_others_and_several_requests_share_one(server, monkeypatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 5.0)
    slow = [server.connect() for _ in range(50)]
    for one in slow:
        one.sendall(b"POST /")
    held = http.client.HTTPConnection(*server.address, timeout=60)
    for i in range(5):
        held.request("POST", PATH, b'{"id": %d, "confidence": 0.9}' % i, {"Authorization": f"Bearer {server.token}"})
        assert json.loads(held.getresponse().read()) == {"counted": 1, "repeated": 0}
    held.close()
    for one in slow:
        assert answer(rest(one))[0] == 408
        one.close()


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET  HTTP/1.1\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * (128 << 10) + b"\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(server, damaged) -> None:
    with server.connect() as held:
        held.sendall(damaged)
        found = rest(held)
    # of a long head the answer may be lost, for the rest of it is not read
    assert re.match(rb"HTTP/1.1 4\d\d ", found) or (not found and len(damaged) > 64 << 10)

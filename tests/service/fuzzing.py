"""Send damaged and hostile requests to a server: ``python -m tests.service.fuzzing --n 50000 --seed 1``.

Each goes over a socket of its own. It escapes if the answer is a 500 or another error of the server, if a refusal is
more than one line, or if anything is served without a token. In the end every row that an answer counted is stored,
no other is, and each page and state can still be read.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from surefoot.service import connections, limits
from surefoot.service.app import NO_TOKEN
from tests.service.serving import database_of
from tests.service.sockets import LocalServer

#: Seconds that the server waits for what does not come, and requests at a time.
WAIT, TOGETHER = 0.25, 8
KINDS = ("application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream")
TEXTS = (
    "a", "b", "7", "", " ", "\x00", "\n", "\x1b[2J", "\u202e", "\ud800", "é" * 200, "x" * 201, "x" * 5_000,
    "<script>alert(1)</script>", "' OR 1=1 --", "{{7*7}}", "${jndi:ldap://x}", "../../etc/passwd", "%2e%2e%2f", "😀",
    "a,b", '"', "\\", "NaN", "__proto__",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 0.5, 0.9, 1.0000001, 1e-320, 1e308, -0.0, 10**18, 2**63, 2**64, 10**400, True, False, None, 85,
    1 - 2**-53,
)  # fmt: skip
FIELDS = ("id", "confidence", "doubt", "predicted", "slice", "group", "correct", "label", "x", "")
NAMES = (
    "fraud",
    "3",
    "m-1",
    "m.2",
    "%00",
    "..",
    ".",
    "%2e%2e",
    "a%20b",
    "%F0%9F%98%80",
    "%ff",
    "m" * 65,
    "<b>",
    "%0d%0a",
)
OPEN = ("/healthz", "/readyz", "/openapi.json")


@dataclass
class Request:
    """What is sent, and whether it may be served."""

    text: bytes
    is_allowed: bool


def value(rng: random.Random, depth: int = 0) -> Any:
    """Anything that JSON can hold."""
    choice = rng.random()
    if choice < 0.4:
        return rng.choice(TEXTS)
    if choice < 0.85 or depth > 3:
        return rng.choice(NUMBERS)
    if choice < 0.92:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(TEXTS): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def row(rng: random.Random, what: str) -> Any:
    """A row as it should be, or nearly."""
    made: dict[str, Any] = {"id": f"id {rng.randrange(60)}"}
    if what == "predictions":
        made["confidence"] = rng.randrange(1, 100) / 100
    else:
        made["correct"] = rng.random() < 0.8
    if what == "predictions":
        also = {"slice": "north", "predicted": "cat", "group": "g"}
        made |= {name: good for name, good in also.items() if rng.random() < 0.15}
    if rng.random() < 0.1:
        made[rng.choice(FIELDS)] = value(rng)
    if rng.random() < 0.03:
        made.pop(rng.choice(list(made)), None)
    return made if rng.random() < 0.99 else value(rng)


def rows_of(rng: random.Random, what: str) -> Any:
    made = [row(rng, what) for _ in range(rng.choice((0, 1, 1, 2, 3, 10, 60)))]
    choice = rng.random()
    if choice < 0.5:
        return {what: made}
    if choice < 0.85:
        return made
    return made[0] if made and choice < 0.95 else value(rng)


def arrow(rng: random.Random, what: str) -> bytes:
    """A stream of columns of any type, some of them right."""
    number = rng.choice((0, 1, 5, 50))
    columns: dict[str, Any] = {"id": [f"arrow {rng.randrange(400)}" for _ in range(number)]}
    columns["confidence" if what == "predictions" else "correct"] = [rng.choice((0, 1)) for _ in range(number)]
    if rng.random() < 0.5:
        odd: tuple[Callable[[], Any], ...] = (
            lambda: pa.array([b"\xff\x00"] * number),
            lambda: pa.array([{"a": 1}] * number),
            lambda: pa.array([[1, 2]] * number),
            lambda: pa.array(np.zeros(number, dtype="datetime64[ns]")),
            lambda: pa.array([float("nan")] * number),
            lambda: pa.array([None] * number),
            lambda: pa.array(["same"] * number).dictionary_encode(),
            lambda: pa.array([10**20] * number, pa.decimal128(38)),
        )
        columns[rng.choice(FIELDS)] = rng.choice(odd)()
    sink, table = pa.BufferOutputStream(), pa.table(columns)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def body(rng: random.Random, what: str, kind: str) -> bytes:
    if kind == KINDS[2]:
        made = arrow(rng, what)
    elif kind == KINDS[1]:
        made = b"\n".join(json.dumps(row(rng, what)).encode() for _ in range(rng.randrange(6)))
    else:
        made = json.dumps(rows_of(rng, what)).encode("utf-8", "surrogatepass")
    return damage(rng, made) if rng.random() < 0.25 else made


def damage(rng: random.Random, text: bytes) -> bytes:
    """Some bytes changed, left out, put in or repeated."""
    held = bytearray(text)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(held) + 1)
        choice = rng.randrange(5)
        if choice == 0:
            held[at : at + 1] = rng.randbytes(1)
        elif choice == 1:
            del held[at : at + rng.randrange(1, 20)]
        elif choice == 2:
            held[at:at] = rng.choice(
                (b"\x00", b"[" * 3_000, b'{"a":', b"\xff\xfe", b"NaN", b"1e999", b",", b'"', b"\n")
            )
        elif choice == 3:
            held[at:at] = held[:at]
        else:
            del held[at:]
    return bytes(held[: 1 << 20])


def target(rng: random.Random) -> tuple[str, str, str]:
    """A method and a path with its query, and what rows are sent there."""
    what = rng.choice(("predictions", "labels"))
    model, version = (rng.choice(("fraud", "loans") if rng.random() < 0.8 else NAMES) for _ in range(2))
    of_stream = f"/v1/models/{model}/{version}"
    if rng.random() < 0.7:
        return "POST", f"{of_stream}/{what}", what
    ends = ("state", "report", "report?format=json", "tally", "reference", "predictions", what, "", "x")
    path = rng.choice(
        (
            f"{of_stream}/{rng.choice(ends)}",
            "/",
            "/metrics",
            "/v1/models",
            *OPEN,
            f"/models/{model}/{version}",
            "//",
            "*",
        )
    )
    if rng.random() < 0.4:
        words = ("2026-01-01", "2026-13-45", "9999-12-31T99", "%00", "<b>", "a" * 3_000, "%ff", "", "-1", "north")
        query = "&".join(
            f"{rng.choice(('since', 'until', 'slice', 'token', 'format'))}={rng.choice(words)}" for _ in "12"
        )
        path = f"{path.partition('?')[0]}?{query}"
    return rng.choice(("GET", "GET", "GET", "PUT", "POST", "HEAD", "DELETE", "OPTIONS", "TRACE", "get")), path, what


def request(seed: int, number: int, token: str) -> Request:
    """The request of this number."""
    rng = random.Random(f"{seed} {number}")
    method, path, what = target(rng)
    kind = rng.choice((KINDS[0], KINDS[0], *KINDS))
    text = body(rng, what, kind)
    if rng.random() < 0.05:
        kind = rng.choice(
            ("", "text/html", "application/json; charset=utf-16", "multipart/form-data", "\xff", KINDS[2])
        )
    lines = [f"{method} {path} HTTP/1.1", "Host: " + rng.choice(("here", "here", "", "a b", "<b>", "[::1"))]
    choice, is_allowed = rng.random(), True
    if choice < 0.8:
        lines.append(f"Authorization: Bearer {token}")
    else:
        is_allowed = False
        wrong = (token[:-1], token + "x", "", "é", "a" * 60, f"{token}\t{token}")
        lines.append(
            rng.choice(("Authorization: Bearer ", "Authorization: Basic ", "Cookie: surefoot_token=", "X: "))
            + rng.choice(wrong)
        )
    lines += [f"Content-Type: {kind}", "Connection: close"]
    length = len(text) if rng.random() < 0.985 else rng.choice((0, len(text) + 5, 10**12, -1, 1))
    if rng.random() < 0.9:
        lines.append(f"Content-Length: {length}")
    else:
        lines.append("Transfer-Encoding: chunked")
        text = b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text) if text else b"0\r\n\r\n"
    head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
    if rng.random() < 0.02:
        # what is damaged here may ask for anything, with the token
        return Request(damage(rng, head) + text, is_allowed)
    return Request(head + text, is_allowed)


def send(server: LocalServer, text: bytes) -> tuple[int, bytes]:
    """The status of the answer, 0 if there is none, and its body."""
    with server.connect() as held:
        # it may be refused before all of it is sent
        with suppress(ConnectionError):
            held.sendall(text)
        answer = http.client.HTTPResponse(held, method="HEAD" if text.startswith(b"HEAD ") else None)
        try:
            answer.begin()
            return answer.status, answer.read()
        except (ConnectionError, http.client.HTTPException):
            return 0, b""


def wrong_with(one: Request, status: int, answer: bytes) -> str:
    """What is wrong with an answer; nothing if it is as it should be."""
    if status >= 500:
        return f"{status}: {answer[:200]!r}"
    if status >= 400 and answer.startswith(b"{"):
        found = json.loads(answer)
        if list(found) != ["error"] or len(found["error"]) > 600 or not found["error"].isprintable():
            return f"{status} is not one line: {answer[:900]!r}"
    elif status >= 400 and answer not in (b"", b"Invalid HTTP request received.", NO_TOKEN.encode()):
        return f"{status} is not one line: {answer[:200]!r}"
    path = one.text.split(b" ")[1].partition(b"?")[0].decode("latin-1") if one.text.count(b" ") > 1 else ""
    if not one.is_allowed and 200 <= status < 300 and path not in OPEN:
        return f"{status} without a token: {one.text[:200]!r}"
    return ""


def try_requests(seed: int, numbers: range, folder: Path) -> tuple[list[str], Counter[int]]:
    """Send these requests; what escaped, and how often each status came."""
    escaped: list[str] = []
    statuses: Counter[int] = Counter()
    counted = 0
    with (
        patch.object(connections, "HEAD_SECONDS", WAIT),
        patch.object(limits, "MOST_SECONDS", WAIT),
        LocalServer(database_of(folder)) as server,
        ThreadPoolExecutor(TOGETHER) as pool,
    ):

        def ask(number: int) -> tuple[int, Request, int, bytes]:
            one = request(seed, number, server.token)
            return number, one, *send(server, one.text)

        for number, one, status, answer in pool.map(ask, numbers):
            statuses[status] += 1
            if words := wrong_with(one, status, answer):
                escaped.append(f"{seed}-{number}: {words}")
            if status == 200 and re.match(rb'\{"counted":\d+,', answer):
                counted += json.loads(answer)["counted"]
        escaped += wrong_in_the_end(server, counted)
    return escaped, statuses


def wrong_in_the_end(server: LocalServer, counted: int) -> list[str]:
    """Whether other rows are stored than were counted, and what can no longer be read."""
    streams = server.service.store.streams()
    stored = sum(one.counts.events for one in streams)
    found = [] if stored == counted else [f"{counted} rows were counted, {stored} are stored"]
    for one in streams:
        for path in (f"/v1/models/{one.model}/{one.version}/state", f"/models/{one.model}/{one.version}", "/metrics"):
            text = (
                f"GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {server.token}\r\nConnection: close\r\n\r\n"
            )
            status, answer = send(server, text.encode())
            if status != 200 or (b"<script>alert" in answer and path.startswith("/models")):
                found.append(f"{path}: {status} {answer[:200]!r}")
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        escaped, statuses = try_requests(given.seed, range(given.start, given.start + given.n), Path(folder))
    for line in escaped:
        print(line)
    print(", ".join(f"{count:,} with {status or 'no answer'}" for status, count in sorted(statuses.items())))
    print(f"{given.n:,} requests of seed {given.seed} sent, {len(escaped)} escaped")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())

"""The service behind sockets, in a thread of this process, whose limits tests can change."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any

import uvicorn

from surefoot.cli.serve import _listen
from surefoot.service import connections
from surefoot.service.app import App
from surefoot.service.database import connect
from surefoot.service.service import Service
from surefoot.service.tokens import Grant

PATH = "/v1/models/fraud/3/predictions"
ROW = b'{"id": "a", "confidence": 0.9}'


class LocalServer:
    """The service over sockets, in a thread of this process."""

    def __init__(self, store: str) -> None:
        self.service = Service(connect(store))
        self.token = self.service.tokens.create(Grant.parse("*"))
        config = uvicorn.Config(
            App(self.service, rate=1e9).asgi, http=connections.Connection, ws="none", log_level="critical"
        )
        self._server, self._listener = uvicorn.Server(config), _listen("127.0.0.1", 0)
        self.address = self._listener.getsockname()
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})
        self._thread.start()

    def __enter__(self) -> LocalServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()

    def head(self, path: str = PATH, length: int = len(ROW), token: str | None = None) -> bytes:
        return (
            f"POST {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token or self.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        ).encode()

    def connect(self) -> socket.socket:
        made = socket.create_connection(self.address, timeout=60)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def ask(self, path: str, rows: Any = None) -> tuple[int, Any]:
        """The status of an answer and what it says; with rows they are posted."""
        held = http.client.HTTPConnection(*self.address, timeout=120)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        held.request("GET" if rows is None else "POST", path, None if rows is None else json.dumps(rows), headers)
        answer = held.getresponse()
        text = answer.read().decode()
        held.close()
        is_json = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(text) if is_json else text

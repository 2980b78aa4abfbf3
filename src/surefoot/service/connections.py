"""Connections that wait for a request: one whose head comes too slowly is closed, so that none are held for nothing.

uvicorn waits for ever for the first request of a connection, and for the rest of a head of which a byte has come.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds for the head of a request, from when the connection was made or its first byte came.
HEAD_SECONDS = 20.0
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    b'{"error": "the request took longer than %d seconds"}'
)


class Connection(H11Protocol):
    """A connection of uvicorn that is closed if it takes too long to ask."""

    _until: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Wait for a request from now on, unless we do already, or one is being answered."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_watching()
        elif self._until is None and not self.transport.is_closing():
            self._until = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_watching(self) -> None:
        if self._until is not None:
            self._until.cancel()
            self._until = None

    def _give_up(self) -> None:
        self._until = None
        if self.transport.is_closing() or not (self.cycle is None or self.cycle.response_complete):
            return
        # a head that was begun is answered; who sent nothing, or goes on sending after an answer, is not
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_TOO_SLOW % HEAD_SECONDS)
        self.transport.close()

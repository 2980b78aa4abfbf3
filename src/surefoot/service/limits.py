"""How much may be asked: bytes and seconds of a request, and requests a second of a token."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from surefoot.service.refused import Refused

MOST_BYTES = 8 << 20
MOST_SECONDS = 20.0
#: Clients whose rate is remembered.
_MOST_CLIENTS = 10_000


async def read_body(stream: AsyncIterator[bytes], stated: str | None) -> bytes:
    """The body of a request; one that is too large or too slow is refused, and not kept."""
    too_large = Refused(413, f"the body is larger than {MOST_BYTES >> 20} MiB; send fewer rows in a request")
    if stated is not None and stated.isdecimal() and int(stated[:20]) > MOST_BYTES:
        raise too_large
    held = bytearray()
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for chunk in stream:
                held += chunk
                if len(held) > MOST_BYTES:
                    raise too_large
    except TimeoutError:
        raise Refused(408, f"the body took longer than {MOST_SECONDS:.0f} seconds") from None
    return bytes(held)


class Rate:
    """So many requests a second for each client, and as many at once."""

    def __init__(self, most: float) -> None:
        self.most = most
        self._left: dict[str, tuple[float, float]] = {}

    def check(self, client: str) -> None:
        """Count a request; raise if there were too many."""
        now = time.monotonic()
        left, before = self._left.pop(client, (self.most, now))
        left = min(self.most, left + (now - before) * self.most)
        if len(self._left) >= _MOST_CLIENTS:
            # the one that has asked nothing for longest
            self._left.pop(next(iter(self._left)))
        self._left[client] = (max(left - 1, 0.0), now)
        if left < 1:
            raise Refused(429, f"more than {self.most:,.0f} requests a second; send more rows in a request")

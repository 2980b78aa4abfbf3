"""Whether the clock of this machine can be relied on."""

from __future__ import annotations

import time

#: Seconds by which it may be set without being moved, and for which it is not relied on after it was.
_CLOSE, _WAIT = 600.0, 3600.0


class Clock:
    """Compares the wall clock with one that nobody sets.

    Ids are kept for hours. A clock that is ahead for some minutes would drop those whose labels are still to come.
    """

    def __init__(self) -> None:
        self._ahead, self._moved = time.time() - time.monotonic(), -_WAIT
        self._began = time.monotonic()

    def is_steady(self) -> bool:
        """Whether it has not been moved within the last hour, as far as this process knows."""
        now = time.monotonic()
        ahead = time.time() - now
        if abs(ahead - self._ahead) > _CLOSE:
            self._ahead, self._moved = ahead, now - self._began
        return now - self._began - self._moved >= _WAIT

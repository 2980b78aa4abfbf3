"""A bar on stderr for what takes more than a second; none where stderr is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 1.0


class Bar:
    """Called with the share that is done and the rows so far; draws itself when it has taken a while."""

    def __init__(self, words: str) -> None:
        self._words, self._started = words, time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, share: float, rows: int = 0) -> None:
        if self._bar is None:
            if not sys.stderr.isatty() or time.monotonic() - self._started < _PATIENCE:
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("  {task.description}"),
                BarColumn(40),
                TextColumn("{task.fields[rows]} rows"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._words, total=1.0, rows="")
        self._bar.update(self._task, completed=share, rows=f"{rows:,}")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def bar(words: str) -> Iterator[Bar]:
    """A bar that is gone when the work is done, or has failed."""
    shown = Bar(words)
    try:
        yield shown
    finally:
        shown.close()

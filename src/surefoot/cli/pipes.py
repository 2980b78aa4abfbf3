"""A reader that closes the pipe early changes nothing: the work goes on, files are written, the status stays."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Stream:
    """A stream whose reader may leave: then what is written to it is dropped."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text))
        except BrokenPipeError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._drop()

    def _drop(self) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())
        os.close(nothing)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def ignore_closed_pipes() -> Iterator[None]:
    """Within, output that nobody reads any more is dropped in silence."""
    before = sys.stdout, sys.stderr
    # a process may have been started without an output
    wrapped = tuple(None if stream is None else _Stream(stream) for stream in before)
    sys.stdout, sys.stderr = wrapped
    try:
        yield
    finally:
        for stream in wrapped:
            if stream is not None:
                stream.flush()
        sys.stdout, sys.stderr = before

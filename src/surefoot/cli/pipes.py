"""What is printed never breaks the work: a reader may close the pipe early, and any character can be shown.

A reader that stops early changes nothing: the work goes on, files are written, the status stays. What an output cannot
show, such as a name in an ASCII terminal, is escaped. An output that is full is an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Stream:
    """A stream whose reader may leave: then what is written to it is dropped."""

    def __init__(self, stream: Any, name: str) -> None:
        #: What an error calls it; nothing can be told where errors go.
        self._stream, self._name = stream, name
        self._errors = getattr(stream, "errors", None)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        try:
            return int(self._stream.write(text))
        except OSError as error:
            self._drop(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._drop(error)

    def _drop(self, error: OSError) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())
        os.close(nothing)
        if self._name and not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, self._name) from None

    def restore(self) -> None:
        self.flush()
        if hasattr(self._stream, "reconfigure"):
            self._stream.reconfigure(errors=self._errors)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def steady_streams() -> Iterator[None]:
    """Within, output that nobody reads any more is dropped in silence, and any text can be printed."""
    _fill_closed()
    before = sys.stdout, sys.stderr
    with open(os.devnull, "w") as nowhere:
        # a process may have been started without an output
        wrapped = [
            _Stream(nowhere if stream is None else stream, name)
            for stream, name in zip(before, ("standard output", ""), strict=True)
        ]
        sys.stdout, sys.stderr = wrapped
        try:
            yield
        finally:
            try:
                for stream in wrapped:
                    stream.restore()
            finally:
                sys.stdout, sys.stderr = before


def _fill_closed() -> None:
    """A stream that was closed when the process was started is no place for a file: its number is taken."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)

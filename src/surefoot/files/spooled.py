"""What can be read only once, such as a pipe, kept so that it can be read as often as it takes."""

from __future__ import annotations

import io
import os
import tempfile
import weakref
from typing import Any, BinaryIO

#: Bytes that are kept in memory; more go to a file without a name.
_IN_MEMORY = 1 << 26


class Spooled:
    """The bytes of a stream, from which readers are opened one after the other."""

    def __init__(self, stream: Any) -> None:
        self._kept = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (it lives as long as we do)
        while block := stream.read(1 << 20):
            self._kept.write(block)
        self.size = self._kept.tell()
        weakref.finalize(self, self._kept.close)

    def open(self) -> BinaryIO:
        """A reader from the start."""
        return io.BufferedReader(_View(self, self._kept), 1 << 20)


class _View(io.RawIOBase):
    """A reader with a place of its own."""

    def __init__(self, owner: Spooled, kept: Any) -> None:
        # what is kept is closed with its owner
        self._owner, self._kept, self._at = owner, kept, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            self._at = self._kept.seek(offset, os.SEEK_END)
        else:
            self._at = offset + (self._at if whence == os.SEEK_CUR else 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._kept.seek(self._at)
        some = self._kept.read(len(buffer))
        buffer[: len(some)] = some
        self._at += len(some)
        return len(some)

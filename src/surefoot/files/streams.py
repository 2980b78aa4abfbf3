"""Bytes in pieces of whole lines, from plain, gzip and zstd files and from standard input."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from surefoot.errors import MissingPackage
from surefoot.files.source import BadFile
from surefoot.names import shown

#: Bytes of the first piece, from which types are told, and of the others.
_FIRST, _PIECE = 1 << 20, 1 << 25
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Pieces:
    """The lines of a stream, some megabytes at a time; it is opened anew for every pass."""

    def __init__(self, name: str, open_it: Callable[[], BinaryIO], size: int | None, *, quoted: bool) -> None:
        self.name, self._open, self._size = name, open_it, size
        #: Whether a line break within quotes ends no line.
        self._quoted = quoted

    def first(self) -> bytes:
        """The first piece."""
        return next(iter(self), (b"", 1.0))[0]

    def __iter__(self) -> Iterator[tuple[bytes, float]]:
        """Each piece, and the share of the file read so far."""
        with self._open() as raw:
            stream = decompressed(self.name, raw)
            rest, wanted = b"", _FIRST
            while True:
                block = _read(self.name, stream, wanted)
                piece = rest + block
                if not block:
                    if piece:
                        yield piece, 1.0
                    return
                cut = _line_end(piece, self._quoted)
                if cut:
                    rest = piece[cut:]
                    yield piece[:cut], self._share(raw)
                else:
                    rest = piece
                wanted = _PIECE

    def _share(self, raw: BinaryIO) -> float:
        return min(1.0, raw.tell() / self._size) if self._size else 0.0


class LiveLines(Pieces):
    """Lines as they arrive, for one pass: each piece holds the whole lines that are there."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        super().__init__(name, lambda: stream, None, quoted=False)
        self._stream = stream
        self._seen = b""

    def first(self) -> bytes:
        """The header and the first row; of objects, the first of them."""
        wanted = 1 if self._seen.lstrip().startswith(b"{") else 2
        while self._seen.count(b"\n") < wanted and (line := self._stream.readline()):
            self._seen += line
            wanted = 1 if self._seen.lstrip().startswith(b"{") else 2
        return self._seen

    def __iter__(self) -> Iterator[tuple[bytes, float]]:
        rest = self.first()
        while True:
            cut = rest.rfind(b"\n") + 1
            if cut:
                yield rest[:cut], 0.0
                rest = rest[cut:]
            block = self._stream.read1(_FIRST)  # type: ignore[attr-defined]
            if not block:
                if rest:
                    yield rest, 1.0
                return
            rest += block


def decompressed(name: str, raw: BinaryIO) -> BinaryIO:
    """The stream itself, or what is packed in it."""
    start = raw.peek(4)[:4] if hasattr(raw, "peek") else b""
    if start.startswith(GZIP):
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    if start == ZSTD:
        return io.BufferedReader(_Zstd(name, raw))
    return raw


class _Zstd(io.RawIOBase):
    """What is packed in zstd frames; a frame that ends too early is an error, not an end."""

    def __init__(self, name: str, raw: BinaryIO) -> None:
        try:
            import zstandard
        except ImportError as error:
            raise MissingPackage("zstd files need the package zstandard: pip install 'surefoot[cli]'.") from error
        self._name, self._raw, self._new = name, raw, zstandard.ZstdDecompressor().decompressobj
        self._error: Any = zstandard.ZstdError
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            packed = b""
            if self._frame is not None and self._frame.eof:
                packed, self._frame = self._frame.unused_data, None
            packed = packed or self._raw.read(1 << 20)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the last frame is cut off")
                return 0
            self._frame = self._frame or self._new()
            try:
                self._ready = memoryview(self._frame.decompress(packed))
            except self._error as error:
                raise OSError(str(error)) from error
        some = self._ready[: len(buffer)]
        self._ready = self._ready[len(some) :]
        buffer[: len(some)] = some
        return len(some)


def _read(name: str, stream: BinaryIO, size: int) -> bytes:
    try:
        return stream.read(size)
    except (EOFError, OSError, zlib.error) as error:
        raise BadFile(f"{shown(name)}: truncated or damaged compressed file ({shown(str(error))})") from error


def _line_end(piece: bytes, quoted: bool) -> int:
    """Where the last whole line ends; a line break within quotes ends none."""
    cut = piece.rfind(b"\n") + 1
    if not quoted or b'"' not in piece:
        return cut
    quotes, at = piece.count(b'"', 0, cut), cut
    while at and quotes % 2:
        before = piece.rfind(b"\n", 0, at - 1) + 1
        quotes -= piece.count(b'"', before, at)
        at = before
    return at or cut

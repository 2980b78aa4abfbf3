"""Bytes in pieces of whole lines, from plain, gzip and zstd files and from standard input."""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple, TypeVar

from surefoot._io import limits
from surefoot.files.damage import damaged
from surefoot.files.quotes import alternate, open_from
from surefoot.files.source import BadFile

Item = TypeVar("Item")

#: Bytes of the first piece, from which types are told, and of the others.
_FIRST, _PIECE = 1 << 20, 1 << 25
#: Bytes that Windows-1252 gives no meaning.
_UNDEFINED = b"\x81\x8d\x8f\x90\x9d"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items, the next one made in another thread while this one is used."""
    end = object()
    with ThreadPoolExecutor(1) as maker:
        coming: Any = maker.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = maker.submit(next, items, end)
            yield item


class Piece(NamedTuple):
    """Some whole lines, good until the next but one are asked for; and the share of the file read so far."""

    data: memoryview
    share: float
    has_quotes: bool


class Pieces:
    """The lines of a stream, some megabytes at a time; it is opened anew for every pass."""

    def __init__(
        self, name: str, open_it: Callable[[], BinaryIO], size: int | None, *, quoted: bool, decoded: bool = False
    ) -> None:
        self.name, self._open, self._size = name, open_it, size
        # an object of JSON may be large
        self._longest = limits.LINE if quoted else limits.DOCUMENT
        #: Whether a line break within quotes ends no line, and whether text may be in another encoding than UTF-8.
        self._quoted, self._decoded = quoted, decoded

    def first(self) -> bytes:
        """The first piece; more if it holds no header and a row, as where a line is very long."""
        held = b""
        for piece in self:
            held += bytes(piece.data)
            if held.count(b"\n") > 1:
                break
        return held

    def has_one_line(self) -> bool:
        """Whether all is on one line."""
        lines = 0
        for piece in self:
            held = bytes(piece.data).strip()
            lines += held.count(b"\n") + bool(held)
            if lines > 1:
                return False
        return True

    def _check_lines(self, piece: bytes | bytearray, end: int) -> None:
        """Refuse a piece in which a line is longer than lines may be."""
        at = 0
        while end - at > self._longest:
            cut = piece.rfind(b"\n", at, at + self._longest + 1) + 1
            self._check_line(end - at if not cut else 0)
            at = cut

    def _check_line(self, size: int) -> None:
        """Refuse a line that is longer than lines may be."""
        if size > self._longest:
            raise BadFile(
                f"a line is longer than {limits.in_words(self._longest)}",
                hint="is it text with one row on each line? Tables of very many columns fit into Parquet",
                file=self.name,
            )

    def __iter__(self) -> Iterator[Piece]:
        with self._open() as raw:
            stream: Any = decompress(self.name, raw)
            stream = AsUtf8(stream) if self._decoded else stream
            # two buffers by turns: one is read while the other is filled; what is left over of a line moves on
            buffers, turn, rest, wanted = [bytearray(_FIRST), bytearray()], 0, b"", _FIRST
            while True:
                if len(buffers[turn]) < len(rest) + wanted:
                    buffers[turn] = bytearray(len(rest) + wanted)
                buffer, held = buffers[turn], len(rest)
                buffer[:held] = rest
                view = memoryview(buffer)
                got = _fill(self.name, stream, view[held:])
                held += got
                cut = held if not got else _line_end(buffer, held, self._quoted)
                rest = bytes(view[cut:held])
                self._check_line(len(rest))
                self._check_lines(buffer, cut)
                if cut:
                    share = min(1.0, raw.tell() / self._size) if self._size else 0.0
                    yield Piece(view[:cut], share, buffer.find(b'"', 0, cut) >= 0)
                    turn = 1 - turn
                if not got:
                    return
                wanted = _PIECE


class LiveLines(Pieces):
    """Lines as they arrive, for one pass: each piece holds the whole lines that are there."""

    def __init__(self, name: str, stream: BinaryIO, *, quoted: bool) -> None:
        super().__init__(name, lambda: stream, None, quoted=quoted)
        self._stream: Any = stream
        self._text = AsUtf8(stream) if quoted else None
        self._seen = bytearray()
        self._is_over = False
        #: Where a quoted cell begins that is not closed yet, and up to where it was looked for; -1 if there is none.
        self._opened, self._looked = -1, 0

    def first(self) -> bytes:
        """The header and the first row at least; of objects, the first. What has come of the next line waits."""
        while not self._is_over:
            is_object = self._seen[:64].lstrip().startswith(b"{")
            if self._seen.count(b"\n", 0, self._end()) >= (1 if is_object else 2):
                break
            self._read_more()
        return bytes(self._seen[: self._end()])

    def _read_more(self) -> None:
        """The next bytes that are there."""
        block = self._stream.read1(_FIRST)
        self._is_over = not block
        self._seen += block if self._text is None else self._text.in_utf8(block)
        end = self._seen.rfind(b"\n") + 1
        self._check_line(len(self._seen) - end)

    def _end(self) -> int:
        """Where the last whole line ends; the last one of all is whole."""
        if self._is_over:
            return len(self._seen)
        cut = self._seen.rfind(b"\n") + 1
        if not self._quoted:
            return cut
        # without another quote a cell stays open, and need not be looked through again
        if self._opened < 0 or self._seen.find(b'"', self._looked) >= 0:
            self._opened = open_from(self._seen[:cut])
        self._looked = cut
        if self._opened < 0:
            return cut
        self._check_line(len(self._seen) - self._opened)
        return self._seen.rfind(b"\n", 0, self._opened) + 1

    def __iter__(self) -> Iterator[Piece]:
        self.first()
        while True:
            cut = self._end()
            if cut:
                held = bytes(self._seen[:cut])
                self._check_lines(held, cut)
                del self._seen[:cut]
                self._opened, self._looked = -1, 0
                yield Piece(memoryview(held), float(self._is_over), b'"' in held)
            if self._is_over:
                return
            self._read_more()


def decompress(name: str, raw: BinaryIO) -> BinaryIO:
    """The stream itself, or what is packed in it."""
    start = raw.peek(4)[:4] if hasattr(raw, "peek") else b""
    if start.startswith(GZIP):
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    if start == ZSTD:
        import pyarrow as pa

        # bounded in what it unpacks at a time, and a frame that ends too early is an error
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")  # type: ignore[no-any-return]
    return raw


class AsUtf8(io.RawIOBase):
    """Text in UTF-8, whatever it is written in: UTF-16 by the mark at its start, Windows-1252 if it is no UTF-8.

    What is plain ASCII is the same in all of them, so the first bytes that are not decide.
    """

    def __init__(self, stream: Any) -> None:
        self._stream, self._ready = stream, memoryview(b"")
        self.encoding, self._is_first = "", True
        self._decoder: codecs.IncrementalDecoder | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.encoding == "utf-8" and not self._ready:
            return int(self._stream.readinto(buffer))
        while not self._ready:
            block = self._stream.read(1 << 20)
            self._ready = memoryview(self.in_utf8(block))
            if not block:
                break
        some = self._ready[: len(buffer)]
        self._ready = self._ready[len(some) :]
        buffer[: len(some)] = some
        return len(some)

    def in_utf8(self, block: bytes) -> bytes:
        """The next bytes in UTF-8; none says that there are no more."""
        if self._is_first and block[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self.encoding, self._decoder = "utf-16", codecs.getincrementaldecoder("utf-16")("replace")
        elif not self.encoding and not block.isascii():
            try:
                codecs.getincrementaldecoder("utf-8")().decode(block)
                self.encoding = "utf-8"
            except UnicodeDecodeError:
                self.encoding, self._decoder = "windows-1252", codecs.getincrementaldecoder("latin-1")()
                # where the two differ, Windows-1252 has letters and latin-1 has nothing
                if block.translate(None, _UNDEFINED) == block:
                    self._decoder = codecs.getincrementaldecoder("windows-1252")("replace")
        self._is_first = False
        if self._decoder is None:
            return block
        return str(self._decoder.decode(block, not block)).encode()


def _fill(name: str, stream: Any, view: memoryview) -> int:
    """Read until the view is full, or nothing is left; how many bytes that were."""
    done = 0
    with damaged(name, "truncated or damaged compressed file"):
        while done < len(view) and (got := stream.readinto(view[done:])):
            done += got
    return done


def _line_end(buffer: bytearray, held: int, quoted: bool) -> int:
    """Where the last whole line ends, 0 if none does; a line break within quotes ends none."""
    cut = buffer.rfind(b"\n", 0, held) + 1
    # a cell beyond what a line may hold has a quote that nothing closes, which is found when it is parsed
    otherwise = cut if held > limits.LINE else 0
    if not quoted or buffer.find(b'"', 0, cut) < 0:
        return cut
    if not alternate(memoryview(buffer)[:cut]):
        # such as 5" pipe: the cells tell, which takes longer
        opened = open_from(buffer[:cut])
        return cut if opened < 0 else buffer.rfind(b"\n", 0, opened) + 1 or otherwise
    quotes, at = buffer.count(b'"', 0, cut), cut
    while at and quotes % 2:
        before = buffer.rfind(b"\n", 0, at - 1) + 1
        quotes -= buffer.count(b'"', before, at)
        at = before
    return at or otherwise

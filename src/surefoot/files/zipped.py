"""Entries of a zip, one at a time: stored, deflated or in zstd, none larger than it may be."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import Any

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.files.damage import damaged
from surefoot.files.json_text import parse_json
from surefoot.files.source import BadFile

#: Bytes that an entry may unpack to, and all of them together.
MOST_OF_ONE, MOST_OF_ALL = 1 << 27, 1 << 33
_STORED, _DEFLATED, _ZSTD = 0, 8, 93


class Archive:
    """A zip file, at a path or in memory. What its directory claims is checked before anything is unpacked."""

    def __init__(
        self,
        name: str,
        data: Any,
        most_of_one: int = MOST_OF_ONE,
        most_of_all: int = MOST_OF_ALL,
        *,
        what: str = "damaged zip, or none",
    ) -> None:
        self.name, self._data, self._most_of_one = name, data, most_of_one
        with damaged(name, what), self._open() as raw, zipfile.ZipFile(raw) as archive:
            self._entries = {entry.filename: entry for entry in archive.infolist()}
        claimed = sum(entry.file_size for entry in self._entries.values())
        if claimed > most_of_all:
            raise BadFile(
                f"it would unpack to {limits.in_words(claimed)}; at most {limits.in_words(most_of_all)} are read",
                hint="save it as Parquet or CSV, which is read in pieces",
                file=name,
            )

    def _open(self) -> Any:
        import io

        return open(self._data, "rb") if isinstance(self._data, str) else io.BytesIO(self._data)

    def names(self) -> list[str]:
        """The names of its entries, in their order."""
        return list(self._entries)

    def json(self, entry: str) -> Any:
        """What an entry holds, as JSON."""
        content = self.read(entry)
        return parse_json(self.name, content, f"{printable(entry)} is no JSON")

    def read(self, entry: str) -> bytes:
        """What an entry holds. zipfile of this Python may not know zstd, so that entries are unpacked here."""
        about = self._entries[entry]
        most = self._most_of_one
        if about.file_size > most:
            raise BadFile(f"{printable(entry)} would unpack to more than {limits.in_words(most)}", file=self.name)
        with damaged(self.name, f"{printable(entry)} is damaged"), self._open() as raw:
            raw.seek(about.header_offset)
            head = raw.read(30)
            if head[:4] != b"PK\x03\x04":
                raise zipfile.BadZipFile("no entry where the directory says")
            raw.seek(about.header_offset + 30 + sum(struct.unpack("<HH", head[26:30])))
            packed = raw.read(min(about.compress_size, most))
            content = _unpack(packed, about.compress_type, about.file_size)
        if len(content) != about.file_size or zlib.crc32(content) != about.CRC:
            raise BadFile(f"{printable(entry)} is damaged: its checksum differs", file=self.name)
        return content


def _unpack(packed: bytes, kind: int, size: int) -> bytes:
    """The content of an entry, of which no more is unpacked than it claims."""
    if kind == _STORED:
        return packed
    if kind == _DEFLATED:
        return zlib.decompressobj(-15).decompress(packed, size + 1)
    if kind == _ZSTD:
        import zstandard

        found, left = bytearray(), packed
        try:
            # several frames may follow each other
            while left and len(found) <= size:
                reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj(read_across_frames=False)
                found += reader.decompress(left) if len(left) < 1 << 16 else _slowly(reader, left, size)
                left = reader.unused_data
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        return bytes(found)
    raise NotImplementedError(f"its entries are packed by method {kind}, which is not read")


def _slowly(reader: Any, packed: bytes, size: int) -> bytes:
    """Unpack in steps, to stop where more comes out than was claimed."""
    found = bytearray()
    for start in range(0, len(packed), 1 << 14):
        found += reader.decompress(packed[start : start + (1 << 14)])
        if len(found) > size or reader.eof:
            break
    return bytes(found)

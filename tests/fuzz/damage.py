"""Ways to damage a file: its bytes, its cells, the values within it, or its packing."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import struct
import zipfile
from typing import Any

import numpy as np
import zstandard

from tests.fuzz import good

Rng = np.random.Generator
#: Bytes that readers trip over.
PIECES = [
    *(b"nan -inf -0.0 1e-200 1e309 5e-324 0x1p-3 1_0 85% null true 007 1e9999 9223372036854775808 -1 2".split()),
    *(b'"', b'""', b"'", b",", b"\t", b";", b"\r", b"\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe9", b"\\ud800"),
    *(b"7" * 400, b"7" * 5000, b"[" * 3000, b'{"a":' * 300, b"x" * 60_000),
    *("²٣\u202e".encode(), b"\x1b[31m", b"$\\frac$"),
]  # fmt: skip
#: Values that stand where others should.
VALUES: list[Any] = [
    None, True, 0, -1, 0.5, 1.5, 1e308, 5e-324, 2**63, 10**400, "", "x", "0.5", "nan", "inf", "²", "7" * 5000, [], {},
    [[]], [0.5], [None], {"a": {}}, "\ud800", "\x00", "y" * 20_000, float("inf"),
]  # fmt: skip
SIZES = [-1, 0, 255, 1 << 16, 1 << 30, 1 << 31, 1 << 40, 1 << 62, -(1 << 62)]


def of_bytes(rng: Rng, data: bytes) -> bytes:
    """Some bytes changed, put in, taken out, moved or cut off."""
    held = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 2, 3, 10]))):
        at, way = int(rng.integers(len(held) + 1)), int(rng.integers(8))
        some = int(rng.integers(1, 2 + len(held) // 4))
        if way == 0 and held:
            held[at % len(held)] ^= 1 << int(rng.integers(8))
        elif way == 1:
            held[at:at] = PIECES[int(rng.integers(len(PIECES)))]
        elif way == 2:
            piece = PIECES[int(rng.integers(len(PIECES)))]
            held[at : at + len(piece)] = piece
        elif way == 3:
            del held[at : at + some]
        elif way == 4:
            held[at:at] = held[at : at + some]
        elif way == 5:
            del held[at:]
        elif way == 6:
            form, size = ("<q", 8) if rng.random() < 0.5 else ("<i", 4)
            value = SIZES[int(rng.integers(len(SIZES)))] % (1 << (8 * size - 1))
            held[at : at + size] = struct.pack(form, value)
        else:
            held = held[at:] + held[:at]
    return bytes(held)


def of_cells(rng: Rng, data: bytes, mark: bytes) -> bytes:
    """Whole cells of a table as text changed, put in or taken out."""
    lines = data.split(b"\n")
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        cells = lines[at].split(mark)
        i, piece, way = int(rng.integers(len(cells))), PIECES[int(rng.integers(len(PIECES)))], int(rng.integers(4))
        if way < 2:
            cells[i] = piece if way else b'"' + cells[i] + piece
        elif way == 2:
            cells.insert(i, piece)
        else:
            del cells[i]
        lines[at] = mark.join(cells)
    return b"\n".join(lines)


def of_values(rng: Rng, value: Any, depth: int = 0) -> Any:
    """A value of JSON with something else somewhere within it."""
    if depth > 6 or not value or not isinstance(value, list | dict) or rng.random() < 0.2:
        return VALUES[int(rng.integers(len(VALUES)))]
    held = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    i, way = int(rng.integers(len(held))), rng.random()
    if way < 0.8:
        held[i] = (held[i][0], of_values(rng, held[i][1], depth + 1))
    elif way < 0.9:
        del held[i]
    else:
        held.append((str(held[i][0]) + "2" if isinstance(value, dict) else 0, held[i][1]))
    return dict(held) if isinstance(value, dict) else [one for _, one in held]


def signed_again(document: Any) -> bytes:
    """A saved document with the checksum of what it says now, so that what comes after it is reached."""
    document = document if isinstance(document, dict) else {}
    body = {name: value for name, value in document.items() if name not in ("surefoot", "schema", "sha256")}
    try:
        text = json.dumps(body, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = ""
    return json.dumps({**document, "sha256": hashlib.sha256(text.encode()).hexdigest()}).encode()


def of_entries(rng: Rng, data: bytes) -> bytes:
    """A sound zip, of which one entry is not; or a damaged one, if it has entries that cannot be unpacked here."""
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if any(one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for one in archive.infolist()):
            return of_bytes(rng, data)
        entries = {one.filename: archive.read(one) for one in archive.infolist()}
    name = list(entries)[int(rng.integers(len(entries)))]
    entries[name] = of_bytes(rng, entries[name])
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)
    return sink.getvalue()


def of_lately(rng: Rng) -> tuple[str, bytes]:
    """A damaged log of answers, workbook or database, or what unpacks to far more than it should."""
    way = rng.random()
    if way < 0.02:
        return good.bomb(rng)
    if way < 0.5:
        name, data = good.evaluation(rng)
        if name.endswith(".eval"):
            return name, of_entries(rng, data) if rng.random() < 0.5 else of_bytes(rng, data)
        if rng.random() < 0.5:
            return name, of_bytes(rng, data)
        if name.endswith(".json"):
            return name, json.dumps(of_values(rng, json.loads(data))).encode()
        rows = [json.loads(line) for line in data.splitlines()]
        i = int(rng.integers(len(rows)))
        rows[i] = of_values(rng, rows[i])
        return name, "".join(json.dumps(row) + "\n" for row in rows).encode()
    if way < 0.7:
        data = good.workbook(rng)
        return "x.xlsx", of_entries(rng, data) if rng.random() < 0.7 else of_bytes(rng, data)
    kind = "sqlite" if way < 0.9 else "duckdb"
    return f"x.{kind}", of_bytes(rng, good.database(kind, int(rng.integers(20))))


#: Of all files, how many are logs of answers, workbooks and databases.
LATELY = 0.4
DOCUMENTS = ("tally", "monitor", "calibrator", "policy")
KINDS = ("csv", "csv", "csv", "tsv", "jsonl", "jsonl", "samples", "parquet", "arrow", "npz", "eval", *DOCUMENTS)


def case(seed: int, index: int) -> tuple[str, bytes]:
    """A damaged file: its name and what it holds; the same for the same numbers."""
    rng = np.random.default_rng([seed, index, 2])
    if rng.random() < LATELY:
        return of_lately(rng)
    rng = np.random.default_rng([seed, index])
    kind = KINDS[int(rng.integers(len(KINDS)))]
    in_bytes, name = rng.random() < 0.5, f"x.{kind}"
    if kind in ("csv", "tsv"):
        mark = "," if kind == "csv" else "\t"
        data = good.delimited(rng, mark)
        data = of_bytes(rng, data) if in_bytes else of_cells(rng, data, mark.encode())
        if rng.random() < 0.03:
            data = data.decode("utf-8", "replace").encode(str(rng.choice(["utf-16", "latin-1", "utf-32"])), "replace")
    elif kind in ("jsonl", "samples"):
        rows: list[Any] = good.json_rows(rng) if kind == "jsonl" else good.harness_rows(rng)
        name = "x.jsonl" if kind == "jsonl" else "samples_x_2024-01-01T00-00-00.jsonl"
        if not in_bytes:
            i = int(rng.integers(len(rows)))
            rows[i] = of_values(rng, rows[i])
        text = "".join(json.dumps(row) + "\n" for row in rows)
        if rng.random() < 0.1:
            name, text = "x.json", json.dumps(rows)
        data = of_bytes(rng, text.encode()) if in_bytes else text.encode()
    elif kind in DOCUMENTS:
        held = good.saved(kind)
        data = held[int(rng.integers(len(held)))]
        data = of_bytes(rng, data) if in_bytes else signed_again(of_values(rng, json.loads(data)))
    else:
        make = {"parquet": good.parquet, "arrow": good.arrow, "npz": good.npz, "eval": good.inspect_log}[kind]
        data = of_bytes(rng, make(rng))
    if kind not in DOCUMENTS[1:] and rng.random() < 0.15:
        is_gzip = rng.random() < 0.5
        data = gzip.compress(data) if is_gzip else zstandard.compress(data)
        name += ".gz" if is_gzip else ".zst"
        data = of_bytes(rng, data) if rng.random() < 0.6 else data
    if kind not in DOCUMENTS and rng.random() < 0.08:
        # known by its first bytes, or called what it is not
        name = str(rng.choice(["x", "x.csv", "x.parquet", "x.arrow", "x.npz", "x.xlsx", "x.tally", "x.sqlite"]))
    return name, data

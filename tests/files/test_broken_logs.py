"""Damaged logs and tables: an error that is documented, and nothing else. SUREFOOT_FUZZ sets how many are tried."""

import io
import json
import os
import random
import zipfile
from pathlib import Path

import pytest
import zstandard
from test_logs import CASES, LOGS

import surefoot as sf

TRIED = int(os.environ.get("SUREFOOT_FUZZ", "1500"))
INSPECT = sorted(LOGS.iterdir())
TABLES = {
    "table.csv": b"correct;confidence\nyes;85%\nno;0,7\n" * 5,
    "latin.csv": "label,predicted,confidence\nsüd,süd,0.9\nnord,süd,0.8\n".encode("latin-1"),
    "wide.csv": "label,predicted,confidence\nsüd,süd,0.9\nnord,süd,0.8\n".encode("utf-16"),
}
ODD = [
    b"\x00",
    b"\xff",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b"NaN",
    b"Infinity",
    b"1e999",
    b"-1",
    b"null",
    b"true",
    b"\\ud800",
]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content with bytes changed, cut out, repeated or put in."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at, size = rng.randrange(len(data) + 1), rng.randrange(1, 40)
        match rng.randrange(5):
            case 0:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = data[at : at + size] * rng.choice([1, 2, 50])
            case 3:
                data[at:at] = rng.choice(ODD)
            case 4:
                data = data[:at] if rng.random() < 0.2 else data
    return bytes(data) or b" "


def inside(content: bytes, rng: random.Random) -> bytes:
    """A zip that is sound, with an entry that is not."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice([name for name in entries if not name.startswith("_journal")])
    entries[name] = damaged(entries[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, value in entries.items():
            archive.writestr(key, value)
    return out.getvalue()


def read_it(path: Path, *, drop: bool) -> None:
    try:
        sf.load(path, drop_missing=drop)
    except sf.InvalidPredictions as error:
        assert str(error)


@pytest.mark.parametrize("part", range(4))
def test_only_documented_errors(part: int, tmp_path: Path) -> None:
    files = {name: content.encode() for name, (content, _, _) in CASES.items()}
    files |= {path.name: path.read_bytes() for path in INSPECT} | TABLES
    names = sorted(files)
    for seed in range(part, TRIED, 4):
        rng = random.Random(seed)
        name = rng.choice(names)
        is_deep = name == "inspect_deflated.eval" and rng.random() < 0.7
        path = tmp_path / name
        path.write_bytes((inside if is_deep else damaged)(files[name], rng))
        try:
            read_it(path, drop=rng.random() < 0.5)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}: {type(error).__name__}: {error}") from error


def test_an_entry_that_unpacks_to_more_than_it_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "[" + " " * (1 << 28) + "]")
    with pytest.raises(sf.InvalidPredictions, match="would unpack to more than 128 MiB"):
        sf.load(path)
    packed = zstandard.compress(b" " * (1 << 28))
    honest = bytearray(path.read_bytes()[:30] + b"header.json")
    assert honest[:4] == b"PK\x03\x04"
    assert len(packed) < 1 << 16


def test_a_document_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.zst"
    path.write_bytes(zstandard.compress(b"[" + b" " * (1 << 28) + b"]"))
    with pytest.raises(sf.InvalidPredictions, match="more than 128 MiB"):
        sf.load(path)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('[{"a":' * 100_000)
    with pytest.raises(sf.InvalidPredictions):
        sf.load(path)
    path.write_text(json.dumps({"x": {"correct": "yes", "confidence": 0.5, "extra": {"a": {"b": {"c": {"d": 1}}}}}}))
    assert sf.load(path).confidence.tolist() == [0.5]

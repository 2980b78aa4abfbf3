"""Each limit: what is just below is read, what is just above is refused, with the limit and a way round it."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

import surefoot as sf
from surefoot._io import limits
from surefoot.files import excel
from surefoot.files.json_text import check_nesting
from surefoot.files.reading import follow
from surefoot.files.streams import LiveLines
from surefoot.files.zipped import MOST_OF_ONE
from surefoot.metrics.confusion import MOST_CLASSES

ROWS = "correct,confidence\n1,0.9\n0,0.6\n"


def load(path: Path, content: str | bytes) -> sf.Predictions:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return sf.load(path)


def test_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wide(columns: int) -> str:
        header, *rows = ROWS.splitlines()
        more = columns - 2
        names = ",".join(f"x{i}" for i in range(more))
        return "\n".join([f"{header},{names}", *(f"{row}{',0' * more}" for row in rows)]) + "\n"

    assert len(load(tmp_path / "a.csv", wide(limits.COLUMNS))) == 2
    with pytest.raises(sf.InvalidPredictions, match=r"20,001 columns; at most 20,000 are read; .* Parquet"):
        load(tmp_path / "a.csv", wide(limits.COLUMNS + 1))


def test_the_name_of_a_column(tmp_path: Path) -> None:
    def named(size: int) -> str:
        return ROWS.replace("correct,", f"{'n' * size},correct,").replace("\n1,", "\n7,1,").replace("\n0,", "\n7,0,")

    assert len(load(tmp_path / "a.csv", named(limits.NAME))) == 2
    with pytest.raises(sf.InvalidPredictions, match="10,001 characters; at most 10,000"):
        load(tmp_path / "a.csv", named(limits.NAME + 1))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_labels(suffix: str, tmp_path: Path) -> None:
    def labelled(size: int) -> sf.Predictions:
        label = "ü" * size
        held = pa.table({"truth": ["a", label], "predicted": [label, label], "confidence": [0.9, 0.8]})
        path = tmp_path / f"a{suffix}"
        if suffix == ".csv":
            pa.csv.write_csv(held, path)
        elif suffix == ".parquet":
            pq.write_table(held, path)
        else:
            pa.feather.write_feather(held, str(path))
        return sf.load(path)

    assert len(labelled(limits.LABEL)) == 2
    with pytest.raises(sf.InvalidPredictions, match=r"row 2: truth holds a name of 10,001 characters; at most 10,000"):
        labelled(limits.LABEL + 1)


def test_ids(tmp_path: Path) -> None:
    def counted(size: int) -> int:
        path = tmp_path / "a.csv"
        path.write_text(f"id,correct,confidence\n{'x' * size},1,0.9\ny,0,0.6\n")
        return sum(len(ids) for _, ids, _ in follow(str(path), {}, identifier="id", delimiter=None))

    assert counted(limits.LABEL) == 2
    with pytest.raises(sf.InvalidPredictions, match=r"row 1: id holds a name of 10,001 characters; at most 10,000"):
        counted(limits.LABEL + 1)
    monitor = sf.Monitor()
    monitor.update([True], [0.9], ids=["x" * limits.LABEL])
    with pytest.raises(sf.InvalidPredictions, match=r"ids\[0\] has 10,001 characters; an id has at most 10,000"):
        monitor.update([True], [0.9], ids=["x" * (limits.LABEL + 1)])


def test_slices(tmp_path: Path) -> None:
    def sliced(count: int) -> sf.Assessment:
        path = tmp_path / "a.csv"
        path.write_text("correct,confidence,region\n" + "".join(f"1,0.9,r{i}\n" for i in range(count)))
        return sf.assess(path, by="region", metrics=["csr"])

    assert len(sliced(limits.SLICES).slices) == limits.SLICES
    with pytest.raises(sf.InvalidPredictions, match="2,001 slices by 'region'; at most 2,000"):
        sliced(limits.SLICES + 1)


@pytest.mark.parametrize("role", ["by", "groups"])
def test_the_name_of_a_slice_or_a_group(role: str, tmp_path: Path) -> None:
    def named(size: int) -> sf.Assessment:
        path = tmp_path / "a.csv"
        path.write_text(f"correct,confidence,region\n1,0.9,x\n0,0.8,{'r' * size}\n")
        return sf.assess(path, **{role: "region"})

    assert named(limits.LABEL).risk.n == 2
    with pytest.raises(sf.InvalidPredictions, match=r"row 2: region holds a name of 10,001 characters; at most 10,000"):
        named(limits.LABEL + 1)


def test_slices_by_the_predicted_label(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("truth,predicted,confidence\n" + "".join(f"c{i},c{i},0.9\n" for i in range(limits.SLICES + 1)))
    with pytest.raises(sf.InvalidPredictions, match="2,001 slices by 'predicted'; at most 2,000"):
        sf.assess(path, by="predicted")


def test_a_line(tmp_path: Path) -> None:
    def long(size: int) -> str:
        return f"correct,confidence,note\n1,0.9,{'x' * (size - len('1,0.9,'))}\n0,0.6,y\n"

    assert len(load(tmp_path / "a.csv", long(limits.LINE))) == 2
    with pytest.raises(sf.InvalidPredictions, match="a line is longer than 32 MiB"):
        load(tmp_path / "a.csv", long(limits.LINE + 1))


def test_a_line_that_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINE", 1000)

    def arrived(size: int) -> int:
        lines = f"correct,confidence,note\n1,0.9,{'x' * (size - len('1,0.9,'))}\n0,0.6,y\n"
        return sum(len(piece.data) for piece in LiveLines("it", io.BytesIO(lines.encode()), quoted=True))

    assert arrived(1000) == 1000 + len("correct,confidence,note\n\n0,0.6,y\n")
    with pytest.raises(sf.InvalidPredictions, match="a line is longer than"):
        arrived(1001)


def test_a_line_of_json_lines(tmp_path: Path) -> None:
    def long(size: int) -> str:
        line = '{"correct": 1, "confidence": 0.9, "note": "'
        return f'{{"correct": 0, "confidence": 0.8}}\n{line}{"x" * (size - len(line) - 2)}"}}\n'

    assert len(load(tmp_path / "a.jsonl", long(limits.DOCUMENT))) == 2
    with pytest.raises(sf.InvalidPredictions, match="a line is longer than 128 MiB"):
        load(tmp_path / "a.jsonl", long(limits.DOCUMENT + 1))


def test_an_entry_of_a_log(tmp_path: Path) -> None:
    def padded(size: int) -> sf.Predictions:
        summaries = b'[{"id": 1, "epoch": 1, "scores": {"match": {"value": "C", "metadata": {"confidence": 0.9}}}}]'
        with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("header.json", '{"status": "success", "eval": {"task": "t", "model": "m"}}')
            archive.writestr("summaries.json", summaries + b" " * (size - len(summaries)))
        return sf.load(tmp_path / "a.eval")

    assert len(padded(MOST_OF_ONE)) == 1
    with pytest.raises(sf.InvalidPredictions, match=r"summaries\.json would unpack to more than 128 MiB"):
        padded(MOST_OF_ONE + 1)


def test_classes_of_a_confusion_matrix() -> None:
    def of(count: int) -> float:
        labels = np.arange(count)
        return sf.cw_mcc(labels, labels, np.full(count, 0.9))

    tracemalloc.start()
    try:
        assert of(MOST_CLASSES) == pytest.approx(1, rel=1e-12)
        # the matrix itself, which nobody asked for, would take 3.2 GB
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
    with pytest.raises(
        sf.InvalidPredictions, match=r"20,001 classes, too many for a confusion matrix \(at most 20,000\)"
    ):
        of(MOST_CLASSES + 1)


def test_nesting(tmp_path: Path) -> None:
    def nested(levels: int) -> str:
        inner = levels - 1
        return json.dumps({"correct": 1, "confidence": 0.9, "x": "]["})[:-1] + f', "y": {"[" * inner}{"]" * inner}}}\n'

    assert len(load(tmp_path / "a.jsonl", nested(limits.NESTING))) == 1
    with pytest.raises(sf.InvalidPredictions, match="more than 100 levels"):
        load(tmp_path / "a.jsonl", nested(limits.NESTING + 1))


def test_brackets_within_text_nest_nothing() -> None:
    check_nesting(json.dumps({"x": "[" * 1000, 'a"[': ["\\"] * 200}).encode())


def test_a_document(tmp_path: Path) -> None:
    def padded(size: int) -> bytes:
        content = b'[{"correct": 1, "confidence": 0.9}]'
        return content + b" " * (size - len(content))

    assert len(load(tmp_path / "a.json", padded(limits.DOCUMENT))) == 1
    with pytest.raises(sf.InvalidPredictions, match=r"more than 128 MiB is not read; .*one object on each line"):
        load(tmp_path / "a.json", padded(limits.DOCUMENT + 1))


def test_what_a_packed_file_unpacks_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"correct": [1, 0], "confidence": [0.9, 0.6]}), sink)
    whole = sink.getvalue()
    monkeypatch.setattr(limits, "UNPACKED_TIMES", 0)
    monkeypatch.setattr(limits, "UNPACKED", len(whole))
    assert len(load(tmp_path / "a.parquet.gz", gzip.compress(whole))) == 2
    monkeypatch.setattr(limits, "UNPACKED", len(whole) - 1)
    with pytest.raises(sf.InvalidPredictions, match="it unpacks to more than"):
        load(tmp_path / "a.parquet.gz", gzip.compress(whole))


def test_a_packed_file_may_unpack_to_four_times_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = io.BytesIO()
    rows = pa.table({"correct": [1, 0] * 5000, "confidence": [0.9, 0.6] * 5000})
    pq.write_table(rows, sink, compression="none", use_dictionary=False)
    whole = sink.getvalue()
    packed, enough = gzip.compress(whole), -(-len(whole) // limits.UNPACKED_TIMES)
    # in place of half a gigabyte, so that the other of the two decides
    monkeypatch.setattr(limits, "UNPACKED", len(whole) // 2)
    # a stream of gzip may end in zeros
    assert len(load(tmp_path / "a.parquet.gz", packed.ljust(enough, b"\0"))) == 10_000
    with pytest.raises(sf.InvalidPredictions, match="it unpacks to more than"):
        load(tmp_path / "a.parquet.gz", packed.ljust(enough - 1, b"\0"))


def test_a_workbook_may_unpack_to_two_hundred_times_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = openpyxl.Workbook()
    for row in (["correct", "confidence"], [1, 0.9], [0, 0.6]):
        book.active.append(row)
    book.save(tmp_path / "b.xlsx")
    path = tmp_path / "a.xlsx"

    def padded(size: int) -> None:
        """The workbook with many zeros in it, and a comment that makes the archive so large."""
        with (
            zipfile.ZipFile(tmp_path / "b.xlsx") as held,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made,
        ):
            for name in held.namelist():
                made.writestr(name, held.read(name))
            made.writestr("zeros.bin", bytes(4_000_000))
            made.comment = b"x" * size

    padded(0)
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    enough = -(-unpacked // excel._TIMES) - path.stat().st_size
    # what is much is made smaller, as the workbook is
    monkeypatch.setattr(excel, "_MUCH", unpacked - 1)
    padded(enough)
    assert len(sf.load(path)) == 2
    padded(enough - 1)
    with pytest.raises(sf.InvalidPredictions, match="it would unpack to 3 MiB, which is too much for a workbook"):
        sf.load(path)
    monkeypatch.setattr(excel, "_MUCH", unpacked)
    assert len(sf.load(path)) == 2
    monkeypatch.setattr(excel, "_MOST", unpacked - 1)
    with pytest.raises(sf.InvalidPredictions, match="too much for a workbook"):
        sf.load(path)


@pytest.mark.heavy
def test_what_arrays_unpack_to(tmp_path: Path) -> None:
    """Zeros of just less than half a gigabyte are read; one more makes them refused, before they are unpacked."""

    def zeros(size: int) -> Path:
        path = tmp_path / "a.npz"
        header = np.lib.format.header_data_from_array_1_0(np.empty(0, np.uint8)) | {"shape": (size,)}
        start = io.BytesIO()
        np.lib.format.write_array_header_1_0(start, header)
        block = bytes(1 << 24)
        archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        with archive, archive.open("x.npy", "w") as entry:
            entry.write(start.getvalue())
            for _ in range(size >> 24):
                entry.write(block)
            entry.write(bytes(size % (1 << 24)))
        return path

    with pytest.raises(sf.InvalidPredictions, match="no column of confidences"):
        sf.load(zeros(limits.UNPACKED - 128))
    path = zeros(limits.UNPACKED - 127)
    tracemalloc.start()
    with pytest.raises(sf.InvalidPredictions, match=r"it would unpack to 512 MiB; at most 512 MiB .*Parquet or CSV"):
        sf.load(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 26
    tracemalloc.stop()


@pytest.mark.parametrize("kind", ["tally", "monitor", "calibrator", "policy"])
def test_saved_files(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"a.{kind}"
    rows = sf.Predictions.from_correct([True, False, True, True], [0.9, 0.6, 0.7, 0.8])
    save: dict[str, Callable[[Path], None]] = {
        "tally": sf.tally(rows).save,
        "monitor": sf.Monitor().save,
        "calibrator": sf.calibrators.SafeBins().fit([0.9, 0.6, 0.2, 0.1], [1, 1, 0, 0]).save,
        "policy": sf.Policy(sf.Thresholds(0.9), error=0.1, level=0.05, rows=10).save,
    }
    load = {
        "tally": sf.Tally.load,
        "monitor": sf.Monitor.load,
        "calibrator": sf.calibrators.load,
        "policy": sf.Policy.load,
    }[kind]
    save[kind](path)
    size = path.stat().st_size
    monkeypatch.setitem(limits.SAVED, kind, size)
    save[kind](path)
    load(path)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(ValueError, match=f"larger than .* no saved {kind} is"):
        load(path)
    monkeypatch.setitem(limits.SAVED, kind, size - 1)
    before = path.read_bytes()
    with pytest.raises(OSError, match="Nothing was written"):
        save[kind](path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", list(limits.SAVED))
def test_saved_files_that_are_too_large_are_not_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tally"
    with path.open("wb") as stream:
        stream.truncate(64 * limits.SAVED[kind])
    load, error, most = {
        "tally": (sf.Tally.load, sf.InvalidTally, "512 MiB"),
        "monitor": (sf.Monitor.load, sf.InvalidMonitor, "1 GiB"),
        "calibrator": (sf.calibrators.load, sf.InvalidCalibrator, "64 MiB"),
        "policy": (sf.Policy.load, sf.InvalidPolicy, "16 MiB"),
    }[kind]
    tracemalloc.start()
    try:
        with pytest.raises(error, match=f"larger than {most}"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


def test_the_page_of_limits_says_what_they_are() -> None:
    page = (Path(__file__).parents[1] / "docs" / "limits.md").read_text()
    rows = [row.split("|") for row in page.splitlines() if row.startswith("|")]
    cells = {row[1].strip(): row[2].strip() for row in rows}
    assert cells["columns of a file"] == f"{limits.COLUMNS:,}"
    assert cells["characters of the name of a column"] == f"{limits.NAME:,}"
    assert cells["characters of a label, a slice, a group or an id"] == f"{limits.LABEL:,}"
    assert cells["slices of a file"] == f"{limits.SLICES:,}"
    assert cells["a line of CSV"] == limits.in_words(limits.LINE)
    assert cells["levels of lists and objects in JSON"] == f"{limits.NESTING}"
    assert cells["a JSON document in one piece, or one line of JSON lines"] == limits.in_words(limits.DOCUMENT)
    assert cells["what a file that is read whole unpacks to"].startswith(limits.in_words(limits.UNPACKED))
    workbook = (
        f"{limits.in_words(excel._MOST)}; above {limits.in_words(excel._MUCH)} also {excel._TIMES} times its size"
    )
    assert cells["what an Excel workbook unpacks to"] == workbook
    assert cells["an entry of a log of Inspect AI"] == limits.in_words(MOST_OF_ONE)
    assert cells["classes of a confusion matrix"] == f"{MOST_CLASSES:,}"
    for kind, size in limits.SAVED.items():
        assert cells[f"a saved {kind}"] == limits.in_words(size)


def _long_labels(path: Path) -> None:
    labels = pa.DictionaryArray.from_arrays(pa.array([0] * 6000, pa.int32()), ["x" * (1 << 20)])
    table = pa.table({"truth": labels, "predicted": labels, "confidence": [0.5] * 6000})
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


def _zip_of_zips(path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(1 << 28))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(20):
            archive.writestr(f"{i}.npy", inner.getvalue())


def _good_rows(path: Path) -> None:
    pack = zstandard.ZstdCompressor().compressobj()
    rows = b"1,0.9\n0,0.6\n" * (1 << 20)
    with path.open("wb") as stream:
        stream.write(pack.compress(b"correct,confidence\n"))
        for _ in range(20):
            stream.write(pack.compress(rows))
        stream.write(pack.flush())


def _many_zeros(path: Path) -> None:
    block = bytes(1 << 24)
    archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("x.npy", "w", force_zip64=True) as entry:
        for _ in range(128):
            entry.write(block)


#: Small files of much content, and what is said of them; None for what is read.
BOMBS: dict[str, tuple[Callable[[Path], object], str | None]] = {
    "zeros.csv.gz": (lambda path: path.write_bytes(gzip.compress(bytes(1 << 30), 1)), "a line is longer than 32 MiB"),
    "zeros.csv.zst": (
        lambda path: path.write_bytes(zstandard.compress(bytes(1 << 30))),
        "a line is longer than 32 MiB",
    ),
    "one-line.csv.gz": (
        lambda path: path.write_bytes(gzip.compress(ROWS.encode() + b"1" * (1 << 30), 1)),
        "a line is longer than 32 MiB",
    ),
    "rows.csv.zst": (_good_rows, None),
    "zips.npz": (_zip_of_zips, "not a NumPy archive of plain arrays"),
    "zeros.npz": (_many_zeros, "at most 512 MiB"),
    "labels.parquet": (_long_labels, "a name of 1,048,576 characters"),
    "labels.arrow": (_long_labels, "a name of 1,048,576 characters"),
    "nothing.tally.gz": (lambda path: path.write_bytes(gzip.compress(b" " * (1 << 30), 1)), "larger than 512 MiB"),
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", list(BOMBS))
def test_small_files_of_much_content_take_little_memory(name: str, tmp_path: Path) -> None:
    write, said = BOMBS[name]
    path = tmp_path / name
    write(path)
    assert path.stat().st_size < 1 << 23
    program = (
        "import re, surefoot as sf\n"
        f"try: print(sf.assess({str(path)!r}).verdict)\n"
        "except (sf.InvalidPredictions, sf.InvalidTally) as error: print(error)\n"
        # of this process alone: what getrusage tells begins with the most that its parent held
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) >> 10)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    words, peak = done.stdout.splitlines()
    assert said is None or said in words, words
    assert int(peak) < 1536, f"{peak} MiB"

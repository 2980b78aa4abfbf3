"""What commands write: whatever happens to their output, and wherever its names lead."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.cli import run

ROWS = "truth,prob\n" + "1,0.75\n0,0.25\n" * 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in.csv").write_text(ROWS)
    (tmp_path / "sub").mkdir()
    (tmp_path / "g").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "g" / name).write_text(ROWS)
    for name in ("a.tally", "b.tally"):
        sf.tally(sf.load(tmp_path / "in.csv")).save(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def surefoot(arguments: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "surefoot", *arguments], check=False, **options)  # type: ignore[call-overload, no-any-return]


# -- no file that is read is written over ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        "assess in.csv --html sub/../in.csv",
        "assess in.csv --junit hard.csv --fail-on risky",
        "assess in.csv --save-tally link.csv",
        "assess g/*.csv --html g/a.csv",
        "assess g --save-tally g/a.csv",
        "assess g --save-tally sub/../g/b.csv",
        "assess a.tally --baseline b.tally --save-tally b.tally",
        "assess sqlite:///rows.db --html rows.db",
        "compare x=in.csv y=g/a.csv --html g/a.csv",
        "act-alone in.csv --error 0.3 --html in.csv",
        "expect in.csv --reference g/b.csv --html g/b.csv",
        "calibrate --fit in.csv --apply g/a.csv -o g/a.csv --method platt",
        "calibrate --fit in.csv --apply in.csv -o sub/../in.csv --method platt",
        "calibrate --fit in.csv --save in.csv --method platt",
        "calibrate --load c.json --apply in.csv -o link.csv",
        "merge a.tally b.tally -o a.tally",
        "merge a.tally b.tally -o sub/../b.tally",
        "monitor in.csv --state in.csv",
        "monitor in.csv --state s --html in.csv",
        "monitor in.csv --state s --html s",
    ],
)
def test_no_input_is_written_over(arguments: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    (folder / "hard.csv").hardlink_to(folder / "in.csv")
    (folder / "link.csv").symlink_to("in.csv")
    with sqlite3.connect("rows.db") as rows:
        rows.execute("create table t (correct int, confidence real)")
        rows.execute("insert into t values (1, 0.75)")
    rows.close()
    assert run(["calibrate", "--fit", "in.csv", "--save", "c.json", "--method", "platt"]) == 0
    capfd.readouterr()
    before = contents(folder)
    assert run(arguments.split()) == 2
    assert "would be written over" in capfd.readouterr().err
    assert contents(folder) == before


def test_standard_input_is_not_written_over(folder: Path) -> None:
    with (folder / "in.csv").open("rb") as rows:
        done = surefoot(["assess", "-", "--html", "in.csv"], stdin=rows, capture_output=True)
    assert done.returncode == 2
    assert b"would be written over" in done.stderr
    assert (folder / "in.csv").read_text() == ROWS


def test_a_file_that_is_printed_to_is_no_other_output(folder: Path) -> None:
    with (folder / "r.json").open("wb") as out:
        done = surefoot(["assess", "in.csv", "--json", "-o", "r.json"], stdout=out, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"two outputs have one name" in done.stderr


# -- special files, links, folders -------------------------------------------------------------------------------------


def test_special_files_and_links_stay_what_they_are(
    folder: Path, null: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo("pipe")
    (folder / "link.html").symlink_to("sub/real.html")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    assert run(["assess", "in.csv", "--html", "pipe", "--save-tally", str(null), "-o", "plain.md"]) == 0
    reader.join()
    assert run(["assess", "in.csv", "--html", "link.html"]) == 0
    assert Path("pipe").is_fifo()
    assert null.is_char_device()
    assert Path("link.html").is_symlink()
    assert read == [Path("sub/real.html").read_bytes()]
    told = capfd.readouterr().out
    assert f"Wrote {null} (" in told
    assert "Wrote pipe (0 bytes)" not in told
    assert run(["monitor", "in.csv", "--state", str(null)]) == 2


@pytest.mark.parametrize("name", ["sub", "none/r.html", "/proc/r.html", "x" * 300 + ".html"])
def test_what_cannot_be_written_is_named_and_nothing_changes(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    assert run(["assess", "in.csv", "--html", name, "--save-tally", "t.tally"]) == 3
    told = capfd.readouterr().err
    assert name.partition("/")[0] in told or "/proc" in told
    assert ".surefoot" not in told
    assert contents(folder) == before


# -- a full disk, and interrupts ---------------------------------------------------------------------------------------

TWO_OUTPUTS = [
    "assess in.csv --html r.html --save-tally old.txt",
    "compare x=in.csv y=g/a.csv -o old.json -o r.html",
    "act-alone in.csv --error 0.3 -o old.json -o r.html",
    "expect in.csv --reference g/b.csv -o old.json -o r.html",
    "calibrate --fit in.csv --apply in.csv --save old.json -o fixed.csv --method platt",
    "monitor in.csv --state old.state --html r.html",
]


@pytest.mark.parametrize("arguments", TWO_OUTPUTS)
def test_on_a_full_disk_nothing_changes(arguments: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["monitor", "g/a.csv", "--state", "old.state"]) == 0
    for name in ("old.json", "old.txt"):
        Path(name).write_text("old")
    before = contents(folder)
    # there is room for one of the two files
    sizes = {"calibrate": 900, "monitor": 9_000}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes.get(arguments.split()[0], 8_000), limits[1]))
    try:
        status = run(arguments.split())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    told = capfd.readouterr()
    assert (status, "Wrote" in told.out) == (3, False)
    assert "File too large" in told.err
    assert ".surefoot" not in told.err
    assert contents(folder) == before


@pytest.mark.parametrize("arguments", [*TWO_OUTPUTS, "merge a.tally b.tally -o old.txt"])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupt_while_files_are_written_changes_nothing(
    arguments: str, step: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["monitor", "g/a.csv", "--state", "old.state"]) == 0
    for name in ("old.json", "old.txt"):
        Path(name).write_text("old")
    before, whole, left = contents(folder), getattr(os, step), 1 if "merge" not in arguments else 0

    def interrupted(*given: object) -> None:
        nonlocal left
        if not left:
            left = -1
            raise KeyboardInterrupt
        left -= 1
        whole(*given)

    monkeypatch.setattr(os, step, interrupted)
    assert run(arguments.split()) == 130
    assert contents(folder) == before


# -- standard output ---------------------------------------------------------------------------------------------------


def test_a_gate_holds_and_writes_whoever_reads_its_output(folder: Path) -> None:
    """Closed early, closed from the start, full, or of ASCII characters: the rule holds, and the report is there."""
    (folder / "é×.csv").write_text(ROWS)
    options = "--fail-on 'accuracy<2'"
    for end, status, is_written in (
        ("| true", 1, True),
        (">&-", 1, True),
        (">&- 2>&- <&-", 1, True),
        ("2>/dev/full", 1, True),
        (">/dev/full", 3, False),
        ("--format markdown >/dev/full", 3, False),
        (">ascii.txt", 1, True),
        ("--format markdown >ascii.md", 1, True),
    ):
        Path("r.html").unlink(missing_ok=True)
        done = subprocess.run(
            f"{sys.executable} -m surefoot assess é×.csv {options} --html r.html {end}; exit ${{PIPESTATUS[0]}}",
            shell=True, executable="/bin/bash", capture_output=True, check=False,
            env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
        )  # fmt: skip
        assert (done.returncode, Path("r.html").exists()) == (status, is_written), (end, done.stderr)
        assert b"Traceback" not in done.stderr
        if status == 3:
            assert done.stderr.strip() == b"error: standard output: No space left on device"
        if is_written:
            assert Path("r.html").read_text().endswith("</html>")
    assert "\\xe9x.csv" in Path("ascii.txt").read_text("ascii")


def test_a_monitor_saves_whoever_reads_its_output(folder: Path) -> None:
    for end in ("| true", ">&-"):
        done = subprocess.run(
            f"{sys.executable} -m surefoot monitor in.csv --state s {end}; exit ${{PIPESTATUS[0]}}",
            shell=True, executable="/bin/bash", capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
    assert sf.Monitor.load("s").rows == 160


# -- one state, several monitors ---------------------------------------------------------------------------------------


def test_monitors_that_count_into_one_state_lose_no_row(folder: Path) -> None:
    """Four at once, with a new state: each waits for the others."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "surefoot", "monitor", "in.csv", "--state", "s"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]  # fmt: skip
    assert [process.wait() for process in processes] == [0] * 4
    for process in processes:
        process.communicate()
    assert sf.Monitor.load("s").rows == 4 * 80
    assert not list(folder.glob(".surefoot*"))


def test_a_state_in_use_is_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from surefoot._io import locking

    monkeypatch.setattr(locking, "_PATIENCE", 0.6)
    with locking.exclusive("s"):
        assert run(["monitor", "in.csv", "--state", "s", "--html", "r.html"]) == 3
        told = capfd.readouterr().err
        assert f"note: waiting for another process ({os.getpid()}), which counts into s" in told
        assert f"error: s: in use by another process ({os.getpid()}); wait until it has ended, or stop it" in told
    assert not Path("s").exists()
    assert not Path("r.html").exists()


# -- ids ---------------------------------------------------------------------------------------------------------------

UNLIKE = ["007", "7", "7.0", "", "None", "12345678901234567890", "12345678901234567891", "1234e567", "1234e568", "1e5"]
UNLIKE += ["100000", "²", "-0", "0", " 7", "nan", "NULL", "true", "True", "9" * 5000]


def count(file: str, rows: str | pa.Table, *, state: str = "s") -> tuple[int, int]:
    """How many rows a state has counted, and how many came again."""
    if isinstance(rows, str):
        Path(file).write_text(rows)
    else:
        pq.write_table(rows, file)
    assert run(["monitor", file, "--state", state, "--id", "id"]) == 0
    monitor = sf.Monitor.load(state)
    return monitor.rows, monitor.repeated


def as_csv(ids: list[str]) -> str:
    return "id,correct,confidence\n" + "".join(f"{one},1,0.75\n" for one in ids)


def as_json(ids: list[object]) -> str:
    return "".join(f"{json.dumps({'id': one, 'correct': 1, 'confidence': 0.75})}\n" for one in ids)


def test_ids_are_text_to_the_character(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert count("a.csv", as_csv(UNLIKE)) == (len(UNLIKE), 0)
    # alone in a file, and so taken for numbers, for floats, or for nothing; and in files of other kinds
    for n, one in enumerate(UNLIKE, 1):
        assert count("a.csv", as_csv([one])) == (len(UNLIKE), n)
    n = len(UNLIKE)
    assert count("a.jsonl", as_json([*UNLIKE])) == (n, 2 * n)
    rows = pa.table({"id": UNLIKE, "correct": [1] * n, "confidence": [0.75] * n})
    assert count("a.parquet", rows) == (n, 3 * n)
    assert f"Not counted: {n} rows whose ids came before." in capfd.readouterr().out


def test_ids_that_a_file_holds_as_numbers_are_those_of_text(folder: Path) -> None:
    assert count("a.csv", as_csv(["1", "2", "3", ""])) == (4, 0)
    floats = pa.table({"id": [1.0, 2.0, None], "correct": [1, 1, 1], "confidence": [0.75] * 3})
    assert count("a.parquet", floats) == (4, 3)
    assert count("b.jsonl", as_json([1, "2", None])) == (4, 6)
    assert count("c.jsonl", as_json([3, 3.5])) == (5, 7)
    assert count("d.jsonl", as_json([12345678901234567890123, 12345678901234567890124])) == (7, 7)
    assert count("a.csv", as_csv(["12345678901234567890123", "3.5"])) == (7, 9)
    text_as_bytes = pa.table({"id": [b"1", b"3.5"], "correct": [1, 1], "confidence": [0.75] * 2})
    assert count("b.parquet", text_as_bytes) == (7, 11)


def test_ids_of_a_group_column_and_of_a_pipe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.csv").write_text(as_csv(["007", "7"]))
    assert run(["monitor", "a.csv", "--state", "s", "--id", "id", "--group", "id"]) == 0
    assert sf.Monitor.load("s").rows == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(as_csv(["07", "7"]).encode()))))
    assert run(["monitor", "-", "--state", "s", "--id", "id"]) == 0
    assert sf.Monitor.load("s").rows == 3


def test_in_python_too_7_is_the_text_7_and_007_is_not(tmp_path: Path) -> None:
    m = sf.Monitor()
    m.update([True] * 4, [0.75] * 4, ids=["7", 7, "007", "12345678901234567890"])
    assert (m.rows, m.repeated) == (3, 1)
    m.expect([8], [0.75])
    m.save(tmp_path / "s")
    m = sf.Monitor.load(tmp_path / "s")
    m.update([True, True], [0.75, 0.75], ids=["8", 12345678901234567890])
    assert (m.rows, m.repeated, m.pending) == (4, 2, 0)


# -- cells that look like formulas -------------------------------------------------------------------------------------


def test_a_calibrated_table_runs_nothing_in_a_spreadsheet(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cells = ["=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\tx", "\rx"]
    kept = ["-0.5", "+1e-05", "-1,5", "+", "-", "--", "-inf", "x=1", "", "12%", "-3 %"]
    said = [*cells, *kept]
    prob = np.linspace(0.1, 0.9, len(said))
    rows = pa.table({"truth": [i % 2 for i in range(len(said))], "prob": prob, "note": said, "score": -prob})
    pq.write_table(rows, "rows.parquet")
    for name in ("fixed.csv", "fixed.parquet"):
        arguments = f"calibrate --fit in.csv --apply rows.parquet -o {name} --method platt"
        assert run(arguments.split()) == 0
    import csv

    with open("fixed.csv", newline="") as file:
        written = list(csv.DictReader(file))
    assert [row["note"] for row in written] == [*(f"'{cell}" for cell in cells), *kept]
    assert [float(row["score"]) for row in written] == (-prob).tolist()
    told = " ".join(capfd.readouterr().out.split())
    assert told.count(f"{len(cells)} cells that start like a formula got an apostrophe in front") == 1
    assert pq.read_table("fixed.parquet")["note"].to_pylist() == said


def test_a_temporary_file_system_that_is_full(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The same as a limit on sizes, on a disk that is really full, where one may be mounted."""
    place = folder / "small"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False
    ).returncode:  # fmt: skip
        pytest.skip("no file system can be mounted here")
    try:
        (place / "t.tally").write_text("old")
        assert run(["assess", "in.csv", "--save-tally", str(place / "t.tally"), "--html", str(place / "r.html")]) == 3
        assert "No space left on device" in capfd.readouterr().err
        assert contents(place) == {str(place / "t.tally"): b"old"}
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_tally_is_not_added_to_itself(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    sf.tally(sf.Predictions.from_correct([True, False], [0.9, 0.6])).save("a.tally")
    Path("sub").mkdir()
    Path("link.tally").symlink_to("a.tally")
    Path("b.tally").write_bytes(Path("a.tally").read_bytes())
    for again, said in (
        ("a.tally", "a.tally is given twice"),
        ("sub/../a.tally", "sub/../a.tally is the same file as a.tally"),
        ("link.tally", "link.tally is the same file as a.tally"),
    ):
        assert run(["merge", "a.tally", "b.tally", again, "-o", "x.tally"]) == 2
        assert f"{said}; its rows would count twice" in " ".join(capsys.readouterr().err.split())
    assert not Path("x.tally").exists()
    # another file may hold the same sums
    assert run(["merge", "a.tally", "b.tally", "-o", "x.tally"]) == 0

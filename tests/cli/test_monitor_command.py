"""The command `surefoot monitor`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot import Monitor
from surefoot.cli import run
from surefoot.files.delimited import DelimitedFile
from surefoot.files.json_lines import JsonLinesFile
from surefoot.files.streams import LiveLines


def out(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().out


def test_monitor_is_the_library_s(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state = tmp_path / "m.state"
    assert run(["monitor", str(risky), "--state", str(state)]) == 0
    told = out(capfd)
    p = sf.load(risky)
    m = sf.Monitor(alternative="overconfident")
    m.update(p.correct, p.confidence)
    assert m.episodes
    words = " ".join(told.split())
    for episode in m.episodes:
        assert f"DRIFT overconfident since about row {episode.onset:,}: {episode.observed_errors:,.0f} errors" in words
    assert told.count("DRIFT") == len(m.episodes) < len(m.drift_rows)
    assert sf.Monitor.load(state).rows == 2000
    assert run(["monitor", str(risky), "--state", str(state)]) == 0
    assert "Going on after row 2,000" in out(capfd)
    assert sf.Monitor.load(state).rows == 4000


def test_rows_with_ids_count_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"id": [1, 2, 3], "correct": [True, False, True], "confidence": [0.9, 0.8, 0.7]})
    pq.write_table(rows, tmp_path / "a.parquet")
    for _ in range(2):
        assert run(["monitor", str(tmp_path / "a.parquet"), "--state", str(tmp_path / "s"), "--id", "id"]) == 0
    assert sf.Monitor.load(tmp_path / "s").rows == 3


def test_monitor_follows_a_pipe_line_by_line(tmp_path: Path) -> None:
    state = tmp_path / "s"
    process = subprocess.Popen(
        [sys.executable, "-m", "surefoot", "monitor", "-", "--state", str(state)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"correct,confidence\n1,0.9\n0,0.8\n")
    process.stdin.flush()
    for _ in range(600):
        if state.exists() and sf.Monitor.load(state).rows == 2:
            break
        import time

        time.sleep(0.1)
    assert sf.Monitor.load(state).rows == 2  # before the pipe has ended
    process.kill()
    process.communicate()
    assert sf.Monitor.load(state).rows == 2


class Blocks:
    """A pipe that hands out what is written to it, a block at a time."""

    def __init__(self, *blocks: bytes) -> None:
        self.blocks = [*blocks]

    def read1(self, size: int) -> bytes:
        return self.blocks.pop(0) if self.blocks else b""


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_pipe_may_pause_within_a_line(cut: int) -> None:
    rows = b'note,correct,confidence\na,1,0.9\n"b\n,""c",0,0.8\nd,1,0.7\n'
    lines = LiveLines("it", Blocks(rows[:cut], rows[cut : 2 * cut], rows[2 * cut :]), quoted=True)  # type: ignore[arg-type]
    table = DelimitedFile("it", lines, None)
    values = [batch.table.to_pylist() for batch in table.batches(["correct", "confidence"], ["confidence"])]
    assert [row["confidence"] for some in values for row in some] == [0.9, 0.8, 0.7]


def test_a_pipe_may_pause_within_an_object() -> None:
    rows = b'{"correct": 1, "confidence": 0.9}\n{"correct": 0, "confidence": 0.8}\n'
    lines = LiveLines("it", Blocks(rows[:40], rows[40:]), quoted=False)  # type: ignore[arg-type]
    batches = JsonLinesFile("it", lines).batches(["correct", "confidence"], ["confidence"])
    assert [batch.table.column("confidence").to_pylist() for batch in batches] == [[0.9], [0.8]]


def test_a_large_file_through_a_pipe(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "correct,confidence,region\n" + "1,0.75,north\n" * 20_000
    command = [sys.executable, "-m", "surefoot", "monitor", "-", "--state", str(tmp_path / "s")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Monitor.load(tmp_path / "s").rows == 20_000


def test_a_one_that_comes_first_in_a_stream_of_text_is_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"correct,confidence\n0,1.0\n1,0.75\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    assert run(["monitor", "-", "--state", str(tmp_path / "s")]) == 0
    assert np.isfinite(sf.Monitor.load(tmp_path / "s").log_e)


def test_a_stream_with_labels_that_its_first_row_does_not_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    content = b"truth,prob\n1,0.1\n1,0.2\n2,0.9\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    assert run(["monitor", "-", "--state", str(tmp_path / "s")]) == 3
    assert "2, which is none of the labels" in capfd.readouterr().err
    content = b"truth,prob\nyes,0.9\nno,0.1\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    assert run(["monitor", "-", "--state", str(tmp_path / "s2")]) == 2
    assert "does not tell what the labels of a stream are" in capfd.readouterr().err
    assert not (tmp_path / "s2").exists()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    assert run(["monitor", "-", "--state", str(tmp_path / "s2"), "--positive", "yes"]) == 0
    watched = sf.Monitor.load(tmp_path / "s2")
    assert (watched.rows, watched.errors, watched.stated) == (2, 0, pytest.approx(0.2))
    content = b"truth,prob\nyes,0.9\nno,0.1\nmaybe,0.4\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
    assert run(["monitor", "-", "--state", str(tmp_path / "s3"), "--positive", "yes"]) == 3
    assert "'maybe'" in capfd.readouterr().err


def test_a_file_is_counted_whole_or_not_at_all(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("correct,confidence\n" + "1,0.75\n" * 200_000 + "1,x\n")
    assert run(["monitor", str(tmp_path / "a.csv"), "--state", str(tmp_path / "s")]) == 3
    assert not (tmp_path / "s").exists()
    assert run(["monitor", str(tmp_path / "none.csv"), "--state", str(tmp_path / "s")]) == 3
    assert not (tmp_path / "s").exists()


def test_ids_are_the_same_whatever_a_column_was_taken_for(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("id,correct,confidence\n1,1,0.75\n2,1,0.75\n")
    (tmp_path / "2.csv").write_text("id,correct,confidence\n1,1,0.75\n2,1,0.75\nb3,0,0.5\n")
    for name in ("1.csv", "2.csv"):
        assert run(["monitor", str(tmp_path / name), "--state", str(tmp_path / "s"), "--id", "id"]) == 0
    assert sf.Monitor.load(tmp_path / "s").rows == 3


def test_a_state_goes_on_as_it_was_begun(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state = str(tmp_path / "s")
    assert run(["monitor", str(risky), "--state", state]) == 0
    assert run(["monitor", str(risky), "--state", state, "--watch", "underconfident"]) == 2
    assert "--watch is underconfident, but" in capfd.readouterr().err
    assert run(["monitor", str(risky), "--state", state, "--level", "0.05"]) == 0
    (tmp_path / "1.csv").write_text("id,correct,confidence\n1,1,0.75\n")
    other = str(tmp_path / "o")
    assert run(["monitor", str(tmp_path / "1.csv"), "--state", other, "--id", "id"]) == 0
    assert run(["monitor", str(tmp_path / "1.csv"), "--state", other]) == 2
    assert "name the column with --id" in capfd.readouterr().err


def test_an_error_at_full_certainty_is_proof(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = pa.table({"correct": [True, False, True], "confidence": [0.9, 1.0, 0.8]})
    pq.write_table(rows, tmp_path / "a.parquet")
    page = tmp_path / "a.html"
    assert run(["monitor", str(tmp_path / "a.parquet"), "--state", str(tmp_path / "s"), "-o", str(page)]) == 0
    told = " ".join(out(capfd).split())
    assert (
        "DRIFT overconfident since about row 2: 1 error where 0 were expected (100 points); detected at row 2" in told
    )
    assert "no proof" not in told
    assert "NaN" not in page.read_text()


def test_drift_and_alarm_are_two_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A change after many good rows: drift is detected, while the e-value over all rows is far from an alarm."""
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0.6, 0.98, 20_000)
    correct = rng.random(20_000) < np.where(np.arange(20_000) < 19_800, confidence, 0.7 * confidence)
    m = sf.Monitor(alternative="overconfident")
    m.update(correct, confidence)
    assert m.drift
    assert not m.alarm
    pq.write_table(pa.table({"correct": correct, "confidence": confidence}), tmp_path / "a.parquet")
    state = str(tmp_path / "s")
    assert run(["monitor", str(tmp_path / "a.parquet"), "--state", state, "--fail-on", "alarm"]) == 0
    assert run(["monitor", "--state", state, "--fail-on", "alarm"]) == 0
    told = " ".join(out(capfd).split())
    assert told.count("DRIFT overconfident since about row") == 2 * len(m.episodes)
    assert "ALARM" not in told
    assert told.count("of 20, no alarm.") == 2
    assert run(["monitor", "--state", state, "--fail-on", "drift"]) == 1
    assert "failed: drift" in out(capfd)


def test_an_alarm_is_shown_as_one(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state = str(tmp_path / "s")
    assert run(["monitor", str(risky), "--state", state, "--fail-on", "alarm"]) == 1
    m = sf.Monitor.load(state)
    words = f"the e-value over all rows reached 20 at row {m.alarm_row:,}"
    told = " ".join(out(capfd).split())
    assert f"ALARM {words}" in told
    assert f"failed: alarm ({words})" in told
    assert run(["monitor", "--state", state]) == 0
    assert f"ALARM {words}" in " ".join(out(capfd).split())


def test_markdown_by_format_and_by_suffix(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state, file = str(tmp_path / "my_s"), tmp_path / "m.md"
    assert run(["monitor", str(risky), "--state", state, "--format", "markdown", "-o", str(file)]) == 0
    m, text = sf.Monitor.load(state), file.read_text()
    assert out(capfd).rstrip() == text.rstrip()
    assert text.startswith("## Overconfident since about row")
    assert text.count("- **DRIFT** overconfident since about row") == len(m.episodes)
    assert f"- **ALARM** the e-value over all rows reached 20 at row {m.alarm_row:,}" in text
    assert "my\\_s</sub>" in text
    assert run(["monitor", "--state", state, "--format", "xml"]) == 2
    assert run(["monitor", "--state", state, "--json", "--format", "markdown"]) == 2


def test_the_way_to_begin_a_state_names_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state = str(tmp_path / "my state")
    assert run(["monitor", "--state", state]) == 3
    assert f"begin it with: surefoot monitor FILE --state '{state}'" in capfd.readouterr().err


@pytest.mark.parametrize("blocks", [0, 1])
def test_a_block_that_is_interrupted_is_not_saved(
    blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C in the midst of a block, when its rows are counted and its ids are not."""
    from surefoot.files import reading

    state, page = tmp_path / "s", tmp_path / "s.json"
    block = sf.Predictions.from_correct(np.array([True, False]), np.array([0.9, 0.8]))
    monkeypatch.setattr(reading, "follow", lambda *_, **__: ((block, None, None) for _ in range(5)))
    whole, done = sf.Monitor.update, 0

    def update(m: sf.Monitor, *arguments: object, **options: object) -> None:
        nonlocal done
        if done == blocks:
            m.rows += 2
            raise KeyboardInterrupt
        done += 1
        whole(m, *arguments, **options)

    monkeypatch.setattr(sf.Monitor, "update", update)
    status = run(["monitor", "-", "--state", str(state), "-o", str(page)])
    assert "stopped" in capfd.readouterr().err
    if not blocks:
        assert status == 130
        assert not state.exists()
        return
    assert status == 0
    assert sf.Monitor.load(state).rows == 2
    assert json.loads(page.read_text())["rows"] == 2


def test_rows_that_are_left_out_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence\n" + "1,0.9\n1,\n" * 3)
    assert run(["monitor", str(path), "--state", str(tmp_path / "m.state"), "--drop-missing"]) == 0
    assert "note: 3 of 6 rows are left out: they have no confidence." in capfd.readouterr().err

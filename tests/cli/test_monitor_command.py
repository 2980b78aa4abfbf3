"""The command `surefoot monitor`."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.cli import run


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
    assert "DRIFT overconfident since about row 2: 1 error where 0 were expected (100 points); detected at row 2" in told
    assert "no proof" not in told
    assert "NaN" not in page.read_text()

"""The first five minutes at the command line: each promise is one test."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import textwrap
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.calibrators import load
from surefoot.cli import run

COMMANDS = ("assess", "compare", "act-alone", "merge", "monitor", "calibrate", "demo", "paper")
WIDTHS = (50, 64, 80, 120)


def surefoot(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    command = [sys.executable, "-m", "surefoot", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, in which $1, $2, ... are the arguments and ``surefoot`` is the command."""
    script = f'surefoot() {{ "{sys.executable}" -m surefoot "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-c", script, "bash", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def in_a_terminal(width: int, folder: Path, *arguments: object) -> str:
    """What the command writes to a terminal of some width, run in a folder."""
    parent, child = pty.openpty()
    ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "surefoot", *map(str, arguments)],
        stdin=subprocess.DEVNULL, stdout=child, stderr=subprocess.DEVNULL, env=environment, cwd=folder,
    )  # fmt: skip
    os.close(child)
    told = b"".join(iter(lambda: _read(parent), b""))
    process.wait()
    os.close(parent)
    return told.decode().replace("\r\n", "\n")


def _read(parent: int) -> bytes:
    try:
        return os.read(parent, 1 << 16)
    except OSError:
        return b""


def clinical(path: Path, n: int = 1500, sharpness: float = 1.0, seed: int = 0) -> Path:
    """Predictions of a disease; the sharper, the more overconfident."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 0.6, n).clip(0.002, 0.998)
    stated = 1 / (1 + np.exp(-sharpness * np.log(p / (1 - p))))
    sick = rng.random(n) < p
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["patient", "hospital", "diagnosis", "risk"])
        for i, (one, probability) in enumerate(zip(sick, stated, strict=True)):
            writer.writerow(
                [f"{i:05d}", "north" if i % 2 else "south", "sick" if one else "well", repr(float(probability))]
            )
    return path


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


CLINICAL = ["--truth", "diagnosis", "--probabilities", "risk", "--positive", "sick"]


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """A stream that becomes overconfident after 4,000 rows."""
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0.7, 0.99, 8000)
    correct = rng.random(8000) < confidence * np.where(np.arange(8000) < 4000, 1.0, 0.85)
    path = tmp_path / "stream.parquet"
    pq.write_table(pa.table({"correct": correct, "confidence": confidence}), path)
    return path


# -- help, version, completion ---------------------------------------------------------------------------------------


def test_surefoot_alone_shows_help_with_status_0() -> None:
    done = surefoot()
    assert done.returncode == 0
    assert "surefoot assess predictions.csv" in done.stdout
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", done.stdout, re.M)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_h_shows_help_with_status_0(flag: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([flag]) == 0
    assert "Usage: surefoot" in capfd.readouterr().out
    for name in COMMANDS:
        assert run([name, flag]) == 0
        said = capfd.readouterr().out
        assert f"Usage: surefoot {name}" in said
        # an option that another one speaks of is there
        assert "--of VIEW" in said or not re.search(r"--of\b", said)


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_the_version(flag: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run([flag]) == 0
    assert capfd.readouterr().out == f"surefoot {sf.__version__}\n"


def test_shell_completion_is_shown_and_completes_and_writes_nothing_unless_asked(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    shown = shell("surefoot --show-completion")
    assert shown.returncode == 0
    assert "_SUREFOOT_COMPLETE" in shown.stdout
    complete = {**environment, "_SUREFOOT_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert surefoot(env={**complete, "COMP_WORDS": "surefoot as"}).stdout.split() == ["assess"]
    options = surefoot(env={**complete, "COMP_WORDS": "surefoot assess --fail", "COMP_CWORD": "2"}).stdout.split()
    assert options == ["--fail-on"]
    assert surefoot(env=environment).returncode == 0
    assert list(tmp_path.iterdir()) == []


# -- files and formats -----------------------------------------------------------------------------------------------


def test_output_writes_the_kind_of_file_that_its_suffix_says(risky: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / f"out{suffix}" for suffix in (".html", ".json", ".md", ".tally", ".xml")]
    arguments = [item for path in outputs for item in ("-o", str(path))]
    assert run(["assess", str(risky), *arguments, "--fail-on", "csr>1e9"]) == 0
    page, document, summary, tally, junit = outputs
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(document.read_text())["verdict"] == "overconfident"
    assert "overconfident" in summary.read_text().splitlines()[0]
    assert sf.assess(sf.Tally.load(tally)).verdict == "overconfident"
    assert ElementTree.parse(junit).getroot().get("failures") == "0"


def test_output_is_known_wherever_a_file_is_written(risky: Path, stream: Path, tmp_path: Path) -> None:
    fit = clinical(tmp_path / "fit.csv")
    tally, state = tmp_path / "a.tally", tmp_path / "s.state"
    both = [f"a={risky}", f"b={risky}"]
    for arguments, outputs in (
        (["assess", risky], ["a.tally"]),
        (["compare", *both], ["c.html", "c.json", "c.md"]),
        (["merge", tally], ["m.tally"]),
        (["monitor", stream, "--state", state], ["s.html", "s.json"]),
        (["calibrate", "--fit", fit, *CLINICAL, "--apply", fit, "--method", "platt"], ["corrected.csv"]),
        (["demo"], ["d.html", "d.md"]),
    ):
        named = [tmp_path / name for name in outputs]
        flags = [item for i, path in enumerate(named) for item in (("-o", "--output")[i % 2], path)]
        assert run([str(x) for x in (*arguments, *flags)]) == 0, arguments
        assert all(path.stat().st_size > 100 for path in named)


def test_a_suffix_that_is_none_of_them_is_refused_with_those_there_are(
    risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["assess", str(risky), "-o", str(tmp_path / "report.pdf")]) == 2
    error = capfd.readouterr().err
    assert "--output is" in error
    assert "report.pdf" in error
    assert ".html (report), .json, .md (Markdown)" in error


def test_the_older_options_keep_working(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page, tally, total = (str(tmp_path / name) for name in ("r.html", "t", "u"))
    assert run(["assess", str(risky), "--html", page, "--save-tally", tally, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["verdict"] == "overconfident"
    assert run(["merge", tally, "--out", total]) == 0
    assert all(Path(path).exists() for path in (page, tally, total))


def test_format_is_text_json_or_markdown(risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = {}
    for name in ("text", "json", "markdown"):
        assert run(["assess", str(risky), "--format", name]) == 0
        told[name] = capfd.readouterr().out
    assert "STRONGLY OVERCONFIDENT" in told["text"]
    assert json.loads(told["json"])["verdict"] == "overconfident"
    assert "| --- |" in told["markdown"]
    assert run(["compare", f"a={risky}", f"b={risky}", "--format", "markdown"]) == 0
    assert "| --- |" in capfd.readouterr().out
    assert run(["assess", str(risky), "--format", "yaml"]) == 2
    assert "--format is 'yaml'; it should be text, json or markdown" in capfd.readouterr().err


# -- names of options ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("a,b", "--label a --prob b --pos-label sick"),
        ("a,b", "--y-true a --score b --pos_label sick"),
        ("a,b", "--y_true=a --proba=b --positive-label=sick"),
        ("a,b", "--target a --probability b --pos sick"),
        ("a,b", "--truth-col a --p b --positive sick --alpha 0.01"),
        ("a,c,d", "--label a --pred c --conf d"),
        ("a,c,d", "--target a --y-pred c --confidence d"),
        ("a,c,d", "--true a --prediction c --conf d --weights e"),
        ("a,c,d", "--label a --pred c --conf d --groups f"),
    ],
)
def test_other_obvious_names_are_understood(
    header: str, options: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    values = {"a": "sick well", "b": "0.9 0.2", "c": "sick well", "d": "0.9 0.8", "e": "2 2", "f": "1 2"}
    names = [*header.split(","), "e", "f"]
    rows = "".join(",".join(values[name].split()[i % 2] for name in names) + "\n" for i in range(80))
    path = tmp_path / "odd.csv"
    path.write_text(",".join(names) + "\n" + rows)
    assert run(["assess", str(path), *options.split()]) == 0, capfd.readouterr().err
    assert re.search(r"accuracy +100(\.0)?% ", capfd.readouterr().out)


def test_other_names_are_not_listed_in_help(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", "-h"]) == 0
    told = capfd.readouterr().out
    assert "--truth" in told
    assert not {"--label", "--prob", "--pred", "--score"} & set(re.findall(r"--[a-z-]+", told))


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ("asess a.csv", "did you mean assess?"),
        ("montior a.csv", "did you mean monitor?"),
        ("predictions.csv", "did you mean: surefoot assess predictions.csv"),
        ("assess a.csv --confidense c", "did you mean --confidence?"),
        ("assess a.csv --thruth c", "did you mean --truth?"),
        ("assess a.csv --lable c", "did you mean --truth?"),
        ("assess a.csv --htlm c", "did you mean --html?"),
        ("monitor a.csv --stat s", "did you mean --state?"),
        ("--verson", "did you mean --version?"),
        ("assess a.csv --fail-on overstatment>0.1", "did you mean overstatement?"),
        ("monitor a.csv --state s --fail-on drfit", "did you mean drift?"),
        ("calibrate --fit {file} --method plat", "did you mean platt?"),
        ("compare {file} {file}", "should be NAME=FILE, such as"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(
    arguments: str, right: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = clinical(tmp_path / "fit.csv", 60)
    extra = CLINICAL if arguments.startswith("calibrate") else []
    assert run([*arguments.replace("{file}", str(file)).split(), *extra]) == 2
    error = capfd.readouterr().err
    assert len(error.splitlines()) == 1
    assert right in error


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--level", "5"], ("--level is 5", "0.05")),
        (["--margin", "2"], ("--margin is 2", "0.02")),
        (["--delimiter", ";;"], ("--delimiter is ';;'", "one character")),
        (["--fail-on", "bad"], ("--fail-on is 'bad'", "overstatement>0.02")),
        (["--fail-on", "worse"], ("--fail-on worse", "--baseline FILE")),
        (["--junit", "j.xml"], ("--junit", "--fail-on")),
        (["--truth", "diagnose"], ("'diagnose' for truth", "'diagnosis'")),
        (["--show", "ward"], ("'ward' to show", "'hospital'")),
        (["--json", "--format", "markdown"], ("--json and --format markdown", "one of them")),
        (["-o", "none/r.html"], ("none", "no such folder")),
    ],
)
def test_errors_name_the_option_the_value_and_the_way_out(
    arguments: list[str], parts: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = clinical(tmp_path / "fit.csv", 60)
    options = [] if "--truth" in arguments else CLINICAL
    assert run(["assess", str(file), *options, *arguments]) in (2, 3)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert all(part in captured.err for part in parts), captured.err


# -- what is printed -------------------------------------------------------------------------------------------------


def outputs_of(width: int, risky: Path, stream: Path) -> Iterator[str]:
    folder, state = risky.parent, f"{width}.state"
    yield in_a_terminal(width, folder, "assess", risky.name, "-o", "t.tally")
    yield in_a_terminal(
        width, folder, "assess", risky.name, "--baseline", "t.tally", "--fail-on", "risky", "--by", "group"
    )
    yield in_a_terminal(width, folder, "monitor", stream.name, "--state", state)
    yield in_a_terminal(width, folder, "monitor", "--state", state, "--fail-on", "drift")
    yield in_a_terminal(width, folder, "calibrate", "--fit", clinical(folder / "fit.csv", 300).name, *CLINICAL)
    for command in COMMANDS:
        yield in_a_terminal(width, folder, command, "-h")


@pytest.mark.parametrize("width", WIDTHS)
def test_text_wraps_to_the_terminal_from_50_columns(width: int, risky: Path, stream: Path) -> None:
    for told in outputs_of(width, risky, stream):
        assert told.strip()
        assert [line for line in told.splitlines() if len(line) > width] == []


def test_nothing_is_said_about_a_report_nobody_asked_for(risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(risky), "--by", "group"]) == 0
    assert run(["demo"]) == 0
    told = capfd.readouterr().out
    assert "report" not in told
    assert "html" not in told


def test_ece_brier_and_log_loss_stand_beside_ours(risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(risky)]) == 0
    assert run(["compare", f"a={risky}", f"b={risky}"]) == 0
    text, comparison = capfd.readouterr().out.split("rows in both")
    for told in (text, comparison):
        assert all(name in told for name in ("ECE", "Brier", "log loss", "CSR"))


# -- closed pipes ----------------------------------------------------------------------------------------------------


def test_a_gate_exits_1_though_its_reader_leaves(risky: Path) -> None:
    done = shell('surefoot assess "$1" --fail-on risky | head -1; echo "${PIPESTATUS[0]}" >&2', risky)
    assert done.stderr.split() == ["1"]
    done = shell('surefoot assess "$1" --fail-on risky --json | true; echo "${PIPESTATUS[0]}" >&2', risky)
    assert done.stderr.split()[-1] == "1"
    done = shell('surefoot assess "$1" 2>&1 | true; echo "${PIPESTATUS[0]}"', risky)
    assert done.stdout.split() == ["0"]
    done = shell('surefoot assess "$1" --nonsense 2>&1 | true; echo "${PIPESTATUS[0]}"', risky)
    assert done.stdout.split() == ["2"]


def test_a_monitor_loses_no_row_though_its_reader_leaves(stream: Path, tmp_path: Path) -> None:
    state = tmp_path / "file.state"
    done = shell('surefoot monitor "$1" --state "$2" | grep -q Watching; echo "${PIPESTATUS[*]}"', stream, state)
    assert done.stdout.split() == ["0", "0"]
    assert sf.Monitor.load(state).rows == 8000
    rows = pq.read_table(stream)
    text = tmp_path / "stream.csv"
    pairs = zip(rows["correct"].to_pylist(), rows["confidence"].to_pylist(), strict=True)
    text.write_text("correct,confidence\n" + "".join(f"{int(c)},{p!r}\n" for c, p in pairs))
    live = tmp_path / "live.state"
    line = 'surefoot monitor - --state "$2" --fail-on drift < "$1" | grep -q Watching; echo "${PIPESTATUS[*]}"'
    assert shell(line, text, live).stdout.split() == ["1", "0"]
    assert sf.Monitor.load(live).rows == 8000


def test_the_state_is_saved_before_anything_is_printed(stream: Path, tmp_path: Path, monkeypatch) -> None:
    state = tmp_path / "s.state"
    rows_when_printed = []

    def say(text: str = "", **_: object) -> None:
        rows_when_printed.append(sf.Monitor.load(state).rows if state.exists() else 0)

    monkeypatch.setattr("surefoot.cli.monitor.say", say)
    assert run(["monitor", str(stream), "--state", str(state)]) == 0
    assert rows_when_printed
    assert set(rows_when_printed) == {8000}


# -- calibrate -------------------------------------------------------------------------------------------------------


def test_calibrate_applies_a_saved_calibrator(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fit, new = clinical(tmp_path / "fit.csv", sharpness=2), clinical(tmp_path / "new.csv", 200, 2, seed=1)
    kept, one, two = (str(tmp_path / name) for name in ("calibrator.json", "one.csv", "two.csv"))
    arguments = ["calibrate", "--fit", str(fit), *CLINICAL, "--method", "platt", "--save", kept]
    assert run([*arguments, "--apply", str(new), "-o", one]) == 0
    assert f"surefoot assess {one} --truth diagnosis --predicted calibrated_predicted" in capfd.readouterr().out
    assert run(["calibrate", "--load", kept, "--apply", str(new), "--probabilities", "risk", "-o", two]) == 0
    assert Path(one).read_text() == Path(two).read_text()
    rows = csv_rows(Path(two))
    expected = load(kept).predict_proba(np.array([float(row["risk"]) for row in rows]))[:, 1]
    assert [float(row["calibrated_risk"]) for row in rows] == expected.tolist()
    for wrong, way_out in (
        ([], "--fit FILE"),
        (["--load", kept], "--apply FILE"),
        (["--load", kept, "--fit", str(fit), "--apply", str(new), "-o", two], "leave out --fit"),
        (["--load", kept, "--apply", str(new)], "give -o FILE"),
        (["--load", kept, "--apply", str(new), "-o", two, "--positive", "well"], "the probability of 'sick'"),
    ):
        assert run(["calibrate", *wrong]) == 2
        assert way_out in capfd.readouterr().err
    assert run(["calibrate", "--load", str(fit), "--apply", str(new), "-o", two]) == 3


def test_a_saved_calibrator_finds_the_columns_of_its_classes_in_any_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), 300)
    truth = np.array(["a", "b", "c"])[(table.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1).clip(0, 2)]
    columns = {f"p_{name}": table[:, i] for i, name in enumerate("abc")}
    pq.write_table(pa.table({"label": truth, **columns}), tmp_path / "fit.parquet")
    pq.write_table(pa.table({name: columns[name] for name in ("p_c", "p_a", "p_b")}), tmp_path / "new.parquet")
    kept, out = str(tmp_path / "k.json"), str(tmp_path / "out.parquet")
    assert run(["calibrate", "--fit", str(tmp_path / "fit.parquet"), "--method", "platt", "--save", kept]) == 0
    assert run(["calibrate", "--load", kept, "--apply", str(tmp_path / "new.parquet"), "-o", out]) == 0
    found, expected = pq.read_table(out), load(kept).predict_proba(table)
    assert found.column_names[:3] == ["p_c", "p_a", "p_b"]
    for i, name in enumerate("abc"):
        assert found.column(f"calibrated_p_{name}").to_pylist() == expected[:, i].tolist()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".arrow"])
def test_apply_keeps_every_input_column_and_appends_calibrated_ones(suffix: str, tmp_path: Path) -> None:
    fit = clinical(tmp_path / "fit.csv")
    out = tmp_path / f"out{suffix}"
    arguments = ["--fit", fit, *CLINICAL, "--method", "platt", "--apply", fit, "-o", out]
    assert run(["calibrate", *map(str, arguments)]) == 0
    before = csv_rows(fit)
    if suffix == ".csv":
        after = csv_rows(out)
    elif suffix == ".parquet":
        after = pq.read_table(out).to_pylist()
    elif suffix == ".jsonl":
        after = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        after = pa.ipc.open_file(out).read_all().to_pylist()
    added = ["calibrated_risk", "calibrated_predicted", "calibrated_confidence"]
    assert list(after[0]) == [*before[0], *added]
    # as they were written: 00001 stays 00001
    assert [{name: row[name] for name in before[0]} for row in after] == before
    assert run(["calibrate", "--fit", str(fit), *CLINICAL, "--apply", str(out), "-o", str(tmp_path / "again.csv")]) == 3


# -- monitor ---------------------------------------------------------------------------------------------------------


def test_monitor_has_one_line_an_episode_with_onset_and_effect_size(
    stream: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "s.state"
    assert run(["monitor", str(stream), "--state", str(state)]) == 0
    m = sf.Monitor.load(state)
    told = " ".join(capfd.readouterr().out.split())
    assert told.count("DRIFT") == len(m.episodes) < len(m.drift_rows)
    episode = m.episodes[-1]
    assert 3900 <= episode.onset <= 4200
    table = pq.read_table(stream)
    part = slice(episode.onset - 1, episode.last_alarm)
    correct, confidence = (np.array(table.column(name))[part] for name in ("correct", "confidence"))
    assert episode.observed_errors == (~correct).sum()
    assert episode.expected_errors == pytest.approx((1 - confidence).sum())
    assert f"overconfident since about row {episode.onset:,}: {(~correct).sum():,} errors where" in told


def test_monitor_with_the_state_alone_shows_where_it_stands(
    stream: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "s.state"
    assert run(["monitor", str(stream), "--state", str(state)]) == 0
    before = state.read_bytes()
    capfd.readouterr()
    assert run(["monitor", "--state", str(state)]) == 0
    told = capfd.readouterr().out
    assert "Overconfident since about row" in told
    assert "8,000 rows: " in told
    assert state.read_bytes() == before
    assert run(["monitor", "--state", str(tmp_path / "none")]) == 3
    assert "begin it with: surefoot monitor FILE --state" in capfd.readouterr().err
    assert run(["monitor", "--state", str(state), "--truth", "label"]) == 2
    assert "there is no FILE to read" in capfd.readouterr().err


def test_monitor_prints_json_and_writes_a_page(stream: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    state, page = tmp_path / "s.state", tmp_path / "s.html"
    assert run(["monitor", str(stream), "--state", str(state), "--json", "--html", str(page)]) == 0
    document = json.loads(capfd.readouterr().out)
    m = sf.Monitor.load(state)
    assert (document["surefoot"], document["rows"], document["observed_errors"]) == ("monitor", 8000, m.errors)
    assert [episode["onset"] for episode in document["episodes"]] == [episode.onset for episode in m.episodes]
    assert document["episodes"][-1]["open"] is True
    written = page.read_text()
    assert f"Overconfident since about row {m.episodes[-1].onset:,}" in written
    assert written.count("<svg") >= 2
    assert 'class="curve"' in written
    assert "http://" not in written.replace("http://www.w3.org", "")


def test_monitor_fails_on_alarm_and_on_drift(stream: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = pq.read_table(stream)
    calm, state = tmp_path / "calm.parquet", str(tmp_path / "s.state")
    pq.write_table(table.slice(0, 2000), calm)
    both = ["--fail-on", "alarm", "--fail-on", "drift"]
    assert run(["monitor", str(calm), "--state", state, *both]) == 0
    assert run(["monitor", str(stream), "--state", state, *both]) == 1
    told = capfd.readouterr().out
    assert "failed: alarm (the e-value over all rows reached 20" in told
    assert "failed: drift (overconfident since about row" in " ".join(told.split())
    # drift is about the rows of this run, alarm about all rows so far
    assert run(["monitor", str(calm), "--state", state, "--fail-on", "drift"]) == 0
    assert run(["monitor", str(calm), "--state", state, "--fail-on", "alarm"]) == 1
    assert run(["monitor", "--state", state, "--fail-on", "drift"]) == 1


# -- gates -----------------------------------------------------------------------------------------------------------


def test_a_gate_compares_with_a_baseline(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    old = clinical(tmp_path / "old.csv", 3000)
    same = clinical(tmp_path / "same.csv", 3000, seed=1)
    worse = clinical(tmp_path / "worse.csv", 3000, 1.8, seed=2)
    tally = str(tmp_path / "old.tally")
    assert run(["assess", str(old), *CLINICAL, "-o", tally]) == 0
    gate = ["--baseline", tally, "--fail-on", "worse"]
    assert run(["assess", str(same), *CLINICAL, *gate]) == 0
    assert "Not worse than the baseline" in capfd.readouterr().out
    assert run(["assess", str(worse), *CLINICAL, *gate]) == 1
    assert "Worse than the baseline: overstatement rose by" in capfd.readouterr().out
    # rows do as well as their sums, and the better model is no worse than the other
    assert run(["assess", str(worse), *CLINICAL, "--baseline", str(old), "--fail-on", "worse", "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert document["baseline"]["worse"] is True
    assert document["rules"][0]["failed"] is True
    assert run(["assess", str(old), *CLINICAL, "--baseline", str(worse), "--fail-on", "worse"]) == 0


def test_junit_and_markdown_for_ci(tmp_path: Path) -> None:
    file = clinical(tmp_path / "a.csv", 3000, 1.8)
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    rules = ["--fail-on", "risky", "--fail-on", "accuracy<0.1", "--fail-on", "overstatement>0.02"]
    assert run(["assess", str(file), *CLINICAL, *rules, "--junit", str(junit), "-o", str(summary)]) == 1
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    cases = suite.findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == [f"fail on {rule}" for rule in rules[1::2]]
    assert [case.find("failure") is not None for case in cases] == [True, False, True]
    told = summary.read_text()
    assert "- FAILED: risky (strongly overconfident)" in told
    assert "- passed: accuracy&lt;0.1" in told


def test_the_action_calls_the_command_with_options_that_exist(capfd: pytest.CaptureFixture[str]) -> None:
    action = (Path(__file__).parents[2] / "action.yml").read_text()
    assert "using: composite" in action
    assert run(["assess", "-h"]) == 0
    known = set(re.findall(r"--[a-z][a-z-]+", capfd.readouterr().out))
    lines = [line for line in action.splitlines() if "arguments+=" in line or "surefoot assess" in line]
    used = {option for line in lines for option in re.findall(r"--[a-z][a-z-]+", line)}
    assert used
    assert used <= known


@pytest.mark.parametrize(("rules", "status"), [("risky", 1), ("csr>1e9", 0), ("csr>1e9\noverstatement>0.02", 1)])
def test_the_action_is_a_gate(rules: str, status: int, risky: Path, tmp_path: Path) -> None:
    """Its last step, run as a runner does, with this surefoot in the place of an installed one."""
    action = (Path(__file__).parents[2] / "action.yml").read_text()
    script = textwrap.dedent(action.rpartition("run: |\n")[2])
    command = tmp_path / "surefoot" / "bin" / "surefoot"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m surefoot "$@"\n')
    command.chmod(0o755)
    inputs = dict.fromkeys(("BASELINE", "REPORT", "TALLY", "JUNIT"), "")
    inputs |= {"FILE": str(risky), "RULES": rules, "OPTIONS": "--by group --level 0.01", "SUMMARY": "true"}
    inputs |= {"TALLY": str(tmp_path / "new.tally"), "JUNIT": str(tmp_path / "junit.xml")}
    summary = tmp_path / "summary.md"
    environment = {**os.environ, **inputs, "RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert "overconfident" in summary.read_text()
    assert (tmp_path / "new.tally").exists()
    assert len(ElementTree.parse(tmp_path / "junit.xml").findall("testsuite/testcase")) == len(rules.split())


def test_the_documentation_shows_a_makefile_line_and_every_option(capfd: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    assert "```make" in page
    assert "--baseline baseline.tally --fail-on worse" in page
    for name in ("assess", "compare", "act-alone", "merge", "monitor", "calibrate"):
        assert run([name, "-h"]) == 0
        options = set(re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", capfd.readouterr().out, re.M))
        assert len(options) > 1
        assert {option for option in options if option not in page} == set(), name


# -- rows by name ----------------------------------------------------------------------------------------------------


def test_id_and_show_name_the_rows_that_surprise(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = clinical(tmp_path / "a.csv", 600, 2)
    page = tmp_path / "r.html"
    arguments = ["--id", "patient", "--show", "hospital", "--show", "risk", "--json", "-o", str(page)]
    assert run(["assess", str(file), *CLINICAL, *arguments]) == 0
    rows = csv_rows(file)
    surprises = json.loads(capfd.readouterr().out)["surprises"]
    assert surprises
    for one in surprises:
        row = rows[one["row"]]
        assert list(one["shown"]) == ["patient", "hospital", "risk"]
        assert one["shown"]["patient"] == row["patient"]
        assert one["shown"]["hospital"] == row["hospital"]
        assert one["shown"]["risk"] == pytest.approx(float(row["risk"]))
        assert row["patient"] in page.read_text()


def test_rows_from_a_pipe_get_no_command_that_would_read_them_again(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("correct,confidence\n" + "0,0.9\n1,0.9\n" * 100)
    with file.open() as piped:
        answered = surefoot("assess", "-", stdin=piped)
    assert answered.returncode == 0, answered.stderr
    assert "standard input" in answered.stdout
    assert "--fit" not in answered.stdout


def test_advice_names_options_of_the_command_line(tmp_path: Path) -> None:
    files = {
        "sum": "label,p_0,p_1\n" + "1,0.6,0.7\n" * 20,
        "words": "label,prob\n" + "yes,0.6\nno,0.3\n" * 20,
        "logits": "label,p_0,p_1\n" + "1,-3.5,2.5\n1,2.5,-3.5\n" * 20,
        "classes": "label,p_a,p_b,p_c,region\n" + "a,0.6,0.3,0.1,x\nb,0.3,0.6,0.1,x\nc,0.3,0.1,0.6,y\n" * 20,
    }
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)

    def said(name: str, *options: str) -> str:
        done = surefoot("assess", tmp_path / f"{name}.csv", *options)
        assert done.returncode in (2, 3), done.stdout
        assert not re.search(r"from_|pos_label|labels=|by=|of=", done.stderr), done.stderr
        return done.stderr

    assert "name them with --logits" in said("sum", "--probabilities", "p_")
    assert "--positive" in said("words")
    assert "--logits" in said("logits", "--probabilities", "p_")
    assert "--by slices one event" in said("classes", "--of", "classes", "--by", "region")


def test_a_file_without_its_option_is_told_which(tmp_path: Path) -> None:
    done = surefoot("calibrate", tmp_path / "validation.csv")
    assert done.returncode == 2
    assert "--fit" in done.stderr

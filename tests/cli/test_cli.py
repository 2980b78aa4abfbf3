"""The command line, called as from a shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.cli import run


def out(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().out


def test_assess_says_what_was_read_the_verdict_and_where(risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(risky), "--by", "group"]) == 0
    lines = out(capfd).splitlines()
    first = " ".join(line.strip() for line in lines[1:3])
    assert first == "2,000 rows of risky.parquet; columns used: confidence: confidence, correct: correct"
    assert lines[4:6] == ["  v STRONGLY OVERCONFIDENT", "  Do not take these confidences at face value."]
    assert any(line.startswith("  Slices by group: 2 of 2 overconfident") for line in lines)


def test_the_text_is_that_of_the_library(risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["assess", str(risky)])
    told = out(capfd)
    a = sf.assess(sf.load(risky))
    # but for what to type next
    assert str(a).split("\n\n", 1)[1].partition("What to do next")[0] in told


def test_json_is_strict_and_alone_on_stdout(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(risky), "--json", "--html", str(tmp_path / "r.html")]) == 0

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    captured = capfd.readouterr()
    document = json.loads(captured.out, parse_constant=refuse)
    assert document["verdict"] == "overconfident"
    assert document["source"] == "risky.parquet"
    assert document["schema"] == 2
    a = sf.assess(sf.load(risky))
    assert document["metrics"]["csr"]["value"] == a["csr"]
    assert set(document["metrics"]) == {n for n, metric in sf.metrics.ALL.items() if metric.is_offered("prediction")}
    assert "Wrote" in captured.err


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ("risky", 1),
        ("csr>1", 1),
        ("csr > 1e9", 0),
        ("pvalue_combined<0.01", 1),
        ("accuracy<=0.1", 0),
        ("certain_wrong>0", 0),
        ("cw_mcc<0", 1),  # cannot be known from bare correctness: counts as held
        ("ece>=0", 1),
        ("inconclusive", 0),
        ("overstatement>0.02", 1),
        ("oe_ratio<1", 0),
        ("pvalue_omnibus<0.025", 1),
    ],
)
def test_fail_on(rule: str, status: int, risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(risky), "--fail-on", rule]) == status
    assert ("failed: " in out(capfd)) == (status == 1)


def test_fail_on_several(risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", str(risky), "--fail-on", "csr>1e9", "--fail-on", "risky", "--json"]) == 1
    captured = capfd.readouterr()
    assert captured.err.count("failed: ") == 1
    assert json.loads(captured.out)["verdict"] == "overconfident"


@pytest.mark.parametrize(
    "arguments",
    [
        ["assess"],
        ["assess", "FILE", "--nonsense"],
        ["assess", "FILE", "--fail-on", "csr"],
        ["assess", "FILE", "--fail-on", "nonsense>1"],
        ["assess", "FILE", "--fail-on", "csr>one"],
        ["assess", "FILE", "--level", "2"],
        ["assess", "FILE", "--delimiter", ";;"],
        ["assess", "FILE", "--confidence", "nothing"],
        ["compare", "a=FILE"],
        ["compare", "FILE", "FILE"],
        ["compare", "a=FILE", "a=FILE"],
        ["merge", "FILE"],
        ["monitor", "FILE"],
        ["monitor", "FILE", "--state", "STATE", "--watch", "clouds"],
        ["monitor", "FILE", "--state", "STATE", "--weight", "confidence"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_told_in_one_line(
    arguments: list[str], risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = [a.replace("FILE", str(risky)).replace("STATE", str(tmp_path / "s")) for a in arguments]
    assert run(given) == 2
    captured = capfd.readouterr()
    assert len(captured.err.splitlines()) == 1
    assert captured.err.startswith("error: ")
    assert not (tmp_path / "s").exists()


def test_outputs_go_where_a_folder_is_or_nothing_is_done(
    risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["assess", str(risky), "--html", str(tmp_path / "none" / "r.html")]) == 3
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "no such folder" in captured.err


def test_tallies_are_saved_merged_and_assessed(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = pq.read_table(risky)
    pq.write_table(table.slice(0, 700), tmp_path / "1.parquet")
    pq.write_table(table.slice(700), tmp_path / "2.parquet")
    for day in "12":
        assert run(["assess", str(tmp_path / f"{day}.parquet"), "--save-tally", str(tmp_path / f"{day}.tally")]) == 0
    both = str(tmp_path / "both.tally")
    assert run(["merge", str(tmp_path / "1.tally"), str(tmp_path / "2.tally"), "-o", both]) == 0
    capfd.readouterr()
    assert run(["assess", both, "--json"]) == 0
    found = json.loads(out(capfd))
    assert found["metrics"]["csr"]["value"] == pytest.approx(sf.csr(sf.load(risky)), rel=1e-12)
    assert run(["assess", both, "--by", "group"]) == 3
    assert "this tally has no slices by 'group': make it with" in capfd.readouterr().err
    (tmp_path / "2.tally").write_text("{}")
    assert run(["merge", str(tmp_path / "1.tally"), str(tmp_path / "2.tally"), "-o", str(tmp_path / "x.tally")]) == 3
    assert not (tmp_path / "x.tally").exists()


def test_compare(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = pq.read_table(risky)
    meek = np.sqrt(np.array(table.column("confidence").to_pylist())) * 0.6
    pq.write_table(table.set_column(1, "confidence", pa.array(meek)), tmp_path / "meek.parquet")
    page = tmp_path / "c.html"
    assert run(["compare", f"raw={risky}", f"meek={tmp_path / 'meek.parquet'}", "--html", str(page)]) == 0
    told = out(capfd)
    assert "2,000 rows in both, taken to be the same: differences are paired" in told
    assert "raw is riskier than" in told
    assert "raw" in page.read_text()
    assert run(["compare", f"raw={risky}", f"meek={tmp_path / 'meek.parquet'}", "--json"]) == 0
    document = json.loads(out(capfd))
    assert document["differences"]["meek"]["csr"]["value"] < 0
    assert document["sign"] == "each model minus the first"


# -- how it looks ----------------------------------------------------------------------------------------------------


def in_a_terminal(arguments: list[str], **environment: str) -> str:
    """What a command writes to a terminal."""
    import pty

    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "surefoot", *arguments],
        stdout=child,
        stderr=child,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", **environment},
    )
    os.close(child)
    told = b""
    while True:
        try:
            block = os.read(parent, 1 << 16)
        except OSError:
            break
        if not block:
            break
        told += block
    process.wait()
    os.close(parent)
    return told.decode()


def test_colour_in_a_terminal_only_and_never_against_no_color(risky: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[1;31m▼ STRONGLY OVERCONFIDENT\x1b[0m" in in_a_terminal(["assess", str(risky)])
    plain = in_a_terminal(["assess", str(risky)], NO_COLOR="1")
    # a slow machine shows a bar, which moves the cursor
    assert not re.search(r"\x1b\[[\d;]*m", plain)
    assert "▼ STRONGLY OVERCONFIDENT" in plain
    dumb = in_a_terminal(["assess", str(risky)], TERM="dumb")
    assert dumb.isascii()
    run(["assess", str(risky)])
    assert out(capfd).isascii()


def test_help_teaches_and_loads_nothing() -> None:
    code = (
        "import sys; from surefoot.cli import run; run(['assess', '--help']); "
        "print({'numpy', 'scipy', 'numba', 'pyarrow', 'rich', 'pandas'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "surefoot assess predictions.csv" in done.stdout
    assert done.stderr.strip() == "set()"


def test_whoever_reads_may_leave(risky: Path) -> None:
    command = f"{sys.executable} -m surefoot assess {risky} --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


def test_demo(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["demo", "--html", str(tmp_path / "r.html")]) == 0
    assert "OVERCONFIDENT" in out(capfd)
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("verified_calibration_cifar10_vgg16", "v STRONGLY OVERCONFIDENT"),
        ("netcal_lenet_5_cifar_10", "v STRONGLY OVERCONFIDENT"),
        ("nannyml_employment_ma", "MIXED: OVER- AND UNDERCONFIDENT, SLIGHTLY"),
    ],
)
def test_real_files_need_no_options(
    name: str, verdict: str, real_predictions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "r.html"
    assert run(["assess", str(real_predictions / f"{name}.parquet"), "--html", str(page)]) == 0
    told = out(capfd)
    assert verdict in told
    if "vgg16" in name:
        assert "CSR              13.4   at least 7.98 (95%)" in told
        assert "CSR 3.8e-05" in told
    assert 50_000 < page.stat().st_size < 1_500_000


def test_a_pipe_that_nobody_reads_is_no_failure(risky: Path) -> None:
    command = f"{sys.executable} -m surefoot assess {risky} --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
    assert "Traceback" not in done.stderr


def test_outputs_are_looked_at_before_the_work(risky: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = risky.read_bytes()
    assert run(["assess", str(risky), "--html", str(tmp_path), "--save-tally", str(tmp_path / "t")]) == 3
    assert "is a folder" in capfd.readouterr().err
    assert not (tmp_path / "t").exists()
    assert run(["assess", str(risky), "--save-tally", str(risky)]) == 2
    assert risky.read_bytes() == before
    assert run(["assess", str(risky), "--save-tally", str(tmp_path / "x"), "--html", str(tmp_path / "x")]) == 2
    assert not (tmp_path / "x").exists()


def test_standard_input_that_is_closed() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m surefoot assess - <&-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_weighted_rows_are_told_by_weight(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "w.csv").write_text("label,pred,conf,weight\n1,1,0.9,180\n0,0,0.8,70\n1,0,0.7,60\n")
    page = tmp_path / "r.html"
    assert run(["assess", str(tmp_path / "w.csv"), "--html", str(page)]) == 0
    told = out(capfd)
    assert "By weight, its confidences imply 16.1% errors; 19.4% were made" in told
    assert "add up to 310" in told
    assert "CSR is infinite" not in page.read_text()


@pytest.mark.parametrize(
    ("command", "status"), [(["assess", "--fail-on", "risky"], 1), (["assess"], 0), (["monitor"], 0)]
)
def test_a_reader_that_leaves_changes_neither_status_nor_files(command, status, risky: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    keep = ["--state", str(out)] if command[0] == "monitor" else ["--html", str(out)]
    arguments = [command[0], str(risky), *command[1:], *keep]
    code = "import sys; from surefoot.cli import run; sys.exit(run(sys.argv[1:]))"
    running = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)
    running.stdout.close()
    assert running.wait(timeout=120) == status
    assert out.stat().st_size > 100


def test_the_positive_label_is_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mail.csv"
    path.write_text("truth,prob\n" + "spam,0.9\nham,0.2\nspam,0.8\nham,0.1\n" * 30)
    assert run(["assess", str(path)]) == 2
    error = capfd.readouterr().err
    assert "'ham' or 'spam'" in error
    assert "--positive" in error
    assert run(["assess", str(path), "--positive", "spam", "--fail-on", "accuracy<1"]) == 0
    assert "probability of spam: prob" in out(capfd)
    assert run(["assess", str(path), "--positive", "eggs"]) == 3
    (tmp_path / "known.csv").write_text("correct,confidence\n1,0.9\n0,0.7\n")
    assert run(["assess", str(tmp_path / "known.csv"), "--positive", "yes"]) == 2
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("truth,prob\n" + "2,0.9\n1,0.2\n" * 30)
    assert run(["assess", str(numbers), "--positive", "2", "--fail-on", "accuracy<1"]) == 0


def test_float32_numbers_saved_as_float64(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    confidence = (1 / (1 + np.exp(-rng.normal(10, 8, 3000).clip(0)))).astype(np.float32).astype(np.float64)
    correct = rng.random(3000) < confidence
    correct[np.argmax(confidence == 1)] = False
    table = pa.table({"correct": correct, "confidence": confidence})
    pq.write_table(table, tmp_path / "a.parquet")
    pacsv.write_csv(table, tmp_path / "a.csv")
    for name in ("a.parquet", "a.csv"):
        assert run(["assess", str(tmp_path / name), "--fail-on", "certain_wrong>0"]) == 0
        captured = capfd.readouterr()
        assert "float32 numbers stored as a wider type" in captured.err
        assert "are 1.0 because they were rounded" in " ".join(captured.out.split())
    assert run(["assess", str(tmp_path / "a.parquet"), "--as-float64", "--fail-on", "certain_wrong>0"]) == 1
    assert "1 row with confidence 1 was wrong" in out(capfd)


def test_a_margin_makes_it_inconclusive(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "few.csv"
    path.write_text("correct,confidence\n" + "1,0.8\n1,0.8\n1,0.8\n1,0.8\n0,0.8\n" * 8)
    assert run(["assess", str(path), "--fail-on", "inconclusive"]) == 1
    assert "failed: inconclusive" in out(capfd)
    assert run(["assess", str(path), "--fail-on", "inconclusive", "--margin", "0.2"]) == 0
    assert run(["assess", str(path), "--margin", "2"]) == 2


def test_advice_on_a_file_is_in_the_words_of_the_command_line(tmp_path, capsys) -> None:
    rows = ["patient,y,risk", *(f"{i // 2},{int(i % 9 == 0)},{(0.0 if i == 1 else 0.11):.2f}" for i in range(400))]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(rows) + "\n")
    assert run(["assess", str(path), "--truth", "y", "--probabilities", "risk", "--of", "event"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "1 of 400 predicted probabilities is 0 or 1 because it was rounded. It is taken" in told
    assert "Logits avoid this: --logits." in told
    assert "name it: --group patient." in told
    assert run(["assess", str(path), "--truth", "y", "--probabilities", "risk"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "as often as predicted: --of event." in told
    assert "Predictions." not in told

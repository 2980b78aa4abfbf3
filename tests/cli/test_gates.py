"""Gates: what they say about a baseline, which rules they take, and which files they spare."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.assessment.baseline import BaselineComparison, compare_with_baseline
from surefoot.cli import run
from surefoot.cli.gate import conclusion, markdown, rules_as_markdown
from surefoot.cli.rules import parsed

ACTION = Path(__file__).parents[2] / "action.yml"


def right(n: int, share: float, confidence: float) -> sf.Predictions:
    """Rows of one confidence, of which just this share is correct."""
    return sf.Predictions.from_correct(np.arange(n) < round(share * n), np.full(n, confidence))


def compared(now: sf.Predictions, baseline: sf.Predictions) -> BaselineComparison:
    return compare_with_baseline(sf.assess(now, metrics=[]), sf.assess(baseline, metrics=[]))


def test_another_verdict_is_told_without_a_reason() -> None:
    """70% right at 90% before and 90% now, of 5,000 rows: that is no chance."""
    told = conclusion(compared(right(5000, 0.9, 0.9), right(5000, 0.7, 0.9)))
    assert told == (
        "Not worse than the baseline: nothing rose by more than chance explains. "
        "The verdict is no evidence against calibration and was overconfident."
    )


def test_an_improvement_from_underconfidence_is_told() -> None:
    told = conclusion(compared(right(5000, 0.8, 0.8), right(5000, 0.98, 0.8)))
    assert told == (
        "Not worse than the baseline: overstatement and O/E rose, but errors now exceed the expected ones by no more "
        "than chance explains. The verdict is no evidence against calibration and was underconfident."
    )


def test_names_have_no_meaning_in_markdown() -> None:
    from dataclasses import replace

    found = compared(right(500, 0.9, 0.9), right(500, 0.9, 0.9))
    named = replace(found, baseline=replace(found.baseline, source="a|b`c`*d*<img src=x>.tally"))
    assert "500 rows of a\\|b\\`c\\`\\*d\\*&lt;img src=x>.tally." in markdown(named)
    rule = parsed("risky")
    assert "- FAILED: risky (\\`a\\`)\n" in rules_as_markdown([rule], ["risky (`a`)"])


@pytest.mark.parametrize(
    ("rule", "right"),
    [
        ("overstatement>2", "overstatement is between -1 and 1; 2 points is 0.02"),
        ("overstatement<-2", "overstatement is between -1 and 1; -2 points is -0.02"),
        ("accuracy<90", "accuracy is between 0 and 1; 90% is 0.9"),
        ("pvalue_omnibus<5", "pvalue_omnibus is between 0 and 1; 5% is 0.05"),
        ("deflation>3", "deflation is between 0 and 1; 3% is 0.03"),
        ("cw_mcc<-40", "cw_mcc is between -1 and 1; -40% is -0.4"),
        ("ece>1000", "ece is between 0 and 1"),
        ("csr<-1", "csr is never below 0"),
        ("n<-1", "n is never below 0"),
    ],
)
def test_a_threshold_that_a_metric_cannot_reach_is_refused(
    rule: str, right: str, risky: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["assess", str(risky), "--fail-on", rule]) == 2
    assert capfd.readouterr().err.rstrip().endswith(f"--fail-on is {rule!r}, but {right}")


@pytest.mark.parametrize(
    "rule", ["overstatement>1", "accuracy<=0", "accuracy<2", "csr>inf", "csr_z<-3", "tce>50", "log_e<-5"]
)
def test_a_threshold_within_the_range_is_taken(rule: str) -> None:
    assert parsed(rule).text == rule


def test_no_input_is_written_over_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = "truth,prob\n" + "1,0.75\n0,0.25\n" * 40
    file = tmp_path / "c2.csv"
    file.write_text(rows)
    (tmp_path / "sub").mkdir()
    (tmp_path / "symbolic.csv").symlink_to(file)
    (tmp_path / "hard.csv").hardlink_to(file)
    (tmp_path / "folder").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("sub/../c2.csv", "symbolic.csv", "hard.csv", "folder/c2.csv", str(file)):
        assert run(["calibrate", "--fit", "c2.csv", "--method", "platt", "--apply", "c2.csv", "-o", name]) == 2
        assert "is read, and would be written over" in capfd.readouterr().err
    assert file.read_text() == rows
    assert (tmp_path / "symbolic.csv").is_symlink()
    for name in ("sub/../a.html", "folder/a.html"):
        assert run(["assess", "c2.csv", "--html", "a.html", "--save-tally", name]) == 2
        assert "two outputs have one name" in capfd.readouterr().err
    assert not (tmp_path / "a.html").exists()


def run_action(folder: Path, file: str, options: str) -> tuple[subprocess.CompletedProcess[str], list[str], str]:
    """The last step of the action, with a command that notes its arguments in the place of surefoot."""
    script = textwrap.dedent(ACTION.read_text().rpartition("run: |\n")[2])
    command, noted, summary = folder / "surefoot" / "bin" / "surefoot", folder / "arguments", folder / "summary.md"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!{sys.executable}\nimport sys\nopen({str(noted)!r}, "w").write("\\0".join(sys.argv[1:]))\n')
    command.chmod(0o755)
    inputs = dict.fromkeys(("BASELINE", "REPORT", "TALLY", "JUNIT"), "")
    inputs |= {"FILE": file, "RULES": "risky", "OPTIONS": options, "SUMMARY": "true"}
    environment = {**os.environ, **inputs, "RUNNER_TEMP": str(folder), "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    given = noted.read_text().split("\0") if noted.exists() else []
    return done, given, summary.read_text() if summary.exists() else ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", []),
        ("  \n", []),
        ("--truth label --by region", ["--truth", "label", "--by", "region"]),
        ("--truth label\n--by region\n", ["--truth", "label", "--by", "region"]),
        ("--truth 'my label' --by \"a b\"", ["--truth", "my label", "--by", "a b"]),
        ("--truth $(touch x) *", ["--truth", "$(touch", "x)", "*"]),
    ],
)
def test_the_action_passes_every_option_on(options: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "surefoot.md").write_text("of an earlier step")
    done, given, summary = run_action(tmp_path, "-a.csv", options)
    assert done.returncode == 0, done.stderr
    output = ["--output", str(tmp_path / "surefoot.md")]
    assert given == ["assess", "--fail-on", "risky", *output, *expected, "--", "-a.csv"]
    assert summary == ""


def test_the_action_refuses_a_quote_that_does_not_end(tmp_path: Path) -> None:
    done, given, _ = run_action(tmp_path, "a.csv", "--truth 'label")
    assert done.returncode != 0
    assert given == []

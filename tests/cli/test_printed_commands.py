"""Commands that are printed read what was read: with the options that say how."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.calibrators import SafePlatt, load
from surefoot.cli import run

RNG = np.random.default_rng(3)
N = 3000
#: Stated in whole percent, so that every way to write them gives the same numbers.
STATED = np.round(0.5 + 0.5 * RNG.beta(8, 1, N), 2).clip(0.5, 0.99)
FIRST = RNG.integers(55, 70, N)
SITE = RNG.choice(["a", "b"], N)


def _printed(text: str, kind: str) -> list[str]:
    """The arguments of the printed command of a kind; empty if there is none."""
    joined = re.sub(r" \\\n\s+", " ", text)
    found = re.search(rf"^ *surefoot ({kind} .*)$", joined, re.MULTILINE)
    return shlex.split(found[1]) if found else []


def _rows(kind: str, correct: np.ndarray, tmp_path: Path) -> tuple[list[str], np.ndarray]:
    """A file whose reading takes options, named with them; and which rows count."""
    counts = np.ones(N, dtype=bool)
    cells = {
        "missing": [f"{c!r}" if i % 50 else "" for i, c in enumerate(STATED.tolist())],
        "pattern": [
            f"First guess: confidence {first}%. final={round(100 * c)}" for first, c in zip(FIRST, STATED, strict=True)
        ],
        "percent": [f"{100 * c:.0f}" for c in STATED],
    }[kind]
    options = {
        "missing": ["--drop-missing"],
        "pattern": ["--confidence", "text", "--confidence-pattern", r"final=(\d+)"],
        "percent": ["--percent"],
    }[kind]
    name = "text" if kind == "pattern" else "confidence"
    lines = [f"{int(y)},{cell},{site}" for y, cell, site in zip(correct, cells, SITE, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join([f"correct,{name},site", *lines, ""]))
    if kind == "missing":
        counts[::50] = False
    return ["rows.csv", *options], counts


@pytest.mark.parametrize("kind", ["missing", "pattern", "percent"])
@pytest.mark.parametrize("off", [0.0, 0.06])
def test_next_steps_read_the_same_rows(
    kind: str, off: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    correct = np.random.default_rng(4).random(N) < STATED - off
    arguments, counts = _rows(kind, correct, tmp_path)
    assert run(["assess", *arguments]) == 0
    text = capsys.readouterr().out

    steps = [_printed(text, one) for one in ("assess", "calibrate", "act-alone")]
    assert sum(map(bool, steps)) >= (1 if off else 2)
    by, fit, alone = steps
    expected = STATED[counts].mean() - correct[counts].mean()
    if by:
        assert run([word.replace("COLUMN", "site") for word in by] + ["--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["risk"]["overstatement"] == pytest.approx(expected, abs=1e-12)
    if fit:
        assert run([*fit, "--method", "safe_platt", "--save", "kept.json"]) == 0
        mine = SafePlatt().fit(STATED[counts], correct[counts])
        assert load("kept.json").predict_proba([0.7, 0.9]) == pytest.approx(mine.predict_proba([0.7, 0.9]), rel=1e-9)
    if alone:
        assert run(alone) == 0
        start = re.search(r"without\s+review\s+from\s+([\d.]+)%", text)
        assert start is not None
        policy = sf.Policy.load("policy.json")
        above, below = float(start[1]) / 100 + 1e-9, float(start[1]) / 100 - 0.005
        assert policy.decide([above, below]).tolist() == ["accept", "review"]
    assert bool(fit) == bool(off)


def test_full_certainty_in_float64_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    single = STATED.astype(np.float32).astype(float)
    pq.write_table(
        pa.table({"correct": np.random.default_rng(5).random(N) < STATED, "confidence": single}), "a.parquet"
    )
    assert run(["assess", "a.parquet", "--as-float64", "-o", "a.md"]) == 0
    assert "--as-float64" in Path("a.md").read_text()


def test_a_calibrator_of_percentages_asks_before_it_reads_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Percentages that are all below 1 look like shares: 0.99 is 0.99% here."""
    monkeypatch.chdir(tmp_path)
    p = np.round(RNG.random(800), 4).clip(0.011, 0.99)
    y = RNG.random(800) < p
    Path("fit.csv").write_text("died,risk\n" + "".join(f"{int(a)},{100 * b:.2f}\n" for a, b in zip(y, p, strict=True)))
    Path("NEW.csv").write_text("risk\n0.99\n0.5\n")
    fit = ["calibrate", "--fit", "fit.csv", "--truth", "died", "--probabilities", "risk", "--method", "safe_platt"]
    for given in ([], ["--percent"]):
        capsys.readouterr()
        assert run([*fit, *given, "--save", "kept.json"]) == 0
        hint = shlex.split(capsys.readouterr().out.partition("To correct new rows:")[2].splitlines()[0])[1:]
        assert ("--percent" in hint) == bool(given)
        plain = [word for word in hint if word != "--percent"]
        assert run(plain) == 2
        assert "pass --percent if both are percentages" in " ".join(capsys.readouterr().err.split())
        assert run([*plain, "--percent"]) == 0
        found = [float(line.split(",")[1]) for line in Path("fixed.csv").read_text().splitlines()[1:]]
        expected = SafePlatt().fit(p, y).predict_proba([0.0099, 0.005])[:, 1]
        assert found == pytest.approx(expected.tolist(), rel=1e-9)
    # a calibrator of shares, and one that an earlier version saved, take such numbers for shares
    document = json.loads(Path("kept.json").read_text())
    assert document["percentages"] is True
    SafePlatt().fit(p, y).save("shares.json")
    assert "percentages" not in json.loads(Path("shares.json").read_text())
    apply = ["--apply", "NEW.csv", "--probabilities", "risk", "-o", "fixed.csv"]
    assert run(["calibrate", "--load", "shares.json", *apply]) == 0


def test_rows_to_correct_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, _ = _rows("missing", np.random.default_rng(4).random(N) < STATED, tmp_path)
    fit = ["calibrate", "--fit", arguments[0], "--truth", "correct", "--probabilities", "confidence"]
    apply = ["--apply", "rows.csv", "-o", "fixed.csv", "--method", "platt"]
    assert run([*fit, "--method", "platt"]) == 3
    assert "pass --drop-missing" in " ".join(capsys.readouterr().err.split())
    assert run([*fit, "--drop-missing", "--method", "platt", "--save", "kept.json"]) == 0
    assert "60 of 3,000 rows are left out: they have no confidence." in capsys.readouterr().out
    assert run([*fit, "--drop-missing", *apply]) == 3
    assert "fill it in, or drop the row" in " ".join(capsys.readouterr().err.split())
    assert run(["calibrate", "--load", "kept.json", *apply[:4], "--drop-missing"]) == 2
    assert "every row of --apply is kept" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("of", [[], ["--of", "event"]])
def test_slices_print_a_command_that_reads_the_same(
    of: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a folder").mkdir()
    p = np.random.default_rng(6).random(N)
    y = np.random.default_rng(7).random(N) < np.clip(p - 0.3 * (SITE == "b"), 0, 1)
    lines = [f"{'yes' if a else 'no'};{100 * b:.4f};{site}" for a, b, site in zip(y, p, SITE, strict=True)]
    Path("a folder/rows.csv").write_text("\n".join(["outcome is;my score;site", *lines, ""]))
    named = ["--truth", "outcome is", "--probabilities", "my score", "--positive", "yes"]
    options = [*named, "--delimiter", ";", "--percent", *of]
    assert run(["slices", "a folder/rows.csv", *options]) == 0
    command = _printed(capsys.readouterr().out, "assess")
    assert command[1] == "a folder/rows.csv"
    assert command[-2:] == ["--by", "site"]
    assert run([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    confidence, right = (p, y) if of else (np.maximum(p, 1 - p), y == (p > 0.5))
    assert found["risk"]["overstatement"] == pytest.approx(confidence.mean() - right.mean(), abs=1e-6)


def test_slices_without_a_finding_name_the_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, _ = _rows("percent", np.random.default_rng(8).random(N) < STATED, tmp_path)
    assert run(["slices", *arguments]) == 0
    command = _printed(capsys.readouterr().out, "assess")
    assert "--percent" in command
    assert run([word.replace("COLUMN", "site") for word in command]) == 0

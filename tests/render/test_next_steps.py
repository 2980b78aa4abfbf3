"""What to do next: the command that recalibrates, or how many labelled rows would settle the question."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.render import markdown
from surefoot.render.html import report
from surefoot.render.next_steps import Step, next_steps, rows_needed
from surefoot.risk.planning import required_n

RNG = np.random.default_rng(0)
X = RNG.normal(0, 2, 3000)
Y = (RNG.random(3000) < 1 / (1 + np.exp(-X))).astype(int)
SHARP = 1 / (1 + np.exp(-3 * X))


def only(a: sf.Assessment) -> Step:
    (step,) = next_steps(a)
    return step


def test_the_python_call_that_recalibrates_runs_and_helps() -> None:
    table = np.column_stack([1 - SHARP, SHARP])
    step = only(sf.assess(Y, table))
    assert step.command == "sf.calibrate(y_true, probabilities)"
    found = eval(step.command, {"sf": sf, "y_true": Y, "probabilities": table})
    assert found.trials["raw"].is_risky
    assert not found.trials[found.recommended].is_risky


@pytest.mark.parametrize("has_labels", [True, False])
def test_bare_confidences_are_recalibrated_too(has_labels: bool) -> None:
    predicted, confidence = (SHARP > 0.5).astype(int), np.maximum(SHARP, 1 - SHARP)
    a = sf.assess(Y, predicted, confidence) if has_labels else sf.assess(correct=predicted == Y, confidence=confidence)
    step = only(a)
    correct = "y_true == y_pred" if has_labels else "correct"
    assert step.command == f"sf.calibrate({correct}, np.column_stack([1 - np.asarray(confidence), confidence]))"
    names = {"sf": sf, "np": np, "y_true": Y, "y_pred": predicted, "confidence": confidence, "correct": predicted == Y}
    assert eval(step.command, names).recommended


@pytest.mark.parametrize(
    ("header", "rows", "options"),
    [
        ("label,p", lambda: zip(Y, SHARP, strict=True), []),
        ("state,score 1", lambda: zip(Y, SHARP, strict=True), ["--truth", "state", "--probabilities", "score 1"]),
        (
            "label,prob_no,prob_yes",
            lambda: ((("no", "yes")[y], 1 - p, p) for y, p in zip(Y, SHARP, strict=True)),
            [],
        ),
        ("label,p", lambda: ((("no", "yes")[y], p) for y, p in zip(Y, SHARP, strict=True)), ["--positive", "yes"]),
        ("correct,confidence", lambda: ((y == (p > 0.5), max(p, 1 - p)) for y, p in zip(Y, SHARP, strict=True)), []),
    ],
)
def test_the_command_that_recalibrates_a_file_runs_as_printed(
    header: str,
    rows: object,
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my rows.csv").write_text("\n".join([header, *(",".join(map(str, row)) for row in rows()), ""]))  # type: ignore[operator]
    assert run(["assess", "my rows.csv", *options]) == 0
    text = capsys.readouterr().out
    lines = text.partition("What to do next")[2].splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith("surefoot "))
    command = " ".join(line.strip().removesuffix("\\").strip() for line in lines[start:] if line.strip())
    words = shlex.split(command)
    assert words[:4] == ["surefoot", "calibrate", "--fit", "my rows.csv"]
    assert run(words[1:]) == 0
    assert "Recommended" in capsys.readouterr().out


@pytest.mark.parametrize("rows", [40, 300])
def test_the_rows_that_settle_it_are_enough_for_the_test_as_well(rows: int) -> None:
    c = np.random.default_rng(1).uniform(0.6, 0.95, rows)
    a = sf.assess(correct=np.random.default_rng(2).random(rows) < c, confidence=c)
    assert a.verdict == "inconclusive"
    needed = rows_needed(a)
    assert needed is not None
    # an overstatement of the margin, as a deflation
    assert needed >= required_n(c, deflation=a.margin / float(c.mean()))
    assert f"About {needed:,} in all would settle it" in only(a).words


def test_so_many_rows_exclude_the_margin_four_times_in_five() -> None:
    rng = np.random.default_rng(3)
    c = rng.uniform(0.6, 0.95, 200)
    needed = rows_needed(replace(sf.assess(correct=rng.random(200) < c, confidence=c), margin=0.05))
    assert needed is not None
    settled = 0
    for _ in range(60):
        many = rng.uniform(0.6, 0.95, needed)
        a = sf.assess(correct=rng.random(needed) < many, confidence=many, metrics=(), margin=0.05)
        settled += a.verdict != "inconclusive"
    assert 40 <= settled <= 58


@pytest.mark.parametrize(("confidence", "rows"), [(0.999, 60), (0.99, 60)])
def test_so_many_rows_settle_it_for_sure_models_too(confidence: float, rows: int) -> None:
    rng = np.random.default_rng(5)
    a = sf.assess(correct=[True] * rows, confidence=[confidence] * rows)
    assert a.verdict == "inconclusive"
    needed = rows_needed(a)
    assert needed is not None
    settled = [
        sf.assess(correct=rng.random(needed) < confidence, confidence=[confidence] * needed, metrics=()).verdict
        for _ in range(50)
    ]
    assert sum(verdict != "inconclusive" for verdict in settled) >= 35


def test_a_stricter_level_and_unequal_weights_need_more_rows() -> None:
    rng = np.random.default_rng(6)
    c = rng.uniform(0.6, 0.95, 200)
    correct = rng.random(200) < c
    plain = rows_needed(sf.assess(correct=correct, confidence=c))
    strict = rows_needed(sf.assess(correct=correct, confidence=c, level=0.001))
    weighted = rows_needed(sf.assess(correct=correct, confidence=c, weight=np.where(np.arange(200) % 2, 1.0, 100.0)))
    assert plain is not None
    assert strict is not None
    assert strict > 1.5 * plain
    assert weighted is None or weighted > 1.5 * plain


def test_a_warning_comes_before_any_other_step() -> None:
    a = sf.assess(1 - Y, np.column_stack([1 - SHARP, SHARP]))
    assert a.warnings
    assert "Check the labels first" in only(a).words
    assert not only(a).command


def test_a_prefix_selects_the_columns_of_probabilities_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["patient,truth,p0,p1", *(f"{i},{y},{1 - p!r},{p!r}" for i, (y, p) in enumerate(zip(Y, SHARP, strict=True)))]
    Path("a.csv").write_text("\n".join(rows).replace("np.float64(", "").replace(")", "") + "\n")
    a = sf.assess("a.csv", y_true="truth", y_proba=["p0", "p1"])
    assert a.options == ()
    assert only(a).is_python
    Path("b.csv").write_text(Path("a.csv").read_text().replace("patient,truth,p0,p1", "patient,truth,p_0,p_1"))
    assert sf.assess("b.csv", y_true="truth", y_proba=["p_0", "p_1"]).options == (
        "--truth",
        "truth",
        "--probabilities",
        "p_",
    )


def test_what_no_number_of_rows_settles_is_said() -> None:
    a = sf.assess(correct=[True] * 7 + [False] * 3, confidence=[0.7] * 10, margin=1e-6)
    assert a.verdict == "inconclusive"
    assert rows_needed(a) is None
    assert "choose a wider margin" in only(a).words


def test_nothing_found_asks_for_groups() -> None:
    rng = np.random.default_rng(4)
    c = rng.uniform(0.6, 0.95, 20_000)
    a = sf.assess(correct=rng.random(20_000) < c, confidence=c)
    assert only(a).command == "sf.assess(..., by=groups)"
    named = replace(a, path="it's.csv", options=("--correct", "was right", "--confidence", "c"))
    words = ["surefoot", "assess", "it's.csv", "--correct", "was right", "--confidence", "c", "--by", "COLUMN"]
    assert shlex.split(only(named).command) == words


def test_every_medium_ends_its_verdict_with_it() -> None:
    a = sf.assess(Y, np.column_stack([1 - SHARP, SHARP]))
    assert "What to do next\n    Recalibrate" in str(a)
    assert "### What to do next" in markdown.render(a)
    page = report(a)
    assert page.index("What to do next") < page.index('id="where"')
    for text in (str(a), markdown.render(a), page, a._repr_html_()):
        assert "sf.calibrate(y_true, probabilities)" in text


def test_long_commands_are_broken_where_they_can_be_pasted() -> None:
    step = Step("", "surefoot calibrate --fit 'my long file name.csv' --truth label --probabilities p_")
    lines = step.command_lines(40)
    assert all(len(line) <= 40 for line in lines)
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert shlex.split(re.sub(r"\\\n", "", "\n".join(lines))) == shlex.split(step.command)
    assert Step("").command_lines(40) == []
    call = Step("", "sf.calibrate(correct, np.column_stack([1 - np.asarray(confidence), confidence]))")
    assert len(call.command_lines(44)) == 2
    compile("\n".join(call.command_lines(44)), "pasted", "eval")

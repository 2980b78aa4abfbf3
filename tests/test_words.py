"""What people read uses the vocabulary of the field: README, help, reports, messages, docstrings and documentation."""

import ast
import html
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from test_documented import CLASSES, FUNCTIONS, MEMBERS

import surefoot as sf
from surefoot import cli

ROOT = Path(__file__).parents[1]
SOURCE = Path(sf.__file__).parent

#: What is not written, and what is written instead.
INSTEAD = {
    r"\bmistakes?\b": "errors",
    r"\bmistakes? (stated|seen)\b|\ballow(s|ed|ing)? for\b": "expected errors, observed errors",
    r"\bwhat (comes|adds)\b(?! back)": "sample, row",
    r"\bclaim(s|ed|ing)?\b": "confidence, predicted probability",
    r"\b(admit(s|ted)? doubt|without doubt)\b": "doubt (= 1 - confidence)",
    r"\bdoors?\b": "constructor",
    r"\bwhat was taken\b|\bare taken for\b|\bis said first\b": "columns used",
    r"\bmay be called otherwise\b": "significance level, the chance of flagging a calibrated model",
    r"\bfits? best\b": "overstatement",
    r"\bto be had\b": "available, not available because ...",
    r"\brough(ly)?\b|\bby (the|its|a|an) (exact |normal )?law\b|\btak(e|es|en) (it )?for normal\b": (
        "approximate, exact, assumes"
    ),
    r"\ballowed to dominate\b": "capped test: no single sample may contribute more than 10%",
    r"(?<!\()\bonce in [\d,.]+ \w* ?data sets\b": (
        "chance of an outcome at least this extreme if the model were calibrated"
    ),
}

#: What the document on the paper is made of: there, claims are those of the paper.
GENERATORS = ("paper/document.py",)
#: Pages that are not written but computed, or that are history.
LEFT_OUT = ("adr", "_build", "changelog", "conformance", "paper")


def offences(text: str) -> list[str]:
    """Sentences with a word that has a better one, and the better one."""
    plain = re.sub(r"\s+", " ", text)
    found = []
    for pattern, instead in INSTEAD.items():
        for match in re.finditer(pattern, plain, re.IGNORECASE):
            around = plain[max(0, match.start() - 50) : match.end() + 50]
            found.append(f"{match.group()!r} in '...{around}...' (write: {instead})")
    return found


@cache
def models() -> dict[str, sf.Predictions]:
    """Models with every verdict, one that is wrong at confidence 1, one with swapped labels, one without labels."""
    rng = np.random.default_rng(0)
    made = {}
    for name, size, sharper in (
        ("overconfident", 2000, 3.0),
        ("calibrated", 2000, 1.0),
        ("underconfident", 2000, 0.4),
        ("inconclusive", 40, 1.0),
        ("swapped", 400, -1.0),
    ):
        odds = rng.normal(0, 2, size)
        truth = (rng.random(size) < 1 / (1 + np.exp(-odds))).astype(int)
        made[name] = sf.Predictions.from_probabilities(truth, 1 / (1 + np.exp(-sharper * odds)))
    made["certain"] = sf.Predictions.from_correct([True] * 99 + [False], [0.9] * 50 + [1.0] * 50)
    return made


@cache
def events() -> dict[str, sf.Predictions]:
    """The same models asked about an event, and about every class."""
    kept = {name: p for name, p in models().items() if p.truth is not None}
    return {
        f"{of}, {name}": sf.Predictions.from_probabilities(p.truth, p.probabilities, of=of)
        for of in ("event", "classes")
        for name, p in kept.items()
    }


@cache
def rendered() -> dict[str, str]:
    """Reports, comparisons and calibrations as people see them, by what they are."""
    found = {}
    for name, p in models().items():
        a = sf.assess(p, by=None if p.truth is None else "predicted")
        found[f"text, {name}"] = str(a)
        found[f"summary, {name}"] = a.summary()
        found[f"markdown, {name}"] = a.to_markdown()
        found[f"card, {name}"] = visible(a._repr_html_())
        found[f"risk, {name}"] = visible(a.risk._repr_html_())
        found[f"warnings, {name}"] = " ".join(a.warnings)
        found[f"reasons, {name}"] = " ".join(a.reasons.values())
    for name, p in events().items():
        a = sf.assess(p)
        found[f"text, {name}"], found[f"summary, {name}"], found[f"markdown, {name}"] = (
            str(a),
            a.summary(),
            a.to_markdown(),
        )
        found[f"card, {name}"] = visible(a._repr_html_())
        found[f"reasons, {name}"] = " ".join((*a.warnings, *a.reasons.values()))
    pair = {name: events()[name] for name in ("event, overconfident", "event, calibrated")}
    found["comparison of events"] = str(sf.compare(pair))
    calibration = sf.calibrate([0, 1] * 100, np.tile([0.1, 0.2, 0.8, 0.9], 50))
    found["calibration"], found["its card"] = str(calibration), visible(calibration._repr_html_())
    comparison = sf.compare({name: models()[name] for name in ("overconfident", "calibrated")})
    found["comparison"], found["card of it"] = str(comparison), visible(comparison._repr_html_())
    for name, p in models().items():
        for options in ({"error": 0.05, "refuse": 0.3}, {"error": 1e-5}, {"cost_error": 9.0, "cost_review": 1.0}):
            alone = sf.act_alone(p, **options, by=None if p.truth is None else "predicted")
            whole = sf.act_alone(p, **options)
            found[f"acting alone, {name}, {options}"] = " ".join(
                (str(alone), str(whole), whole.to_markdown(), visible(whole.to_html()), visible(alone._repr_html_()))
            )
    rng = np.random.default_rng(0)
    columns = {"region": rng.choice(["north", "south", "east"], 4000), "age": rng.integers(18, 90, 4000)}
    columns |= {"visit": [f"v{i}" for i in range(4000)], "town": rng.zipf(1.4, 4000) % 900}
    for of in ("prediction", "event"):
        p = rng.uniform(0.6, 0.99, 4000)
        for off in (0.0, 0.3 * (columns["region"] == "east"), 0.2, -0.3 * (columns["age"] > 60) * (p < 0.7)):
            happened = rng.random(4000) < p - off
            held = sf.Predictions.from_probabilities(happened, p, of=of, pos_label=True)
            slices = sf.find_slices(held, pd.DataFrame(columns))
            found[f"slices, {of}, {len(found)}"] = " ".join(
                (str(slices), slices.to_markdown(), visible(slices._repr_html_()))
            )
    return found


def visible(page: str) -> str:
    """The words of an HTML page, without its styles and scripts."""
    page = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    titles = " . ".join(re.findall(r'(?:title|aria-label|alt)="([^"]*)"', page))
    return html.unescape(re.sub(r"<[^>]+>", " ", page) + " " + titles)


def literals() -> Iterator[tuple[str, str]]:
    """Every text in the source and where it stands, but for docstrings and names of terms, which are keys of files."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        if name in GENERATORS:
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        silent = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        silent |= {id(node.args[0]) for node in nodes if isinstance(node, ast.Call) and node.args and _is_term(node)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
                yield f"{name}:{node.lineno}", node.value


def _is_term(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "Term"


def commands() -> list[list[str]]:
    """Every command and group of the command line."""
    found = [[]]
    waiting = [([], typer.main.get_command(cli.app))]
    while waiting:
        words, group = waiting.pop()
        for name, command in getattr(group, "commands", {}).items():
            found.append([*words, name])
            waiting.append(([*words, name], command))
    return found


def help_of(command: list[str]) -> str:
    environment = {**os.environ, "COLUMNS": "200", "PYTHONPATH": str(SOURCE.parent), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", *command, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return done.stdout


def pages() -> list[Path]:
    found = [path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".rst")]
    return sorted(path for path in found if not any(part in str(path.relative_to(ROOT)) for part in LEFT_OUT))


def test_a_word_from_the_list_is_found() -> None:
    assert offences("The model allowed for 226 mistakes.") != []
    assert offences("The chance is 4e-5 (once in 26,000 data sets).") == []
    assert offences("A chance of\nonce in 26,000 data sets.") != []
    assert offences("Its confidences imply about 226 errors; it made 659.") == []


def test_the_readme() -> None:
    assert offences((ROOT / "README.md").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("command", commands(), ids=lambda command: " ".join(command) or "surefoot")
def test_the_help_of_a_command(command: list[str]) -> None:
    text = help_of(command)
    assert "Usage" in text or "usage" in text
    assert offences(text) == []


def test_assessments_comparisons_and_calibrations() -> None:
    assert rendered()["warnings, swapped"]
    found = {name: offences(text) for name, text in rendered().items()}
    assert {name: some for name, some in found.items() if some} == {}


def test_the_report(tmp_path: Path) -> None:
    found = {}
    for name, p in {**models(), **events()}.items():
        is_sliced = p.truth is not None and p.view == "prediction"
        sf.assess(p, by="predicted" if is_sliced else None).to_html(tmp_path / "report.html")
        page = visible((tmp_path / "report.html").read_text(encoding="utf-8"))
        assert len(page) > 1000
        found[name] = offences(page)
    assert {name: some for name, some in found.items() if some} == {}


def test_the_report_of_a_comparison(tmp_path: Path) -> None:
    comparison = sf.compare({name: models()[name] for name in ("overconfident", "calibrated", "underconfident")})
    comparison.to_html(tmp_path / "comparison.html")
    page = visible((tmp_path / "comparison.html").read_text(encoding="utf-8"))
    assert len(page) > 500
    assert offences(page) == []


def test_messages_and_all_other_texts_in_the_source() -> None:
    found = {place: offences(words) for place, words in literals()}
    assert len(found) > 1000
    assert {place: some for place, some in found.items() if some} == {}


def test_how_metrics_are_read() -> None:
    found = {name: offences(f"{metric.title}. {metric.reading}") for name, metric in sf.metrics.ALL.items()}
    assert {name: some for name, some in found.items() if some} == {}


def test_guarantees_and_costs_of_calibrators() -> None:
    found = {
        name: offences(f"{model.guarantee} {model.cost}")
        for name, model in ((name, method()) for name, method in sf.calibrators.METHODS.items())
    }
    assert {name: some for name, some in found.items() if some} == {}


def test_docstrings() -> None:
    values = {
        **{name: value for value, name in (*FUNCTIONS.items(), *CLASSES.items())},
        **{name: public.value for name, public in MEMBERS.items()},
    }
    found = {name: offences(inspect.getdoc(value) or "") for name, value in values.items()}
    assert {name: some for name, some in found.items() if some} == {}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_of_the_documentation(page: Path) -> None:
    # names in code are what they are
    assert offences(re.sub(r"`[^`\n]+`", "", page.read_text(encoding="utf-8"))) == []

"""What a notebook shows: the verdict and its numbers, in a few lines of HTML that bring their own style."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from surefoot._io.printable import printable
from surefoot.assessment.calibrate import Calibration, Trial
from surefoot.assessment.compare import Comparison
from surefoot.assessment.result import Assessment
from surefoot.figures.labels import significant, typeset
from surefoot.metrics.confusion import Confusion
from surefoot.render import side_by_side, wording
from surefoot.render.looks import NOTEBOOK_COLOURS, SYMBOLS
from surefoot.render.main_numbers import risk_numbers, sections
from surefoot.render.next_steps import next_steps
from surefoot.render.numbers import Number, percent, percent_interval, pluralize, pvalue, score
from surefoot.risk.result import RiskResult

#: Classes of a matrix that are shown.
_MOST_CLASSES = 30
_QUIET = "margin:.25em 0;opacity:.75"
_CELL = "padding:.1em 1em .1em 0"


def assessment_card(a: Assessment) -> str:
    """The verdict, then risk, value and common scores, and what to do next."""
    head = (
        f'<p style="margin:0">{_verdict(a)}&ensp;{_escape(wording.advice(a))}</p>'
        f"{_warnings(a.warnings)}"
        f'<p style="margin:.25em 0">{_escape(" ".join(wording.sentences(a)))}</p>'
    )
    numbers = [number for group in sections(a).values() for number in group if number.name != "P_risk"]
    notes = "".join(f'<p style="{_QUIET}">note: {_escape(note)}</p>' for note in wording.notes(a))
    steps = "".join(
        f'<p style="margin:.25em 0"><strong>Next:</strong> {_escape(step.words)}'
        f"{f' <code>{escape(step.command)}</code>' if step.command else ''}</p>"
        for step in next_steps(a)
    )
    return f"<div>{head}{_list(numbers)}{notes}{steps}</div>"


def comparison_card(c: Comparison) -> str:
    """The models in columns, and each of the others minus the first."""
    names = [printable(name, 24) for name in c.assessments]
    body = [["verdict", *(_verdict(a) for a in c.assessments.values())]]
    body += [[name, *map(_escape, values)] for _, name, values in side_by_side.lines(c)]
    warned = "".join(
        _warnings(f"{printable(name, 24)}: {words}" for words in a.warnings) for name, a in c.assessments.items()
    )
    closing = side_by_side.closing(c)
    head = f'<p style="margin:0">{f"<strong>{_escape(closing)}</strong> " if closing else ""}{_escape(c.pairing)}.</p>'
    tables = grid(["", *names], body)
    if apart := side_by_side.all_differences(c):
        title = f"minus {printable(c.first, 24)}, {side_by_side.level(c)}"
        tables += grid(["model", "of", title], [[*map(_escape, row)] for row in apart])
    notes = "".join(f'<p style="{_QUIET}">{_escape(note)}</p>' for note in side_by_side.notes(c))
    return f"<div>{head}{warned}{tables}{notes}</div>"


def calibration_card(c: Calibration) -> str:
    """The calibrators on the held-out rows, the recommended one in bold."""
    head = (
        f'<p style="margin:0"><strong>Recommended: {escape(printable(c.recommended, 40))}</strong>&ensp;'
        f"{_escape(c.calibrator.guarantee)}</p>"
        f'<p style="margin:.25em 0">Chosen by the held-out rows and fitted to the others. Cost: '
        f"{_escape(c.calibrator.cost)}</p>"
    )
    titles = ["calibrator", "log loss", "saved, 95% CI", "cwA", "CSR", "p-value", "guarantee", "verdict"]
    body = []
    for name, trial in c.trials.items():
        risk = trial.assessment.risk
        row = [
            escape(printable(name, 40)),
            _escape(score(trial.log_loss)),
            _escape(_saved(trial)),
            _escape(percent(trial.assessment.metrics["cw_accuracy"])),
            _escape(significant(risk.csr)),
            _escape(pvalue(risk.pvalue_omnibus)),
            "yes" if trial.is_safe else "",
            "overconfident" if trial.is_risky else "",
        ]
        body.append([f"<strong>{cell}</strong>" if cell and name == c.recommended else cell for cell in row])
    noted = ((name, trial.note) for name, trial in c.trials.items() if trial.note)
    notes = "".join(f'<p style="{_QUIET}">{_escape(f"{name}: {note}")}</p>' for name, note in noted)
    return f"<div>{head}{grid(titles, body)}{notes}</div>"


def risk_card(r: RiskResult) -> str:
    """The test and its numbers."""
    side = r.alternative.replace("confident", "confidence")
    head = f'<p style="margin:0"><strong>Against {escape(side)}</strong>, {_escape(pluralize(r.n, "row"))}</p>'
    numbers = risk_numbers(r, r)
    if not math.isnan(r.log_e):
        words = "valid however often you look; above 20 is strong evidence"
        numbers.append(Number("e-value", significant(r.e_value), words))
    if not math.isnan(r.deflation):
        numbers.append(
            Number("deflation", percent(r.deflation, zero="0%"), f"95% CI {percent_interval(*r.deflation_interval)}")
        )
    return f"<div>{head}{_list(numbers)}</div>"


def confusion_table(c: Confusion) -> str:
    """The matrix: rows are true, columns predicted."""
    kept = range(min(len(c.labels), _MOST_CLASSES))
    cell = "padding:.1em .6em;text-align:right"
    names = "".join(f'<th style="{cell}">{escape(printable(c.labels[k], 24))}</th>' for k in kept)
    body = ""
    for i in kept:
        numbers = ""
        for j in kept:
            weight = ";font-weight:600" if i == j else ""
            numbers += f'<td style="{cell}{weight}">{_escape(significant(float(c.matrix[i, j])))}</td>'
        body += f'<tr><th style="{cell}">{escape(printable(c.labels[i], 24))}</th>{numbers}</tr>'
    left = len(c.labels) - len(kept)
    note = f"<p>{left:,} more classes are not shown.</p>" if left else ""
    caption = "<caption>rows: true, columns: predicted</caption>"
    return f"<table>{caption}<thead><tr><th></th>{names}</tr></thead><tbody>{body}</tbody></table>{note}"


def _verdict(a: Assessment) -> str:
    colour, symbol = NOTEBOOK_COLOURS.get(a.verdict, "inherit"), SYMBOLS.get(a.verdict, "")
    words = f"{f'{symbol} ' if symbol else ''}{escape(wording.headline(a))}"
    return f'<strong style="color:{colour}">{words}</strong>'


def _warnings(warnings: Iterable[str]) -> str:
    return "".join(
        f'<p style="margin:.25em 0"><strong>Warning:</strong> {_escape(warning)}</p>' for warning in warnings
    )


def _saved(trial: Trial) -> str:
    """How much log loss it saves against the raw model."""
    if math.isnan(trial.saved.value):
        return "—"
    if trial.saved.is_absent:
        return f"{'+' if trial.saved.value > 0 else ''}{score(trial.saved.value)}"
    return f"{trial.saved.low:+.4f} to {trial.saved.high:+.4f}"


def _list(numbers: Iterable[Number]) -> str:
    """A line for each number: its name, its value, and how to read it."""
    body = "".join(
        f'<tr><th style="text-align:left;font-weight:400;opacity:.75;{_CELL}">{escape(one.name)}</th>'
        f'<td style="text-align:right;font-weight:600;{_CELL}">{_escape(one.value)}</td>'
        f'<td style="text-align:left;padding:.1em 0">{_escape(one.words)}</td></tr>'
        for one in numbers
    )
    return f'<table style="border-collapse:collapse"><tbody>{body}</tbody></table>'


def grid(titles: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML already; titles are not."""
    style = f"text-align:left;{_CELL}"
    head = "".join(f'<th style="{style};opacity:.75">{_escape(title)}</th>' for title in titles)
    lines = ("".join(f'<td style="{style}">{cell}</td>' for cell in row) for row in body)
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<table style="border-collapse:collapse;margin:.25em 0"><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _escape(text: str) -> str:
    return escape(typeset(text))

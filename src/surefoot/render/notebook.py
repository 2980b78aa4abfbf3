"""What a notebook shows: the verdict and its numbers, in a few lines of HTML that bring their own style."""

from __future__ import annotations

import math
from html import escape

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.figures.labels import area, significant, typeset
from surefoot.metrics.confusion import Confusion
from surefoot.render import wording
from surefoot.render.looks import NOTEBOOK_COLOURS, SYMBOLS
from surefoot.render.numbers import (
    percent,
    percent_interval,
    pluralize,
    points,
    points_interval,
    pvalue,
    ratio_interval,
    signed_percent,
)
from surefoot.risk.result import RiskResult

#: Classes of a matrix that are shown.
_MOST_CLASSES = 30


def assessment_card(a: Assessment) -> str:
    """The verdict, then risk, then value."""
    colour, symbol = NOTEBOOK_COLOURS.get(a.verdict, "inherit"), SYMBOLS.get(a.verdict, "")
    head = (
        f'<p style="margin:0"><strong style="color:{colour}">{f"{symbol} " if symbol else ""}'
        f"{escape(wording.headline(a))}</strong>&ensp;{_escape(wording.advice(a))}</p>"
        f'<p style="margin:.25em 0">{_escape(" ".join(wording.sentences(a)))}</p>'
    )
    rows = [
        *_risk_rows(a.risk, wording.deciding_side(a)),
        *_deflation_rows(wording.tested_side(a)),
        (
            "accuracy",
            percent(a.metrics["accuracy"]),
            f"weighted by confidence (cwA) {percent(a.metrics['cw_accuracy'])}, "
            f"gain {signed_percent(a.metrics['gain'])}",
        ),
    ]
    if "auc" in a.metrics:
        weighted = f"weighted by confidence (cwAUC) {area(a.metrics['cw_auc'])}"
        rows.append(("AUC", area(a.metrics["auc"]), weighted))
    notes = "".join(f'<p style="margin:.25em 0;opacity:.75">note: {_escape(note)}</p>' for note in wording.notes(a))
    return f"<div>{head}{_table(rows)}{notes}</div>"


def risk_card(r: RiskResult) -> str:
    """The test and its numbers."""
    side = r.alternative.replace("confident", "confidence")
    head = f'<p style="margin:0"><strong>Against {escape(side)}</strong>, {_escape(pluralize(r.n, "row"))}</p>'
    rows = _risk_rows(r, r)
    if not math.isnan(r.log_e):
        rows.append(("e-value", significant(r.e_value), "valid however often one looks; above 20 is strong"))
    return f"<div>{head}{_table([*rows, *_deflation_rows(r)])}</div>"


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


def _risk_rows(r: RiskResult, deciding: RiskResult) -> list[tuple[str, str, str]]:
    """Name, value and words: the sizes, the p-value of the side that decides, and CSR."""
    size, _, unit = points(r.overstatement).partition(" ")
    return [
        ("O/E", significant(r.oe_ratio), f"95% CI {ratio_interval(*r.oe_interval)}; observed / expected errors"),
        ("overstatement", size, f"{unit}, 95% CI {points_interval(*r.overstatement_interval)}"),
        ("p-value", pvalue(deciding.pvalue_omnibus), wording.describe_pvalue(deciding)),
        ("CSR", significant(r.csr), f"{wording.csr_bound(r)}calibrated is 1"),
    ]


def _deflation_rows(r: RiskResult) -> list[tuple[str, str, str]]:
    if math.isnan(r.deflation):
        return []
    return [("deflation", percent(r.deflation), f"95% CI {percent_interval(*r.deflation_interval)}")]


def _table(rows: list[tuple[str, str, str]]) -> str:
    body = "".join(
        f'<tr><th style="text-align:left;font-weight:400;opacity:.75;padding:.1em 1em .1em 0">{escape(name)}</th>'
        f'<td style="text-align:right;font-weight:600;padding:.1em 1em .1em 0">{_escape(value)}</td>'
        f'<td style="text-align:left;padding:.1em 0">{_escape(words)}</td></tr>'
        for name, value, words in rows
    )
    return f'<table style="border-collapse:collapse"><tbody>{body}</tbody></table>'


def _escape(text: str) -> str:
    return escape(typeset(text))

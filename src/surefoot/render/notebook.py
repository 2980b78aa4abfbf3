"""What a notebook shows: the verdict and its numbers, in a few lines of HTML that bring their own style."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from surefoot._io.printable import printable
from surefoot.figures.labels import area, significant, typeset
from surefoot.render import wording
from surefoot.render.numbers import (
    counted,
    percent,
    percents,
    points,
    points_between,
    pvalue,
    ratio_between,
    signed_percent,
)

if TYPE_CHECKING:
    from surefoot.assessment.assess import Assessment
    from surefoot.metrics.confusion import Confusion
    from surefoot.risk.result import RiskResult

#: Readable on white and on black, as a notebook's theme is not known.
_HUES = {"overconfident": "#d9622b", "underconfident": "#3f8ad8", "mixed": "#d9622b"}
_MARKS = {"overconfident": "▼ ", "underconfident": "▲ ", "mixed": "▼▲ "}
_MOST_CLASSES = 30


def assessment_card(a: Assessment) -> str:
    """The verdict, then risk, then value."""
    hue = _HUES.get(a.verdict, "inherit")
    side, decides = wording.tested_side(a), wording.deciding_side(a)
    head = (
        f'<p style="margin:0"><strong style="color:{hue}">{_MARKS.get(a.verdict, "")}'
        f"{escape(wording.headline(a))}</strong>&ensp;{_said(wording.advice(a))}</p>"
        f'<p style="margin:.25em 0">{_said(" ".join(wording.sentences(a)))}</p>'
    )
    rows = [
        *_effect_rows(a.risk),
        ("p-value", pvalue(decides.pvalue_omnibus), wording.how_sure(decides)),
        *_risk_rows(a.risk),
        *_deflation_rows(side),
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
    notes = "".join(f'<p style="margin:.25em 0;opacity:.75">note: {_said(note)}</p>' for note in wording.notes(a))
    return f"<div>{head}{_table(rows)}{notes}</div>"


def risk_card(r: RiskResult) -> str:
    """The test and its numbers."""
    asked = f"Against {r.alternative.replace('confident', 'confidence')}"
    head = f'<p style="margin:0"><strong>{escape(asked)}</strong>, {_said(counted(r.n, "row"))}</p>'
    rows = [*_effect_rows(r), ("p-value", pvalue(r.pvalue_omnibus), wording.how_sure(r)), *_risk_rows(r)]
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
        numbers = "".join(
            f'<td style="{cell}{";font-weight:600" if i == j else ""}">{_said(significant(float(c.matrix[i, j])))}</td>'
            for j in kept
        )
        body += f'<tr><th style="{cell}">{escape(printable(c.labels[i], 24))}</th>{numbers}</tr>'
    left = len(c.labels) - len(kept)
    note = f"<p>{left:,} more classes are not shown.</p>" if left else ""
    caption = "<caption>rows: true, columns: predicted</caption>"
    return f"<table>{caption}<thead><tr><th></th>{names}</tr></thead><tbody>{body}</tbody></table>{note}"


def _effect_rows(r: RiskResult) -> list[tuple[str, str, str]]:
    size, _, unit = points(r.overstatement).partition(" ")
    return [
        ("O/E", significant(r.oe_ratio), f"95% CI {ratio_between(*r.oe_interval)}; observed / expected errors"),
        ("overstatement", size, f"{unit}, 95% CI {points_between(*r.overstatement_interval)}"),
    ]


def _risk_rows(r: RiskResult) -> list[tuple[str, str, str]]:
    return [("CSR", significant(r.csr), f"{wording.bound_of_csr(r)}calibrated is 1")]


def _deflation_rows(r: RiskResult) -> list[tuple[str, str, str]]:
    if math.isnan(r.deflation):
        return []
    return [("deflation", percent(r.deflation), f"95% CI {percents(*r.deflation_interval)}")]


def _table(rows: list[tuple[str, str, str]]) -> str:
    body = "".join(
        f'<tr><th style="text-align:left;font-weight:400;opacity:.75;padding:.1em 1em .1em 0">{escape(name)}</th>'
        f'<td style="text-align:right;font-weight:600;padding:.1em 1em .1em 0">{_said(value)}</td>'
        f'<td style="text-align:left;padding:.1em 0">{_said(words)}</td></tr>'
        for name, value, words in rows
    )
    return f'<table style="border-collapse:collapse"><tbody>{body}</tbody></table>'


def _said(text: str) -> str:
    return escape(typeset(text))

"""What to expect of rows without labels, for people: in a terminal, as Markdown, as a page and in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from html import escape

import surefoot
from surefoot.decisions.expected import LIMIT, Expected
from surefoot.decisions.forecast import COUNTS, SHARES
from surefoot.decisions.kept import Kept
from surefoot.figures.labels import area, typeset
from surefoot.render.html import page
from surefoot.render.markdown import escape as escape_markdown
from surefoot.render.markdown import table as markdown_table
from surefoot.render.numbers import count, percent, pluralize, points, pvalue, rough_count, score
from surefoot.render.tables import Body, Cell, HtmlTable, Row
from surefoot.render.text import BOLD, DIM, Terminal

#: Names as people write them, in the order of the table.
TITLES = {
    "accuracy": "accuracy",
    "cw_accuracy": "cwA",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
    "cw_auc": "cwAUC",
    "log_loss": "log loss",
    "brier": "Brier",
    "mean_cost": "mean cost",
    "errors": "errors",
    "tp": "true positives",
    "fp": "false positives",
    "fn": "false negatives",
    "tn": "true negatives",
}
_AREAS = ("auc", "cw_auc")
#: Half-widths of the accuracy's interval from which it is called wide.
_WIDE = 0.03
#: Reference rows of the rarer outcome below which it says little.
_FEW_OF_THE_RARER = 15


def number(name: str, value: float) -> str:
    """A value of a metric, in the digits that suit it."""
    if math.isnan(value):
        return "—"
    if name in COUNTS:
        return rough_count(value)
    if name in _AREAS:
        return area(value)
    return percent(value) if name in SHARES else score(value)


def lines(e: Expected) -> list[tuple[str, str, str, str]]:
    """Metric, expected value, interval, and the value on the reference."""
    found = []
    for name in (*(one for one in TITLES if one in e), *(one for one in e if one not in TITLES)):
        one = e[name]
        limits = "—" if one.is_absent else f"{number(name, one.low)} to {number(name, one.high)}"
        seen = e.reference.get(name, math.nan)
        found.append((TITLES.get(name, name), number(name, one.value), limits, number(name, seen)))
    return found


def headline(e: Expected) -> str:
    one = e["accuracy"]
    if one.is_absent:
        return f"Expect an accuracy of about {percent(one.value)}"
    return f"Expect an accuracy of {percent(one.value)} ({level(e)} prediction interval {_span(e)})"


def _span(e: Expected) -> str:
    one = e["accuracy"]
    return f"{percent(one.low)} to {percent(one.high)}"


def level(e: Expected | Kept) -> str:
    return f"{100 * (1 - e.level):.3g}%"


def summary(e: Expected) -> str:
    """On how many rows, and how it was on the reference."""
    one, seen = e["accuracy"], e.reference["accuracy"]
    apart = one.value - seen
    if abs(apart) < 0.0005:
        change = "and is expected to be the same here"
    else:
        change = f"and is expected to be {points(abs(apart))} {'higher' if apart > 0 else 'lower'} here"
    return (
        f"{pluralize(e.rows, 'row')} without labels, judged by {count(e.reference_rows)} labelled rows "
        f"({e.calibrator}). "
        f"Accuracy was {percent(seen)} there, {change}."
    )


def attempts(e: Expected) -> str:
    """Rows that were not attempted: how many, and that they are in no number; empty if there are none."""
    here, there = e.not_attempted, e.reference_not_attempted
    if not here and not there:
        return ""
    known = _skipped(there, e.reference_rows, "reference rows") if there else ""
    found = _skipped(here, e.rows, "rows without labels") if here else ""
    which = " and ".join(filter(None, (found, known)))
    text = f"Not attempted and left out: {which}. All numbers are of rows that were attempted."
    if not here:
        text += f" All {count(e.rows)} rows without labels count as attempted; if some were not, expect fewer errors."
    return text


def _skipped(skipped: int, others: int, rows: str) -> str:
    every = skipped + others
    return f"{count(skipped)} of {count(every)} {rows} ({percent(skipped / every)})"


def shift_words(e: Expected) -> str:
    """Whether the rows look like the reference, with the size of the difference."""
    s = e.shift
    facts = f"mean confidence {percent(s.confidence_now)}, {percent(s.confidence_then)} in the reference"
    tests = f"p {pvalue(s.pvalue)}, distance {score(s.distance)}"
    if not math.isnan(s.classes_distance):
        tests += f", of predicted classes {score(s.classes_distance)}"
    if s.size == "none":
        what = "confidence" if math.isnan(s.classes_distance) else "confidence or predicted classes"
        text = f"No evidence that these rows differ from the reference in {what}: {facts} ({tests})."
    elif s.size == "tiny":
        text = f"These rows differ from the reference, but too little to matter: {facts} ({tests})."
    else:
        who = "clearly" if s.size == "moderate" else "strongly"
        text = (
            f"These rows differ {who} from the reference: {facts} ({tests}). The estimate leans on the calibrator: it "
            "is right if a confidence still means what it meant."
        )
        if s.size == "large":
            text += " Intervals do not include that risk. Label some of these rows before you rely on it."
    if s.outside >= 0.0005:
        text += (
            f" {percent(s.outside)} of the rows have a confidence beyond any of the reference, where the calibrator "
            "extrapolates."
        )
    return text


def advice(e: Expected) -> list[str]:
    """What to do about a wide interval, and about a reference that says little."""
    one, found = e["accuracy"], []
    errors = min(e._telling[0], e.reference_rows)
    if errors < _FEW_OF_THE_RARER:
        found.append(
            f"The reference holds only {pluralize(errors, 'row')} of the rarer outcome, right or wrong. Intervals are "
            "approximate; label more rows."
        )
    if not one.is_absent and (one.high - one.low) / 2 > _WIDE:
        if e.share_of_chance > 0.5:
            few = "1 row is" if e.rows == 1 else f"{count(e.rows)} rows are"
            # where the reference says little, it has been said that more rows help
            little = "" if errors < _FEW_OF_THE_RARER else " More reference rows would narrow it little."
            found.append(f"The interval is wide mostly because {few} few: chance alone moves their accuracy.{little}")
        elif e.needed_rows is not None:
            found.append(
                f"The interval is wide because the reference is small: about {_round(e.needed_rows)} labelled rows "
                "would halve it."
            )
        else:
            found.append("The interval is wide because the reference is small; more labelled rows would narrow it.")
    return found


def _round(value: int) -> str:
    size = 10 ** max(0, len(str(value)) - 2)
    return f"{round(value / size) * size:,}"


def notes(e: Expected) -> list[str]:
    """Which intervals are approximate or absent, and why."""
    by_note: dict[str, list[str]] = {}
    for name, one in e.items():
        if one.note:
            by_note.setdefault(one.note, []).append(TITLES.get(name, name))
    return [f"Note: {', '.join(names)}: {note}" for note, names in by_note.items()]


#: What stands in the column of the reference beside expected numbers of rows.
_SCALED = "Counts of the reference are scaled to as many rows."


def class_note(e: Expected) -> str:
    if e.labels is None:
        return _SCALED
    if len(e.labels) == 2:
        return f"Precision, recall, F1 and positives are of class {e.labels[1]!r}. {_SCALED}"
    return f"Precision, recall, F1 and AUC are means over {len(e.labels)} classes. {_SCALED}"


# -- in a terminal -----------------------------------------------------------------------------------------------------


def render(e: Expected, terminal: Terminal | None = None) -> str:
    """The whole text."""
    terminal = terminal or Terminal.detect(colour=False)
    body = [*terminal.wrap(e.columns), ""] if e.columns else []
    body += [terminal.style(line, BOLD) for line in terminal.wrap(headline(e))]
    body += terminal.wrap(summary(e))
    body += ["", *_rows(("", "expected", f"{level(e)} interval", "reference"), lines(e), terminal)]
    paragraphs = [attempts(e), class_note(e), shift_words(e), *advice(e), LIMIT, *notes(e)]
    for paragraph in filter(None, paragraphs):
        body += ["", *terminal.wrap(paragraph)]
    return terminal.simplify("\n".join(f"  {line}".rstrip() for line in body))


def render_kept(k: Kept, terminal: Terminal | None = None) -> str:
    """What was expected beside what was observed."""
    terminal = terminal or Terminal.detect(colour=False)
    body = [terminal.style(line, BOLD) for line in terminal.wrap(k.sentence)]
    if words := part(k):
        body += terminal.wrap(words)
    body += ["", *_rows(("", "expected", f"{level(k)} interval", "observed", ""), kept_lines(k), terminal)]
    return terminal.simplify("\n".join(f"  {line}".rstrip() for line in body))


def part(k: Kept) -> str:
    """How many of the rows have labels, and how many were not attempted; empty if all have theirs."""
    words = []
    if k.rows < k.expected_rows:
        have = "has" if k.rows == 1 else "have"
        attempted = " and were attempted" if k.not_attempted else ""
        words.append(f"{count(k.rows)} of {count(k.expected_rows)} rows {have} labels{attempted}")
        words.append("intervals are for as many")
    if k.not_attempted:
        was, counts = ("was", "counts") if k.not_attempted == 1 else ("were", "count")
        words.append(f"{count(k.not_attempted)} more {was} not attempted and {counts} as neither right nor wrong")
    return f"{'; '.join(words)}." if words else ""


def kept_lines(k: Kept) -> list[tuple[str, str, str, str, str]]:
    """Metric, expected value, interval, observed value, and whether it is inside."""
    return [
        (
            TITLES.get(one.name, one.name),
            number(one.name, one.expected.value),
            f"{number(one.name, one.expected.low)} to {number(one.name, one.expected.high)}",
            number(one.name, one.observed),
            "inside" if one.is_inside else "outside",
        )
        for one in k.metrics
    ]


def _rows(head: Sequence[str], body: Sequence[Sequence[str]], terminal: Terminal) -> list[str]:
    """A table whose first column is text."""
    every = [[terminal.simplify(cell) for cell in row] for row in (head, *body)]
    widths = [max(len(row[i]) for row in every) for i in range(len(head))]

    def line(row: Sequence[str]) -> str:
        return f"  {row[0]:<{widths[0]}}" + "".join(
            f"   {cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True)
        )

    return [terminal.style(line(every[0]), DIM), *(line(row) for row in every[1:])]


# -- as Markdown, as a page, and in a notebook -------------------------------------------------------------------------


def markdown(e: Expected) -> str:
    """The same as GitHub-flavoured Markdown."""
    parts = [
        f"## {escape_markdown(headline(e))}",
        escape_markdown(summary(e)),
        markdown_table(["", "expected", f"{level(e)} interval", "reference"], lines(e), "lrrr"),
        *map(escape_markdown, filter(None, (attempts(e), class_note(e), shift_words(e), *advice(e), LIMIT, *notes(e)))),
        f"<sub>{escape_markdown(_footer(e))}</sub>",
    ]
    return "\n\n".join(parts) + "\n"


def _footer(e: Expected) -> str:
    made = f"surefoot {surefoot.__version__}, {date.today().isoformat()}"
    return f"{e.columns}. {made}" if e.columns else made


def report(e: Expected) -> str:
    """The page."""
    columns = [("Metric", "x"), ("Expected", "x n"), (f"{level(e)} interval", "x n"), ("Reference", "x n")]
    rows = [Row([Cell(typeset(cell)) for cell in line]) for line in lines(e)]
    return page(
        "expect.html.jinja",
        headline=typeset(headline(e)),
        summary=typeset(summary(e)),
        shift=typeset(shift_words(e)),
        advice=[typeset(one) for one in advice(e)],
        limit=LIMIT,
        notes=[typeset(one) for one in (attempts(e), class_note(e), *notes(e)) if one],
        metrics=HtmlTable("Expected metrics", columns, [Body(rows)], "models"),
        columns=e.columns,
        footer=f"surefoot {surefoot.__version__}, {date.today().isoformat()}",
    )


def card(e: Expected) -> str:
    """What a notebook shows."""
    head = f"<p><strong>{escape(headline(e))}</strong> {escape(summary(e))}</p>"
    body = _grid(("", "expected", f"{level(e)} interval", "reference"), lines(e))
    words = filter(None, (attempts(e), class_note(e), shift_words(e), *advice(e), LIMIT, *notes(e)))
    return f"<div>{head}{body}{''.join(f'<p>{escape(one)}</p>' for one in words)}</div>"


def kept_card(k: Kept) -> str:
    """What a notebook shows of a comparison with labels."""
    head = ("", "expected", f"{level(k)} interval", "observed", "")
    return f"<div><p><strong>{escape(k.sentence)}</strong> {escape(part(k))}</p>{_grid(head, kept_lines(k))}</div>"


def _grid(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(typeset(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{row(head, 'th')}{''.join(row(cells, 'td') for cells in body)}</table>"

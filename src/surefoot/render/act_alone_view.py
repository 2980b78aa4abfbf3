"""From which confidence a model may act alone: as text, Markdown, plain data, a page, and a card in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from datetime import date
from html import escape as escape_html
from typing import Any

import surefoot
from surefoot._io.printable import printable
from surefoot.core.tally import Label
from surefoot.decisions.act_alone import ActAlone
from surefoot.figures.labels import typeset
from surefoot.render import act_alone_wording as wording
from surefoot.render.act_alone_figure import figure_title, risk_coverage_of
from surefoot.render.event_tables import PlainTable
from surefoot.render.html import page
from surefoot.render.markdown import escape
from surefoot.render.notebook import grid
from surefoot.render.numbers import count, exact_percent, percent, percent_interval, rate_percent
from surefoot.render.svg import draw
from surefoot.render.tables import Body, Cell, HtmlTable, Item, Panel, Row
from surefoot.render.text import BOLD, DIM, Terminal

#: Slices that are shown in a terminal, a card or a note, and on a page.
_MOST_SLICES, _MOST_ON_PAGE = 20, 200


def render(found: ActAlone, terminal: Terminal | None = None, *, is_command: bool = False) -> str:
    """The whole text: what was read, the answer, what it rests on, tables, the condition, and how to apply it."""
    terminal = terminal or Terminal.detect(colour=False)
    blocks = [terminal.wrap(wording.source(found))]
    blocks.append([terminal.style(line, BOLD) for line in terminal.wrap(wording.headline(found))])
    tables = [list(_table(one, terminal)) for one in _tables(found, _MOST_SLICES)]
    paragraphs = [terminal.wrap(sentence) for sentence in wording.sentences(found)]
    # with slices, their table is the answer
    blocks += [*tables, *paragraphs] if found.slices else [*paragraphs, *tables]
    blocks.append(terminal.wrap(wording.CONDITION))
    words, code = wording.usage(found, is_command=is_command)
    blocks.append([*terminal.wrap(words), *(f"  {line}" for line in code)])
    texts = ("\n".join(f"  {line}".rstrip() for line in lines) for lines in blocks if lines)
    return terminal.simplify("\n\n".join(texts))


def _tables(found: ActAlone, most: int) -> list[PlainTable]:
    return [one for one in (wording.decision_table(found), wording.slice_table(found, most)) if one is not None]


def _table(table: PlainTable, terminal: Terminal) -> Iterator[str]:
    for line in terminal.wrap(table.title):
        yield terminal.style(line, BOLD)
    head, *rows = table.fitted(terminal.columns - 4).lines()
    yield terminal.style(f"  {head}", DIM)
    yield from (terminal.simplify(f"  {row}") for row in rows)
    if table.left_out:
        yield f"  ... and {table.left_out:,} more"


def markdown(found: ActAlone) -> str:
    """What the text says, with tables."""
    tables = [part for one in _tables(found, _MOST_SLICES) for part in _markdown_table(one)]
    paragraphs = [escape(sentence) for sentence in wording.sentences(found)]
    parts = [
        f"## {escape(wording.headline(found).rstrip('.'))}",
        *([*tables, *paragraphs] if found.slices else [*paragraphs, *tables]),
        escape(wording.CONDITION),
    ]
    words, code = wording.usage(found)
    parts += [escape(words)] if words else []
    parts += ["```python\n" + "\n".join(code) + "\n```"] if code else []
    parts.append(f"<sub>{escape(wording.source(found))}; surefoot {surefoot.__version__}</sub>")
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: PlainTable) -> list[str]:
    rows = [[escape(column.title) for column in table.columns]]
    rows.append(["---:" if column.is_number else "---" for column in table.columns])
    rows += [[escape(cell) for cell in row] for row in _cells(table)]
    found = [f"### {escape(table.title)}", "\n".join(f"| {' | '.join(row)} |" for row in rows)]
    return [*found, f"... and {table.left_out:,} more."] if table.left_out else found


def _cells(table: PlainTable) -> list[Sequence[str]]:
    return list(zip(*(column.cells for column in table.columns), strict=True))


def to_dict(found: ActAlone) -> dict[str, Any]:
    """The result as plain data; slices are a list, without their curves and policies."""
    document = _plain(found)
    document["by"] = found.by
    document["slices"] = [{"value": _label(value), **_plain(one)} for value, one in found.slices.items()]
    document["policy"] = found.policy.to_dict()
    document["curve"] = {one.name: getattr(found.curve, one.name).tolist() for one in fields(found.curve)}
    return {**document, "source": found.source, "columns": found.columns, "looks_grouped": found.looks_grouped}


def _plain(found: ActAlone) -> dict[str, Any]:
    cost = None if found.cost is None else asdict(found.cost)
    if cost is not None:
        cost = {name: list(value) if isinstance(value, tuple) else value for name, value in cost.items()}
    return {
        "error": found.error,
        "level": found.level,
        "rows": found.rows,
        "not_attempted": found.not_attempted,
        "threshold": found.threshold,
        "threshold_reason": None if found.threshold is not None else wording.no_threshold(found),
        "coverage": found.coverage,
        "coverage_interval": list(found.coverage_interval),
        "accepted": found.accepted,
        "expected_errors": found.expected_errors,
        "error_rate": _number(found.error_rate),
        "error_limit": _number(found.error_limit),
        "rows_needed": found.rows_needed,
        "possible_error": found.possible_error,
        "refuse_error": found.refuse_error,
        "refuse": found.refuse,
        "refused": found.refused,
        "cost": cost,
        "decisions": [
            {"decision": part.decision, "rows": part.rows, "share": part.share, "errors": part.errors}
            for part in wording.parts(found)
        ],
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _label(value: Label) -> Any:
    return value if isinstance(value, bool | int | str) else str(value)


def report(found: ActAlone) -> str:
    """The page."""
    try:
        from markupsafe import Markup
    except ImportError:  # the page says what is missing
        Markup = str  # type: ignore[assignment,misc]
    usage, code = wording.usage(found)
    source = printable(found.source) if found.source else f"{count(found.rows)} rows"
    return page(
        "act_alone.html.jinja",
        source=source,
        answer=typeset(wording.answer(found)),
        guarantee=f"{sure.capitalize()}." if (sure := wording.guarantee(found)).startswith("guaranteed") else "",
        paragraphs=[typeset(sentence) for sentence in wording.sentences(found)],
        numbers=[] if found.slices else _numbers(found),
        decisions=_html_table(wording.decision_table(found)),
        slices=_html_table(wording.slice_table(found, _MOST_ON_PAGE), is_named=True),
        more=max(0, len(found.slices) - _MOST_ON_PAGE),
        figure=_panel(found, Markup),
        condition=wording.CONDITION,
        usage=usage,
        code="\n".join(code),
        method=_method(found),
        footer=f"{wording.source(found)}. surefoot {surefoot.__version__}, {date.today().isoformat()}",
    )


def _numbers(found: ActAlone) -> list[Item]:
    """The three numbers that are shown large; none where every row is reviewed."""
    if found.threshold is None:
        return []
    least = "of least expected cost" if found.cost is not None else "the lowest that keeps the promise"
    promised = "" if found.error is None else f"; at most {exact_percent(found.error)} promised"
    interval = f"{wording.certainty(found)} CI {percent_interval(*found.coverage_interval)}"
    return [
        Item("Acts alone from", f"confidence; {least}", exact_percent(found.threshold)),
        Item(
            "Rows that qualify", f"{count(found.accepted)} of {count(found.rows)}; {interval}", percent(found.coverage)
        ),
        Item("Wrong among them", f"{count(found.expected_errors)} rows{promised}", rate_percent(found.error_rate)),
    ]


def _html_table(table: PlainTable | None, *, is_named: bool = False) -> HtmlTable | None:
    if table is None:
        return None
    columns = [(column.title.capitalize(), "x n" if column.is_number else "x") for column in table.columns]
    if is_named:
        # the name of a column stays as it is
        columns[0] = (table.columns[0].title, columns[0][1])
    rows = [Row([Cell(typeset(cell)) for cell in row]) for row in _cells(table)]
    return HtmlTable(table.title, columns, [Body(rows)])


def _panel(found: ActAlone, markup: Any) -> Panel:
    drawn, curve = risk_coverage_of(found), found.curve
    title = figure_title(found)
    rows = [
        Row(
            [
                Cell(percent(float(curve.coverage[i]))),
                Cell(exact_percent(float(curve.threshold[i]))),
                Cell(count(curve.rows[i])),
                Cell(count(curve.errors[i])),
                Cell(rate_percent(float(curve.error_rate[i]))),
                Cell(f"{rate_percent(float(curve.lower[i]))} to {rate_percent(float(curve.upper[i]))}"),
            ]
        )
        for i in drawn.marked
    ]
    columns = [("Coverage", "x n"), ("Confidence from", "x n"), ("Rows", "x n"), ("Wrong", "x n")]
    columns += [("Error rate", "x n"), ("Band", "x n wide")]
    promise = "" if found.error is None else " The promise is kept where the band ends below the dotted line."
    cut = " Higher error rates are cut off." if drawn.is_cut else ""
    return Panel(
        "coverage",
        title,
        "Error rate among accepted rows, by how many are accepted. The band holds the error rates that the test of "
        f"each threshold leaves possible.{promise}{cut}",
        markup(draw(drawn.figure(), f"Errors by coverage. {title}.")),
        HtmlTable("Errors by coverage", columns, [Body(rows)]),
    )


def _method(found: ActAlone) -> list[Item]:
    several = bool(found.slices) or (found.refuse_error is not None and found.error is not None)
    items = []
    if found.error is not None:
        items.append(
            Item(
                "The promise",
                "For every threshold, errors among the rows at or above it are compared with the binomial "
                "distribution. The level of these tests is such that, for any model and any data, none of the "
                "thresholds that break the promise passes, with a probability of "
                f"{wording.certainty(found)} over the rows given. Confidences need not be calibrated.",
            )
        )
    items.append(Item("Rows", "Rows are taken to be independent draws of one kind, and each counts once."))
    if several:
        items.append(Item("Several promises", "They share the significance level, so that all of them hold together."))
    if found.cost is not None:
        items.append(
            Item(
                "Costs",
                "The mean cost of a row: errors among accepted rows at their cost, and a review of each other row. "
                "The interval of the threshold leaves out those below which rows are wrong too seldom to be reviewed, "
                "or above which they are wrong too often to be accepted.",
            )
        )
    return items


def card(found: ActAlone) -> str:
    """What a notebook shows: the answer, what it rests on, and the tables."""
    head = f'<p style="margin:0"><strong>{_escape(wording.headline(found))}</strong></p>'
    paragraphs = "".join(f'<p style="margin:.25em 0">{_escape(sentence)}</p>' for sentence in wording.sentences(found))
    tables = "".join(
        grid([column.title for column in one.columns], [[_escape(cell) for cell in row] for row in _cells(one)])
        + (f"<p>... and {one.left_out:,} more</p>" if one.left_out else "")
        for one in _tables(found, _MOST_SLICES)
    )
    body = f"{tables}{paragraphs}" if found.slices else f"{paragraphs}{tables}"
    return f'<div>{head}{body}<p style="margin:.25em 0;opacity:.75">{_escape(wording.CONDITION)}</p></div>'


def _escape(text: str) -> str:
    return escape_html(typeset(text))

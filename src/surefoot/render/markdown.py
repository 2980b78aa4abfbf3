"""An assessment and a comparison as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from surefoot._io.printable import printable
from surefoot.assessment.compare import Comparison
from surefoot.assessment.result import Assessment
from surefoot.figures.concentration import ENOUGH_ERRORS
from surefoot.figures.labels import significant, typeset
from surefoot.render import event_tables, prediction_wording, side_by_side, wording
from surefoot.render.looks import SYMBOLS
from surefoot.render.main_numbers import sections
from surefoot.render.next_steps import next_steps
from surefoot.render.numbers import count, factor, points, pvalue, rough_count
from surefoot.render.severity import severity
from surefoot.render.shared_wording import rows_of_weight

#: Slices that are shown.
_MOST_SLICES = 20


def render(a: Assessment) -> str:
    """Headline, warnings, what was found, the main numbers, bands, slices worst first, and what to do next."""
    mark = f"{SYMBOLS[a.verdict]} " if a.verdict in SYMBOLS else ""
    parts = [
        f"## {mark}{wording.headline(a)}",
        *(f"> **Warning:** {escape(warning)}" for warning in a.warnings),
        f"**{escape(wording.advice(a))}** {escape(' '.join(wording.sentences(a)))}",
        *_numbers(a),
        *_bands(a),
        *_slices(a),
        *_notes(a),
        *_next_steps(a),
        f"<sub>{escape(wording.footer(a))}</sub>",
    ]
    return "\n\n".join(parts) + "\n"


def render_comparison(c: Comparison) -> str:
    """The models side by side, then differences."""
    names = [printable(name, 40) for name in c.assessments]
    body = [["verdict", *(wording.headline(a) for a in c.assessments.values())]]
    body += [[name, *values] for _, name, values in side_by_side.lines(c)]
    parts = [
        f"## {escape(side_by_side.closing(c) or 'Models side by side')}",
        escape(f"{c.pairing[0].upper()}{c.pairing[1:]}."),
    ]
    for name, a in c.assessments.items():
        parts += [f"> **Warning ({escape(printable(name, 40))}):** {escape(w)}" for w in a.warnings]
    parts.append(table(["", *names], body, "l" + "r" * len(names)))
    if differences := side_by_side.all_differences(c):
        apart = f"minus {printable(c.first, 40)}, {side_by_side.level(c)}"
        parts.append(table(["Model", "Of", apart], differences, "lll"))
    parts += [escape(note) for note in side_by_side.notes(c)]
    return "\n\n".join(parts) + "\n"


def _numbers(a: Assessment) -> list[str]:
    body = [
        [number.name, f"**{typeset(number.value)}**", typeset(number.words)]
        for numbers in sections(a).values()
        for number in numbers
    ]
    return [table(["", "value", ""], body, "lrl", is_escaped=(1,))]


def _bands(a: Assessment) -> list[str]:
    if a.view != "prediction":
        return _plain(event_tables.band_table(a))
    bands = prediction_wording.bands(a)
    if len(bands) < 2:
        return []
    scale = rows_of_weight(a)
    body = [
        [
            prediction_wording.confidence_range(band),
            rough_count(band.rows),
            rough_count(band.stated),
            count(band.seen),
            factor(band.seen, band.stated) if scale * band.seen >= ENOUGH_ERRORS else "",
        ]
        for band in bands
    ]
    head = ["confidence", "rows", "expected errors", "observed errors", "O/E"]
    return ["### By confidence", table(head, body, "lrrrr")]


def _slices(a: Assessment) -> list[str]:
    if a.view != "prediction":
        return _plain(event_tables.slice_table(a, _MOST_SLICES))
    if not a.slices:
        return []
    tested = a.by != "truth"
    head = ["", printable(a.by, 40), "rows", "expected errors", "observed", "overstatement", "CSR"]
    worst = sorted(a.slices, key=severity)
    body = [
        [
            SYMBOLS.get(part.verdict, ""),
            printable(part.value, 40),
            count(part.risk.n),
            rough_count(part.stated),
            rough_count(part.seen),
            points(part.risk.overstatement),
            significant(part.risk.csr),
            *([pvalue(part.pvalue_adjusted)] if tested else []),
        ]
        for part in worst[:_MOST_SLICES]
    ]
    found = [f"### {escape(wording.slice_title(a))}", table([*head, *(["p, adjusted"] if tested else [])], body)]
    if len(worst) > _MOST_SLICES:
        found.append(f"... and {len(worst) - _MOST_SLICES:,} more.")
    return found


def _plain(found: event_tables.PlainTable | None) -> list[str]:
    """A table of an event, or of classes."""
    if found is None:
        return []
    has_marks = any(found.verdicts)
    marks = event_tables.Column("", [SYMBOLS.get(verdict, "") for verdict in found.verdicts], is_number=False)
    columns = [*([marks] if has_marks else []), *found.columns]
    body = [[column.cells[i] for column in columns] for i in range(len(found.verdicts))]
    sides = "".join("r" if column.is_number else "l" for column in columns)
    parts = [f"### {escape(found.title)}", table([column.title for column in columns], body, sides)]
    return [*parts, f"... and {found.left_out:,} more."] if found.left_out else parts


def _notes(a: Assessment) -> list[str]:
    notes = wording.notes(a)
    return ["\n".join(f"- {escape(note)}" for note in notes)] if notes else []


def _next_steps(a: Assessment) -> list[str]:
    found = ["### What to do next"]
    for step in next_steps(a):
        found.append(escape(step.words))
        if step.command:
            kind = "python" if step.is_python else "sh"
            found.append(f"```{kind}\n{step.command}\n```")
    return found


def table(head: Sequence[str], body: Iterable[Sequence[str]], sides: str = "", is_escaped: Sequence[int] = ()) -> str:
    """A table; ``sides`` holds l or r for each column, by default l for the first two and r for numbers."""
    sides = sides or "ll" + "r" * (len(head) - 2)
    rule = ["---:" if side == "r" else "---" for side in sides]
    rows = [[escape(typeset(title)) for title in head], rule]
    rows += [[cell if i in is_escaped else escape(typeset(cell)) for i, cell in enumerate(row)] for row in body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def escape(text: str) -> str:
    """The text without a meaning in Markdown or HTML."""
    text = typeset(text).replace("\u00a0", " ").replace("&", "&amp;").replace("<", "&lt;").replace("\\", "\\\\")
    return re.sub(r"([|`*_\[\]#])", r"\\\1", text).replace("\n", " ")

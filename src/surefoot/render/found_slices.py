"""The slices that a search found: as text, Markdown, and a card in a notebook."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape as escape_html

import surefoot
from surefoot._io.printable import printable
from surefoot.figures.labels import typeset
from surefoot.render.event_tables import Column, PlainTable
from surefoot.render.markdown import escape
from surefoot.render.next_steps import Step
from surefoot.render.notebook import grid
from surefoot.render.numbers import (
    count,
    exact_percent,
    percent,
    pluralize,
    points,
    points_interval,
    pvalue,
    rough_count,
)
from surefoot.render.text import BOLD, DIM, Terminal
from surefoot.search.found import Detectable, FoundSlice, FoundSlices, Search

#: Slices that are shown, and columns that are named.
_MOST, _MOST_COLUMNS = 20, 12


@dataclass(frozen=True)
class _Words:
    """How rows are spoken of: what they state, what is counted, and how far the one is from the other."""

    stated: str
    counted: str
    off: str
    title: str
    definition: str
    of_all: str
    like_others: str


_OF_PREDICTIONS = _Words(
    stated="confidences",
    counted="errors",
    off="overstatement",
    title="overstated",
    definition="mean confidence less accuracy",
    of_all="overstatement",
    like_others="they err as other rows of the same confidence do, or as the rest of a larger group",
)
_OF_EVENTS = _Words(
    stated="predicted probabilities",
    counted="events",
    off="difference",
    title="difference",
    definition="mean predicted probability less the share that happened",
    of_all="a difference of",
    like_others="the event is as frequent as in other rows of the same prediction, or as in the rest of a larger group",
)


def _words(search: Search) -> _Words:
    return _OF_EVENTS if search.is_event else _OF_PREDICTIONS


def render(found: FoundSlices, terminal: Terminal | None = None, *, is_command: bool = False) -> str:
    """The whole text: the answer, the slices, how sure that is, what could have been missed, and what to do."""
    terminal = terminal or Terminal.detect(colour=False)
    blocks = [terminal.wrap(source(found.search))]
    blocks.append([terminal.style(line, BOLD) for line in terminal.wrap(headline(found).upper())])
    if found:
        blocks.append(list(_table(slice_table(found), terminal)))
    blocks += [terminal.wrap(sentence) for sentence in sentences(found)]
    blocks.append([line for note in notes(found.search) for line in terminal.wrap(f"note: {note}", hanging=6)])
    step = next_step(found, is_command=is_command)
    lines = step.command_lines(terminal.columns - 6)
    blocks.append([*terminal.wrap(step.words), *(f"  {line}" for line in lines)])
    texts = ("\n".join(f"  {line}".rstrip() for line in lines) for lines in blocks if lines)
    return terminal.simplify("\n\n".join(texts))


def _table(table: PlainTable, terminal: Terminal) -> Iterator[str]:
    head, *rows = table.fitted(terminal.columns - 4).lines()
    yield terminal.style(f"  {head}", DIM)
    yield from (terminal.simplify(f"  {row}") for row in rows)
    if table.left_out:
        yield f"  ... and {table.left_out:,} more"


def markdown(found: FoundSlices) -> str:
    """What the text says, with tables."""
    parts = [f"## {escape(headline(found).rstrip('.'))}"]
    if found:
        table = slice_table(found)
        rows = [[escape(column.title) for column in table.columns]]
        rows.append(["---:" if column.is_number else "---" for column in table.columns])
        cells = zip(*(column.cells for column in table.columns), strict=True)
        rows += [[escape(cell) for cell in row] for row in cells]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        parts += [f"... and {table.left_out:,} more."] if table.left_out else []
    parts += [escape(sentence) for sentence in sentences(found)]
    parts += ["\n".join(f"- {escape(note)}" for note in notes(found.search))] if notes(found.search) else []
    parts.append(escape(next_step(found).words))
    parts.append(f"<sub>{escape(source(found.search))}; surefoot {surefoot.__version__}</sub>")
    return "\n\n".join(parts) + "\n"


def card(found: FoundSlices) -> str:
    """What a notebook shows."""
    body = f'<p style="margin:0"><strong>{_escape(headline(found))}</strong></p>'
    if found:
        table = slice_table(found)
        cells = zip(*([_escape(cell) for cell in column.cells] for column in table.columns), strict=True)
        body += grid([column.title for column in table.columns], [list(row) for row in cells])
        body += f"<p>... and {table.left_out:,} more</p>" if table.left_out else ""
    paragraphs = [*sentences(found), *(f"Note: {note}" for note in notes(found.search)), next_step(found).words]
    body += "".join(f'<p style="margin:.25em 0">{_escape(paragraph)}</p>' for paragraph in paragraphs)
    return f"<div>{body}</div>"


def _escape(text: str) -> str:
    return escape_html(typeset(text))


# -- words -------------------------------------------------------------------------------------------------------------


def source(search: Search) -> str:
    """What was read."""
    name = f"{printable(search.source)}, " if search.source else ""
    used = f"; columns used: {search.columns_used}" if search.columns_used else ""
    skipped = f" ({search.not_attempted:,} more not attempted)" if search.not_attempted else ""
    return f"{name}{pluralize(search.rows, 'row')}{skipped}{used}"


def headline(found: FoundSlices) -> str:
    """The answer."""
    if not found:
        return f"No slice was found whose {_words(found.search).stated} are off"
    parts = []
    for direction in dict.fromkeys(one.direction for one in found):
        many = sum(one.direction == direction for one in found)
        verb = direction if direction.startswith(("overc", "underc")) else ""
        if verb:
            parts.append(f"{pluralize(many, 'slice')} {'is' if many == 1 else 'are'} {verb}")
        else:
            parts.append(f"{pluralize(many, 'slice')} {direction[:-1] if many > 1 else direction}")
    return " and ".join(parts)


def slice_table(found: FoundSlices) -> PlainTable:
    """A row for each slice, worst first."""
    kept, words = found[:_MOST], _words(found.search)
    columns = [
        Column("slice", [one.name for one in kept], is_number=False),
        Column("rows", [count(one.rows) for one in kept], optional=1),
        Column("share", [percent(one.share) for one in kept], optional=2),
        Column("obs/exp", [_observed_and_expected(one) for one in kept]),
        Column(words.title, [points(one.overstatement).removesuffix("s").removesuffix(" point") for one in kept]),
        Column("95% CI" if found.search.level == 0.05 else "CI", [_interval(one) for one in kept]),
        Column("adj. p", [pvalue(one.pvalue_adjusted) for one in kept], optional=3),
    ]
    return PlainTable("", columns, [None] * len(kept), len(found) - len(kept))


def _observed_and_expected(one: FoundSlice) -> str:
    return f"{count(one.observed_errors)}/{rough_count(one.expected_errors)}"


def _interval(one: FoundSlice) -> str:
    return points_interval(*one.overstatement_interval)


def sentences(found: FoundSlices) -> list[str]:
    """What the answer rests on, and what it leaves open."""
    search, words = found.search, _words(found.search)
    said = []
    if found:
        said.append(
            f"obs/exp: observed and expected {words.counted}. {words.off.capitalize()} is {words.definition}, in "
            "points of 100. The intervals of all groups that were searched hold together with probability "
            f"{exact_percent(round(1 - search.level, 12))}."
        )
    groups = f"{search.groups_of_one:,} of one column"
    if search.groups_of_two:
        groups += f" and {search.groups_of_two:,} of two columns"
    over = (
        f"; {search.pairs:,} of {search.all_pairs:,} pairs of columns were searched, of the columns with the strongest "
        "evidence"
        if search.pairs < search.all_pairs
        else ""
    )
    said.append(
        f"Groups of at least {search.min_rows:,} rows: {groups}{over}. If all {words.stated} were right and rows "
        f"independent, the chance of finding any slice would be at most {exact_percent(search.level)}."
    )
    said.append(
        f"All rows together: {words.of_all} {points(search.overstatement)} "
        f"(95% CI {points_interval(*search.overstatement_interval)})."
    )
    if search.like_others or search.overlapping:
        said.append(_others(search))
    if search.detectable:
        said.append(_missed(search))
    else:
        said.append(
            f"With {pluralize(search.rows, 'row')} only large groups whose {words.stated} are far off can be found: "
            "this says little about the others."
        )
    return said


def _others(search: Search) -> str:
    parts = []
    if search.like_others:
        noun = "more group is" if search.like_others == 1 else "more groups are"
        parts.append(f"{search.like_others:,} {noun} flagged and not listed: {_words(search).like_others}")
    if search.overlapping:
        noun = "more overlaps" if search.overlapping == 1 else "more overlap"
        parts.append(f"{search.overlapping:,} {noun} with the slices above, which explain the {_words(search).counted}")
    return f"{'; '.join(parts)}."


def _missed(search: Search) -> str:
    """How large an overstatement has to be to be found."""
    off = _words(search).off
    sizes = [_size(one) for one in search.detectable if one.of_one_column is not None]
    if not sizes:
        return f"No {off} of so few rows would be found."
    hidden = [percent(one.share).replace(".0%", "%") for one in search.detectable if one.of_one_column is None]
    none = f" In {' or '.join(hidden)} of rows none would be found, however large." if hidden else ""
    return f"Smaller {off}s may be missed. Found in about four of five cases: {'; '.join(sizes)}.{none}"


def _size(one: Detectable) -> str:
    assert one.of_one_column is not None
    two = "" if one.of_two_columns is None else f" (of two columns {points(one.of_two_columns, up=True)})"
    return f"{points(one.of_one_column, up=True)} in {percent(one.share).replace('.0%', '%')} of rows{two}"


def notes(search: Search) -> list[str]:
    """Columns that were divided or left out."""
    said: dict[str, list[str]] = {}
    for name, note in search.notes.items():
        said.setdefault(note, []).append(name)
    found = [f"{_names(names)}: {note}" for note, names in said.items()]
    left: dict[str, list[str]] = {}
    for name, why in search.left_out.items():
        left.setdefault(why, []).append(name)
    if search.looks_grouped:
        found.append(
            f"column {printable(search.looks_grouped, 40)!r} has repeated values. If its rows belong together, slices "
            "may be found by chance more often than stated: give one row of each"
        )
    found += [note.rstrip(".") for note in search.reading_notes]
    return [*found, *(f"not searched: {_names(names)} ({why})" for why, names in left.items())]


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_COLUMNS:,} more" if len(names) > _MOST_COLUMNS else ""
    return ", ".join(printable(name, 40) for name in names[:_MOST_COLUMNS]) + more


def next_step(found: FoundSlices, *, is_command: bool = False) -> Step:
    """What to do; on the command line with the command, where the file can be read by one."""
    search = found.search
    stated = _words(search).stated
    low, high = search.overstatement_interval
    if not found and (low > 0 or high < 0):
        return Step(f"Next: {stated} are off in all rows alike. Correct them with a calibrator fitted to all rows.")
    column = found[0].columns[0] if found else "COLUMN"
    command = ""
    if is_command and search.path and search.options:
        command = shlex.join(["surefoot", "assess", printable(search.path, 500), *search.options, "--by", column])
    if not found:
        words = (
            f"Next: this does not show that {stated} are right in every group, only that none stands out among so "
            "many rows. Name a group that matters"
        )
        end = ", which is tested without sharing the level"
        return Step(f"{words}{end}:", command) if command else Step(f"{words} with by={end}.")
    worst = found[0]
    words = f"Next: look at rows of the worst slice, {worst.name}: are labels, inputs or training data different there?"
    confirm = f"Confirm a slice on new rows before you correct {stated} for it."
    hidden = "" if worst.conditions[0].value is not None else " once its values are categories"
    if command:
        return Step(f"{words} {confirm} This shows where it errs{hidden}:", command)
    return Step(f"{words} surefoot.assess(..., by={column!r}) shows where it errs{hidden}. {confirm}")

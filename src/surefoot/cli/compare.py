"""``surefoot compare``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.assess import assessed
from surefoot.cli.errors import clear_errors, say
from surefoot.cli.options import (
    AsFloat64,
    AsJson,
    Attempted,
    Confidence,
    ConfidencePattern,
    Correct,
    Delimiter,
    Doubt,
    DropMissing,
    Format,
    Group,
    Html,
    Level,
    Logits,
    Margin,
    Of,
    Percent,
    PositiveOrEvent,
    Predicted,
    Probabilities,
    Query,
    Sheet,
    Table,
    Truth,
    Weight,
    checked_delimiter,
    checked_level,
    checked_margin,
    checked_view,
    columns_of,
    manner_of,
    part_of,
)
from surefoot.cli.outputs import Outputs
from surefoot.cli.progress import Bar, bar

if TYPE_CHECKING:
    from surefoot.assessment.compare import Comparison
    from surefoot.files.held import Reading


def command(
    models: Annotated[
        list[str], typer.Argument(metavar="NAME=FILE", help="Two models or more, each with a name.", show_default=False)
    ],
    truth: Truth = None,
    predicted: Predicted = None,
    confidence: Confidence = None,
    correct: Correct = None,
    probabilities: Probabilities = None,
    logits: Logits = None,
    doubt: Doubt = None,
    positive: PositiveOrEvent = None,
    of: Of = None,
    as_float64: AsFloat64 = False,
    weight: Weight = None,
    attempted: Attempted = None,
    delimiter: Delimiter = None,
    percent: Percent = None,
    drop_missing: DropMissing = False,
    confidence_pattern: ConfidencePattern = None,
    sheet: Sheet = None,
    table: Table = None,
    query: Query = None,
    group: Group = None,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COL",
            help="Column that names a row, to pair rows by. Rows of logs are paired by theirs, those of tables by a "
            "column called id.",
        ),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a file, its kind by suffix: .html, .json, .md (Markdown). May be given several times.",
        ),
    ] = None,
    format: Format = None,
    as_json: AsJson = False,
    html: Html = None,
    level: Level = 0.05,
    margin: Margin = 0.02,
) -> None:
    """Put models side by side, with paired tests where they were given the same rows.

    Each difference is a model minus the first model.

    \b
      surefoot compare raw=raw.csv platt=platt.csv
      surefoot compare a=a.csv b=b.csv -o both.html
    """
    level, margin, delimiter = checked_level(level), checked_margin(margin), checked_delimiter(delimiter)
    named, view = _named(models), checked_view(of)
    arguments = locals()
    columns = columns_of(arguments)
    chosen = part_of(arguments)
    with clear_errors():
        outputs = Outputs.plan(
            output or [],
            {"html": html},
            allowed=("html", "json", "markdown"),
            format=format,
            as_json=as_json,
            beside=list(named.values()),
        )
        from surefoot.assessment.compare import compare, compare_by_id
        from surefoot.files.pairing import LOGGED, names_in_common, paired, rows_in_common
        from surefoot.files.reading import read

        readings: dict[str, Reading] = {}
        with bar("reading") as shown:
            for i, (name, file) in enumerate(named.items()):
                part = partial(_part, shown, i, len(named))
                readings[name] = read(
                    file,
                    columns,
                    delimiter=delimiter,
                    part=chosen,
                    progress=part,
                    positive=positive,
                    float32=not as_float64,
                    group=group,
                    of=view,
                    manner=manner_of(arguments),
                    show=() if identifier is None else (identifier,),
                    logged=LOGGED if identifier is None else (),
                    kinds=(object,),
                )
        if by := names_in_common(readings) if identifier is None else (identifier,):
            readings = paired(readings, by)
        assessments = {name: assessed(reading, level, margin, None, group=group) for name, reading in readings.items()}
        found = compare_by_id(assessments, level=level) if by else compare(assessments, level=level)
        if by and found.is_paired:
            found = replace(
                found, pairing=f"{rows_in_common(readings)}, found by {' and '.join(by)}: differences are paired"
            )
        if outputs.is_text:
            from surefoot.render.side_by_side import render
            from surefoot.render.text import Terminal

            say(f"\n{render(found, Terminal.detect())}\n")
        else:
            say(_content(found, outputs.format).rstrip())
        outputs.write(lambda kind: _content(found, kind))


def _content(found: Comparison, kind: str) -> str:
    """The comparison as a file of a kind."""
    from surefoot._io.presentation import present

    if kind == "json":
        return found.to_json()
    page = ("side_by_side", "report") if kind == "html" else ("markdown", "render_comparison")
    return str(present(*page, found))


def _part(shown: Bar, done: int, models: int, share: float, rows: int) -> None:
    shown((done + share) / models, rows)


def _example(model: str) -> str:
    """What a file should have been called by."""
    return f"{Path(model).stem or 'raw'}={model}" if "=" not in model else "raw=raw.csv"


def _named(models: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for model in models:
        name, sign, file = model.partition("=")
        if not sign or not name or not file:
            raise typer.BadParameter(f"{model!r} should be NAME=FILE, such as {_example(model)}")
        if name in named:
            raise typer.BadParameter(f"two models are called {name!r}; give each a name of its own")
        named[name] = file
    if len(named) < 2:
        raise typer.BadParameter("give two models or more, each as NAME=FILE")
    return named

"""``surefoot compare``."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from surefoot.cli.assess import assessed, check_outputs, size_of
from surefoot.cli.errors import clear_errors, say
from surefoot.cli.options import (
    AsFloat64,
    Confidence,
    Correct,
    Delimiter,
    Doubt,
    Group,
    Level,
    Logits,
    Margin,
    Positive,
    Predicted,
    Probabilities,
    Truth,
    Weight,
    checked_delimiter,
    checked_level,
    checked_margin,
    columns_of,
)
from surefoot.cli.progress import Bar, bar


def command(
    models: Annotated[
        list[str], typer.Argument(metavar="NAME=FILE NAME=FILE ...", help="Models by name.", show_default=False)
    ],
    truth: Truth = None,
    predicted: Predicted = None,
    confidence: Confidence = None,
    correct: Correct = None,
    probabilities: Probabilities = None,
    logits: Logits = None,
    doubt: Doubt = None,
    positive: Positive = None,
    as_float64: AsFloat64 = False,
    weight: Weight = None,
    delimiter: Delimiter = None,
    group: Group = None,
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="Write the page, one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    level: Level = 0.05,
    margin: Margin = 0.02,
) -> None:
    """Put models side by side, with paired tests where they were given the same rows.

    Differences are each other model minus the first.

    \b
      surefoot compare raw=raw.csv platt=platt.csv
    """
    level, margin, delimiter = checked_level(level), checked_margin(margin), checked_delimiter(delimiter)
    named = _named(models)
    columns = columns_of(locals())
    with clear_errors():
        check_outputs(html, beside=list(named.values()))
        from surefoot.assessment.compare import compare
        from surefoot.files.reading import read

        assessments = {}
        with bar("reading") as shown:
            for i, (name, file) in enumerate(named.items()):
                part = partial(_part, shown, i, len(named))
                reading = read(
                    file,
                    columns,
                    delimiter=delimiter,
                    progress=part,
                    positive=positive,
                    float32=not as_float64,
                    group=group,
                )
                assessments[name] = assessed(reading, level, margin, None, group=group)
        found = compare(assessments, level=level)
        if as_json:
            say(found.to_json().rstrip())
        else:
            from surefoot.render.side_by_side import render
            from surefoot.render.text import Terminal

            say(f"\n{render(found, Terminal.detect())}\n")
        if html is not None:
            found.to_html(html)
            say(f"  Wrote {html} ({size_of(html)})", to_stderr=as_json)


def _part(shown: Bar, done: int, models: int, share: float, rows: int) -> None:
    shown((done + share) / models, rows)


def _named(models: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for model in models:
        name, sign, file = model.partition("=")
        if not sign or not name or not file:
            raise typer.BadParameter(f"{model!r} should be NAME=FILE, such as raw=raw.csv")
        if name in named:
            raise typer.BadParameter(f"two models are called {name!r}")
        named[name] = file
    if len(named) < 2:
        raise typer.BadParameter("give two models or more, each as NAME=FILE")
    return named

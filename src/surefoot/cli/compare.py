"""``surefoot compare``."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer

from surefoot.cli.assess import assessed, check_outputs, size_of
from surefoot.cli.failing import clear_errors
from surefoot.cli.options import (
    Confidence,
    Correct,
    Delimiter,
    Doubt,
    Level,
    Logits,
    Predicted,
    Probabilities,
    Truth,
    Weight,
    checked_delimiter,
    checked_level,
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
    weight: Weight = None,
    delimiter: Delimiter = None,
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="Write the page, one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    level: Level = 0.05,
) -> None:
    """Put models side by side, with paired tests where they were given the same rows.

    The first is compared with each of the others.

    \b
      surefoot compare raw=raw.csv platt=platt.csv
    """
    level, delimiter = checked_level(level), checked_delimiter(delimiter)
    named = _named(models)
    columns = columns_of(locals())
    with clear_errors():
        check_outputs(html, beside=list(named.values()))
        from surefoot.comparison import compare
        from surefoot.files.reading import read

        assessments = {}
        with bar("reading") as shown:
            for i, (name, file) in enumerate(named.items()):
                part = partial(_part, shown, i, len(named))
                reading = read(file, columns, delimiter=delimiter, progress=part)
                assessments[name] = assessed(reading, level, None)
        found = compare(assessments)
        if as_json:
            sys.stdout.write(found.to_json())
        else:
            from surefoot.report.side_by_side import render
            from surefoot.report.terminal import Paper

            print(f"\n{render(found, Paper.at_hand())}\n", flush=True)
        if html is not None:
            found.to_html(html)
            print(f"  Wrote {html} ({size_of(html)})", file=sys.stderr if as_json else sys.stdout)


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

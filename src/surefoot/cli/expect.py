"""``surefoot expect``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.errors import clear_errors, say
from surefoot.cli.options import (
    AsJson,
    Attempted,
    Confidence,
    Correct,
    Delimiter,
    Doubt,
    Format,
    Html,
    Logits,
    Percent,
    Positive,
    Predicted,
    Probabilities,
    Query,
    Sheet,
    Table,
    Truth,
    checked_delimiter,
    checked_level,
    columns_of,
    part_of,
)
from surefoot.cli.outputs import Outputs
from surefoot.cli.progress import bar

if TYPE_CHECKING:
    from surefoot.decisions.expected import Expected


def command(
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="Predictions without labels; if it has labels, they are not used.", show_default=False
        ),
    ],
    reference: Annotated[
        str,
        typer.Option(
            "--reference",
            metavar="OLD",
            help="Predictions of the same model with labels, on rows that it was not trained on; same columns.",
            show_default=False,
        ),
    ],
    truth: Truth = None,
    predicted: Predicted = None,
    confidence: Confidence = None,
    correct: Correct = None,
    attempted: Attempted = None,
    probabilities: Probabilities = None,
    logits: Logits = None,
    doubt: Doubt = None,
    positive: Positive = None,
    delimiter: Delimiter = None,
    percent: Percent = None,
    sheet: Sheet = None,
    table: Table = None,
    query: Query = None,
    calibrator: Annotated[
        str,
        typer.Option(
            "--calibrator",
            metavar="NAME",
            help="What learns from OLD how often a confidence is right, such as isotonic.",
        ),
    ] = "SafePlatt",
    cost_error: Annotated[
        float | None,
        typer.Option("--cost-error", metavar="NUMBER", help="What an error costs; adds the mean cost of a row."),
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
    level: Annotated[
        float,
        typer.Option(
            "--level",
            metavar="NUMBER",
            help="Share of intervals that may miss the true value: 0.05 gives 95% intervals.",
        ),
    ] = 0.05,
) -> None:
    """What accuracy, AUC and log loss to expect in NEW, whose labels are not known yet.

    OLD, whose labels are known, shows how often each confidence is right. Each metric comes with an interval that holds
    its value once labels are known. A change in what the labels mean (concept drift) cannot be seen without labels.

    \b
      surefoot expect today.csv --reference validation.csv
      surefoot expect new.parquet --reference old.parquet \\
        --cost-error 40 -o expected.html
    """
    level, delimiter = checked_level(level), checked_delimiter(delimiter)
    part = part_of(locals())
    columns: dict[str, Any] = columns_of(locals())
    logit_columns = columns.pop("logits", None)
    if logit_columns is not None:
        columns |= {"probabilities": logit_columns, "from_logits": True}
    if positive is not None:
        columns["pos_label"] = positive
    with clear_errors():
        outputs = Outputs.plan(
            output or [],
            {"html": html},
            allowed=("html", "json", "markdown"),
            format=format,
            as_json=as_json,
            beside=[new, reference],
        )
        from dataclasses import replace

        from surefoot.decisions.calibrating import calibrator_named
        from surefoot.decisions.expect import expect
        from surefoot.files.unlabelled import read_both

        try:
            chosen = calibrator_named(calibrator)
        except ValueError as error:
            raise typer.BadParameter(f"--{str(error).rstrip('.')}") from error
        if cost_error is not None and not 0 <= cost_error < float("inf"):
            raise typer.BadParameter(f"--cost-error is {cost_error}; it should be 0 or more")
        with bar("reading") as shown:
            rows, known, words = read_both(new, reference, columns, delimiter=delimiter, part=part, percent=percent)
            shown(1.0, len(known))
            found = expect(rows, reference=known, calibrator=chosen, level=level, cost_error=cost_error)
        found = replace(found, columns=words)
        if outputs.is_text:
            from surefoot.render.expectation import render
            from surefoot.render.text import Terminal

            say(f"\n{render(found, Terminal.detect())}\n")
        else:
            say(_content(found, outputs.format).rstrip())
        outputs.write(lambda kind: _content(found, kind))


def _content(found: Expected, kind: str) -> str:
    """What was found as a file of a kind."""
    from surefoot._io.presentation import present

    if kind == "json":
        return found.to_json()
    return str(present("expectation", "report" if kind == "html" else "markdown", found))

"""``surefoot slices``."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Annotated

import typer

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
    FileOfRows,
    Format,
    Logits,
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
    checked_view,
    columns_of,
    manner_of,
    part_of,
)
from surefoot.cli.outputs import Outputs
from surefoot.cli.progress import bar

if TYPE_CHECKING:
    from surefoot.search.found import FoundSlices

_KINDS = ("json", "markdown", "png", "svg")


def command(
    file: FileOfRows,
    search: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,B,...",
            help="Columns to search, separated by commas; by default all that hold no part of the predictions.",
        ),
    ] = None,
    level: Annotated[
        float,
        typer.Option(
            "--level", metavar="NUMBER", help="The chance that any slice is found if all confidences are right."
        ),
    ] = 0.05,
    min_rows: Annotated[int, typer.Option("--min-rows", metavar="N", help="The fewest rows of a slice.")] = 50,
    truth: Truth = None,
    predicted: Predicted = None,
    confidence: Confidence = None,
    correct: Correct = None,
    attempted: Attempted = None,
    probabilities: Probabilities = None,
    logits: Logits = None,
    doubt: Doubt = None,
    positive: PositiveOrEvent = None,
    of: Of = None,
    as_float64: AsFloat64 = False,
    weight: Weight = None,
    delimiter: Delimiter = None,
    percent: Percent = None,
    drop_missing: DropMissing = False,
    confidence_pattern: ConfidencePattern = None,
    sheet: Sheet = None,
    table: Table = None,
    query: Query = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a file, its kind by suffix: .json, .md (Markdown), .png or .svg (picture). May be given "
            "several times.",
        ),
    ] = None,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """In which groups of rows of FILE can the confidences not be trusted?

    Looks at every value of every column, at numbers in ten bins, and at pairs of them. However many these are, the
    chance of finding any slice is at most --level if all confidences are right. Each slice comes with its observed and
    expected errors and how much its confidences are too high; the text says what could have been missed.

    \b
      surefoot slices predictions.csv
      surefoot slices predictions.csv \\
        --columns region,age --min-rows 200
      surefoot slices a.parquet --json -o slices.png
    """
    checked_level(level)
    if min_rows < 2:
        raise typer.BadParameter(f"--min-rows is {min_rows}; it should be a whole number, at least 2")
    delimiter, view = checked_delimiter(delimiter), checked_view(of)
    if view == "classes":
        raise typer.BadParameter("--of classes has no slices; use --of event with --positive LABEL")
    arguments = locals()
    names = None if search is None else [name.strip() for name in search.split(",") if name.strip()]
    with clear_errors():
        outputs = Outputs.plan(output or [], {}, allowed=_KINDS, format=format, as_json=as_json, beside=[file])
        from surefoot.files.features import read_features
        from surefoot.search.find_slices import find_in

        with bar("searching") as progress:
            held = read_features(
                file,
                columns_of(arguments),
                columns=names,
                delimiter=delimiter,
                part=part_of(arguments),
                positive=positive,
                float32=not as_float64,
                of=view,
                manner=manner_of(arguments),
            )
            rows = len(held.predictions)
            found = find_in(
                held, level=level, min_rows=min_rows, progress=lambda share: progress(share, round(share * rows))
            )
        if outputs.is_text:
            from surefoot.render.found_slices import render
            from surefoot.render.text import Terminal

            say(f"\n{render(found, Terminal.detect(), is_command=True)}\n")
        else:
            say((found.to_json() if outputs.format == "json" else found.to_markdown()).rstrip())
        outputs.write(lambda kind: _content(found, kind))


def _content(found: FoundSlices, kind: str) -> str | bytes:
    """The result as a file of a kind."""
    if kind == "json":
        return f"{found.to_json()}\n"
    if kind == "markdown":
        return found.to_markdown()
    from surefoot.render.mpl.display import load_pyplot

    plt = load_pyplot()
    plt.switch_backend("agg")
    written = io.BytesIO()
    figure = found.plot().figure
    # the same bytes from the same rows
    with plt.rc_context({"svg.hashsalt": "surefoot"}):
        figure.savefig(written, format=kind, dpi=200, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)
    return written.getvalue()

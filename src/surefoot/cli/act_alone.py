"""``surefoot act-alone``."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Annotated, Any

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
    File,
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
    Weight,
    checked_delimiter,
    checked_level,
    columns_of,
    manner_of,
    part_of,
)
from surefoot.cli.outputs import Content, Outputs
from surefoot.cli.progress import bar

if TYPE_CHECKING:
    from surefoot.decisions.act_alone import ActAlone

_KINDS = ("policy", "html", "markdown", "png", "svg")


def command(
    file: File,
    error: Annotated[
        str | None,
        typer.Option(
            "--error",
            metavar="NUMBER",
            help="The error rate that accepted predictions may have: 0.01 is 1%. Needed unless costs are given.",
        ),
    ] = None,
    level: Annotated[
        str, typer.Option("--level", metavar="NUMBER", help="The chance that a promise does not hold.")
    ] = "0.05",
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COL",
            help="A threshold for each value of a column, or for each predicted class (predicted).",
        ),
    ] = None,
    refuse: Annotated[
        str | None,
        typer.Option(
            "--refuse",
            metavar="NUMBER",
            help="Also find the confidence below which at least this share of predictions is wrong, such as 0.5. These "
            "are refused, and what lies between is reviewed.",
        ),
    ] = None,
    cost_error: Annotated[
        float | None,
        typer.Option("--cost-error", metavar="NUMBER", help="What it costs to act on a wrong prediction."),
    ] = None,
    cost_review: Annotated[
        float | None,
        typer.Option(
            "--cost-review",
            metavar="NUMBER",
            help="What it costs to review a prediction. With both costs, the threshold is that of least expected cost.",
        ),
    ] = None,
    truth: Truth = None,
    predicted: Predicted = None,
    confidence: Confidence = None,
    correct: Correct = None,
    attempted: Attempted = None,
    probabilities: Probabilities = None,
    logits: Logits = None,
    doubt: Doubt = None,
    positive: Positive = None,
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
            help="Write a file, its kind by suffix: .json (the policy, to apply), .html (report), .md (Markdown), "
            ".png or .svg (picture). May be given several times.",
        ),
    ] = None,
    format: Format = None,
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Find the confidence above which predictions need no review: at most a share --error of them is wrong.

    The guarantee holds for new rows like those in FILE, for any model. Below the threshold, predictions need a
    review. The policy that -o policy.json writes is applied by surefoot.Policy.load("policy.json").decide(confidence).

    \b
      surefoot act-alone a.csv --error 0.01
      surefoot act-alone a.csv --error 0.02 \\
        --refuse 0.5 -o policy.json
    """
    options = _checked(error, level, refuse, cost_error, cost_review)
    delimiter = checked_delimiter(delimiter)
    if by == "truth":
        raise typer.BadParameter("--by truth is not known when a decision is made; use --by predicted")
    arguments = locals()
    columns = columns_of(arguments)
    part = part_of(arguments)
    with clear_errors():
        outputs = Outputs.plan(
            output or [], {"html": html}, allowed=_KINDS, format=format, as_json=as_json, beside=[file]
        )
        from surefoot.decisions.act_alone import TERMS, act_alone_in
        from surefoot.files.reading import read

        with bar("reading") as progress:
            reading = read(
                file,
                columns,
                by=by,
                terms=TERMS,
                delimiter=delimiter,
                part=part,
                progress=progress,
                positive=positive,
                float32=not as_float64,
                manner=manner_of(arguments),
            )
            found = act_alone_in(reading, by, **options)
        if outputs.is_text:
            from surefoot.render.act_alone_view import render
            from surefoot.render.text import Terminal

            say(f"\n{render(found, Terminal.detect(), is_command=True)}\n")
        else:
            say((found.to_json() if outputs.format == "json" else found.to_markdown()).rstrip())
        outputs.write(lambda kind: _content(found, kind))


def _content(found: ActAlone, kind: str) -> Content:
    """The result as a file of a kind."""
    if kind == "policy":
        return found.policy
    if kind == "html":
        return found.to_html()
    if kind == "markdown":
        return found.to_markdown()
    from surefoot.render.mpl.display import load_pyplot

    plt = load_pyplot()
    plt.switch_backend("agg")
    written = io.BytesIO()
    figure = found.plot().figure_
    # the same bytes in every run: no random names of parts, and no date
    with plt.rc_context({"svg.hashsalt": "surefoot"}):
        figure.savefig(written, format=kind, dpi=200, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)
    return written.getvalue()


def _checked(
    error: str | None, level: str, refuse: str | None, cost_error: float | None, cost_review: float | None
) -> dict[str, Any]:
    """The options of the search; what cannot be meant is refused with what to type instead."""
    rates = {
        name: None if value is None else _share(f"--{name}", value, example)
        for name, value, example in (("error", error, 0.01), ("refuse", refuse, 0.5), ("level", level, 0.05))
    }
    checked_level(float(level))
    costs = {"--cost-error": cost_error, "--cost-review": cost_review}
    given = {name: value for name, value in costs.items() if value is not None}
    if len(given) == 1:
        (other,) = (name for name in costs if name not in given)
        raise typer.BadParameter(f"{next(iter(given))} needs {other} besides; give both costs, or neither")
    for name, value in given.items():
        if not 0 < value < float("inf"):
            raise typer.BadParameter(f"{name} is {value:g}; it should be a positive number, such as 10")
    if rates["error"] is None and not given:
        raise typer.BadParameter(
            "surefoot act-alone needs --error, the error rate that accepted predictions may have, such as --error "
            "0.01; or both --cost-error and --cost-review"
        )
    if rates["error"] is not None and rates["refuse"] is not None and rates["refuse"] <= rates["error"]:
        raise typer.BadParameter(
            f"--refuse {rates['refuse']:g} is not above --error {rates['error']:g}; it should be larger, such as 0.5"
        )
    return {**rates, "costs": tuple(given.values()) if given else None}


def _share(name: str, text: str, example: float) -> float:
    """A number between 0 and 1; percentages are told what to type."""
    plain = text.strip()
    try:
        value = float(plain.removesuffix("%"))
    except ValueError:
        value = float("nan")
    if plain.endswith("%") or 1 <= value < 100:
        if 0 < value < 100:
            raise typer.BadParameter(
                f"{name} is {plain}; it should be a share, not a percentage: for {value:g}% type {name} {value / 100:g}"
            )
    elif 0 < value < 1:
        from surefoot.decisions.act_alone import LEAST_ERROR

        if name == "--error" and value < LEAST_ERROR:
            raise typer.BadParameter(
                f"--error is {plain}, which takes too many rows to promise; give at least {LEAST_ERROR:g}"
            )
        return value
    elif value == 0 and name == "--error":
        raise typer.BadParameter(
            "--error is 0, and no number of rows can promise that none is wrong; give a small number, such as 0.001"
        )
    raise typer.BadParameter(f"{name} is {plain!r}; it should be a number between 0 and 1, such as {example:g}")

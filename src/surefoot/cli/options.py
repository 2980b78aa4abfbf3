"""Options that several commands share: which column is what."""

from __future__ import annotations

from typing import Annotated, Any

import typer

#: A file that is read.
_FORMATS = (
    "CSV, TSV, Parquet, Arrow, JSON, JSON lines, NPZ, Excel, SQLite, DuckDB,{} or a log of Inspect AI (.eval) or "
    "lm-evaluation-harness (samples_*.jsonl); also packed with gzip or zstd. A folder or a glob is one data set; - is "
    "standard input; postgresql://USER@HOST/NAME is a database."
)
File = Annotated[str, typer.Argument(metavar="FILE", help=_FORMATS.format(" a saved tally,"), show_default=False)]
#: The same where rows are needed.
FileOfRows = Annotated[str, typer.Argument(metavar="FILE", help=_FORMATS.format(""), show_default=False)]
Truth = Annotated[str | None, typer.Option("--truth", metavar="COL", help="Column of true labels.")]
Predicted = Annotated[str | None, typer.Option("--predicted", metavar="COL", help="Column of predicted labels.")]
Confidence = Annotated[
    str | None, typer.Option("--confidence", metavar="COL", help="Column of the confidence in each prediction, 0 to 1.")
]
Doubt = Annotated[
    str | None,
    typer.Option(
        "--doubt", metavar="COL", help="Column of doubt (1 - confidence), if it has more digits than the confidence."
    ),
]
Correct = Annotated[
    str | None, typer.Option("--correct", metavar="COL", help="Column of whether each prediction was correct.")
]
Probabilities = Annotated[
    str | None,
    typer.Option(
        "--probabilities",
        metavar="PREFIX|COL",
        help="Class probabilities: a list column, or what the columns' names start with; or one column, the "
        "probability of the positive label.",
    ),
]
Logits = Annotated[
    str | None,
    typer.Option(
        "--logits",
        metavar="PREFIX|COL",
        help="Logits instead of probabilities; they keep full precision near certainty.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="LABEL",
        help="The label whose probability a single column holds; needed unless labels are 0 and 1 (then it is 1) or "
        "false and true (then true).",
    ),
]
PositiveOrEvent = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="LABEL",
        help="The label whose probability a single column holds, or the event of --of event; needed unless labels are "
        "0 and 1 (then it is 1) or false and true (then true).",
    ),
]
Of = Annotated[
    str | None,
    typer.Option(
        "--of",
        metavar="VIEW",
        help="What to assess: prediction (is the predicted label right? the default), event (does the --positive "
        "label occur as often as predicted? for risk models), or classes (the same for every class).",
    ),
]
AsFloat64 = Annotated[
    bool,
    typer.Option(
        "--as-float64",
        help="Treat 1.0 as full certainty, even if all values of a float64 column could come from float32.",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COL",
        help="Column that says which rows belong together (patient, user, prompt), so that they may depend on each "
        "other.",
    ),
]
Weight = Annotated[str | None, typer.Option("--weight", metavar="COL", help="Column of sample weights.")]
Attempted = Annotated[
    str | None,
    typer.Option(
        "--attempted",
        metavar="COL",
        help="Column of whether each row was attempted; the others (refused, abstained) are counted apart, as neither "
        "right nor wrong.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="Separator of the columns in a text file, such as ';'."),
]
Percent = Annotated[
    bool | None,
    typer.Option(
        "--percent/--no-percent",
        help="Whether confidences and probabilities without a percent sign are percentages; detected by default.",
        show_default=False,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option("--drop-missing", help="Leave out rows that lack a confidence or an outcome, and count them."),
]
ConfidencePattern = Annotated[
    str | None,
    typer.Option(
        "--confidence-pattern",
        metavar="REGEX",
        help="How a text states its confidence: a regular expression with the number as its first group. Found without "
        "it: 'Confidence: 85%', '85/100', '0.85', JSON.",
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="Sheet of an Excel workbook; needed if several have rows."),
]
Table = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="Table of a database; needed if it has several."),
]
Query = Annotated[
    str | None,
    typer.Option("--query", metavar="SQL", help="Rows of a database to read, as a SELECT; instead of --table."),
]
Level = Annotated[
    float,
    typer.Option(
        "--level", metavar="NUMBER", help="Significance level, the chance of flagging a well-calibrated model."
    ),
]
Margin = Annotated[
    float,
    typer.Option(
        "--margin", metavar="NUMBER", help="Overstatement that does not matter to you: 0.02 is 2 points of confidence."
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="text|json|markdown", help="What to print: text (the default), json or markdown."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Same as --format json.")]
Html = Annotated[str | None, typer.Option("--html", metavar="FILE", help="Same as -o FILE, for an HTML page.")]
Watch = Annotated[
    str | None,
    typer.Option(
        "--watch", metavar="SIDE", help="overconfident (the default), underconfident or both; for a new state."
    ),
]


def columns_of(given: dict[str, Any]) -> dict[str, str]:
    """The columns that were named, by role."""
    roles = ("truth", "predicted", "confidence", "doubt", "correct", "probabilities", "logits", "weight", "attempted")
    return {role: given[role] for role in roles if given.get(role) is not None}


def manner_of(given: dict[str, Any]) -> Any:
    """How numbers are to be read."""
    from surefoot.files.accounting import Manner

    return Manner(given["percent"], given["drop_missing"], given["confidence_pattern"])


def part_of(given: dict[str, Any]) -> Any:
    """The sheet, the table or the query that was chosen; None if none was."""
    chosen = {name: given.get(name) for name in ("sheet", "table", "query")}
    if not any(value is not None for value in chosen.values()):
        return None
    from surefoot.files.part import Part

    return Part(**chosen)


def checked_delimiter(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    character = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(character) != 1 or character in '"\n\r' or not character.isascii():
        raise typer.BadParameter(f"--delimiter is {delimiter!r}; it should be one character, such as ';' or '\\t'")
    return character


def checked_view(of: str | None) -> Any:
    if of not in (None, "prediction", "event", "classes"):
        raise typer.BadParameter(f"--of is {of!r}; it should be prediction, event or classes")
    return of


def checked_margin(margin: float) -> float:
    if not 0 < margin < 1:
        raise typer.BadParameter(f"--margin is {margin}; it should be between 0 and 1, such as 0.02")
    return margin


def checked_level(level: float) -> float:
    if not 0 < level < 1:
        raise typer.BadParameter(f"--level is {level}; it should be between 0 and 1, such as 0.05")
    if level >= 0.5:
        raise typer.BadParameter(
            f"--level is {level:g}, the chance of being wrong: for {100 * level:.4g}% confidence type --level "
            f"{round(1 - level, 12):g}"
        )
    return level

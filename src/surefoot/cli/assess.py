"""``surefoot assess``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._io.writing import write_whole
from surefoot.cli.errors import Failed, clear_errors, say
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
from surefoot.cli.progress import bar
from surefoot.cli.rules import parsed

if TYPE_CHECKING:
    from surefoot.assessment.result import Assessment
    from surefoot.files.reader import Reading

#: Classes up to which a report is sliced by what was predicted when nothing else is asked for.
_MOST_CLASSES = 40


def command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV, Parquet, Arrow, JSON lines, NPZ, a saved tally, samples_*.jsonl of lm-evaluation-harness; "
            "gzip and zstd too. A folder or a glob is one data set; - is standard input.",
            show_default=False,
        ),
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
    by: Annotated[
        str | None, typer.Option("--by", metavar="COL", help="Slice by a column, or by predicted or truth.")
    ] = None,
    group: Group = None,
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="Write the report, one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    save_tally: Annotated[
        str | None, typer.Option("--save-tally", metavar="OUT", help="Save the sums, to merge with others.")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="RULE",
            help="End with status 1 if it holds: risky, inconclusive, or like 'overstatement>0.02'.",
        ),
    ] = None,
    level: Level = 0.05,
    margin: Margin = 0.02,
) -> None:
    """Can the confidences in FILE be trusted, and are they worth anything?

    Columns are detected by name. The first line of output shows which were used; if the choice is ambiguous, you are
    asked to name them.

    \b
      surefoot assess predictions.csv
      surefoot assess run.parquet --truth label --probabilities p_ --by region --html report.html
      surefoot assess scores.jsonl --fail-on risky --fail-on 'cw_accuracy<0.9'
    """
    rules = [parsed(rule) for rule in fail_on or []]
    level, margin, delimiter = checked_level(level), checked_margin(margin), checked_delimiter(delimiter)
    with clear_errors():
        check_outputs(html, save_tally, beside=[file])
        from surefoot.assessment.assess import ALWAYS_TOLD
        from surefoot.files.reading import read

        columns = columns_of(locals())
        # the first page needs few metrics; the others follow when it has been read
        wanted = None if as_json else [rule.name for rule in rules if rule.is_metric]
        tallied = None if wanted is None or html or save_tally else [*wanted, *ALWAYS_TOLD]
        with bar("reading") as shown:
            reading = read(
                file,
                columns,
                by=by,
                delimiter=delimiter,
                metrics=tallied,
                progress=shown,
                positive=positive,
                float32=not as_float64,
                group=group,
            )
        assessment = assessed(reading, level, margin, by, wanted, group)
        if as_json:
            say(assessment.to_json().rstrip())
        else:
            from surefoot.render.text import Terminal, render

            say(f"\n{render(assessment, Terminal.detect())}\n")
        _write(assessment, reading, html, save_tally, by, quiet=as_json)
    reasons = [why for rule in rules if (why := rule.held(assessment))]
    for why in reasons:
        say(f"  failed: {why}", to_stderr=as_json)
    if reasons:
        raise Failed(1)


def assessed(
    reading: Reading, level: float, margin: float, by: str | None, metrics: Any = None, group: str | None = None
) -> Assessment:
    """What a file holds, assessed, with where it came from."""
    from surefoot.assessment.assess import assess

    found = assess(reading.held, level=level, margin=margin, by=reading.by, groups=reading.groups, metrics=metrics)
    found = replace(found, group=group or "", looks_grouped=reading.looks_grouped)
    name = "standard input" if reading.name == "-" else reading.name
    name = Path(name).name if Path(name).is_file() else name
    return replace(found, source=name, columns=reading.said, by=by if by is not None else found.by)


def check_outputs(*paths: str | None, beside: Sequence[str] = ()) -> None:
    """What cannot be written is found out before the work, not after; and no input is written over."""
    named = [Path(path).absolute() for path in paths if path is not None]
    for path in named:
        if not path.parent.is_dir():
            raise FileNotFoundError(2, "no such folder", str(path.parent))
        if path.is_dir():
            raise IsADirectoryError(21, "is a folder; name a file in it", str(path))
        if path in [Path(other).absolute() for other in beside]:
            raise typer.BadParameter(f"{path.name} is read, and would be written over; give another name")
    if len(set(named)) < len(named):
        raise typer.BadParameter("two outputs have one name; give another to one")


def _write(
    a: Assessment, reading: Reading, html: str | None, tally: str | None, by: str | None, *, quiet: bool
) -> None:
    page = None
    if html is not None:
        from surefoot.assessment.assess import with_all_metrics, with_slices
        from surefoot.render.html import report

        a = with_all_metrics(a)
        if by is None and _has_labels(a):
            a = with_slices(a, "predicted")
        page = report(a)
    if tally is not None:
        from surefoot.core.tally import Tally
        from surefoot.metrics.tallying import tally as tallied

        held = reading.held if isinstance(reading.held, Tally) else tallied(reading.held, by=reading.by)
        held.save(tally)
        say(f"  Wrote {tally} ({size_of(tally)})", to_stderr=quiet)
    if html is not None and page is not None:
        write_whole(html, page)
        say(f"  Wrote {html} ({size_of(html)})", to_stderr=quiet)


def _has_labels(a: Assessment) -> bool:
    return a.predictions is not None and a.predictions.truth is not None and 1 < (a.classes or 0) <= _MOST_CLASSES


def size_of(path: str) -> str:
    size = Path(path).stat().st_size
    return f"{size / 1024:,.0f} KB" if size < 1 << 20 else f"{size / (1 << 20):,.1f} MB"

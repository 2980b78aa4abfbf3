"""``surefoot assess``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.errors import clear_errors, say, say_failed
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
from surefoot.cli.outputs import Content, Outputs
from surefoot.cli.progress import bar
from surefoot.cli.rules import WORSE, Rule, parsed

if TYPE_CHECKING:
    from surefoot.assessment.baseline import BaselineComparison
    from surefoot.assessment.result import Assessment
    from surefoot.core.tally import Tally
    from surefoot.files.held import Reading

#: Classes up to which a report is sliced by what was predicted when nothing else is asked for.
_MOST_CLASSES = 40
_KINDS = ("html", "json", "markdown", "tally", "junit")


def command(
    file: File,
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
    by: Annotated[
        str | None, typer.Option("--by", metavar="COL", help="Slice by a column, or by predicted or truth.")
    ] = None,
    group: Group = None,
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="COL", help="Column that names a row, shown with the most surprising errors."),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="COL", help="Another column to show with them; may be given several times."),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a file, its kind by suffix: .html (report), .json, .md (Markdown), .tally (sums, to merge or "
            "as a baseline), .xml (JUnit). May be given several times.",
        ),
    ] = None,
    format: Format = None,
    as_json: AsJson = False,
    html: Html = None,
    save_tally: Annotated[
        str | None, typer.Option("--save-tally", metavar="FILE", help="Same as -o FILE.tally, under any name.")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="RULE",
            help="Exit with status 1 if a rule holds: risky (overconfident or mixed; of an event, off in any way), "
            "inconclusive, worse (with --baseline), or a comparison like 'overstatement>0.02'. May be given several "
            "times.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="FILE",
            help="An earlier result to compare with (not for --of event): a saved tally, or a file with the same "
            "columns. The model is worse if the verdict turned risky; or if overstatement rose by --margin or more, "
            "O/E by a factor of 1.5, or O/E above 99% confidence by a factor of 2, and is too high now. Either must be "
            "more than chance explains at --level.",
        ),
    ] = None,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Write the --fail-on rules as JUnit XML, for CI.")
    ] = None,
    level: Level = 0.05,
    margin: Margin = 0.02,
) -> None:
    """Can the confidences in FILE be trusted, and are they worth anything?

    Columns are detected by name. The first line of output shows which were used; if the choice is ambiguous, you are
    asked to name them.

    \b
      surefoot assess predictions.csv
      surefoot assess run.parquet -o report.html
      surefoot assess a.csv --fail-on risky
      surefoot assess new.csv --fail-on worse \\
        --baseline old.tally
    """
    rules = [parsed(rule) for rule in fail_on or []]
    level, margin, delimiter = checked_level(level), checked_margin(margin), checked_delimiter(delimiter)
    if baseline is None and any(rule.name == WORSE for rule in rules):
        raise typer.BadParameter("--fail-on worse needs --baseline FILE, such as a tally saved with -o old.tally")
    arguments = locals()
    columns = columns_of(arguments)
    reader: dict[str, Any] = {
        "delimiter": delimiter,
        "part": part_of(arguments),
        "positive": positive,
        "float32": not as_float64,
        "group": group,
        "of": checked_view(of),
        "manner": manner_of(arguments),
    }
    shown = [name for name in (identifier, *(show or ())) if name is not None]
    with clear_errors():
        outputs = Outputs.plan(
            output or [],
            {"html": html, "tally": save_tally, "junit": junit},
            allowed=_KINDS,
            format=format,
            as_json=as_json,
            beside=[path for path in (file, baseline) if path is not None],
        )
        if "junit" in outputs.files and not rules:
            raise typer.BadParameter("--junit writes the --fail-on rules, and there are none; give one, such as risky")
        wanted, tallied = _metrics_for(outputs, rules)
        from surefoot.files.reading import read

        compared = None
        with bar("reading") as progress:
            reading = read(
                file, columns, by=by, metrics=tallied, progress=progress, show=shown, logged=("id",), **reader
            )
            assessment = with_shown(assessed(reading, level, margin, by, wanted, group), reading)
            if baseline is not None:
                from surefoot.assessment.baseline import compare_with_baseline

                earlier = assessed(_read_baseline(baseline, columns, reader), level, margin, None, [], group)
                compared = compare_with_baseline(assessment, earlier)
        result = _Result(assessment, reading, by, rules, compared)
        result.print(outputs)
        outputs.write(result.content)
    say_failed(filter(None, result.failures), to_stderr=not outputs.is_text)


def assessed(
    reading: Reading, level: float, margin: float, by: str | None, metrics: Any = None, group: str | None = None
) -> Assessment:
    """What a file holds, assessed, with where it came from."""
    from surefoot.assessment.assess import assess, with_source

    found = assess(reading.held, level=level, margin=margin, by=reading.by, groups=reading.groups, metrics=metrics)
    return with_source(found, reading, by, group)


def with_shown(a: Assessment, reading: Reading) -> Assessment:
    """The same assessment, the most surprising errors with the columns that are to be shown."""
    if reading.shown is None or not a.surprises:
        return a
    held: Any = reading.held
    # rows of the file that were left out are not among those that are held
    places = held.row_numbers()[held.source_numbers().searchsorted([one.row for one in a.surprises])]
    rows = reading.shown.take(places).to_pylist()
    plain = [{name: _plain(value) for name, value in row.items()} for row in rows]
    return replace(a, surprises=tuple(replace(one, shown=row) for one, row in zip(a.surprises, plain, strict=True)))


def _plain(value: Any) -> Any:
    return (
        value
        if value is None or isinstance(value, bool | int | str) or (value == value and isinstance(value, float))
        else str(value)
    )


def _metrics_for(outputs: Outputs, rules: list[Rule]) -> tuple[list[str] | None, list[str] | None]:
    """The metrics to compute at once, and those to tally while a large file is read; None is all of them.

    The first page needs few; those of a report follow when it has been printed, but for what orders scores again.
    """
    from surefoot.assessment.evidence import ALWAYS_TOLD, RANKED

    if not outputs.is_text or {"json", "markdown"} & set(outputs.files):
        return None, None
    wanted = [*(rule.name for rule in rules if rule.is_metric), *ALWAYS_TOLD]
    if "html" in outputs.files:
        wanted += RANKED
    return wanted, None if {"html", "tally"} & set(outputs.files) else wanted


def _read_baseline(path: str, columns: Mapping[str, str], reader: Mapping[str, Any]) -> Reading:
    """A saved tally, which holds no columns; or rows, with the columns of the others."""
    from surefoot.assessment.evidence import ALWAYS_TOLD
    from surefoot.core.tally import Tally
    from surefoot.files.held import Reading
    from surefoot.files.opening import open_data
    from surefoot.files.reading import read

    held = open_data(path, reader["delimiter"], reader["part"])
    if isinstance(held, Tally):
        return Reading(path, held, None)
    return read(path, columns, metrics=list(ALWAYS_TOLD), **reader)


@dataclass(frozen=True)
class _Result:
    """What was found, to be printed and written."""

    assessment: Assessment
    reading: Reading
    by: str | None
    rules: list[Rule]
    compared: BaselineComparison | None

    @property
    def failures(self) -> list[str]:
        """For each rule why it holds, or nothing."""
        return [rule.held(self.assessment, self.compared) for rule in self.rules]

    def print(self, outputs: Outputs) -> None:
        if outputs.format == "json":
            say(self.json().rstrip())
        elif outputs.format == "markdown":
            say(self.markdown().rstrip())
        else:
            from surefoot.render.text import Terminal, render

            terminal = Terminal.detect()
            say(f"\n{render(self.assessment, terminal)}\n")
            if self.compared is not None:
                from surefoot.cli.gate import lines

                say(terminal.simplify("\n".join(lines(self.compared, terminal))) + "\n")

    def content(self, kind: str) -> Content:
        """The result as a file of a kind."""
        if kind == "junit":
            from surefoot.cli.gate import junit

            return junit(self.assessment, self.rules, self.failures)
        if kind == "tally":
            return self.tally()
        return {"html": self.html, "json": self.json, "markdown": self.markdown}[kind]()

    def tally(self) -> Tally:
        from surefoot.core.tally import Tally
        from surefoot.metrics.tallying import tally

        held = self.reading.held
        if isinstance(held, Tally):
            return held
        found = tally(held, by=self.reading.by)
        # slices are called after their column, as those of files that are too large to be held
        return found if found.by is None else replace(found, by=self.by)

    def html(self) -> str:
        from surefoot.assessment.assess import with_all_metrics, with_slices
        from surefoot.render.html import report

        a = with_all_metrics(self.assessment)
        if self.by is None and a.view == "prediction" and _has_labels(a):
            a = with_shown(with_slices(a, "predicted"), self.reading)
        return report(a)

    def json(self) -> str:
        from surefoot.assessment.serialise import write_json

        document = self.assessment.to_dict()
        if self.compared is not None:
            document["baseline"] = self.compared.to_dict()
        if self.rules:
            document["rules"] = [
                {"rule": rule.text, "failed": bool(why), "reason": why}
                for rule, why in zip(self.rules, self.failures, strict=True)
            ]
        return write_json(document, None)

    def markdown(self) -> str:
        from surefoot._io.presentation import present
        from surefoot.cli.gate import markdown, rules_as_markdown

        parts = [str(present("markdown", "render", self.assessment)).rstrip() + "\n"]
        if self.compared is not None:
            parts.append(markdown(self.compared))
        if self.rules:
            parts.append(rules_as_markdown(self.rules, self.failures))
        return "\n".join(parts)


def _has_labels(a: Assessment) -> bool:
    return a.predictions is not None and a.predictions.truth is not None and 1 < (a.classes or 0) <= _MOST_CLASSES

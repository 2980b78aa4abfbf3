"""``surefoot monitor``."""

from __future__ import annotations

import shlex
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._io.locking import exclusive
from surefoot._io.writing import target_of
from surefoot.cli.errors import clear_errors, say, say_failed
from surefoot.cli.options import (
    AsFloat64,
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
    Logits,
    Percent,
    Positive,
    Predicted,
    Probabilities,
    Query,
    Sheet,
    Table,
    Truth,
    Watch,
    Weight,
    checked_delimiter,
    checked_level,
    columns_of,
    manner_of,
    part_of,
)
from surefoot.cli.outputs import Outputs, check_outputs, write_files
from surefoot.cli.parsing import closest

if TYPE_CHECKING:
    from surefoot.predictions import ArrayPredictions
    from surefoot.risk.stream.monitor import Monitor

_RULES = ("alarm", "drift")
_SIDES = ("overconfident", "underconfident", "both")


def command(
    state: Annotated[
        str,
        typer.Option(
            "--state",
            metavar="FILE",
            help="File that keeps the monitor between runs; a new one is begun if it is missing.",
            show_default=False,
        ),
    ],
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|-",
            help="Rows in the order of time; - follows standard input. Without it, the state is shown.",
            show_default=False,
        ),
    ] = None,
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
        str | None, typer.Option("--id", metavar="COL", help="Column of ids: a row that comes again counts once.")
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write where the stream stands, by suffix: .html, .json, .md (Markdown).",
        ),
    ] = None,
    format: Format = None,
    html: Html = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Same as --format json: where the stream stands, at the end.")
    ] = False,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="alarm|drift",
            help="Exit with status 1 on alarm (shown as ALARM: the e-value over all rows has reached 1 / level) or on "
            "drift (shown as DRIFT: the change detector found drift in this run; without FILE, ever). May be given "
            "twice.",
        ),
    ] = None,
    watch: Watch = None,
    mean_time: Annotated[
        float | None,
        typer.Option(
            "--mean-time-between-false-alarms",
            metavar="ROWS",
            help="On a calibrated stream, drift is detected at most once in so many rows on average, by default "
            "10,000; for a new state.",
        ),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            "--level",
            metavar="NUMBER",
            help="Significance level of the test over all rows, by default 0.05; for a new state.",
        ),
    ] = None,
) -> None:
    """Watch a stream of predictions for overconfidence. You may look as often as you like.

    A file counts as a whole or not at all. The rows of a pipe count as they arrive, and the state is saved before
    anything is printed, so a run that is killed goes on where it was. Rows without --id count each time they are fed.

    \b
      surefoot monitor today.csv --state my.state
      tail -f log.csv | surefoot monitor - \\
        --state my.state
      surefoot monitor --state my.state -o now.html
    """
    if weight is not None:
        raise typer.BadParameter("--weight is not available here: each row of a stream counts once")
    delimiter, rules = checked_delimiter(delimiter), [_checked_rule(rule) for rule in fail_on or []]
    if level is not None:
        checked_level(level)
    if watch is not None and watch not in _SIDES:
        raise typer.BadParameter(f"--watch is {watch!r}; it should be one of {', '.join(_SIDES)}")
    arguments = locals()
    columns = columns_of(arguments)
    part = part_of(arguments)
    if file is None and columns:
        role = next(iter(columns))
        raise typer.BadParameter(f"--{role} names a column, but there is no FILE to read; give one, or - for a pipe")
    with clear_errors():
        beside = [path for path in (file, state) if path is not None]
        if file is not None:
            check_outputs(state, beside=[file])
            if target_of(state) is None:
                raise typer.BadParameter(f"--state is {state}, which is no file that could be read again")
        outputs = Outputs.plan(
            output or [],
            {"html": html},
            allowed=("html", "json", "markdown"),
            format=format,
            as_json=as_json,
            beside=beside,
        )
        options = {"alternative": watch, "mean_time_between_false_alarms": mean_time, "level": level}
        given = {name: value for name, value in options.items() if value is not None}
        if file is None:
            monitor, before = _load(state, given), 0
            _Screen(monitor, outputs).show_state()
            _say_in_format(monitor, state, outputs)
            outputs.write(lambda kind: _content(monitor, state, kind))
        else:
            reader: dict[str, Any] = {"delimiter": delimiter, "positive": positive, "float32": not as_float64}
            reader["manner"] = manner_of(arguments)
            reader["part"] = part
            # who counts into a state has it to himself until it is saved
            with exclusive(state, partial(_say_waiting, state)):
                monitor = _open(state, given, identifier)
                before, screen = len(monitor.drift_rows), _Screen(monitor, outputs)
                left_out = _follow(file, state, screen, columns, identifier, group, reader)
                monitor = screen.m
                # of a file, the state and what is written about it appear together
                written = {path: _content(monitor, state, kind) for kind, path in outputs.files.items()}
                sizes = write_files({state: monitor, **written})
            screen.tell(left_out, is_live=file == "-")
            screen.print(f"  State saved to {state}\n")
            _say_in_format(monitor, state, outputs)
            for path in written:
                say(f"  Wrote {path} ({sizes[path]})", to_stderr=not outputs.is_text)
    went_off = {"alarm": monitor.alarm, "drift": len(monitor.drift_rows) > before}
    reasons = [_reason(monitor, rule) for rule in dict.fromkeys(rules) if went_off[rule]]
    say_failed(reasons, to_stderr=not outputs.is_text)


def _checked_rule(rule: str) -> str:
    if rule in _RULES:
        return rule
    hint = f"did you mean {found}? " if (found := closest(rule, _RULES)) else ""
    raise typer.BadParameter(f"--fail-on is {rule!r}; {hint}a monitor fails on alarm or on drift")


def _reason(m: Monitor, rule: str) -> str:
    from surefoot.render.monitor_view import alarm_words, episode_words

    if rule == "alarm":
        return f"alarm ({alarm_words(m)})"
    return f"drift ({episode_words(m.episodes[-1]) if m.episodes else f'at row {m.drift_rows[-1]:,}'})"


def _say_waiting(state: str, holder: str) -> None:
    say(f"note: waiting for {holder}, which counts into {state}", to_stderr=True)


def _follow(
    file: str,
    state: str,
    screen: _Screen,
    columns: dict[str, str],
    identifier: str | None,
    group: str | None,
    reader: dict[str, Any],
) -> int:
    """Count the rows of a file, or of a pipe as they come, after each block of which the state is saved.

    The rows that were not attempted, which are not counted.
    """
    from surefoot.files.reading import follow

    is_live = file == "-"
    left_out: list[int] = []
    notes: list[str] = []
    try:
        for number, (rows, ids, groups) in enumerate(
            follow(
                file, columns, identifier=identifier, group=group, left_out=left_out.append, tell=notes.append, **reader
            )
        ):
            _count(screen.m, rows, ids, groups)
            if is_live:
                screen.m.save(state)
                if not number:
                    screen.first()
                screen.show_new(began_only=True)
            screen.draw_gauge()
    except KeyboardInterrupt:
        screen.clear()
        say("  stopped", to_stderr=True)
        if not is_live or not Path(state).exists():
            # a file is counted whole or not at all: it would be read from its start again
            raise
        # the last block may be half counted: what was saved after the one before is whole
        screen.m = _load(state, {})
    finally:
        screen.clear()
    for note in notes:
        say(f"note: {note}", to_stderr=True)
    return sum(left_out)


def _content(m: Monitor, state: str, kind: str) -> str:
    """Where the stream stands, as a file of a kind."""
    from surefoot.assessment.serialise import write_json
    from surefoot.render.monitor_view import markdown, plain, report

    if kind == "json":
        return write_json({**plain(m), "state": state}, None)
    return (report if kind == "html" else markdown)(m, Path(state).name)


def _say_in_format(m: Monitor, state: str, outputs: Outputs) -> None:
    if not outputs.is_text:
        say(_content(m, state, outputs.format).rstrip())


def _load(state: str, given: dict[str, Any]) -> Monitor:
    """The monitor that is kept there, if it was begun with these options."""
    from surefoot.risk.stream.monitor import Monitor

    if not Path(state).exists():
        begin = f"surefoot monitor FILE --state {shlex.quote(state)}"
        raise FileNotFoundError(2, f"no such state; begin it with: {begin}", state)
    monitor = Monitor.load(state)
    flags = {"alternative": "--watch", "mean_time_between_false_alarms": "--mean-time-between-false-alarms"}
    for name, value in given.items():
        if getattr(monitor, name) != value:
            raise typer.BadParameter(
                f"{flags.get(name, f'--{name}')} is {value}, but {state} was begun with {getattr(monitor, name)}; "
                "leave it out, or begin a new state"
            )
    return monitor


def _open(state: str, given: dict[str, Any], identifier: str | None) -> Monitor:
    """The monitor that is kept there, or a new one."""
    from surefoot.risk.stream.monitor import Monitor

    if not Path(state).exists():
        try:
            return Monitor(**{"alternative": "overconfident", **given})
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    monitor = _load(state, given)
    if identifier is None and monitor.has_ids:
        raise typer.BadParameter(f"rows of {state} were counted by id; name the column with --id")
    return monitor


def _count(monitor: Monitor, rows: ArrayPredictions, ids: Any, groups: Any) -> None:
    every = slice(None)
    doubt = {"doubt": rows.doubt_of(every)} if rows.stores_doubt else {}
    monitor.update(rows.correct, None if doubt else rows.confidence_of(every), **doubt, ids=ids, groups=groups)


class _Screen:
    """One line for each episode and nothing between, so that a pipe can run for weeks; on a terminal also a gauge."""

    def __init__(self, monitor: Monitor, outputs: Outputs) -> None:
        from surefoot.render.text import Terminal

        self.m, self.terminal, self.is_quiet = monitor, Terminal.detect(), not outputs.is_text
        self.shown = {episode.first_alarm: episode for episode in monitor.episodes}
        self.has_alarm = monitor.alarm
        self.before, self.began = monitor.rows, time.monotonic()
        self.repeated = monitor.repeated
        self.has_gauge = sys.stderr.isatty()
        self.drawn = 0.0

    def print(self, text: str = "") -> None:
        if not self.is_quiet:
            say(text)

    def wrap(self, text: str) -> None:
        from surefoot.render.monitor_view import wrap

        for line in wrap(text, self.terminal):
            self.print(line)

    def first(self) -> None:
        from surefoot.render.monitor_view import watching

        self.print()
        self.wrap(watching(self.m))
        if self.before:
            self.wrap(f"Going on after row {self.before:,}.")

    def show_new(self, *, began_only: bool) -> None:
        """The episodes that began since the last look, or those that went on as well."""
        from surefoot.render.monitor_view import alarm_lines, episode_lines

        changed = [episode for episode in self.m.episodes if self.shown.get(episode.first_alarm) != episode]
        new = [one for one in changed if one.first_alarm not in self.shown] if began_only else changed
        if new:
            self.clear()
        for line in episode_lines(new, self.terminal):
            self.print(line)
        self.shown.update((episode.first_alarm, episode) for episode in changed)
        if self.m.alarm and not self.has_alarm:
            self.clear()
            for line in alarm_lines(self.m, self.terminal):
                self.print(line)
            self.has_alarm = True

    def draw_gauge(self) -> None:
        if not self.has_gauge or time.monotonic() - max(self.drawn, self.began) <= 0.2:
            return
        self.drawn = time.monotonic()
        limit = self.m.mean_time_between_false_alarms
        full = min(20, round(20 * self.m.evidence / limit))
        speed = (self.m.rows - self.before) / (self.drawn - self.began) / 1e6
        gauge = f"▕{'█' * full:<20}▏   {speed:.1f} M rows/s"
        line = f"  row {self.m.rows:,}   evidence {self.m.evidence:,.0f} of {limit:,.0f}   {gauge}"
        print(f"\r\x1b[2K{line[: max(50, self.terminal.width - 1)]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.has_gauge and self.drawn:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    def tell(self, left_out: int, *, is_live: bool) -> None:
        """What a run has found, when it is saved."""
        if not is_live:
            self.first()
            self.show_new(began_only=False)
        self.last()
        if left_out:
            self.wrap(
                f"Not counted: {left_out:,} {'row that was' if left_out == 1 else 'rows that were'} not attempted."
            )
        if again := self.m.repeated - self.repeated:
            self.wrap(f"Not counted: {again:,} {'row whose id' if again == 1 else 'rows whose ids'} came before.")

    def last(self) -> None:
        from surefoot.render.monitor_view import summary

        self.print()
        self.wrap(self.terminal.simplify(summary(self.m)))

    def show_state(self) -> None:
        """Where a stream stands, without any new rows."""
        from surefoot.render.monitor_view import alarm_lines, episode_lines, headline, watching

        self.print()
        self.print(f"  {self.terminal.style(headline(self.m), '1')}")
        self.wrap(watching(self.m))
        self.print()
        for line in (*episode_lines(self.m.episodes, self.terminal), *alarm_lines(self.m, self.terminal)):
            self.print(line)
        self.last()
        self.print()

"""``surefoot monitor``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.errors import clear_errors, say
from surefoot.cli.options import (
    AsFloat64,
    Confidence,
    Correct,
    Delimiter,
    Doubt,
    Group,
    Logits,
    Positive,
    Predicted,
    Probabilities,
    Truth,
    Weight,
    checked_delimiter,
    checked_level,
    columns_of,
)
from surefoot.cli.outputs import check_outputs

if TYPE_CHECKING:
    from surefoot.predictions import ArrayPredictions
    from surefoot.risk.stream.monitor import Monitor


def command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-", help="Rows in the order of time; - follows standard input.", show_default=False
        ),
    ],
    state: Annotated[
        str, typer.Option("--state", metavar="FILE", help="Where the monitor is kept between runs.", show_default=False)
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
    identifier: Annotated[
        str | None, typer.Option("--id", metavar="COL", help="Column of ids: a row that comes again counts once.")
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option("--watch", help="overconfident (the default), underconfident or both; for a new state."),
    ] = None,
    mean_time: Annotated[
        float | None,
        typer.Option(
            "--mean-time-between-false-alarms",
            metavar="ROWS",
            help="Of a calibrated stream, by default 10,000; for a new state.",
        ),
    ] = None,
    level: Annotated[
        float | None, typer.Option("--level", help="Of the test over all rows, by default 0.05; for a new state.")
    ] = None,
) -> None:
    """Watch a stream for as long as you like: looking often costs nothing.

    A file is counted whole or not at all; the rows of a pipe in blocks as they arrive, with the state saved after each,
    so that a run that is killed goes on where it was. Rows without --id count as often as they are fed.

    \b
      surefoot monitor today.parquet --state model.state
      tail -f predictions.csv | surefoot monitor - --state model.state
    """
    if weight is not None:
        raise typer.BadParameter("a stream has no weights: each row is one bet")
    delimiter = checked_delimiter(delimiter)
    if level is not None:
        checked_level(level)
    columns = columns_of(locals())
    with clear_errors():
        check_outputs(state, beside=[file])
        from surefoot.files.reading import follow

        asked = {"alternative": watch, "mean_time_between_false_alarms": mean_time, "level": level}
        watcher = _opened(state, {name: value for name, value in asked.items() if value is not None}, identifier)
        screen = _Screen(watcher)
        try:
            blocks = follow(
                file,
                columns,
                identifier=identifier,
                delimiter=delimiter,
                positive=positive,
                float32=not as_float64,
                group=group,
            )
            for number, (rows, ids, groups) in enumerate(blocks):
                if not number:
                    screen.first()
                _counted(watcher, rows, ids, groups)
                if file == "-":
                    # before anything is told of them: what was told has been kept
                    watcher.save(state)
                screen.tell()
        except KeyboardInterrupt:
            screen.close()
            print("  stopped", file=sys.stderr)
            if file != "-":
                # a file is counted whole or not at all: it would be read from its start again
                raise
        finally:
            screen.close()
        watcher.save(state)
        screen.last()
        say(f"  State saved to {state}\n")


def _opened(state: str, asked: dict[str, Any], identifier: str | None) -> Monitor:
    """The monitor that is kept there, if what is asked is what it does; or a new one."""
    from surefoot.risk.stream.monitor import Monitor

    if not Path(state).exists():
        try:
            return Monitor(**{"alternative": "overconfident", **asked})
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    watcher = Monitor.load(state)
    for name, value in asked.items():
        if getattr(watcher, name) != value:
            raise typer.BadParameter(
                f"{state} was begun with {name} {getattr(watcher, name)}; leave it, or begin a new state"
            )
    if identifier is None and watcher.has_ids:
        raise typer.BadParameter(f"rows of {state} were counted by id; name the column with --id")
    return watcher


def _counted(watcher: Monitor, rows: ArrayPredictions, ids: Any, groups: Any) -> None:
    every = slice(None)
    doubt = {"doubt": rows.doubt_of(every)} if rows.stores_doubt else {}
    watcher.update(rows.correct, None if doubt else rows.confidence_of(every), **doubt, ids=ids, groups=groups)


class _Screen:
    """One line an alarm and nothing between, so that a pipe can run for weeks; on a terminal a last line that moves."""

    def __init__(self, watcher: Monitor) -> None:
        from surefoot.render.text import Terminal

        self.m, self.terminal = watcher, Terminal.detect()
        self.told = len(watcher.drift_rows)
        self.alarmed = watcher.alarm
        self.before, self.began = watcher.rows, time.monotonic()
        self.is_live = sys.stderr.isatty()
        self.drawn = 0.0

    def first(self) -> None:
        what = {"overconfident": "overconfidence", "underconfident": "underconfidence"}.get(
            self.m.alternative, "both sides"
        )
        mean = f"mean time between false alarms at least {self.m.mean_time_between_false_alarms:,.0f} rows"
        say(f"\n  watching for {what}; {mean}")
        if self.before:
            say(f"  going on after row {self.before:,}")

    def tell(self) -> None:
        limit = f"{self.m.mean_time_between_false_alarms:,.0f}"
        for row in self.m.drift_rows[self.told :]:
            self.clear()
            evidence = f"{self.m.drift_evidence[row]:,.0f} of {limit}"
            alarm = self.terminal.style("ALARM", "1", "31")
            say(f"  row {row:<12,}{alarm}   evidence {evidence:<22}restarted")
        self.told = len(self.m.drift_rows)
        if self.m.alarm and not self.alarmed:
            self.clear()
            row = self.m.alarm_row or 0
            say(f"  row {row:<12,}the evidence of all rows so far has reached {1 / self.m.level:,.0f}")
            self.alarmed = True
        if self.is_live and time.monotonic() - max(self.drawn, self.began) > 0.2:
            self.drawn = time.monotonic()
            speed = (self.m.rows - self.before) / (self.drawn - self.began) / 1e6
            full = min(20, round(20 * self.m.evidence / self.m.mean_time_between_false_alarms))
            gauge = f"▕{'█' * full:<20}▏   {speed:.1f} M rows/s"
            line = f"  row {self.m.rows:,}   evidence {self.m.evidence:,.0f} of {limit}   {gauge}"
            print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.is_live and self.drawn:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        self.clear()

    def last(self) -> None:
        m = self.m
        alarms, mean = len(m.drift_rows), m.mean_time_between_false_alarms
        expected = m.rows / mean
        import textwrap

        from surefoot.render.numbers import pluralize

        said = f"{pluralize(m.rows, 'row')}, {pluralize(alarms, 'alarm')}."
        if alarms:
            said += f" A calibrated stream would raise at most {_few(expected)} on average"
            said += ", so these alone are no proof of drift." if alarms <= max(1.0, expected) else "."
        said += (
            f" Since the last alarm: evidence {m.evidence:,.0f} of {mean:,.0f}."
            if alarms
            else f" Evidence {m.evidence:,.0f} of {mean:,.0f}."
        )
        said += f" Over all rows: e-value {_evidence(m.e_value)}" + (
            f", reached {1 / m.level:,.0f} at row {m.alarm_row:,}." if m.alarm_row else "."
        )
        say()
        for line in textwrap.wrap(said, 78):
            say(f"  {line}")


def _few(expected: float) -> str:
    return f"{expected:,.0f}" if expected >= 9.5 else f"{max(expected, 0.1):.1f}"


def _evidence(value: float) -> str:
    return f"{value:.3g}"

"""A monitor in words, as a page, and as plain data: where the stream stands, and its episodes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import surefoot
from surefoot._io.documents import strict
from surefoot._io.printable import printable
from surefoot.figures.evidence import change_figure, wealth_figure
from surefoot.figures.labels import significant, typeset
from surefoot.render.html import page
from surefoot.render.markdown import escape
from surefoot.render.numbers import count, pluralize, points, rough_count
from surefoot.render.svg import draw
from surefoot.render.tables import Body, Cell, HtmlTable, Row
from surefoot.render.text import BOLD, Terminal
from surefoot.risk.stream.episodes import Episode
from surefoot.risk.stream.monitor import Monitor

SCHEMA = 1
#: Episodes that are listed as text, the last ones.
_LISTED = 20
_WATCHED = {"overconfident": "overconfidence", "underconfident": "underconfidence", "both": "both sides"}
_COLOURS = {"overconfident": "31", "underconfident": "34"}


def wrap(text: str, terminal: Terminal, indent: str = "") -> Iterator[str]:
    """Lines no wider than the terminal, from 50 columns up, and none beyond what reads well."""
    width = min(max(terminal.width, 50), 82) - 2
    for line in textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False):
        yield f"  {line}"


def watching(m: Monitor) -> str:
    """What is watched for, and how often it is wrong."""
    mean = f"once in {m.mean_time_between_false_alarms:,.0f} rows on average"
    return f"Watching for {_WATCHED[m.alternative]}; on a calibrated stream, drift is detected at most {mean}."


def open_episode(m: Monitor) -> Episode | None:
    """The last episode, if drift that is detected now would belong to it."""
    last = m.episodes[-1] if m.episodes else None
    return last if last is not None and last.includes(m.issued, m.mean_time_between_false_alarms) else None


def headline(m: Monitor) -> str:
    """The answer in one line."""
    if not m.rows:
        return "No labelled rows yet"
    if (episode := open_episode(m)) is not None:
        return f"{episode.side.capitalize()} since about row {episode.onset:,}"
    if m.alarm:
        return f"Not calibrated over all rows: {m.alarm_side}"
    if m.drift_rows:
        return "No drift at present, and no alarm"
    return "No drift and no alarm so far"


def episode_words(episode: Episode) -> str:
    """An episode in one line: since when, how much, and when it was noticed."""
    observed = pluralize(round(episode.observed_errors), "error")
    errors = f"{observed} where {rough_count(episode.expected_errors)} were expected"
    times = f"{significant(episode.oe_ratio, 2)} times, " if episode.expected_errors else ""
    size = f"{times}{points(abs(episode.overstatement))}"
    if episode.alarms == 1:
        detected = f"detected at row {episode.first_alarm:,}"
    else:
        detected = f"detected {episode.alarms:,} times, rows {episode.first_alarm:,} to {episode.last_alarm:,}"
    return f"{episode.side} since about row {episode.onset:,}: {errors} ({size}); {detected}"


def alarm_words(m: Monitor) -> str:
    """When the e-value over all rows reached its limit; empty if it has not."""
    if m.alarm_row is None:
        return ""
    return f"the e-value over all rows reached {1 / m.level:,.0f} at row {m.alarm_row:,}"


def episode_lines(episodes: Sequence[Episode], terminal: Terminal) -> Iterator[str]:
    """One line for each episode, or the few that it takes in a narrow terminal."""
    hidden = len(episodes) - _LISTED
    if hidden > 0:
        yield from wrap(f"{pluralize(hidden, 'earlier episode')} not shown; --json lists all.", terminal)
    for episode in episodes[-_LISTED:]:
        yield from _marked("DRIFT", episode_words(episode), episode.side, terminal)


def alarm_lines(m: Monitor, terminal: Terminal) -> Iterator[str]:
    """The alarm in one line, if there is one, or the few that it takes in a narrow terminal."""
    if words := alarm_words(m):
        yield from _marked("ALARM", words, m.alarm_side, terminal)


def _marked(mark: str, words: str, side: str, terminal: Terminal) -> Iterator[str]:
    first, *rest = wrap(f"{mark}  {terminal.simplify(words)}", terminal, " " * 7)
    yield first.replace(mark, terminal.style(mark, BOLD, _COLOURS[side]), 1)
    yield from rest


def summary(m: Monitor) -> str:
    """Where the stream stands."""
    detected, mean = len(m.drift_rows), m.mean_time_between_false_alarms
    said = f"{pluralize(m.rows, 'row')}: {pluralize(m.errors, 'error')} where {rough_count(m.stated)} were expected."
    if detected:
        allowed = m.issued / mean
        said += f" Drift was detected {_times(detected)}{_in_episodes(m)}."
        said += f" On a calibrated stream it would be detected at most {_few(allowed)} times on average"
        said += ", so this alone is no proof of drift." if detected <= max(1.0, allowed) and not m.alarm else "."
        said += f" Evidence of a change since then: {m.evidence:,.0f} of {mean:,.0f}."
    else:
        said += f" No drift. Evidence of a change: {m.evidence:,.0f} of {mean:,.0f}."
    said += f" Over all rows: e-value {significant(m.e_value)}"
    said += f", alarm at row {m.alarm_row:,}." if m.alarm_row else f" of {1 / m.level:,.0f}, no alarm."
    for number, words in (
        (m.pending, "awaiting labels"),
        (m.unlabelled, "no longer awaited"),
        (m.repeated, "seen before, or labelled too late" if m.unlabelled else "seen before"),
    ):
        said += f" {pluralize(number, 'row')} {words}." if number else ""
    return said


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _in_episodes(m: Monitor) -> str:
    """In how many episodes; a state of an earlier version may hold detections that belong to none."""
    if not m.episodes:
        return ""
    grouped = sum(episode.alarms for episode in m.episodes)
    last = ", the last time" if grouped == 1 else f", the last {grouped:,} times"
    return f"{last if grouped < len(m.drift_rows) else ''} in {pluralize(len(m.episodes), 'episode')}"


def _few(number: float) -> str:
    return f"{number:,.0f}" if number >= 9.5 else f"{max(number, 0.1):.1f}"


def plain(m: Monitor) -> dict[str, Any]:
    """Plain data, fit for JSON."""
    numbers = {
        "rows": m.rows,
        "expected_errors": m.stated,
        "observed_errors": m.errors,
        "e_value": m.e_value,
        "log_e": m.log_e,
        "evidence": m.evidence,
    }
    return {
        "surefoot": "monitor",
        "schema": SCHEMA,
        "headline": headline(m),
        "alternative": m.alternative,
        "level": m.level,
        "mean_time_between_false_alarms": m.mean_time_between_false_alarms,
        **strict(numbers),
        "alarm": m.alarm,
        "alarm_row": m.alarm_row,
        "drift_rows": m.drift_rows,
        "episodes": [
            {
                **strict({**asdict(episode), "oe_ratio": episode.oe_ratio}),
                "overstatement": episode.overstatement,
                "open": episode is open_episode(m),
            }
            for episode in m.episodes
        ],
        "pending": m.pending,
        "unlabelled": m.unlabelled,
        "repeated": m.repeated,
    }


def markdown(m: Monitor, source: str) -> str:
    """Where the stream stands as GitHub-flavoured Markdown: the answer, the numbers, and the last episodes."""
    hidden = len(m.episodes) - _LISTED
    listed = [f"{pluralize(hidden, 'earlier episode')} not shown; --json lists all."] if hidden > 0 else []
    listed += [f"**DRIFT** {escape(episode_words(episode))}" for episode in m.episodes[-_LISTED:]]
    listed += [f"**ALARM** {escape(alarm_words(m))}"] if m.alarm else []
    parts = [f"## {headline(m)}", escape(summary(m)), escape(watching(m))]
    parts += ["\n".join(f"- {line}" for line in listed)] if listed else []
    footer = escape(f"surefoot {surefoot.__version__}, {printable(source, 60)}")
    return "\n\n".join([*parts, f"<sub>{footer}</sub>"]) + "\n"


def report(m: Monitor, source: str) -> str:
    """A page with the evidence over time and the episodes: one HTML file that needs nothing else."""
    figures = [
        {
            "title": "Is it calibrated over all rows?",
            "caption": f"The e-value stays below {1 / m.level:,.0f} with probability {1 - m.level:.3g} or more if the "
            "model is calibrated, however often you look.",
            "chart": draw(wealth_figure(m), "e-value of all rows over time"),
        },
        {
            "title": "Has it changed?",
            "caption": "Evidence of a change since drift was last detected. Marks: first detections of an episode.",
            "chart": draw(change_figure(m), "evidence of a change over time"),
        },
    ]
    columns = [
        ("Since about row", "x n"), ("Side", "x"), ("Expected errors", "x n"), ("Observed", "x n"), ("O/E", "x n"),
        ("First detected at", "x n"), ("Last", "x n"), ("Times", "x n"),
    ]  # fmt: skip
    rows = [
        Row(
            [
                Cell(f"{one.onset:,}"), Cell(one.side), Cell(rough_count(one.expected_errors)),
                Cell(count(one.observed_errors)), Cell(typeset(significant(one.oe_ratio, 2))),
                Cell(f"{one.first_alarm:,}"), Cell(f"{one.last_alarm:,}"), Cell(f"{one.alarms:,}"),
            ]
        )
        for one in reversed(m.episodes)
    ]  # fmt: skip
    return page(
        "monitor.html.jinja",
        source=printable(source, 60),
        headline=headline(m),
        lede=typeset(f"{summary(m)} {watching(m)}"),
        figures=figures,
        episodes=HtmlTable("Episodes, the last one first", columns, [Body(rows)]),
        footer=f"surefoot {surefoot.__version__}, {printable(source, 60)}.",
    )

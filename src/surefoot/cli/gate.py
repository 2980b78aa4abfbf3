"""A gate for continuous integration: what is said about a baseline, and the rules as a JUnit file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from xml.sax import saxutils

from surefoot._io.printable import printable

if TYPE_CHECKING:
    from surefoot.assessment.baseline import BaselineComparison, Change
    from surefoot.assessment.result import Assessment
    from surefoot.cli.rules import Rule
    from surefoot.render.text import Terminal

_NAMES = {"overstatement": "overstatement", "oe_ratio": "O/E", "oe_ratio_above_99": "O/E above 99%"}


def reasons(compared: BaselineComparison) -> list[str]:
    """Why a model is worse than the baseline."""
    found = [_rise(change) for change in compared.changes if change.is_worse]
    if compared.is_newly_risky:
        found.append(f"now {compared.now.verdict}, before: {compared.baseline.verdict}")
    return found


def _rise(change: Change) -> str:
    from surefoot.figures.labels import significant

    name = _NAMES[change.name]
    if change.kind == "difference":
        return f"{name} rose by {100 * change.change:.1f} points (at least {100 * change.at_least:.1f})"
    times, at_least = (significant(value, 2) for value in (change.change, change.at_least))
    return f"{name} is {times} times that of the baseline (at least {at_least} times)"


def _cells(change: Change) -> list[str]:
    """Name, baseline, now, change and its lower limit."""
    from surefoot.figures.labels import significant

    if change.kind == "difference":
        numbers = (f"{100 * value:.1f} points" for value in (change.baseline, change.now))
        rises = (f"{100 * value:+.1f} points" for value in (change.change, change.at_least))
    else:
        numbers = (significant(value) for value in (change.baseline, change.now))
        rises = (f"x {significant(value, 2)}" for value in (change.change, change.at_least))
    return [_NAMES[change.name], *numbers, *rises]


def conclusion(compared: BaselineComparison) -> str:
    """The answer in one sentence or two."""
    if compared.is_worse:
        return f"Worse than the baseline: {'; '.join(reasons(compared))}."
    before, now = compared.baseline.verdict, compared.now.verdict
    also = f" The verdict is {now} and was {before}." if now != before else ""
    risen = [change for change in compared.changes if change.is_significant]
    small = [_NAMES[change.name] for change in risen if change.change < change.matters_from]
    low = [_NAMES[change.name] for change in risen if change.change >= change.matters_from]
    why = [f"{_listed(small)} rose, but by less than matters"] if small else []
    if low:
        why.append(f"{_listed(low)} rose, but errors now exceed the expected ones by no more than chance explains")
    return f"Not worse than the baseline: {'; '.join(why) or 'nothing rose by more than chance explains'}.{also}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def lines(compared: BaselineComparison, terminal: Terminal) -> Iterator[str]:
    """The comparison as text, to follow the assessment."""
    width = min(max(terminal.width, 50), 80) - 4
    head = f"Baseline: {compared.baseline.risk.n:,} rows of {printable(compared.baseline.source, 40)}"
    yield f"  {terminal.style(head, '1')}"
    table = [["", "baseline", "now", "change", "at least"], *(_cells(change) for change in compared.changes)]
    if width >= 70:
        for row in table:
            yield f"    {row[0]:<16}" + "".join(f"{cell:>14}" for cell in row[1:])
    else:
        for name, before, now, rise, at_least in table[1:]:
            yield f"    {name}: {before} -> {now}"
            yield f"      {rise}, at least {at_least}"
    for line in textwrap.wrap(conclusion(compared), width):
        yield f"  {line}"


def markdown(compared: BaselineComparison) -> str:
    """The comparison as a section of Markdown."""
    from surefoot.render.markdown import escape

    table_rows = [["", "baseline", "now", "change", "at least"], ["---", *["---:"] * 4], *map(_cells, compared.changes)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in table_rows)
    rows_of = f"Baseline: {compared.baseline.risk.n:,} rows of {escape(printable(compared.baseline.source, 60))}."
    return f"### Baseline\n\n{conclusion(compared)}\n\n{table}\n\n{rows_of}\n"


def rules_as_markdown(rules: Sequence[Rule], failures: Sequence[str]) -> str:
    """Which rules hold, as a section of Markdown."""
    from surefoot.render.markdown import escape

    rows = [
        f"- {'FAILED' if why else 'passed'}: {escape(printable(why or rule.text, 600))}"
        for rule, why in zip(rules, failures, strict=True)
    ]
    return "\n".join(["### Rules", "", *rows, ""])


def junit(a: Assessment, rules: Sequence[Rule], failures: Sequence[str]) -> str:
    """Each rule as a test case; ``failures`` says why a rule holds, or nothing."""
    from surefoot.render.wording import headline

    failed = sum(bool(why) for why in failures)
    suite = f'name="surefoot" tests="{len(rules)}" failures="{failed}" errors="0" skipped="0"'
    cases = []
    for rule, why in zip(rules, failures, strict=True):
        name = f"name={_quoted(f'fail on {rule.text}')} classname={_quoted(f'surefoot.{a.source}')}"
        if why:
            detail = saxutils.escape(printable(f"{headline(a)}: {why}", 600))
            cases.append(
                f"    <testcase {name}>\n      <failure message={_quoted(why)}>{detail}</failure>\n    </testcase>"
            )
        else:
            cases.append(f"    <testcase {name}/>")
    body = "\n".join(cases)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {suite}>\n  <testsuite {suite}>\n{body}\n'
        "  </testsuite>\n</testsuites>\n"
    )


def _quoted(text: str) -> str:
    """Text from outside as an attribute: XML takes no control characters."""
    return saxutils.quoteattr(printable(text, 600))

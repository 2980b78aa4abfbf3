"""A comparison in plain text, and as a page: models in columns, or in rows where there are many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import surefoot
from surefoot._io.printable import printable
from surefoot.assessment.compare import Comparison, Riskier
from surefoot.assessment.result import Assessment
from surefoot.figures.labels import area, significant, typeset
from surefoot.render.html import page
from surefoot.render.numbers import percent, points, pvalue, ratio, round_down, score, signed_percent
from surefoot.render.shared_wording import share_of_rows
from surefoot.render.tables import Body, Cell, HtmlTable, Row
from surefoot.render.text import BOLD, DIM, Terminal
from surefoot.render.wording import deciding_pvalue, headline
from surefoot.risk.differences import LEAST
from surefoot.risk.result import RiskResult

_MOST_COLUMNS = 4
#: What many models are not shown in: there is no room.
_NOT_ATTEMPTED = "not attempted"
_NARROW = ("gain", "CSR at least", "log loss", "Brier", _NOT_ATTEMPTED)
#: Section, name, how to read it off an assessment, the difference it has, and which way is better.
_LINES: list[tuple[str, str, Any, str, str]] = [
    ("Risk", "O/E", lambda a: significant(a.risk.oe_ratio), "log_oe", ""),
    ("Risk", "overstatement", lambda a: points(a.risk.overstatement), "overstatement", ""),
    ("Risk", "p-value", lambda a: pvalue(deciding_pvalue(a)), "", ""),
    ("Risk", "CSR", lambda a: significant(a.risk.csr), "csr", ""),
    ("Risk", "CSR at least", lambda a: round_down(a.risk.csr_lower), "", ""),
    ("Risk", "deflation", lambda a: percent(a.risk.deflation, zero="0%"), "", ""),
    ("Value", _NOT_ATTEMPTED, lambda a: _not_attempted(a), "", ""),
    ("Value", "accuracy", lambda a: percent(_metric(a, "accuracy")), "accuracy", "higher"),
    ("Value", "cwA", lambda a: percent(_metric(a, "cw_accuracy")), "cw_accuracy", "higher"),
    ("Value", "gain", lambda a: signed_percent(_metric(a, "gain")), "", ""),
    ("Value", "AUC", lambda a: area(a.metrics.get("auc", math.nan)), "auc", "higher"),
    ("Value", "cwAUC", lambda a: area(a.metrics.get("cw_auc", math.nan)), "cw_auc", "higher"),
    ("Scores", "ECE", lambda a: score(a.metrics.get("ece", math.nan)), "", ""),
    ("Scores", "Brier", lambda a: score(a.metrics.get("brier", math.nan)), "brier", "lower"),
    ("Scores", "log loss", lambda a: score(a.metrics.get("log_loss", math.nan)), "log_loss", "lower"),
]
#: The same for events, and for classes.
_EVENT_LINES: list[tuple[str, str, Any, str, str]] = [
    ("Calibration", "O/E", lambda a: ratio(a.risk.oe_ratio, *a.risk.oe_interval), "log_oe", ""),
    ("Calibration", "difference", lambda a: points(a.risk.overstatement), "overstatement", ""),
    ("Calibration", "in the large", lambda a: significant(_metric(a, "calibration_in_the_large")), "", ""),
    ("Calibration", "slope", lambda a: significant(_metric(a, "calibration_slope")), "", ""),
    ("Calibration", "ICI", lambda a: score(_metric(a, "ici")), "", ""),
    ("Calibration", "ECE", lambda a: score(_metric(a, "ece")), "", ""),
    ("Calibration", "p-value", lambda a: pvalue(deciding_pvalue(a)), "", ""),
    ("Discrimination", "C-statistic", lambda a: area(_metric(a, "auc")), "auc", "higher"),
    ("Scores", "Brier", lambda a: score(_metric(a, "brier")), "brier", "lower"),
    ("Scores", "scaled Brier", lambda a: score(_metric(a, "scaled_brier")), "", ""),
    ("Scores", "log loss", lambda a: score(_metric(a, "log_loss")), "log_loss", "lower"),
    ("Rows", _NOT_ATTEMPTED, lambda a: _not_attempted(a), "", ""),
]
#: Of classes, sums over all of them say nothing.
_CLASS_LINES = [line for line in _EVENT_LINES if line[1] not in ("O/E", "difference", "in the large")]


def _not_attempted(a: Assessment) -> str:
    return f"{a.not_attempted:,} ({percent(a.share_not_attempted)})" if a.not_attempted else "0"


def _metric(a: Assessment, name: str) -> float:
    return a.metrics.get(name, math.nan)


def _lines(c: Comparison) -> list[tuple[str, str, Any, str, str]]:
    """What is shown, by what all of them are about."""
    views = {a.view for a in c.assessments.values()}
    return {"event": _EVENT_LINES, "classes": _CLASS_LINES}.get(views.pop() if len(views) == 1 else "", _LINES)


def render(c: Comparison, terminal: Terminal | None = None) -> str:
    """The whole text."""
    terminal = terminal or Terminal.detect(colour=False)
    lines = terminal.wrap(c.pairing)
    for name, a in c.assessments.items():
        for warning in a.warnings:
            lines += ["", *terminal.wrap(f"Warning: {printable(name, 24)}: {warning}", hanging=2)]
    lines += ["", *_body(c, terminal)]
    for paragraph in filter(None, (closing(c), *notes(c))):
        lines += ["", *terminal.wrap(paragraph)]
    return terminal.simplify("\n".join(f"  {line}".rstrip() for line in lines))


def _body(c: Comparison, terminal: Terminal) -> list[str]:
    """Models in columns; more than four in rows; one under the other where neither fits."""
    ways = (_columns, _columns_alone) if len(c.assessments) <= _MOST_COLUMNS else (_rows,)
    for way in ways:
        drawn = list(way(c, terminal))
        plain = list(way(c, Terminal(symbols=terminal.symbols, width=terminal.width)))
        if max(map(len, plain)) <= max(terminal.columns, terminal.width) - 2:
            return drawn
    return list(_blocks(c, terminal))


def lines(c: Comparison) -> list[tuple[str, str, list[str]]]:
    """Section, name, and the value of each model, of every indicator that any of them has."""
    return [
        (group, name, [read(a) for a in c.assessments.values()])
        for group, name, read, _, _ in _lines(c)
        if _has_values(c, name)
    ]


def all_differences(c: Comparison) -> list[tuple[str, str, str]]:
    """Model, indicator, and how it differs from the first model."""
    return [
        (printable(other, 40), name, words)
        for other in list(c.assessments)[1:]
        for _, name, _, key, _ in _lines(c)
        if (words := difference(c, other, key))
    ]


def _columns(c: Comparison, terminal: Terminal) -> Iterator[str]:
    """Models in columns, and of two the differences beside them."""
    is_pair = len(c.assessments) == 2
    apart = {}
    if is_pair and all_differences(c):
        other = list(c.assessments)[1]
        apart = {name: difference(c, other, key) for _, name, _, key, _ in _lines(c) if key}
        apart[""] = f"{printable(other, 24)} - {printable(c.first, 24)}, {level(c)}"
    yield from _table(c, terminal, apart)
    if not is_pair:
        yield from _differences(c, terminal)


def _columns_alone(c: Comparison, terminal: Terminal) -> Iterator[str]:
    """Models in columns, verdicts before and differences after them."""
    for name, a in c.assessments.items():
        yield from terminal.wrap(f"{printable(name, 24)}: {headline(a).lower()}", hanging=2)
    yield ""
    yield from _table(c, terminal, {}, with_verdict=False)
    yield from _differences(c, terminal)


def _blocks(c: Comparison, terminal: Terminal) -> Iterator[str]:
    """Models one under the other."""
    for i, (name, a) in enumerate(c.assessments.items()):
        for line in terminal.wrap(f"{printable(name, 24)}: {headline(a).lower()}", hanging=2):
            yield terminal.style(line, BOLD)
        for _, indicator, values in lines(c):
            yield f"  {indicator:<14}{terminal.simplify(values[i]):>12}"
        if i < len(c.assessments) - 1:
            yield ""
    yield from _differences(c, terminal)


def _table(c: Comparison, terminal: Terminal, apart: Mapping[str, str], *, with_verdict: bool = True) -> Iterator[str]:
    names = [printable(name, 24) for name in c.assessments]
    verdicts = [_verdict_words(a) for a in c.assessments.values()]
    width = 2 + max(12, *map(len, [*names, *(verdicts if with_verdict else ())]))

    def beside(name: str) -> str:
        return f"      {apart[name]}" if apart.get(name) else ""

    yield f"{'':<16}{''.join(f'{name:>{width}}' for name in names)}{beside('')}"
    if with_verdict:
        yield f"{'verdict':<16}" + "".join(f"{words:>{width}}" for words in verdicts)
    section = ""
    for group, name, read, key, better in _lines(c):
        if not _has_values(c, name):
            continue
        if group != section:
            yield ""
            yield terminal.style(group, BOLD)
            section = group
        best = _best(c, key, better) if len(c.assessments) == 2 else None
        values = "".join(
            f"{'':<{width - len(value)}}{terminal.style(value, BOLD) if best == i else value}"
            for i, value in enumerate(terminal.simplify(read(a)) for a in c.assessments.values())
        )
        yield f"  {name:<14}{values}{beside(name)}"


def _differences(c: Comparison, terminal: Terminal) -> Iterator[str]:
    if len(c.assessments) == 1 or not all_differences(c):
        return
    yield ""
    for line in terminal.wrap(f"Differences, each model minus {printable(c.first, 24)}, {level(c)}"):
        yield terminal.style(line, BOLD)
    width = 2 + max(len(printable(name, 24)) for name in c.assessments)
    is_narrow = terminal.columns - 2 < 2 + width + 15 + 34
    before = ""
    for other, name, words in all_differences(c):
        if is_narrow:
            if other != before:
                yield f"  {printable(other, 24)}"
            yield f"    {name:<15}{terminal.simplify(words)}"
        else:
            yield f"  {printable(other, 24):<{width}}{name:<15}{terminal.simplify(words)}"
        before = other


def _rows(c: Comparison, terminal: Terminal) -> Iterator[str]:
    """More than four models: models become rows, indicators columns."""
    kept = [(name, read) for _, name, read, _, _ in _lines(c) if _has_values(c, name) and name not in _NARROW]
    width = max(10, *(len(printable(name, 24)) + 2 for name in c.assessments))
    yield terminal.style(f"{'':<{width}}" + "".join(f"{name:>12}" for name, _ in kept) + "   verdict", DIM)
    for name, a in c.assessments.items():
        numbers = "".join(f"{terminal.simplify(read(a)):>12}" for _, read in kept)
        yield f"{printable(name, 24):<{width}}{numbers}   {_verdict_words(a)}"


def _verdict_words(a: Assessment) -> str:
    if a.verdict == "no evidence against calibration":
        return "no evidence"
    return a.verdict if a.degree is None else f"{a.degree} {a.verdict}"


#: The metric behind a line that some models do not have.
_NEEDED = {
    "AUC": "auc",
    "cwAUC": "cw_auc",
    "C-statistic": "auc",
    "ECE": "ece",
    "ICI": "ici",
    "in the large": "calibration_in_the_large",
    "slope": "calibration_slope",
    "Brier": "brier",
    "scaled Brier": "scaled_brier",
    "log loss": "log_loss",
}


def _has_values(c: Comparison, name: str) -> bool:
    needed = _NEEDED.get(name)
    if name == _NOT_ATTEMPTED:
        return any(a.not_attempted for a in c.assessments.values())
    return needed is None or any(needed in a.metrics for a in c.assessments.values())


def difference(c: Comparison, other: str, key: str) -> str:
    """Another model minus the first, and how sure that is."""
    if key == "csr":
        value = c.csr[other].value
        return "—" if math.isnan(value) else f"{'+' if value >= 0 else ''}{significant(value)}"
    interval = c.values.get(other, {}).get(key)
    if interval is None or math.isnan(interval.value):
        return ""
    low, high, value = interval.low, interval.high, interval.value
    if key == "log_oe":
        # a difference of logarithms is a ratio
        if interval.is_absent:
            return ""
        return f"× {significant(math.exp(value))} ({significant(math.exp(low))} to {significant(math.exp(high))})"
    digits, unit, scale = (4, "", 1) if key in ("auc", "cw_auc", "log_loss", "brier") else (1, " points", 100)
    size, *ends = (_signed(scale * number, digits) for number in (value, low, high))
    if interval.is_absent:
        return f"{size}{unit}" if math.isfinite(value) else ""
    return f"{size} ({' to '.join(ends)}){unit}"


def _signed(value: float, digits: int) -> str:
    """A difference with its sign, which zero has not."""
    text = f"{value:+.{digits}f}"
    return text if text.strip("+-0.") else text[1:]


def level(c: Comparison) -> str:
    """The confidence level of the intervals."""
    return f"{100 * (1 - c.level):.3g}% CI"


def _best(c: Comparison, key: str, better: str) -> int | None:
    """Which of two is better, where better is defined and the interval of the difference leaves out 0."""
    interval = c.values.get(list(c.assessments)[1], {}).get(key)
    if not better or interval is None or not (interval.low > 0 or interval.high < 0):
        return None
    return 1 if (interval.low > 0) == (better == "higher") else 0


def closing(c: Comparison) -> str:
    """Which of the others are riskier than the first, and which less: adjusted for their number."""
    sentences = []
    for other, found in c.riskier.items():
        if not found.pvalue_adjusted <= c.level:
            continue
        name, first = printable(other, 24), printable(c.first, 24)
        one, two = (name, first) if found.difference > 0 else (first, name)
        apart, p = points(abs(found.difference)), _describe_pvalue(c, found)
        worse = c[other if found.difference > 0 else c.first].risk.overstatement
        if c[c.first].view == "event":
            sentences.append(_event_closing(c, one, two, other, f"{apart} more ({p})"))
        elif worse > 0:
            sentences.append(f"{one} is riskier than {two}: confidence exceeds accuracy by {apart} more ({p}).")
        else:
            finding = f"mean confidence minus accuracy is {apart} more"
            sentences.append(f"{one} is less cautious than {two}: {finding} ({p}).")
    if sentences or not c.riskier:
        return " ".join(sentences)
    if c[c.first].view == "event":
        (found, *others) = c.riskier.values()
        p = "" if others else f" ({_describe_pvalue(c, found)})"
        return f"No evidence that any predicts higher than {printable(c.first, 24)}, or lower{p}."
    if len(c.assessments) == 2:
        (found,) = c.riskier.values()
        return f"No evidence that either overstates its confidence more than the other ({_describe_pvalue(c, found)})."
    return f"No evidence that any overstates its confidence more, or less, than {printable(c.first, 24)}."


def _event_closing(c: Comparison, higher: str, lower: str, other: str, apart: str) -> str:
    """Which of two models is better calibrated on average; where that cannot be said, which predicts higher.

    What was tested is which predicts higher. That the higher is worse takes that it is shown to be too high by itself.
    """
    better, worse = sorted((c.first, other), key=lambda name: abs(c[name].risk.overstatement))
    finding = f"mean prediction minus observed share is {apart}"
    if _is_shown_worse(c[worse].risk, c[better].risk):
        ratios = " against ".join(ratio(c[name].risk.oe_ratio, *c[name].risk.oe_interval) for name in (better, worse))
        finding = f"O/E {ratios}; {higher} predicts higher, its {finding}"
        return f"{printable(better, 24)} is better calibrated on average than {printable(worse, 24)}: {finding}."
    return f"{higher} predicts higher than {lower}: {finding}."


def _is_shown_worse(worse: RiskResult, better: RiskResult) -> bool:
    """Whether a model is off on average, and another is less so: on the same side, or nearer 0 wherever it may be."""
    low, high = worse.overstatement_interval
    if not (low > 0 or high < 0):
        return False
    if (worse.overstatement > 0) == (better.overstatement > 0):
        return True
    least, most = better.overstatement_interval
    return least <= 0 <= most and max(-least, most) < min(abs(low), abs(high))


def notes(c: Comparison) -> list[str]:
    """How files were read, which differences have approximate intervals, or none, and why."""
    lines = []
    names_by_note: dict[str, list[str]] = {}
    for name, a in c.assessments.items():
        for note in a.notes:
            names_by_note.setdefault(note, []).append(printable(name, 24))
    for note, names in names_by_note.items():
        lines.append(f"Note: {note}" if len(names) == len(c.assessments) else f"Note: {', '.join(names)}: {note}")
    skipped = {name: a for name, a in c.assessments.items() if a.not_attempted}
    if skipped:
        listed = ", ".join(f"{printable(name, 24)} {share_of_rows(a)}" for name, a in skipped.items())
        lines.append(
            f"Note: not attempted: {listed}. These rows count as neither right nor wrong; the numbers of a model are "
            "of its other rows."
        )
    names_of = {key: name for _, name, _, key, _ in _lines(c) if key}
    for other, values in c.values.items():
        by_note: dict[str, list[str]] = {}
        for key, interval in values.items():
            if interval.note and key in names_of:
                by_note.setdefault(interval.note, []).append(names_of[key])
        name = f"{printable(other, 24)}: " if len(c.values) > 1 else ""
        lines += [f"Note: {name}{', '.join(names)}: {note}" for note, names in by_note.items()]
    return lines


def _describe_pvalue(c: Comparison, found: Riskier) -> str:
    p = "< 1e-12" if found.pvalue <= LEAST else pvalue(found.pvalue_adjusted)
    return f"p {p}" if len(c.riskier) == 1 else f"p {p}, adjusted"


def report(c: Comparison) -> str:
    """The page."""
    names = [("Indicator", "x"), *((printable(name, 40), "x n") for name in c.assessments)]
    bodies = []
    groups = list(dict.fromkeys(group for group, *_ in _lines(c)))
    for group in groups:
        rows = (
            [Row([Cell("verdict"), *(Cell(_verdict_words(a)) for a in c.assessments.values())])]
            if group == groups[0]
            else []
        )
        for section, name, read, _, _ in _lines(c):
            if section == group and _has_values(c, name):
                rows.append(Row([Cell(name), *(Cell(typeset(read(a))) for a in c.assessments.values())]))
        bodies += [Body(rows, f"={group}", group)] if rows else []
    rows = [Row([Cell(model), Cell(name), Cell(typeset(words))]) for model, name, words in all_differences(c)]
    columns = [("Model", "t"), ("Of", "t"), (f"It minus {printable(c.first, 40)}, {level(c)}", "x")]
    return page(
        "compare.html.jinja",
        pairing=f"{c.pairing[0].upper()}{c.pairing[1:]}",
        warnings=[
            typeset(f"{printable(name, 40)}: {warning}") for name, a in c.assessments.items() for warning in a.warnings
        ],
        notes=[typeset(note) for note in notes(c)],
        footer=f"surefoot {surefoot.__version__}, {date.today().isoformat()}",
        models=HtmlTable("Models side by side", names, bodies, "models"),
        differences=HtmlTable("Differences", columns, [Body(rows)]),
        closing=typeset(closing(c)),
        has_csr=any(name == "CSR" for _, name, *_ in _lines(c)),
        level=level(c).removesuffix(" CI"),
        names=" · ".join(printable(name, 40) for name in c.assessments),
    )

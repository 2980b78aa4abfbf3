"""The pages of the service, which load nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import surefoot
from surefoot.figures.evidence import change_figure, wealth_figure
from surefoot.figures.labels import significant, typeset
from surefoot.figures.reliability import reliability_figure
from surefoot.render.html import page
from surefoot.render.monitor_view import headline, open_episode, summary, watching
from surefoot.render.numbers import count, pluralize, rough_count
from surefoot.render.svg import draw
from surefoot.render.tables import Body, Cell, HtmlTable, Row
from surefoot.risk.stream.monitor import Monitor
from surefoot.service.following import by_day, by_hour, total
from surefoot.service.store import Stream

if TYPE_CHECKING:
    from surefoot.service.service import Service

#: Days and slices that are listed.
_MOST = 30


def index_page(models: Sequence[tuple[Stream, Monitor]], url: str) -> str:
    """All models with where they stand, those that need a look first."""
    from markupsafe import Markup

    off = [(stream, monitor) for stream, monitor in models if needs_a_look(monitor)]
    columns = [
        ("Model", "x"), ("Where it stands", "x"), ("Predictions", "x n"), ("Labelled", "x n"), ("Pending", "x n"),
        ("Expected errors", "x n"), ("Observed", "x n"), ("e-value", "x n"),
    ]  # fmt: skip
    rows = [
        Row(
            [
                # names have letters, digits, '.', '_' and '-' only
                Cell(Markup('<a href="/models/{0}/{1}">{0}/{1}</a>').format(stream.model, stream.version)),
                Cell(headline(monitor)),
                Cell(f"{stream.counts.places + stream.counts.tally_only:,}"),
                Cell(f"{stream.counts.labelled:,}"),
                Cell(f"{monitor.pending:,}"),
                Cell(rough_count(monitor.stated)),
                Cell(count(monitor.errors)),
                Cell(typeset(significant(monitor.e_value))),
            ]
        )
        for stream, monitor in sorted(models, key=lambda one: not needs_a_look(one[1]))
    ]  # fmt: skip
    levels = {monitor.level for _, monitor in models} or {0.05}
    return page(
        "service_models.html.jinja",
        source=url,
        headline=_models_headline(len(models), len(off)),
        lede="" if not models else "Each line counts every label that has been stored.",
        models=HtmlTable("Models", columns, [Body(rows)]),
        level=f"{max(levels):.0%}",
        example=_example(url),
        footer=f"surefoot {surefoot.__version__}.",
    )


def _models_headline(models: int, off: int) -> str:
    if not models:
        return "No predictions yet"
    if not off:
        return f"{pluralize(models, 'model')}, no alarm"
    return f"{off} of {pluralize(models, 'model')} {'needs' if off == 1 else 'need'} a look"


def needs_a_look(monitor: Monitor) -> bool:
    """Whether there is an alarm, or drift that goes on."""
    return monitor.alarm or open_episode(monitor) is not None


def _example(url: str) -> str:
    return (
        f"curl {url}v1/models/my-model/1/predictions -H 'Authorization: Bearer TOKEN' "
        '-H \'Content-Type: application/json\' -d \'{"id": "a", "confidence": 0.9}\''
    )


def stream_page(service: Service, stream: Stream) -> str:
    """One model: its evidence, errors by day, reliability, slices and what awaits labels."""
    monitor = service.monitor(stream)
    found = total(service.database, stream)
    hours = by_hour(service.database, stream)
    sections: list[dict[str, Any]] = [_evidence(monitor)]
    if found is not None:
        assessment = surefoot.assess(found)
        if assessment.reliability:
            chart = draw(reliability_figure({"all": assessment.reliability}), "observed accuracy by confidence")
            caption = f"{pluralize(assessment.risk.n, 'labelled prediction')}: {assessment.verdict}."
            figure = {"title": "Does accuracy match confidence?", "caption": caption, "chart": chart}
            sections.append({"title": "Reliability", "figures": [figure], "tables": [], "note": ""})
        sections.append(_days(hours))
    if any(part for part, *_ in hours):
        sections.append(_slices(hours))
    sections.append(_labels(service, stream, monitor))
    name = f"{stream.model}/{stream.version}"
    return page(
        "service_model.html.jinja",
        source=name,
        base=f"/v1/models/{name}",
        headline=headline(monitor),
        lede=typeset(f"{summary(monitor)} {watching(monitor)}"),
        sections=sections,
        footer=f"surefoot {surefoot.__version__}.",
    )


def _evidence(m: Monitor) -> dict[str, Any]:
    figures = [
        {
            "title": "Is it calibrated over all predictions?",
            "caption": f"The e-value stays below {1 / m.level:,.0f} with probability {1 - m.level:.3g} or more if the "
            "model is calibrated, however often you look.",
            "chart": draw(wealth_figure(m), "e-value of all predictions over time"),
        },
        {
            "title": "Has it changed?",
            "caption": "Evidence of a change since drift was last detected. Marks: first detections of an episode.",
            "chart": draw(change_figure(m), "evidence of a change over time"),
        },
    ]
    return {"title": "Evidence over time", "figures": figures, "tables": [], "note": ""}


def _days(hours: Sequence[tuple[str, int, int, int, float, int]]) -> dict[str, Any]:
    days = by_day(list(hours))[-_MOST:]
    columns = [("Day (UTC)", "x"), ("Labelled", "x n"), ("Expected errors", "x n"), ("Observed", "x n"), ("O/E", "x n")]
    rows = [_row(day["day"], day["rows"], day["expected_errors"], day["observed_errors"]) for day in reversed(days)]
    table = HtmlTable("Errors by day, the last first", columns, [Body(rows)])
    note = "By the day on which a prediction came, whenever its label did."
    return {"title": "Expected and observed errors by day", "figures": [], "tables": [table], "note": note}


def _slices(hours: Sequence[tuple[str, int, int, int, float, int]]) -> dict[str, Any]:
    totals: dict[str, list[float]] = {}
    for part, _, _, number, expected, observed in hours:
        held = totals.setdefault(part, [0, 0.0, 0])
        held[0] += number
        held[1] += expected
        held[2] += observed
    most = sorted(totals.items(), key=lambda one: -one[1][0])
    columns = [("Slice", "x"), ("Labelled", "x n"), ("Expected errors", "x n"), ("Observed", "x n"), ("O/E", "x n")]
    rows = [
        _row(part or "(no slice)", int(number), expected, int(observed))
        for part, (number, expected, observed) in most[:_MOST]
    ]
    hidden = len(most) - len(rows)
    note = "Totals only: no test is run on slices here, so a single ratio far from 1 may be chance."
    note += f" {pluralize(hidden, 'smaller slice')} not shown." if hidden > 0 else ""
    return {"title": "Slices", "figures": [], "tables": [HtmlTable("Slices", columns, [Body(rows)])], "note": note}


def _row(name: str, rows: int, expected: float, observed: int) -> Row:
    ratio = typeset(significant(observed / expected, 2)) if expected else ""
    return Row([Cell(name), Cell(f"{rows:,}"), Cell(rough_count(expected)), Cell(count(observed)), Cell(ratio)])


def _labels(service: Service, stream: Stream, m: Monitor) -> dict[str, Any]:
    counts = service.find(stream.model, stream.version).counts
    issued = counts.places + counts.tally_only
    lines = (
        ("Predictions", issued),
        ("Labelled", counts.labelled),
        ("Awaiting their label", m.pending),
        ("Label did not come in time", m.unlabelled),
        ("Label came before the prediction: in the totals, never bet on", counts.tally_only),
        ("Labels whose prediction has not come", counts.early),
        ("Rows that came again, not counted", counts.repeated),
    )
    rows = [Row([Cell(words), Cell(f"{number:,}")]) for words, number in lines]
    note = (
        f"A label is awaited for {m.label_window:,} further predictions. Until it comes, its prediction counts as no "
        "surprise, so evidence can only be understated."
    )
    table = HtmlTable("Labels", [("", "x"), ("Rows", "x n")], [Body(rows)])
    return {"title": "Labels", "figures": [], "tables": [table], "note": note}

"""The pages of the service, which load nothing from elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import surefoot
from surefoot.assessment.result import Assessment
from surefoot.decisions.expected import LIMIT, Expected
from surefoot.figures.evidence import change_figure, wealth_figure
from surefoot.figures.labels import significant, typeset
from surefoot.figures.reliability import reliability_figure
from surefoot.render.expectation import lines as expected_lines
from surefoot.render.expectation import shift_words
from surefoot.render.expectation import summary as expected_summary
from surefoot.render.html import page
from surefoot.render.monitor_view import open_episode, watching
from surefoot.render.next_steps import next_steps
from surefoot.render.numbers import count, pluralize, rough_count, round_down, round_up
from surefoot.render.svg import draw
from surefoot.render.tables import Body, Cell, HtmlTable, Row
from surefoot.risk.stream.episodes import Episode
from surefoot.risk.stream.monitor import Monitor
from surefoot.risk.stream.slices import limit
from surefoot.service.following import Follower
from surefoot.service.kept import METHOD, NAME, Suggestion, hour_of
from surefoot.service.reference import UNKNOWN
from surefoot.service.refused import Refused
from surefoot.service.standing import headline, summary
from surefoot.service.store import Stream
from surefoot.service.totals import DAY, by_day, by_hour, by_slice, total

if TYPE_CHECKING:
    from surefoot.service.service import Service

#: Days and slices that are listed.
_MOST = 30


@dataclass(frozen=True)
class Line:
    """A model in the list of all: its cells, and whether it needs a look."""

    cells: tuple[Cell, ...]
    needs_a_look: bool
    level: float


def line_of(stream: Stream, follower: Follower) -> Line:
    """A model as the list shows it; call it within ``follower.looking()``."""
    from markupsafe import Markup

    monitor, flagged = follower.monitor, sum(part.is_flagged for part in follower.parts.look())
    stands = headline(stream.counts, monitor) + (f"; {pluralize(flagged, 'slice')} flagged" if flagged else "")
    cells = (
        # names have letters, digits, '.', '_' and '-' only
        Cell(Markup('<a href="/models/{0}/{1}">{0}/{1}</a>').format(stream.model, stream.version)),
        Cell(stands),
        Cell(f"{stream.counts.places + stream.counts.tally_only:,}"),
        Cell(f"{stream.counts.labelled:,}"),
        Cell(f"{monitor.pending:,}"),
        Cell(rough_count(monitor.stated)),
        Cell(count(monitor.errors)),
        Cell(typeset(significant(monitor.e_value))),
    )
    is_off = monitor.alarm or open_episode(monitor) is not None or flagged > 0
    return Line(cells, is_off, monitor.level)


def index_page(models: Sequence[Line], url: str) -> str:
    """All models with where they stand, those that need a look first."""
    columns = [
        ("Model", "x"), ("Where it stands", "x"), ("Predictions", "x n"), ("Labelled", "x n"), ("Pending", "x n"),
        ("Expected errors", "x n"), ("Observed", "x n"), ("e-value", "x n"),
    ]  # fmt: skip
    rows = [Row(list(line.cells)) for line in sorted(models, key=lambda line: not line.needs_a_look)]
    return page(
        "service_models.html.jinja",
        source=url,
        headline=_models_headline(len(models), sum(line.needs_a_look for line in models)),
        lede=""
        if not models
        else "Expected and observed errors are those of predictions whose label came "
        "after them; the page of a model counts all.",
        models=HtmlTable("Models", columns, [Body(rows)], "named"),
        level=f"{max((line.level for line in models), default=0.05):.0%}",
        example=_example(url),
        footer=f"surefoot {surefoot.__version__}.",
    )


def _models_headline(models: int, off: int) -> str:
    if not models:
        return "No predictions yet"
    if not off:
        return f"{pluralize(models, 'model')}, no alarm"
    return f"{off} of {pluralize(models, 'model')} {'needs' if off == 1 else 'need'} a look"


def _example(url: str) -> str:
    return (
        f"curl {url}v1/models/my-model/1/predictions -H 'Authorization: Bearer TOKEN' "
        '-H \'Content-Type: application/json\' -d \'{"id": "a", "confidence": 0.9}\''
    )


def stream_page(service: Service, stream: Stream) -> str:
    """One model: its evidence, errors by day, reliability, slices, and what awaits labels."""
    found = total(service.database, stream)
    hours = by_hour(service.database, stream)
    known = service.reference(stream)
    with service.looking(stream) as follower:
        m = follower.monitor
        counts = service.find(stream.model, stream.version).counts
        episode, is_off = open_episode(m), m.alarm or open_episode(m) is not None
        evidence, answer, lede = _evidence(m), headline(counts, m), typeset(f"{summary(counts, m)} {watching(m)}")
        slices, labels = _slices(follower, by_slice(service.database, stream)), _labels(service, stream, m)
    sections: list[dict[str, Any]] = [evidence]
    name = f"{stream.model}/{stream.version}"
    rows = f"/v1/models/{name}/rows"
    if found is not None:
        recent = None if episode is None else _since(service, stream, episode)
        shown = {"over all labelled predictions": surefoot.assess(found)}
        if recent is not None:
            since = time.strftime("%Y-%m-%dT%H", time.gmtime(recent[0] * 3600))
            shown = {f"since {since.replace('T', ' ')}:00 UTC": recent[1], **shown}
            rows += f"?since={since}"
        if known is not None:
            shown["in the reference"] = known.assessment
        suggested = None
        if is_off or _is_miscalibrated(next(iter(shown.values()))):
            suggested = service.suggestion(stream, 0 if recent is None else recent[0])
        sections.append(_reliability(shown) | _advice(shown, suggested, rows, is_off=is_off))
        sections.append(_days(hours))
    if slices is not None:
        sections.append(slices)
    sections.append(labels)
    if known is not None:
        sections.append(_expected(service.expected(stream, known)))
    return page(
        "service_model.html.jinja",
        source=name,
        base=f"/v1/models/{name}",
        headline=answer,
        lede=lede,
        sections=sections,
        footer=f"surefoot {surefoot.__version__}.",
    )


def _since(service: Service, stream: Stream, episode: Episode) -> tuple[int, Assessment] | None:
    """The hour in which a change began, or its day, and the rows since then; None if none of them is kept."""
    hour = hour_of(service.database, stream, episode.onset)
    if hour is None:
        return None
    try:
        found = total(service.database, stream, since=hour)
    except Refused:
        # its hours have become a day
        hour = hour // DAY * DAY
        found = total(service.database, stream, since=hour)
    return None if found is None else (hour, surefoot.assess(found))


def _reliability(shown: Mapping[str, Assessment]) -> dict[str, Any]:
    """Reliability of some rows and of others beside them."""
    figures = []
    for title, one in shown.items():
        if one.reliability:
            # all on the same axes
            others = {other: a.reliability for other, a in shown.items() if a is not one}
            figure = reliability_figure({"all": one.reliability, **others})
            chart = draw(replace(figure, layers={"all": figure.layers["all"]}), "observed accuracy by confidence")
            caption = f"{pluralize(one.risk.n, 'labelled prediction')}: {one.verdict}."
            figures.append({"title": f"Accuracy and confidence {title}", "caption": caption, "chart": chart})
    return {"title": "Does accuracy match confidence?", "figures": figures, "tables": []}


def _advice(shown: Mapping[str, Assessment], found: Suggestion | None, rows: str, *, is_off: bool) -> dict[str, Any]:
    """What to do next, with the calibrator that is suggested; while something is off, no threshold is."""
    (which, now), *_ = shown.items()
    words, commands = [], []
    if is_off:
        words.append(
            "While this lasts, act on no threshold and no calibrator that was found before: those were for the "
            "confidences as they were."
        )
        if not _is_miscalibrated(now):
            words.append(
                f"Predictions {which} do not show by themselves what the evidence shows: look at the days below."
            )
    elif not _is_miscalibrated(now):
        words += [step.words.rstrip(":") + "." * step.words.endswith(":") for step in next_steps(now)]
    if found is not None:
        words.append(f"{_suggestion(found)} To fit it, save {rows} as rows.jsonl, and run the command below.")
        commands.append(
            f"surefoot calibrate --fit rows.jsonl --truth correct --probabilities confidence --method {NAME} --save "
            "calibrator.json"
        )
    elif _is_miscalibrated(now):
        words.append(
            "Recalibrate on labelled predictions that the model was not trained on; too few are kept to say what that "
            "would bring."
        )
    return {"note": " ".join((*words, "The report has the details.")), "commands": commands}


def _is_miscalibrated(a: Assessment) -> bool:
    """Whether the verdict calls for a calibrator, on either side."""
    return a.verdict not in ("inconclusive", "no evidence against calibration")


def _suggestion(found: Suggestion) -> str:
    """A calibrator, and what it brings."""
    last = f"the last {pluralize(found.rows, 'labelled prediction')} that {'is' if found.rows == 1 else 'are'} kept"
    after = f"{found.log_loss_after:.3f}"
    if math.isinf(found.log_loss):
        brings = f"takes log loss from infinite to {after}"
    elif found.low <= 0:
        brings = f"does not clearly lower log loss ({found.log_loss:.3f}, then {after})"
    else:
        interval = f"95% CI {round_down(found.low, 2)} to {round_up(found.high, 2)}"
        brings = f"lowers log loss from {found.log_loss:.3f} by {found.saved:.2g} ({interval})"
    return f"Recalibrate: {METHOD}, cross-fitted on {last}, {brings}."


def _expected(found: Expected | str) -> dict[str, Any]:
    """What to expect of rows without labels."""
    title = "Expected of predictions without labels"
    if isinstance(found, str):
        return {"title": title, "figures": [], "tables": [], "note": f"Not available: {found}."}
    columns = [("Metric", "x"), ("Expected", "x n"), ("Prediction interval", "x n"), ("In the reference", "x n")]
    rows = [Row([Cell(name), *(Cell(typeset(value)) for value in values)]) for name, *values in expected_lines(found)]
    note = f"{expected_summary(found)} {shift_words(found)} {LIMIT} {UNKNOWN}"
    return {"title": title, "figures": [], "tables": [HtmlTable("Expected", columns, [Body(rows)])], "note": note}


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
    return {"title": "Evidence over time", "figures": figures, "tables": [], "note": "", "commands": []}


def _days(hours: Sequence[tuple[str, int, int, int, float, int]]) -> dict[str, Any]:
    days = by_day(list(hours))[-_MOST:]
    columns = [("Day (UTC)", "x"), ("Labelled", "x n"), ("Expected errors", "x n"), ("Observed", "x n"), ("O/E", "x n")]
    rows = [_row(day["day"], day["rows"], day["expected_errors"], day["observed_errors"]) for day in reversed(days)]
    table = HtmlTable("Errors by day, the last first", columns, [Body(rows)])
    note = "By the day on which a prediction came, whenever its label did."
    return {"title": "Expected and observed errors by day", "figures": [], "tables": [table], "note": note}


def _slices(follower: Follower, sums: Mapping[str, tuple[int, float, int]]) -> dict[str, Any] | None:
    """The slices, flagged ones first; None if there are none."""
    parts, level = {part.name: part for part in follower.parts.look()}, follower.monitor.level
    names = {*parts, *sums}
    if not names - {""}:
        return None
    columns = [
        ("Slice", "x"), ("Flagged", "x"), ("Labelled", "x n"), ("Expected errors", "x n"), ("Observed", "x n"),
        ("O/E", "x n"), ("Largest e-value", "x n"), ("Flagged alone from", "x n"),
    ]  # fmt: skip

    def order(name: str) -> tuple[bool, float, int]:
        part = parts.get(name)
        return (not (part and part.is_flagged), -part.log_peak if part else 0.0, -sums.get(name, (0,))[0])

    most, rows = sorted(names, key=order), []
    for name in most[:_MOST]:
        labelled, stated, observed = sums.get(name, (0, 0.0, 0))
        cells = [f"{labelled:,}", rough_count(stated), count(observed)]
        cells.append(typeset(significant(observed / stated, 2)) if stated else "")
        side = ""
        if (part := parts.get(name)) is not None:
            peak = math.exp(part.log_peak) if part.log_peak < 700 else math.inf
            cells += [typeset(significant(peak)), rough_count(limit(part.number, level))]
            side = part.monitor.alarm_side if part.is_flagged else ""
        else:
            # rows that are never bet on, or have no slice
            cells += ["", ""]
        rows.append(Row([Cell(one) for one in (name or "(no slice)", side, *cells)]))
    hidden = len(most) - len(rows)
    note = (
        f"However often you look, calibrated slices are on average at most {level:.0%} of those flagged, and if all "
        f"are calibrated, any is ever flagged with a chance of at most {level:.0%}. Several may be flagged from less "
        "than each would need alone. A slice that is flagged stays flagged."
    )
    note += f" {pluralize(hidden, 'slice')} with less evidence not shown; the state lists all." if hidden > 0 else ""
    return {
        "title": "Slices",
        "figures": [],
        "tables": [HtmlTable("Slices", columns, [Body(rows)], "named")],
        "note": note,
    }


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
        ("Labels that were dropped, because no prediction of their id was kept or came", counts.lost),
        ("Rows that came again, not counted", counts.repeated),
    )
    rows = [Row([Cell(words), Cell(f"{number:,}")]) for words, number in lines]
    note = (
        f"A label is awaited for {m.label_window:,} further predictions. Until it comes, its prediction counts as no "
        "surprise, so evidence can only be understated."
    )
    table = HtmlTable("Labels", [("", "x"), ("Rows", "x n")], [Body(rows)])
    return {"title": "Labels", "figures": [], "tables": [table], "note": note}

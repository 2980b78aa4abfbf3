"""The top of the report of an event, and its figures: how often it happens by predicted probability, and by class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice
from surefoot.figures.event_reliability import event_figure, log_odds_bins, log_odds_figure
from surefoot.figures.labels import significant, typeset
from surefoot.figures.reliability import Bin
from surefoot.metrics.flexible import FlexibleCurve
from surefoot.predictions import ArrayPredictions
from surefoot.render import class_wording, event_wording, svg, wording
from surefoot.render.event_spread import spread_words
from surefoot.render.event_tables import verdict_words
from surefoot.render.looks import BOTH_SIDES, KINDS
from surefoot.render.main_numbers import sections
from surefoot.render.next_steps import next_steps
from surefoot.render.numbers import Number, percent, percent_interval, pluralize, ratio, risk_percent, rough_count
from surefoot.render.section import Section
from surefoot.render.severity import severity
from surefoot.render.shared_wording import shares_words, weight_of_events
from surefoot.render.tables import Body, Cell, HtmlTable, Item, Panel, Row
from surefoot.risk.grouped_curves import flexible_curve_of_groups

#: The numbers in large type, in this order, with their names there.
_CARDS = {
    "O/E": "Observed / expected events",
    "slope": "Calibration slope",
    "C-statistic (AUC)": "C-statistic (AUC)",
    "difference": "Mean predicted minus observed",
    "p-value": "p-value",
    "Brier": "Brier score",
}
#: Small pictures at most, and rows up to which each gets a smoothed curve.
MOST_SMALL, _MOST_SMOOTHED = 12, 20_000
#: Rows up to which there is a smoothed curve at all.
MOST_ROWS = 2_000_000


class EventVerdictSection(Section):
    """One word, one sentence on what to do, one that counts events; then the numbers."""

    def context(self) -> dict[str, Any]:
        a = self.a
        kind = KINDS.get(a.verdict, "fair")
        shown = sections(a)
        numbers = {number.name: number for group in shown.values() for number in group}
        return {
            "kind": kind,
            "hue": "fair" if a.verdict in BOTH_SIDES else kind,
            "word": wording.headline(a),
            "source": printable(a.source) if a.source else "predictions",
            "advice": typeset(wording.advice(a)),
            "lede": typeset(" ".join(wording.sentences(a))),
            "warnings": [typeset(warning) for warning in a.warnings],
            "notes": [typeset(note) for note in wording.notes(a)],
            "steps": [Item(typeset(step.words), value=step.command) for step in next_steps(a)],
            "cards": [_card(a, numbers[name], title) for name, title in _CARDS.items() if name in numbers],
            "groups": [
                (title, rest)
                for title, group in shown.items()
                if (rest := [_item(one) for one in group if one.name not in _CARDS])
            ],
            "footer": f"{wording.footer(a)}, {date.today().isoformat()}",
            "subject": f"Event: {printable(a.event, 60)}" if a.view == "event" else "Each class as an event",
        }


def _card(a: Assessment, number: Number, title: str) -> Item:
    words = f"{number.words[0].upper()}{number.words[1:]}."
    if a.view == "classes" and number.name in ("C-statistic (AUC)", "Brier"):
        # of the others the words say it
        words += " Mean over classes."
    return Item(title, typeset(words), typeset(number.value))


def _item(number: Number) -> Item:
    return Item(number.name, typeset(number.words), typeset(number.value))


class EventFigureSection(Section):
    """Reliability over the whole range and near its ends, with a layer for each slice or class that can be picked."""

    def context(self) -> dict[str, Any]:
        a = self.a
        is_found, is_of_classes = a.verdict in KINDS, a.view == "classes"
        panels = [self.reliability(), self.log_odds()]
        multiples = self.multiples()
        left = len(a.slices) - len(multiples)
        return {
            "where": ("Which classes are off" if is_of_classes else "Where it is off") if is_found else "Reliability",
            "picker_words": "Class shown" if is_of_classes else "Rows shown",
            "everything": "All classes" if is_of_classes else "All rows",
            "pickable": [Item(self.name_of(part), key=key) for key, part in self.layers.items()],
            "summaries": self.summaries(),
            "figures": [panel for panel in panels if panel is not None],
            "no_figures": "The reliability diagram is not available for this input: the tally does not hold it.",
            "multiples": multiples,
            "multiples_words": self.multiples_words(len(multiples), left) if multiples else "",
            "bands": self.bands(),
        }

    def summaries(self) -> list[Item]:
        """One sentence on all rows, and on each slice or class that can be picked."""
        a = self.a
        parts = [(key, part.risk, part.stated, part.seen) for key, part in self.layers.items()]
        if a.view == "event":
            parts.insert(0, ("all", a.risk, a.stated, a.seen))
        found = []
        for key, risk, stated, seen in parts:
            numbers = f"{pluralize(stated, 'event')} expected, {rough_count(seen)} observed"
            if risk.is_weighted:
                numbers = f"by weight, {shares_words(stated, seen, weight_of_events(risk), 'the event')}"
            size = f"; O/E {ratio(risk.oe_ratio, *risk.oe_interval)}" if math.isfinite(risk.oe_ratio) else ""
            found.append(Item("", typeset(f"{pluralize(risk.n, 'row')}, {numbers}{size}."), key=key))
        if a.view == "classes":
            predictions = f"{pluralize(a.risk.n, 'prediction')} of {pluralize(len(a.slices), 'class')}"
            found.insert(0, Item("", typeset(f"{pluralize(class_wording.rows(a), 'row')}, {predictions}."), key="all"))
        return found

    def reliability(self) -> Panel | None:
        a = self.a
        if not a.reliability:
            return None
        bins = {"all": a.reliability, **{key: part.reliability for key, part in self.layers.items()}}
        curve = smooth(a.predictions, a.risk.design_effect) if a.view == "event" else None
        figure = event_figure(bins, curve)
        top = max(a.reliability, key=lambda one: one.rows)
        alt = typeset(
            f"Reliability diagram. In the fullest bin, {rough_count(top.rows)} rows, predicted "
            f"{percent(1 - top.doubt)}, observed {percent(1 - top.error)}."
        )
        intervals = "" if math.isnan(top.low) else " with 95% CI"
        smoothed = "" if curve is None else "The curve is smoothed, with its pointwise 95% band."
        return Panel(
            "reliability",
            self.finding() or figure.title,
            f"Observed share by predicted probability: points are 15 bins{intervals}.",
            self.markup(svg.draw(figure, alt)),
            bin_table("Events by predicted probability", bins),
            figure.title,
            smoothed,
        )

    def finding(self) -> str:
        """Only where the verdict says so too: of many bins some stray by chance."""
        bins = self.a.reliability
        for verdict, kind, words in (("overpredicts", "over", "fewer"), ("underpredicts", "under", "more")):
            found = [one for one in bins if one.kind == kind]
            if self.a.verdict == verdict and found:
                return f"In {pluralize(len(found), 'bin')} of {len(bins)}, {words} events than predicted"
        return spread_words(self.a) if self.a.view == "event" else ""

    def log_odds(self) -> Panel | None:
        """Both ends enlarged; of rows of equal weight, and of all of them."""
        a = self.a
        if a.counts is None or a.risk.is_weighted:
            return None
        bins = log_odds_bins(a.counts, a.risk.design_effect)
        if not bins:
            return None
        figure = log_odds_figure({"all": bins})
        alt = (
            f"Reliability on axes of log-odds, in {pluralize(len(bins), 'bin')} from {risk_percent(bins[0].least)} on."
        )
        scope = " All classes together." if a.view == "classes" else " All rows." if self.layers else ""
        return Panel(
            "ends",
            figure.title,
            f"The same on axes of log-odds, which enlarge both ends.{scope}",
            self.markup(svg.draw(figure, alt)),
            bin_table("Events by predicted probability, finer at both ends", {"all": bins}),
        )

    def bands(self) -> dict[str, Any] | None:
        """Expected and observed events in bands of about equally many rows."""
        found = event_wording.bands(self.a)
        if self.a.view == "classes" or len(found) < 2:
            return None
        body = [
            Row(
                [
                    Cell(typeset(event_wording.band_range(band)), band.most),
                    Cell(typeset(rough_count(band.rows)), band.rows),
                    Cell(typeset(rough_count(band.expected)), band.expected),
                    Cell(typeset(rough_count(band.observed)), band.observed),
                    Cell(_share(band.observed / band.rows), band.observed / band.rows),
                    Cell(_ratio(band.observed, band.expected), band.observed / (band.expected or math.inf)),
                ]
            )
            for band in found
        ]
        names = (
            "Weight" if self.a.risk.is_weighted else "Rows",
            "Expected events",
            "Observed",
            "Observed share",
            "O/E",
        )
        kinds = ("n wide", "n", "n", "n wide", "n")
        columns = [("Predicted", "t"), *zip(names, kinds, strict=True)]
        words = "Bands of about equally many rows."
        if found[0].least == found[0].most:
            words = "A band for each predicted probability."
        elif self.a.risk.is_weighted:
            words = "Bins of equal width; counts are sums of weights."
        return {"words": words, "table": HtmlTable("Events by band", columns, [Body(body)], "bands")}

    def multiples(self) -> list[Panel]:
        """A small diagram for each class, the worst first."""
        a = self.a
        if a.view != "classes":
            return []
        worst = [part for part in sorted(a.slices, key=severity) if part.reliability][:MOST_SMALL]
        return [self.small(i, part) for i, part in enumerate(worst)]

    def small(self, i: int, part: Slice) -> Panel:
        name = self.name_of(part)
        bins = {"all": part.reliability}
        figure = event_figure(bins, smooth_class(self.a, part), is_small=True)
        numbers = f"expected {rough_count(part.stated)}, observed {rough_count(part.seen)}"
        verdict = verdict_words(part)
        alt = typeset(f"Reliability diagram of one class: {numbers}, {verdict}.")
        return Panel(
            f"class{i}",
            name,
            typeset(f"{verdict[0].upper()}{verdict[1:]}: {numbers}." if verdict else f"{numbers}."),
            self.markup(svg.draw(figure, alt)),
            bin_table(f"Events by predicted probability of {name}", bins),
        )

    def multiples_words(self, shown: int, left: int) -> str:
        smoothed = class_wording.rows(self.a) <= _MOST_SMOOTHED and self.a.predictions is not None
        curve = "; the curve is smoothed, with its pointwise 95% band" if smoothed else ""
        words = f"Observed share by predicted probability, both from 0% to 100%{curve}. Bars show how many rows."
        return f"{words} {self.left_words(shown, left)}".strip()

    def left_words(self, shown: int, left: int) -> str:
        if not left:
            return "Worst first."
        return f"The {shown:,} worst; {pluralize(left, 'class')} {'is' if left == 1 else 'are'} not shown."


def smooth(rows: ArrayPredictions | None, effect: float) -> FlexibleCurve | None:
    """The smoothed curve of an event; None where the rows are not at hand, or are very many."""
    if rows is None or not 1 < len(rows) <= MOST_ROWS or not rows.weight.any():
        return None
    return flexible_curve_of_groups(rows, effect)


def smooth_class(a: Assessment, part: Slice) -> FlexibleCurve | None:
    """That of a class, if they are not too many to wait for."""
    if a.predictions is None or len(a.predictions) > _MOST_SMOOTHED:
        return None
    event = a.predictions.event(part.value)
    assert isinstance(event, ArrayPredictions)
    return smooth(event, part.risk.design_effect)


def _share(value: float) -> str:
    return typeset(percent(value))


def _ratio(observed: float, expected: float) -> str:
    return typeset(significant(observed / expected, 2)) if expected else ""


def bin_table(caption: str, layers: Mapping[str, Sequence[Bin]]) -> HtmlTable:
    """The numbers behind a reliability diagram of an event, a body for each layer."""

    def row(one: Bin) -> Row:
        # of sums of weights, what is left of a difference of equal ones
        expected, observed = max(0.0, one.rows - one.stated), max(0.0, one.rows - one.seen)
        return Row(
            [
                Cell(typeset(risk_percent(1 - one.doubt)), 1 - one.doubt),
                Cell(typeset(rough_count(one.rows)), one.rows),
                Cell(typeset(rough_count(expected)), expected),
                Cell(typeset(rough_count(observed)), observed),
                Cell(_share(1 - one.error), 1 - one.error),
                Cell(typeset(percent_interval(1 - one.high, 1 - one.low))),
            ]
        )

    names = ("Mean predicted", "Rows", "Expected events", "Observed", "Observed share")
    columns = [*((name, "n") for name in names), ("95% CI", "x")]
    return HtmlTable(caption, columns, [Body([row(one) for one in bins], key) for key, bins in layers.items()])

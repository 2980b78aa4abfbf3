"""What the predictions of an event are worth: the decision curve, and the Brier score taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from surefoot.figures.decision import decision_figure, looks_useful, marked, useful_range
from surefoot.figures.decomposition import PARTS, Waterfall, decomposition_of
from surefoot.figures.labels import significant, typeset
from surefoot.metrics.net_benefit import DecisionCurve
from surefoot.render import svg
from surefoot.render.numbers import percent, round_down, round_up, score
from surefoot.render.section import Section
from surefoot.render.tables import Body, Cell, HtmlTable, Panel, Row
from surefoot.risk.decomposition import score_decomposition
from surefoot.risk.grouped_curves import decision_curve_of_groups
from surefoot.risk.intervals import Interval

#: Rows up to which the parts of the score get intervals.
_MOST_ROWS = 20_000
#: How the parts of a score are read.
_READINGS = {
    "uncertainty": "the score of the overall share for every row",
    "discrimination": "what telling rows apart gains",
    "miscalibration": "what the best recalibration would remove",
}


class EventValueSection(Section):
    """Net benefit needs the rows of one event; the parts of the score are totals."""

    def context(self) -> dict[str, Any]:
        a = self.a
        panels = []
        no_worth = ""
        if a.view == "event" and a.predictions is not None:
            panels.append(self.decision(decision_curve_of_groups(a.predictions, a.codes)))
        elif a.view == "event":
            no_worth = "The decision curve is not available for this input: it needs the rows, not a tally."
        else:
            no_worth = "A decision is about one class: use of='event' for its decision curve."
        intervals = self.intervals()
        parts = decomposition_of(a.metrics, intervals)
        if parts is not None:
            panels.append(self.decomposition(parts, intervals))
        return {"worth": panels, "no_worth": no_worth}

    def intervals(self) -> Mapping[str, Interval]:
        """That of the score, as it is everywhere; those of its parts, of independent rows that are not very many."""
        a, rows = self.a, self.a.predictions
        found = {"score": a.intervals["brier"]} if "brier" in a.intervals else {}
        if a.view != "event" or rows is None or a.risk.groups or len(rows) > _MOST_ROWS:
            return found
        return {**score_decomposition(rows).intervals, **found}

    def rows(self) -> float:
        """How many independent rows of equal weight tell as much as these."""
        assert self.a.predictions is not None
        weight = self.a.predictions.weight
        return float(weight.sum() ** 2 / (weight**2).sum()) / max(1.0, self.a.risk.design_effect)

    def decision(self, curve: DecisionCurve) -> Panel:
        figure, useful = decision_figure(curve), useful_range(curve, self.rows())
        title = "At no threshold does acting on it come out better than acting on all rows, or on none"
        if looks_useful(curve):
            title = "Acting on it is not shown to be better than acting on all rows, or on none, at any threshold"
        if useful is not None:
            low, high = (percent_of(end) for end in useful)
            span = f"from {low} to {high}" if low != high else f"of {low}"
            title = f"At thresholds {span}, acting on it is better than acting on all rows, or on none"
        body = [
            Row(
                [
                    Cell(percent_of(float(curve.threshold[i])), float(curve.threshold[i])),
                    Cell(typeset(score(float(curve.net_benefit[i]))), float(curve.net_benefit[i])),
                    Cell(typeset(f"{score(float(curve.lower[i]))} to {score(float(curve.upper[i]))}")),
                    Cell(typeset(score(float(curve.treat_all[i]))), float(curve.treat_all[i])),
                    Cell(typeset(percent(float(curve.treated[i]))), float(curve.treated[i])),
                ]
            )
            for i in marked(curve)
        ]
        columns = [
            ("Threshold", "n"),
            ("Net benefit", "n"),
            ("95% CI", "x"),
            ("Act on all", "n"),
            ("Acted on", "n"),
        ]
        alt = f"Decision curve. {title}."
        return Panel(
            "decision",
            title,
            "Decision curve: events found, less false alarms at the odds of the threshold, for each row. Better means "
            "beyond chance, at 95% for each threshold. Look at the thresholds that make sense for your decision.",
            self.markup(svg.draw(figure, alt)),
            HtmlTable("Net benefit by threshold", columns, [Body(body)]),
        )

    def decomposition(self, parts: Waterfall, intervals: Mapping[str, Interval]) -> Panel:
        metrics = self.a.metrics
        values = {name: metrics[name] for name in PARTS}
        total = values["uncertainty"] - values["discrimination"] + values["miscalibration"]
        mean = " Means over classes." if self.a.view == "classes" else ""
        share = values["miscalibration"] / total if total > 0 else 0.0
        title = "The Brier score taken apart"
        if total > 0:
            title = f"{typeset(percent(share))} of the Brier score is miscalibration"
        body = [self.part(name.capitalize(), values[name], intervals.get(name), _READINGS[name]) for name in PARTS]
        body.append(self.part("Brier score", total, intervals.get("score"), "the sum"))
        columns = [("Part", "t"), ("Value", "n"), ("95% CI", "x"), ("What it is", "x")]
        lines = " Lines under bars: 95% CI of where they end." if any(step.interval for step in parts.steps) else ""
        alt = f"{title}: " + ", ".join(f"{name} {significant(values[name])}" for name in PARTS) + "."
        grouped = " Intervals of the parts are not known for rows that belong together." if self.a.risk.groups else ""
        off = max(self.a.bounds.get(name, 0.0) for name in PARTS)
        bound = f" From a tally: off by at most {typeset(significant(off, 1))}." if off >= 5e-7 else ""
        return Panel(
            "decomposition",
            title,
            "Uncertainty of the outcome, less what telling rows apart gains (discrimination), plus what miscalibration "
            f"costs.{lines}{grouped}{mean}{bound}",
            self.markup(svg.waterfall(parts, typeset(alt))),
            HtmlTable("The Brier score taken apart", columns, [Body(body)]),
        )

    def part(self, name: str, value: float, interval: Interval | None, words: str) -> Row:
        reach = "—"
        if interval is not None and not interval.is_absent:
            reach = f"{round_down(interval.low)} to {round_up(interval.high)}"
        return Row([Cell(name), Cell(typeset(significant(value)), value), Cell(typeset(reach)), Cell(words)])


def percent_of(threshold: float) -> str:
    """A threshold in percent."""
    return f"{100 * threshold:.3g}%"

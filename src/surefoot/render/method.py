"""All indicators with how to read them, and how everything was computed."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import surefoot
from surefoot.assessment.verdict import CLEAR_POINTS, CLEAR_RATIO, STRONG_POINTS, STRONG_RATIO
from surefoot.figures.labels import area, power_of_ten, significant, typeset
from surefoot.metrics import ALL
from surefoot.render import prediction_wording as wording
from surefoot.render.numbers import (
    count,
    percent,
    percent_interval,
    pluralize,
    points,
    points_interval,
    probability,
    pvalue,
    ratio_interval,
    reciprocal,
    round_down,
    score,
    signed_percent,
)
from surefoot.render.section import Section
from surefoot.render.shared_wording import rows_besides
from surefoot.render.tables import Body, Cell, HtmlTable, Item, Row
from surefoot.risk.result import RiskResult

_GROUPS = {"risk": "Risk", "value": "Value", "calibration": "Calibration error", "score": "Scores"}
_BETTER = {"higher": "higher", "lower": "lower", "none": "—"}

_READINGS = {
    "csr_lower": "The true ratio is at least this. There is no upper bound: one rare error may be of any size.",
    "oe_ratio": "Observed errors over the errors that the confidences imply; 95% CI {ratio}.",
    "overstatement": "Mean confidence minus accuracy, in points; 95% CI {points}.",
    "pvalue_omnibus": "Chance of an outcome at least this extreme, in any direction, if the model were calibrated. The "
    "verdict rests on it, each side at {half:g}.",
    "pvalue": "Chance of {event} if the model were calibrated; {law}.",
    "pvalue_capped": "Capped test: no single row may contribute more than 10% of the number of rows.",
    "pvalue_combined": "Twice the smaller of the two, at most 1.",
    "e_value": "Evidence, valid however often you look; above 20 is strong. It weighs all rows, CSR mostly the surest.",
    "deflation": "{what}; 95% CI {interval}.",
}
_LAWS = {
    "exact": "Exact distribution of CSR for these confidences if the model were calibrated: in closed form for rows "
    "that exceed the observed sum alone, by enumeration for few rows, else by inverting the characteristic function.",
    "normal": "Approximate: assumes a normal distribution, with the paper's z. With unequal weights the exact test "
    "needs the rows.",
}
_INTERVALS = (
    "Observed / expected errors, overstatement and bins: Clopper and Pearson, 95%, given the confidences; of rows that "
    "belong together, Korn and Graubard. CSR: betting lower bound, 95%. Deflation: inversion of the exact test, 95%. "
    "Accuracy, cwA: Clopper and Pearson; AUC, cwAUC: logit scale from influence values; 95%."
)


class MethodSection(Section):
    """All indicators in full, and the methods behind them."""

    def context(self) -> dict[str, Any]:
        a = self.a
        return {
            "indicators": self.indicators(),
            "absent": [
                Item(name, typeset(a.reasons[name])) for name in ALL if name in a.reasons and name not in a.metrics
            ],
            "method": self.method(),
        }

    def indicators(self) -> HtmlTable:
        """Every metric, and among those of risk the tests and bounds that are no metrics of their own."""
        return self.table_of(self.a.metrics, self.test_rows())

    def facts(self, name: str) -> tuple[str, str]:
        """The title of a metric, and how to read it."""
        return ALL[name].title, ALL[name].reading

    def number(self, name: str, value: float) -> str:
        """A metric as it is shown."""
        return _number(ALL[name], value)

    def table_of(self, metrics: Mapping[str, float], tests: Sequence[Row]) -> HtmlTable:
        """The table of metrics, with tests after the first of those of risk."""
        groups: dict[str, list[Row]] = {group: [] for group in _GROUPS}
        if "csr" not in metrics:
            groups["risk"].extend(tests)
        for name, value in metrics.items():
            metric = ALL[name]
            ideal = "—" if metric.ideal is None else _ideal(metric, metric.ideal)
            better = f"near {ideal}" if metric.direction == "nearest" else _BETTER[metric.direction]
            title, reading = self.facts(name)
            if name in self.a.reasons:
                reading += f" Note: {typeset(self.a.reasons[name])}."
            if self.a.bounds.get(name):
                reading += f" Off by at most {typeset(significant(self.a.bounds[name], 1))}."
            groups[metric.about].append(self.row(title, name, self.number(name, value), value, ideal, better, reading))
            if name == "csr":
                groups["risk"].extend(tests)
        names = [("Indicator", "t"), ("Value", "n"), ("Ideal", "n"), ("Better", "t"), ("How to read it", "x read")]
        bodies = [Body(found, f"={group}", _GROUPS[group]) for group, found in groups.items() if found]
        return HtmlTable("All indicators", names, bodies, "indicators")

    def row(self, title: str, name: str, text: str, value: float, ideal: str, better: str, reading: str) -> Row:
        named = self.markup("{}<code>{}</code>").format(title, name)
        return Row([Cell(named), Cell(text, value), Cell(ideal), Cell(better), Cell(reading)])

    def test_rows(self) -> list[Row]:
        """The tests and bounds, of the side that the verdict is about."""
        a, side = self.a, wording.tested_side(self.a)
        is_over = side.alternative == "overconfident"
        which = "" if is_over else ", underconfidence"
        facts = {
            "event": "a CSR this large" if is_over else "correct rows this surprising",
            "law": "exact" if side.method == "exact" else "approximate",
            "half": a.level / 2,
            "what": "Accuracy is about (1 − deflation) × confidence"
            if is_over
            else "Errors are about (1 − deflation) × (1 − confidence)",
            "interval": percent_interval(*side.deflation_interval),
            "ratio": typeset(ratio_interval(*a.risk.oe_interval)),
            "points": typeset(points_interval(*a.risk.overstatement_interval)),
        }
        # the p-value on the first page: in a mixed verdict that of the side with more evidence
        decides = wording.deciding_side(a)
        omnibus, combined, deflation = decides.pvalue_omnibus, side.pvalue_combined, side.deflation
        decided = "" if decides.alternative == "overconfident" else ", underconfidence"
        ratio, size, what = a.risk.oe_ratio, a.risk.overstatement, "" if is_over else " of doubt"
        found = [
            ("Observed / expected errors", "oe_ratio", significant(ratio), ratio, "1", "near 1"),
            ("Overstatement", "overstatement", points(size), size, "0", "near 0"),
            (f"Omnibus p-value{decided}", "pvalue_omnibus", pvalue(omnibus), omnibus, "—", "—"),
            ("Lower bound of CSR, 95%", "csr_lower", round_down(a.risk.csr_lower), a.risk.csr_lower, "≤ 1", "lower"),
            (f"p-value{which}", "pvalue", pvalue(side.pvalue), side.pvalue, "—", "—"),
            (f"Capped p-value{which}", "pvalue_capped", pvalue(side.pvalue_capped), side.pvalue_capped, "—", "—"),
            (f"Combined p-value{which}", "pvalue_combined", pvalue(combined), combined, "—", "—"),
            (f"e-value{which}", "e_value", _e_value(side.log_e), side.log_e, "≤ 1", "lower"),
            (f"Deflation{what}", "deflation", percent(deflation, zero="0%"), deflation, "0%", "near 0%"),
        ]
        rows = []
        for title, name, text, value, ideal, better in found:
            text = "—" if math.isnan(value) else typeset(text)
            rows.append(self.row(title, name, text, value, ideal, better, _READINGS[name].format(**facts)))
        return rows

    def method(self) -> list[Item]:
        a, risk = self.a, self.a.risk
        weights = "unweighted" if a.weight == risk.n else f"counted by weights that add up to {count(a.weight)}"
        used = f" Columns used: {a.columns}." if a.columns else ""
        doubts = a.counts.doubtful().doubt if a.counts is not None else np.empty(0)
        least = f" The smallest here is 1 in {typeset(reciprocal(float(doubts.min())))}." if len(doubts) else ""
        found = [
            Item("Rows", f"{pluralize(risk.n, 'row')}, {weights}{rows_besides(a)}.{used}"),
            Item("Doubt", f"1 − confidence, computed from logits or the other classes if given.{least}"),
            Item(
                "Certain and rounded rows",
                f"{risk.certain:,} rows with confidence 1, {risk.rounded:,} rounded to 1. Rows with confidence 1 are "
                "left out of CSR if correct and make it infinite if wrong; for rounded ones a small doubt is assumed.",
            ),
            Item("p-value", f"{_LAWS.get(risk.method, risk.method)} {_dependence(risk)}"),
            Item("Bounds and intervals", _INTERVALS),
            Item("Verdict", _verdict(a.level, a.margin)),
        ]
        if a.slices and not self.is_descriptive:
            slices = pluralize(len(a.slices), "slice")
            words = f"Each is tested on both sides; p-values are adjusted for {slices} by Holm's method."
            found.append(Item("Slices", f"{words} Each overstatement has its own 95% CI."))
        found.append(Item("Versions", versions()))
        return found


def _verdict(level: float, margin: float) -> str:
    """How the words of the verdict are chosen."""
    return (
        f"The omnibus p-value decides, each side at {level / 2:g}. It combines several tests, calibrated together by "
        "simulation: too many (or too few) errors in all, weighted by doubt to the power −½ and −1 (CSR), capped, by "
        "log-odds, in any band of a figure, and the e-value. Inconclusive: nothing is found, and the overstatement may "
        f"exceed {points(margin)}. The degree is by size: clearly from {points(CLEAR_POINTS)} of overstatement or "
        f"{CLEAR_RATIO:g} times the expected errors close to certainty (lower 95% limit), strongly from "
        f"{points(STRONG_POINTS)} or {STRONG_RATIO:g} times."
    )


def _number(metric: Any, value: float) -> str:
    """Shares of rows or confidence as percentages, all else as a number, as on the first page."""
    if metric.name == "p_risk":
        return probability(value)
    if metric.name in ("gain", "auc_gain"):
        return signed_percent(value)
    if metric.range == (0.0, 1.0) and metric.about == "value":
        return area(value) if metric.is_ranking else percent(value)
    is_score = metric.range == (0.0, 1.0) or metric.name == "log_loss"
    return typeset(score(value) if is_score else significant(value))


def _ideal(metric: Any, value: float) -> str:
    """The best value, which is a round number."""
    is_share = metric.about == "value" and not metric.is_ranking and metric.range[1] == 1.0
    return f"{value:.0%}" if is_share or metric.name == "auc_gain" else f"{value:g}"


def _e_value(log_e: float) -> str:
    if math.isinf(log_e):
        return "∞" if log_e > 0 else "0"
    power = log_e / math.log(10)
    return significant(math.exp(log_e)) if not power >= 6 else power_of_ten(math.floor(power))


def versions() -> str:
    """What this was computed with."""
    import scipy

    others = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    return f"surefoot {surefoot.__version__}, {others}."


def _dependence(risk: RiskResult) -> str:
    """What the tests assume about how rows depend on each other."""
    if not risk.groups:
        return "Assumes independent rows."
    return (
        f"Rows belong to {risk.groups:,} groups: each test statistic is corrected by its estimated design effect "
        f"({significant(risk.design_effect, 2)} for the number of errors), so p-values are approximate."
    )

"""All indicators of an event with how to read them, and how everything was computed."""

from __future__ import annotations

from surefoot.assessment.event_verdict import CLEAR_FACTOR, STRONG_FACTOR
from surefoot.assessment.verdict import CLEAR_POINTS, MANY_CERTAIN, STRONG_POINTS
from surefoot.figures.labels import typeset
from surefoot.metrics import ALL
from surefoot.render import class_wording, wording
from surefoot.render.event_numbers import number_text
from surefoot.render.method import MethodSection, versions
from surefoot.render.numbers import count, pluralize, points, points_interval, pvalue, ratio, ratio_interval
from surefoot.render.shared_wording import rows_besides
from surefoot.render.tables import HtmlTable, Item, Row

#: Of predictions alone: how surprising errors are at high confidence.
_LEFT_OUT = ("csr", "csr_sigma", "csr_z", "p_risk", "oe_ratio")
#: Titles and readings that are written for correctness and confidence, in words for an event.
_IN_WORDS = {
    "mean_confidence": ("Mean predicted probability", "Compare it with the observed share of events."),
    "ece": ("Expected calibration error, 15 bins", "Mean gap between predicted probability and observed share."),
    "brier": ("Brier score", "Squared distance of predictions from outcomes; mixes calibration with sharpness."),
    "log_loss": ("Log loss", "Mean surprise at the outcomes; mixes calibration with sharpness."),
    "ecd": (
        "Entropic calibration difference",
        "Log loss minus the entropy of the predictions: positive is too extreme, negative too timid.",
    ),
    "tce": (
        "Test-based calibration error, percent",
        "Percentage of the rows whose predicted probability a binomial test of their bin rejects; grows with the "
        "number of rows.",
    ),
    "mcaldist": (
        "Mean distance to calibration",
        "Mean distance from each predicted probability to the best rising fit of these samples.",
    ),
    "ecce_mad": (
        "Cumulative calibration error, largest",
        "Largest cumulative gap, from the lowest predicted probability to the highest, without bins.",
    ),
    "ecce_r": (
        "Cumulative calibration error, range",
        "Largest cumulative gap over any range of predicted probability, without bins.",
    ),
    "auc": ("C-statistic (AUC)", "How often an event was given a higher probability than a non-event."),
    "cox_slope": ("Cox's calibration slope", "Another name for the calibration slope."),
    "cox_intercept": ("Cox's calibration intercept", "Another name for the calibration intercept."),
}
_LAWS = {
    "exact": "Exact, given the predicted probabilities.",
    "normal": "Approximate: with unequal weights the exact test needs the rows.",
}
_INTERVALS = (
    "O/E, mean difference and bins: Clopper and Pearson, 95%, given the predicted probabilities; of rows that belong "
    "together, Korn and Graubard. Calibration in the large, intercept and slope: Wald limits of the logistic "
    "recalibration. C-statistic: DeLong, on the logit scale. Brier: from influence values."
)
_CURVE = (
    "Local quadratic regression of the events on their probabilities over the nearest 75% of the rows (loess). The "
    "band is pointwise, at 95%. ICI, E50, E90 and Emax are the mean, the median, the 90th percentile and the largest "
    "distance of predictions from it."
)


class EventMethodSection(MethodSection):
    """All indicators in full, and the methods behind them."""

    def indicators(self) -> HtmlTable:
        kept = {name: value for name, value in self.a.metrics.items() if name not in _LEFT_OUT}
        return self.table_of(kept, self.test_rows())

    def facts(self, name: str) -> tuple[str, str]:
        metric = ALL[name]
        title, reading = _IN_WORDS.get(name, (metric.title, metric.reading))
        return title, f"{reading} Mean over classes." if self.a.view == "classes" else reading

    def number(self, name: str, value: float) -> str:
        return typeset(number_text(name, value))

    def test_rows(self) -> list[Row]:
        """The effects and the test that are no metrics of their own."""
        a, r = self.a, self.a.risk
        p = wording.deciding_pvalue(a)
        found = [
            self.row(
                "p-value",
                "pvalue_omnibus",
                typeset(pvalue(p)),
                p,
                "—",
                "—",
                "Chance of an outcome at least this extreme, on either side and in any class, if the model were "
                f"calibrated. The verdict rests on it, at {a.level:g}."
                if a.view == "classes"
                else "Chance of an outcome at least this extreme, on this side, if the model were calibrated. The "
                f"verdict rests on it, each side at {a.level / 2:g}.",
            )
        ]
        if a.view == "classes":
            return found
        size = points(r.overstatement)
        reach = typeset(points_interval(*r.overstatement_interval))
        reading = f"Mean predicted probability minus observed share, in points; 95% CI {reach}."
        read = f"Observed over expected events; 95% CI {typeset(ratio_interval(*r.oe_interval))}. Below 1, too high."
        return [
            self.row(
                "O/E ratio", "oe_ratio", typeset(ratio(r.oe_ratio, *r.oe_interval)), r.oe_ratio, "1", "near 1", read
            ),
            self.row("Mean difference", "overstatement", typeset(size), r.overstatement, "0", "near 0", reading),
            *found,
        ]

    def method(self) -> list[Item]:
        a, risk = self.a, self.a.risk
        rows = class_wording.rows(a) if a.view == "classes" else risk.n
        side = a.slices[0].risk if a.view == "classes" and a.slices else risk
        weights = f"counted by weights that add up to {count(a.weight)}" if risk.is_weighted else "unweighted"
        used = f" Columns used: {a.columns}." if a.columns else ""
        groups = "Assumes independent rows."
        if side.groups:
            groups = f"Rows belong to {side.groups:,} groups: statistics are corrected by their design effects."
        about = "Each class in turn is the event." if a.view == "classes" else f"Whether a row is {a.event!r}."
        found = [
            Item("Rows", f"{pluralize(rows, 'row')}, {weights}{rows_besides(a)}.{used}"),
            Item("Event", about),
            Item("p-value", f"{_LAWS.get(side.method, side.method)} {groups}"),
            Item("Bounds and intervals", _INTERVALS),
            Item("Smoothed curve", _CURVE),
            Item("Verdict", _verdict(a.level, a.margin)),
        ]
        if a.slices and not self.is_descriptive:
            what = pluralize(len(a.slices), "class" if a.view == "classes" else "slice")
            words = f"Each is tested on both sides; p-values are adjusted for {what} by Holm's method."
            found.append(Item("Classes" if a.view == "classes" else "Slices", words))
        found.append(Item("Versions", versions()))
        return found


def _verdict(level: float, margin: float) -> str:
    """How the words of the verdict are chosen."""
    return (
        f"The omnibus p-value decides, each side at {level / 2:g}: too few or too many events in all, weighted towards "
        "either end, by log-odds, or in any band of a figure. The logistic recalibration chooses the word: off on one "
        "side, the model overpredicts or underpredicts; off on both, predictions are too extreme (slope below 1) or "
        f"too timid (above 1). Inconclusive: nothing is found, and the mean difference may exceed {points(margin)}, or "
        f"O/E a factor of {STRONG_FACTOR:g} (95% CI). The degree is by size: clearly from {points(CLEAR_POINTS)} or a "
        f"ratio of {CLEAR_FACTOR:g}, strongly from {points(STRONG_POINTS)} or a ratio of {STRONG_FACTOR:g} (O/E or "
        "slope, either way). Points are the mean distance from the recalibrated predictions, or from what was observed "
        f"in bins that are off. A bin that is off by {points(STRONG_POINTS)} (95% CI), or an outcome of probability 0, "
        f"is clear; {MANY_CERTAIN} such outcomes are strong."
    )

"""Where it goes wrong: by confidence, near certainty, in single rows, in slices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot._io.printable import printable
from surefoot.assessment.verdict import RISKY
from surefoot.figures.concentration import ENOUGH_ERRORS, concentration
from surefoot.figures.labels import significant, typeset
from surefoot.figures.reliability import Bin, near_certainty_figure, reliability_figure
from surefoot.render import prediction_wording as wording
from surefoot.render import svg
from surefoot.render.looks import KINDS
from surefoot.render.numbers import confidence_percent, percent, percent_interval, pluralize, points, rough_count
from surefoot.render.section import Section
from surefoot.render.shared_wording import rows_of_weight, shares_words
from surefoot.render.tables import Body, Cell, HtmlTable, Item, Panel, Row

#: The doubt up to which a row is sure.
_SURE = 0.05


class ErrorSection(Section):
    """Figures of all rows, with a layer for each slice that can be picked."""

    def context(self) -> dict[str, Any]:
        a = self.a
        return {
            "where": "Where it goes wrong" if a.verdict in KINDS else "By confidence",
            "pickable": [Item(self.name_of(part), key=key) for key, part in self.layers.items()],
            "summaries": self.summaries(),
            "reliabilities": self.panels(),
            **self.bands(),
            "no_reliability": "The reliability diagram is not available for this input: the tally does not hold it.",
            **self.surprise(),
        }

    def summaries(self) -> list[Item]:
        """One sentence on all rows, and on each slice that can be picked."""
        a = self.a
        groups = [("all", a.stated, a.seen, a.risk, a.reliability)]
        groups += [(key, part.stated, part.seen, part.risk, part.reliability) for key, part in self.layers.items()]
        found = []
        for key, stated, seen, risk, bins in groups:
            numbers = f"{pluralize(stated, 'error')} expected, {rough_count(seen)} observed"
            weight = sum(one.rows for one in bins)
            if risk.is_weighted and weight:
                # sums of weights are no counts
                numbers = f"by weight, {shares_words(stated, seen, weight, 'errors')}"
            words = f"{pluralize(risk.n, 'row')}, {numbers}; "
            words += f"overstatement {points(risk.overstatement)}, CSR {significant(risk.csr)}."
            found.append(Item("", typeset(words), key=key))
        return found

    def bands(self) -> dict[str, Any]:
        """Expected and observed errors by confidence."""
        found = wording.bands(self.a)
        if len(found) < 2:
            return {"bands": None, "bands_words": ""}
        is_quantile = len(found) > len(self.a.bands) and found[0].least != found[0].below
        words = "A band for each confidence." if found[0].least == found[0].below else "Fixed bands of confidence."
        if is_quantile:
            words = f"{len(found)} bands of about equally many rows."
        body, scale = [], rows_of_weight(self.a)
        for i, band in enumerate(found):
            ratio = band.seen / band.stated if band.stated else math.inf
            body.append(
                Row(
                    [
                        Cell(typeset(wording.confidence_range(band)), i),
                        Cell(typeset(rough_count(band.rows)), band.rows),
                        Cell(typeset(rough_count(band.stated)), band.stated),
                        Cell(typeset(rough_count(band.seen)), band.seen),
                        Cell(typeset(significant(ratio, 2)) if scale * band.seen >= ENOUGH_ERRORS else "", ratio),
                    ]
                )
            )
        names = ("Rows", "Expected errors", "Observed errors", "O/E")
        columns = [("Confidence", "t"), *((name, "n") for name in names)]
        words += f" O/E is shown from {ENOUGH_ERRORS} observed errors on."
        return {"bands": HtmlTable("Errors by confidence", columns, [Body(body)], "bands"), "bands_words": words}

    def panels(self) -> list[Panel]:
        found = []
        if self.a.reliability:
            found.append(self.reliability())
        if self.a.near_certainty:
            found.append(self.near_certainty())
        return found

    def reliability(self) -> Panel:
        a = self.a
        bins = {"all": a.reliability, **{key: part.reliability for key, part in self.layers.items()}}
        figure, top = reliability_figure(bins), a.reliability[-1]
        alt = (
            f"Reliability diagram. In the top bin, {rough_count(top.rows)} rows, "
            f"confidence {confidence_percent(top.doubt)}, correct {percent(1 - top.error)}."
        )
        crowded = ""
        if top.rows > 0.5 * a.risk.n and top.doubt < 0.05:
            share = top.rows / sum(one.rows for one in a.reliability)
            crowded = f"{percent(share)} of the rows are in the last bin, too close to the corner to judge here."
        intervals = "" if math.isnan(top.low) else ", with 95% CI"
        return Panel(
            "reliability",
            self.reliability_finding() or figure.title,
            f"Share correct by confidence, 15 bins{intervals}.",
            self.markup(svg.draw(figure, alt)),
            _bin_table("Reliability by confidence bin", bins, lambda one: percent(1 - one.doubt)),
            figure.title,
            crowded,
        )

    def near_certainty(self) -> Panel:
        a = self.a
        bins = {"all": a.near_certainty, **{key: part.near_certainty for key, part in self.layers.items()}}
        figure = near_certainty_figure(bins)
        sure = [band for band in a.bands if band.below <= 0.01]
        n, expected, observed = (sum(getattr(band, name) for band in sure) for name in ("rows", "stated", "seen"))
        alt = (
            f"Reliability on logarithmic axes of doubt (1 − confidence). Above 99% confidence, {rough_count(n)} rows: "
            f"{rough_count(expected)} errors expected, {rough_count(observed)} observed."
        )
        return Panel(
            "doubt",
            self.near_certainty_finding() or figure.title,
            "The same on logarithmic axes of doubt (1 − confidence): at every gridline ten times fewer errors are "
            "expected. × is observed over expected errors.",
            self.markup(svg.draw(figure, alt)),
            _bin_table("Reliability by doubt bin", bins, lambda one: confidence_percent(one.doubt)),
            figure.title,
        )

    def reliability_finding(self) -> str:
        """A finding only where the verdict says so too: of many bins some stray by chance."""
        bins = self.a.reliability
        for verdict, kind, words in (("overconfident", "over", "less"), ("underconfident", "under", "more")):
            found = [i for i, one in enumerate(bins) if one.kind == kind]
            errors = math.fsum(max(bins[i].stated, bins[i].seen) for i in found)
            if self.a.verdict in (verdict, "mixed") and errors >= ENOUGH_ERRORS:
                if found == list(range(found[0], len(bins))):
                    return f"Above {bins[found[0]].least:.0%} confidence, it is correct {words} often than it says"
                return f"In {pluralize(len(found), 'bin')} of {len(bins)}, it is correct {words} often than it says"
        return ""

    def near_certainty_finding(self) -> str:
        """A factor of neighbouring bins together, with enough errors: a single one of them is no headline."""
        if self.a.verdict not in RISKY:
            return ""
        surest = sorted(self.a.near_certainty, key=lambda one: one.least)
        for i in range(1, len(surest) + 1):
            stated, seen = (math.fsum(getattr(one, name) for one in surest[:i]) for name in ("stated", "seen"))
            if seen >= ENOUGH_ERRORS and surest[i - 1].most <= _SURE:
                if seen < 2 * stated:
                    break
                times = typeset(significant(seen / stated, 2)) if stated else "∞"
                words = f"{rough_count(seen)} errors, {rough_count(stated)} expected"
                return f"{typeset(f'Above {confidence_percent(surest[i - 1].most)}: {words}')} (×{times})"
        return ""

    def surprise(self) -> dict[str, Any]:
        """How surprise is shared out among the errors, or why it is not."""
        a = self.a
        has_counts = not math.isnan(a.risk.deflation) or a.risk.certain_wrong
        found = concentration(a.counts, a.risk.csr) if a.counts is not None and a.seen and has_counts else None
        panel = None
        if found is not None:
            body = [
                Row(
                    [
                        Cell(f"{k:,}", k),
                        Cell(percent(found.share_of(k)), found.share_of(k)),
                        Cell(typeset(significant(found.csr_without(k))), found.csr_without(k)),
                    ]
                )
                for k in found.ranks
            ]
            columns = [("Rows removed", "n"), ("Share of CSR", "n"), ("CSR without them", "n")]
            few = next((k for k in (10, 1) if k < found.errors), found.errors)
            held = f"{pluralize(few, 'row')}, {percent(found.share_of(few))}"
            alt = f"Share of CSR held by the most surprising rows: {held}."
            panel = Panel(
                "concentration",
                found.title,
                f"Share of CSR held by the most surprising of the {pluralize(found.errors, 'error')}.",
                self.markup(svg.draw(found.figure(), alt)),
                HtmlTable("Surprise concentration", columns, [Body(body)]),
            )
        reason = "How CSR is spread over the errors is not available for this input: no error was made."
        if a.seen and a.risk.certain_wrong:
            reason = "CSR is infinite: rows with confidence 1 that were wrong hold all of it."
        elif a.seen:
            reason = "How CSR is spread over the errors is not available for this input: needs rows of equal weight."
        return {
            "concentration": panel,
            "no_concentration": reason,
            "surprises": self.surprises(),
            "no_surprises": "No error was made."
            if not a.seen
            else "Not available for this input: a tally does not hold the rows.",
        }

    def surprises(self) -> HtmlTable | None:
        """The rows that surprise most; None where a tally holds none."""
        a = self.a
        if not a.surprises:
            return None
        labelled = a.surprises[0].truth is not None
        keys = {part.value: key for key, part in self.layers.items()}
        shown = list(a.surprises[0].shown)
        columns = [(printable(name, 24), "t") for name in shown]
        columns += [("Row", "n"), *([("True", "t"), ("Predicted", "t")] if labelled else []), ("Confidence", "n")]
        columns += [("Surprise", "n wide"), ("Share of CSR", "n")]
        body = []
        for one in a.surprises:
            labels = [Cell(printable(one.truth, 30)), Cell(printable(one.predicted, 30))] if labelled else []
            surprise = 1 / one.doubt if one.doubt else math.inf
            numbers = [
                Cell(typeset(confidence_percent(one.doubt)), -one.doubt),
                Cell(typeset(significant(surprise, 4)), surprise),
                Cell(percent(one.share), one.share),
            ]
            within = keys.get(one.slice, "none") if one.slice is not None else "all"
            own = [Cell(printable("" if one.shown[name] is None else one.shown[name], 40)) for name in shown]
            body.append(Row([*own, Cell(f"{one.row + 1:,}", one.row), *labels, *numbers], within))
        return HtmlTable("Most surprising rows", columns, [Body(body)], "rows")


def _bin_table(caption: str, layers: Mapping[str, Sequence[Bin]], label: Callable[[Bin], str]) -> HtmlTable:
    """The numbers behind a reliability diagram, a body for each layer."""

    def row(one: Bin) -> Row:
        return Row(
            [
                Cell(typeset(label(one)), one.doubt),
                Cell(typeset(rough_count(one.rows)), one.rows),
                Cell(typeset(rough_count(one.stated)), one.stated),
                Cell(typeset(rough_count(one.seen)), one.seen),
                Cell(percent(1 - one.error), 1 - one.error),
                Cell(percent_interval(1 - one.high, 1 - one.low)),
            ]
        )

    names = ("Confidence", "Rows", "Expected errors", "Observed errors", "Correct")
    columns = [*((name, "n") for name in names), ("95% CI", "x")]
    return HtmlTable(caption, columns, [Body([row(one) for one in bins], key) for key, bins in layers.items()])

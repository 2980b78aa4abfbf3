"""Where it goes wrong: by confidence, near certainty, in single rows, in slices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot._io.printable import printable
from surefoot.figures.concentration import concentration
from surefoot.figures.labels import significant, typeset
from surefoot.figures.reliability import Bin, near_certainty_figure, reliability_figure
from surefoot.render import svg
from surefoot.render.looks import KINDS
from surefoot.render.numbers import confidence_percent, percent, percent_interval, pluralize, points, rough_count
from surefoot.render.section import Section
from surefoot.render.tables import Body, Cell, HtmlTable, Item, Panel, Row

#: Errors that a headline rests on at least, and the doubt up to which a row is sure.
_ENOUGH, _SURE = 10, 0.05


class ErrorSection(Section):
    """Figures of all rows, with a layer for each slice that can be picked."""

    def context(self) -> dict[str, Any]:
        a = self.a
        return {
            "where": "Where it goes wrong" if a.verdict in KINDS else "By confidence",
            "pickable": [Item(self.name_of(part), key=key) for key, part in self.layers.items()],
            "summaries": self.summaries(),
            "reliabilities": self.panels(),
            "no_reliability": "This tally does not hold what the reliability diagram is made of.",
            **self.surprise(),
        }

    def summaries(self) -> list[Item]:
        """One sentence on all rows, and on each slice that can be picked."""
        a = self.a
        groups = [("all", a.stated, a.seen, a.risk)]
        groups += [(key, part.stated, part.seen, part.risk) for key, part in self.layers.items()]
        found = []
        for key, stated, seen, risk in groups:
            words = f"{pluralize(risk.n, 'row')}, {pluralize(stated, 'error')} expected, {rough_count(seen)} observed; "
            words += f"overstatement {points(risk.overstatement)}, CSR {significant(risk.csr)}."
            found.append(Item("", typeset(words), key=key))
        return found

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
            f"stated {confidence_percent(top.doubt)}, correct {percent(1 - top.error)}."
        )
        crowded = ""
        if top.rows > 0.5 * a.risk.n and top.doubt < 0.05:
            share = top.rows / sum(one.rows for one in a.reliability)
            crowded = f"{share:.0%} of the rows share the last bin, too close to the corner to judge here."
        intervals = "" if math.isnan(top.low) else ", with 95% intervals"
        return Panel(
            "reliability",
            self.reliability_finding() or figure.title,
            f"Share correct by stated confidence, 15 bins{intervals}.",
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
        n, stated, seen = (sum(getattr(band, name) for band in sure) for name in ("rows", "stated", "seen"))
        alt = (
            f"Reliability on a logarithmic doubt axis. Above 99% stated confidence, {rough_count(n)} rows: "
            f"{rough_count(stated)} errors expected, {rough_count(seen)} observed."
        )
        return Panel(
            "doubt",
            self.near_certainty_finding() or figure.title,
            "The same with doubt (1 − confidence) on a logarithmic axis: every gridline expects ten times "
            "fewer errors. × is observed over expected errors.",
            self.markup(svg.draw(figure, alt)),
            _bin_table("Reliability by doubt bin", bins, lambda one: confidence_percent(one.doubt)),
            figure.title,
        )

    def reliability_finding(self) -> str:
        """A finding only where the verdict says so too: of many bins some stray by chance."""
        bins = self.a.reliability
        for verdict, kind, words in (("overconfident", "over", "less"), ("underconfident", "under", "more")):
            found = [i for i, one in enumerate(bins) if one.kind == kind]
            if self.a.verdict in (verdict, "mixed") and found:
                if found == list(range(found[0], len(bins))):
                    return f"Above {bins[found[0]].least:.0%} it is right {words} often than it says"
                return f"In {pluralize(len(found), 'bin')} of {len(bins)} it is right {words} often than it says"
        return ""

    def near_certainty_finding(self) -> str:
        """A factor of neighbouring bins together, with enough errors: a single one of them is no headline."""
        if self.a.verdict not in ("overconfident", "mixed"):
            return ""
        surest = sorted(self.a.near_certainty, key=lambda one: one.least)
        for i in range(1, len(surest) + 1):
            stated, seen = (math.fsum(getattr(one, name) for one in surest[:i]) for name in ("stated", "seen"))
            if seen >= _ENOUGH and surest[i - 1].most <= _SURE:
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
            columns = [("Rows set aside", "n"), ("Share of CSR", "n"), ("CSR without them", "n")]
            few = next((k for k in (10, 1) if k < found.errors), found.errors)
            carried = f"{pluralize(few, 'row')} carry {percent(found.share_of(few))}"
            alt = f"Share of CSR carried by the most surprising rows: {carried}."
            panel = Panel(
                "concentration",
                found.title,
                f"Share of CSR carried by the most surprising of the {pluralize(found.errors, 'error')}.",
                self.markup(svg.draw(found.figure(), alt)),
                HtmlTable("Surprise concentration", columns, [Body(body)]),
            )
        reason = "No error was made: there is no surprise to share out."
        if a.seen and a.risk.certain_wrong:
            reason = "CSR is infinite: rows with confidence 1 that were wrong carry all of it."
        elif a.seen:
            reason = "Not available with unequal weights."
        return {
            "concentration": panel,
            "no_concentration": reason,
            "surprises": self.surprises(),
            "no_surprises": "No error was made." if not a.seen else "The rows themselves are not held in a tally.",
        }

    def surprises(self) -> HtmlTable | None:
        """The rows that surprise most; None where a tally holds none."""
        a = self.a
        if not a.surprises:
            return None
        labelled = a.surprises[0].truth is not None
        keys = {part.value: key for key, part in self.layers.items()}
        columns = [("Row", "n"), *([("True", "t"), ("Predicted", "t")] if labelled else []), ("Confidence", "n")]
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
            body.append(Row([Cell(f"{one.row + 1:,}", one.row), *labels, *numbers], within))
        return HtmlTable("Most surprising rows", columns, [Body(body)], "rows")


def _bin_table(caption: str, layers: Mapping[str, Sequence[Bin]], label: Callable[[Bin], str]) -> HtmlTable:
    """The numbers behind a reliability diagram, a body for each layer."""

    def row(one: Bin) -> Row:
        return Row(
            [
                Cell(typeset(label(one)), one.doubt),
                Cell(rough_count(one.rows), one.rows),
                Cell(typeset(rough_count(one.stated)), one.stated),
                Cell(rough_count(one.seen), one.seen),
                Cell(percent(1 - one.error), 1 - one.error),
                Cell(percent_interval(1 - one.high, 1 - one.low)),
            ]
        )

    names = ("Confidence", "Rows", "Expected errors", "Observed errors", "Correct")
    columns = [*((name, "n") for name in names), ("95% interval", "x")]
    return HtmlTable(caption, columns, [Body([row(one) for one in bins], key) for key, bins in layers.items()])

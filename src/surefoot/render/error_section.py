"""Where it goes wrong: by confidence, near certainty, in single rows, in slices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.figures.reliability import Bin, concentration
from surefoot.render import svg
from surefoot.render.numbers import (
    claimed_by,
    counted,
    percent,
    percents,
    points,
    significant,
    typeset,
    whole,
)
from surefoot.render.section import KINDS, Section
from surefoot.render.tables import Body, Figure, Item, Row, Table, cell, heads, rows

if TYPE_CHECKING:
    pass

#: Errors that a headline rests on at least, and the doubt up to which a row is sure.
_ENOUGH, _SURE = 10, 0.05


class ErrorSection(Section):
    """Figures of all rows, with a layer for each slice that can be picked."""

    def filled(self) -> dict[str, Any]:
        a = self.a
        return {
            "where": "Where it goes wrong" if a.verdict in KINDS else "By confidence",
            "pickable": [Item(self.called(part), key=key) for key, part in self.layers.items()],
            "said": self.said(),
            "reliabilities": self.reliabilities(),
            "no_reliability": "This tally does not hold what the reliability diagram is made of.",
            **self.surprise(),
        }

    def said(self) -> list[Item]:
        a = self.a
        groups = [("all", a.risk.n, a.stated, a.seen, a.risk)]
        groups += [(key, part.risk.n, part.stated, part.seen, part.risk) for key, part in self.layers.items()]
        found = []
        for key, n, stated, seen, risk in groups:
            words = f"{counted(n, 'row')}, {counted(stated, 'error')} expected, {whole(seen)} observed; "
            words += f"overstatement {points(risk.overstatement)}, CSR {significant(risk.csr)}."
            found.append(Item("", typeset(words), key=key))
        return found

    def reliabilities(self) -> list[Figure]:
        a = self.a
        found = []
        if a.reliability:
            table = {"all": a.reliability, **{key: part.reliability for key, part in self.layers.items()}}
            top = a.reliability[-1]
            alt = (
                f"Reliability diagram. In the top bin, {whole(top.rows)} rows, stated {claimed_by(top.doubt)}, "
                f"correct {percent(1 - top.error)}."
            )
            crowded = ""
            if top.rows > 0.5 * a.risk.n and top.doubt < 0.05:
                share = top.rows / sum(one.rows for one in a.reliability)
                crowded = f"{share:.0%} of the rows share the last bin, too close to the corner to judge here."
            intervals = "" if math.isnan(top.low) else ", with 95% intervals"
            found.append(
                Figure(
                    "reliability",
                    self.reliability_title(),
                    f"Share correct by stated confidence, 15 bins{intervals}.",
                    self.markup(svg.reliability(table, alt)),
                    self.bin_table("Reliability by confidence bin", table, lambda one: percent(1 - one.doubt)),
                    "Reliability",
                    crowded,
                )
            )
        if a.near_certainty:
            table = {"all": a.near_certainty, **{key: part.near_certainty for key, part in self.layers.items()}}
            sure = [band for band in a.bands if band.below <= 0.01]
            n, stated, seen = (sum(getattr(band, name) for band in sure) for name in ("rows", "stated", "seen"))
            alt = (
                f"Reliability on a logarithmic doubt axis. Above 99% stated confidence, {whole(n)} rows: "
                f"{whole(stated)} errors expected, {whole(seen)} observed."
            )
            found.append(
                Figure(
                    "doubt",
                    self.stretched_title(),
                    "The same with doubt (1 − confidence) on a logarithmic axis: every gridline expects ten times "
                    "fewer errors. × is observed over expected errors.",
                    self.markup(svg.stretched(table, alt)),
                    self.bin_table("Reliability by doubt bin", table, lambda one: claimed_by(one.doubt)),
                    "Reliability near certainty",
                )
            )
        return found

    def reliability_title(self) -> str:
        """A finding only where the verdict says so too: of many bins some stray by chance."""
        bins = self.a.reliability
        for verdict, kind, words in (("overconfident", "over", "less"), ("underconfident", "under", "more")):
            found = [i for i, one in enumerate(bins) if one.kind == kind]
            if self.a.verdict in (verdict, "mixed") and found:
                if found == list(range(found[0], len(bins))):
                    return f"Above {bins[found[0]].least:.0%} it is right {words} often than it says"
                return f"In {counted(len(found), 'bin')} of {len(bins)} it is right {words} often than it says"
        return "Reliability"

    def stretched_title(self) -> str:
        """A factor of neighbouring bins together, with enough errors: a single one of them is no headline."""
        if self.a.verdict not in ("overconfident", "mixed"):
            return "Reliability near certainty"
        surest = sorted(self.a.near_certainty, key=lambda one: one.least)
        for i in range(1, len(surest) + 1):
            stated, seen = (math.fsum(getattr(one, name) for one in surest[:i]) for name in ("stated", "seen"))
            if seen >= _ENOUGH and surest[i - 1].most <= _SURE:
                if seen < 2 * stated:
                    break
                times = typeset(significant(seen / stated, 2)) if stated else "∞"
                said = f"Above {claimed_by(surest[i - 1].most)}: {whole(seen)} errors, {whole(stated)} expected"
                return f"{typeset(said)} (×{times})"
        return "Reliability near certainty"

    def bin_table(self, caption: str, table: svg.Layers, label: Any) -> Table:
        def told(one: Bin) -> Row:
            ends = percents(1 - one.high, 1 - one.low)
            return Row(
                [
                    cell(typeset(label(one)), one.doubt),
                    cell(whole(one.rows), one.rows),
                    cell(typeset(whole(one.stated)), one.stated),
                    cell(whole(one.seen), one.seen),
                    cell(percent(1 - one.error), 1 - one.error),
                    cell(ends),
                ]
            )

        names = heads(
            ("Confidence", "n"),
            ("Rows", "n"),
            ("Expected errors", "n"),
            ("Observed errors", "n"),
            ("Correct", "n"),
            ("95% interval", "x"),
        )
        return Table(caption, names, [Body([told(one) for one in bins], key) for key, bins in table.items()])

    def surprise(self) -> dict[str, Any]:
        a = self.a
        counted_once = not math.isnan(a.risk.deflation) or a.risk.certain_wrong
        found = concentration(a.counts, a.risk.csr) if a.counts is not None and a.seen and counted_once else None
        why = "No error was made: there is no surprise to share out."
        if a.seen:
            why = "CSR is infinite: rows with confidence 1 that were wrong carry all of it."
            if not a.risk.certain_wrong:
                why = "Not available with unequal weights."
        figure = None
        if found is not None:
            ranks = svg.ranks_of(found.mistakes)
            behind = Table(
                "Surprise concentration",
                heads(("Rows set aside", "n"), ("Share of CSR", "n"), ("CSR without them", "n")),
                [
                    Body(
                        rows(
                            [
                                cell(f"{k:,}", k),
                                cell(percent(found.of(k)), found.of(k)),
                                cell(typeset(significant(found.without(k))), found.without(k)),
                            ]
                            for k in ranks
                        )
                    )
                ],
            )
            told = next((k for k in (10, 1) if k < found.mistakes), found.mistakes)
            carried = f"{counted(told, 'row')} carry {percent(found.of(told))}"
            alt = f"Share of CSR carried by the most surprising rows: {carried}."
            figure = Figure(
                "concentration",
                self.concentration_title(found),
                f"Share of CSR carried by the most surprising of the {counted(found.mistakes, 'error')}.",
                self.markup(svg.concentration(found, alt)),
                behind,
            )
        return {
            "concentration": figure,
            "no_concentration": why,
            "surprises": self.surprises(),
            "no_surprises": "No error was made." if not a.seen else "The rows themselves are not held in a tally.",
        }

    def concentration_title(self, found: Any) -> str:
        if found.csr <= 1:
            return "How surprise is spread over the errors"
        if found.to_calm <= 5:
            return f"A handful of rows: without {counted(found.to_calm, 'row')}, CSR is at most 1"
        return f"Not a handful of rows: {found.to_calm:,} must go before CSR falls to 1"

    def surprises(self) -> Table | None:
        a = self.a
        if not a.surprises:
            return None
        labelled = a.surprises[0].truth is not None
        keys = {part.value: key for key, part in self.layers.items()}
        names = [("Row", "n"), *([("True", "t"), ("Predicted", "t")] if labelled else []), ("Confidence", "n")]
        names += [("Surprise", "n wide"), ("Share of CSR", "n")]
        body = []
        for one in a.surprises:
            labels = [cell(printable(one.truth, 30)), cell(printable(one.predicted, 30))] if labelled else []
            surprise = 1 / one.doubt if one.doubt else math.inf
            numbers = [
                cell(typeset(claimed_by(one.doubt)), -one.doubt),
                cell(typeset(significant(surprise, 4)), surprise),
                cell(percent(one.share), one.share),
            ]
            within = keys.get(one.slice, "none") if one.slice is not None else "all"
            body.append(Row([cell(f"{one.row + 1:,}", one.row), *labels, *numbers], within))
        return Table("Most surprising rows", heads(*names), [Body(body)], "rows")

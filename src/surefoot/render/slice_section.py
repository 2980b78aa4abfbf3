"""The slices: a table of the errors expected and observed in each, and its overstatement."""

from __future__ import annotations

import math
from typing import Any

from surefoot._io.printable import printable
from surefoot.assessment.slices import Slice
from surefoot.assessment.verdict import RISKY
from surefoot.figures.labels import significant, typeset
from surefoot.render import svg
from surefoot.render.looks import KINDS
from surefoot.render.numbers import percent, points, pvalue, rough_count, round_up
from surefoot.render.section import Section
from surefoot.render.tables import Body, Cell, HtmlTable, Row

#: Slices that are shown at once; the others are folded.
_SHOWN = 20


class SliceSection(Section):
    """Slices by true class carry no p-value and no interval: the truth is the outcome."""

    def context(self) -> dict[str, Any]:
        a = self.a
        if not a.slices:
            absent = ("slices_title", "slices_words", "slices_note", "more_slices_words")
            return {"slices": None, "more_slices": None, **dict.fromkeys(absent, "")}
        by = {"predicted": "Predicted class", "truth": "True class"}.get(str(a.by), printable(a.by or "slice", 40))
        risks = [part.risk for part in self.listed]
        reach = [abs(end) for risk in risks for end in (risk.overstatement, *risk.overstatement_interval)]
        widest = max((v for v in reach if not math.isnan(v)), default=0.01) or 0.01
        tested = not self.is_descriptive
        names = [
            (by, "t"),
            ("Rows", "n wide"),
            ("Errors expected → observed", "n wide"),
            ("Correct", "n wide"),
            ("Overstatement", "x chartcol"),
            ("Points", "n"),
            ("CSR", "n wide"),
            *([("p, adjusted", "n")] if tested else []),
        ]
        keys = {id(part): key for key, part in self.layers.items()}
        body = [self.slice_row(part, keys.get(id(part)), widest, tested) for part in self.listed]
        note = ""
        if self.is_descriptive:
            note = (
                "Descriptive only. The true class is the outcome: even a calibrated model looks overconfident on the "
                "classes it finds hard, so there are no p-values and no intervals."
            )
        if len(a.slices) > len(self.listed):
            note += f" {len(a.slices) - len(self.listed):,} more slices are left out here; they are in the JSON output."
        first, rest = body[:_SHOWN], body[_SHOWN:]
        more = HtmlTable(f"More slices by {by}", names, [Body(rest)], "slices") if rest else None
        return {
            "slices": HtmlTable(f"Slices by {by}", names, [Body(first)], "slices"),
            "more_slices": more,
            "more_slices_words": f"Show {len(rest):,} more slices" if len(rest) > 1 else "Show 1 more slice",
            "slices_title": self.slices_title(by),
            "slices_words": "Worst first. Choose a slice to show it in the figures above. Overstatement is mean "
            "confidence minus accuracy, with its 95% CI; the axis reaches "
            f"{round_up(100 * widest, 2)} points to either side.",
            "slices_note": note,
        }

    def slice_row(self, part: Slice, key: str | None, widest: float, tested: bool) -> Row:
        name, stated = self.name_of(part), f"{rough_count(part.stated)} → {rough_count(part.seen)}"
        if key is not None:
            button = '<button type="button" class="pick" data-pick="{}">{}</button><span class="meta">{} errors</span>'
            name = self.markup(button).format(key, name, stated)
        size, (low, high) = part.risk.overstatement, part.risk.overstatement_interval
        kind = "dot" if not tested else KINDS.get(part.verdict, "fair")
        drawn = self.markup(svg.forest(size, low, high, kind, widest))
        cells = [
            Cell(name),
            Cell(f"{part.risk.n:,}", part.risk.n),
            Cell(typeset(stated), part.seen / part.stated if part.stated else math.inf),
            Cell(percent(part.metrics["accuracy"]), part.metrics["accuracy"]),
            Cell(drawn),
            Cell(typeset(points(size).partition(" ")[0]), size),
            Cell(typeset(significant(part.risk.csr)), part.risk.csr),
        ]
        if tested:
            cells.append(Cell(typeset(pvalue(part.pvalue_adjusted)), part.pvalue_adjusted))
        return Row(cells)

    def slices_title(self, by: str) -> str:
        a = self.a
        if self.is_descriptive:
            return "By true class, as a description"
        what = "predicted classes" if a.by == "predicted" else f"slices by {by}"
        numbers = {kind: sum(part.verdict == kind for part in a.slices) for kind in (*KINDS, "inconclusive")}
        found = [f"{number:,} {kind}" for kind, number in numbers.items() if number]
        if not any(numbers[kind] for kind in KINDS):
            if found:
                return f"No evidence of over- or underconfidence in {len(a.slices):,} {what}; {found[0]}"
            return f"No evidence against calibration in any of {len(a.slices):,} {what}"
        over = [part for part in a.slices if part.verdict in RISKY]
        most = max(over, key=lambda part: part.risk.overstatement, default=None)
        worst = "" if most is None else f". Most overstated: {self.name_of(most)}"
        return f"Of {len(a.slices):,} {what}, {', '.join(found)}{worst}"

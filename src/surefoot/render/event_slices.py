"""The slices of an event, or its classes: what was expected and observed in each."""

from __future__ import annotations

import math
from typing import Any

from surefoot._io.printable import printable
from surefoot.assessment.slices import Slice
from surefoot.figures.labels import typeset
from surefoot.render import svg, wording
from surefoot.render.event_tables import oe_interval, verdict_words
from surefoot.render.numbers import percent, points, pvalue, ratio, rough_count, round_up
from surefoot.render.section import Section
from surefoot.render.tables import Body, Cell, HtmlTable, Row

#: Rows that are shown at once; the others are folded.
_SHOWN = 20


class EventSliceSection(Section):
    """Slices by the true label carry no p-value and no interval: the truth is the outcome."""

    def context(self) -> dict[str, Any]:
        a = self.a
        if not a.slices:
            absent = ("slices_title", "slices_words", "slices_note", "more_slices_words")
            return {"slices": None, "more_slices": None, **dict.fromkeys(absent, "")}
        is_of_classes = a.view == "classes"
        by = {"class": "Class", "predicted": "Predicted class", "truth": "True class"}.get(
            str(a.by), printable(a.by or "slice", 40)
        )
        reach = [
            abs(end)
            for part in self.listed
            for end in (part.risk.overstatement, *part.risk.overstatement_interval)
            if not math.isnan(end)
        ]
        widest = max(reach, default=0.01) or 0.01
        tested = not self.is_descriptive
        columns = [
            (by, "t"),
            *([] if is_of_classes else [("Rows", "n wide")]),
            ("Expected", "n"),
            ("Observed", "n"),
            ("Observed share", "n wide"),
            ("Predicted minus observed", "x chartcol wide"),
            ("Points", "n wide"),
            ("O/E", "n"),
            ("95% CI", "x wide"),
            *([("Verdict", "t wide"), ("p, adjusted", "n wide")] if tested else []),
        ]
        keys = {id(part): key for key, part in self.layers.items()}
        body = [self.row(part, keys.get(id(part)), widest, tested) for part in self.listed]
        what = "classes" if is_of_classes else "slices"
        note = ""
        if self.is_descriptive:
            note = "Descriptive only: the true label is the outcome, so there are no p-values and no intervals."
        if len(a.slices) > len(self.listed):
            note += f" {len(a.slices) - len(self.listed):,} more {what} are left out here; they are in the JSON output."
        first, rest = body[:_SHOWN], body[_SHOWN:]
        single = "class" if is_of_classes else "slice"
        return {
            "slices": HtmlTable(f"{what.capitalize()} by {by}", columns, [Body(first)], "slices events"),
            "more_slices": HtmlTable(f"More {what}", columns, [Body(rest)], "slices events") if rest else None,
            "more_slices_words": f"Show {len(rest):,} more {what}" if len(rest) > 1 else f"Show 1 more {single}",
            "slices_title": wording.slice_title(a),
            "slices_words": f"Worst first. Choose a {single} to show it in the figure above. The difference is mean "
            "predicted probability minus observed share, with its 95% CI; the axis reaches "
            f"{round_up(100 * widest, 2)} points to either side.",
            "slices_note": note.strip(),
        }

    def row(self, part: Slice, key: str | None, widest: float, tested: bool) -> Row:
        name: Any = self.name_of(part)
        verdict = verdict_words(part)
        if key is not None:
            button = '<button type="button" class="pick" data-pick="{}">{}</button><span class="meta">{}</span>'
            name = self.markup(button).format(key, name, verdict)
        r, total = part.risk, part.risk.expected_events + part.risk.expected_errors
        size, (low, high) = r.overstatement, r.overstatement_interval
        kind = "dot" if not tested else "over" if low > 0 else "under" if high < 0 else "fair"
        share = part.seen / total if total else math.nan
        cells = [
            Cell(name),
            *([] if self.a.view == "classes" else [Cell(f"{r.n:,}", r.n)]),
            Cell(typeset(rough_count(part.stated)), part.stated),
            Cell(typeset(rough_count(part.seen)), part.seen),
            Cell(typeset(percent(share)), share),
            Cell(self.markup(svg.forest(size, low, high, kind, widest))),
            Cell(typeset(points(size).partition(" ")[0]), size),
            Cell(typeset(ratio(r.oe_ratio, *r.oe_interval)), r.oe_ratio),
            Cell(typeset(oe_interval(part))),
        ]
        if tested:
            cells += [Cell(verdict), Cell(typeset(pvalue(part.pvalue_adjusted)), part.pvalue_adjusted)]
        return Row(cells)

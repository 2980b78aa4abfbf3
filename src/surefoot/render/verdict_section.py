"""The top of the report: the verdict, three numbers of risk, and what the confidences are worth."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

from surefoot._io.printable import printable
from surefoot.figures.labels import area, significant, typeset
from surefoot.render import prediction_wording as wording
from surefoot.render import svg
from surefoot.render.looks import KINDS
from surefoot.render.main_numbers import score_numbers
from surefoot.render.next_steps import next_steps
from surefoot.render.numbers import (
    area_interval,
    percent,
    percent_interval,
    points,
    points_interval,
    pvalue,
    ratio_interval,
    reciprocal,
    round_down,
    signed_percent,
)
from surefoot.render.section import Section
from surefoot.render.shared_wording import footer
from surefoot.render.tables import Item
from surefoot.render.wording import notes as all_notes


class VerdictSection(Section):
    """One word, one sentence on what to do, one that counts errors; then risk, then value, never mixed."""

    def context(self) -> dict[str, Any]:
        a = self.a
        return {
            "kind": KINDS.get(a.verdict, "fair"),
            # of both sides at once the mean says neither
            "hue": "fair" if a.verdict == "mixed" else KINDS.get(a.verdict, "fair"),
            "word": wording.headline(a),
            "source": printable(a.source) if a.source else "predictions",
            "advice": typeset(wording.advice(a)),
            "lede": typeset(" ".join(wording.sentences(a))),
            "warnings": [typeset(warning) for warning in a.warnings],
            "notes": [typeset(note) for note in all_notes(a)],
            "steps": [Item(typeset(step.words), value=step.command) for step in next_steps(a)],
            "scores": [Item(one.name, typeset(one.words), typeset(one.value)) for one in score_numbers(a.metrics)],
            "footer": f"{footer(a)}, {date.today().isoformat()}",
            "cards": self.cards(),
            **self.ruler(),
            "values": self.values(),
        }

    def cards(self) -> list[Item]:
        a, side = self.a, wording.tested_side(self.a)
        csr, r = a.risk.csr, a.risk
        words = "Calibrated is 1."
        if not math.isnan(r.csr_lower):
            words = f"At least {typeset(round_down(r.csr_lower))} with 95% confidence; calibrated is 1."
        if math.isinf(csr):
            words = "Rows with confidence 1 were wrong, and confidence 1 allows no errors."
        elif csr > 1:
            times = typeset(significant(csr))
            words += f" Errors, each weighted by 1 / doubt, are {times} times those of a calibrated model."
        elif csr < 1:
            words += " Below 1 is common for calibrated models if some confidences are close to 1."
        ratio = f"95% CI {typeset(ratio_interval(*r.oe_interval))}. Calibrated is 1."
        apart = f"points, 95% CI {typeset(points_interval(*r.overstatement_interval))}. Mean confidence minus accuracy."
        return [
            Item("Observed / expected errors", ratio, typeset(significant(r.oe_ratio))),
            Item("Overstatement", apart, typeset(points(r.overstatement).partition(" ")[0])),
            Item("p-value", self.pvalue_words(), typeset(pvalue(wording.deciding_side(a).pvalue_omnibus))),
            Item("Size ratio (CSR)", words, typeset(significant(csr))),
            Item("Deflation", self.deflation_words(), percent(side.deflation, zero="0%")),
        ]

    def pvalue_words(self) -> str:
        side = wording.deciding_side(self.a)
        p = side.pvalue_omnibus
        if side.method == "normal":
            return "Approximate, from sums of unequal weights: the exact test needs the rows."
        if side.pvalue == 0 and side.alternative == "underconfident":
            return "A row with confidence 0 was correct, which never happens if the model is calibrated."
        if side.pvalue == 0:
            return "A row with confidence 1 was wrong, which never happens if the model is calibrated."
        often = f" (once in {typeset(reciprocal(p))} data sets)" if 1e-300 < p < 0.5 else ""
        alone = f"CSR alone {typeset(pvalue(side.pvalue))}, capped {typeset(pvalue(side.pvalue_capped))}"
        return f"Chance of an outcome at least this extreme if the model were calibrated{often}. {alone}."

    def deflation_words(self) -> str:
        a, side = self.a, wording.tested_side(self.a)
        if math.isnan(side.deflation):
            return "Not available for this input: needs rows of equal weight with confidences below 1."
        what = "Accuracy is about (1 − deflation) × confidence"
        if a.verdict == "underconfident":
            what = "Errors are about (1 − deflation) × (1 − confidence)"
        return f"95% CI {percent_interval(*side.deflation_interval)}. {what}. The surest rows dominate it."

    def ruler(self) -> dict[str, Any]:
        a = self.a
        if not math.isfinite(a.risk.csr) or a.risk.csr <= 0:
            return {"ruler": "", "ruler_words": ""}
        typical = a.typical_csr
        # in the colour of the verdict only where CSR itself speaks for it
        kind = KINDS.get(a.verdict, "fair") if wording.tested_side(a).pvalue_combined <= a.level / 2 else "fair"
        alt = f"CSR {significant(a.risk.csr)} on a log scale, against 1"
        words = "CSR on a log scale."
        if typical is not None:
            low, high = (significant(end, 2) for end in typical)
            alt += f"; nine in ten calibrated models lie between {low} and {high}"
            words += " Band: 9 in 10 calibrated models."
        if not math.isnan(a.risk.csr_lower):
            words += " Line: from the 95% lower bound upwards; CSR has no upper bound."
        drawn = svg.ruler(a.risk.csr, a.risk.csr_lower, typical, kind, f"{alt}.")
        return {"ruler": self.markup(drawn), "ruler_words": words}

    def values(self) -> list[Item]:
        a = self.a
        found = [
            Item("Accuracy", self.interval("accuracy"), percent(a.metrics["accuracy"])),
            Item("Weighted by confidence (cwA)", self.interval("cw_accuracy"), percent(a.metrics["cw_accuracy"])),
            Item("Gain, share of error removed", self.points(), signed_percent(a.metrics["gain"])),
        ]
        if "auc" in a.metrics:
            macro = ", macro" if (a.classes or 0) > 2 else ""
            found.append(Item(f"AUC{macro}", self.interval("auc"), area(a.metrics["auc"])))
            found.append(Item("Weighted by confidence (cwAUC)", self.interval("cw_auc"), area(a.metrics["cw_auc"])))
        return found

    def interval(self, name: str) -> str:
        """The interval of a metric in words, its ends rounded outwards."""
        found = self.a.intervals.get(name)
        if found is None or math.isnan(found.low):
            return ""
        return area_interval(found.low, found.high) if "auc" in name else percent_interval(found.low, found.high)

    def points(self) -> str:
        difference = 100 * (self.a.metrics["cw_accuracy"] - self.a.metrics["accuracy"])
        return "" if math.isnan(difference) else f"{typeset(f'{difference:+.2g}')} points of accuracy"

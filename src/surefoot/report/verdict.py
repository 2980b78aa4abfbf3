"""The top of the report: the verdict, three numbers of risk, and what the confidences are worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from surefoot.names import shown
from surefoot.report import charts, wording
from surefoot.report.numbers import (
    areas,
    counted,
    cut,
    once_in,
    percent,
    percents,
    pvalue,
    signed_percent,
    significant,
    typeset,
)
from surefoot.report.section import KINDS, Section
from surefoot.report.tables import Item
from surefoot.report.terminal import area

if TYPE_CHECKING:
    pass


class Verdict(Section):
    """One word, one sentence on what to do, one that counts mistakes; then risk, then value, never mixed."""

    def filled(self) -> dict[str, Any]:
        a = self.a
        return {
            "kind": KINDS.get(a.verdict, "fair"),
            "word": wording.WORDS[a.verdict],
            "source": shown(a.source) if a.source else "predictions",
            "advice": typeset(wording.advice(a)),
            "lede": typeset(wording.mistakes(a)),
            "notes": [typeset(note) for note in wording.notes(a)],
            "cards": self.cards(),
            **self.ruler(),
            "values": self.values(),
        }

    def cards(self) -> list[Item]:
        a, side = self.a, wording.tested_side(self.a)
        csr = a.risk.csr
        words = (
            "" if math.isnan(a.risk.csr_lower) else f"At least {typeset(cut(a.risk.csr_lower))} with 95% confidence; "
        )
        words += "calibrated is 1." if words else "Calibrated is 1."
        if math.isinf(csr):
            words = "Rows that claimed certainty were wrong: no number of rows explains that."
        elif csr > 1:
            times = typeset(significant(csr, 2))
            words += f" Its mistakes are those of a calibrated model on {times} times as many rows."
        elif csr < 1:
            words += " Below 1 is not praise: calibrated models mostly are where doubts differ much."
        return [
            Item("Size ratio (CSR)", words, typeset(significant(csr))),
            Item("Exact p-value" if side.method == "exact" else "p-value", self.odds(), typeset(pvalue(side.pvalue))),
            Item("Deflation", self.deflated(), "—" if math.isnan(side.deflation) else percent(side.deflation)),
        ]

    def odds(self) -> str:
        side = wording.tested_side(self.a)
        if side.method == "normal":
            return "By the normal law: the exact one needs the rows where weights are unequal."
        what = "this many right" if side.alternative == "underconfident" else "a ratio this large"
        if side.pvalue == 0 and side.alternative == "underconfident":
            return "A row that was given no chance of being right was right: of a calibrated model none ever is."
        if side.pvalue == 0:
            return "A row that claimed certainty was wrong: a calibrated model never is."
        often = f"once in {typeset(once_in(side.pvalue))} data sets" if side.pvalue < 0.5 else "more often than not"
        capped = typeset(pvalue(side.pvalue_capped))
        return f"A calibrated model shows {what} {often}. With no row allowed to dominate: {capped}."

    def deflated(self) -> str:
        a, side = self.a, wording.tested_side(self.a)
        if math.isnan(side.deflation):
            return "It counts rows; with unequal weights, or no doubt anywhere, there is none."
        interval = percents(*side.deflation_interval)
        if a.verdict == "underconfident":
            return f"{interval}. Stated doubt × {significant(1 - side.deflation)} fits the outcomes best."
        if a.verdict == "overconfident":
            return f"{interval}. Stated confidence × {significant(1 - side.deflation)} fits the outcomes best."
        return f"{interval}. At most this much is hidden in {counted(a.risk.n, 'row')}."

    def ruler(self) -> dict[str, Any]:
        a = self.a
        if not math.isfinite(a.risk.csr) or a.risk.csr <= 0:
            return {"ruler": "", "ruler_words": ""}
        typical = a.typical_csr
        kind = KINDS.get(a.verdict, "fair")
        alt = f"CSR {significant(a.risk.csr)} on a log scale, against 1"
        words = "CSR on a log scale."
        if typical is not None:
            low, high = (significant(end, 2) for end in typical)
            alt += f"; nine in ten calibrated models lie between {low} and {high}"
            words += " Band: 9 in 10 calibrated models."
        if not math.isnan(a.risk.csr_lower):
            words += " Line: from the lower bound up; no upper bound exists."
        drawn = charts.ruler(a.risk.csr, a.risk.csr_lower, typical, kind, f"{alt}.")
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
        """Ends that are never to the kind side."""
        found = self.a.intervals.get(name)
        if found is None or math.isnan(found.low):
            return ""
        return areas(found.low, found.high) if "auc" in name else percents(found.low, found.high)

    def points(self) -> str:
        difference = 100 * (self.a.metrics["cw_accuracy"] - self.a.metrics["accuracy"])
        return "" if math.isnan(difference) else f"{typeset(f'{difference:+.2g}')} points of accuracy"

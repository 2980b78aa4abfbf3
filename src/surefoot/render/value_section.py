"""What the confidences are worth: ROC and cwROC, classes, and what answering only the surest rows brings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._io.printable import printable
from surefoot.figures.reliability import coverage
from surefoot.figures.roc import macro_curves
from surefoot.render import svg
from surefoot.render.numbers import (
    percent,
    typeset,
)
from surefoot.render.section import MOST_LAYERS, Section
from surefoot.render.tables import Body, Figure, Row, Table, cell, heads, rows
from surefoot.render.text import area

if TYPE_CHECKING:
    pass


class ValueSection(Section):
    """Value, which is blind to risk."""

    def filled(self) -> dict[str, Any]:
        a = self.a
        figures = []
        filled: dict[str, Any] = {"classes": None, "classes_title": "", "classes_words": "", "no_worth": ""}
        if a.predictions is not None and a.predictions.probabilities is not None and a.counts is not None:
            ranking = self.roc()
            if ranking is not None:
                figures.append(ranking)
            filled |= self.classes()
        elif "auc" in a.metrics:
            filled["no_worth"] = "The ROC curves need the rows, which a tally does not hold."
        if a.counts is not None and a.counts.n:
            figures.append(self.coverage())
        return {**filled, "worth": figures}

    def roc(self) -> Figure | None:
        a = self.a
        found = None if a.predictions is None else macro_curves(a.predictions)
        if found is None:
            return None
        grid, plain, weighted = found
        auc = a.metrics["auc"]
        wide = 0.1 if auc > 0.97 else 0.5 if auc > 0.9 else 1.0
        areas = (area(auc), area(a.metrics["cw_auc"]))
        macro = f", macro over {a.classes} classes" if (a.classes or 0) > 2 else ""
        corner = "" if wide == 1 else " Only the top left corner is drawn."
        marks = [share * wide for share in svg.ROC_MARKS]
        behind = Table(
            "ROC and cwROC",
            heads(("False alarms", "n"), ("Found", "n"), ("Found, weighted", "n")),
            [
                Body(
                    rows(
                        [
                            cell(f"{100 * f:.3g}%", f),
                            *(cell(f"{v:.2%}", v) for v in (np.interp(f, grid, plain), np.interp(f, grid, weighted))),
                        ]
                        for f in marks
                    )
                )
            ],
        )
        alt = f"ROC and confidence-weighted ROC{macro}. AUC {areas[0]}, cwAUC {areas[1]}."
        return Figure(
            "roc",
            self.roc_title(),
            f"ROC and confidence-weighted ROC{macro}.{corner}",
            self.markup(svg.roc(grid, plain, weighted, areas, wide, alt)),
            behind,
        )

    def roc_title(self) -> str:
        difference = self.a.intervals.get("cw_auc - auc")
        if difference is not None and difference.low > 0:
            return "Where it is confident, it also ranks better"
        if difference is not None and difference.high < 0:
            return "Where it is confident, it ranks worse"
        return "ROC and confidence-weighted ROC"

    def classes(self) -> dict[str, Any]:
        from surefoot.metrics.ranking import auc, cw_auc

        a = self.a
        labels = a.predictions.labels if a.predictions is not None else None
        if labels is None or not 2 < len(labels) <= 1000:
            return {}
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain, weighted = (np.asarray(f(a.predictions, average=None)) for f in (auc, cw_auc))
        known = [k for k in range(len(labels)) if not math.isnan(plain[k]) and not math.isnan(weighted[k])]
        if not known:
            return {}
        known.sort(key=lambda k: float(plain[k]))
        kept = known[:MOST_LAYERS]
        low = math.floor(100 * float(min(plain[kept].min(), weighted[kept].min()))) / 100
        low = min(low, 0.99)
        body = [
            Row(
                [
                    cell(printable(labels[k], 40)),
                    cell(self.markup(svg.dumbbell(float(plain[k]), float(weighted[k]), low))),
                    cell(area(float(plain[k])), float(plain[k])),
                    cell(area(float(weighted[k])), float(weighted[k])),
                    cell(typeset(f"{1e4 * (weighted[k] - plain[k]):+.1f}"), float(weighted[k] - plain[k])),
                ]
            )
            for k in kept
        ]
        names = heads(
            ("Class", "t"),
            (f"AUC ○ to cwAUC ●, {low:g} to 1", "x chartcol"),
            ("AUC", "n"),
            ("cwAUC", "n"),
            ("Difference × 10⁴", "n wide"),
        )
        left = "" if len(kept) == len(known) else f" The {len(kept)} hardest of {len(known)}."
        return {
            "classes": Table("AUC and cwAUC by class", names, [Body(body)], "slices"),
            "classes_title": "The classes that are hardest to rank",
            "classes_words": f"One class against the rest; pairs weighted by the confidence of both rows.{left}",
        }

    def coverage(self) -> Figure:
        a = self.a
        assert a.counts is not None
        found = coverage(a.counts)
        half, overall = found.error(0.5), found.error(1.0)
        behind = Table(
            "Errors by coverage",
            heads(("Rows answered", "n"), ("Errors among them", "n")),
            [
                Body(
                    rows(
                        [cell(f"{share:.0%}", share), cell(percent(error := found.error(share)), error)]
                        for share in svg.COVERAGES
                    )
                )
            ],
        )
        title = "Errors by how many rows are answered"
        if overall and half < 0.9 * overall:
            title = f"Answering the surest half only, it is wrong {percent(half)} of the time, not {percent(overall)}"
        elif overall and half > 1.1 * overall:
            title = f"The surest half is wrong more often: {percent(half)}, not {percent(overall)}"
        alt = f"Risk-coverage curve: {percent(overall)} errors over all rows, {percent(half)} over the surest half."
        return Figure(
            "coverage",
            title,
            "Share of errors when only the surest rows are answered. Every row counts once.",
            self.markup(svg.coverage(found, alt)),
            behind,
        )

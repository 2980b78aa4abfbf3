"""What the confidences are worth: ROC and cwROC, classes, and what answering only the surest rows brings."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from surefoot._io.printable import printable
from surefoot.decisions.offers import Offer, best_offer
from surefoot.figures.concentration import ENOUGH_ERRORS
from surefoot.figures.coverage import coverage
from surefoot.figures.labels import area, typeset
from surefoot.figures.roc import roc
from surefoot.metrics.ranking import auc, cw_auc
from surefoot.render import svg
from surefoot.render.numbers import count, exact_percent, percent
from surefoot.render.section import MOST_LAYERS, Section
from surefoot.render.shared_wording import rows_of_weight
from surefoot.render.tables import Body, Cell, HtmlTable, Panel, Row


def _from(offer: Offer) -> str:
    if offer.threshold is None:
        return "none"
    return exact_percent(offer.threshold) if offer.coverage < 1 else "any"


class ValueSection(Section):
    """Value, which is blind to risk."""

    def context(self) -> dict[str, Any]:
        a = self.a
        panels = []
        context: dict[str, Any] = {"classes": None, "classes_title": "", "classes_words": "", "no_worth": ""}
        if a.predictions is not None and a.predictions.has_ranking and a.counts is not None:
            ranking = self.roc()
            if ranking is not None:
                panels.append(ranking)
            context |= self.classes()
        elif "auc" in a.metrics:
            context["no_worth"] = "ROC curves are not available for this input: they need the rows, not a tally."
        if a.counts is not None and a.counts.n:
            panels.append(self.coverage())
        return {**context, **self.acting(), "worth": panels}

    def acting(self) -> dict[str, Any]:
        """From which confidence it may act alone, at usual error rates."""
        a = self.a
        if not a.offers:
            return {"acting": None}
        body = [
            Row(
                [
                    Cell(exact_percent(offer.error), offer.error),
                    Cell(_from(offer), math.inf if offer.threshold is None else offer.threshold),
                    Cell(percent(offer.coverage), offer.coverage),
                    Cell(count(offer.errors) if offer.coverage else "—", float(offer.errors)),
                ]
            )
            for offer in a.offers
        ]
        columns = [
            ("Wrong, at most", "n"),
            ("Confidence from", "n"),
            ("Share of rows", "n"),
            ("Wrong among these", "n"),
        ]
        best = best_offer(a.offers)
        title = "No threshold lets it act alone on this evidence"
        if best is not None and best.threshold is not None:
            rows = f"on {percent(best.coverage)} of rows" if best.coverage < 1 else "on all rows"
            title = f"It may act alone {rows}, with at most {exact_percent(best.error)} wrong"
        sure = exact_percent(round(1 - a.level, 12))
        return {
            "acting": HtmlTable("Acting alone", columns, [Body(body)]),
            "acting_title": title,
            "acting_words": "Predictions of this confidence or more, on new rows like these. All promises hold "
            f"together with {sure} confidence, calibrated or not.",
        }

    def roc(self) -> Panel | None:
        a = self.a
        if a.predictions is None or not {"auc", "cw_auc"} <= a.metrics.keys():
            return None
        found = roc(a.predictions, a.metrics["auc"], a.metrics["cw_auc"])
        if found is None:
            return None
        figure = found.figure()
        averaged = len(a.predictions.averaged_classes)
        macro = f", macro over {averaged} classes" if averaged > 1 else ""
        corner = "" if found.width == 1 else " Only the top left corner is drawn."
        body = [
            Row([Cell(f"{100 * false:.3g}%", false), *(Cell(f"{share:.2%}", share) for share in shares)])
            for false, *shares in found.samples
        ]
        columns = [("False positive rate", "n"), ("True positive rate", "n"), ("Weighted by confidence", "n")]
        alt = f"{figure.title}{macro}. AUC {area(found.auc)}, cwAUC {area(found.cw_auc)}."
        return Panel(
            "roc",
            self.roc_finding() or figure.title,
            f"{figure.title}{macro}.{corner}",
            self.markup(svg.draw(figure, alt)),
            HtmlTable("ROC and cwROC", columns, [Body(body)]),
        )

    def roc_finding(self) -> str:
        difference = self.a.intervals.get("cw_auc - auc")
        if difference is not None and difference.low > 0:
            return "It ranks better where it is more confident"
        if difference is not None and difference.high < 0:
            return "It ranks worse where it is more confident"
        return ""

    def classes(self) -> dict[str, Any]:
        a = self.a
        labels = a.predictions.labels if a.predictions is not None else None
        if labels is None or not 2 < len(labels) <= 1000:
            return {}
        if a.areas:
            plain, weighted = a.areas["auc"], a.areas["cw_auc"]
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                plain, weighted = (np.asarray(f(a.predictions, average=None)) for f in (auc, cw_auc))
        known = [k for k in range(len(labels)) if not math.isnan(plain[k]) and not math.isnan(weighted[k])]
        if not known:
            return {}
        known.sort(key=lambda k: float(plain[k]))
        kept = known[:MOST_LAYERS]
        low = min(0.99, math.floor(100 * float(min(plain[kept].min(), weighted[kept].min()))) / 100)
        body = [
            Row(
                [
                    Cell(printable(labels[k], 40)),
                    Cell(self.markup(svg.dumbbell(float(plain[k]), float(weighted[k]), low))),
                    Cell(area(float(plain[k])), float(plain[k])),
                    Cell(area(float(weighted[k])), float(weighted[k])),
                    Cell(typeset(f"{1e4 * (weighted[k] - plain[k]):+.1f}"), float(weighted[k] - plain[k])),
                ]
            )
            for k in kept
        ]
        columns = [
            ("Class", "t"),
            (f"AUC ○ to cwAUC ●, {low:g} to 1", "x chartcol"),
            ("AUC", "n"),
            ("cwAUC", "n"),
            ("Difference × 10⁴", "n wide"),
        ]
        left = "" if len(kept) == len(known) else f" The {len(kept)} hardest of {len(known)}."
        return {
            "classes": HtmlTable("AUC and cwAUC by class", columns, [Body(body)], "slices"),
            "classes_title": "The classes that are hardest to rank",
            "classes_words": f"One class against the rest; pairs weighted by the confidence of both rows.{left}",
        }

    def coverage(self) -> Panel:
        assert self.a.counts is not None
        found = coverage(self.a.counts)
        figure, half, overall = found.figure(), found.error(0.5), found.error(1.0)
        title, seen = figure.title, rows_of_weight(self.a) * self.a.seen
        if seen >= ENOUGH_ERRORS and half < 0.9 * overall:
            title = f"{percent(half)} errors among the surest half, {percent(overall)} among all rows"
        elif seen >= ENOUGH_ERRORS and half > 1.1 * overall:
            title = f"The surest half has more errors: {percent(half)}, against {percent(overall)} among all rows"
        alt = f"Risk-coverage curve: {percent(overall)} errors over all rows, {percent(half)} over the surest half."
        body = [Row([Cell(f"{share:.0%}", share), Cell(percent(error), error)]) for share, error in found.samples]
        return Panel(
            "coverage",
            title,
            "Share of errors if only the surest rows are answered (risk-coverage curve). Every row counts once.",
            self.markup(svg.draw(figure, alt)),
            HtmlTable("Errors by coverage", [("Coverage", "n"), ("Errors among them", "n")], [Body(body)]),
        )

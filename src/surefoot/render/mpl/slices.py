"""CSR by slice, or O/E of an event."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Unpack

from surefoot._io.printable import printable
from surefoot.assessment.assess import assess, assess_estimator
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice
from surefoot.errors import InvalidPredictions
from surefoot.figures.figure import Mark
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.render.looks import KINDS
from surefoot.render.mpl.display import (
    COLOURS,
    MUTED,
    VERDICT_KEY,
    Display,
    add_titles,
    draw_key,
    draw_mark,
    literal,
    power_label,
)
from surefoot.render.numbers import count, pluralize
from surefoot.render.severity import severity

#: What marks mean where slices are those of an event.
_EVENT_KEY = {"over": "overpredicts or too extreme", "under": "underpredicts or too timid", "fair": "neither is shown"}
#: Slices drawn at most.
_MOST = 20


@dataclass
class SlicesDisplay(Display):
    """CSR of each slice, on a log scale, with its lower confidence limit; there is no upper one.

    Of an event, and of classes, the O/E ratio of each with its 95% confidence interval.

    Slices by true class have no p-values, verdicts or limits, since the true class is the outcome.

    Attributes
    ----------
    slices : list of Slice
        The slices, worst first.
    by : str
        What the data are sliced by.
    is_of_events : bool
        Whether slices are those of an event, or classes: then O/E is drawn in place of CSR.
    """

    slices: list[Slice]
    by: str
    is_of_events: bool = False

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> SlicesDisplay:
        if not assessment.slices:
            raise InvalidPredictions("this assessment has no slices; give by= to assess.")
        return cls(sorted(assessment.slices, key=severity), str(assessment.by), assessment.view != "prediction")

    @classmethod
    @takes_predictions
    def from_predictions(
        cls,
        x: Any = None,
        second: Any = None,
        third: Any = None,
        /,
        *,
        by: Any = "predicted",
        **columns: Unpack[Columns],
    ) -> SlicesDisplay:
        """Make the display of predictions.

        Parameters
        ----------
        by : array-like of shape (n,) or str, default "predicted"
            What to slice by: one value for each sample, or ``"predicted"`` or ``"truth"`` for the labels.

        Returns
        -------
        SlicesDisplay
            Call its ``plot``.
        """
        predictions = as_predictions(x, second, third, columns, function="from_predictions")
        return cls.from_assessment(assess(predictions, by=by, metrics=()))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, by: Any = "predicted") -> SlicesDisplay:
        """Make the display of a fitted classifier on held-out data.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba`` and ``classes_``.
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels.
        by : array-like of shape (n,) or str, default="predicted"
            What to slice by: one value for each sample, or ``"predicted"`` or ``"truth"`` for the labels.

        Returns
        -------
        SlicesDisplay
            Call its ``plot``.
        """
        return cls.from_assessment(assess_estimator(estimator, X, y, by=by))

    def frame(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "value": [part.value for part in self.slices],
            "rows": [part.risk.n for part in self.slices],
            "stated": [part.stated for part in self.slices],
            "seen": [part.seen for part in self.slices],
            "csr": [part.risk.csr for part in self.slices],
        }
        if self.is_of_events:
            del columns["csr"]
            columns["oe_ratio"] = [part.risk.oe_ratio for part in self.slices]
        if self.by != "truth":
            if self.is_of_events:
                columns["oe_lower"], columns["oe_upper"] = (
                    [part.risk.oe_interval[end] for part in self.slices] for end in (0, 1)
                )
            else:
                columns["csr_lower"] = [part.risk.csr_lower for part in self.slices]
            columns["pvalue_adjusted"] = [part.pvalue_adjusted for part in self.slices]
            columns["verdict"] = [part.verdict for part in self.slices]
        return columns

    def _draw(self, ax: Any) -> None:
        kept = self.slices[:_MOST][::-1]
        ax.axvline(1, color=MUTED, linestyle=":", linewidth=1)
        if self.is_of_events:
            self._draw_ratios(ax, kept)
        else:
            self._draw_sizes(ax, kept)
        ax.set_yticks(range(len(kept)), [literal(printable(part.value, 24)) for part in kept])
        ax.minorticks_off()
        ax.grid(visible=False)
        more = f": worst {len(kept)} of {len(self.slices):,}" if len(self.slices) > len(kept) else ""
        name = "O/E" if self.is_of_events else "CSR"
        below = f"{name} →" if self.by == "truth" else "CSR, from its lower bound up →"
        if self.is_of_events and self.by != "truth":
            below = "O/E, with its 95% CI →"
        rows = self.slices[0].risk.n if self.by == "class" else sum(part.risk.n for part in self.slices)
        what = pluralize(len(self.slices), "class" if self.by == "class" else "slice")
        add_titles(ax, f"{name} by {printable(self.by, 24)}{more}", below, "", f"n = {count(rows)},  {what}")
        if self.by != "truth":
            key = _EVENT_KEY if self.is_of_events else VERDICT_KEY
            draw_key(ax, key, (KINDS.get(part.verdict, "fair") for part in kept))

    def _draw_ratios(self, ax: Any, kept: list[Slice]) -> None:
        """O/E of events with its interval."""
        for place, part in enumerate(kept):
            kind = "dot" if self.by == "truth" else KINDS.get(part.verdict, "fair")
            low, high = part.risk.oe_interval
            if math.isfinite(low) and math.isfinite(high):
                ax.plot([low, high], [place, place], color=COLOURS[kind], linewidth=1)
            if math.isfinite(part.risk.oe_ratio):
                draw_mark(ax, Mark(kind, part.risk.oe_ratio, place))
        ax.set_xlim(left=0)

    def _draw_sizes(self, ax: Any, kept: list[Slice]) -> None:
        """CSR from its lower bound up, on a log scale."""
        finite = [part.risk.csr for part in kept if 0 < part.risk.csr < math.inf]
        right = 3 * max([*finite, 1.0])
        for place, part in enumerate(kept):
            kind = "dot" if self.by == "truth" else KINDS.get(part.verdict, "fair")
            lower = part.risk.csr_lower
            if not math.isnan(lower) and lower > 0:
                ax.plot([min(lower, right), right], [place, place], color=COLOURS[kind], linewidth=1)
                ax.plot(min(lower, right), place, "|", color=COLOURS[kind], markersize=6)
            if part.risk.csr > 0:
                draw_mark(ax, Mark(kind, min(part.risk.csr, right), place))
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(power_label)

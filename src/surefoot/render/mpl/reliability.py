"""Reliability diagrams: share correct by stated confidence, and the same where overconfidence lives."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from surefoot.assessment.assess import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.figures.reliability import Bin
from surefoot.render.mpl.display import GHOST, INK, LOOKS, MUTED, OVER, Display, noted, titled
from surefoot.render.numbers import raised_digits, significant
from surefoot.render.svg import short


@dataclass
class _Binned(Display):
    bins: tuple[Bin, ...]

    def frame(self) -> dict[str, list[Any]]:
        columns = [*asdict(self.bins[0]), "doubt", "error", "kind"] if self.bins else []
        return {name: [getattr(one, name) for one in self.bins] for name in columns}


def _marked(ax: Any, kind: str, x: float, y: float, low: float, high: float) -> None:
    hue, shape = LOOKS[kind]
    if not math.isnan(low):
        ax.plot([x, x], [low, high], color=hue, linewidth=1.2, zorder=2)
    ax.plot(x, y, shape, color=hue, markersize=5, markerfacecolor="white" if kind == "fair" else hue, zorder=3)


class ReliabilityDisplay(_Binned):
    """Share correct by stated confidence, in the bins of ECE, with 95% intervals and the rows in each bin."""

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> ReliabilityDisplay:
        return cls(assessment.reliability)

    def _draw(self, ax: Any) -> None:
        low = min(0.9, math.floor(10 * min(one.least for one in self.bins)) / 10)
        ax.plot([low, 1], [low, 1], ":", color=MUTED, linewidth=1)
        for one in self.bins:
            _marked(ax, one.kind, 1 - one.doubt, 1 - one.error, 1 - one.high, 1 - one.low)
        most = max(one.rows for one in self.bins)
        # rows as bars in a strip under the diagram, linear from 0
        for one in self.bins:
            width = one.most - one.least
            ax.bar(one.least + width / 2, 0.1 * one.rows / most, 0.7 * width, -0.16, color=GHOST)
            label = {"ha": "center", "va": "bottom", "textcoords": "offset points", "xytext": (0, 1)}
            ax.annotate(
                short(one.rows),
                (one.least + width / 2, -0.16 + 0.1 * one.rows / most),
                fontsize=5,
                color=MUTED,
                **label,
            )
        ax.set(xlim=(low, 1.02), ylim=(-0.18, 1.03), yticks=[0, 0.25, 0.5, 0.75, 1])
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.yaxis.set_major_formatter("{x:.0%}")
        noted(ax, 1, 0.02, "below the line: overconfident", ha="right")
        titled(ax, "Reliability", "Stated confidence →", "Share correct →")


class StretchedReliabilityDisplay(_Binned):
    """The same with doubt on a log scale on both axes: below the line is overconfident, and × says how much."""

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> StretchedReliabilityDisplay:
        if not assessment.near_certainty:
            raise InvalidPredictions("with unequal weights, or no doubt anywhere, there is nothing to stretch.")
        return cls(assessment.near_certainty)

    def _draw(self, ax: Any) -> None:
        top = min(13.0, max(2.0, -math.log10(min(one.least for one in self.bins))))

        def rarer(share: float) -> float:
            return min(top, -math.log10(share)) if share > 0 else top

        ax.plot([0, top], [0, top], ":", color=MUTED, linewidth=1)
        for one in self.bins:
            x = rarer(one.doubt)
            if one.seen:
                _marked(ax, one.kind, x, rarer(one.error), rarer(one.high), rarer(one.low))
            else:
                ax.plot([x, x], [rarer(one.high), top], color=INK, linewidth=1.2)
                ax.plot(x, top, "_", color=INK, markersize=8)
            if one.kind == "over" and one.error > 3 * one.doubt:
                times = f"×{significant(one.error / one.doubt, 2)}"
                ax.annotate(
                    times,
                    (x, rarer(one.high)),
                    fontsize=6,
                    color=OVER,
                    ha="center",
                    va="top",
                    textcoords="offset points",
                    xytext=(0, -2),
                )
        step = 1 if top <= 7 else 2
        ticks = list(range(0, math.floor(top + 0.01) + 1, step))
        names = [
            "always"
            if d == 0
            else f"1 in {10**d:,}"
            if d == step
            else f"{10**d:,}"
            if d < 7
            else f"10{raised_digits(d)}"
            for d in ticks
        ]
        ax.set(xlim=(0, top + 0.1), ylim=(-0.15, top + 0.1))
        ax.set_xticks(ticks[1:], names[1:])
        ax.set_yticks(ticks, names)
        titled(ax, "Reliability near certainty", "Expected errors, rarer →", "Observed errors, rarer →")

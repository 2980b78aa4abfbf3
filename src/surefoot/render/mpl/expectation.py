"""Expected metrics with their intervals, beside those of the reference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot.decisions.expected import Expected
from surefoot.decisions.forecast import SHARES
from surefoot.render.expectation import TITLES, level
from surefoot.render.mpl.display import GHOST, INK, MUTED, add_titles, clean_axes, new_axes
from surefoot.render.numbers import count


@dataclass
class ExpectationDisplay:
    """Metrics from 0 to 1 as expected, each with its prediction interval, and as they were on the reference.

    Attributes
    ----------
    expected : Expected
        What is drawn.
    """

    expected: Expected

    def frame(self) -> dict[str, list[Any]]:
        """Return the numbers that are drawn.

        Returns
        -------
        dict of str to list
            Columns of equal length.
        """
        e = self.expected
        names = [name for name in TITLES if name in e and name in SHARES and not e[name].is_absent]
        return {
            "metric": [TITLES[name] for name in names],
            "expected": [e[name].value for name in names],
            "low": [e[name].low for name in names],
            "high": [e[name].high for name in names],
            "reference": [e.reference.get(name, math.nan) for name in names],
        }

    def plot(self, ax: Any = None) -> ExpectationDisplay:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ExpectationDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        ax = new_axes() if ax is None else ax
        clean_axes(ax)
        numbers = self.frame()
        places = list(range(len(numbers["metric"])))[::-1]
        ax.grid(axis="y", visible=False)
        ax.hlines(places, numbers["low"], numbers["high"], color=INK, linewidth=2)
        ax.plot(
            numbers["expected"],
            places,
            "o",
            color=INK,
            markersize=6,
            label=f"expected, {level(self.expected)} interval",
        )
        ax.plot(
            numbers["reference"], places, "|", color=MUTED, markersize=14, markeredgewidth=2, label="on the reference"
        )
        ax.set_yticks(places, numbers["metric"])
        ax.margins(y=0.15)
        ax.legend(frameon=False, fontsize=9, labelcolor=MUTED, loc="best", edgecolor=GHOST)
        e = self.expected
        facts = f"{count(e.rows)} rows without labels, {count(e.reference_rows)} labelled rows"
        add_titles(ax, "What to expect", "", "", facts)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def display(expected: Expected) -> ExpectationDisplay:
    """The display of what is expected."""
    return ExpectationDisplay(expected)

"""The four main pictures of an assessment in one figure of matplotlib."""

from __future__ import annotations

from typing import Any

from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions
from surefoot.render import wording
from surefoot.render.mpl.display import INK, MUTED, Display, load_pyplot
from surefoot.render.mpl.figures import (
    ConcentrationDisplay,
    ReliabilityDisplay,
    RiskCoverageDisplay,
    RocDisplay,
    StretchedReliabilityDisplay,
)

#: In the order of how much they say; the first four that the data can give are drawn.
_PICTURES: tuple[type[Display], ...] = (
    ReliabilityDisplay,
    StretchedReliabilityDisplay,
    RocDisplay,
    ConcentrationDisplay,
    RiskCoverageDisplay,
)
_MOST = 4
#: The size of one picture, in inches.
_WIDE, _HIGH = 5.5, 4.6


def plot(assessment: Assessment) -> Any:
    """Draw reliability, stretched reliability, ROC or risk against coverage, and concentration; return the figure."""
    pictures = _available(assessment)
    plt = load_pyplot()
    columns = min(2, len(pictures))
    rows = -(-len(pictures) // 2)
    figure = plt.figure(figsize=(_WIDE * columns, _HIGH * rows + 0.5), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    for i, picture in enumerate(pictures):
        last_alone = i == len(pictures) - 1 and len(pictures) % 2 == 1 and columns == 2
        picture.plot(ax=figure.add_subplot(grid[i // 2, :] if last_alone else grid[i // 2, i % 2]))
    figure.suptitle(wording.headline(assessment), fontsize=13, fontweight="bold", color=INK, x=0.01, ha="left")
    figure.text(0.99, 0.995, _subtitle(assessment), fontsize=9, color=MUTED, ha="right", va="top")
    return figure


def _available(a: Assessment) -> list[Display]:
    """The pictures that this assessment can give, at most four."""
    found: list[Display] = []
    for kind in _PICTURES:
        try:
            found.append(kind.from_assessment(a))
        except InvalidPredictions:
            continue
    if not found:
        raise InvalidPredictions("this assessment has nothing to draw: it holds no rows with confidences.")
    return found[:_MOST]


def _subtitle(a: Assessment) -> str:
    return wording.source(a)

"""The four main pictures of an assessment in one figure of matplotlib."""

from __future__ import annotations

from typing import Any

from surefoot.assessment.result import Assessment
from surefoot.core.view import View
from surefoot.errors import InvalidPredictions
from surefoot.render import wording
from surefoot.render.mpl.display import INK, MUTED, Display, literal, load_pyplot
from surefoot.render.mpl.events import (
    ClassReliabilityDisplay,
    DecisionCurveDisplay,
    DecompositionDisplay,
    EventReliabilityDisplay,
)
from surefoot.render.mpl.figures import (
    ConcentrationDisplay,
    ReliabilityDisplay,
    RiskCoverageDisplay,
    RocDisplay,
    StretchedReliabilityDisplay,
)

#: In the order of how much they say; the first four that the data can give are drawn.
_PICTURES: dict[View, tuple[type[Display], ...]] = {
    "prediction": (
        ReliabilityDisplay,
        StretchedReliabilityDisplay,
        RocDisplay,
        ConcentrationDisplay,
        RiskCoverageDisplay,
    ),
    "event": (EventReliabilityDisplay, DecisionCurveDisplay, DecompositionDisplay),
    "classes": (ClassReliabilityDisplay,),
}
_MOST = 4
#: The size of one picture, in inches.
_WIDE, _HIGH = 5.5, 4.6
#: How far the second line of the title is below the top, in points.
_SECOND_LINE = 22


def plot(assessment: Assessment) -> Any:
    """Draw the pictures of its view, at most four, and return the figure."""
    pictures = _available(assessment)
    plt = load_pyplot()
    columns = min(2, len(pictures))
    rows = -(-len(pictures) // 2)
    # pictures of classes are many in one
    wide, high = (_WIDE * columns, _HIGH * rows) if assessment.view != "classes" else (1.6 * _WIDE, 1.3 * _HIGH)
    figure = plt.figure(figsize=(wide, high + 0.6), layout="constrained")
    grid = figure.add_gridspec(rows, columns)
    for i, picture in enumerate(pictures):
        last_alone = i == len(pictures) - 1 and len(pictures) % 2 == 1 and columns == 2
        picture.plot(ax=figure.add_subplot(grid[i // 2, :] if last_alone else grid[i // 2, i % 2]))
    _write_titles(figure, wording.headline(assessment), wording.source(assessment))
    return figure


def _write_titles(figure: Any, headline: str, source: str) -> None:
    """The verdict, and under it what it is about: beside each other, long ones would meet."""
    from matplotlib.transforms import ScaledTranslation

    # the layout keeps the second line free, and moves the first to the top
    figure.suptitle(f"{literal(headline)}\n", fontsize=13, fontweight="bold", color=INK, x=0.01, ha="left")
    below = figure.transFigure + ScaledTranslation(0, -_SECOND_LINE / 72, figure.dpi_scale_trans)
    figure.text(0.01, 1, literal(source), fontsize=9, color=MUTED, ha="left", va="top", transform=below)


def _available(a: Assessment) -> list[Display]:
    """The pictures that this assessment can give, at most four."""
    found: list[Display] = []
    for kind in _PICTURES[a.view]:
        try:
            found.append(kind.from_assessment(a))
        except InvalidPredictions:
            continue
    if not found:
        raise InvalidPredictions("this assessment has nothing to draw: it holds no rows with confidences.")
    return found[:_MOST]

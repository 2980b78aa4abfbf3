"""What all displays share: how they are made, and how a figure is drawn on axes of matplotlib."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar, Unpack

from surefoot.assessment.assess import assess, assess_estimator
from surefoot.assessment.result import Assessment
from surefoot.errors import InvalidPredictions, MissingPackage
from surefoot.figures.figure import Bar, Figure, Mark, Text
from surefoot.figures.labels import decade, typeset
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.render.numbers import count, score

INK, MUTED, GRID, GHOST, OVER, UNDER = "#17191e", "#5b616c", "#e9e6df", "#b4b1aa", "#b3430a", "#1b5fa6"
#: The looks of marks; those of a hollow shape are white inside.
COLOURS = {"over": OVER, "under": UNDER, "fair": INK, "dot": INK, "ring": MUTED, "none": INK, "below": INK}
_SHAPES = {"over": "v", "under": "^", "none": "_", "below": "_"}
#: matplotlib's markers of a tick that points up, and of one that points down.
_TICKS = {"none": 2, "below": 3}
#: What marks mean, in the order of a key.
_KEY = {
    "over": "more errors than expected",
    "under": "fewer errors than expected",
    "fair": "interval includes the line",
    "none": "no error: limit at 95%",
}
#: The same for events.
EVENT_KEY = {
    "over": "fewer events than predicted",
    "under": "more events than predicted",
    "fair": "interval includes the line",
}
#: The same for verdicts.
VERDICT_KEY = {"over": "overconfident or mixed", "under": "underconfident", "fair": "neither is shown"}
_HOLLOW = ("fair", "ring")
#: Size and colour of a text.
_TEXTS = {"note": (9, MUTED), "label": (9, INK), "faint": (9, MUTED), "factor": (8, OVER)}
_ALIGNMENTS = {"start": "left", "middle": "center", "end": "right"}
#: Points of print to a pixel.
_POINTS = 0.75
#: The size of a figure of its own, in inches.
_SIZE = (6.0, 5.0)

Self = TypeVar("Self", bound="Display")


class Display(ABC):
    """The base class of displays: numbers to draw, made from predictions, an estimator or an assessment."""

    #: The metrics that the assessment computes for it.
    metrics: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @abstractmethod
    def from_assessment(cls: type[Self], assessment: Assessment) -> Self:
        """Make the display of an assessment.

        Parameters
        ----------
        assessment : Assessment
            The assessment to draw.

        Returns
        -------
        display
            Call its ``plot``.

        Raises
        ------
        InvalidPredictions
            If the assessment does not hold what is drawn.
        """

    @classmethod
    @takes_predictions
    def from_predictions(
        cls: type[Self], x: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]
    ) -> Self:
        """Make the display of predictions.

        Returns
        -------
        display
            Call its ``plot``.
        """
        predictions = as_predictions(x, second, third, columns, function="from_predictions")
        return cls.from_assessment(assess(predictions, metrics=cls.metrics))

    @classmethod
    def from_estimator(cls: type[Self], estimator: Any, X: Any, y: Any) -> Self:
        """Make the display of a fitted classifier on held-out data.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba`` and ``classes_``.
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels.

        Returns
        -------
        display
            Call its ``plot``.
        """
        return cls.from_assessment(assess_estimator(estimator, X, y))

    @abstractmethod
    def frame(self) -> dict[str, list[Any]]:
        """Return the numbers that are drawn.

        Returns
        -------
        dict of str to list
            Columns of equal length; pass it to pandas, Polars or PyArrow.
        """

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on axes that are cleaned already."""

    def plot(self: Self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        display
            The display itself, with ``ax_`` and ``figure_``.
        """
        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        clean_axes(self.ax_)
        self._draw(self.ax_)
        return self


@dataclass
class FigureDisplay(Display):
    """The base class of displays that the report shows too.

    Attributes
    ----------
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        The ECE, shown below the title; nan if unknown.
    """

    n: float = field(default=math.nan, kw_only=True)
    ece: float = field(default=math.nan, kw_only=True)
    metrics: ClassVar[tuple[str, ...]] = ("ece",)
    #: What its marks mean.
    key: ClassVar[dict[str, str]] = _KEY

    def _facts(self) -> str:
        """The number of rows and the ECE, where they are known."""
        rows = "" if math.isnan(self.n) else f"n = {count(self.n)}"
        error = "" if math.isnan(self.ece) else f"ECE {score(self.ece)}"
        return ",  ".join(filter(None, (rows, error)))

    @abstractmethod
    def _figure(self) -> Figure:
        """Build the figure that is drawn."""

    def _draw(self, ax: Any) -> None:
        figure = self._figure()
        draw_figure(ax, figure)
        add_titles(ax, figure.title, f"{figure.x.title} →", f"{figure.y.title} →", typeset(self._facts()))
        draw_key(ax, self.key, [mark.kind for point in figure.layers["all"].points for mark in point.marks])


def draw_figure(ax: Any, figure: Figure, size: float = 5) -> None:
    """Draw all of a figure but its titles and its key, with marks of a size."""
    layer = figure.layers["all"]
    for area in figure.areas:
        ax.fill_between(area.x, area.lower, area.upper, color=GHOST, alpha=0.35, linewidth=0)
    if figure.ideal is not None:
        ax.plot(*zip(*figure.ideal, strict=True), ":", color=MUTED, linewidth=1)
    for curve in figure.curves:
        style: dict[str, Any] = {"color": MUTED, "linewidth": 1.2, "linestyle": "--"}
        ax.plot(curve.x, curve.y, **({"color": INK, "linewidth": 1.6} if curve.is_main else style))
    for text in figure.texts:
        _write(ax, text)
    for point in layer.points:
        if point.interval is not None:
            x = point.marks[0].x
            colour = GHOST if point.is_faint else COLOURS[point.kind]
            ax.plot([x, x], point.interval, color=colour, linewidth=0.8 if point.is_faint else 1.2, zorder=2)
        for mark in point.marks:
            draw_mark(ax, mark, size)
        if point.label is not None:
            _write(ax, point.label)
    _draw_bars(ax, figure, layer.bars)
    if figure.x.is_log:
        ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xlim(figure.x.value(-0.02), figure.x.value(1.02))
    ax.set_ylim(figure.y.value(-0.18 if layer.bars else -0.02), figure.y.value(1.03))
    ax.set_xticks(*zip(*((tick.value, tick.label) for tick in figure.x.ticks), strict=True))
    ax.set_yticks(*zip(*((tick.value, tick.label) for tick in figure.y.ticks), strict=True))


#: The displays of each view but that of predictions.
_DISPLAYS = {
    "event": "EventReliabilityDisplay, DecisionCurveDisplay, DecompositionDisplay or RocDisplay",
    "classes": "ClassReliabilityDisplay or SlicesDisplay",
}


def check_prediction(a: Assessment, display: str) -> None:
    """Raise for an assessment of events: the display is of predicted labels."""
    if a.view != "prediction":
        raise InvalidPredictions(
            f"{display} is of predicted labels; for an assessment with of={a.view!r} use {_DISPLAYS[a.view]}."
        )


def facts_of(a: Assessment) -> dict[str, Any]:
    """What a display of a figure says of the assessment it was made from."""
    return {"n": float(a.risk.n), "ece": a.metrics.get("ece", math.nan)}


def draw_key(ax: Any, key: Mapping[str, str], kinds: Iterable[str]) -> None:
    """Say under the axes what the marks mean, as far as they are drawn and in the key."""
    from matplotlib.lines import Line2D

    drawn = set(kinds)
    lines = []
    for kind, words in key.items():
        if kind in drawn:
            colour, shape = COLOURS[kind], r"$\perp$" if kind == "none" else _SHAPES.get(kind, "o")
            style: dict[str, Any] = {"color": colour, "markerfacecolor": "white" if kind in _HOLLOW else colour}
            lines.append(Line2D([], [], marker=shape, label=words, markersize=5, linestyle="", **style))
    if lines:
        place = {"loc": "upper left", "bbox_to_anchor": (0, -0.13), "ncols": 2, "borderaxespad": 0}
        ax.legend(handles=lines, fontsize=8, frameon=False, labelcolor=MUTED, handletextpad=0.2, **place)


def draw_mark(ax: Any, mark: Mark, size: float = 5) -> None:
    """Draw a symbol on top of all else."""
    colour = COLOURS[mark.kind]
    filling = "white" if mark.kind in _HOLLOW else colour
    shape = _SHAPES.get(mark.kind, "o")
    ax.plot(mark.x, mark.y, shape, color=colour, markersize=size, markerfacecolor=filling, zorder=3)
    if mark.kind in _TICKS:
        ax.plot(mark.x, mark.y, marker=_TICKS[mark.kind], color=colour, markersize=size, zorder=3)


def _write(ax: Any, text: Text) -> None:
    if text.mark is not None:
        draw_mark(ax, Mark(text.mark, text.x, text.y))
    size, colour = _TEXTS[text.kind]
    right, down = text.offset
    ax.annotate(
        literal(text.words),
        (text.x, text.y),
        fontsize=size,
        color=colour,
        ha=_ALIGNMENTS[text.anchor],
        textcoords="offset points",
        xytext=(_POINTS * right, -_POINTS * down),
    )


def _draw_bars(ax: Any, figure: Figure, bars: tuple[Bar, ...]) -> None:
    """Rows as bars in a strip under the diagram, linear from 0."""
    foot = figure.y.value(-0.16)
    for bar in bars:
        top = figure.y.value(0.1 * bar.height - 0.16)
        ax.bar(bar.x, top - foot, bar.width, foot, color=GHOST)
        if bar.label:
            place = {"ha": "center", "va": "bottom", "textcoords": "offset points", "xytext": (0, 1)}
            ax.annotate(literal(bar.label), (bar.x, top), fontsize=7, color=MUTED, **place)


def load_pyplot() -> Any:
    """Load matplotlib's interface, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingPackage("plots need matplotlib: pip install 'surefoot[plots]'.") from error
    return plt


def new_axes() -> Any:
    """Make axes in a figure of their own."""
    return load_pyplot().figure(figsize=_SIZE, layout="constrained").add_subplot()


def clean_axes(ax: Any) -> None:
    """Keep horizontal hairlines, one axis line below and small type, on these axes only."""
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(INK)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=9, colors=MUTED, left=False)


def literal(text: object) -> str:
    """Text from outside as it is: matplotlib takes what stands between dollar signs for a formula."""
    return str(text).replace("$", r"\$")


def add_titles(ax: Any, title: str, below: str, above: str, facts: str = "") -> None:
    """Write the title with a line of facts under it, and those of the axes at their ends."""
    ax.set_title(
        literal(title), fontsize=11, fontweight="bold", color=INK, loc="left", wrap=True, pad=20 if facts else 8
    )
    if facts:
        place = {"ha": "left", "va": "bottom", "xycoords": "axes fraction", "textcoords": "offset points"}
        ax.annotate(literal(facts), (0, 1), xytext=(0, 6), fontsize=9, color=MUTED, **place)
    ax.set_xlabel(literal(below), fontsize=9, color=INK, loc="right")
    ax.set_ylabel(literal(above), fontsize=9, color=INK, loc="top")


def power_label(value: float, _: Any = None) -> str:
    """The label of a power of ten on a log axis; other ticks have none."""
    power = math.log10(value)
    return decade(round(power), 5) if abs(power - round(power)) < 1e-6 else ""


def add_note(ax: Any, x: float, y: float, words: str, **given: Any) -> None:
    """Write a few words in small grey type."""
    ax.annotate(words, (x, y), fontsize=9, color=MUTED, **given)

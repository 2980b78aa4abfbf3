"""Displays of an event, and of every class as one: reliability, the decision curve, and the score taken apart."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, TypeVar, Unpack

from surefoot._io.printable import printable
from surefoot.assessment.assess import assess
from surefoot.assessment.result import Assessment
from surefoot.core.view import View
from surefoot.errors import InvalidPredictions
from surefoot.figures.decision import decision_figure
from surefoot.figures.decomposition import PARTS, Waterfall, decomposition_of
from surefoot.figures.event_reliability import event_figure
from surefoot.figures.figure import Figure
from surefoot.figures.labels import typeset
from surefoot.figures.reliability import Bin
from surefoot.metrics.flexible import FlexibleCurve
from surefoot.metrics.net_benefit import DecisionCurve
from surefoot.predictions import Predictions, as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.render.event_section import MOST_SMALL, smooth, smooth_class
from surefoot.render.mpl.display import (
    EVENT_KEY,
    GHOST,
    INK,
    MUTED,
    OVER,
    UNDER,
    Display,
    FigureDisplay,
    add_titles,
    clean_axes,
    draw_figure,
    draw_key,
    facts_of,
    literal,
)
from surefoot.render.numbers import count
from surefoot.render.severity import severity
from surefoot.risk.grouped_curves import decision_curve_of_groups

Self = TypeVar("Self", bound="_OfEvents")


class _OfEvents(Display):
    """What displays of events share: data are read in the view of an event, unless they are in it already."""

    view: ClassVar[View] = "event"

    @classmethod
    @takes_predictions
    def from_predictions(
        cls: type[Self], x: Any = None, second: Any = None, third: Any = None, /, **columns: Unpack[Columns]
    ) -> Self:
        """Make the display of predictions, in the view of the display unless ``of`` is given.

        Parameters
        ----------
        of : {"event", "classes"}, optional
            What rows are about; by default what the display draws: ``"event"``, and ``"classes"`` for
            :class:`ClassReliabilityDisplay`.

        Returns
        -------
        display
            Call its ``plot``.
        """
        is_viewed = isinstance(x, Predictions) and x.view == cls.view
        if not is_viewed and columns.get("of") is None:
            columns["of"] = cls.view
        predictions = as_predictions(x, second, third, columns, function="from_predictions")
        return cls.from_assessment(assess(predictions, metrics=cls.metrics))

    @classmethod
    def from_estimator(cls: type[Self], estimator: Any, X: Any, y: Any, *, pos_label: Any = None) -> Self:
        """Make the display of a fitted classifier on held-out data.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba`` and ``classes_``.
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels.
        pos_label : label, optional
            The class that is the event; by default the second of two.

        Returns
        -------
        display
            Call its ``plot``.
        """
        labels = list(estimator.classes_)
        options: dict[str, Any] = {"of": cls.view}
        if cls.view == "event":
            options["pos_label"] = labels[-1] if pos_label is None and len(labels) == 2 else pos_label
        predictions = Predictions.from_probabilities(y, estimator.predict_proba(X), labels=labels)
        return cls.from_predictions(predictions, **options)

    @classmethod
    def _check(cls, assessment: Assessment) -> None:
        """Raise for an assessment of another view."""
        if assessment.view != cls.view:
            raise InvalidPredictions(
                f"{cls.__name__} draws an assessment with of={cls.view!r}; this one has of={assessment.view!r}."
            )


@dataclass
class EventReliabilityDisplay(_OfEvents, FigureDisplay):
    """Reliability of an event: how often it happens by its predicted probability, from 0 to 1.

    Points are bins with 95% confidence intervals, the curve is smoothed, with its pointwise 95% band, and bars show the
    samples in each bin. Below the diagonal, the event happens less often than predicted.

    Attributes
    ----------
    bins : tuple of Bin
        The bins that are drawn; their errors are the samples in which the event did not happen.
    curve : FlexibleCurve or None
        The smoothed curve; None if the rows are not in memory.
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        The ECE, shown below the title; nan if unknown.

    Examples
    --------
    >>> display = EventReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.3, 0.3, 0.9])
    >>> display.frame()["observed"]
    [0.0, 0.5, 1.0]
    """

    bins: tuple[Bin, ...]
    curve: FlexibleCurve | None = None
    key: ClassVar[dict[str, str]] = EVENT_KEY

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> EventReliabilityDisplay:
        cls._check(assessment)
        if not assessment.reliability:
            raise InvalidPredictions("a reliability diagram needs rows, or a tally that holds its bins.")
        return cls(
            assessment.reliability,
            smooth(assessment.predictions, assessment.risk.design_effect),
            **facts_of(assessment),
        )

    def frame(self) -> dict[str, list[Any]]:
        return _frame_of(self.bins)

    def _figure(self) -> Figure:
        return event_figure({"all": self.bins}, self.curve)


def _frame_of(bins: tuple[Bin, ...]) -> dict[str, list[Any]]:
    """The bins as shares of events."""
    return {
        "least": [one.least for one in bins],
        "most": [one.most for one in bins],
        "rows": [one.rows for one in bins],
        "predicted": [1 - one.doubt for one in bins],
        "observed": [1 - one.error for one in bins],
        "lower": [1 - one.high for one in bins],
        "upper": [1 - one.low for one in bins],
        "kind": [one.kind for one in bins],
    }


@dataclass
class ClassReliabilityDisplay(_OfEvents):
    """Reliability of every class as an event, in small pictures: the worst of them, at most twelve.

    Attributes
    ----------
    classes : dict of label to tuple of Bin
        The bins of each class, worst first.
    curves : dict of label to FlexibleCurve or None
        The smoothed curve of each class that is drawn.
    n : float
        The number of samples.

    Examples
    --------
    >>> P = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
    >>> sorted(ClassReliabilityDisplay.from_predictions([0, 1, 2], P).classes)
    [0, 1, 2]
    """

    classes: dict[Any, tuple[Bin, ...]]
    curves: dict[Any, FlexibleCurve | None] = field(default_factory=dict)
    n: float = math.nan
    view: ClassVar[View] = "classes"

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> ClassReliabilityDisplay:
        cls._check(assessment)
        worst = [part for part in sorted(assessment.slices, key=severity) if part.reliability]
        if not worst:
            raise InvalidPredictions("a reliability diagram needs rows, or a tally that holds its bins.")
        curves = {part.value: smooth_class(assessment, part) for part in worst[:MOST_SMALL]}
        return cls({part.value: part.reliability for part in worst}, curves, float(worst[0].risk.n))

    def frame(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {"class": [], **{name: [] for name in _frame_of(())}}
        for label, bins in self.classes.items():
            found["class"] += [label] * len(bins)
            for name, values in _frame_of(bins).items():
                found[name] += values
        return found

    def _draw(self, ax: Any) -> None:
        kept = list(self.classes.items())[:MOST_SMALL]
        columns = min(4, len(kept))
        rows = -(-len(kept) // columns)
        kinds = []
        for i, (label, bins) in enumerate(kept):
            # room for the labels of ticks on the left of all, and between two
            wide, high = 0.92 / columns, 0.95 / rows
            left, bottom = 0.08 + wide * (i % columns), 0.99 - high * (i // columns + 1)
            inner = ax.inset_axes((left, bottom + 0.16 * high, 0.74 * wide, 0.66 * high))
            clean_axes(inner)
            figure = event_figure({"all": bins}, self.curves.get(label), is_small=True)
            draw_figure(inner, figure, size=3)
            inner.tick_params(labelsize=6.5, pad=1)
            inner.set_title(literal(printable(label, 60 // columns)), fontsize=8, color=INK, loc="left", pad=2)
            if i % columns:
                inner.set_yticks(inner.get_yticks(), [""] * len(inner.get_yticks()))
            kinds += [one.kind for one in bins]
        left = len(self.classes) - len(kept)
        more = f": worst {len(kept)} of {len(self.classes):,}" if left else ""
        facts = "observed share by predicted probability"
        facts += "" if math.isnan(self.n) else f",  n = {count(self.n)}"
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines["bottom"].set_visible(False)
        ax.plot([], [])
        add_titles(ax, f"Reliability by class{more}", "", "", facts)
        draw_key(ax, EVENT_KEY, kinds)


@dataclass
class DecisionCurveDisplay(_OfEvents, FigureDisplay):
    """Decision curve: the net benefit of acting on predictions, by the probability from which you act.

    A model is worth using where it is above the line of acting on all samples, and above that of acting on none.

    Attributes
    ----------
    curve : DecisionCurve
        The curve that is drawn.
    n : float
        The number of samples, shown below the title; nan if unknown.
    ece : float
        Not shown here.

    Examples
    --------
    >>> display = DecisionCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.3, 0.3, 0.9])
    >>> round(display.frame()["net_benefit"][49], 3)
    0.25
    """

    curve: DecisionCurve
    metrics: ClassVar[tuple[str, ...]] = ("net_benefit",)

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> DecisionCurveDisplay:
        cls._check(assessment)
        if assessment.predictions is None:
            raise InvalidPredictions("a decision curve needs the rows; a tally does not hold them.")
        curve = decision_curve_of_groups(assessment.predictions, assessment.codes)
        return cls(curve, n=float(assessment.risk.n))

    def frame(self) -> dict[str, list[Any]]:
        return {one.name: getattr(self.curve, one.name).tolist() for one in fields(self.curve)}

    def _figure(self) -> Figure:
        return decision_figure(self.curve)


@dataclass
class DecompositionDisplay(_OfEvents):
    """The Brier score taken apart: uncertainty, less discrimination, plus miscalibration.

    Attributes
    ----------
    uncertainty : float
        The score of the overall share of events for every sample.
    discrimination : float
        What telling samples apart gains.
    miscalibration : float
        What the best recalibration would remove.
    n : float
        The number of samples, shown below the title; nan if unknown.

    Examples
    --------
    >>> display = DecompositionDisplay.from_predictions([0, 0, 1, 1], [0.2, 0.2, 0.8, 0.8])
    >>> [round(end, 3) for end in display.frame()["end"]]
    [0.25, 0.0, 0.04, 0.04]
    """

    uncertainty: float
    discrimination: float
    miscalibration: float
    n: float = math.nan
    metrics: ClassVar[tuple[str, ...]] = PARTS

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> DecompositionDisplay:
        cls._check(assessment)
        if decomposition_of(assessment.metrics) is None:
            raise InvalidPredictions("the parts of the Brier score are not among the metrics of this assessment.")
        uncertainty, discrimination, miscalibration = (assessment.metrics[name] for name in PARTS)
        return cls(uncertainty, discrimination, miscalibration, float(assessment.risk.n))

    def _bars(self) -> Waterfall:
        found = decomposition_of({name: getattr(self, name) for name in PARTS})
        assert found is not None
        return found

    def frame(self) -> dict[str, list[Any]]:
        columns = {name: [asdict(step)[name] for step in self._bars().steps] for name in ("start", "end", "kind")}
        return {"part": [*PARTS, "score"], **columns}

    def _draw(self, ax: Any) -> None:
        colours = {"total": GHOST, "gain": UNDER, "cost": OVER}
        steps = self._bars().steps
        for i, step in enumerate(steps):
            place = len(steps) - 1 - i
            ax.barh(place, step.end - step.start, 0.45, step.start, color=colours[step.kind])
            above = {"textcoords": "offset points", "xytext": (0, 3), "va": "bottom"}
            ax.annotate(typeset(step.words), (0, place + 0.23), fontsize=9, color=INK, **above)
            if i + 1 < len(steps):
                ax.plot([step.end] * 2, [place, place - 1], ":", color=MUTED, linewidth=1)
        axis = self._bars().axis
        ax.set_yticks([])
        ax.grid(visible=False)
        ax.set_ylim(-0.5, len(steps) - 0.3)
        ax.set_xlim(axis.value(-0.01), axis.value(1.02))
        ax.set_xticks(*zip(*((tick.value, tick.label) for tick in axis.ticks), strict=True))
        facts = "" if math.isnan(self.n) else f"n = {count(self.n)}"
        add_titles(ax, "The Brier score taken apart", f"{axis.title} →", "", facts)

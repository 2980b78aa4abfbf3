"""ROC and confidence-weighted ROC over all classes."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from surefoot.core.table import Floats
from surefoot.errors import UndefinedMetricWarning
from surefoot.figures.figure import Axis, Curve, Figure, Layer, Mark, Point, Text
from surefoot.figures.labels import area, percent_ticks
from surefoot.metrics.roc import cw_roc_curve, roc_curve
from surefoot.predictions import ArrayPredictions

#: Rows times classes up to which the curves are drawn.
_MOST = 5_000_000
#: False alarms that are marked, as shares of the axis.
_MARKED = (0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Roc:
    """The share found by the share of false alarms, plain and with each row weighted by its confidence.

    Of an event there is no weighted curve: nothing was decided that one could be confident in.
    """

    false_alarms: Floats
    found: Floats
    weighted: Floats | None
    auc: float
    cw_auc: float

    @property
    def width(self) -> float:
        """The false alarms up to which the curves are drawn: good rankings differ in the top left corner only."""
        return 0.1 if self.auc > 0.97 else 0.5 if self.auc > 0.9 else 1.0

    @property
    def samples(self) -> tuple[tuple[float, ...], ...]:
        """The marked shares of false alarms, with the share found, plain and, where there is that, weighted."""
        marked = [share * self.width for share in _MARKED]
        found = [np.interp(marked, self.false_alarms, values).tolist() for values, _ in self.curves]
        return tuple(zip(marked, *found, strict=True))

    @property
    def curves(self) -> tuple[tuple[Floats, bool], ...]:
        """The curves there are, and whether each is the main one."""
        if self.weighted is None:
            return ((self.found, True),)
        return (self.found, False), (self.weighted, True)

    def figure(self) -> Figure:
        """Both curves with their areas, in the corner that has something to show."""
        width, floor = self.width, 0.0
        if width < 1:
            steepest = float(np.interp(width / 50, self.false_alarms, self.found))
            floor = min(0.9, math.floor(10 * steepest) / 10)
        y = Axis("True positive rate", floor, 1, percent_ticks(np.linspace(floor, 1, 5).tolist(), 3))
        points = []
        for i, (false, *shares) in enumerate(self.samples):
            marks = [
                Mark("dot" if is_main else "ring", false, share)
                for share, (_, is_main) in zip(shares, self.curves, strict=True)
            ]
            kept = tuple(mark for mark in marks if mark.y >= floor)
            if kept:
                points.append(Point(i, false - 0.03 * width, false + 0.03 * width, kept))
        curves = []
        for values, is_main in self.curves:
            inside = (self.false_alarms <= width) & (values >= floor)
            curves.append(Curve(tuple(self.false_alarms[inside].tolist()), tuple(values[inside].tolist()), is_main))
        x = Axis("False positive rate", 0, width, percent_ticks(np.linspace(0, width, 6).tolist()))
        left = 0.4 * width
        plain = f"ROC, area {area(self.auc)}"
        legend: tuple[Text, ...] = (Text(plain, left, y.value(0.1), "start", (12, 4), "label", "dot"),)
        if self.weighted is not None:
            legend = (
                Text(f"cwROC, area {area(self.cw_auc)}", left, y.value(0.2), "start", (12, 4), "label", "dot"),
                Text(plain, left, y.value(0.1), "start", (12, 4), "faint", "ring"),
            )
        return Figure(
            "ROC" if self.weighted is None else "ROC and confidence-weighted ROC",
            x,
            y,
            {"all": Layer(tuple(points))},
            ((0, 0), (1, 1)) if width == 1 else None,
            tuple(curves),
            legend,
        )


def roc(predictions: ArrayPredictions, auc: float, cw_auc: float) -> Roc | None:
    """The curves of the second of two classes, of more the mean over all, one against the rest; of an event the plain.

    Of two classes that have scores of their own, the mean too. None where no class has rows inside and outside of it,
    or where ranking all of them takes too long.
    """
    labels = predictions.labels
    assert labels is not None
    chosen = [labels[place] for place in predictions.averaged_classes]
    if len(predictions) * len(chosen) > _MOST:
        return None
    grid = np.unique(np.concatenate([np.geomspace(1e-4, 1, 120), np.linspace(0, 1, 101)]))
    functions = (roc_curve,) if predictions.view == "event" else (roc_curve, cw_roc_curve)
    sums, classes = [np.zeros(len(grid)) for _ in functions], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for label in chosen:
            curves = [f(predictions, label=label) for f in functions]
            if any(math.isnan(one.auc) for one in curves):
                continue
            classes += 1
            for total, one in zip(sums, curves, strict=True):
                total += np.interp(grid, one.fpr, one.tpr)
    if not classes:
        return None
    return Roc(grid, sums[0] / classes, sums[1] / classes if len(sums) > 1 else None, auc, cw_auc)

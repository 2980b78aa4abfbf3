r"""Values of metrics together with the influence of each row on them.

Each value is that of its metric. It is nearly a mean of influence values f, one for each row, so its standard error is
:math:`\sqrt{\sum_i f_i^2} / N`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.core.keys import EACH_ROW
from surefoot.core.metric import Metric
from surefoot.core.table import Floats
from surefoot.core.term import Term
from surefoot.metrics.ranking import ScoreOrder, pair_probability
from surefoot.metrics.terms import CONFIDENCE, WEIGHT
from surefoot.metrics.weighted import ACCURACY, CW_ACCURACY
from surefoot.predictions import ArrayPredictions
from surefoot.risk.law.cells import Codes

#: Rows of a class, or errors, below which there is no interval.
FEWEST = 10
#: Rows of a class below which their own variance says too little.
_MANY = 200


@dataclass(frozen=True)
class Estimate:
    """A value, and the influence of each row on it.

    Of a share, ``stakes`` are what each row takes off it if it is wrong, and ``terms`` what those take that are: the
    value is ``offset`` less the mean of these. ``few`` says why there is no interval, if there is none, and ``what``
    what it rests on.
    """

    value: float
    influence: Floats
    #: How many rows of equal weight it rests on, and how many of them tell.
    rows: float
    telling: float
    what: str = "samples of the rarer outcome"
    terms: Floats | None = None
    stakes: Floats | None = None
    offset: float = 1.0
    is_share: bool = False
    is_area: bool = False
    #: Whether the value lies between 0 and 1, or -1 and 1, so that differences have limits of their own.
    is_bounded: bool = True
    #: What each row weighs in it; None if all the same.
    weight: Floats | None = None
    #: The variance is taken to be this at least.
    least: float = 0.0
    few: str = ""


def drop_weightless(predictions: ArrayPredictions, groups: Codes | None) -> tuple[ArrayPredictions, Codes | None]:
    """Without the rows that have no weight."""
    kept = predictions.weight > 0
    if not predictions.is_weighted or kept.all() or not kept.any():
        return predictions, groups
    return predictions[kept], None if groups is None else np.unique(groups[kept], return_inverse=True)[1]


def value_of(metric: Metric, predictions: ArrayPredictions) -> float:
    """The value of a metric, in silence."""
    return float(metric.evaluate(predictions.tally(metric.terms)).value)


def row_values(predictions: ArrayPredictions, *terms: Term) -> list[Floats]:
    """What each row adds to the totals of terms."""
    each = [Term(f"{term.name} of each row", term.expression, EACH_ROW) for term in terms]
    table = predictions.tally(each).table(EACH_ROW)
    return [table.totals[term.name].value for term in each]


def estimates(predictions: ArrayPredictions, with_ranking: bool) -> dict[str, Estimate]:
    """The shares, and the areas under curves where they are asked for and can be had."""
    found = {metric.name: _share(predictions, metric) for metric in (ACCURACY, CW_ACCURACY)}
    if with_ranking and predictions.has_ranking and predictions.labels is not None:
        areas = _areas(predictions)
        if areas is not None:
            found["auc"], found["cw_auc"] = areas
    return found


def _share(predictions: ArrayPredictions, metric: Metric) -> Estimate:
    """A weighted share of correct rows."""
    weight, correct = row_values(predictions, *metric.terms)
    if not weight.any():
        nothing = np.full(len(weight), math.nan)
        return Estimate(math.nan, nothing, math.nan, 0.0, few="no row has any weight")
    value = value_of(metric, predictions)
    # only ratios of weights matter, and squares of tiny ones would vanish
    largest = weight.max()
    weight, correct = weight / largest, correct / largest
    stakes, right = weight / weight.mean(), correct / weight.mean()
    errors, rows = float((weight > correct).sum()), float((weight > 0).sum())
    return Estimate(
        value,
        right - value * stakes,
        float(weight.sum()) ** 2 / float((weight**2).sum()),
        min(errors, rows - errors),
        terms=stakes - right,
        stakes=stakes,
        is_share=True,
        weight=stakes,
    )


def concordance(predictions: ArrayPredictions) -> Estimate:
    """The chance that an event is given a higher probability than a non-event, by DeLong's placements."""
    confidence, doubt, weight = predictions.confidence, predictions.doubt, predictions.weight
    # of probabilities so near to 1 that they are the same number, doubts tell the order
    order = np.lexsort((-doubt, confidence))
    steps = (np.diff(confidence[order], prepend=-1.0) != 0) | (np.diff(doubt[order], prepend=-1.0) != 0)
    events = np.asarray(predictions.correct, dtype=bool)
    count = float(events.sum())
    other = len(events) - count
    rarest = min(count, other)
    few = f"there are only {rarest:.0f} of the rarer outcome; an area needs {FEWEST} of each for an interval"
    what = "samples of the rarer outcome"
    if not rarest:
        nothing = np.full(len(events), math.nan)
        return Estimate(math.nan, nothing, 0.0, 0.0, what, is_area=True, few="all outcomes are the same")
    area, influence = _area(ScoreOrder(order, np.flatnonzero(steps)), events, weight / weight.max())
    least = _least_variance(area, count, other)
    few = few * (rarest < FEWEST)
    return Estimate(area, influence, rarest, rarest, what, is_area=True, least=least, few=few)


def _areas(predictions: ArrayPredictions) -> list[Estimate] | None:
    """Macro averages of the areas under the plain and the weighted ROC curves, by DeLong's placements."""
    assert predictions.labels is not None
    weights = row_values(predictions, WEIGHT, CONFIDENCE)
    labels = predictions.averaged_classes
    sums = [np.zeros(len(predictions)) for _ in weights]
    values: list[list[float]] = [[] for _ in weights]
    least = [0.0 for _ in weights]
    rarest = math.inf
    for label, scores in zip(labels, predictions.ranking_scores(list(labels)), strict=True):
        positive = predictions.is_truly(label)
        if any(not weight[positive].any() or not weight[~positive].any() for weight in weights):
            continue
        count = float(positive.sum())
        rarest = min(rarest, count, len(positive) - count)
        order = ScoreOrder.of(scores)
        for i, weight in enumerate(weights):
            area, influence = _area(order, positive, weight)
            values[i].append(area)
            sums[i] += influence
            least[i] += _least_variance(area, count, len(positive) - count)
    if not values[0]:
        return None
    few = f"a class has only {rarest:.0f} rows; an area needs {FEWEST} of each for an interval" * (rarest < FEWEST)
    return [
        Estimate(
            math.fsum(v) / len(v),
            s / len(v),
            rarest,
            rarest,
            "rows of the rarest class",
            is_area=True,
            # of two classes both areas are of the same pairs of rows
            least=low / len(v) ** (1 if len(predictions.labels) == 2 else 2),
            few=few,
        )
        for v, s, low in zip(values, sums, least, strict=True)
    ]


def _least_variance(area: float, one: float, other: float) -> float:
    """Of few rows of a class, which may all be of the better kind: the variance by Newcombe's (2006) formula."""
    if min(one, other) >= _MANY:
        return 0.0
    excess = (one + other) / 2 - 1
    return area * (1 - area) * (1 + excess * ((1 - area) / (2 - area) + area / (1 + area))) / (one * other)


def _area(order: ScoreOrder, positive: Any, weight: Floats) -> tuple[float, Floats]:
    """The area, and for each row what it adds: the share of the other class that it beats, less the area."""
    masses = [order.masses(np.where(side, weight, 0.0)) for side in (positive, ~positive)]
    area = pair_probability(*masses)
    influence = np.empty(len(weight))
    for own, other in ((positive, masses[1]), (~positive, masses[0])):
        # ties count one half
        beaten = order.of_rows((np.cumsum(other) - other / 2) / other.sum())[own]
        if own is not positive:
            beaten = 1 - beaten
        # as of so many numbers about their mean
        count = int(own.sum())
        spread = math.sqrt(count / (count - 1)) if count > 1 else 1.0
        influence[own] = weight[own] * (beaten - area) / float(weight[own].sum()) * len(weight) * spread
    return area, influence

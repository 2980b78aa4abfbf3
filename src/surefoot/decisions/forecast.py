r"""Expected metrics of rows without labels, and how far the metrics may turn out from them.

Each row counts once for every label that it may have, with the probability of that label as its weight: the ordinary
metrics of such rows are the expected ones. A metric moves by :math:`g_{ik}` if row i is of class k, so once labels are
known it differs from what was expected with variance

.. math:: \sum_i \operatorname{Var}_{k \sim p_i}(g_{ik}) + d^\top \Sigma\, d

where the first part is chance in the labels and the second the uncertainty of the probabilities themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.core.metric import Metric
from surefoot.core.table import Floats
from surefoot.decisions.confusions import Shares
from surefoot.decisions.outcomes import Outcomes
from surefoot.metrics.classwise import f1, precision, recall
from surefoot.metrics.confusion import cells, pairs_of
from surefoot.metrics.proper import BRIER, LOG_LOSS
from surefoot.metrics.ranking import ScoreOrder, pair_probability
from surefoot.metrics.weighted import ACCURACY, CW_ACCURACY
from surefoot.predictions import ArrayPredictions
from surefoot.risk.estimates import row_values

#: Metrics of correctness against confidence, each the ratio of its second total to its first.
_OF_CORRECTNESS = (ACCURACY, CW_ACCURACY, LOG_LOSS, BRIER)
_OF_CELLS: dict[str, Callable[..., Any]] = {"precision": precision, "recall": recall, "f1": f1}
#: Metrics that lie between 0 and 1, whose limits are found on the scale of log-odds; the others on that of logarithms.
SHARES = frozenset(("accuracy", "cw_accuracy", "precision", "recall", "f1", "auc", "cw_auc"))
#: Numbers of rows, which say the same as shares of them.
COUNTS = frozenset(("errors", "tp", "fp", "fn", "tn"))
#: Those that speak of classes one by one.
OF_CLASSES = frozenset(("precision", "recall", "f1", "auc", "cw_auc"))
#: Samples of a class below which what is said of it alone is rough.
ENOUGH = 10
#: Of several classes, what 20,000 rows of simulated models show beyond the two sources of variance.
_SEVERAL = 1.1
#: A relative step by which slopes are measured.
_STEP = 1e-6


@dataclass(frozen=True)
class Forecast:
    """An expected value, and the variance of what it will turn out to be: by chance, and by what is not known."""

    value: float
    #: Of the labels, given their probabilities; and of these probabilities.
    chance: float
    unknown: float
    note: str = ""

    #: How much wider than that, because the model of several classes is approximate.
    wider: float = 1.0

    @property
    def deviation(self) -> float:
        return self.wider * math.sqrt(self.chance + self.unknown)


def forecasts(outcomes: Outcomes, cost: float | Floats | None) -> dict[str, Forecast]:
    """Every metric that these rows can have, in the order in which they are shown."""
    found = dict(_of_correctness(outcomes))
    rows = len(outcomes.right)
    if outcomes.shares is not None:
        table = outcomes.table
        found |= dict(_of_confusions(outcomes, table))
        if outcomes.rows.probabilities is not None:
            found |= dict(_of_rankings(outcomes, table))
    else:
        table = None
    if cost is not None:
        found["mean_cost"] = _mean_cost(outcomes, table, cost)
    if outcomes.shares is not None and outcomes.shares.values.shape[1] > 2:
        found = {name: replace(one, wider=_SEVERAL) for name, one in found.items()}
    # errors as a number, which people count
    share = found["accuracy"]
    chance, unknown = rows**2 * share.chance, rows**2 * share.unknown
    found["errors"] = Forecast(rows * (1 - share.value), chance, unknown, wider=share.wider)
    return found


def observed(predictions: ArrayPredictions, cost: float | Floats | None, names: Any) -> dict[str, float]:
    """The same metrics of rows whose labels are known."""
    right = np.asarray(predictions.correct, dtype=np.float64)
    none = np.zeros((len(right), 0))
    if predictions.truth is None:
        known = Outcomes(predictions, right, None, None, none, np.zeros((0, 0)), 0.0, 0.0)
    else:
        predicted, truth = predictions.codes("predicted"), predictions.codes("truth")
        assert predictions.labels is not None
        count = len(predictions.labels)
        shares = np.zeros((len(right), count))
        shares[np.arange(len(right)), np.where(right > 0, (predicted + 1) % count, truth)] = 1.0
        nothing = Shares(shares, np.zeros((0, *shares.shape)), np.zeros((0, 0)), np.ones((count, count)))
        known = Outcomes(predictions, right, nothing, predicted, none, np.zeros((0, 0)), 0.0, 0.0)
    found = forecasts(known, cost)
    return {name: found[name].value if name in found else math.nan for name in names}


# -- of correctness ----------------------------------------------------------------------------------------------------


def _of_correctness(outcomes: Outcomes) -> Iterator[tuple[str, Forecast]]:
    rows = outcomes.rows
    flags = np.ones(len(rows), dtype=bool)
    # the same rows twice, if right and if wrong, each with its probability as weight
    if_right, if_wrong = (
        replace(rows, correct=each, _truth=None, _predicted=None, _probabilities=None, _labels=None, _log_odds=None)
        for each in (flags, ~flags)
    )
    total = sum_of(replace(if_right, _weight=outcomes.right), replace(if_wrong, _weight=outcomes.wrong))
    for metric in _OF_CORRECTNESS:
        value = float(metric.evaluate(total(metric)).value)
        if not math.isfinite(value):
            yield metric.name, Forecast(value, math.nan, math.nan, _why_not_finite(metric, rows))
            continue
        base = float(total(metric)[metric.terms[0]])
        gradients = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for one in (if_right, if_wrong):
                lower, upper = row_values(one, *metric.terms)
                gradients.append((upper - value * lower) / base)
        yield metric.name, _linear(outcomes, value, *gradients)


def sum_of(one: ArrayPredictions, other: ArrayPredictions) -> Callable[[Metric], Any]:
    """The totals of a metric over two sets of rows."""
    return lambda metric: one.tally(metric.terms) + other.tally(metric.terms)


def _why_not_finite(metric: Metric, rows: ArrayPredictions) -> str:
    if metric is LOG_LOSS:
        end, outcome = (1, "error") if rows.certain else (0, "correct prediction")
        return (
            f"no interval is available: a confidence is exactly {end}, and one {outcome} among such rows makes it "
            "infinite."
        )
    return "no interval is available: every confidence is 0."


def _linear(outcomes: Outcomes, value: float, if_right: Floats, if_wrong: Floats) -> Forecast:
    """The forecast of a metric that depends only on which rows are right."""
    # an impossible outcome may have an infinite gradient
    right, wrong = outcomes.right, outcomes.wrong
    apart = np.where((right > 0) & (wrong > 0), if_right - if_wrong, 0.0)
    chance = float((right * wrong * apart**2).sum())
    return Forecast(value, chance, _unknown(outcomes, apart))


def _unknown(outcomes: Outcomes, apart: Floats) -> float:
    """The variance by the uncertainty of how likely rows are to be right; ``apart`` is what that makes of a row."""
    slope = outcomes.features.T @ (outcomes.right * outcomes.wrong * apart)
    return float(slope @ outcomes.covariance @ slope)


# -- of classes --------------------------------------------------------------------------------------------------------


def _of_classes(outcomes: Outcomes, table: Floats, value: float, gradient: Floats, note: str = "") -> Forecast:
    """The forecast of a metric that moves by ``gradient`` if a row is of a class."""
    assert outcomes.shares is not None
    assert outcomes.predicted is not None
    at = np.arange(len(table))
    mean = (table * gradient).sum(axis=1)
    chance = float(np.maximum((table * gradient**2).sum(axis=1) - mean**2, 0.0).sum())
    shares = outcomes.shares
    if_wrong = (shares.values * gradient).sum(axis=1)
    unknown = _unknown(outcomes, gradient[at, outcomes.predicted] - if_wrong)
    if len(shares.slopes):
        slope = np.einsum("fnk,nk->f", shares.slopes, outcomes.wrong[:, None] * gradient)
        unknown += float(slope @ shares.covariance @ slope)
    if table.shape[1] > 2:
        # how often each confusion occurs is known as well as so many counts are
        moved = outcomes.wrong[:, None] * shares.values * (gradient - if_wrong[:, None])
        slopes = np.zeros_like(shares.known)
        np.add.at(slopes.T, outcomes.predicted, moved)
        unknown += float((slopes**2 / shares.known).sum())
    return Forecast(value, chance, unknown, note)


def confusion_matrix(outcomes: Outcomes, table: Floats) -> Floats:
    """Expected numbers of rows by true class and predicted class."""
    assert outcomes.predicted is not None
    matrix = np.zeros((table.shape[1], table.shape[1]))
    np.add.at(matrix.T, outcomes.predicted, table)
    return matrix


def _of_confusions(outcomes: Outcomes, table: Floats) -> Iterator[tuple[str, Forecast]]:
    predicted = outcomes.predicted
    assert predicted is not None
    matrix = confusion_matrix(outcomes, table)
    count = len(matrix)
    four = cells(pairs_of(matrix), count)
    # of two classes the second's, as everywhere; of more, the mean over those that have a value
    for name, formula in _OF_CELLS.items():
        values = np.asarray(formula(*four), dtype=np.float64)
        counted = np.array([False, True]) if count == 2 else ~np.isnan(values)
        if not counted.any() or np.isnan(values[counted]).any():
            why = "no interval is available: no row is predicted, or expected, to be of the class."
            yield name, Forecast(math.nan, math.nan, math.nan, why)
            continue
        hit, alarm, miss = (_slope(formula, four, cell, counted) for cell in range(3))
        # true class by predicted class
        moves = alarm[None, :] + miss[:, None]
        np.fill_diagonal(moves, hit)
        note = _few_of_a_class(matrix.sum(axis=0 if name == "precision" else 1)[counted], outcomes)
        if note and count == 2:
            # a share of a handful of rows has no interval worth the name
            yield name, Forecast(float(values[counted].mean()), math.nan, math.nan, f"no interval is available: {note}")
            continue
        yield name, _of_classes(outcomes, table, float(values[counted].mean()), moves[:, predicted].T, note)
    if count == 2:
        for name, cell in (("tp", (1, 1)), ("fp", (0, 1)), ("fn", (1, 0)), ("tn", (0, 0))):
            moves = np.zeros((2, 2))
            moves[cell] = 1.0
            yield name, _of_classes(outcomes, table, float(matrix[cell]), moves[:, predicted].T)


def _slope(formula: Callable[..., Any], four: tuple[Floats, ...], cell: int, counted: Any) -> Floats:
    """By how much a mean over classes moves when one of the cells of a class grows by 1."""
    step = _STEP * (1 + sum(four))
    up, down = (
        formula(*(value + sign * step if i == cell else value for i, value in enumerate(four))) for sign in (1, -1)
    )
    with np.errstate(invalid="ignore"):
        slopes = (np.asarray(up) - np.asarray(down)) / (2 * step)
    result: Floats = np.where(counted & np.isfinite(slopes), slopes, 0.0) / counted.sum()
    return result


def _few_of_a_class(rows: Floats, outcomes: Outcomes) -> str:
    least = float(rows.min())
    if least >= ENOUGH or not len(outcomes.features.T):
        return ""
    return f"a class is predicted or expected in only about {max(1, round(least))} of these rows."


def _of_rankings(outcomes: Outcomes, table: Floats) -> Iterator[tuple[str, Forecast]]:
    rows, count = outcomes.rows, table.shape[1]
    labels = [1] if count == 2 else list(range(count))
    scores = rows.ranking_scores(labels)
    orders = [ScoreOrder.of(one) for one in scores]
    confidence = rows.confidence_of(slice(None))
    for name, weight in (("auc", np.ones(len(rows))), ("cw_auc", confidence)):
        areas, gradient = [], np.zeros_like(table)
        for label, order in zip(labels, orders, strict=True):
            positive, negative = weight * table[:, label], weight * (1 - table[:, label])
            masses = order.masses(positive), order.masses(negative)
            if not masses[0].sum() or not masses[1].sum():
                continue
            areas.append(pair_probability(*masses))
            gradient[:, label] = weight * _placements(order, masses, areas[-1])
        if not areas:
            yield name, Forecast(math.nan, math.nan, math.nan, "no interval is available: there is only one class.")
            continue
        gradient /= len(areas)
        sums = table[:, labels].sum(axis=0)
        note = _few_of_a_class(np.minimum(sums, len(table) - sums), outcomes)
        if note and count == 2:
            yield name, Forecast(areas[0], math.nan, math.nan, f"no interval is available: {note}")
            continue
        yield name, _of_classes(outcomes, table, math.fsum(areas) / len(areas), gradient, note)


def _placements(order: ScoreOrder, masses: tuple[Floats, Floats], area: float) -> Floats:
    """By how much an area moves when a row turns from a negative into a positive."""
    positive, negative = masses
    below = (np.cumsum(negative) - negative / 2) / negative.sum()
    above = 1 - (np.cumsum(positive) - positive / 2) / positive.sum()
    return order.of_rows((below - area) / positive.sum() - (above - area) / negative.sum())


def _mean_cost(outcomes: Outcomes, table: Floats | None, cost: float | Floats) -> Forecast:
    rows = len(outcomes.right)
    if table is None or np.ndim(cost) == 0:
        each = np.full(rows, float(np.asarray(cost)) / rows)
        return _linear(outcomes, float((outcomes.wrong * each).sum()), np.zeros(rows), each)
    costs = np.asarray(cost, dtype=np.float64)
    assert outcomes.predicted is not None
    gradient = costs[:, outcomes.predicted].T / rows
    return _of_classes(outcomes, table, float((table * gradient).sum()), gradient)

"""Rankings: ROC and AUC, plain and weighted by confidence, as sums keyed by score."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple, Protocol, Unpack

import numpy as np
import numpy.typing as npt

from surefoot.core.keys import CLASS_SCORE
from surefoot.core.metric import Metric, Outcome
from surefoot.core.ordering import stable_order
from surefoot.core.table import Floats, Table
from surefoot.core.tally import Label, Tally
from surefoot.core.term import Term
from surefoot.core.view import ANY_VIEW, OF_PREDICTIONS
from surefoot.metrics.averages import Average, average_classes, check_average
from surefoot.metrics.function import describe
from surefoot.metrics.weighted import gain_between
from surefoot.predictions.arguments import Columns, as_predictions, takes_predictions

POSITIVE = Term("positives by score", lambda row: row.weight * row.positive, CLASS_SCORE)
NEGATIVE = Term("negatives by score", lambda row: row.weight * row.negative, CLASS_SCORE)
CW_POSITIVE = Term(
    "confidence of positives by score", lambda row: row.weight * row.confidence * row.positive, CLASS_SCORE
)
CW_NEGATIVE = Term(
    "confidence of negatives by score", lambda row: row.weight * row.confidence * row.negative, CLASS_SCORE
)
_BLOCK = 1 << 15
PLAIN, WEIGHTED = (POSITIVE, NEGATIVE), (CW_POSITIVE, CW_NEGATIVE)


def pair_probability(positive: Floats, negative: Floats) -> float:
    """The chance that a positive outranks a negative: it beats those below it, and half of those it ties with."""
    # both sides counted, not one taken from the product of the sums: of a perfect ranking exactly nothing is lost
    return _share(_pairs_won(positive, negative), _pairs_won(negative, positive))


class ScoreOrder(NamedTuple):
    """The order of scores, and where in it each distinct score begins."""

    order: npt.NDArray[np.intp]
    starts: npt.NDArray[np.intp]

    @staticmethod
    def of(scores: Floats) -> ScoreOrder:
        order = stable_order(scores)
        return ScoreOrder(order, np.flatnonzero(np.append(True, np.diff(scores[order]) != 0)))

    def masses(self, weight: Floats) -> Floats:
        """The weight of the rows of each distinct score, rising."""
        return np.add.reduceat(weight[self.order], self.starts)

    def of_rows(self, values: Floats) -> Floats:
        """A value for each distinct score as one for each row."""
        spread = np.empty(len(self.order))
        spread[self.order] = np.repeat(values, np.diff(self.starts, append=len(self.order)))
        return spread


def _share(won: float, lost: float) -> float:
    return won / (won + lost) if won + lost else math.nan


def _pairs_won(winners: Floats, losers: Floats) -> float:
    """The pairs in which a winner outranks a loser, half of the ties among them.

    In blocks that stay in the cache; and products are summed rather than passed to BLAS, whose threads and ours would
    wait for each other.
    """
    passed, won = 0.0, []
    for start in range(0, len(winners), _BLOCK):
        w, x = winners[start : start + _BLOCK], losers[start : start + _BLOCK]
        upto = np.cumsum(x)
        won.append(float((w * (passed + (upto - x / 2))).sum()))
        passed += float(upto[-1])
    return math.fsum(won)


def shared_pairs(positive: Floats, negative: Floats) -> float:
    """Half the share of pairs whose scores share a cell: how far cells can put :func:`pair_probability` off."""
    pairs = positive.sum() * negative.sum()
    return float((positive * negative).sum() / 2 / pairs) if pairs else math.nan


def mean_precision(positive: Floats, negative: Floats) -> float:
    """Precision at each positive, averaged over the positives; equal scores are taken together."""
    p, n = positive[::-1], negative[::-1]
    found, passed = np.cumsum(p), np.cumsum(n)
    if not found[-1] or not passed[-1]:
        return math.nan
    reached = p > 0
    return float((p[reached] * found[reached] / (found + passed)[reached]).sum() / found[-1])


def mean_precision_error(positive: Floats, negative: Floats) -> float:
    """How far cells can put :func:`mean_precision` off.

    At best the positives of a cell come first and as one; at worst they come last and one by one, which for ever
    smaller rows is an integral.
    """
    p, n = positive[::-1], negative[::-1]
    found, passed = np.cumsum(p), np.cumsum(n)
    if not found[-1] or not passed[-1]:
        return math.nan
    every, reached = found[-1], p > 0
    p, n, found, passed = p[reached], n[reached], found[reached], passed[reached]
    stated = p * found / (found + passed)
    best = p * found / (found + passed - n)
    before = found - p + passed
    # where nothing came before, precision is 1 throughout
    worst = p - passed * np.log1p(np.divide(p, before, out=np.zeros(len(p)), where=before > 0))
    return float(np.maximum(best - stated, stated - worst).sum() / every)


@dataclass(frozen=True)
class Area:
    """A number for each class, made of its table of positives and negatives; and how far cells can put it off."""

    terms: tuple[Term, Term]
    value: Callable[[Floats, Floats], float]
    error: Callable[[Floats, Floats], float]
    title: str
    reading: str
    notation: str


AREAS = {
    "auc": Area(
        PLAIN,
        pair_probability,
        shared_pairs,
        "AUC",
        "How often a sample of a class outscores one of another class; it says nothing about calibration.",
        r"P(s_i > s_j) + \tfrac12 P(s_i = s_j), \quad y_i = k \ne y_j",
    ),
    "cw_auc": Area(
        WEIGHTED,
        pair_probability,
        shared_pairs,
        "Confidence-weighted AUC (cwAUC)",
        "AUC with each pair weighted by its confidences; above AUC if confident samples are ranked better.",
        r"P_w(s_i > s_j) + \tfrac12 P_w(s_i = s_j), \quad w_{ij} = c_i c_j,\ y_i = k \ne y_j",
    ),
    "cw_average_precision": Area(
        WEIGHTED,
        mean_precision,
        mean_precision_error,
        "Confidence-weighted average precision",
        "Mean precision over all thresholds, with each sample counted by its confidence.",
        r"\sum_n (\mathrm{cwR}_n - \mathrm{cwR}_{n-1})\, \mathrm{cwP}_n",
    ),
}


@dataclass(frozen=True)
class ByClass:
    """A value a class, its error, and the weight of the class; nan where a class lacks positives or negatives."""

    labels: tuple[Label, ...]
    value: Floats
    error: Floats
    support: Floats


def _by_class(t: Tally, name: str, average: Average) -> ByClass:
    """For two classes an average is the second label's value, as in scikit-learn: the first adds nothing to an AUC.

    Unless each has a score of its own.
    """
    assert t.labels is not None
    is_one = average is not None and len(t.labels) == 2 and not getattr(t.table(CLASS_SCORE), "ranks_each", False)
    wanted = range(1, 2) if is_one else range(len(t.labels))
    # what holds plain terms and weighted ones is made for several areas; what holds either may be made for one
    is_shared = all(t.has(term) for term in (*PLAIN, *WEIGHTED))
    together = tuple(AREAS) if is_shared else (name,)
    areas: dict[str, ByClass] = t.cached(f"{together} of {wanted}", lambda: _walk(t, together, wanted))
    return areas[name]


def _walk(t: Tally, names: tuple[str, ...], wanted: range) -> dict[str, ByClass]:
    """Read the table of each class once for all of some areas: to order its scores is most of the work."""
    assert t.labels is not None
    scores = t.table(CLASS_SCORE)
    in_cells = isinstance(scores, Table)
    held = {name: AREAS[name] for name in names}

    def read(table: Any) -> list[tuple[float, float, float]]:
        rows = []
        for area in held.values():
            if area.value is pair_probability and hasattr(table, "pairs"):
                # tensors count them where they are, and rows that are one number in one pass
                won, lost, mass = table.pairs(area.terms)
                rows.append((_share(won, lost), 0.0, mass))
                continue
            positive, negative = (table.totals[term.name].value for term in area.terms)
            error = area.error(positive, negative) if in_cells else 0.0
            rows.append((area.value(positive, negative), error, float(positive.sum())))
        return rows

    values = np.array(scores.of_classes(wanted, read))
    labels = tuple(t.labels[label] for label in wanted)
    return {name: ByClass(labels, *values[:, i].T) for i, name in enumerate(held)}


def _average(t: Tally, name: str, average: Average) -> Any:
    found = _by_class(t, name, average)
    return average_classes(found.value, found.support, average, found.labels)


def _off(t: Tally, name: str, average: Average) -> Any:
    """How far cells can put an average off; 0 where scores were kept exactly."""
    found = _by_class(t, name, average)
    errors = np.where(np.isnan(found.value), np.nan, found.error)
    return np.nan_to_num(_plain(average_classes(errors, found.support, average, found.labels)))


def _plain(result: Any) -> Any:
    return result.value if isinstance(result, Outcome) else result


def weights_of_classes(t: Tally) -> Floats | None:
    """The weight of the true rows of each class; None if the tally does not hold them."""
    if t.labels is None or not t.has(POSITIVE) or not t.has(NEGATIVE):
        return None
    return _by_class(t, "auc", None).support


def areas_of_classes(t: Tally) -> dict[str, Floats]:
    """AUC and cwAUC of each class, where more than two are ranked, and a metric of the tally has walked them."""
    if t.view != "prediction" or len(t.labels or ()) < 3 or not all(t.has(term) for term in (*PLAIN, *WEIGHTED)):
        return {}
    return {name: _by_class(t, name, None).value for name in ("auc", "cw_auc")}


@cache
def area_metric(name: str, average: Average = "macro") -> Metric:
    """AUC, cwAUC or confidence-weighted average precision, averaged over classes."""
    area = AREAS[name]
    return Metric(
        name,
        area.terms,
        lambda t: _average(t, name, average),
        title=area.title,
        about="value",
        reading=area.reading,
        notation=area.notation,
        ideal=1.0,
        direction="higher",
        range=(0.0, 1.0),
        error=lambda t: float(np.max(_off(t, name, average))),
        views=ANY_VIEW if name == "auc" else OF_PREDICTIONS,
    )


@cache
def auc_gain_metric(average: Average = "macro") -> Metric:
    """The gain of cwAUC over AUC, of their averages or a value a class."""

    def formula(t: Tally) -> Any:
        plain, weighted = _average(t, "auc", average), _average(t, "cw_auc", average)
        value = gain_between(_plain(weighted), _plain(plain))
        return Outcome(value, weighted.note) if isinstance(weighted, Outcome) else value

    def error(t: Tally) -> float:
        plain, weighted = (np.asarray(_plain(_average(t, name, average))) for name in ("auc", "cw_auc"))
        off, cw_off = _off(t, "auc", average), _off(t, "cw_auc", average)
        here = gain_between(weighted, plain)
        # it rises with cwAUC and falls with AUC, so the ends lie where both are off in opposite ways
        up, down = gain_between(weighted + cw_off, plain - off), gain_between(weighted - cw_off, plain + off)
        return float(np.max(np.nan_to_num(np.maximum(up - here, here - down))))

    return Metric(
        "auc_gain",
        (*PLAIN, *WEIGHTED),
        formula,
        title="Gain of cwAUC over AUC",
        about="value",
        reading="Share of the wrongly ranked pairs that weighting by confidence removes.",
        notation=r"\frac{\mathrm{cwAUC} - \mathrm{AUC}}{1 - \min(\mathrm{cwAUC}, \mathrm{AUC})}",
        ideal=1.0,
        direction="higher",
        range=(-1.0, 1.0),
        error=error,
        views=OF_PREDICTIONS,
    )


AUC = area_metric("auc")
CW_AUC = area_metric("cw_auc")
CW_AVERAGE_PRECISION = area_metric("cw_average_precision")
AUC_GAIN = auc_gain_metric()


class RankingFunction(Protocol):
    """A metric of the order of scores, as a function."""

    __name__: str

    def __call__(
        self,
        x: Any = None,
        second: Any = None,
        third: Any = None,
        /,
        *,
        average: Average = "macro",
        **columns: Unpack[Columns],
    ) -> float | Floats: ...


def _function_of(metric: Callable[[Average], Metric]) -> Callable[[Callable[[], object]], RankingFunction]:
    """Make a function of a metric with an average: its name and docstring are those of what is decorated."""

    def decorate(described: Callable[[], object]) -> RankingFunction:
        def function(
            x: Any = None,
            second: Any = None,
            third: Any = None,
            /,
            *,
            average: Average = "macro",
            **columns: Unpack[Columns],
        ) -> float | Floats:
            check_average(average, "macro", "weighted", None)
            predictions = as_predictions(x, second, third, columns, function=described.__name__, is_ranking=True)
            result = metric(average)(predictions)
            return result if isinstance(result, np.ndarray) else float(result)

        return takes_predictions(describe(function, described))

    return decorate


@_function_of(partial(area_metric, "auc"))
def auc() -> None:
    r"""Area under the ROC curve: the chance that a sample of the class outscores one of another class.

    0.5 is chance, 1 a perfect ranking. Strictly rising changes of the scores leave it the same, so it says nothing
    about calibration.

    Parameters
    ----------
    average : {"macro", "weighted"} or None, default="macro"
        ``"macro"`` is the mean over classes (with two classes, the value of the second label, as in scikit-learn),
        ``"weighted"`` the mean weighted by the samples of each class; None returns a value for each class.

    Returns
    -------
    float, or array of shape (K,) with ``average=None``
        From 0 to 1; higher is better. A class without positives or negatives is nan, with a warning, and left out of
        the mean.

    Notes
    -----
    .. math:: \mathrm{AUC}^{(k)} = P(s_i > s_j) + \tfrac12 P(s_i = s_j), \quad y_i = k \ne y_j

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """


@_function_of(partial(area_metric, "cw_auc"))
def cw_auc() -> None:
    r"""Confidence-weighted AUC: each sample counts by the confidence in its predicted class.

    It is above :func:`auc` if the model is more confident on the pairs that it ranks correctly.

    Parameters
    ----------
    average : {"macro", "weighted"} or None, default="macro"
        ``"macro"`` is the mean over classes (with two classes, the value of the second label, as in scikit-learn),
        ``"weighted"`` the mean weighted by the samples of each class; None returns a value for each class.

    Returns
    -------
    float, or array of shape (K,) with ``average=None``
        From 0 to 1; higher is better.

    Notes
    -----
    .. math:: \mathrm{cwAUC}^{(k)} = P_w(s_i > s_j) + \tfrac12 P_w(s_i = s_j), \quad w_{ij} = c_i c_j

    It equals scikit-learn's ``roc_auc_score`` with the confidences as sample weights.

    Examples
    --------
    >>> round(cw_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.8207
    """


@_function_of(auc_gain_metric)
def auc_gain() -> None:
    r"""Gain of cwAUC over AUC: the share of wrongly ranked pairs that weighting by confidence removes.

    Parameters
    ----------
    average : {"macro", "weighted"} or None, default="macro"
        ``"macro"`` is the mean over classes (with two classes, the value of the second label, as in scikit-learn),
        ``"weighted"`` the mean weighted by the samples of each class; None returns a value for each class.

    Returns
    -------
    float, or array of shape (K,) with ``average=None``
        From -1 to 1; higher is better, and 0 if both areas are 1.

    Notes
    -----
    .. math:: \frac{\mathrm{cwAUC} - \mathrm{AUC}}{1 - \min(\mathrm{cwAUC}, \mathrm{AUC})}

    It is computed from the averaged areas, not averaged itself.

    Examples
    --------
    >>> round(auc_gain([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.2828
    """


@_function_of(partial(area_metric, "cw_average_precision"))
def cw_average_precision() -> None:
    r"""Confidence-weighted average precision: precision at each step of recall, both weighted by confidence.

    Parameters
    ----------
    average : {"macro", "weighted"} or None, default="macro"
        ``"macro"`` is the mean over classes (with two classes, the value of the second label, as in scikit-learn),
        ``"weighted"`` the mean weighted by the samples of each class; None returns a value for each class.

    Returns
    -------
    float, or array of shape (K,) with ``average=None``
        From 0 to 1; higher is better.

    Notes
    -----
    .. math:: \sum_n (\mathrm{cwR}_n - \mathrm{cwR}_{n-1})\, \mathrm{cwP}_n

    It equals scikit-learn's ``average_precision_score`` with the confidences as sample weights.

    Examples
    --------
    >>> cw_average_precision([0, 1], [0.2, 0.9])
    1.0
    """

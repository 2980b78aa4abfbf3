"""Scores taken apart: what miscalibration costs, what telling samples apart gains, and what was uncertain at the start.

The parts are those of CORP (Dimitriadis, Gneiting and Jordan 2021): the rising fit of correctness by pooling adjacent
violators is the best recalibration there is, and has no parameters.

A fit needs nothing but the order of confidences and how many are correct at each. A tally holds this in cells, so the
score of the best fit is known within limits. Fits that are constant on cells are fits, so it is at most what the best
of those scores. And it is at least what the best fit would score if in every cell all errors came first: sorting the
values of any rising fit, and the outcomes, within each cell makes no score worse, as the score of a correct row falls
with its probability and that of a wrong one rises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np

from surefoot.core.metric import About, Metric, Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.metrics.by_confidence import NOTHING
from surefoot.metrics.confidence_order import ORDER, confidence_order
from surefoot.metrics.function import measure
from surefoot.metrics.proper import SQUARED_GAP, SURPRISAL
from surefoot.metrics.terms import CORRECT, WEIGHT, WRONG
from surefoot.predictions.arguments import Columns, takes_predictions

Score = Literal["brier", "log_loss"]
Part = Literal["miscalibration", "discrimination", "uncertainty"]

_REFERENCE = "Dimitriadis, Gneiting and Jordan, PNAS 118 (2021)"
INFINITE = "a sample of confidence 1 is wrong, or one of confidence 0 is correct, so the log loss is infinite"


def _squares(wrong: Any, correct: Any) -> Any:
    """The Brier scores, summed, of rows whose probability is the share that is correct."""
    return wrong * (correct / (wrong + correct))


def _entropies(wrong: Any, correct: Any) -> Any:
    """The same for the log loss."""
    from scipy.special import entr

    weight = wrong + correct
    return weight * (entr(wrong / weight) + entr(correct / weight))


class Rule(NamedTuple):
    """A score: its total over rows, what rows score at the share that is correct, its title, and its largest spread."""

    term: Term
    at_share: Callable[[Any, Any], Any]
    title: str
    symbol: str
    most: float


RULES: dict[Score, Rule] = {
    "brier": Rule(SQUARED_GAP, _squares, "Brier score", r"(p - y)^2", 0.25),
    "log_loss": Rule(SURPRISAL, _entropies, "log loss", r"-\log|1 - y - p|", math.log(2)),
}


def check_score(score: Any) -> Score:
    if score not in get_args(Score):
        raise ValueError(f"score is {score!r}; it should be 'brier' or 'log_loss'.")
    return score  # type: ignore[no-any-return]


class Parts(NamedTuple):
    """The mean score as given, of the best rising recalibration, and of the base rate alone."""

    given: float
    recalibrated: float
    uncertainty: float
    #: How far the recalibrated one may lie below, as a tally holds cells.
    bound: float

    @property
    def miscalibration(self) -> float:
        return self.given - self.recalibrated

    @property
    def discrimination(self) -> float:
        return self.uncertainty - self.recalibrated


def terms_of(score: Score) -> tuple[Term, ...]:
    return (WEIGHT, WRONG, CORRECT, RULES[score].term, *ORDER)


def pooled(wrong: Floats, correct: Floats) -> tuple[Floats, Floats]:
    """What is wrong and what is correct in each block of the rising fit."""
    from scipy.optimize import isotonic_regression

    weight = wrong + correct
    blocks = isotonic_regression(correct / weight, weights=weight).blocks[:-1]
    return np.add.reduceat(wrong, blocks), np.add.reduceat(correct, blocks)


def parts_of(t: Tally, score: Score) -> Parts | None:
    """The parts of a score; None if no row counts."""
    parts: Parts | None = t.cached(f"parts of {score}", lambda: _parts(t, score))
    return parts


def _parts(t: Tally, score: Score) -> Parts | None:
    rule, order = RULES[score], confidence_order(t)
    if not len(order.wrong):
        return None
    total = order.weight.sum()
    given = t[rule.term] / t[WEIGHT]
    uncertainty = _uncertainty(t, rule)
    fit = rule.at_share(*pooled(order.wrong, order.correct)).sum() / total
    # confidences themselves are a rising fit, and so is the base rate: what scores worse is no best fit
    recalibrated = float(min(fit, given, uncertainty))
    if order.is_exact:
        return Parts(given, recalibrated, uncertainty, 0.0)
    # the errors of a cell first, then what is correct
    none = np.zeros(len(order.wrong))
    first = np.where(order.is_cell, [order.wrong, none], [order.wrong, order.correct])
    then = np.where(order.is_cell, [none, order.correct], [none, none])
    wrong, correct = (np.column_stack(pair).ravel() for pair in zip(first, then, strict=True))
    held = wrong + correct > 0
    least = rule.at_share(*pooled(wrong[held], correct[held])).sum() / total
    return Parts(given, recalibrated, uncertainty, max(0.0, recalibrated - float(least)))


def _uncertainty(t: Tally, rule: Rule) -> float:
    return float(rule.at_share(t[WRONG], t[CORRECT]) / (t[WRONG] + t[CORRECT]))


@cache
def part_metric(part: Part, score: Score = "brier") -> Metric:
    """One of the parts of a score."""
    rule = RULES[score]

    def formula(t: Tally) -> float | Outcome:
        if part == "uncertainty":
            return _uncertainty(t, rule) if t[WRONG] + t[CORRECT] else NOTHING
        parts = parts_of(t, score)
        if parts is None:
            return NOTHING
        value: float = getattr(parts, part)
        return Outcome(value, INFINITE) if math.isinf(value) else value

    def error(t: Tally) -> float:
        parts = None if part == "uncertainty" else parts_of(t, score)
        return 0.0 if parts is None else parts.bound

    title, about, reading, notation = _FACTS[part]
    ideal, direction = {
        "miscalibration": (0.0, "lower"),
        "discrimination": (rule.most, "higher"),
        "uncertainty": (None, "none"),
    }[part]
    return Metric(
        part,
        (WRONG, CORRECT) if part == "uncertainty" else terms_of(score),
        formula,
        title=f"{title} of the {rule.title}",
        about=about,
        reading=reading.format(rule.title),
        notation=notation,
        ideal=ideal,
        direction=direction,  # type: ignore[arg-type]
        range=(0.0, math.inf if score == "log_loss" and part == "miscalibration" else 1.0 if ideal == 0 else rule.most),
        reference=_REFERENCE,
        error=error,
    )


_FACTS: dict[Part, tuple[str, About, str, str]] = {
    "miscalibration": (
        "Miscalibration",
        "calibration",
        "How much of the {} the best rising recalibration of these samples would remove.",
        r"\bar S(c) - \bar S(g(c)), \quad g \text{ the isotonic fit}",
    ),
    "discrimination": (
        "Discrimination",
        "value",
        "How much better than the base rate the {} would be after recalibration: what telling samples apart gains.",
        r"\bar S(\bar y) - \bar S(g(c)), \quad g \text{ the isotonic fit}",
    ),
    "uncertainty": (
        "Uncertainty",
        "score",
        "The {} of the base rate alone: how hard the data are, whatever the model says.",
        r"\bar S(\bar y)",
    ),
}


@takes_predictions
def miscalibration(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    score: Score = "brier",
    **columns: Unpack[Columns],
) -> float:
    r"""The part of a score that recalibration removes: its loss to the best rising fit.

    Lower is better. It is in units of the score: of a Brier score of 0.2, a miscalibration of 0.03 could be removed by
    recalibration alone. The fit is made on the same samples, so a calibrated model does not get exactly 0; use the
    interval of :func:`score_decomposition` to see whether 0 is possible.

    Parameters
    ----------
    score : {"brier", "log_loss"}, default="brier"
        The score to take apart.

    Returns
    -------
    float
        0 or more; infinite, with a warning, if the log loss is.

    See Also
    --------
    score_decomposition : all parts, with their intervals.

    Notes
    -----
    .. math:: \mathrm{MCB} = \bar S(c) - \bar S(g(c)), \quad g \text{ the isotonic fit of correctness}

    Samples of equal confidence are averaged first, so the order of rows does not matter. A :class:`Tally` holds the
    confidences in cells when there are more than 4096 values; then :meth:`Metric.bound` says how far off it may be.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 118 (2021).

    Examples
    --------
    >>> miscalibration(correct=[True, False, True, True], confidence=[0.75, 0.75, 1.0, 1.0])
    0.03125
    """
    return measure(part_metric("miscalibration", check_score(score)), x, second, third, columns)


@takes_predictions
def discrimination(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    score: Score = "brier",
    **columns: Unpack[Columns],
) -> float:
    r"""The part of a score that telling samples apart gains over the base rate.

    Higher is better. It is what the confidences would be worth after the best recalibration, in units of the score, and
    at most the :func:`uncertainty`.

    Parameters
    ----------
    score : {"brier", "log_loss"}, default="brier"
        The score to take apart.

    Returns
    -------
    float
        From 0 to 0.25 for the Brier score, to log 2 for the log loss.

    See Also
    --------
    score_decomposition : all parts, with their intervals.

    Notes
    -----
    .. math:: \mathrm{DSC} = \bar S(\bar y) - \bar S(g(c)), \quad g \text{ the isotonic fit of correctness}

    It depends only on the order of confidences, as AUC does. A :class:`Tally` holds the confidences in cells when there
    are more than 4096 values; then :meth:`Metric.bound` says how far off it may be.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 118 (2021).

    Examples
    --------
    >>> discrimination(correct=[True, False, True, True], confidence=[0.75, 0.75, 1.0, 1.0])
    0.0625
    """
    return measure(part_metric("discrimination", check_score(score)), x, second, third, columns)


@takes_predictions
def uncertainty(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    score: Score = "brier",
    **columns: Unpack[Columns],
) -> float:
    r"""The part of a score that the data bring: the score of the base rate alone.

    It does not depend on the confidences: for the Brier score it is accuracy x (1 - accuracy), for the log loss the
    entropy of the outcomes. Scores of different data sets differ by it before any model is asked.

    Parameters
    ----------
    score : {"brier", "log_loss"}, default="brier"
        The score to take apart.

    Returns
    -------
    float
        From 0 to 0.25 for the Brier score, to log 2 for the log loss.

    See Also
    --------
    score_decomposition : all parts, with their intervals.

    Notes
    -----
    .. math:: \mathrm{UNC} = \bar S(\bar y)

    References
    ----------
    Dimitriadis, Gneiting and Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 118 (2021).

    Examples
    --------
    >>> uncertainty(correct=[True, False, True, True], confidence=[0.75, 0.75, 1.0, 1.0])
    0.1875
    """
    return measure(part_metric("uncertainty", check_score(score)), x, second, third, columns)


MISCALIBRATION = part_metric("miscalibration")
DISCRIMINATION = part_metric("discrimination")
UNCERTAINTY = part_metric("uncertainty")

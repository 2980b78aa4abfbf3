"""Net benefit and the decision curve: what acting on predictions is worth, by the risk from which you act."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Unpack

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._stats.binomial import limits
from surefoot.core.frames import CurveTable
from surefoot.core.keys import EXACT_CONFIDENCE, Bins, Key, from_ordered_bits
from surefoot.core.metric import Metric, Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.core.view import OF_EVENTS
from surefoot.errors import InvalidPredictions
from surefoot.metrics.by_confidence import NOTHING
from surefoot.metrics.function import in_view, measure
from surefoot.metrics.selective import check_threshold
from surefoot.metrics.terms import WEIGHT
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions


@cache
def net_benefit_metric(threshold: float = 0.5) -> Metric:
    """Net benefit of acting on the samples whose probability reaches the threshold."""

    def treated(row: Any) -> Any:
        return row.weight * ((row.confidence > threshold) + (row.confidence == threshold))

    true = Term(f"events with probability from {threshold!r}", lambda row: treated(row) * row.correct)
    false = Term(f"non-events with probability from {threshold!r}", lambda row: treated(row) * row.wrong)
    odds = threshold / (1 - threshold)

    def formula(t: Tally) -> float | Outcome:
        return (t[true] - odds * t[false]) / t[WEIGHT] if t[WEIGHT] else NOTHING

    return Metric(
        "net_benefit",
        (WEIGHT, true, false),
        formula,
        title=f"Net benefit at {threshold:g}",
        about="value",
        reading=f"Events found by acting on probabilities of {threshold:g} or more, less false alarms at the odds of "
        "that threshold, for each sample. Acting on none gives 0.",
        notation=r"\frac{\mathrm{TP}}{N} - \frac{\mathrm{FP}}{N} \frac{t}{1 - t}",
        direction="higher",
        range=(-odds, 1.0),
        reference="Vickers and Elkin, Medical Decision Making 26 (2006)",
        views=OF_EVENTS,
    )


@takes_predictions
def net_benefit(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    threshold: float = 0.5,
    **columns: Unpack[Columns],
) -> float:
    r"""Net benefit at a threshold: events found by acting, less false alarms at the odds of the threshold.

    Higher is better. Acting on nobody gives 0; a model is worth using if it is above that and above acting on all.
    Choose the threshold as the probability from which you would act: at 0.1, nine false alarms are as bad as one missed
    event is. At the default, 0.5, they are equally bad.

    Parameters
    ----------
    threshold : float, default=0.5
        You act on samples with at least this probability; from 0 to below 1.
    of : {"event", "classes"}, default "event"
        Whether ``pos_label`` is the event, or each class in turn, of which the mean is returned.

    Returns
    -------
    float
        At most the share of events, which a perfect model has; below 0 if acting does more harm than good.

    See Also
    --------
    decision_curve : net benefit by threshold, beside acting on everybody and on nobody.

    Notes
    -----
    .. math:: \frac{\mathrm{TP}}{N} - \frac{\mathrm{FP}}{N} \frac{t}{1 - t}

    References
    ----------
    Vickers and Elkin, Decision curve analysis: a novel method for evaluating prediction models, Medical Decision Making
    26 (2006).

    Examples
    --------
    >>> net_benefit([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], threshold=0.2)
    0.4375
    """
    return measure(net_benefit_metric(check_threshold(threshold)), x, second, third, columns)


@dataclass(frozen=True, eq=False)
class DecisionCurve(CurveTable):
    """Net benefit of acting on predictions, by the probability from which you act.

    Attributes
    ----------
    threshold : array of shape (n_thresholds,)
        The probabilities from which you act.
    net_benefit : array of shape (n_thresholds,)
        The net benefit of acting on samples with at least that probability, for each sample.
    lower, upper : array of shape (n_thresholds,)
        Pointwise confidence limits of ``net_benefit``.
    treat_all : array of shape (n_thresholds,)
        The net benefit of acting on every sample.
    treat_none : array of shape (n_thresholds,)
        That of acting on none, which is 0.
    treated : array of shape (n_thresholds,)
        The share of samples that are acted on.
    """

    threshold: Floats
    net_benefit: Floats
    lower: Floats
    upper: Floats
    treat_all: Floats
    treat_none: Floats
    treated: Floats


@takes_predictions
def decision_curve(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    thresholds: Any = None,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> DecisionCurve:
    r"""Decision curve: net benefit of acting on predictions, by the probability from which you act.

    A model is worth using at a threshold where its net benefit is above that of acting on everybody and above 0, that
    of acting on nobody. Look at the thresholds that make sense for your decision, not at all of them.

    Parameters
    ----------
    thresholds : array-like of shape (n_thresholds,), optional
        The probabilities from which you act, rising, from 0 to below 1; by default 0.01, 0.02, ..., 0.99.
    level : float, default 0.95
        The confidence level of ``lower`` and ``upper``, at each threshold by itself.
    of : {"event"}, default "event"
        A decision curve is of one event, ``pos_label``.

    Returns
    -------
    DecisionCurve
        Arrays ``threshold``, ``net_benefit``, ``lower``, ``upper``, ``treat_all``, ``treat_none`` and ``treated``.

    See Also
    --------
    net_benefit : the value at one threshold.

    Notes
    -----
    .. math:: \frac{\mathrm{TP}}{N} - \frac{\mathrm{FP}}{N} \frac{t}{1 - t}

    The limits put together those of Clopper and Pearson for TP / N and FP / N, with the correlation that shares of one
    sample have (Zou and Donner 2008). Unequal weights count as so many rows as would leave the shares as uncertain.

    References
    ----------
    Vickers and Elkin, Decision curve analysis: a novel method for evaluating prediction models, Medical Decision Making
    26 (2006).
    Zou and Donner, Construction of confidence limits about effect measures, Statistics in Medicine 27 (2008).

    Examples
    --------
    >>> curve = decision_curve([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], thresholds=[0.2, 0.5])
    >>> curve.net_benefit.tolist(), curve.treat_all.tolist()
    ([0.4375, 0.0], [0.375, 0.0])
    """
    check_share("level", level, "0.95")
    at = _check_thresholds(thresholds)
    p = as_predictions(x, second, third, in_view(OF_EVENTS, x, columns), function="decision_curve")
    if p.view != "event":
        raise InvalidPredictions(
            f"a decision curve is of one event, and these predictions are of={p.view!r}",
            hint="use of='event' with pos_label=",
        )
    # of rows at hand, to sort them is faster than to compare each with every threshold
    bins = Bins("confidence", tuple(at.tolist()), "left", f"thresholds {at.tolist()}")
    key: Key = EXACT_CONFIDENCE if p.has_rows else bins
    terms = [Term(f"{name} by {key.name}", formula, key) for name, formula in _TERMS.items()]
    table = p.tally(terms).table(key)
    codes = np.searchsorted(at, from_ordered_bits(table.codes), "right") if p.has_rows else table.codes
    sums = np.stack([np.bincount(codes, table.totals[term.name].value, len(at) + 1) for term in terms])
    weight, squares = float(sums[0].sum()), float(sums[1].sum())
    if not weight:
        raise InvalidPredictions("every weight is 0, so there is nothing to act on", argument="sample_weight")
    # what lies at a threshold or above
    true, false = (np.cumsum(row[::-1])[::-1][1:] / weight for row in sums[2:])
    odds, events = at / (1 - at), float(sums[2].sum()) / weight
    benefit = true - odds * false
    lower, upper = benefit_limits(true, false, odds, rows=weight**2 / squares, level=level)
    none = np.zeros(len(at))
    return DecisionCurve(at, benefit, lower, upper, events - odds * (1 - events), none, true + false)


_TERMS: dict[str, Any] = {
    "weight": lambda row: row.weight,
    "squared weight": lambda row: row.weight * row.weight,
    "correct": lambda row: row.weight * row.correct,
    "wrong": lambda row: row.weight * row.wrong,
}


def benefit_limits(
    true: Floats, false: Floats, odds: Floats, *, rows: Floats | float, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Limits of true - odds * false from those of the two shares, which exclude each other."""
    (true_low, true_high), (false_low, false_high) = (
        limits(np.clip(share, 0.0, 1.0) * rows, np.full(len(share), rows), level) for share in (true, false)
    )
    spread = (1 - true) * (1 - false)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.where(spread > 0, -np.sqrt(true * false / spread), 0.0)
    correlation = np.maximum(correlation, -1.0)

    def reach(one: Floats, other: Floats) -> Floats:
        return np.sqrt(np.maximum(one**2 + other**2 - 2 * correlation * one * other, 0.0))

    benefit = true - odds * false
    down = reach(true - true_low, odds * (false_high - false))
    up = reach(true_high - true, odds * (false - false_low))
    # neither can it be less than all false alarms, nor more than all events
    return np.maximum(benefit - down, -odds), np.minimum(benefit + up, 1.0)


def _check_thresholds(thresholds: Any) -> Floats:
    if thresholds is None:
        return np.arange(1, 100) / 100
    at = np.asarray(thresholds, dtype=np.float64)
    if at.ndim != 1 or not len(at) or not ((at >= 0) & (at < 1)).all() or (np.diff(at) <= 0).any():
        raise ValueError(
            f"thresholds is {thresholds!r}; it should be rising numbers from 0 to below 1, such as [0.05, 0.1, 0.2]."
        )
    return at

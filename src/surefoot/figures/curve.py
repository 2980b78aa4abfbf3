"""The reliability curve as a table, for those who know scikit-learn's ``calibration_curve``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal, Unpack

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._stats.binomial import limits
from surefoot.core.frames import CurveTable
from surefoot.core.keys import Bins
from surefoot.core.table import Floats
from surefoot.core.term import Term
from surefoot.errors import InvalidPredictions
from surefoot.metrics.binned import check_bins
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions

Strategy = Literal["uniform", "quantile"]


@dataclass(frozen=True, eq=False)
class ReliabilityCurve(CurveTable):
    """How often predictions come true, by how probable they were said to be; one entry for each bin with samples.

    Unpacks as scikit-learn's ``calibration_curve`` does: ``prob_true, prob_pred = reliability_curve(...)``.

    Attributes
    ----------
    prob_true : array of shape (n_occupied,)
        The share of samples in the bin whose prediction came true.
    prob_pred : array of shape (n_occupied,)
        Their mean confidence (of events, their mean probability).
    lower, upper : array of shape (n_occupied,)
        Confidence limits of ``prob_true``.
    count : array of shape (n_occupied,)
        How many samples are in the bin; their weight if they have weights.
    left, right : array of shape (n_occupied,)
        The edges of the bin, (left, right]; the first bin also holds its left edge.
    """

    prob_true: Floats
    prob_pred: Floats
    lower: Floats
    upper: Floats
    count: Floats
    left: Floats
    right: Floats

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.prob_true, self.prob_pred))


@takes_predictions
def reliability_curve(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> ReliabilityCurve:
    """Compare confidence with accuracy in bins: the numbers behind a reliability diagram.

    With ``of="event"`` the probability of ``pos_label`` is compared with how often it occurs, as scikit-learn's
    ``calibration_curve`` does; with ``of="classes"``, the probability of every class, all in one table.

    Parameters
    ----------
    n_bins : int, default 10
        How many bins.
    strategy : {"uniform", "quantile"}, default "uniform"
        Bins of equal width, or bins that hold equally many samples (these need the rows in memory).
    level : float, default 0.95
        The confidence level of ``lower`` and ``upper``.

    Returns
    -------
    ReliabilityCurve
        Arrays ``prob_true``, ``prob_pred``, ``lower``, ``upper``, ``count``, ``left`` and ``right``.

    Examples
    --------
    >>> curve = reliability_curve(correct=[1, 1, 0, 1], confidence=[0.9, 0.9, 0.6, 0.6], n_bins=5)
    >>> curve.prob_true.tolist(), curve.count.tolist()
    ([0.5, 1.0], [2.0, 2.0])
    """
    check_bins(n_bins)
    check_share("level", level, "0.95")
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f"strategy is {strategy!r}; it should be 'uniform' or 'quantile'.")
    p = as_predictions(x, second, third, columns, function="reliability_curve")
    if strategy == "quantile" and p.view == "classes":
        raise InvalidPredictions(
            "bins of equal mass are of one column of probabilities",
            argument="strategy",
            value=strategy,
            hint="use 'uniform' with of='classes', or of='event'",
        )
    if strategy == "quantile":
        p = p.rows("bins of equal mass")
        shares = np.linspace(0, 1, int(n_bins) + 1)
        weighted: Any = {"weights": p.weight, "method": "inverted_cdf"} if p.is_weighted else {}
        edges = np.quantile(p.confidence, shares, **weighted)
    else:
        edges = np.linspace(0, 1, int(n_bins) + 1)
    bins = Bins("confidence", tuple(edges[1:-1].tolist()), "right", f"{strategy} bins {edges.tolist()}")
    terms = [Term(f"{name} by {bins.name}", formula, bins) for name, formula in _TERMS.items()]
    found = p.tally(terms)
    parts = (found.events or {}).values() if p.view == "classes" else (found,)
    table = reduce(add, (part.table(bins) for part in parts))
    weight, square, stated, hits = (table.totals[term.name].value for term in terms)
    held = weight > 0
    codes, weight, square, stated, hits = (one[held] for one in (table.codes, weight, square, stated, hits))
    # as many rows as would leave the share as uncertain: fewer than there are if weights are unequal
    rows = weight**2 / square
    lower, upper = limits(hits / weight * rows, rows, level)
    return ReliabilityCurve(hits / weight, stated / weight, lower, upper, weight, edges[codes], edges[codes + 1])


_TERMS: dict[str, Any] = {
    "weight": lambda row: row.weight,
    "squared weight": lambda row: row.weight * row.weight,
    "confidence": lambda row: row.weight * row.confidence,
    "correct": lambda row: row.weight * row.correct,
}

"""The reliability curve as a table, for those who know scikit-learn's ``calibration_curve``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal, Unpack

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._stats.binomial import limits
from surefoot.core.frames import Backend, build_frame
from surefoot.core.keys import Bins
from surefoot.core.table import Floats
from surefoot.core.term import Term
from surefoot.errors import InvalidPredictions
from surefoot.metrics.binned import check_bins
from surefoot.predictions import Predictions, as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions

Strategy = Literal["uniform", "quantile"]
View = Literal["prediction", "event"]


@dataclass(frozen=True)
class ReliabilityCurve:
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

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The table as a dataframe, one row for each bin.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The package of the dataframe; by default the first of these that is installed.

        Returns
        -------
        dataframe
            A column for each attribute.
        """
        return build_frame({one.name: getattr(self, one.name).tolist() for one in fields(self)}, backend)


@takes_predictions
def reliability_curve(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    of: View = "prediction",
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> ReliabilityCurve:
    """Compare confidence with accuracy in bins: the numbers behind a reliability diagram.

    Parameters
    ----------
    n_bins : int, default 10
        How many bins.
    strategy : {"uniform", "quantile"}, default "uniform"
        Bins of equal width, or bins that hold equally many samples (these need the rows in memory).
    of : {"prediction", "event"}, default "prediction"
        ``"prediction"`` compares the confidence in the predicted class with how often it is correct. ``"event"``, for
        two classes, compares the probability of the positive class with how often it occurs, as scikit-learn does.
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
    if of not in ("prediction", "event"):
        raise ValueError(f"of is {of!r}; it should be 'prediction' or 'event'.")
    # of an event there is nothing but labels and probabilities: two columns by position can mean one thing only
    p = as_predictions(x, second, third, columns, function="reliability_curve", is_ranking=of == "event")
    p = _events(p) if of == "event" else p
    if strategy == "quantile":
        p = p.rows("bins of equal mass")
        edges = np.percentile(p.confidence, np.linspace(0, 100, int(n_bins) + 1))
    else:
        edges = np.linspace(0, 1, int(n_bins) + 1)
    bins = Bins("confidence", tuple(edges[1:-1].tolist()), "right", f"{strategy} bins {edges.tolist()}")
    terms = [Term(f"{name} by {bins.name}", formula, bins) for name, formula in _TERMS.items()]
    table = p.tally(terms).table(bins)
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


def _events(p: Predictions) -> Predictions:
    """The probability of the positive class, and whether it occurred, as confidence and correctness."""
    if p.labels is None or p.probabilities is None or len(p.labels) != 2:
        raise InvalidPredictions(
            "of='event' needs the probabilities of two classes", hint="give (y_true, probabilities), or of='prediction'"
        )
    rows = p.rows("a curve of events")
    probability = rows.probabilities if rows.probabilities.ndim == 1 else rows.probabilities[:, 1]
    weight = rows.weight if rows.is_weighted else None
    # probabilities were checked, and rounded if they had to be, when the predictions were made
    return Predictions.from_correct(rows.truth == p.labels[1], probability, sample_weight=weight, float32=False)

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
from surefoot.core.tally import Label
from surefoot.core.term import Term
from surefoot.errors import InvalidPredictions
from surefoot.metrics.binned import check_bins
from surefoot.predictions import Predictions, as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions
from surefoot.predictions.dataframe import FrameColumns, is_frame
from surefoot.predictions.labels import quote

Strategy = Literal["uniform", "quantile"]
View = Literal["prediction", "event"]


@dataclass(frozen=True, eq=False)
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
        two classes, compares the probability of the positive class (``pos_label``) with how often it occurs, as
        scikit-learn does; it needs the rows in memory.
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
    if of == "event":
        p = _events(x, second, third, columns)
    else:
        p = as_predictions(x, second, third, columns, function="reliability_curve")
    if strategy == "quantile":
        p = p.rows("bins of equal mass")
        shares = np.linspace(0, 1, int(n_bins) + 1)
        weighted: Any = {"weights": p.weight, "method": "inverted_cdf"} if p.is_weighted else {}
        edges = np.quantile(p.confidence, shares, **weighted)
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


def _events(x: Any, second: Any, third: Any, columns: Columns) -> Predictions:
    """The probability of the positive class, and whether it occurred, as confidence and correctness."""
    table = columns.get("probabilities", columns.get("y_proba", second))
    if is_frame(x) and table is not None:
        takes_positive = len(FrameColumns(x, {"probabilities": table}).probability_names()) == 1
    else:
        takes_positive = not isinstance(x, Predictions) and np.ndim(table) < 2
    named: Any = {k: v for k, v in columns.items() if k != "pos_label" or takes_positive}
    # of an event there is nothing but labels and probabilities: two columns by position can mean one thing only
    p = as_predictions(x, second, third, named, function="reliability_curve", is_ranking=True)
    if p.labels is None or p.probabilities is None or len(p.labels) != 2:
        raise InvalidPredictions(
            "of='event' needs the probabilities of two classes", hint="give (y_true, probabilities), or of='prediction'"
        )
    rows = p.rows("a curve of events")
    at = _positive(p.labels, columns.get("pos_label"), is_known=rows.probabilities.ndim == 1)
    if rows.probabilities.ndim == 2:
        probability = rows.probabilities[:, at]
    else:
        probability = rows.probabilities if at else 1 - rows.probabilities
    weight = rows.weight if rows.is_weighted else None
    # probabilities were checked, and rounded if they had to be, when the predictions were made
    return Predictions.from_correct(
        rows.truth == p.labels[at], probability.astype(np.float64), sample_weight=weight, float32=False
    )


def _positive(labels: tuple[Label, ...], pos_label: Any, *, is_known: bool) -> int:
    """Which of two classes is the event; of 0 and 1, or booleans, the second."""
    if pos_label is not None:
        if pos_label not in labels:
            raise InvalidPredictions(f"pos_label is {pos_label!r}, which is none of the labels {quote(labels)}.")
        return labels.index(pos_label)
    if not is_known and labels not in ((0, 1), (False, True)):
        raise InvalidPredictions(
            f"the classes are {quote(labels)}: which of them is the event?", hint=f"set pos_label={labels[1]!r} or so"
        )
    return 1

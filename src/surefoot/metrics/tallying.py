"""From predictions to the tally that any additive metric can be read from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from surefoot.core.keys import Bins
from surefoot.core.metric import Metric
from surefoot.core.tally import Tally, add_not_attempted
from surefoot.core.term import Term
from surefoot.core.view import View
from surefoot.errors import InvalidPredictions, InvalidTally, MetricUnavailable
from surefoot.metrics import ALL
from surefoot.metrics.binned import equal_width, gap_terms
from surefoot.metrics.terms import (
    BY_DOUBT,
    BY_THRESHOLD,
    CERTAIN,
    CERTAIN_WRONG,
    CONFIDENCE,
    CORRECT,
    DOUBT,
    ERRORS,
    ROWS,
    WEIGHT,
    WRONG,
)
from surefoot.predictions import Predictions
from surefoot.predictions.arguments import Columns, frame_arguments, named_columns
from surefoot.predictions.attempts import NothingAttempted
from surefoot.predictions.columns import as_array
from surefoot.predictions.dataframe import frame_column, is_frame
from surefoot.predictions.memory import InMemory

#: Bands of doubt, a decade each: below 1 in 10,000, ..., above 1 in 10.
DOUBT_BANDS = Bins("doubt", (1e-4, 1e-3, 1e-2, 1e-1), "left", "decades of doubt")
BAND_WEIGHT = Term("weight by decade of doubt", lambda row: row.weight, DOUBT_BANDS)
BAND_DOUBT = Term("doubt by decade of doubt", lambda row: row.weight * row.doubt, DOUBT_BANDS)
BAND_WRONG = Term("wrong by decade of doubt", lambda row: row.weight * row.wrong, DOUBT_BANDS)

#: Mistakes in the bins of ECE, for the reliability diagram.
RELIABILITY_BINS = equal_width(15, "right")
BIN_WEIGHT, BIN_GAP = gap_terms(RELIABILITY_BINS)
BIN_WRONG = Term(f"wrong by {RELIABILITY_BINS.name}", lambda row: row.weight * row.wrong, RELIABILITY_BINS)

#: What every tally holds, whatever metrics were asked for: how many rows, expected errors and observed ones.
ALWAYS = (ROWS, WEIGHT, ERRORS, CERTAIN, CERTAIN_WRONG, DOUBT, WRONG)
#: What the tests are made of, and the reliability diagram.
BANDS = (BAND_WEIGHT, BAND_DOUBT, BAND_WRONG, *BY_DOUBT)
DIAGRAM = (BIN_WEIGHT, BIN_GAP, BIN_WRONG)


def check_counts(tally: Tally) -> None:
    """Refuse a tally, as of a damaged file, that counts what cannot be: numbers of rows and weights that no rows have.

    Raises
    ------
    InvalidTally
        If one of them is negative or infinite.
    """
    for term in (*ALWAYS, BAND_WEIGHT, BAND_DOUBT, BAND_WRONG, BIN_WEIGHT, BIN_WRONG):
        table = tally.tables.get(term.key.name)
        if table is None or not table.holds(term.name):
            continue
        total = table.totals[term.name].high
        if not (np.isfinite(total) & (total >= 0)).all():
            raise InvalidTally(f"damaged tally ('{term.name}' is not a number from 0 up).")
    for part in (*(tally.slices or {}).values(), *(tally.events or {}).values()):
        check_counts(part)


def terms_for(
    metrics: Iterable[Metric], *, tests: bool = True, diagram: bool = True, view: View = "prediction"
) -> list[Term]:
    """What is added up for some metrics: always the rows; for an assessment what its tests and its diagram take."""
    own = (term for metric in metrics for term in metric.terms)
    always = ALWAYS if view == "prediction" else (*ALWAYS, CORRECT, CONFIDENCE)
    decisions = BY_THRESHOLD if tests and view == "prediction" else ()
    return [*always, *(BANDS if tests else ()), *decisions, *(DIAGRAM if diagram else ()), *own]


def tally(predictions: Predictions, metrics: Iterable[Metric | str] | None = None, by: Any = None) -> Tally:
    """Sum up what metrics need, in one pass; tallies of disjoint rows add with ``+``.

    Save a tally, add it to those of other shards or days, and pass it to :func:`assess`. Its size is fixed, however
    many rows it covers.

    Parameters
    ----------
    predictions : Predictions
        The samples.
    metrics : iterable of str or Metric, optional
        The metrics to hold; by default all that these predictions can give and a tally can hold.
    by : array-like of shape (n,) or str, optional
        Also hold a tally for each slice: a column of values, ``"predicted"`` or ``"truth"``; for a lazy frame the name
        of a column.

    Returns
    -------
    Tally
        The totals.

    Raises
    ------
    MetricUnavailable
        If a metric needs the rows themselves, or data that the predictions do not have.

    Examples
    --------
    >>> from surefoot.predictions import Predictions
    >>> from surefoot.metrics import ALL
    >>> first = Predictions.from_correct([True, True, False], [0.9, 0.8, 0.5])
    >>> second = Predictions.from_correct([True], [0.75])
    >>> ALL["csr"].of(tally(first) + tally(second))
    0.5
    """
    if not isinstance(predictions, Predictions):
        kind = type(predictions).__name__  # type: ignore[unreachable]
        raise TypeError(f"tally takes Predictions, not {kind}; make them with Predictions.from_labels or the like.")
    chosen = _chosen(predictions, metrics)
    is_whole = metrics is None
    return predictions.tally(terms_for(chosen, tests=is_whole, diagram=is_whole, view=predictions.view), by=by)


def available(predictions: Predictions) -> dict[str, Metric]:
    """The metrics that these predictions can give."""
    return {name: metric for name, metric in ALL.items() if not metric.missing(predictions)}


def by_name(name: str) -> Metric:
    """The metric of a name; raise if there is none."""
    if name not in ALL:
        raise MetricUnavailable(f"there is no metric {name!r}; surefoot.metrics.ALL lists them.")
    return ALL[name]


def tally_batches(
    batches: Iterable[Any], *, metrics: Iterable[Metric | str] | None = None, **columns: Unpack[Columns]
) -> Tally:
    """Tally Arrow record batches or dataframes one after the other, in the memory of a single batch.

    Parameters
    ----------
    batches : iterable of record batches or dataframes
        The data, in disjoint parts.
    metrics : iterable of str or Metric, optional
        The metrics to hold; by default all that the data can give and a tally can hold.
    **columns : str or object
        The names of columns, and how to read them, as in :meth:`Predictions.from_frame`; give ``labels`` where a batch
        may lack a class.

    Returns
    -------
    Tally
        The totals of all batches.

    Raises
    ------
    InvalidPredictions
        If a batch is not valid, with its number, or there are no rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"correct": [True, False], "confidence": [0.9, 0.5]})
    >>> from surefoot.metrics import ALL
    >>> ALL["accuracy"].of(tally_batches([batch, batch]))
    0.5
    """
    chosen = None if metrics is None else list(metrics)
    named = frame_arguments(named_columns(columns, "tally_batches"))
    total: Tally | None = None
    skipped = 0
    if isinstance(batches, str | bytes) or not hasattr(batches, "__iter__"):
        raise InvalidPredictions(
            f"is a {type(batches).__name__}", argument="batches", hint="give an iterable of record batches or frames"
        )
    for number, batch in enumerate(batches):
        if not is_frame(batch):
            raise InvalidPredictions(f"batch {number} is a {type(batch).__name__}; give record batches or dataframes")
        if hasattr(batch, "__len__") and (len(batch) == 0 or _weighs_nothing(batch, named.get("weight"))):
            continue
        try:
            part = tally(Predictions.from_frame(batch, **named), chosen)
            total = part if total is None else total + part
        except NothingAttempted as error:
            skipped += error.skipped
        except (InvalidPredictions, InvalidTally) as error:
            raise InvalidPredictions(f"batch {number}: {error}") from error
    if total is None and skipped:
        raise NothingAttempted.among(skipped)
    if total is None:
        raise InvalidPredictions("batches hold no rows; there is nothing to assess.")
    return add_not_attempted(total, skipped, {})


def _weighs_nothing(batch: Any, weight: Any) -> bool:
    """Whether no row of a batch counts: then it adds nothing, as its rows would add nothing to another batch."""
    if weight is None:
        return False
    return not np.asarray(as_array("weight", frame_column(batch, weight))).any()


def _chosen(predictions: Predictions, metrics: Iterable[Metric | str] | None) -> list[Metric]:
    if metrics is None:
        return [
            metric
            for metric in available(predictions).values()
            if metric.additive and not _not_kept(metric, predictions)
        ]
    chosen = []
    for metric in [metrics] if isinstance(metrics, str | Metric) else metrics:
        metric = by_name(metric) if isinstance(metric, str) else metric
        if not metric.additive:
            raise MetricUnavailable(f"{metric.name} needs the rows themselves and cannot be tallied.")
        missing = metric.missing(predictions) or _not_kept(metric, predictions)
        if missing:
            raise MetricUnavailable(missing)
        chosen.append(metric)
    return chosen


def _not_kept(metric: Metric, predictions: Predictions) -> str:
    """Why a tally cannot keep what the metric needs; empty if it can."""
    is_of_scores = isinstance(predictions, InMemory) and predictions.scores is not None
    if metric.is_ranking and is_of_scores and len(predictions.labels or ()) == 2:
        # a tally takes the scores of two classes for those of one
        return f"{metric.name} of two classes with scores of their own is not tallied; call {metric.name}(predictions)."
    return ""

"""The assessment: can these confidences be trusted, and are they worth anything?"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from surefoot._io.arguments import check_level, check_share
from surefoot.assessment.evidence import (
    ALWAYS_TOLD,
    MOST_RANKED,
    Evidence,
    Request,
    affordable,
    evidence_of,
    evidence_of_tally,
    exact_tally,
    parts_of,
)
from surefoot.assessment.identifiers import repeated_identifier
from surefoot.assessment.judging import judge
from surefoot.assessment.of_classes import adjusted, judge_classes, pooled
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice, slices_of, stated_and_seen
from surefoot.assessment.surprises import surprises_of
from surefoot.assessment.swapped import reversed_class_warnings, reversed_warnings, swap_warnings
from surefoot.assessment.verdict import MARGIN
from surefoot.core.metric import Outcome
from surefoot.core.tally import Label, Tally
from surefoot.core.view import View
from surefoot.decisions.offers import offers_of
from surefoot.errors import InvalidPredictions
from surefoot.figures.reliability import bands, near_certainty, reliability
from surefoot.metrics import ALL
from surefoot.metrics.ranking import areas_of_classes, weights_of_classes
from surefoot.metrics.tallying import by_name
from surefoot.metrics.terms import CORRECT, WEIGHT
from surefoot.predictions import ArrayPredictions, Predictions
from surefoot.predictions.arguments import (
    Columns,
    as_predictions,
    named_columns,
    refuse_beside,
    takes_predictions,
)
from surefoot.predictions.dataframe import is_frame, values_of
from surefoot.predictions.named_file import read_file, source_of
from surefoot.risk.event_intervals import event_intervals, oe_interval_of
from surefoot.risk.intervals import Interval, value_intervals
from surefoot.risk.law.counts import counts_of
from surefoot.risk.result import RiskResult
from surefoot.risk.test import both_sides


class Options(TypedDict, total=False):
    """How to assess."""

    level: float
    margin: float
    by: Any
    groups: Any
    metrics: Iterable[str] | None


class OptionsAndColumns(Columns, Options, total=False):
    """What :func:`assess` takes by name."""


@overload
def assess(x: Predictions | Tally, /, **options: Unpack[Options]) -> Assessment: ...
@overload
def assess(x: str | PathLike[str], /, **columns: Unpack[OptionsAndColumns]) -> Assessment: ...
@overload
def assess(y_true: Any, probabilities: Any, /, **columns: Unpack[OptionsAndColumns]) -> Assessment: ...
@overload
def assess(y_true: Any, y_pred: Any, confidence: Any, /, **columns: Unpack[OptionsAndColumns]) -> Assessment: ...
@overload
def assess(frame: Any = None, /, **columns: Unpack[OptionsAndColumns]) -> Assessment: ...
@takes_predictions
def assess(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    level: float = 0.05,
    margin: float = MARGIN,
    by: Any = None,
    groups: Any = None,
    metrics: Iterable[str] | None = None,
    **columns: Unpack[Columns],
) -> Assessment:
    """Assess a classifier: can its confidences be trusted, and are they worth anything?

    Give what you have: ``assess(y_true, probabilities)``, ``assess(y_true, y_pred, confidence)``,
    ``assess(correct=..., confidence=...)``, ``assess(y_true, logits, from_logits=True)``,
    ``assess(frame, y_true="label", y_proba="p")``, ``assess("predictions.csv")``, :class:`Predictions` or a
    :class:`Tally`. The name of a file may come with the names of its columns.

    The verdict rests on the omnibus test (``risk.pvalue_omnibus``), each side at ``level / 2``. Where nothing is found,
    it is ``"inconclusive"`` if mean confidence could exceed accuracy by more than ``margin`` (95% confidence limit),
    else ``"no evidence against calibration"``.

    Parameters
    ----------
    x : path, dataframe, Predictions, Tally, or array-like of shape (n,)
        What to assess: the name of a file; a dataframe, whose columns (as those of a file) are named by the arguments
        below; predictions or a tally; or the true labels.
    level : float, default 0.05
        The significance level: the chance of flagging a well-calibrated model.
    margin : float, default 0.02
        The overstatement (mean confidence - accuracy) that would not matter to you.
    by : array-like of shape (n,) or str, optional
        Assess each part of the data as well: one value for each sample, the name of a column, or ``"predicted"`` or
        ``"truth"`` for the labels. p-values are adjusted for the number of slices. Slices by truth describe, and get
        no verdict, because the truth is the outcome.
    groups : array-like of shape (n,) or str, optional
        What each sample belongs to (a patient, a user, a prompt), or the name of that column. Without it samples are
        taken to be independent, and one cause of several errors counts several times.
    metrics : iterable of str, optional
        Names of the metrics to compute; by default all. What the first page tells is computed besides, but for areas
        under curves of many classes.

    Returns
    -------
    Assessment
        Verdict, warnings, risk, metrics, bands of confidence and slices; it prints, plots and saves itself.

    Raises
    ------
    InvalidPredictions
        If the data cannot be predictions, or could be read in two ways. The message says what to give instead.

    Examples
    --------
    >>> a = assess(y_true=[0, 1, 1, 0] * 50, probabilities=[0.1, 0.8, 0.7, 0.2] * 50)
    >>> a.verdict, a.accuracy
    ('underconfident', 1.0)
    """
    check_level(level)
    check_share("margin", margin, "0.02")
    if metrics is not None and not isinstance(metrics, Iterable):
        raise TypeError(f"metrics is {metrics!r}; give names of surefoot.metrics.ALL.")
    names = None if metrics is None else tuple([metrics] if isinstance(metrics, str) else metrics)
    request = Request(level, margin, names, by, groups)
    for name in names or ():
        by_name(name)
    if isinstance(x, Tally):
        refuse_beside("assess(tally)", second, third, named_columns(columns, "assess"))
        return _conclude(evidence_of_tally(x, request), request)
    if isinstance(x, str | PathLike) and second is None and third is None:
        return _assess_file(os.fspath(x), request, named_columns(columns, "assess"))
    predictions = as_predictions(x, second, third, columns, function="assess")
    looks_grouped = ""
    if is_frame(x) and predictions.has_rows:
        used = {one for one in (by, *columns.values()) if isinstance(one, str)}
        looks_grouped = "" if groups is not None else repeated_identifier(x, used)
        sliced = by if isinstance(by, str) and by in ("predicted", "truth") else values_of(x, by, "by")
        request = replace(request, by=sliced, groups=values_of(x, groups, "groups"))
    evidence = evidence_of(predictions, request)
    group = "" if groups is None else groups if isinstance(groups, str) else str(getattr(groups, "name", "") or "group")
    sliced_by = None if by is None else by if isinstance(by, str) else _called(by)
    found = _conclude(evidence if sliced_by is None else replace(evidence, by=sliced_by), request)
    return replace(found, group=group, looks_grouped=looks_grouped)


def _assess_file(path: str, request: Request, named: dict[str, Any]) -> Assessment:
    """Assess what a file holds; the columns, slices and groups are named, or found by their names."""
    metrics = None if request.metrics is None else [*request.metrics, *ALWAYS_TOLD]
    reading = read_file(path, named, by=request.by, groups=request.groups, metrics=metrics)
    found = assess(
        reading.held,
        level=request.level,
        margin=request.margin,
        metrics=request.metrics,
        by=reading.by,
        groups=reading.groups,
    )
    return with_source(found, reading, request.by, request.groups)


def with_source(found: Assessment, reading: Any, by: str | None, group: str | None) -> Assessment:
    """The same assessment with the file that was read, and which of its columns were used for what."""
    name = reading.name
    return replace(
        found,
        source=source_of(reading),
        path="" if name == "standard input" else name,
        options=reading.options,
        columns=reading.said,
        by=by if by is not None else found.by,
        group=group or reading.group,
        looks_grouped=reading.looks_grouped,
        notes=reading.notes,
    )


def _called(by: Any) -> str:
    """The name of a column of values; one called like the labels is not them."""
    name = str(getattr(by, "name", None) or "slice")
    return f"column {name}" if name in ("predicted", "truth") else name


def with_all_metrics(a: Assessment) -> Assessment:
    """The same assessment with every metric that its rows can give."""
    if a.predictions is None:
        return a
    held, reasons = affordable(a.predictions)
    rest = {name: metric for name, metric in held.items() if name not in a.metrics}
    tally = exact_tally(a.predictions, rest)
    values = {name: metric.evaluate(tally) for name, metric in rest.items()}
    return replace(
        a,
        metrics={name: a.metrics[name] if name in a.metrics else float(values[name].value) for name in held},
        reasons={**a.reasons, **{name: one.note for name, one in values.items() if one.note}, **reasons},
        areas=a.areas or areas_of_classes(tally),
    )


def with_slices(a: Assessment, by: Any) -> Assessment:
    """The same assessment, with slices besides; it must hold the rows."""
    assert a.predictions is not None
    chosen = {name: ALL[name] for name in a.metrics}
    values = a.predictions.slicing(by)
    parts = parts_of(a.predictions, values, chosen, a.codes)
    slices = slices_of(parts, chosen, level=a.level, margin=a.margin, descriptive=by == "truth")
    name = by if isinstance(by, str) else "slice"
    return replace(a, by=name, slices=slices, surprises=surprises_of(a.predictions, values))


def assess_estimator(
    model: Any,
    X: Any,
    y: Any,
    *,
    level: float = 0.05,
    margin: float = MARGIN,
    by: Any = None,
    groups: Any = None,
    of: View | None = None,
    pos_label: Any = None,
) -> Assessment:
    """Assess a fitted classifier on data that it was not trained on.

    Parameters
    ----------
    model : estimator
        A fitted classifier of scikit-learn, or anything with ``predict_proba`` and ``classes_``.
    X : array-like
        The features.
    y : array-like of shape (n,)
        The true labels.
    level : float, default 0.05
        The significance level: the chance of flagging a well-calibrated model.
    margin : float, default 0.02
        The overstatement (mean confidence - accuracy) that would not matter to you.
    by : array-like of shape (n,) or str, optional
        What to slice by, as in :func:`assess`.
    groups : array-like of shape (n,), optional
        What each sample belongs to, as in :func:`assess`.
    of : {"prediction", "event", "classes"}, optional
        What rows are about, as in :func:`assess`.
    pos_label : label, optional
        The event of ``of="event"``; by default the second of two classes.

    Returns
    -------
    Assessment
        As :func:`assess` gives it.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(2000, random_state=0)
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> assess_estimator(model, X[1000:], y[1000:]).risk.n
    1000
    """
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise InvalidPredictions(
            f"model is a {type(model).__name__} without predict_proba and classes_; give a fitted probabilistic "
            "classifier, or assess its predictions."
        )
    if of == "event" and pos_label is None and len(model.classes_) == 2:
        pos_label = model.classes_[1]
    predictions = Predictions.from_probabilities(
        y, model.predict_proba(X), labels=model.classes_, of=of, pos_label=pos_label
    )
    return assess(predictions, level=level, margin=margin, by=by, groups=groups)


def _conclude(evidence: Evidence, request: Request) -> Assessment:
    """The assessment: read from the totals, and from the rows what these do not tell."""
    totals, rows, level, margin = evidence.whole, evidence.rows, request.level, request.margin
    values = {name: metric.evaluate(totals) for name, metric in evidence.chosen.items()}
    is_of_classes = totals.view == "classes"
    whole = pooled(totals) if is_of_classes else totals
    over, under = both_sides(whole, None if is_of_classes else rows, evidence.dependence)
    effect = over.design_effect
    diagram = reliability(whole, effect=effect)
    descriptive = evidence.by == "truth"
    slices = slices_of(evidence.parts, evidence.chosen, level=level, margin=margin, descriptive=descriptive)
    if is_of_classes:
        judged = judge_classes(slices, margin=margin)
        over = adjusted(over, [part.risk for part in slices])
        under = adjusted(under, [part.underconfidence for part in slices])
    else:
        judged = judge(whole, over, under, diagram, level=level, margin=margin, rows=rows)
    stated, seen = stated_and_seen(over)
    commonest = _commonest(totals, rows)
    return Assessment(
        verdict=judged.verdict,
        degree=judged.degree,
        level=level,
        margin=margin,
        risk=over,
        underconfidence=under,
        metrics={name: float(outcome.value) for name, outcome in values.items()},
        reasons={**{name: one.note for name, one in values.items() if one.note}, **evidence.reasons},
        bounds={name: bound for name, metric in evidence.chosen.items() if (bound := metric.bound(totals))},
        stated=stated,
        seen=seen,
        bands=bands(whole),
        by=evidence.by,
        slices=slices,
        classes=None if evidence.labels is None else len(evidence.labels),
        commonest=math.nan if commonest is None else commonest[1],
        weight=whole[WEIGHT] / (len(slices) if is_of_classes else 1),
        intervals=_intervals(rows, evidence, totals),
        surprises=() if rows is None or is_of_classes else surprises_of(rows, evidence.slicing),
        counts=counts_of(whole),
        reliability=diagram,
        near_certainty=near_certainty(whole, effect=effect),
        codes=evidence.codes,
        predictions=rows,
        warnings=_warnings(totals, values, over, commonest, rows, slices),
        view=totals.view,
        event=totals.event,
        # a promise about rows that depend on each other would not hold
        offers=() if evidence.dependence is not None else offers_of(whole, level),
        not_attempted=totals.not_attempted,
        slices_not_attempted=totals.slices_not_attempted,
        areas=areas_of_classes(totals) if rows is not None else {},
    )


def _warnings(
    totals: Tally,
    values: Mapping[str, Outcome],
    over: RiskResult,
    commonest: tuple[Label, float] | None,
    rows: ArrayPredictions | None,
    slices: Sequence[Slice],
) -> tuple[str, ...]:
    """What to check first: whether labels or columns were mixed up."""
    if rows is None and over.is_weighted:
        return ()
    if totals.view == "event":
        auc = values["auc"].value if "auc" in values else math.nan
        return reversed_warnings(auc, over, totals.event, rows)
    labels = totals.labels if rows is None else rows.labels
    if totals.view == "classes":
        found = reversed_class_warnings(slices, rows)
        if found or rows is None:
            return found
        accuracy = float((rows.weight * rows.correct).sum() / rows.weight.sum())
    else:
        accuracy = values["accuracy"].value
    return swap_warnings(accuracy, over, labels, commonest, rows)


def _commonest(whole: Tally, rows: ArrayPredictions | None) -> tuple[Label, float] | None:
    """The most common true class, and its share of the weight; from a tally if it holds rankings."""
    labels: Any = whole.labels
    weights: Any
    if rows is None and whole.view == "classes":
        weights = np.array([part[CORRECT] for part in (whole.events or {}).values()])
    elif rows is None:
        weights = weights_of_classes(whole)
    elif rows.truth is None:
        return None
    else:
        labels, codes = np.unique(rows.truth, return_inverse=True)
        labels, weights = labels.tolist(), np.bincount(codes, rows.weight).astype(np.float64)
    if weights is None or not weights.sum():
        return None
    most = int(weights.argmax())
    return labels[most], float(weights[most] / weights.sum())


def _intervals(rows: ArrayPredictions | None, evidence: Evidence, totals: Tally) -> dict[str, Interval]:
    if rows is None and totals.view == "event":
        # of the numbers of an event, the one whose limits sums give
        return {"oe_ratio": oe_interval_of(totals, evidence.dependence)}
    if rows is None or rows.view == "classes":
        return {}
    if rows.view == "event":
        return event_intervals(rows, groups=evidence.codes)
    # ranking every class again takes as long as the rest: not for more than people wait for
    with_ranking = len(rows) * len(rows.labels or ()) <= MOST_RANKED
    return value_intervals(rows, level=0.95, groups=evidence.codes, with_ranking=with_ranking)

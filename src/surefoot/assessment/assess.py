"""The assessment: can these confidences be trusted, and are they worth anything?"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from surefoot._io.arguments import check_share
from surefoot.assessment.identifiers import repeated_identifier
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Part, slices_of
from surefoot.assessment.surprises import surprises_of
from surefoot.assessment.swapped import swap_warnings
from surefoot.assessment.verdict import MARGIN, judge
from surefoot.core.metric import Metric
from surefoot.core.tally import Label, Tally
from surefoot.errors import InvalidPredictions, MetricUnavailable
from surefoot.figures.reliability import bands, near_certainty, reliability
from surefoot.metrics import ALL
from surefoot.metrics.ranking import weights_of_classes
from surefoot.metrics.tallying import ALWAYS, by_name, terms_for
from surefoot.metrics.terms import WEIGHT
from surefoot.predictions import ArrayPredictions, FramePredictions, Predictions
from surefoot.predictions.arguments import (
    Columns,
    as_predictions,
    file_arguments,
    named_columns,
    refuse_beside,
    takes_predictions,
)
from surefoot.predictions.dataframe import is_frame, values_of
from surefoot.risk.groups import Dependence, dependence_of, group_codes
from surefoot.risk.intervals import Interval, value_intervals
from surefoot.risk.law.cells import Codes
from surefoot.risk.law.counts import counts_of
from surefoot.risk.test import TERMS, both_sides, dependence_within

#: What the first page of every assessment tells.
ALWAYS_TOLD = (
    *("csr", "csr_sigma", "csr_z", "p_risk", "accuracy", "cw_accuracy", "gain", "auc", "cw_auc"),
    *("ece", "brier", "log_loss"),
)

#: Rows times classes up to which areas under curves get intervals.
MOST_RANKED = 2_000_000

#: Rows up to which metrics that order them are part of an assessment.
MOST_ORDERED = 2_000_000

#: Slices times classes up to which slices also get the metrics made class by class.
MOST_CLASSES_OF_SLICES = 1000


class Options(TypedDict, total=False):
    """How to assess."""

    level: float
    margin: float
    by: Any
    groups: Any
    metrics: Iterable[str] | None


class OptionsAndColumns(Columns, Options, total=False):
    """What :func:`assess` takes by name."""


@dataclass(frozen=True)
class Request:
    """What an assessment is to tell: which metrics and slices, which rows belong together, and at which level."""

    level: float
    margin: float
    metrics: tuple[str, ...] | None = None
    by: Any = None
    groups: Any = None

    def choose(self, held: Mapping[str, Metric]) -> dict[str, Metric]:
        """Of the metrics that can be had those asked for, and those that every assessment tells of."""
        if self.metrics is None:
            return dict(held)
        wanted = {by_name(name).name for name in (*self.metrics, *ALWAYS_TOLD)}
        return {name: metric for name, metric in held.items() if name in wanted}


@dataclass(frozen=True)
class Evidence:
    """What an assessment is made of: totals, and the rows where they are at hand."""

    whole: Tally
    #: The metrics to be read, and why others are not.
    chosen: Mapping[str, Metric]
    reasons: Mapping[str, str]
    parts: Sequence[Part] = ()
    by: str | None = None
    labels: tuple[Label, ...] | None = None
    rows: ArrayPredictions | None = None
    #: The slice and the group of each row.
    slicing: Any = None
    codes: Codes | None = None
    #: What rows of a group have in common.
    dependence: Dependence | None = None


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
        Names of the metrics to compute; by default all.

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
    check_share("level", level, "0.05")
    check_share("margin", margin, "0.02")
    if metrics is not None and not isinstance(metrics, Iterable):
        raise TypeError(f"metrics is {metrics!r}; give names of surefoot.metrics.ALL.")
    names = None if metrics is None else tuple([metrics] if isinstance(metrics, str) else metrics)
    request = Request(level, margin, names, by, groups)
    for name in names or ():
        by_name(name)
    if isinstance(x, Tally):
        refuse_beside("assess(tally)", second, third, named_columns(columns, "assess"))
        return _conclude(_evidence_of_tally(x, request), request)
    if isinstance(x, str | PathLike) and second is None and third is None:
        return _assess_file(os.fspath(x), request, named_columns(columns, "assess"))
    predictions = as_predictions(x, second, third, columns, function="assess")
    looks_grouped = ""
    if is_frame(x) and predictions.has_rows:
        used = {one for one in (by, *columns.values()) if isinstance(one, str)}
        looks_grouped = "" if groups is not None else repeated_identifier(x, used)
        sliced = by if isinstance(by, str) and by in ("predicted", "truth") else values_of(x, by, "by")
        request = replace(request, by=sliced, groups=values_of(x, groups, "groups"))
    evidence = _evidence_of(predictions, request)
    group = "" if groups is None else groups if isinstance(groups, str) else str(getattr(groups, "name", "") or "group")
    sliced_by = None if by is None else by if isinstance(by, str) else _called(by)
    found = _conclude(replace(evidence, by=sliced_by), request)
    return replace(found, group=group, looks_grouped=looks_grouped)


def _assess_file(path: str, request: Request, named: dict[str, Any]) -> Assessment:
    """Assess what a file holds; the columns, slices and groups are named, or found by their names."""
    for role, column in (("by", request.by), ("groups", request.groups)):
        if column is not None and not isinstance(column, str):
            raise InvalidPredictions("is no name; of a file, give the name of a column", argument=role)
    columns, options = file_arguments(named)
    if "positive" in options:
        options["positive"] = str(options["positive"])
    # files are read above this layer, by whoever has Arrow
    reading = import_module("surefoot.files.reading").read(
        path,
        columns,
        by=request.by,
        group=request.groups,
        metrics=None if request.metrics is None else [*request.metrics, *ALWAYS_TOLD],
        **options,
    )
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
    path = "" if reading.name == "-" else reading.name
    name = "standard input" if reading.name == "-" else reading.name
    return replace(
        found,
        source=os.path.basename(name) if os.path.isfile(name) else name,
        path=path,
        options=reading.options,
        columns=reading.said,
        by=by if by is not None else found.by,
        group=group or "",
        looks_grouped=reading.looks_grouped,
    )


def _called(by: Any) -> str:
    """The name of a column of values; one called like the labels is not them."""
    name = str(getattr(by, "name", None) or "slice")
    return f"column {name}" if name in ("predicted", "truth") else name


def _affordable(predictions: Predictions) -> tuple[dict[str, Metric], dict[str, str]]:
    """The metrics these predictions give in the time that people wait for, and why the others are left out."""
    why = {name: metric.missing(predictions) for name, metric in ALL.items()}
    if isinstance(predictions, ArrayPredictions) and len(predictions) <= MOST_ORDERED:
        slow = ""
    elif isinstance(predictions, ArrayPredictions):
        slow = f"left out: it orders rows, which takes long for more than {MOST_ORDERED:,}"
    else:
        slow = "left out: it orders rows, and these stay where they are"
    for name, metric in ALL.items():
        if slow and not metric.additive and not why[name]:
            why[name] = f"{slow}; ask for it by itself with surefoot.{name}"
    return {name: ALL[name] for name, reason in why.items() if not reason}, {n: w for n, w in why.items() if w}


def _evidence_of(predictions: Predictions, request: Request) -> Evidence:
    """The totals of predictions, where they lie; of arrays the rows too."""
    if predictions.has_rows and (request.groups is not None or not predictions.has_equal_weights):
        # the exact law of unequal weights is made of rows, and so is what rows of a group have in common
        predictions = predictions.rows()
        by, groups = (one.cpu() if hasattr(one, "cpu") else one for one in (request.by, request.groups))
        request = replace(request, by=by, groups=groups)
    held, reasons = _affordable(predictions)
    chosen = request.choose(held)
    if isinstance(predictions, ArrayPredictions):
        return _evidence_of_rows(predictions, request, chosen, reasons)
    kept = predictions.tally(terms_for(chosen.values()), by=request.by)
    evidence = Evidence(kept, chosen, reasons, labels=kept.labels)
    groups = request.groups
    if groups is None:
        return replace(evidence, parts=[Part(value, part) for value, part in (kept.slices or {}).items()])
    assert isinstance(predictions, FramePredictions)
    parts = [
        Part(value, part, None, dependence_within(predictions.slice(request.by, value), groups, part, of_slice=True))
        for value, part in (kept.slices or {}).items()
    ]
    return replace(evidence, parts=parts, dependence=dependence_within(predictions, groups, kept))


def _evidence_of_rows(
    rows: ArrayPredictions, request: Request, chosen: Mapping[str, Metric], reasons: Mapping[str, str]
) -> Evidence:
    if isinstance(request.groups, str):
        raise InvalidPredictions(
            argument="groups", value=request.groups, hint="give a column of values, one for each row"
        )
    codes = None if request.groups is None else group_codes(len(rows), request.groups, rows.weight)
    slicing = None if request.by is None else rows.slicing(request.by)
    return Evidence(
        _exact(rows, chosen),
        chosen,
        reasons,
        [] if slicing is None else _parts(rows, slicing, chosen, codes),
        labels=rows.labels,
        rows=rows,
        slicing=slicing,
        codes=codes,
        dependence=None if codes is None else dependence_of(rows, codes),
    )


def _evidence_of_tally(kept: Tally, request: Request) -> Evidence:
    if request.groups is not None:
        raise InvalidPredictions("a tally does not hold which rows belong together; groups= needs the rows")
    if request.by is not None:
        raise InvalidPredictions("a tally cannot be sliced afterwards; tally(predictions, by=...) keeps slices apart")
    if any(not kept.has(term) for term in (*ALWAYS, *TERMS)):
        raise MetricUnavailable("this tally does not hold what an assessment needs; make it with surefoot.tally.")
    held, reasons = {}, {}
    for name, metric in ALL.items():
        if not metric.additive:
            reasons[name] = f"{name} needs the rows themselves; a tally does not hold them."
        elif all(kept.has(term) for term in metric.terms):
            held[name] = metric
        else:
            reasons[name] = f"this tally does not hold what {name} is made of."
    parts = [Part(value, part) for value, part in (kept.slices or {}).items()]
    return Evidence(kept, request.choose(held), reasons, parts, kept.by, kept.labels)


def with_all_metrics(a: Assessment) -> Assessment:
    """The same assessment with every metric that its rows can give."""
    if a.predictions is None:
        return a
    held, reasons = _affordable(a.predictions)
    rest = {name: metric for name, metric in held.items() if name not in a.metrics}
    tally = _exact(a.predictions, rest)
    values = {name: metric.evaluate(tally) for name, metric in rest.items()}
    return replace(
        a,
        metrics={name: a.metrics[name] if name in a.metrics else float(values[name].value) for name in held},
        reasons={**a.reasons, **{name: one.note for name, one in values.items() if one.note}, **reasons},
    )


def with_slices(a: Assessment, by: Any) -> Assessment:
    """The same assessment, with slices besides; it must hold the rows."""
    assert a.predictions is not None
    chosen = {name: ALL[name] for name in a.metrics}
    values = a.predictions.slicing(by)
    parts = _parts(a.predictions, values, chosen, a.codes)
    slices = slices_of(parts, chosen, level=a.level, margin=a.margin, descriptive=by == "truth")
    name = by if isinstance(by, str) else "slice"
    return replace(a, by=name, slices=slices, surprises=surprises_of(a.predictions, values))


def _parts(rows: ArrayPredictions, values: Any, chosen: Mapping[str, Metric], codes: Codes | None) -> list[Part]:
    """The tally of each slice, of the metrics that add up; of many slices of many classes, of none made by class."""
    count = len(np.unique(values)) * len(rows.labels or ())
    kept = {
        name: metric
        for name, metric in chosen.items()
        if metric.additive and (count <= MOST_CLASSES_OF_SLICES or not metric.is_of_classes)
    }
    return [
        Part(value, _exact(part, kept), part, None if codes is None else dependence_of(part, codes[where]))
        for value, part, where in rows.split(values)
    ]


def _exact(rows: ArrayPredictions, chosen: Mapping[str, Metric]) -> Tally:
    return rows.tally(terms_for(chosen.values()), exact=True)


def assess_estimator(
    model: Any, X: Any, y: Any, *, level: float = 0.05, margin: float = MARGIN, by: Any = None, groups: Any = None
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
    predictions = Predictions.from_probabilities(y, model.predict_proba(X), labels=model.classes_)
    return assess(predictions, level=level, margin=margin, by=by, groups=groups)


def _conclude(evidence: Evidence, request: Request) -> Assessment:
    """The assessment: read from the totals, and from the rows what these do not tell."""
    whole, rows, level, margin = evidence.whole, evidence.rows, request.level, request.margin
    values = {name: metric.evaluate(whole) for name, metric in evidence.chosen.items()}
    over, under = both_sides(whole, rows, evidence.dependence)
    effect = over.design_effect
    counts, diagram, by_decade = counts_of(whole), reliability(whole, effect=effect), bands(whole)
    commonest = _commonest(whole, rows)
    judged = judge(over, under, counts, by_decade, diagram, level=level, margin=margin)
    slices = slices_of(evidence.parts, evidence.chosen, level=level, margin=margin, descriptive=evidence.by == "truth")
    return Assessment(
        verdict=judged.verdict,
        degree=judged.degree,
        level=level,
        margin=margin,
        risk=over,
        underconfidence=under,
        metrics={name: float(outcome.value) for name, outcome in values.items()},
        reasons={**{name: one.note for name, one in values.items() if one.note}, **evidence.reasons},
        bounds={name: bound for name, metric in evidence.chosen.items() if (bound := metric.bound(whole))},
        stated=over.expected_errors,
        seen=over.observed_errors,
        bands=by_decade,
        by=evidence.by,
        slices=slices,
        classes=None if evidence.labels is None else len(evidence.labels),
        commonest=math.nan if commonest is None else commonest[1],
        weight=whole[WEIGHT],
        intervals={} if rows is None else _intervals(rows, evidence.codes),
        surprises=() if rows is None else surprises_of(rows, evidence.slicing),
        counts=counts,
        reliability=diagram,
        near_certainty=near_certainty(whole, effect=effect),
        codes=evidence.codes,
        predictions=rows,
        warnings=swap_warnings(values["accuracy"].value, over, evidence.labels, commonest, rows)
        if rows is not None or not over.is_weighted
        else (),
    )


def _commonest(whole: Tally, rows: ArrayPredictions | None) -> tuple[Label, float] | None:
    """The most common true class, and its share of the weight; from a tally if it holds rankings."""
    if rows is None:
        weights = weights_of_classes(whole)
        labels: Any = whole.labels
    elif rows.truth is None:
        return None
    else:
        labels, codes = np.unique(rows.truth, return_inverse=True)
        labels, weights = labels.tolist(), np.bincount(codes, rows.weight).astype(np.float64)
    if weights is None or not weights.sum():
        return None
    most = int(weights.argmax())
    return labels[most], float(weights[most] / weights.sum())


def _intervals(rows: ArrayPredictions, codes: Codes | None) -> dict[str, Interval]:
    # ranking every class again takes as long as the rest: not for more than people wait for
    with_ranking = len(rows) * len(rows.labels or ()) <= MOST_RANKED
    return value_intervals(rows, level=0.95, groups=codes, with_ranking=with_ranking)

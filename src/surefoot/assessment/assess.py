"""The assessment: can these confidences be trusted, and are they worth anything?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot.assessment.inputs import repeated_identifier, to_assess
from surefoot.assessment.serialise import plain_assessment, write_json
from surefoot.assessment.slices import Part, Slice, slices_of
from surefoot.assessment.surprises import Surprise, surprises_of
from surefoot.assessment.verdict import MARGIN, Degree, Verdict, judge
from surefoot.core.metric import Metric
from surefoot.core.tally import Label, Tally
from surefoot.errors import InvalidPredictions, MetricUnavailable
from surefoot.figures.reliability import Band, Bin, bands, near_certainty, reliability
from surefoot.metrics import ALL
from surefoot.metrics.tallying import ALWAYS, by_name, terms_for
from surefoot.metrics.terms import WEIGHT
from surefoot.predictions import ArrayPredictions, FramePredictions, Predictions
from surefoot.predictions.dataframe import frame_column, is_frame
from surefoot.risk.groups import Dependence, dependence_of, group_codes
from surefoot.risk.intervals import Interval, value_intervals
from surefoot.risk.law.cells import Codes
from surefoot.risk.law.counts import Counts, counts_of
from surefoot.risk.planning import typical_range
from surefoot.risk.result import RiskResult
from surefoot.risk.test import TERMS, both_sides, dependence_within

#: What the first page of every assessment tells.
ALWAYS_TOLD = ("csr", "csr_sigma", "csr_z", "p_risk", "accuracy", "cw_accuracy", "gain", "auc", "cw_auc")

#: Rows times classes up to which areas under curves get intervals.
MOST_RANKED = 2_000_000

#: Rows up to which metrics that order them are part of an assessment.
MOST_ORDERED = 2_000_000

#: Slices times classes up to which slices also get the metrics made class by class.
MOST_CLASSES_OF_SLICES = 1000


@dataclass(frozen=True, repr=False)
class Assessment:
    """The answer: a verdict, the risk, the value of the confidences, and where it goes wrong."""

    verdict: Verdict
    #: How much it matters, by size and not by p-value; None where nothing was found.
    degree: Degree | None
    level: float
    #: The overstatement that nobody minds.
    margin: float
    #: The test against overconfidence, and its mirror image.
    risk: RiskResult
    underconfidence: RiskResult
    #: Every metric the data can give.
    metrics: Mapping[str, float]
    #: Why a metric is nan or infinite, or what was left out of it.
    reasons: Mapping[str, str]
    #: For rankings read from a tally: how far they may be from the value on the rows.
    bounds: Mapping[str, float]
    #: Mistakes the model allowed for, and mistakes it made.
    stated: float
    seen: float
    bands: tuple[Band, ...]
    by: str | None = None
    slices: list[Slice] = field(default_factory=list)
    classes: int | None = None
    #: The share of the commonest true class; nan where truth is not at hand.
    commonest: float = math.nan
    #: What the weights of all rows add up to; the number of rows if they have none.
    weight: float = math.nan
    #: Of accuracy, cw_accuracy, auc, cw_auc and their differences, where the rows are at hand.
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    #: The wrong rows that surprise most, where the rows are at hand.
    surprises: tuple[Surprise, ...] = ()
    #: Rows by doubt, which the law of CSR is made of.
    counts: Counts | None = field(default=None, repr=False)
    #: The reliability diagram, and its stretch near certainty.
    reliability: tuple[Bin, ...] = ()
    near_certainty: tuple[Bin, ...] = ()
    #: What rows belong to, if that was named; and a column that looks as if rows belonged to its values.
    group: str = ""
    looks_grouped: str = ""
    #: The group of each row, where rows are at hand.
    codes: Codes | None = field(default=None, repr=False)
    #: The file that was read, if it was one, and which of its columns were taken for what.
    source: str = ""
    columns: str = ""
    #: The rows themselves, where they are at hand.
    predictions: ArrayPredictions | None = field(default=None, repr=False)

    @cached_property
    def typical_csr(self) -> tuple[float, float] | None:
        """Where CSR lies for nine in ten calibrated models with these confidences; None if weights are unequal."""
        if (
            self.counts is None
            or self.risk.method != "exact"
            or not self.counts.doubtful().n
            or math.isnan(self.risk.deflation)
        ):
            return None
        return typical_range(self.counts.doubtful())

    def __getitem__(self, name: str) -> float:
        """The value of a metric; asking for one the data cannot give says why."""
        if name in self.metrics:
            return self.metrics[name]
        if name not in ALL:
            raise MetricUnavailable(f"there is no metric {name!r}; surefoot.metrics.ALL lists them.")
        raise MetricUnavailable(self.reasons[name])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON: a number that JSON cannot hold is None, with the reason beside it."""
        return plain_assessment(self)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The same as strict JSON text, also written to ``path`` if one is given: whole, or not at all."""
        return write_json(self.to_dict(), path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """The report, one HTML file that needs nothing else: whole, or not at all."""
        write_whole(path, present("html", "report", self))

    def _repr_html_(self) -> str:
        return str(present("notebook", "assessment_card", self))

    def __str__(self) -> str:
        return str(present("text", "render", self))

    def __repr__(self) -> str:
        headline = present("wording", "headline", self).lower()
        return f"<Assessment: {headline}, O/E {self.risk.oe_ratio:.3g}, {self.risk.n:,} rows>"


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


def assess(
    x: Any = None,
    probabilities: Any = None,
    *,
    level: float = 0.05,
    margin: float = MARGIN,
    by: Any = None,
    groups: Any = None,
    metrics: Iterable[str] | None = None,
    **columns: Any,
) -> Assessment:
    """Can these confidences be trusted, and are they worth anything?

    ``x`` is :class:`Predictions`, a :class:`Tally`, a dataframe with the columns of :meth:`Predictions.from_frame`
    (named by the same arguments), or true labels with ``probabilities`` (and the other arguments of
    :meth:`Predictions.from_probabilities`). Without ``x``, name what you have: ``y_true=, probabilities=``;
    ``y_true=, y_pred=, confidence=``; or ``correct=, confidence=``. One column of probabilities beside labels 0 and 1
    must be named so, for by position it may mean either.

    ``by`` slices: a column of values, the name of a column of the dataframe, or ``"predicted"`` or ``"truth"``, the
    labels themselves; slices by truth are descriptive, for the truth is the outcome. Slices get the metrics that add
    up, and many slices of many classes none made class by class.

    ``groups`` says which rows belong together (a patient, a user, a prompt), as a column of values or the name of one
    of the dataframe: otherwise rows are taken to be independent, and one cause that makes several rows wrong counts as
    several.

    The verdict is by the omnibus test (``pvalue_omnibus``), each side at ``level / 2``; of slices, adjusted for their
    number. Where nothing is found it is ``"inconclusive"`` if mean confidence may exceed accuracy by more than
    ``margin``, at 95%. ``metrics`` are the names of those to compute, by default every one.

    Examples
    --------
    >>> a = assess(y_true=[0, 1, 1, 0] * 50, probabilities=[0.1, 0.8, 0.7, 0.2] * 50)
    >>> a.verdict, a["accuracy"]
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
        if probabilities is not None or columns:
            other = "probabilities" if probabilities is not None else next(iter(columns))
            raise InvalidPredictions(f"assess(tally) takes no other data arguments; got {other!r}")
        return _conclude(_evidence_of_tally(x, request), request)
    predictions = to_assess(x, probabilities, columns)
    looks_grouped = ""
    if is_frame(x) and predictions.has_rows:
        looks_grouped = "" if groups is not None else repeated_identifier(x, {by, *columns.values()})
        request = replace(request, by=_column_named(x, by, "by"), groups=_column_named(x, groups, "groups"))
    evidence = _evidence_of(predictions, request)
    group = "" if groups is None else groups if isinstance(groups, str) else str(getattr(groups, "name", "") or "group")
    sliced_by = None if by is None else by if isinstance(by, str) else _called(by)
    found = _conclude(replace(evidence, by=sliced_by), request)
    return replace(found, group=group, looks_grouped=looks_grouped)


def _column_named(frame: Any, given: Any, role: str) -> Any:
    """The column of a dataframe that was named; what is no name of one is left as it is."""
    is_name = isinstance(given, str) and (role == "groups" or given not in ("predicted", "truth"))
    return frame_column(frame, given, role) if is_name else given


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
    model: Any, X: Any, y: Any, *, level: float = 0.05, by: Any = None, groups: Any = None
) -> Assessment:
    """Assess a fitted classifier, scikit-learn's or any with ``predict_proba`` and ``classes_``, on held-out data."""
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise InvalidPredictions(
            f"model is a {type(model).__name__} without predict_proba and classes_; give a fitted probabilistic "
            "classifier, or assess its predictions."
        )
    predictions = Predictions.from_probabilities(y, model.predict_proba(X), labels=model.classes_)
    return assess(predictions, level=level, by=by, groups=groups)


def _conclude(evidence: Evidence, request: Request) -> Assessment:
    """The assessment: read from the totals, and from the rows what these do not tell."""
    whole, rows, level, margin = evidence.whole, evidence.rows, request.level, request.margin
    values = {name: metric.evaluate(whole) for name, metric in evidence.chosen.items()}
    over, under = both_sides(whole, rows, evidence.dependence)
    effect = over.design_effect
    counts, diagram, by_decade = counts_of(whole), reliability(whole, effect=effect), bands(whole)
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
        commonest=math.nan if rows is None or rows.truth is None else _commonest(rows.truth),
        weight=whole[WEIGHT],
        intervals={} if rows is None else _intervals(rows, evidence.codes),
        surprises=() if rows is None else surprises_of(rows, evidence.slicing),
        counts=counts,
        reliability=diagram,
        near_certainty=near_certainty(whole, effect=effect),
        codes=evidence.codes,
        predictions=rows,
    )


def _commonest(truth: Any) -> float:
    return float(np.unique(truth, return_counts=True)[1].max()) / len(truth)


def _intervals(rows: ArrayPredictions, codes: Codes | None) -> dict[str, Interval]:
    # ranking every class again takes as long as the rest: not for more than people wait for
    with_ranking = len(rows) * len(rows.labels or ()) <= MOST_RANKED
    return value_intervals(rows, level=0.95, groups=codes, with_ranking=with_ranking)

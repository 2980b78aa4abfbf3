"""The assessment: can these confidences be trusted, and are they worth anything?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._io.documents import strict
from surefoot._io.presentation import present
from surefoot._io.writing import write_whole
from surefoot.assessment.inputs import repeated_identifier, to_assess
from surefoot.assessment.slices import Part, Slice, slices_of
from surefoot.assessment.surprises import Surprise, surprises_of
from surefoot.assessment.verdict import MARGIN, Degree, Verdict, judge
from surefoot.core.metric import Metric, Outcome
from surefoot.core.tally import Label, Tally
from surefoot.engines.anywhere import is_on_device, on_host
from surefoot.engines.numpy import tally_arrays
from surefoot.errors import InvalidPredictions, MetricUnavailable
from surefoot.figures.reliability import Band, Bin, bands, near_certainty, reliability
from surefoot.metrics import ALL
from surefoot.metrics.tallying import (
    ALWAYS,
    BANDS,
    DIAGRAM,
    available,
    sliced,
    slicing_column,
    tally,
)
from surefoot.metrics.terms import WEIGHT
from surefoot.predictions import Predictions
from surefoot.predictions.dataframe import frame_column, is_frame
from surefoot.risk.groups import Dependence, dependence_of, group_codes
from surefoot.risk.intervals import Interval, value_intervals
from surefoot.risk.law.cells import Codes
from surefoot.risk.law.counts import Counts, counts_of
from surefoot.risk.planning import typical_range
from surefoot.risk.result import RiskResult
from surefoot.risk.test import TERMS, both_sides, dependence_within

SCHEMA = 2

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
    predictions: Predictions | None = field(default=None, repr=False)

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
        return {
            "surefoot": "assessment",
            "schema": SCHEMA,
            "source": self.source,
            "columns": self.columns,
            "verdict": self.verdict,
            "degree": self.degree,
            **present("wording", "in_words", self),
            "level": self.level,
            "margin": self.margin,
            "expected_errors": self.stated,
            "observed_errors": self.seen,
            "groups": self.group or None,
            "classes": self.classes,
            "weight": self.weight,
            "risk": strict(self.risk.to_dict()),
            "underconfidence": strict(self.underconfidence.to_dict()),
            "intervals": {name: strict(asdict(interval)) for name, interval in self.intervals.items()},
            "surprises": [asdict(surprise) for surprise in self.surprises],
            "metrics": {name: self._entry(name) for name in (*self.metrics, *self._absent())},
            "bands": [strict(asdict(band)) for band in self.bands],
            **{name: [strict(asdict(one)) for one in getattr(self, name)] for name in _FIGURES},
            "by": self.by,
            "slices": [
                {
                    **strict({name: value for name, value in vars(part).items() if name not in (*_NESTED, *_FIGURES)}),
                    **{name: strict(_plain(getattr(part, name))) for name in _NESTED},
                }
                for part in self.slices
            ],
        }

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The same as strict JSON text, also written to ``path`` if one is given: whole, or not at all."""
        text = json.dumps(self.to_dict(), allow_nan=False, indent=2) + "\n"
        if path is not None:
            write_whole(path, text)
        return text

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

    def _absent(self) -> list[str]:
        return [name for name in self.reasons if name not in self.metrics]

    def _entry(self, name: str) -> dict[str, Any]:
        value = self.metrics.get(name)
        entry: dict[str, Any] = {"value": value if value is not None and math.isfinite(value) else None}
        if name in self.reasons:
            entry["reason"] = self.reasons[name]
        elif value is not None and math.isinf(value):
            entry["reason"] = "infinite: something that was given no probability happened"
        if self.bounds.get(name):
            entry["bound"] = self.bounds[name]
        return entry


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
    if isinstance(x, Tally):
        if probabilities is not None or columns:
            raise InvalidPredictions("a tally already holds all there is; give it alone.")
        if groups is not None:
            raise InvalidPredictions("a tally does not hold which rows belong together; groups= needs the rows.")
        return _assess_tally(x, level, margin, by)
    predictions = to_assess(x, probabilities, columns)
    if is_on_device(predictions) and (groups is not None or not predictions.has_equal_weights):
        # the exact law of unequal weights is made of rows, and so is what rows of a group have in common
        predictions = on_host(predictions)
        by, groups = (one.cpu() if hasattr(one, "cpu") else one for one in (by, groups))
    if not isinstance(predictions, Predictions):
        return _assess_lazy(predictions, level, margin, by, groups)
    group = "" if groups is None else groups if isinstance(groups, str) else str(getattr(groups, "name", "") or "group")
    looks_grouped = repeated_identifier(x, {by, groups, *columns.values()}) if is_frame(x) and not group else ""
    if isinstance(groups, str):
        if not is_frame(x):
            raise InvalidPredictions(f"groups is {groups!r}; give a column of values, one for each row.")
        groups = frame_column(x, groups, "groups")
    codes = None if groups is None else group_codes(len(predictions), groups, predictions.weight)
    name = None if by is None else by if isinstance(by, str) else _called(by)
    if isinstance(by, str) and by not in ("predicted", "truth") and is_frame(x):
        by = frame_column(x, by)
    held, slow = _affordable(predictions)
    chosen = _asked(held, metrics)
    reasons = {name: why for name, metric in ALL.items() if (why := metric.missing(predictions))} | slow
    whole = _exact(predictions, chosen)
    values = None if by is None else slicing_column(predictions, by)
    parts = [] if values is None else _parts(predictions, values, chosen, codes)
    found = _assessed(
        whole, chosen, reasons, level, margin, name, parts, predictions.labels, predictions, values, codes=codes
    )
    return replace(found, group=group, looks_grouped=looks_grouped)


def _called(by: Any) -> str:
    """The name of a column of values; one called like the labels is not them."""
    name = str(getattr(by, "name", None) or "slice")
    return f"column {name}" if name in ("predicted", "truth") else name


def _affordable(predictions: Predictions) -> tuple[dict[str, Metric], dict[str, str]]:
    """The metrics these rows can give in the time that people wait for, and why the others are left out."""
    held = available(predictions)
    if len(predictions) <= MOST_ORDERED:
        return held, {}
    slow = {
        name: f"left out: it orders rows, which takes long for more than {MOST_ORDERED:,}; "
        f"ask for it by itself with surefoot.{name}"
        for name, metric in held.items()
        if not metric.additive
    }
    return {name: metric for name, metric in held.items() if name not in slow}, slow


def _asked(held: dict[str, Metric], names: Iterable[str] | None) -> dict[str, Metric]:
    """The metrics asked for, and those that every assessment tells of."""
    if names is None:
        return held
    wanted = {*names, *ALWAYS_TOLD}
    unknown = next((name for name in wanted if name not in ALL), None)
    if unknown is not None:
        raise MetricUnavailable(f"there is no metric {unknown!r}; surefoot.metrics.ALL lists them.")
    return {name: metric for name, metric in held.items() if name in wanted}


def with_all_metrics(a: Assessment) -> Assessment:
    """The same assessment with every metric that its rows can give."""
    if a.predictions is None:
        return a
    held, slow = _affordable(a.predictions)
    rest = {name: metric for name, metric in held.items() if name not in a.metrics}
    values = {name: metric.evaluate(t) for t in [_exact(a.predictions, rest)] for name, metric in rest.items()}
    return replace(
        a,
        metrics={name: a.metrics[name] if name in a.metrics else float(values[name].value) for name in held},
        reasons={**a.reasons, **{name: outcome.note for name, outcome in values.items() if outcome.note}, **slow},
    )


def with_slices(a: Assessment, by: Any) -> Assessment:
    """The same assessment, with slices besides; it must hold the rows."""
    assert a.predictions is not None
    chosen = {name: ALL[name] for name in a.metrics}
    values = slicing_column(a.predictions, by)
    slices = slices_of(
        _parts(a.predictions, values, chosen, a.codes),
        chosen,
        level=a.level,
        margin=a.margin,
        descriptive=by == "truth",
    )
    name = by if isinstance(by, str) else "slice"
    return replace(a, by=name, slices=slices, surprises=surprises_of(a.predictions, values))


def _parts(predictions: Predictions, values: Any, chosen: Mapping[str, Metric], codes: Codes | None) -> list[Part]:
    """The tally of each slice, of the metrics that add up; of many slices of many classes, of none made by class."""
    count = len(np.unique(values)) * len(predictions.labels or ())
    additive = {name: metric for name, metric in chosen.items() if metric.additive}
    additive = additive if count <= MOST_CLASSES_OF_SLICES else _without_classes(additive)
    return [
        Part(value, _exact(part, additive), part, None if codes is None else dependence_of(part, codes[rows]))
        for value, part, rows in sliced(predictions, values)
    ]


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


def _without_classes(chosen: Mapping[str, Metric]) -> dict[str, Metric]:
    return {name: metric for name, metric in chosen.items() if not metric.is_of_classes}


def _exact(predictions: Predictions, chosen: Mapping[str, Metric]) -> Tally:
    terms = [*ALWAYS, *BANDS, *DIAGRAM, *(term for metric in chosen.values() for term in metric.terms)]
    return tally_arrays(predictions, terms, exact=True)


def _assess_lazy(x: Any, level: float, margin: float, by: Any, groups: Any) -> Assessment:
    """Predictions that stay where they are: their tally, and what rows of a group have in common, made there."""
    kept = tally(x, by=by)
    if groups is None:
        return _assess_tally(kept, level, margin, None)
    import narwhals as nw

    column = getattr(x, by) if by in ("predicted", "truth") else by
    # labels of probabilities are held as their places among all
    places = {label: place for place, label in enumerate(x.labels or ())} if column != by else {}
    within = {}
    for value, part in (kept.slices or {}).items():
        rows = replace(x, frame=x.frame.filter(nw.col(column) == places.get(value, value)))
        within[value] = dependence_within(rows, groups, part, of_slice=True)
    found = _assess_tally(kept, level, margin, None, dependence_within(x, groups, kept), within)
    return replace(found, group=groups)


def _assess_tally(
    kept: Tally,
    level: float,
    margin: float,
    by: Any,
    dependence: Dependence | None = None,
    within: Mapping[Label, Dependence] | None = None,
) -> Assessment:
    if by is not None:
        raise InvalidPredictions("a tally cannot be sliced afterwards; tally(predictions, by=...) keeps slices apart.")
    if any(not kept.has(term) for term in (*ALWAYS, *TERMS)):
        raise MetricUnavailable("this tally does not hold what an assessment needs; make it with surefoot.tally.")
    reasons = {}
    chosen = {}
    for name, metric in ALL.items():
        if not metric.additive:
            reasons[name] = f"{name} needs the rows themselves; a tally does not hold them."
        elif all(kept.has(term) for term in metric.terms):
            chosen[name] = metric
        else:
            reasons[name] = f"this tally does not hold what {name} is made of."
    parts = [Part(value, part, None, (within or {}).get(value)) for value, part in (kept.slices or {}).items()]
    return _assessed(kept, chosen, reasons, level, margin, kept.by, parts, kept.labels, None, dependence=dependence)


def _assessed(
    whole: Tally,
    chosen: Mapping[str, Metric],
    reasons: dict[str, str],
    level: float,
    margin: float,
    by: str | None,
    parts: Sequence[Part],
    labels: tuple[Label, ...] | None,
    rows: Predictions | None,
    slicing: Any = None,
    *,
    codes: Codes | None = None,
    dependence: Dependence | None = None,
) -> Assessment:
    values: dict[str, Outcome] = {name: metric.evaluate(whole) for name, metric in chosen.items()}
    if rows is not None and codes is not None:
        dependence = dependence_of(rows, codes)
    over, under = both_sides(whole, rows, dependence)
    effect = over.design_effect
    counts, diagram, by_decade = counts_of(whole), reliability(whole, effect=effect), bands(whole)
    judged = judge(over, under, counts, by_decade, diagram, level=level, margin=margin)
    return Assessment(
        verdict=judged.verdict,
        degree=judged.degree,
        level=level,
        margin=margin,
        risk=over,
        underconfidence=under,
        metrics={name: float(outcome.value) for name, outcome in values.items()},
        reasons={**{name: outcome.note for name, outcome in values.items() if outcome.note}, **reasons},
        bounds={name: bound for name, metric in chosen.items() if (bound := metric.bound(whole))},
        stated=over.expected_errors,
        seen=over.observed_errors,
        bands=by_decade,
        by=by,
        slices=slices_of(parts, chosen, level=level, margin=margin, descriptive=by == "truth"),
        classes=None if labels is None else len(labels),
        commonest=math.nan if rows is None or rows.truth is None else _commonest(rows.truth),
        weight=whole[WEIGHT],
        intervals={} if rows is None else _intervals(rows, codes),
        surprises=() if rows is None else surprises_of(rows, slicing),
        counts=counts,
        reliability=diagram,
        near_certainty=near_certainty(whole, effect=effect),
        codes=codes,
        predictions=rows,
    )


def _commonest(truth: Any) -> float:
    return float(np.unique(truth, return_counts=True)[1].max()) / len(truth)


def _intervals(rows: Predictions, codes: Codes | None) -> dict[str, Interval]:
    # ranking every class again takes as long as the rest: not for more than people wait for
    with_ranking = len(rows) * len(rows.labels or ()) <= MOST_RANKED
    return value_intervals(rows, level=0.95, groups=codes, with_ranking=with_ranking)


#: The fields of a slice that hold several numbers.
_NESTED = ("risk", "underconfidence", "metrics")
_FIGURES = ("reliability", "near_certainty")


def _plain(fields: Any) -> dict[str, Any]:
    return dict(fields) if isinstance(fields, Mapping) else fields.to_dict()

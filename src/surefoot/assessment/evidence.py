"""What an assessment is made of: totals, the parts of the data, and the rows where they are at hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.assessment.slices import Part
from surefoot.core.doubt_table import DoubtTable
from surefoot.core.metric import Metric
from surefoot.core.tally import Label, Tally, add_not_attempted
from surefoot.errors import InvalidPredictions, MetricUnavailable
from surefoot.metrics import ALL
from surefoot.metrics.tallying import ALWAYS, by_name, check_counts, terms_for
from surefoot.predictions import ArrayPredictions, FramePredictions, Predictions
from surefoot.risk.effects import OF_EVENTS
from surefoot.risk.groups import Dependence, dependence_of, group_codes
from surefoot.risk.law.cells import Codes
from surefoot.risk.test import TERMS, dependence_within

#: What the first page of every assessment tells, of what its view has.
ALWAYS_TOLD = (
    *("csr", "csr_sigma", "csr_z", "p_risk", "accuracy", "cw_accuracy", "gain", "auc", "cw_auc"),
    *("ece", "brier", "log_loss", "mean_confidence"),
    *("oe_ratio", "calibration_in_the_large", "calibration_slope", "calibration_intercept", "scaled_brier", "ici"),
)

#: Those without which no page of predictions is shown.
_SHOWN = ("accuracy", "cw_accuracy", "gain")

#: Metrics of the order of scores, beside those always told: from one look at each class all are had.
RANKED = ("auc_gain", "cw_average_precision")

#: Rows times classes up to which areas under curves get intervals, and are part of every assessment.
MOST_RANKED = 2_000_000

#: Rows up to which metrics that order them are part of an assessment.
MOST_ORDERED = 2_000_000

#: Slices times classes up to which slices also get the metrics made class by class.
MOST_CLASSES_OF_SLICES = 1000


@dataclass(frozen=True)
class Request:
    """What an assessment is to tell: which metrics and slices, which rows belong together, and at which level."""

    level: float
    margin: float
    metrics: tuple[str, ...] | None = None
    by: Any = None
    groups: Any = None

    def choose(self, held: Mapping[str, Metric], *, with_rankings: bool = True) -> dict[str, Metric]:
        """Of the metrics that can be had those asked for, and those that every assessment tells of.

        Without rankings, areas under curves only if one of them is asked for.
        """
        if self.metrics is None:
            return dict(held)
        asked = {by_name(name).name for name in self.metrics}
        if not with_rankings and not any(ALL[name].is_ranking for name in asked):
            held = {name: metric for name, metric in held.items() if not metric.is_ranking}
        wanted = asked.union(ALWAYS_TOLD)
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


def affordable(predictions: Predictions) -> tuple[dict[str, Metric], dict[str, str]]:
    """The metrics these predictions give in the time that people wait for, and why the others are left out."""
    offered = {name: metric for name, metric in ALL.items() if metric.is_offered(predictions.view)}
    why = {name: metric.missing(predictions) for name, metric in offered.items()}
    if isinstance(predictions, ArrayPredictions) and len(predictions) <= MOST_ORDERED:
        slow = ""
    elif isinstance(predictions, ArrayPredictions):
        slow = f"left out: it orders rows, which takes long for more than {MOST_ORDERED:,}"
    else:
        slow = "left out: it orders rows, and these stay where they are"
    for name, metric in offered.items():
        if slow and not metric.additive and not why[name]:
            why[name] = f"{slow}; ask for it by itself with surefoot.{name}"
    return {name: ALL[name] for name, reason in why.items() if not reason}, {n: w for n, w in why.items() if w}


def evidence_of(predictions: Predictions, request: Request) -> Evidence:
    """The totals of predictions, where they lie; of arrays the rows too."""
    if predictions.has_rows and (request.groups is not None or not predictions.has_equal_weights):
        # the exact law of unequal weights is made of rows, and so is what rows of a group have in common
        predictions = predictions.rows()
        by, groups = (one.cpu() if hasattr(one, "cpu") else one for one in (request.by, request.groups))
        request = replace(request, by=by, groups=groups)
    held, reasons = affordable(predictions)
    # to rank the rows for every class is most of the work where classes are many
    is_ranked_soon = not isinstance(predictions, ArrayPredictions) or _scores_of(predictions) <= MOST_RANKED
    chosen = request.choose(held, with_rankings=is_ranked_soon)
    if predictions.view == "classes":
        return _evidence_of_classes(predictions, request, chosen, reasons)
    if isinstance(predictions, ArrayPredictions):
        return _evidence_of_rows(predictions, request, chosen, reasons)
    kept = predictions.tally(terms_for(chosen.values(), view=predictions.view), by=request.by)
    evidence = Evidence(kept, chosen, reasons, labels=kept.labels)
    groups = request.groups
    if groups is None:
        return replace(evidence, parts=in_order([Part(value, part) for value, part in (kept.slices or {}).items()]))
    assert isinstance(predictions, FramePredictions)
    parts = [
        Part(value, part, None, dependence_within(predictions.slice(request.by, value), groups, part, of_slice=True))
        for value, part in (kept.slices or {}).items()
    ]
    return replace(evidence, parts=parts, dependence=dependence_within(predictions, groups, kept))


def _scores_of(rows: ArrayPredictions) -> int:
    """How many numbers rank the rows for every class."""
    return len(rows) * len(rows.labels or ())


def _evidence_of_rows(
    rows: ArrayPredictions, request: Request, chosen: Mapping[str, Metric], reasons: Mapping[str, str]
) -> Evidence:
    if isinstance(request.groups, str):
        raise InvalidPredictions(
            argument="groups", value=request.groups, hint="give a column of values, one for each row"
        )
    codes = None
    if request.groups is not None:
        codes = group_codes(len(rows), rows.align("groups", request.groups), rows.weight)
    slicing = None if request.by is None else rows.slicing(request.by)
    parts = [] if slicing is None else parts_of(rows, slicing, chosen, codes)
    skipped = rows._skipped_by(request.by)
    values = {part.value for part in parts}
    apart = {value: count for value, count in skipped.items() if value not in values}
    return Evidence(
        replace(exact_tally(rows, chosen), slices_not_attempted=apart),
        chosen,
        reasons,
        [part._replace(tally=add_not_attempted(part.tally, skipped.get(part.value, 0), {})) for part in parts],
        labels=rows.labels,
        rows=rows,
        slicing=slicing,
        codes=codes,
        dependence=None if codes is None else dependence_of(rows, codes),
    )


def _evidence_of_classes(
    predictions: Predictions, request: Request, chosen: Mapping[str, Metric], reasons: Mapping[str, str]
) -> Evidence:
    """The totals of each class as an event; each class is a part of the data."""
    if request.by is not None:
        raise InvalidPredictions(
            "by= slices one event, not every class", hint="use of='event' with pos_label=, and by="
        )
    rows = predictions if isinstance(predictions, ArrayPredictions) else None
    codes = None
    if request.groups is not None and rows is not None:
        codes = group_codes(len(rows), rows.align("groups", request.groups), rows.weight)
    # exact scores of every class keep its rows in memory
    is_exact = rows is not None and _scores_of(rows) <= MOST_RANKED
    whole = predictions.tally(terms_for(chosen.values(), view="classes"), exact=is_exact)
    is_weighted = not predictions.has_equal_weights
    parts = []
    for label, part in (whole.events or {}).items():
        own = rows.event(label) if rows is not None and (is_weighted or codes is not None) else None
        dependence = None
        if own is not None and codes is not None:
            dependence = dependence_of(own, codes)
        elif request.groups is not None:
            dependence = dependence_within(predictions.event(label), request.groups, part)
        parts.append(Part(label, part, own if is_weighted else None, dependence))
    return Evidence(whole, chosen, reasons, parts, "class", predictions.labels, rows, None, codes)


def evidence_of_tally(kept: Tally, request: Request) -> Evidence:
    if request.groups is not None:
        raise InvalidPredictions("a tally does not hold which rows belong together; groups= needs the rows")
    if request.by is not None:
        raise InvalidPredictions("a tally cannot be sliced afterwards; tally(predictions, by=...) keeps slices apart")
    own = OF_EVENTS if kept.view != "prediction" else tuple(term for name in _SHOWN for term in ALL[name].terms)
    if any(not kept.has(term) for term in (*ALWAYS, *TERMS, *own)):
        raise MetricUnavailable("this tally does not hold what an assessment needs; make it with surefoot.tally.")
    check_counts(kept)
    held: dict[str, Metric] = {}
    reasons: dict[str, str] = {}
    for name, metric in ALL.items():
        if not metric.is_offered(kept.view):
            continue
        if not metric.additive:
            reasons[name] = f"{name} needs the rows themselves; a tally does not hold them."
        elif all(kept.has(term) for term in metric.terms):
            held[name] = metric
        else:
            reasons[name] = f"this tally does not hold what {name} is made of."
    if kept.view == "classes":
        parts = [Part(label, part) for label, part in (kept.events or {}).items()]
        return Evidence(kept, request.choose(held), reasons, parts, "class", kept.labels)
    parts = in_order([Part(value, part) for value, part in (kept.slices or {}).items()])
    return Evidence(kept, request.choose(held), reasons, parts, kept.by, kept.labels)


def in_order(parts: list[Part]) -> list[Part]:
    """Slices of one kind rising; those that are text and all numbers, as in a file, in the order of the numbers."""
    with suppress(ValueError):
        numbers = {part.value: float(part.value) for part in parts}
        return sorted(parts, key=lambda part: (math.isnan(numbers[part.value]), numbers[part.value], part.value))
    return parts


def parts_of(rows: ArrayPredictions, values: Any, chosen: Mapping[str, Metric], codes: Codes | None) -> list[Part]:
    """The tally of each slice, of the metrics that add up; of many slices of many classes, of none made by class."""
    count = len(np.unique(values)) * len(rows.labels or ())
    kept = {
        name: metric
        for name, metric in chosen.items()
        if metric.additive and (count <= MOST_CLASSES_OF_SLICES or not metric.is_of_classes)
    }
    return in_order(
        [
            Part(value, exact_tally(part, kept), part, None if codes is None else dependence_of(part, codes[where]))
            for value, part, where in rows.split(values)
        ]
    )


def exact_tally(rows: ArrayPredictions, chosen: Mapping[str, Metric]) -> Tally:
    """The totals, with scores kept apart; doubts too, unless ordering so many rows would take long."""
    found = rows.tally(terms_for(chosen.values(), view=rows.view), exact=True)
    return found if len(rows) <= MOST_ORDERED else _with_doubts_in_cells(found)


def _with_doubts_in_cells(found: Tally) -> Tally:
    """The same totals without the way back to the rows."""
    tables = {
        name: replace(table, from_rows=None) if isinstance(table, DoubtTable) else table
        for name, table in found.tables.items()
    }
    events = {label: _with_doubts_in_cells(part) for label, part in (found.events or {}).items()} or None
    return replace(found, tables=tables, events=events)

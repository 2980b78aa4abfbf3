"""Every class at once: each is an event with a test of its own, and the verdict is on all of them together.

A model of K classes makes K predictions a row, which depend on each other. So each class is tested by itself, with
p-values adjusted by Holm's method: a calibrated model is flagged, in any class, with at most the chance of the level.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

from surefoot.assessment.event_verdict import is_settled
from surefoot.assessment.slices import Slice
from surefoot.assessment.verdict import Degree, Judgement, Verdict
from surefoot.core.tally import Tally
from surefoot.metrics.tallying import ALWAYS, BANDS, DIAGRAM
from surefoot.risk.effects import OF_EVENTS
from surefoot.risk.evalues import e_mean
from surefoot.risk.result import RiskResult
from surefoot.risk.test import TERMS

_KEPT = {term.name for term in (*ALWAYS, *OF_EVENTS, *BANDS, *DIAGRAM, *TERMS)}
#: What a risk test says of rows that do not depend on each other.
_OF_INDEPENDENT_ROWS = (
    *("pvalue", "pvalue_mid", "pvalue_capped", "pvalue_combined"),
    *("sigma", "z", "p_risk", "csr_lower", "deflation", "skewness", "heaviest_share"),
)
_DEGREES: tuple[Degree, ...] = ("strongly", "clearly", "slightly")
_SPREAD: tuple[Verdict, ...] = ("too extreme", "too timid")
_FOUND = ("overpredicts", "underpredicts", *_SPREAD)


def pooled(tally: Tally) -> Tally:
    """The predictions of all classes as if they were of one event: what tests and figures are made of."""
    return reduce(add, map(_for_tests, (tally.events or {}).values()))


def _for_tests(part: Tally) -> Tally:
    tables = {}
    for name, table in part.tables.items():
        held = {term: sums for term, sums in getattr(table, "totals", {}).items() if term in _KEPT}
        if held:
            tables[name] = replace(table, totals=held)
    return Tally(tables, None, part.rounded, view="event")


def adjusted(side: RiskResult, classes: Sequence[RiskResult]) -> RiskResult:
    """The sizes of all predictions together, with the evidence of the classes.

    The predictions of a row depend on each other, so no law of all of them is known: the p-value is that of the worst
    class, adjusted for their number, and the e-value the mean of theirs, which holds for any dependence.
    """
    p = min(1.0, len(classes) * min(one.pvalue_omnibus for one in classes))
    log_e = e_mean([one.log_e for one in classes])
    unknown: dict[str, Any] = dict.fromkeys(_OF_INDEPENDENT_ROWS, math.nan)
    e_value = math.inf if log_e >= 709 else math.exp(log_e)
    return replace(side, pvalue_omnibus=p, log_e=log_e, e_value=e_value, _omnibus=None, _deflation=None, **unknown)


def judge_classes(parts: Sequence[Slice], *, margin: float) -> Judgement:
    """The verdict on all classes, from those on each."""
    found = [part for part in parts if part.verdict in _FOUND]
    if not found:
        settled = all(is_settled(part.risk, margin) for part in parts)
        return Judgement("no evidence against calibration" if settled else "inconclusive", None)
    degree = next(degree for degree in _DEGREES if any(part.degree == degree for part in found))
    words = Counter(part.verdict for part in found)
    # a word for all only where most of the classes that are off have it
    most: Verdict = next((word for word in _SPREAD if 2 * words[word] > len(found)), "mixed")
    return Judgement(most, degree)

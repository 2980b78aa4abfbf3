"""Parts of the data, each assessed by itself, and together: of many slices some look bad by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefoot.assessment.judging import judge
from surefoot.assessment.verdict import Degree, Verdict
from surefoot.core.metric import Metric
from surefoot.core.tally import Label, Tally
from surefoot.engines.parallel import in_parallel
from surefoot.figures.reliability import Bin, near_certainty, reliability
from surefoot.predictions import ArrayPredictions
from surefoot.risk.evalues import e_bh, e_mean
from surefoot.risk.groups import Dependence
from surefoot.risk.law.counts import counts_of
from surefoot.risk.planning import detectable
from surefoot.risk.result import RiskResult
from surefoot.risk.test import both_sides


@dataclass(frozen=True, repr=False)
class Slice:
    """A part of the data, assessed by itself.

    Slices by the true label are descriptive: they have no verdict, p-values or intervals, since the label is the
    outcome.

    Attributes
    ----------
    value : bool, int or str
        The value of the column that the data are sliced by.
    verdict : str or None
        As that of an :class:`Assessment`, by ``pvalue_adjusted``.
    degree : str or None
        How much it matters: ``"slightly"``, ``"clearly"`` or ``"strongly"``; None where nothing was found.
    risk, underconfidence : RiskResult
        The tests against overconfidence and against underconfidence.
    stated, seen : float
        Expected errors and observed errors; in the event view, expected and observed events.
    metrics : mapping of str to float
        The metrics of this slice, by name.
    pvalue_adjusted : float
        The two-sided p-value, adjusted for the number of slices by Holm's method.
    named_by_e_values : bool
        Whether e-BH flags it too, which is valid however slices depend on each other.
    detectable_deflation : float
        Approximately the least overconfidence that this many rows detect in four of five cases: accuracy is
        (1 - deflation) x confidence.
    detectable_csr : float
        The CSR that corresponds to it.
    reliability, near_certainty : tuple of Bin
        The reliability diagram of the slice, and its enlargement near certainty.
    not_attempted : int
        Rows of this slice that were not attempted, and count nowhere else; 0 in slices by predicted or true label,
        which hold attempted rows only.
    """

    value: Label
    verdict: Verdict | None
    degree: Degree | None
    risk: RiskResult
    underconfidence: RiskResult
    stated: float
    seen: float
    metrics: Mapping[str, float]
    pvalue_adjusted: float
    named_by_e_values: bool
    detectable_deflation: float
    detectable_csr: float
    reliability: tuple[Bin, ...] = ()
    near_certainty: tuple[Bin, ...] = ()
    not_attempted: int = 0

    def __repr__(self) -> str:
        is_event = not math.isnan(self.risk.expected_events)
        size = f"O/E {self.risk.oe_ratio:.3g}" if is_event else f"CSR {self.risk.csr:.3g}"
        return f"<Slice {self.value!r}: {self.verdict or 'no verdict'}, {size}, {self.risk.n:,} rows>"


class Part(NamedTuple):
    """A part of the data: its totals, and its rows and what belongs together in it, where these are known."""

    value: Label
    tally: Tally
    predictions: ArrayPredictions | None = None
    dependence: Dependence | None = None


def slices_of(
    parts: Iterable[Part],
    chosen: Mapping[str, Metric],
    *,
    level: float,
    margin: float,
    descriptive: bool,
) -> list[Slice]:
    """Assess each part; those by truth without tests."""
    parts = list(parts)
    sides = in_parallel([partial(both_sides, *part[1:], is_tested=not descriptive) for part in parts])
    tested = [(part.value, part.tally, *pair) for part, pair in zip(parts, sides, strict=True)]
    twosided = [min(1.0, 2 * min(over.pvalue_omnibus, under.pvalue_omnibus)) for *_, over, under in tested]
    adjusted = holm(twosided)
    evidence = [e_mean([over.log_e, under.log_e]) for *_, over, under in tested]
    named = e_bh([-math.inf if math.isnan(e) else e for e in evidence], level)
    slices = []
    for (value, tally, over, under), part, p, is_named in zip(tested, parts, adjusted, named, strict=True):
        held = {name: metric for name, metric in chosen.items() if all(tally.has(term) for term in metric.terms)}
        every, effect = counts_of(tally), over.design_effect
        bins = reliability(tally, intervals=not descriptive, effect=effect)
        is_tested = p <= level
        judged = (
            None
            if descriptive
            else judge(tally, over, under, bins, level=level, margin=margin, is_tested=is_tested, rows=part.predictions)
        )
        counts = every.doubtful()
        least = detectable(counts, level=level / 2, effect=effect) if counts.n else math.nan
        odds = float((counts.rows * counts.confidence / counts.doubt).sum()) / counts.n if counts.n else math.nan
        one = Slice(
            value,
            None if judged is None else judged.verdict,
            None if judged is None else judged.degree,
            over,
            under,
            *stated_and_seen(over),
            {name: float(metric.evaluate(tally).value) for name, metric in held.items()},
            p,
            is_named,
            least,
            1 + least * odds,
            bins,
            near_certainty(tally, intervals=not descriptive, effect=effect),
            tally.not_attempted,
        )
        slices.append(_described(one) if descriptive else one)
    return slices


def stated_and_seen(risk: RiskResult) -> tuple[float, float]:
    """What was expected and what was observed: errors, or events."""
    if math.isnan(risk.expected_events):
        return risk.expected_errors, risk.observed_errors
    return risk.expected_events, risk.observed_events


def holm(pvalues: Sequence[float]) -> list[float]:
    """Adjusted p-values: the chance that any of the true nulls is named is at most the level, however they depend.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = values[order] * (len(values) - np.arange(len(values)))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(p) for p in adjusted]


_INFERENCE = (
    *("p_risk", "pvalue", "pvalue_mid", "pvalue_capped", "pvalue_combined", "pvalue_omnibus"),
    *("e_value", "log_e", "csr_lower"),
)
_INTERVALS = ("oe_interval", "overstatement_interval")


def _described(one: Slice) -> Slice:
    """Without inference: the truth is the outcome, and a calibrated model fails on it too."""
    nothing: dict[str, Any] = {
        **dict.fromkeys(_INFERENCE, math.nan),
        **dict.fromkeys(_INTERVALS, (math.nan, math.nan)),
        "_omnibus": None,
        "_deflation": None,
    }
    return replace(
        one,
        verdict=None,
        degree=None,
        risk=replace(one.risk, **nothing),
        underconfidence=replace(one.underconfidence, **nothing),
        pvalue_adjusted=math.nan,
        named_by_e_values=False,
        detectable_deflation=math.nan,
        detectable_csr=math.nan,
    )

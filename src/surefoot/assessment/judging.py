"""One way to a verdict, whatever rows are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot._stats.binomial import limits
from surefoot.assessment.event_verdict import judge_event
from surefoot.assessment.verdict import Judgement, judge_predictions
from surefoot.core.tally import Tally
from surefoot.figures.reliability import Bin, bands
from surefoot.predictions import ArrayPredictions
from surefoot.risk.law.counts import Counts, counts_of
from surefoot.risk.result import RiskResult


def judge(
    tally: Tally,
    over: RiskResult,
    under: RiskResult,
    bins: Sequence[Bin],
    *,
    level: float,
    margin: float,
    is_tested: bool = True,
    rows: ArrayPredictions | None = None,
) -> Judgement:
    """The verdict on predictions, or on an event. ``is_tested`` is false where adjustment leaves nothing shown."""
    counts = counts_of(tally)
    if tally.view == "event" and rows is not None and not rows.has_equal_weights:
        counts = _weighted(rows)
        bins = [_with_limits(one, counts, over.design_effect) for one in bins]
    if tally.view == "event":
        return judge_event(over, under, counts, bins, level=level, margin=margin, is_tested=is_tested)
    by_decade = bands(tally)
    return judge_predictions(over, under, counts, by_decade, bins, level=level, margin=margin, is_tested=is_tested)


def _weighted(rows: ArrayPredictions) -> Counts:
    """The weights of rows in the place of their number."""
    doubt, confidence, weight = rows.doubt_of(slice(None)), rows.confidence_of(slice(None)), rows.weight
    nothing = np.zeros(len(weight))
    return Counts(doubt, confidence, weight, weight * rows.wrong, nothing, nothing, is_exact=True)


def _with_limits(one: Bin, rows: Counts, effect: float) -> Bin:
    """A bin of weights with limits, those of as many rows as leave its share as uncertain."""
    inside = (rows.confidence > one.least) & (rows.confidence <= one.most) | (rows.confidence == 0) & (one.least == 0)
    weight = rows.rows[inside] / one.rows
    if not weight.any():
        return one
    known = 1 / float((weight**2).sum()) / max(1.0, effect)
    low, high = limits(one.error * known, known)
    return replace(one, low=float(low), high=float(high))

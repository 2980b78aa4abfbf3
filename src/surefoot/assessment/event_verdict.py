"""The verdict on an event: does it happen as often as predicted, and do predictions spread as they should?

Whether there is evidence is decided as for predictions, by the omnibus p-value of either side at half the level: too
few events, or too many, in any range of predictions. The word is decided by the logistic recalibration of these rows,
which says by how much predictions are too high, and where they are too low. On one side only, the model overpredicts
or underpredicts; on both, predictions are too extreme (slope below 1) or too timid (slope above 1).

The degree is by that line, and by what no line shows: bins of the diagram, and outcomes of probability 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.assessment.verdict import (
    CLEAR_POINTS,
    MANY_CERTAIN,
    STRONG_POINTS,
    Degree,
    Judgement,
    Verdict,
    at_least,
)
from surefoot.core.metric import Outcome
from surefoot.figures.reliability import Bin
from surefoot.metrics.recalibration import LogOdds, recalibration_line
from surefoot.risk.law.cells import bands_of, mean_log_odds
from surefoot.risk.law.counts import Counts
from surefoot.risk.result import RiskResult

#: From which ratio of expected to observed events, of slopes, or their reciprocals, it is clear, and it is strong.
CLEAR_FACTOR, STRONG_FACTOR = 1.25, 2.0
#: How many times as much one side must be off as the other for the model to be off on that side.
_ONE_SIDED = 2.0


@dataclass(frozen=True)
class Recalibration:
    """The line of log-odds that fits the outcomes, and how far predictions lie above it and below, in the mean.

    The slope is infinite where probabilities separate the outcomes, minus infinite if the wrong way round, and nan if
    all outcomes or all probabilities are the same.
    """

    intercept: float
    slope: float
    above: float
    below: float


def judge_event(
    over: RiskResult,
    under: RiskResult,
    counts: Counts,
    bins: Sequence[Bin],
    *,
    level: float,
    margin: float,
    is_tested: bool = True,
) -> Judgement:
    """Decide. ``is_tested`` is false for a class or a slice whose p-value does not survive adjustment."""
    if not is_tested or min(over.pvalue_omnibus, under.pvalue_omnibus) > level / 2:
        return Judgement("no evidence against calibration" if is_settled(over, margin) else "inconclusive", None)
    line = recalibrate(counts)
    larger, smaller = max(line.above, line.below), min(line.above, line.below)
    if _is_off_on_average(over, under, level) and larger >= _ONE_SIDED * smaller:
        word: Verdict = "overpredicts" if over.overstatement > 0 else "underpredicts"
        others = over.observed_errors / over.expected_errors if over.expected_errors else math.nan
        points, factor = abs(over.overstatement), max(_factor(over.oe_ratio), _factor(others))
    else:
        word = "too extreme" if _is_extreme(over, under, counts, line) else "too timid"
        # an infinite slope says that outcomes are separated, and not how far predictions are from them
        points, factor = line.above + line.below, _factor(line.slope) if math.isfinite(line.slope) else 1.0
    degree = at_least(_degree(max(points, _points_of_bins(bins)), factor), bins, "over", "under")
    impossible = float(counts.wrong[counts.doubt == 0].sum() + counts.right[counts.confidence == 0].sum())
    if impossible:
        # as many rows, of weights too
        is_many = impossible / counts.n * over.n >= MANY_CERTAIN
        degree = "strongly" if is_many or degree == "strongly" else "clearly"
    return Judgement(word, degree)


def is_settled(risk: RiskResult, margin: float) -> bool:
    """Whether predictions and events agree on average: within the margin, and O/E leaves out a factor of two.

    Where events are rarer than the margin, points alone would settle what nobody knows.
    """
    return is_within_points(risk, margin) and is_within_factor(risk)


def is_within_points(risk: RiskResult, margin: float) -> bool:
    """Whether the mean predicted probability lies within the margin of the share of events, with confidence."""
    low, high = risk.overstatement_interval
    return low >= -margin and high <= margin


def is_within_factor(risk: RiskResult) -> bool:
    """Whether the interval of O/E leaves out a factor of two, either way."""
    least, most = risk.oe_interval
    return least > 1 / STRONG_FACTOR and most < STRONG_FACTOR


def _is_off_on_average(over: RiskResult, under: RiskResult, level: float) -> bool:
    """Whether the number of events is off: by its exact law given the predictions, or by the interval of O/E.

    The interval allows for any predictions, and is wider where they are near 0 and 1.
    """
    low, high = over.oe_interval
    return not low <= 1 <= high or chance_of_count(over, under) <= level / 2


def chance_of_count(over: RiskResult, under: RiskResult) -> float:
    """The chance of so few events, or of so many, given the predictions; 1 where it is not known.

    A p-value of exactly 0 is of an event, or its absence, that had a probability of 0. It is not about their number.
    """
    counted = [one.pvalue for side in (over, under) for one in side.directions if one.name == "errors"]
    return min((p for p in counted if p > 0), default=1.0)


def recalibrate(counts: Counts) -> Recalibration:
    """The logistic recalibration of rows by probability; where none can be fitted, the share of events at each."""
    # a row without weight counts as none
    held = counts.rows > 0
    rows, happened, p = counts.rows[held], counts.right[held], counts.confidence[held]
    inside = (p > 0) & (counts.doubt[held] > 0)
    # of separated outcomes no curve that rises or falls is likelier than the shares, and none moves a 0 or a 1
    fitted = happened / rows
    odds = np.log(p[inside]) - np.log(counts.doubt[held][inside])
    intercept, slope = _line(odds, fitted[inside], rows[inside])
    if math.isfinite(slope):
        fitted[inside] = 1 / (1 + np.exp(-np.clip(intercept + slope * odds, -700, 700)))
    off = rows * (p - fitted) / (float(rows.sum()) or 1.0)
    return Recalibration(intercept, slope, float(np.maximum(off, 0).sum()), float(np.maximum(-off, 0).sum()))


def _line(odds: np.ndarray, share: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    if not share.any() or (share >= 1).all() or odds.min() == odds.max():
        return math.nan, math.nan
    weight = rows / rows.sum()
    line = recalibration_line(LogOdds(odds, weight, weight * share, has_certain=False))
    if not isinstance(line, Outcome):
        return line.intercept, line.slope
    # separated, or all but so
    of_events, of_others = (float(np.average(odds, weights=weight * part)) for part in (share, 1 - share))
    return math.nan, math.inf if of_events > of_others else -math.inf


def _is_extreme(over: RiskResult, under: RiskResult, counts: Counts, line: Recalibration) -> bool:
    """Whether predictions are too far from their mean, rather than too near.

    By the slope where it is shown; else by what speaks loudest. Surprises that weigh most where the model is surest
    (an event that it all but excluded, or the reverse) are of predictions that are too extreme. So are too few events
    in a band of predictions higher than their mean, and too many in a lower one.
    """
    shown = [
        (one.pvalue, one.name, side, one)
        for side, result in (("over", over), ("under", under))
        for one in (*result.directions, *result.consistency)
    ]
    if not shown:
        return line.slope < 1
    _, name, side, loudest = min(shown, key=lambda one: one[:3])
    if name == "extremeness":
        return side == "over"
    if name in ("half", "csr", "capped"):
        return True
    left = (counts.doubt > 0) & (counts.confidence > 0)
    doubt, confidence, rows = counts.doubt[left], counts.confidence[left], counts.rows[left]
    centre = mean_log_odds(doubt, confidence, rows)
    bands = bands_of(doubt, confidence, is_event=True)
    if name in bands:
        _, where = np.unique(bands[name], return_inverse=True)
        expected = np.bincount(where, rows * (doubt if side == "over" else confidence))
        worst = where == int(np.argmin(np.abs(expected - loudest.expected)))
        is_higher = mean_log_odds(doubt[worst], confidence[worst], rows[worst]) > centre
        return is_higher == (side == "over")
    if not math.isnan(line.slope):
        return line.slope < 1
    excess = counts.wrong[left] - rows * doubt
    return float((excess * (np.log(confidence) - np.log(doubt) - centre)).sum()) > 0


def _points_of_bins(bins: Sequence[Bin]) -> float:
    """How far off bins of the diagram are, in the mean over all rows: those whose interval leaves out what they say."""
    rows = math.fsum(one.rows for one in bins) or 1.0
    return math.fsum(abs(one.seen - one.stated) for one in bins if one.kind in ("over", "under")) / rows


def _factor(ratio: float) -> float:
    """How far a ratio is from 1, either way."""
    if math.isnan(ratio):
        return 1.0
    return math.inf if ratio <= 0 else max(ratio, 1 / ratio)


def _degree(points: float, factor: float) -> Degree:
    if points >= STRONG_POINTS or factor >= STRONG_FACTOR:
        return "strongly"
    return "clearly" if points >= CLEAR_POINTS or factor >= CLEAR_FACTOR else "slightly"

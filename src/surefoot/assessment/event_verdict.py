"""The verdict on an event: does it happen as often as predicted, and do predictions spread as they should?

Whether there is evidence is decided as for predictions, by the omnibus p-value of either side at half the level: too
few events, or too many, in any range of predictions. The word is decided by the logistic recalibration of these rows,
which says by how much predictions are too high, and where they are too low. On one side only, the model overpredicts
or underpredicts; on both, predictions are too extreme (slope below 1) or too timid (slope above 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot.assessment.verdict import CLEAR_POINTS, STRONG_POINTS, Degree, Judgement, Verdict
from surefoot.core.metric import Outcome
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
    """The line of log-odds that fits the outcomes, and how far predictions lie above it and below, in the mean."""

    intercept: float
    slope: float
    above: float
    below: float


def judge_event(
    over: RiskResult,
    under: RiskResult,
    counts: Counts,
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
        return Judgement(word, _degree(abs(over.overstatement), max(_factor(over.oe_ratio), _factor(others))))
    is_extreme = _is_extreme(over, under, counts, line)
    return Judgement(
        "too extreme" if is_extreme else "too timid", _degree(line.above + line.below, _factor(line.slope))
    )


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
    """The logistic recalibration of rows by probability; where none can be fitted, a shift to the share of events."""
    # a row without weight counts as none
    kept = (counts.doubt > 0) & (counts.confidence > 0) & (counts.rows > 0)
    rows, happened, p = counts.rows[kept], counts.right[kept], counts.confidence[kept]
    odds = np.log(p) - np.log(counts.doubt[kept])
    share = happened / rows if len(rows) else rows
    intercept, slope = _line(odds, share, rows)
    if math.isnan(slope):
        # all events, no events, or separated by the predictions: all that is known is how many there are
        off = float((rows * (p - share)).sum()) / (float(rows.sum()) or 1.0)
        return Recalibration(intercept, slope, max(off, 0.0), max(-off, 0.0))
    fitted = 1 / (1 + np.exp(-np.clip(intercept + slope * odds, -700, 700)))
    off = rows * (p - fitted) / rows.sum()
    return Recalibration(intercept, slope, float(np.maximum(off, 0).sum()), float(np.maximum(-off, 0).sum()))


def _line(odds: np.ndarray, share: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    nothing = math.nan, math.nan
    if not share.any() or (share >= 1).all():
        return nothing
    weight = rows / rows.sum()
    line = recalibration_line(LogOdds(odds, weight, weight * share, has_certain=False))
    return nothing if isinstance(line, Outcome) else (line.intercept, line.slope)


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


def _factor(ratio: float) -> float:
    """How far a ratio is from 1, either way."""
    if math.isnan(ratio):
        return 1.0
    return math.inf if ratio <= 0 else max(ratio, 1 / ratio)


def _degree(points: float, factor: float) -> Degree:
    if points >= STRONG_POINTS or factor >= STRONG_FACTOR:
        return "strongly"
    return "clearly" if points >= CLEAR_POINTS or factor >= CLEAR_FACTOR else "slightly"

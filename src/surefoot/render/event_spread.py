"""The sentences on the spread of predictions: too extreme, too close to each other, or the wrong way round."""

from __future__ import annotations

import math

import numpy as np

from surefoot._stats.quantiles import quantile
from surefoot.assessment.event_verdict import Recalibration, recalibrate
from surefoot.assessment.result import Assessment
from surefoot.figures.labels import significant
from surefoot.render.numbers import ratio, ratio_interval
from surefoot.risk.law.counts import Counts

#: The share of the error on one side of the line below which it is not worth a word.
_MINOR = 0.1


def recalibration(a: Assessment) -> Recalibration | None:
    """The line that fits the outcomes; None where rows weigh differently."""
    return None if a.counts is None or a.risk.is_weighted else recalibrate(a.counts)


def slope_of(a: Assessment) -> tuple[float, float, float]:
    """The calibration slope and its 95% limits; of a tally approximately; nan where it cannot be fitted."""
    nothing = math.nan, math.nan, math.nan
    if "calibration_slope" in a.metrics:
        interval = a.intervals.get("calibration_slope")
        value = a.metrics["calibration_slope"]
        if interval is not None and not interval.is_absent:
            return value, interval.low, interval.high
        if not math.isnan(value):
            return value, math.nan, math.nan
        # a probability of 0 or 1 was contradicted: the line of the other rows says nothing of that
        return nothing
    line = recalibration(a)
    if line is None or a.counts is None or not math.isfinite(line.slope) or _contradicts(a.counts):
        return nothing
    reach = quantile(0.95) * math.sqrt(max(1.0, a.risk.design_effect)) * _slope_error(a.counts, line)
    return line.slope, line.slope - reach, line.slope + reach


def _contradicts(counts: Counts) -> bool:
    return bool(counts.wrong[counts.doubt == 0].any() or counts.right[counts.confidence == 0].any())


def _slope_error(counts: Counts, line: Recalibration) -> float:
    """The standard error of the slope, from the information of the logistic recalibration."""
    kept = (counts.doubt > 0) & (counts.confidence > 0)
    odds = np.log(counts.confidence[kept]) - np.log(counts.doubt[kept])
    fitted = 1 / (1 + np.exp(-np.clip(line.intercept + line.slope * odds, -700, 700)))
    weight = counts.rows[kept] * fitted * (1 - fitted)
    total = float(weight.sum())
    if not total:
        return math.inf
    centre = float((weight * odds).sum()) / total
    spread = float((weight * (odds - centre) ** 2).sum())
    return 1 / math.sqrt(spread) if spread > 0 else math.inf


def slope_words(a: Assessment) -> str:
    """The calibration slope with its interval; empty where it cannot be fitted."""
    value, low, high = slope_of(a)
    if math.isnan(value):
        return ""
    if "calibration_slope" not in a.metrics:
        return f"calibration slope about {significant(value, 2)}"
    reach = "" if math.isnan(low) else f", 95% CI {ratio_interval(low, high)}"
    return f"calibration slope {ratio(value, low, high)}{reach}"


def spread_sentences(a: Assessment) -> list[str]:
    """Whether predictions are too far apart or too close, only where the interval of the slope leaves out 1."""
    words = slope_words(a)
    side = _side(a)
    if not side or a.verdict not in ("overpredicts", "underpredicts", "too extreme", "too timid"):
        return []
    if side in _WRONG_WAY:
        return [f"{_WRONG_WAY[side]} ({words})."]
    if a.verdict in ("overpredicts", "underpredicts"):
        spread = "too extreme" if side == "extreme" else "too close to each other"
        return [f"Beyond that, they are {spread} ({words})."]
    where = spread_words(a)
    return [f"{where} ({words})."] if where else []


#: What slopes at 0 and below mean.
_WRONG_WAY = {
    "reversed": "The ranking is reversed: the higher the prediction, the rarer the event",
    "unrelated": "Higher predictions do not go with more events",
}


def _side(a: Assessment) -> str:
    """What the slope shows: extreme, timid, unrelated or reversed; empty where its interval includes 1."""
    value, low, high = slope_of(a)
    if math.isnan(low) or math.isnan(high) or low <= 1 <= high:
        return ""
    if low > 1:
        return "timid"
    return "reversed" if high < 0 else "unrelated" if value <= 0 else "extreme"


def is_reversed(a: Assessment) -> bool:
    """Whether events are rarer where they are predicted more often: by the slope, or by outcomes without one."""
    line = recalibration(a)
    # the warning says that it is beyond chance
    return _side(a) == "reversed" or (bool(a.warnings) and line is not None and line.slope == -math.inf)


def spread_words(a: Assessment) -> str:
    """At which end predictions are off, where the slope says so; empty otherwise."""
    side = _side(a)
    if side in _WRONG_WAY:
        return _WRONG_WAY[side]
    # what speaks loudest may be a few rows near 0 or 1, which no slope shows
    if (a.verdict, side) not in (("too extreme", "extreme"), ("too timid", "timid")):
        return ""
    return _ends(recalibration(a), is_extreme=side == "extreme")


def _ends(line: Recalibration | None, *, is_extreme: bool) -> str:
    """At which end predictions are off: at both, unless nearly all of it is at one."""
    low, high = ("too low", "too high") if is_extreme else ("too high", "too low")
    if line is not None:
        above, below = line.above, line.below
        at_high, at_low = (above, below) if is_extreme else (below, above)
        if at_low < _MINOR * (above + below):
            return f"High risks are {high}"
        if at_high < _MINOR * (above + below):
            return f"Low risks are {low}"
    return f"Low risks are {low} and high risks {high}"

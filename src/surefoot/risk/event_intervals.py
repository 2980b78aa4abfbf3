r"""Intervals for the numbers of an event: O/E, calibration in the large, slope, intercept, C-statistic and Brier.

The rows are those of an event: ``correct`` is whether it occurred, ``confidence`` its probability.

- O/E: given the probabilities, only the number of events is random. Its limits are those of the share of events, by
  Clopper and Pearson, over the mean probability: exact whatever the chances of single samples are, for a binomial count
  varies at least as much as one of unequal chances. With unequal weights they are normal, with the largest variance
  that any chances could have; with groups, those of Korn and Graubard. A risk test has the same.
- Calibration in the large, slope and intercept: Wald limits, from the information matrix. With unequal weights or
  groups from the sandwich of the residuals, as they say nothing else about how much these vary.
- C-statistic: DeLong's standard error, on the logit scale.
- Brier and scaled Brier: means of influence values, with quantiles of t.

ICI, E50, E90 and Emax have none: they are distances, whose distribution is not known, and to refit the curve to many
resamples takes minutes.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot._stats.logistic import expit
from surefoot._stats.quantiles import quantile
from surefoot.core.metric import Outcome
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.metrics.clinical import OE_RATIO, SCALED_BRIER
from surefoot.metrics.proper import BRIER
from surefoot.metrics.recalibration import (
    RECALIBRATION_TERMS,
    LogOdds,
    log_odds_of,
    recalibration_line,
    shift_of,
)
from surefoot.metrics.terms import CONFIDENCE, ROWS, WEIGHT, WRONG
from surefoot.metrics.weighted import ACCURACY
from surefoot.predictions import ArrayPredictions
from surefoot.risk.effects import (
    OF_EVENTS,
    TERMS,
    Clustered,
    equal_weights,
    limits_of_errors,
    spread_of_errors,
    spread_of_rows,
)
from surefoot.risk.estimates import Estimate, concordance, drop_weightless, value_of
from surefoot.risk.groups import variance_of_mean
from surefoot.risk.intervals import CONSTANT, Interval, absent, interval_of, note_on
from surefoot.risk.law.cells import Codes


def event_intervals(
    predictions: ArrayPredictions, *, level: float = 0.95, groups: Codes | None = None
) -> dict[str, Interval]:
    """The numbers of an event with their intervals, by name; of those that do not exist the note says why."""
    if not predictions.weight.any():
        names = ("oe_ratio", *_LINE, "auc", "brier", "scaled_brier")
        return {name: absent(math.nan, level, "no row has any weight") for name in names}
    predictions, groups = drop_weightless(predictions, groups)
    return {
        "oe_ratio": _oe_interval(predictions, level, groups),
        **_line_intervals(predictions, level, groups),
        "auc": interval_of(concordance(predictions), level, groups),
        **_brier_intervals(predictions, level, groups),
    }


_LINE = ("calibration_in_the_large", "calibration_slope", "calibration_intercept")


def oe_interval_of(tally: Tally, clustered: Clustered | None = None, *, level: float = 0.95) -> Interval:
    """Observed over expected events with its interval, from sums: the limits of a risk test, at any level."""
    weight = tally[WEIGHT]
    if not weight:
        return absent(math.nan, level, "no row has any weight")
    value, expected = float(OE_RATIO.evaluate(tally).value), tally[CONFIDENCE] / weight
    if not expected:
        return absent(value, level, "no event was expected")
    low, high = limits_of_errors(tally, clustered, level)
    least, most = (max(0.0, 1 - end) / expected for end in (high, low))
    return Interval(value, least, most, _error_of_share(tally, clustered) / expected, level)


def _error_of_share(tally: Tally, clustered: Clustered | None) -> float:
    """The standard error of the share of events; of unequal weights, the largest that it may have."""
    if clustered is not None:
        return math.sqrt(clustered.variance)
    if not equal_weights(tally):
        return spread_of_errors(tally) / tally[WEIGHT]
    share = min(1.0, tally[WRONG] / tally[WEIGHT])
    return math.sqrt(share * (1 - share) / max(1.0, tally[ROWS] - 1))


def _oe_interval(predictions: ArrayPredictions, level: float, groups: Codes | None) -> Interval:
    tally = predictions.tally((*TERMS, *OF_EVENTS))
    is_known = groups is None and predictions.has_equal_weights
    return oe_interval_of(tally, None if is_known else spread_of_rows(predictions, groups), level=level)


def _line_intervals(predictions: ArrayPredictions, level: float, groups: Codes | None) -> dict[str, Interval]:
    at = log_odds_of(predictions.tally(RECALIBRATION_TERMS))
    if isinstance(at, Outcome):
        return {name: absent(math.nan, level, at.note) for name in _LINE}
    with np.errstate(divide="ignore"):
        x = np.log(predictions.confidence) - np.log(predictions.doubt)
    # rows of a probability of 0 or 1 came out as they said, and have no influence
    inside = np.isfinite(x)
    x = np.where(inside, x, 0.0)
    rows = _Rows(predictions, x, inside, groups, level)
    shift = shift_of(at)
    found = dict(zip(_LINE[:1], rows.wald(np.ones((1, len(x))), [shift], shift + x), strict=True))
    return {**found, **_slope_intervals(rows, at)}


def _slope_intervals(rows: _Rows, at: LogOdds) -> dict[str, Interval]:
    line = recalibration_line(at)
    if isinstance(line, Outcome):
        return {name: absent(math.nan, rows.level, line.note) for name in _LINE[1:]}
    features = np.stack([rows.log_odds, np.ones(len(rows.log_odds))])
    fitted = line.intercept + line.slope * rows.log_odds
    return dict(zip(_LINE[1:], rows.wald(features, [line.slope, line.intercept], fitted), strict=True))


class _Rows:
    """The rows of a logistic regression, and how uncertain its coefficients are."""

    def __init__(
        self, predictions: ArrayPredictions, log_odds: Floats, inside: Floats, groups: Codes | None, level: float
    ) -> None:
        self.log_odds, self.groups, self.level = log_odds, groups, level
        self.is_plain = predictions.has_equal_weights and groups is None
        weight = predictions.weight / float(predictions.weight.mean())
        self.row_weight, self.weight = weight, np.where(inside, weight, 0.0)
        self.events = np.asarray(predictions.correct, dtype=np.float64)
        count = float(self.events.sum())
        self.note = note_on(min(count, len(weight) - count), "samples of the rarer outcome", groups)

    def wald(self, features: Floats, coefficients: list[float], log_odds: Floats) -> list[Interval]:
        """The intervals of coefficients of features, given the fitted log-odds."""
        chance = expit(log_odds)
        information = np.einsum("in,jn,n->ij", features, features, self.weight * chance * (1 - chance))
        try:
            covariance = np.linalg.inv(information)
        except np.linalg.LinAlgError:
            covariance = np.full_like(information, math.nan)
        influence = covariance @ features * (self.weight * (self.events - chance)) * len(chance)
        return [
            self._interval(value, float(variance), one)
            for value, variance, one in zip(coefficients, np.diag(covariance), influence, strict=True)
        ]

    def _interval(self, value: float, variance: float, influence: Floats) -> Interval:
        freedom = math.inf
        if not self.is_plain:
            variance, freedom = variance_of_mean(influence, self.groups, self.row_weight)
        if not (math.isfinite(variance) and variance > 0):
            return absent(value, self.level, "the samples say too little about its variance")
        error = math.sqrt(variance)
        reach = quantile(self.level, freedom) * error
        return Interval(value, value - reach, value + reach, error, self.level, self.note)


def _brier_intervals(predictions: ArrayPredictions, level: float, groups: Codes | None) -> dict[str, Interval]:
    weight = predictions.weight / float(predictions.weight.mean())
    events = np.asarray(predictions.correct, dtype=np.float64)
    # of an event the gap is the doubt, which is more precise near 1
    squares = np.where(events > 0, predictions.doubt, predictions.confidence) ** 2
    brier, scaled = value_of(BRIER, predictions), value_of(SCALED_BRIER, predictions)
    rare = float(min(events.sum(), len(events) - events.sum()))
    rows = float(weight.sum()) ** 2 / float((weight**2).sum())

    def interval(value: float, influence: Floats, low: float) -> Interval:
        found = interval_of(Estimate(value, weight * influence, rows, rare, weight=weight), level, groups)
        if found.standard_error <= 1e-12:
            return absent(value, level, CONSTANT)
        return Interval(value, max(low, found.low), min(1.0, found.high), found.standard_error, level, found.note)

    found = {"brier": interval(brier, squares - brier, 0.0)}
    share = value_of(ACCURACY, predictions)
    uninformed = share * (1 - share)
    if math.isnan(scaled):
        found["scaled_brier"] = absent(scaled, level, "all outcomes are the same")
        return found
    # the ratio moves with the score, and with the score of the uninformed model
    moves = brier * (1 - 2 * share) * (events - share) / uninformed - (squares - brier)
    found["scaled_brier"] = interval(scaled, moves / uninformed, -math.inf)
    return found

r"""A score taken apart, with intervals for the parts.

The score of the best rising fit is a minimum, so to first order it varies from sample to sample as the score of the
true recalibration does: its influence values are the scores of the fit at each row (the envelope theorem). But the fit
is made on the same rows, so miscalibration and discrimination are too large on average, by about :math:`N^{-2/3}`; for
a calibrated model that is more than the standard error. Fits made on other rows err the other way, as no fit scores
better on new rows, on average, than the true recalibration. So the upper limit comes from the fit on all rows, and the
lower one from rows scored by a fit on the other four fifths: both are on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from surefoot._io.arguments import check_share
from surefoot._stats.binomial import limits
from surefoot._stats.quantiles import quantile
from surefoot.core.keys import DOUBT_CELL, EACH_ROW
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.errors import MetricUnavailable
from surefoot.metrics.confidence_order import CORRECT_WEIGHT_BY_DOUBT, ORDER, WRONG_WEIGHT_BY_DOUBT, rising
from surefoot.metrics.decomposition import INFINITE, RULES, Parts, Score, check_score, parts_of, terms_of
from surefoot.metrics.terms import CONFIDENCE_BY_DOUBT, DOUBT_BY_DOUBT, ROWS, SQUARED_WEIGHT, WEIGHT
from surefoot.predictions import Predictions, as_predictions
from surefoot.predictions.arguments import Columns, named_columns, refuse_beside, takes_predictions
from surefoot.risk.effects import equal_weights
from surefoot.risk.intervals import ENOUGH, Interval
from surefoot.risk.law.counts import mean_values

PARTS = ("miscalibration", "discrimination", "uncertainty", "score")
#: Parts of the rows that are scored by a fit on the others.
_FOLDS = 5
_BY_VALUE = (*ORDER, DOUBT_BY_DOUBT, CONFIDENCE_BY_DOUBT)
_ROW = (
    Term("doubt of each row", lambda row: row.doubt, EACH_ROW),
    Term("confidence of each row", lambda row: row.confidence, EACH_ROW),
    Term("correctness of each row", lambda row: row.correct, EACH_ROW),
    Term("weight of each row", lambda row: row.weight, EACH_ROW),
)


@dataclass(frozen=True)
class Decomposition:
    """The parts of a score: ``score = miscalibration - discrimination + uncertainty``.

    Attributes
    ----------
    miscalibration : float
        What the best rising recalibration would remove from the score; lower is better.
    discrimination : float
        What recalibrated confidences gain over the base rate; higher is better.
    uncertainty : float
        The score of the base rate alone.
    score : float
        The score itself.
    rule : {"brier", "log_loss"}
        Which score was taken apart.
    n : int
        The number of samples.
    bound : float
        How far miscalibration and discrimination may lie above what is stated, because a tally holds confidences in
        cells; 0 from rows.
    intervals : mapping of str to Interval
        The confidence interval of each of the four numbers, by its name.
    note : str
        Why a number is infinite; empty otherwise.

    Examples
    --------
    >>> import surefoot as sf
    >>> parts = sf.score_decomposition(correct=[True, False, True, True], confidence=[0.75, 0.75, 1.0, 1.0])
    >>> parts.miscalibration - parts.discrimination + parts.uncertainty == parts.score
    True
    """

    miscalibration: float
    discrimination: float
    uncertainty: float
    score: float
    rule: Score
    n: int
    bound: float
    intervals: Mapping[str, Interval]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return every field as plain data.

        Returns
        -------
        dict
            Numbers and strings by the name of the field, ready for JSON but for nan and infinities.
        """
        return asdict(self)


@takes_predictions
def score_decomposition(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    score: Score = "brier",
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> Decomposition:
    r"""Take a score apart into miscalibration, discrimination and uncertainty.

    Is a score poor because the confidences are off, or because they do not tell right from wrong? Miscalibration is
    what the best rising recalibration of these samples would remove, discrimination what the recalibrated confidences
    gain over the base rate, uncertainty the score of the base rate alone:
    ``score = miscalibration - discrimination + uncertainty``.

    Parameters
    ----------
    x : Predictions, Tally, dataframe, or array-like of shape (n,)
        What to measure: :class:`Predictions`; a :class:`Tally`; a dataframe, whose columns are then named by the
        arguments below; or the true labels.
    score : {"brier", "log_loss"}, default="brier"
        The score to take apart.
    level : float, default=0.95
        The confidence level of the intervals.

    Returns
    -------
    Decomposition
        ``miscalibration``, ``discrimination``, ``uncertainty``, ``score``, and ``intervals`` for each of them.

    Raises
    ------
    ValueError
        If an option is not one of those listed.
    InvalidPredictions
        If the data are not valid predictions.
    MetricUnavailable
        If a tally does not hold what this needs.

    See Also
    --------
    miscalibration, discrimination, uncertainty : one of the parts alone.

    Notes
    -----
    .. math:: \mathrm{MCB} = \bar S(c) - \bar S(g(c)), \quad \mathrm{DSC} = \bar S(\bar y) - \bar S(g(c)), \quad
              \mathrm{UNC} = \bar S(\bar y)

    where g is the isotonic fit of correctness on confidence (CORP), samples of equal confidence averaged first. If the
    log loss is infinite, so is the miscalibration, and ``note`` says so.

    With ``of="event"`` the outcome is the event and c its probability. With ``of="classes"`` all numbers are means over
    the classes, each against the rest; times the number of classes, those of the Brier score add up to the Brier score
    over all classes. Their limits are averaged too, which is on the safe side.

    From rows the parts are exact. A tally, and a lazy frame, hold confidences in cells at most 1.6% wide when there are
    more than 4096 values. Score and uncertainty stay exact; miscalibration and discrimination are at most ``bound``
    larger than stated.

    Intervals are asymptotic: of the influence values of each part, with the lower limits of miscalibration and
    discrimination from rows scored by a fit on other rows (with a fixed seed), because a fit flatters the rows that it
    was made on. They are wide rather than narrow, but approximate with fewer than 15 samples of the rarer outcome. The
    interval of uncertainty is that of Clopper and Pearson. A tally of unequal weights gives none.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 118 (2021).

    Examples
    --------
    >>> parts = score_decomposition(correct=[True, False, True, True], confidence=[0.75, 0.75, 1.0, 1.0])
    >>> parts.miscalibration, parts.discrimination, parts.uncertainty, parts.score
    (0.03125, 0.0625, 0.1875, 0.15625)
    """
    rule = check_score(score)
    check_share("level", level, "0.95")
    terms = (*terms_of(rule), ROWS, SQUARED_WEIGHT)
    if isinstance(x, Tally):
        refuse_beside("score_decomposition(tally)", second, third, named_columns(columns, "score_decomposition"))
        tally, predictions = x, None
        absent = next((term for term in terms if not tally.has(term)), None)
        if absent is not None:
            raise MetricUnavailable(
                f"score_decomposition needs the total {absent.name!r}, which this tally does not hold; make it with "
                "surefoot.tally(predictions), without metrics=."
            )
    else:
        predictions = as_predictions(x, second, third, columns, function="score_decomposition")
        tally = predictions.tally((*terms, *_BY_VALUE), exact=True)
    if tally.view != "classes":
        return _above_zero(_decompose(tally, predictions, rule, level))
    of_classes = [
        _decompose(part, None if predictions is None else predictions.event(label), rule, level)
        for label, part in (tally.events or {}).items()
    ]
    return _above_zero(_mean(of_classes))


def _above_zero(found: Decomposition) -> Decomposition:
    """No part is negative, so no limit needs to be; and no limit lies on the other side of its estimate."""
    limited = {
        name: replace(one, low=max(0.0, min(one.low, one.value)) if not one.is_absent else one.low)
        for name, one in found.intervals.items()
    }
    return replace(found, intervals=limited)


def _decompose(tally: Tally, predictions: Predictions | None, rule: Score, level: float) -> Decomposition:
    """The parts of one outcome against its probability; limits may lie below 0."""
    parts = parts_of(tally, rule)
    assert parts is not None  # rows without any weight are refused before
    return Decomposition(
        parts.miscalibration,
        parts.discrimination,
        parts.uncertainty,
        parts.given,
        rule,
        round(tally[ROWS]),
        parts.bound,
        _intervals(tally, predictions, rule, parts, level),
        INFINITE if math.isinf(parts.given) else "",
    )


def _mean(found: list[Decomposition]) -> Decomposition:
    """The mean over classes.

    Classes share their rows, so their errors depend on each other; the standard error of a mean is at most the mean of
    the standard errors, and so limits are averaged.
    """

    def mean(name: str) -> float:
        return float(sum(getattr(one, name) for one in found) / len(found))

    def interval(name: str) -> Interval:
        of_classes = [part.intervals[name] for part in found]
        low, high, error = np.mean([[one.low, one.high, one.standard_error] for one in of_classes], axis=0).tolist()
        note = next((one.note for one in of_classes if one.note), "")
        return Interval(mean(name), low, high, error, of_classes[0].level, note)

    return replace(
        found[0],
        miscalibration=mean("miscalibration"),
        discrimination=mean("discrimination"),
        uncertainty=mean("uncertainty"),
        score=mean("score"),
        bound=mean("bound"),
        intervals={name: interval(name) for name in PARTS},
        note=next((part.note for part in found if part.note), ""),
    )


@dataclass(frozen=True)
class _Items:
    """Rows of one outcome and one confidence: their place in its order, how many there are, and what each weighs."""

    place: npt.NDArray[np.intp]
    correct: npt.NDArray[np.bool_]
    rows: npt.NDArray[np.int64]
    weight: Floats
    #: The probability that was given to what happened.
    stated: Floats

    def where(self, kept: npt.NDArray[np.bool_]) -> _Items:
        return _Items(self.place[kept], self.correct[kept], self.rows[kept], self.weight[kept], self.stated[kept])


def _items(tally: Tally, predictions: Predictions | None) -> _Items | str:
    """The rows, or why there are none."""
    if equal_weights(tally):
        return _items_of_table(tally)
    if predictions is None or not predictions.has_rows:
        return "with unequal weights the interval needs the rows, which are not at hand"
    table = predictions.tally(_ROW).table(EACH_ROW)
    doubt, confidence, right, weight = (table.totals[term.name].value for term in _ROW)
    # by doubt, which is exact near 1, and then by confidence, which is exact near 0
    order = np.lexsort((confidence, -doubt))
    steps = (np.diff(doubt[order]) != 0) | (np.diff(confidence[order]) != 0)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.cumsum(np.append(False, steps))
    correct = right > 0
    rows = np.ones(len(order), dtype=np.int64)
    return _Items(place, correct, rows, weight, np.where(correct, confidence, doubt)).where(weight > 0)


def _items_of_table(tally: Tally) -> _Items | str:
    table = tally.table(DOUBT_CELL)
    if any(not table.holds(term.name) for term in _BY_VALUE):
        return "the tally does not hold the mean confidence of each cell; make it without metrics="
    unit = tally[WEIGHT] / tally[ROWS]
    order = rising(table)
    doubt, confidence = (values[order] for values in mean_values(table))
    wrong, right = (
        np.rint(table.totals[term.name].value[order] / unit).astype(np.int64)
        for term in (WRONG_WEIGHT_BY_DOUBT, CORRECT_WEIGHT_BY_DOUBT)
    )
    place, correct = np.tile(np.arange(len(order)), 2), np.repeat([False, True], len(order))
    rows = np.append(wrong, right)
    return _Items(place, correct, rows, np.ones(len(rows)), np.append(doubt, confidence)).where(rows > 0)


def _scores(rule: Score, stated: Floats) -> Floats:
    """The score of a row, given the probability of what happened."""
    with np.errstate(divide="ignore"):
        return (1 - stated) ** 2 if rule == "brier" else -np.log(stated)


class _Fit(NamedTuple):
    """A rising fit, as steps: the first place of each, and the probability of being correct there."""

    starts: npt.NDArray[np.intp]
    share: Floats
    #: The base rate, as if one more row had been half correct: never 0 or 1.
    base: float

    @staticmethod
    def of(items: _Items, rows: npt.NDArray[np.int64]) -> _Fit | None:
        """The fit of some of the rows; None if there are none."""
        from scipy.optimize import isotonic_regression

        if not rows.any():
            return None
        weight = rows * items.weight
        both, right = np.bincount(items.place, weight), np.bincount(items.place, weight * items.correct)
        places = np.flatnonzero(both)
        both, right = both[places], right[places]
        blocks = isotonic_regression(right / both, weights=both).blocks[:-1]
        share = np.add.reduceat(right, blocks) / np.add.reduceat(both, blocks)
        one = weight.sum() / rows.sum()
        return _Fit(places[blocks], share, float((right.sum() + one / 2) / (both.sum() + one)))

    def stated(self, items: _Items, caution: float) -> Floats:
        """The probability of what happened to each row, drawn a little toward the base rate."""
        step = np.maximum(np.searchsorted(self.starts, items.place, side="right") - 1, 0)
        share = (1 - caution) * self.share[step] + caution * self.base
        return np.where(items.correct, share, 1 - share)


class _Mean(NamedTuple):
    """A weighted mean over rows, and its standard error."""

    value: float
    error: float

    @staticmethod
    def of(values: Floats, count: Floats, weight: Floats) -> _Mean:
        """Of a value for each item and fold, and how many rows have it."""
        total = (count * weight).sum()
        held = count > 0
        values, count, weight = values[held], count[held], weight[held]
        mean = float((count * weight * values).sum() / total)
        if not math.isfinite(mean):
            return _Mean(mean, math.nan)
        return _Mean(mean, float(np.sqrt((count * weight**2 * (values - mean) ** 2).sum()) / total))


def _intervals(
    tally: Tally, predictions: Predictions | None, rule: Score, parts: Parts, level: float
) -> dict[str, Interval]:
    numbers = (parts.miscalibration, parts.discrimination, parts.uncertainty, parts.given)
    values = dict(zip(PARTS, numbers, strict=True))
    items = _items(tally, predictions)
    if isinstance(items, str):
        return {name: Interval(value, math.nan, math.nan, math.nan, level, items) for name, value in values.items()}
    reach = quantile(level)
    given = _scores(rule, items.stated)
    base = float((items.rows * items.weight * items.correct).sum() / (items.rows * items.weight).sum())
    at_base = _scores(rule, np.where(items.correct, base, 1 - base))
    whole = _Fit.of(items, items.rows)
    assert whole is not None
    fitted = _scores(rule, whole.stated(items, 0.0))
    outside = _scored_by_others(items, rule)
    rows = items.rows.astype(np.float64)
    rarer = min(rows[items.correct].sum(), rows[~items.correct].sum())
    note = (
        "" if rarer >= ENOUGH else f"approximate: only {rarer:.0f} of the {rows.sum():.0f} rows had the rarer outcome"
    )
    mean = _Mean.of(given, rows, items.weight)
    found = {}
    # of a cell, the score of its mean confidence is not quite the mean of the scores
    off = {"miscalibration": parts.given - mean.value, "discrimination": 0.0}
    for name, own in (("miscalibration", given), ("discrimination", at_base)):
        above = _Mean.of(own - fitted, rows, items.weight)
        below = above if outside is None else _Mean.of(*_flat(own, outside, items))
        low, high = below.value + off[name] - reach * below.error, values[name] + parts.bound + reach * above.error
        found[name] = Interval(values[name], low, high, above.error, level, note)
    # a share of the rows, and of unequal weights of as many as would leave it as uncertain
    n = (items.rows * items.weight).sum() ** 2 / (items.rows * items.weight**2).sum()
    ends = [float(end) for end in limits(base * n, n, level)]
    at_ends = [float(RULES[rule].at_share(1 - end, end)) for end in (*ends, base)]
    top = RULES[rule].most if ends[0] <= 0.5 <= ends[1] else max(at_ends)
    error = _Mean.of(at_base, rows, items.weight).error
    found["uncertainty"] = Interval(values["uncertainty"], min(at_ends), top, error, level)
    reached = reach * mean.error
    found["score"] = Interval(parts.given, parts.given - reached, parts.given + reached, mean.error, level, note)
    return {
        name: one if math.isfinite(one.value) else Interval(one.value, math.nan, math.nan, math.nan, level, INFINITE)
        for name, one in ((name, found[name]) for name in values)
    }


def _scored_by_others(items: _Items, rule: Score) -> tuple[npt.NDArray[np.int64], Floats] | None:
    """How many rows of each item are in each fold, and how they score by a fit on the other folds; None of one row."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(items.rows, np.full(_FOLDS, 1 / _FOLDS)).T
    scores = np.zeros(counts.shape)
    # no fit is certain on rows that it has not seen: as if one more row had the base rate
    caution = 1 / (1 + float(items.rows.sum()))
    for own, scored in zip(counts, scores, strict=True):
        fit = _Fit.of(items, items.rows - own)
        if fit is None:
            return None
        scored[:] = _scores(rule, fit.stated(items, caution))
    return counts, scores


def _flat(own: Floats, outside: tuple[npt.NDArray[np.int64], Floats], items: _Items) -> tuple[Floats, Floats, Floats]:
    counts, scores = outside
    return (
        (own - scores).ravel(),
        counts.ravel().astype(np.float64),
        np.broadcast_to(items.weight, counts.shape).ravel(),
    )

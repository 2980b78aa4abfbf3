"""Whether what was expected of rows came true, once their labels are known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy.special import logit, stdtr

from surefoot._io.documents import strict
from surefoot._io.presentation import present
from surefoot._io.printable import printable
from surefoot.core.frames import Backend, build_frame
from surefoot.decisions.forecast import COUNTS, OF_CLASSES, SHARES, observed
from surefoot.decisions.limits import bounds, fewest_of, pvalue_of
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions
from surefoot.risk.estimates import drop_weightless
from surefoot.risk.intervals import Interval

if TYPE_CHECKING:
    from surefoot.decisions.expected import Expected

#: How far mean confidences of the same rows may be apart, by rounding; and shares of a class, by ties that it settles.
_ROUNDING, _CLOSE_CALLS = 0.005, 0.02
#: How often a random part of the rows may be refused.
_CHANCE = 1e-5


@dataclass(frozen=True)
class KeptMetric:
    """A metric that was expected, and what it turned out to be.

    Attributes
    ----------
    name : str
        The name of the metric.
    expected : Interval
        The expected value and its prediction interval, for as many rows as have labels.
    observed : float
        The value with the labels.
    is_inside : bool
        Whether the observed value is inside the interval.
    pvalue : float
        The chance of a value at least as far from the expected one.
    pvalue_adjusted : float
        The same, adjusted for the number of metrics (Bonferroni).
    """

    name: str
    expected: Interval
    observed: float
    is_inside: bool
    pvalue: float
    pvalue_adjusted: float


@dataclass(frozen=True, repr=False)
class Kept:
    """What was expected beside what was observed; returned by :meth:`Expected.compare`.

    Attributes
    ----------
    metrics : tuple of KeptMetric
        Metric by metric, in the order in which they are shown.
    held : bool
        Whether chance explains all differences, with all metrics taken together, at the significance level.
    pvalue : float
        The chance of differences like these, of all metrics together (Cauchy combination, which allows for metrics that
        move together).
    sentence : str
        The same in words.
    rows : int
        Number of rows with labels.
    expected_rows : int
        Number of rows that the expectation was for.
    level : float
        The significance level.
    not_attempted : int
        How many more rows have come with labels and were not attempted: they are neither right nor wrong.
    """

    metrics: tuple[KeptMetric, ...]
    held: bool
    pvalue: float
    sentence: str
    rows: int
    expected_rows: int
    level: float
    not_attempted: int = 0

    def __getitem__(self, name: str) -> KeptMetric:
        """Return one metric.

        Parameters
        ----------
        name : str
            The name of the metric.

        Returns
        -------
        KeptMetric
            Its expected and its observed value.
        """
        for one in self.metrics:
            if one.name == name:
                return one
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"Kept({self.sentence})"

    def __str__(self) -> str:
        return str(present("expectation", "render_kept", self))

    def _repr_html_(self) -> str:
        return str(present("expectation", "kept_card", self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON.

        Returns
        -------
        dict
            Dictionaries, lists, numbers and strings.
        """
        metrics = {
            one.name: strict(
                {
                    "expected": one.expected.value,
                    "low": one.expected.low,
                    "high": one.expected.high,
                    "observed": one.observed,
                    "is_inside": one.is_inside,
                    "pvalue": one.pvalue,
                    "pvalue_adjusted": one.pvalue_adjusted,
                }
            )
            for one in self.metrics
        }
        facts = {"held": self.held, "pvalue": self.pvalue, "sentence": self.sentence, "level": self.level}
        rows = {"rows": self.rows, "expected_rows": self.expected_rows, "not_attempted": self.not_attempted}
        return {**facts, **rows, "metrics": metrics}

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a dataframe with a row for each metric.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The package of the dataframe; by default the first of these that is installed.

        Returns
        -------
        dataframe
            Columns ``metric``, ``expected``, ``low``, ``high``, ``observed``, ``is_inside`` and ``pvalue_adjusted``.
        """
        return build_frame(
            {
                "metric": [one.name for one in self.metrics],
                "expected": [one.expected.value for one in self.metrics],
                "low": [one.expected.low for one in self.metrics],
                "high": [one.expected.high for one in self.metrics],
                "observed": [one.observed for one in self.metrics],
                "is_inside": [one.is_inside for one in self.metrics],
                "pvalue_adjusted": [one.pvalue_adjusted for one in self.metrics],
            },
            backend,
        )


def check_kept(expected: Expected, labelled: ArrayPredictions) -> Kept:
    """Each metric beside its expectation, and whether all of them are as chance would have it."""
    if not labelled.has_equal_weights:
        raise InvalidPredictions("has unequal weights, and each row counts once", hint="leave out the weights")
    skipped = labelled.not_attempted
    labelled, _ = drop_weightless(labelled, None)
    if len(labelled) > expected.rows:
        raise InvalidPredictions(
            f"there are {len(labelled):,} labelled rows, and expectations were for {expected.rows:,}",
            hint="give the rows that were given to expect",
        )
    if expected.labels is not None and labelled.labels is not None:
        foreign = next((label for label in labelled.labels if label not in expected.labels), None)
        if foreign is not None:
            raise InvalidPredictions(f"there is a label {foreign!r}, which is none of the classes of the reference")
        if not labelled.has_probabilities:
            # the labels that occur may be fewer
            labelled = replace(labelled, _labels=expected.labels)
    _check_same_rows(expected, labelled, skipped)
    names = [name for name in expected if name not in COUNTS]
    seen = observed(labelled, expected._cost, names)
    names = [name for name in names if not math.isnan(seen[name]) and not expected[name].is_absent]
    metrics = tuple(_kept(expected, name, seen[name], labelled, len(names)) for name in names)
    # what cannot vary and did not says nothing
    pvalue = _combine([one.pvalue for one in metrics if one.expected.standard_error or one.pvalue < 1])
    # an interval may be wider than its p-value knows, up to where there is no error at all
    held = pvalue > expected.level or all(one.is_inside for one in metrics)
    sentence = _sentence(metrics, held, pvalue, expected, len(labelled))
    rows = len(labelled), expected.rows
    return Kept(metrics, held, pvalue, sentence, *rows, expected.level, skipped)


def _check_same_rows(expected: Expected, labelled: ArrayPredictions, skipped: int) -> None:
    """Raise if confidences or predicted classes are not those of the rows given, or of a random part of them."""
    confidence = labelled.confidence_of(slice(None))
    now, then = float(confidence.mean()), expected.shift.confidence_now
    if abs(now - then) > _ROUNDING + _reach(expected._spread**2, len(labelled), expected.rows):
        _refuse_others(f"have a mean confidence of {now:.1%}, and those given to expect {then:.1%}", skipped)
    if expected.confusion is None or labelled.labels is None:
        return
    counts = np.bincount(labelled.codes("predicted"), minlength=len(labelled.labels)).tolist()
    predicted = dict(zip(labelled.labels, counts, strict=True))
    shares = expected.confusion.matrix.sum(axis=0) / expected.rows
    for label, then in zip(expected.confusion.labels, shares.tolist(), strict=True):
        now = predicted.get(label, 0) / len(labelled)
        if abs(now - then) > _CLOSE_CALLS + _reach(then * (1 - then), len(labelled), expected.rows, len(shares)):
            of_label = f"are predicted to be {printable(label, 40)} in {now:.1%}"
            _refuse_others(f"{of_label} of cases, and those given to expect in {then:.1%}", skipped)


def _reach(variance: float, part: int, rows: int, tests: int = 1) -> float:
    """How far the mean of a random part may be from that of all rows, for numbers from 0 to 1 (Bernstein's bound)."""
    # what a large part has too much of, the small rest lacks
    drawn = min(part, rows - part)
    if not drawn:
        return 0.0
    each = math.log(2 * tests / _CHANCE) / drawn
    return drawn / part * (each / 3 + math.sqrt((each / 3) ** 2 + 2 * max(0.0, variance) * each))


def _refuse_others(difference: str, skipped: int) -> NoReturn:
    hint = "if they were chosen, but not by their labels, give just these to expect first"
    if skipped:
        hint = "rows that were not attempted are left out here; leave them out of those given to expect, too"
    raise InvalidPredictions(
        f"the labelled rows {difference}: they are other rows, or no random part of them", hint=hint
    )


def _kept(expected: Expected, name: str, seen: float, labelled: ArrayPredictions, count: int) -> KeptMetric:
    interval, share = expected[name], len(labelled) / expected.rows
    freedom = fewest_of(expected._telling, of_classes=name in OF_CLASSES)
    error, chance = interval.standard_error, expected._chance[name]
    # fewer labels vary more
    variances, sure = (chance / share, max(0.0, error**2 - chance)), (interval.level, freedom)
    if share < 1:
        error = math.sqrt(sum(variances))
        low, high = bounds(name, interval.value, variances, sure, labelled)
        interval = Interval(interval.value, low, high, error, interval.level, interval.note)
    # what cannot vary is as expected, or it is not
    pvalue = (
        pvalue_of(name, interval.value, seen, variances, sure, labelled) if error else float(seen == interval.value)
    )
    if pvalue is None:
        pvalue = 2 * float(stdtr(freedom, -_distance(name, interval.value, seen) / error))
    inside = interval.low <= seen <= interval.high
    if not inside and name in SHARES and seen in (0.0, 1.0) and pvalue > expected.level:
        # limits found on the scale of log-odds never reach the ends
        interval, inside = replace(interval, low=min(interval.low, seen), high=max(interval.high, seen)), True
    return KeptMetric(name, interval, seen, inside, pvalue, min(1.0, count * pvalue))


def _combine(pvalues: list[float]) -> float:
    """One p-value of several that depend on each other, by Liu and Xie's (2020) Cauchy combination."""
    if not pvalues:
        return 1.0
    # a p-value of 1 would outweigh all others
    tangents = [math.tan((0.5 - min(max(p, 1e-15), 0.999)) * math.pi) for p in pvalues]
    return 0.5 - math.atan(math.fsum(tangents) / len(tangents)) / math.pi


def _distance(name: str, value: float, seen: float) -> float:
    """How far a value is from the expected one, in units of the expected one: on the scale of limits, or as it is.

    The lesser of the two, because the end of a scale may be infinitely far on the other.
    """
    apart = abs(seen - value)
    if name in SHARES and 0 < value < 1 and 0 < seen < 1:
        return min(apart, abs(float(logit(seen) - logit(value))) * value * (1 - value))
    if name not in SHARES and value > 0 and 0 < seen < math.inf:
        return min(apart, abs(math.log(seen / value)) * value)
    return apart


def _sentence(metrics: tuple[KeptMetric, ...], held: bool, pvalue: float, expected: Expected, rows: int) -> str:
    if not metrics:
        return "Nothing that was expected can be compared with these labels."
    outside = [one for one in metrics if not one.is_inside]
    count = len(metrics)
    words = f"{count - len(outside)} of {count} observed values are inside their intervals"
    p = f"p {pvalue:.2g}" if pvalue >= 1e-12 else "p < 1e-12"
    if held:
        if not outside:
            return f"The expectation held: all {count} observed values are inside their intervals."
        named = f"{', '.join(one.name for one in outside)} {'is' if len(outside) == 1 else 'are'} outside"
        return f"The expectation held: {words}; {named}, but all of them together are within chance ({p} for all)."
    worst = min(metrics, key=lambda one: one.pvalue)
    found = f"{worst.name} is {worst.observed:.3g} where {worst.expected.value:.3g} was expected"
    why = (
        "Confidences or predicted classes had already changed, and what the calibrator learnt did not carry over"
        if expected.shift.size in ("moderate", "large")
        else "The confidences look like those of the reference, so they now mean something else (concept drift)"
    )
    then = "Use these labels as the new reference."
    if rows < expected.rows:
        why = (
            "Either these rows were labelled first because of what their labels are, as complaints are, and say "
            f"nothing about the others. Or {why[0].lower()}{why[1:]}"
        )
        then = "If they are a random part of the rows, use these labels as the new reference."
    return (
        f"The expectation did not hold: {found}, and {words}; chance does not explain it ({p} for all metrics). {why}. "
        f"{then}"
    )

"""Whether rows without labels look like the reference: their confidences, and what is predicted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import chdtrc, kolmogorov

from surefoot.core.table import Floats
from surefoot.predictions import ArrayPredictions

Size = Literal["none", "tiny", "moderate", "large"]

#: Distances, from 0 to 1, from which a difference is moderate and large.
MODERATE, LARGE = 0.05, 0.15
#: The share of rows beyond the reference's confidences that matters.
_BEYOND = 0.01
#: Rows of a class that are expected at least, for the chi-squared test.
_FEWEST = 5.0


@dataclass(frozen=True)
class Shift:
    """How far the confidences and the predicted classes differ from those of the reference.

    Attributes
    ----------
    size : {"none", "tiny", "moderate", "large"}
        ``"none"`` if chance explains the differences at the significance level, else by the larger of the two
        distances: below 0.05, below 0.15, or more; then at least ``"moderate"`` if more than 1% of the rows are beyond
        the reference's range.
    pvalue : float
        Of "both are samples of the same predictions": the smaller of the two p-values, doubled.
    distance : float
        The Kolmogorov-Smirnov distance of the confidences: the largest difference of their distribution functions.
    pvalue_confidence : float
        Its p-value.
    classes_distance : float
        Half the sum of the differences between the shares of the predicted classes; nan if they are not known.
    pvalue_classes : float
        The p-value of the chi-squared test of these shares; nan if they are not known.
    confidence_then : float
        The mean confidence of the reference.
    confidence_now : float
        The mean confidence of the rows without labels.
    outside : float
        The share of the rows without labels whose confidence is below or above all of the reference.
    """

    size: Size
    pvalue: float
    distance: float
    pvalue_confidence: float
    classes_distance: float
    pvalue_classes: float
    confidence_then: float
    confidence_now: float
    outside: float


def shift_between(new: ArrayPredictions, reference: ArrayPredictions, level: float, *, of_classes: bool) -> Shift:
    """The tests of both, and the sizes of the differences."""
    now, then = (_position(rows) for rows in (new, reference))
    distance = _largest_gap(now, then)
    effective = math.sqrt(len(now) * len(then) / (len(now) + len(then)))
    # Stephens' correction for few rows
    pvalue = float(kolmogorov((effective + 0.12 + 0.11 / effective) * distance))
    apart, pvalue_classes = _classes(new, reference) if of_classes else (math.nan, math.nan)
    pvalues = [p for p in (pvalue, pvalue_classes) if not math.isnan(p)]
    combined = min(1.0, len(pvalues) * min(pvalues))
    outside = float(((now < then.min()) | (now > then.max())).mean())
    farthest = max(distance, 0.0 if math.isnan(apart) else apart)
    size: Size = "none"
    if combined <= level:
        size = "large" if farthest >= LARGE else "moderate" if farthest >= MODERATE or outside > _BEYOND else "tiny"
    return Shift(
        size,
        combined,
        distance,
        pvalue,
        apart,
        pvalue_classes,
        float(reference.confidence_of(slice(None)).mean()),
        float(new.confidence_of(slice(None)).mean()),
        outside,
    )


def _position(rows: ArrayPredictions) -> Floats:
    """Numbers in the order of confidences, which doubts tell apart near 1."""
    doubt = np.asarray(rows.doubt, dtype=np.float64)
    return np.where(doubt < 0.5, 1 - doubt, rows.confidence_of(slice(None)))


def _largest_gap(one: Floats, other: Floats) -> float:
    one, other = np.sort(one), np.sort(other)
    every = np.concatenate([one, other])
    shares = [np.searchsorted(each, every, side="right") / len(each) for each in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


def _classes(new: ArrayPredictions, reference: ArrayPredictions) -> tuple[float, float]:
    """How far the shares of predicted classes are apart, and the p-value of the chi-squared test."""
    assert reference.labels is not None
    count = len(reference.labels)
    now, then = (np.bincount(rows.codes("predicted"), minlength=count).astype(float) for rows in (new, reference))
    apart = float(np.abs(now / now.sum() - then / then.sum()).sum() / 2)
    both = now + then
    # rare classes are taken together, so that the law of the statistic is known
    rare = both * min(now.sum(), then.sum()) / both.sum() < _FEWEST
    now, then = (np.append(each[~rare], each[rare].sum()) for each in (now, then))
    both = now + then
    now, then, both = now[both > 0], then[both > 0], both[both > 0]
    if len(both) < 2:
        return apart, 1.0
    statistic = 0.0
    for each in (now, then):
        expected = both * each.sum() / both.sum()
        statistic += float(((each - expected) ** 2 / expected).sum())
    return apart, float(chdtrc(len(both) - 1, statistic))

"""Samples put together by doubt, as the omnibus test draws them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats
from surefoot.metrics.binned import bin_codes
from surefoot.metrics.tallying import DOUBT_BANDS, RELIABILITY_BINS
from surefoot.predictions import ArrayPredictions
from surefoot.risk.law.counts import Counts

Codes = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: Groups of samples up to which they stay as they are; more are merged into at most so many.
_MOST_APART, _MOST_MERGED = 512, 192
#: Bins of the diagram near certainty for every factor of ten, and the doubt below which all samples share one.
PER_DECADE, FARTHEST = 2, 1e-12


def half_decade(doubt: Floats) -> Codes:
    """The bin of the diagram near certainty: two for every factor of ten."""
    return np.floor(-np.log10(np.maximum(doubt, FARTHEST)) * PER_DECADE * (1 + 1e-12)).astype(np.int64)


def bands_of(doubt: Floats, confidence: Floats, *, is_event: bool = False) -> dict[str, Codes]:
    """The band of each sample in the figures that show errors beside what was expected.

    Of an event both ends of the scale are looked at closely: it may be all but certain, or all but impossible.
    """
    bands = {
        "reliability bins": bin_codes(RELIABILITY_BINS, confidence),
        "bins near certainty": half_decade(doubt),
        "bands of confidence": bin_codes(DOUBT_BANDS, doubt),
    }
    return {**bands, "bins near zero": half_decade(confidence)} if is_event else bands


def mean_log_odds(doubt: Floats, confidence: Floats, rows: Floats) -> float:
    """The mean of the log-odds of samples left to chance, each by the variance of its outcome."""
    kept = (doubt > 0) & (confidence > 0)
    variance = (rows * doubt * confidence)[kept]
    odds = np.log(confidence[kept]) - np.log(doubt[kept])
    return float((variance * odds).sum() / variance.sum()) if variance.any() else 0.0


@dataclass(frozen=True)
class Cells:
    """Groups of samples that are alike, and how many of each are a surprise.

    A surprise is an error, which calibrated samples make with a ``chance`` of their doubt. Mirrored, it is a correct
    sample, and its chance the confidence.
    """

    p: Floats
    q: Floats
    #: What one sample of the group weighs.
    weight: Floats
    rows: Floats
    fired: Floats
    #: All weight, of which a share caps what one sample adds.
    total: float
    #: Whether samples of one group have the very same chance.
    is_exact: bool
    is_mirrored: bool = False
    #: Whether samples are about an event, whose probability may be anything, and not about what was predicted.
    is_event: bool = False

    @classmethod
    def of(cls, counts: Counts, *, is_mirrored: bool = False, is_event: bool = False) -> Cells:
        """Those of the counts of one side that are left to chance."""
        ones = np.ones(len(counts.rows))
        columns = (counts.doubt, counts.confidence, ones, counts.rows, counts.wrong)
        return cls(*columns, counts.n, counts.is_exact, is_mirrored, is_event).random

    @classmethod
    def of_rows(cls, p: ArrayPredictions, *, is_mirrored: bool) -> Cells:
        """Each sample a group of its own.

        A confidence that is 1 by rounding has the doubt of its digits, and what that leaves. Against
        underconfidence such samples count only where they are wrong; see ``Counts.without_rounded``.
        """
        doubt, confidence, weight = p.doubt_of(slice(None)), p.confidence_of(slice(None)), p.weight
        if p._rounded is not None:
            confidence = np.where(p._rounded, 1 - doubt, confidence)
            weight = np.where(p._rounded & p.correct, 0.0, weight) if is_mirrored else weight
        chance, otherwise, fired = (confidence, doubt, p.correct) if is_mirrored else (doubt, confidence, p.wrong)
        total = float(weight[chance > 0].sum())
        ones, is_event = np.ones(len(p)), p.view == "event"
        return cls(chance, otherwise, weight, ones, fired.astype(np.float64), total, True, is_mirrored, is_event)

    @property
    def is_random(self) -> Flags:
        """Which groups have weight, and calibration leaves something to chance."""
        return (self.p > 0) & (self.q > 0) & (self.weight > 0)

    @property
    def random(self) -> Cells:
        """Those groups alone."""
        kept = self.is_random
        names = ("p", "q", "weight", "rows", "fired")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    def deflated(self, shortfall: float) -> Cells:
        """The same samples if accuracy were (1 - shortfall) times confidence."""
        return replace(self, p=np.minimum(self.p + shortfall * self.q, 1.0), q=(1 - shortfall) * self.q)

    @property
    def doubt(self) -> Floats:
        return self.q if self.is_mirrored else self.p

    @property
    def confidence(self) -> Floats:
        return self.p if self.is_mirrored else self.q

    @property
    def is_weighted(self) -> bool:
        return bool((self.weight != self.weight[:1]).any())

    @cached_property
    def bands(self) -> dict[str, Codes]:
        """The band of each group in the figures that show errors beside what was expected; none of unequal weights."""
        if self.is_weighted:
            return {}
        return bands_of(self.doubt, self.confidence, is_event=self.is_event)

    @cached_property
    def centre(self) -> float:
        """The log-odds that are neither high nor low: those of one half for predictions; of an event, their mean."""
        return mean_log_odds(self.doubt, self.confidence, self.rows * self.weight) if self.is_event else 0.0

    @cached_property
    def merged(self) -> Cells:
        """The same samples in few groups: those of nearly equal doubt and weight that share every band are one.

        What surprises weigh together, and what is expected of them, stay what they are; in a group of nearly equal
        weights that may be no whole number of samples. A binomial of the mean is never narrower than one of unequal
        chances.
        """
        if len(self.p) <= _MOST_APART:
            return self
        lesser = np.minimum(self.doubt, self.confidence).view(np.int64)
        band = (self.doubt <= self.confidence).astype(np.int64)
        for codes in self.bands.values():
            band = band << 5 | codes
        held = self.rows * self.weight
        # of weights only their ratios count
        relative = self.weight / (held.sum() / self.rows.sum())
        for bits in range(48, 62):
            # at most 16 bits each of doubt and weight, and 21 of bands
            keys = (band << 16 | lesser >> bits) << 16 | relative.view(np.int64) >> bits
            where = np.unique(keys, return_inverse=True)[1]
            if where.max() < _MOST_MERGED:
                break
        rows, total = (np.bincount(where, column).astype(np.float64) for column in (self.rows, held))
        p, q = (np.bincount(where, column * held) / total for column in (self.p, self.q))
        weight = total / rows
        fired = np.bincount(where, self.fired * self.weight) / weight
        return Cells(p, q, weight, rows, fired, self.total, False, self.is_mirrored, self.is_event)

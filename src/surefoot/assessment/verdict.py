"""The verdict: one word for whether there is evidence, one for how much it matters, decided here and nowhere else.

Whether is decided by the omnibus p-value of either side, at half the level. How much is decided by sizes alone: with
millions of samples a tiny effect is beyond doubt, and still tiny.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot._stats.binomial import limits
from surefoot.figures.reliability import Band, Bin
from surefoot.risk.law.counts import Counts
from surefoot.risk.result import RiskResult

Verdict = Literal[
    "overconfident",
    "underconfident",
    "mixed",
    "overpredicts",
    "underpredicts",
    "too extreme",
    "too timid",
    "no evidence against calibration",
    "inconclusive",
]
Degree = Literal["slightly", "clearly", "strongly"]

#: The verdicts by which confidences are too high somewhere; of an event, those by which its probability is off.
RISKY: tuple[Verdict, ...] = ("overconfident", "mixed", "overpredicts", "underpredicts", "too extreme", "too timid")

#: How far mean confidence may lie above accuracy for nobody to mind, by default.
MARGIN = 0.02
#: From which overstatement in points, and from which ratio of errors near certainty, it is clear, and it is strong.
CLEAR_POINTS, STRONG_POINTS = 0.02, 0.10
CLEAR_RATIO, STRONG_RATIO = 2.0, 5.0
#: Wrong samples that claimed certainty from which it is strong; one is enough to be clear.
MANY_CERTAIN = 10
#: Doubts below which a sample is near certainty.
NEAR_CERTAINTY = 0.01
#: Errors beyond the expected, in standard deviations, that say on which side of one half confidences are too extreme.
_ONE_SIDED = 1.645


@dataclass(frozen=True)
class Judgement:
    """The word and its degree; no degree where nothing was found."""

    verdict: Verdict
    degree: Degree | None


def judge_predictions(
    risk: RiskResult,
    underconfidence: RiskResult,
    counts: Counts,
    bands: Sequence[Band],
    reliability: Sequence[Bin],
    *,
    level: float,
    margin: float,
    is_tested: bool = True,
) -> Judgement:
    """Decide. ``is_tested`` is false for a slice whose p-value does not survive adjustment for their number."""
    over, under = _sides(risk, underconfidence, counts, level) if is_tested else (False, False)
    if over and under:
        return Judgement("mixed", _degree(_points_of_bins(reliability), 0.0))
    if over:
        return Judgement("overconfident", at_least(_degree_over(risk, bands), reliability, "over"))
    if under:
        return Judgement("underconfident", at_least(_degree_under(risk, bands), reliability, "under"))
    if risk.overstatement_interval[1] > margin:
        return Judgement("inconclusive", None)
    return Judgement("no evidence against calibration", None)


def _sides(risk: RiskResult, underconfidence: RiskResult, counts: Counts, level: float) -> tuple[bool, bool]:
    """Whether each side is shown.

    Extremeness is one-sided about one half: confidences of 20% that are right half the time are too extreme as well,
    and they are not too high. Where nothing else speaks for a side, the samples above one half decide which it is.
    """
    found = {"over": False, "under": False}
    # errors beyond the expected where it is surer than one half, and short of them where it is less sure
    effect = math.sqrt(risk.design_effect)
    sure, unsure = (_excess(counts, part) / effect for part in (counts.doubt < 0.5, counts.doubt > 0.5))
    for own, other, side, here, there in (
        ("over", "under", risk, sure, -unsure),
        ("under", "over", underconfidence, -sure, unsure),
    ):
        if side.pvalue_omnibus > level / 2:
            continue
        speaks = any(
            one.pvalue_adjusted <= level / 2
            for one in (*side.directions, *side.consistency)
            if one.name != "extremeness"
        )
        if speaks:
            found[own] = True
        else:
            # where neither part shows it by itself, both together do
            neither = max(here, there) < _ONE_SIDED
            found[own] |= here >= _ONE_SIDED or neither
            found[other] |= there >= _ONE_SIDED or neither
    return found["over"], found["under"]


def _excess(counts: Counts, part: npt.NDArray[np.bool_]) -> float:
    """Errors beyond the expected among some samples, by how far their log-odds are from 0, in standard deviations."""
    kept = part & (counts.doubt > 0) & (counts.confidence > 0)
    doubt, confidence, rows, wrong = (
        column[kept] for column in (counts.doubt, counts.confidence, counts.rows, counts.wrong)
    )
    odds = np.abs(np.log(confidence / doubt))
    spread = math.sqrt(float((rows * doubt * confidence * odds**2).sum()))
    return float(((wrong - rows * doubt) * odds).sum()) / spread if spread else 0.0


def _degree(points: float, ratio: float) -> Degree:
    if points >= STRONG_POINTS or ratio >= STRONG_RATIO:
        return "strongly"
    return "clearly" if points >= CLEAR_POINTS or ratio >= CLEAR_RATIO else "slightly"


def at_least(degree: Degree, bins: Sequence[Bin], *kinds: str) -> Degree:
    """Never slight where a bin of the diagram is surely off by as much as would be strong in the mean."""
    off = [one.low - one.doubt if one.kind == "over" else one.doubt - one.high for one in bins if one.kind in kinds]
    return "clearly" if degree == "slightly" and max(off, default=0.0) >= STRONG_POINTS else degree


def _degree_over(risk: RiskResult, bands: Sequence[Band]) -> Degree:
    near = _near_certainty(bands, risk.design_effect)
    ratio = 0.0 if risk.is_weighted else max((low for low, _ in near), default=0.0)
    if risk.certain_wrong:
        ratio = max(ratio, STRONG_RATIO if risk.certain_wrong >= MANY_CERTAIN else CLEAR_RATIO)
    return _degree(risk.overstatement, ratio)


def _degree_under(risk: RiskResult, bands: Sequence[Band]) -> Degree:
    near = _near_certainty(bands, risk.design_effect)
    ratio = 0.0 if risk.is_weighted else max((1 / high for _, high in near if high), default=0.0)
    return _degree(-risk.overstatement, ratio)


def _near_certainty(bands: Sequence[Band], effect: float) -> list[tuple[float, float]]:
    """The limits of observed over expected errors, at 95%, of all samples beyond 99%, beyond 99.9% and so on."""
    found = []
    for cut in {band.below for band in bands if band.below <= NEAR_CERTAINTY}:
        pooled = pool([band for band in bands if band.below <= cut])
        if pooled.stated:
            low, high = limits(round(pooled.seen) / effect, pooled.rows / effect)
            found.append((float(low) / pooled.doubt, float(high) / pooled.doubt))
    return found


def pool(bands: Sequence[Band]) -> Band:
    """Adjacent bands as one."""
    return Band(
        min(band.least for band in bands),
        max(band.below for band in bands),
        *(math.fsum(getattr(band, name) for band in bands) for name in ("rows", "stated", "seen")),
    )


def _points_of_bins(bins: Sequence[Bin]) -> float:
    """How far accuracy lies from confidence in the mean over all samples, one side only: that which is more off.

    Of bins whose interval leaves out what they state; of all where weights are unequal and there is none.
    """
    rows = math.fsum(one.rows for one in bins) or 1.0
    apart = {"over": 0.0, "under": 0.0}
    for one in bins:
        kind = one.kind if one.kind != "dot" else "over" if one.seen > one.stated else "under"
        if kind in apart:
            apart[kind] += abs(one.seen - one.stated) / rows
    return max(apart.values())

"""The sentences on an assessment of predictions: are confidences as high as accuracy?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot._io.printable import printable
from surefoot._stats.binomial import limits
from surefoot.assessment.result import Assessment
from surefoot.assessment.verdict import NEAR_CERTAINTY, pool
from surefoot.figures.bands import shown_bands
from surefoot.figures.concentration import ENOUGH_ERRORS
from surefoot.figures.labels import significant
from surefoot.figures.reliability import Band, Bin
from surefoot.render.numbers import (
    percent,
    percent_interval,
    pluralize,
    points,
    points_interval,
    precise_percent,
    pvalue,
    ratio_interval,
    rough_count,
    round_down,
    round_up,
    stated_percent,
)
from surefoot.render.shared_wording import as_typed, group_notes, logits_note, rows_of_weight, tie_notes
from surefoot.risk.result import RiskResult

_WORDS = {
    "overconfident": "Overconfident",
    "underconfident": "Underconfident",
    "mixed": "Mixed: over- and underconfident",
    "no evidence against calibration": "No evidence against calibration",
    "inconclusive": "Inconclusive",
}
#: Evidence from which a place is named.
_NOTABLE = 2.0
#: The share of rows with one predicted label from which probabilities look like risks, and rows that it takes.
_SAME_LABEL, _FEWEST_RISKS = 0.8, 20


def headline(a: Assessment) -> str:
    """The verdict with its degree."""
    word = _WORDS[a.verdict]
    if a.degree is None:
        return word
    if a.verdict == "mixed":
        return f"{word}, {a.degree}"
    return f"{a.degree.capitalize()} {word.lower()}"


def advice(a: Assessment) -> str:
    """One sentence on what to do."""
    if a.risk.certain_wrong:
        rows = pluralize(a.risk.certain_wrong, "row")
        was = "was" if rows == "1 row" else "were"
        return f"{rows} with confidence 1 {was} wrong. Confidence 1 allows no errors: CSR is infinite, the p-value 0."
    if a.verdict == "overconfident" and a.risk.overstatement <= 0:
        return "Not on average, but in one range of confidence errors are too many: do not rely on it there."
    if a.verdict == "underconfident" and a.risk.overstatement >= 0:
        return "Not on average, but in one range of confidence the model is right more often than it says."
    if a.verdict == "overconfident":
        if a.degree == "slightly":
            return "Confidences are too high, but not by much: whether that matters depends on your use."
        return "Do not take these confidences at face value."
    if a.verdict == "underconfident":
        return "The model is right more often than its confidences say."
    if a.verdict == "mixed" and a.degree == "slightly":
        return "Small deviations in both directions: whether they matter depends on your use."
    if a.verdict == "mixed":
        return (
            "Too confident in one range and not confident enough in another: a correction has to lower some "
            "confidences and raise others."
        )
    margin = points(a.margin)
    low, high = a.risk.overstatement_interval
    if a.verdict == "inconclusive":
        rows = pluralize(a.risk.n, "row")
        finding = f"With {rows}, confidence could be up to {points(high, up=True)} too high on average."
        if low > 0:
            p = f"p {pvalue(a.risk.pvalue_omnibus)} is above {a.level / 2:g}"
            most = points(high, up=True)
            finding = f"Confidence looks too high, by up to {most} on average, but the evidence is weak ({p})."
        return finding
    if low >= -a.margin:
        return f"Mean confidence is within {margin} of accuracy (95% CI)."
    if high <= 0:
        return "On average, confidence is not too high (95% CI)."
    return f"On average, confidence is at most {points(high, up=True)} too high (95% CI)."


def bands(a: Assessment) -> tuple[Band, ...]:
    """The bands of confidence as they are shown."""
    counts = None if a.risk.is_weighted else a.counts
    return shown_bands(a.bands, counts, rounded=a.risk.rounded)


def one_line(a: Assessment) -> str:
    """The verdict and the ratio of what was observed to what was expected."""
    return f"{headline(a).lower()}, O/E {a.risk.oe_ratio:.3g}, {a.risk.n:,} rows"


def source(a: Assessment) -> str:
    """How many rows, of what."""
    rows = pluralize(a.risk.n, "row")
    if a.source:
        return f"{rows} of {printable(a.source)}"
    return rows if a.classes is None else f"{rows}, {pluralize(a.classes, 'class')}"


def slice_title(a: Assessment) -> str:
    """How many slices are off, in one line."""
    by = printable(a.by, 40)
    if a.by == "truth":
        return "Slices by truth (descriptive: the truth is the outcome, so these get no verdict)"
    total = len(a.slices)
    numbers = {kind: sum(part.verdict == kind for part in a.slices) for kind in _WORDS}
    also = "".join(
        f", {numbers[kind]:,} {kind}" for kind in ("underconfident", "mixed", "inconclusive") if numbers[kind]
    )
    return f"Slices by {by}: {numbers['overconfident']:,} of {total:,} overconfident{also} (p adjusted for {total:,})"


def sentences(a: Assessment) -> list[str]:
    """What was found, the sizes first: errors, points, where, and what is not excluded."""
    return [error_sentence(a), overstatement_sentence(a.risk), *place_sentences(a), *_mean_alone(a), *_undetected(a)]


def _mean_alone(a: Assessment) -> list[str]:
    """That the mean alone looks off, where nothing was found."""
    low, high = a.risk.overstatement_interval
    if a.verdict not in ("inconclusive", "no evidence against calibration") or low <= 0 <= high:
        return []
    p = pvalue(min(a.risk.pvalue_omnibus, a.underconfidence.pvalue_omnibus))
    return [
        f"The mean alone looks off, but the omnibus test, which accounts for all checks, does not confirm it (p {p})."
    ]


def error_sentence(a: Assessment) -> str:
    """Expected against observed errors."""
    r = a.risk
    if r.is_weighted:
        stated, seen = (percent(number / a.weight) for number in (r.expected_errors, r.observed_errors))
        return f"By weight, its confidences imply {stated} errors; {seen} were made{_times(r)}."
    made = rough_count(r.observed_errors)
    if not r.expected_errors:
        return f"Its confidences imply no errors; it made {made}."
    return f"Its confidences imply about {pluralize(r.expected_errors, 'error')}; it made {made}{_times(r)}."


def _times(r: RiskResult) -> str:
    if not math.isfinite(r.oe_ratio):
        return ""
    return f" ({significant(r.oe_ratio)} times as many, 95% CI {ratio_interval(*r.oe_interval)})"


def _factor(ratio: float) -> str:
    """Two digits; more near 1, where they would say nothing."""
    return significant(ratio, 3 if 0.9 < ratio < 1.1 else 2)


def overstatement_sentence(r: RiskResult) -> str:
    """Mean confidence against accuracy."""
    size, (low, high) = r.overstatement, r.overstatement_interval
    if low > 0:
        return f"On average, confidence is {points(size)} above accuracy (95% CI {points_interval(low, high)})."
    if high < 0:
        return f"On average, confidence is {points(-size)} below accuracy (95% CI {points_interval(-high, -low)})."
    return f"Mean confidence minus accuracy is {points(size)} (95% CI {points_interval(low, high)})."


@dataclass(frozen=True)
class Place:
    """A range of confidence with more errors than expected, or fewer."""

    words: str
    stated: float
    seen: float
    #: Evidence of the counts against the confidences: the logarithm of a likelihood ratio.
    evidence: float


def place_sentences(a: Assessment) -> list[str]:
    """In which range of confidence errors are too many or too few, where the verdict says that they are."""
    found, scale = [], rows_of_weight(a)
    for over in (True, False):
        if a.verdict not in ("mixed", "overconfident" if over else "underconfident"):
            continue
        place = find_place(bands(a), a.reliability, over=over, scale=scale)
        if place is not None:
            is_many = scale * place.seen >= ENOUGH_ERRORS and place.stated
            times = f" ({_factor(place.seen / place.stated)} times)" if is_many else ""
            expected = f"about {rough_count(place.stated)}" if place.stated else "none"
            errors = f"{rough_count(place.seen)} where {expected} were expected{times}"
            found.append(f"{'Too many' if over else 'Too few'} errors {place.words}: {errors}.")
    return found


def find_place(bands: Sequence[Band], bins: Sequence[Bin], *, over: bool, scale: float = 1.0) -> Place | None:
    """The run of neighbouring bands, or of bins of the reliability diagram, whose errors are furthest from expected.

    Of weights, ``scale`` is how many rows a unit of them stands for.
    """
    found = [
        Place(words(run[0], run[-1]), stated, seen, evidence)
        for groups, words in ((bands, _band_words), (bins, _bin_words))
        for run in _runs(groups)
        for stated, seen in [(math.fsum(one.stated for one in run), math.fsum(one.seen for one in run))]
        if (evidence := scale * _evidence(stated, seen, over)) > _NOTABLE
    ]
    return max(found, key=lambda place: place.evidence, default=None)


def _runs(groups: Sequence[Any]) -> list[Sequence[Any]]:
    """Every run of neighbours but the whole."""
    n = len(groups)
    return [groups[i:j] for i in range(n) for j in range(i + 1, n + 1) if j - i < n]


def _evidence(stated: float, seen: float, over: bool) -> float:
    """The logarithm of the likelihood ratio of Poisson counts; 0 on the other side."""
    if (seen > stated) != over or seen == stated:
        return 0.0
    if not stated:
        return math.inf
    return (seen * math.log(seen / stated) if seen else 0.0) - (seen - stated)


def _band_words(first: Band, last: Band) -> str:
    if last.least == last.below:
        # a band for each confidence, surest first
        ends = (confidence_range(last), confidence_range(first))
        return f"at {ends[0] if first == last else ' to '.join(ends)} confidence"
    span = confidence_range(pool([first, last]))
    return f"{span if span.startswith(('above', 'below')) else f'at {span}'} confidence"


def _bin_words(first: Bin, last: Bin) -> str:
    return f"between {first.least:.0%} and {last.most:.0%} confidence"


def _undetected(a: Assessment) -> list[str]:
    """What is still possible where nothing was found."""
    if a.verdict != "no evidence against calibration" or a.risk.is_weighted:
        return []
    sure = [band for band in a.bands if band.below <= NEAR_CERTAINTY]
    near = pool(sure) if sure else None
    if near is not None and near.stated:
        effect = a.risk.design_effect
        high = float(limits(round(near.seen) / effect, near.rows / effect)[1]) / near.doubt
        return [
            f"That does not exclude errors in one range or group: above {precise_percent(1 - NEAR_CERTAINTY)} "
            f"confidence there may be up to {round_up(high, 2)} times as many as expected."
        ]
    return ["That does not exclude too many errors in one range of confidence, or in one group of rows."]


def tested_side(a: Assessment) -> RiskResult:
    """The side that the verdict is about; against overconfidence if it is about none or both."""
    return a.underconfidence if a.verdict == "underconfident" else a.risk


def deciding_side(a: Assessment) -> RiskResult:
    """The side whose p-value the verdict rests on: where one was found, the smaller."""
    if a.verdict in ("inconclusive", "no evidence against calibration"):
        return a.risk
    return min(a.risk, a.underconfidence, key=lambda side: side.pvalue_omnibus)


def describe_pvalue(side: RiskResult, level: float | None) -> str:
    """What the p-value is of, what its parts say, and where it decides the verdict of an assessment at a level."""
    test = "omnibus, one-sided" if level is None else f"omnibus, decides at {level / 2:g}"
    if side.method == "normal":
        return "approximate, from sums of unequal weights; the exact test needs the rows"
    if side.groups:
        return f"{test}; {side.groups:,} groups (design effect {significant(side.design_effect, 2)})"
    return f"{test}; CSR {pvalue(side.pvalue)}, capped {pvalue(side.pvalue_capped)}"


def describe_deflation(a: Assessment, side: RiskResult) -> str:
    """The interval of the deflation, and how to read it."""
    interval = percent_interval(*side.deflation_interval)
    if a.verdict == "underconfident":
        return f"95% CI {interval}; errors are about (1 - deflation) × (1 - confidence)"
    return f"95% CI {interval}; accuracy is about (1 - deflation) × confidence"


def notes(a: Assessment) -> list[str]:
    """What else a reader has to know, only where it applies."""
    risk = a.risk
    found = group_notes(a, "errors")
    if risk.rounded:
        is_one = risk.rounded == 1
        found.append(
            f"{risk.rounded:,} of {risk.n:,} confidences {'is' if is_one else 'are'} 1.0 because "
            f"{'it was' if is_one else 'they were'} rounded. A small doubt (1 - confidence) is assumed for "
            f"{'it' if is_one else 'them'}, so CSR and the expected errors are approximate. {logits_note(a)}"
        )
    if risk.certain == 1 and not risk.certain_wrong:
        found.append(f"1 of {risk.n:,} rows has confidence 1 and is correct; CSR leaves it out.")
    elif risk.certain and not risk.certain_wrong:
        found.append(f"{risk.certain:,} of {risk.n:,} rows have confidence 1 and are correct; CSR leaves them out.")
    found.extend(tie_notes(a, "confidence", ": ranking by it says little"))
    if _looks_like_risks(a):
        of_event = as_typed(a, 'of="event"', "--of event")
        found.append(
            "this is about the predicted label. If this is a risk model, ask whether the event happens as often as "
            f"predicted: {of_event}."
        )
    headline_metrics = ("csr", "cw_accuracy", "auc", "cw_auc")
    found.extend(f"{name}: {a.reasons[name]}." for name in headline_metrics if name in a.metrics and name in a.reasons)
    if risk.note:
        found.append(f"{risk.note[0].lower()}{risk.note[1:]}")
    off = max(a.bounds.get("auc", 0.0), a.bounds.get("cw_auc", 0.0))
    if off >= 5e-5:
        found.append(
            f"AUC and cwAUC are computed from a tally; the exact values differ by at most {significant(off, 1)}."
        )
    return found


def _looks_like_risks(a: Assessment) -> bool:
    """Whether one column of probabilities mostly predicts the same of two labels, as risks do."""
    p = a.predictions
    if p is None or not p.has_second or p.predicted is None or p.labels is None or len(p) < _FEWEST_RISKS:
        return False
    share = float(np.mean(p.predicted == p.labels[1]))
    return max(share, 1 - share) >= _SAME_LABEL


def confidence_range(band: Band) -> str:
    """The confidences of a band; of one that holds a single confidence, as it was given."""
    if band.least == band.below:
        return stated_percent(band.least)
    if band.least == 0:
        return f"above {precise_percent(1 - band.below)}"
    if band.below == 1:
        return f"below {precise_percent(1 - band.least)}"
    return f"{precise_percent(1 - band.below)} to {precise_percent(1 - band.least)}"


def csr_bound(r: RiskResult) -> str:
    """The lower bound of CSR, in words; empty where there is none."""
    return "" if math.isnan(r.csr_lower) else f"at least {round_down(r.csr_lower)} (95%); "

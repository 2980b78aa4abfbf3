"""The sentences on an assessment of an event: does it happen as often as predicted?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from surefoot._io.printable import printable
from surefoot.assessment.event_verdict import chance_of_count, is_within_points
from surefoot.assessment.result import Assessment
from surefoot.figures.bands import RiskBand, risk_bands
from surefoot.figures.labels import significant
from surefoot.render.event_spread import is_reversed, spread_sentences
from surefoot.render.numbers import (
    RARE,
    percents,
    pluralize,
    points,
    points_interval,
    pvalue,
    ratio,
    ratio_interval,
    risk_percent,
    rough_count,
)
from surefoot.render.shared_wording import group_notes, logits_note, tie_notes
from surefoot.risk.result import RiskResult

WORDS = {
    "overpredicts": "Overpredicts",
    "underpredicts": "Underpredicts",
    "too extreme": "Too extreme",
    "too timid": "Too timid",
    "mixed": "Mixed",
    "no evidence against calibration": "No evidence against calibration",
    "inconclusive": "Inconclusive",
}
#: The verdicts by which predictions are off.
FOUND = ("overpredicts", "underpredicts", "too extreme", "too timid", "mixed")
#: How slices with a verdict are counted.
COUNTED = {
    "overpredicts": "overpredicted",
    "underpredicts": "underpredicted",
    "too extreme": "too extreme",
    "too timid": "too timid",
    "inconclusive": "inconclusive",
}
#: Evidence from which a range is named: the logarithm of a likelihood ratio.
_NOTABLE = 2.0
#: Metrics whose notes a reader has to know, with their names in a sentence.
_TOLD = {
    "calibration_in_the_large": "calibration in the large",
    "calibration_intercept": "intercept",
    "calibration_slope": "slope",
    "scaled_brier": "scaled Brier score",
}


def headline(a: Assessment) -> str:
    """The verdict with its degree."""
    word = WORDS[a.verdict]
    return word if a.degree is None else f"{a.degree.capitalize()} {word.lower()}"


def one_line(a: Assessment) -> str:
    """The verdict and the ratio of what was observed to what was expected."""
    r = a.risk
    size = "" if math.isnan(r.oe_ratio) else f", O/E {ratio(r.oe_ratio, *r.oe_interval)}"
    return f"{headline(a).lower()}{size}, {pluralize(r.n, 'row')}"


def source(a: Assessment) -> str:
    """How many rows, of what, and which event."""
    rows = pluralize(a.risk.n, "row")
    if a.source and "event: " in a.columns:
        # the columns used name it
        return f"{rows} of {printable(a.source)}"
    return f"{rows}{f' of {printable(a.source)}' if a.source else ''}; event: {printable(a.event, 40)}"


#: What is wrong with predictions, and what to do about it.
_WRONG = {
    "overpredicts": ("Predicted probabilities are too high on average", "do not use them as they are."),
    "underpredicts": ("Predicted probabilities are too low on average", "do not use them as they are."),
    "too extreme": (
        "Predicted probabilities are too extreme",
        "do not take the lowest and the highest at face value.",
    ),
    "too timid": (
        "Predicted probabilities are too close to each other",
        "actual risks differ more than predicted ones.",
    ),
}


def advice(a: Assessment) -> str:
    """One sentence on what to do."""
    impossible = _impossible(a)
    if impossible:
        return impossible
    if a.verdict in FOUND and is_reversed(a):
        return "Higher predictions go with fewer events: check the labels, and which class is the event."
    if a.verdict in _WRONG:
        said, act = _WRONG[a.verdict]
        mild = ", but not by much: whether that matters depends on your use."
        return f"{said}{mild}" if a.degree == "slightly" else f"{said}: {act}"
    low, high = a.risk.overstatement_interval
    if a.verdict == "no evidence against calibration":
        return f"On average, predicted and observed risk agree within {points(a.margin)} (95% CI)."
    p = f"p {pvalue(deciding_side(a).pvalue_omnibus)} is above {a.level / 2:g}"
    if low > 0:
        most = points(high, up=True)
        return f"Predictions look too high, by up to {most} on average, but the evidence is weak ({p})."
    if high < 0:
        most = points(-low, up=True)
        return f"Predictions look too low, by up to {most} on average, but the evidence is weak ({p})."
    rows = pluralize(a.risk.n, "row")
    if is_within_points(a.risk, a.margin) and math.isfinite(a.risk.oe_interval[1]):
        reach = ratio_interval(*a.risk.oe_interval)
        return f"With {rows}, the event could occur {reach} times as often as predicted (95% CI)."
    ends = [f"{points(end, up=True)} too {word}" for end, word in ((high, "high"), (-low, "low")) if end > 0]
    return f"With {rows}, predictions could be up to {' or '.join(ends)} on average (95% CI)."


def _impossible(a: Assessment) -> str:
    """That what was given no probability happened, after what holds on average."""
    if a.counts is None or a.risk.is_weighted:
        return ""
    without = float(a.counts.wrong[a.counts.doubt == 0].sum())
    happened = float(a.counts.right[a.counts.confidence == 0].sum())
    found = []
    if without:
        found.append(f"{pluralize(without, 'row')} with predicted probability 1 had no event")
    if happened:
        found.append(f"{pluralize(happened, 'row')} with predicted probability 0 had one")
    if not found:
        return ""
    words = ", and ".join(found).replace("had one", "had one" if without else "had the event")
    reason = "probabilities of 0 and 1 leave no room for that."
    low, high = a.risk.oe_interval
    if a.verdict in ("overpredicts", "underpredicts") and not low <= 1 <= high:
        is_contrary = not without if a.verdict == "overpredicts" else not happened
        link = "Even so" if is_contrary else "Besides"
        return f"{_WRONG[a.verdict][0]}. {link}, {words}: {reason}"
    return f"{words}: {reason}"


def sentences(a: Assessment) -> list[str]:
    """What was found, the sizes first: events, the mean, the spread, where, and what is not excluded."""
    return [
        events_sentence(a.risk, a.weight),
        *mean_sentences(a),
        *_count_sentences(a),
        *spread_sentences(a),
        *_place_sentences(a),
        *_mean_alone(a),
        *_undetected(a),
    ]


def events_sentence(r: RiskResult, weight: float) -> str:
    """Expected against observed events."""
    expected, observed = r.expected_events, r.observed_events
    if r.is_weighted:
        said, seen = percents(expected / weight, observed / weight)
        return f"By weight, the event was expected in {said} of the rows and observed in {seen}{oe_words(r)}."
    events = pluralize(expected, "event") if expected else "no events"
    return f"Expected {events}, observed {rough_count(observed)}{oe_words(r)}."


def oe_words(r: RiskResult) -> str:
    """The O/E ratio in brackets, where it has a value."""
    if not math.isfinite(r.oe_ratio):
        return ""
    low, high = r.oe_interval
    interval = "" if math.isnan(low) or math.isnan(high) else f", 95% CI {ratio_interval(low, high)}"
    return f" (O/E {ratio(r.oe_ratio, low, high)}{interval})"


def mean_sentences(a: Assessment) -> list[str]:
    """The mean predicted probability against the share of events."""
    r = a.risk
    size, (low, high) = r.overstatement, r.overstatement_interval
    total = a.weight if r.is_weighted else r.n
    shares = r.expected_events / total, r.observed_events / total
    said, seen = percents(*shares)
    start = f"Mean predicted probability is {said}, the observed share {seen}"
    if max(shares) < RARE:
        # points have no digits left: the ratio says it
        return [f"{start}."]
    if low > 0:
        return [f"{start}: {points(size)} too high (95% CI {points_interval(low, high)})."]
    if high < 0:
        return [f"{start}: {points(-size)} too low (95% CI {points_interval(-high, -low)})."]
    if abs(size) < RARE:
        return [f"{start}: less than 0.01 points apart (95% CI of the difference {points_interval(low, high)})."]
    return [f"{start}: a difference of {points(size)} (95% CI {points_interval(low, high)})."]


def _count_sentences(a: Assessment) -> list[str]:
    """What shows that the number of events is off, where the interval of O/E does not."""
    low, high = a.risk.oe_interval
    if a.verdict not in ("overpredicts", "underpredicts") or not low <= 1 <= high:
        return []
    key = "calibration_in_the_large"
    value, interval = a.metrics.get(key, math.nan), a.intervals.get(key)
    if interval is not None and not interval.is_absent and (interval.low > 0 or interval.high < 0):
        reach = ratio_interval(interval.low, interval.high)
        shown = f"calibration in the large is {significant(value)} (95% CI {reach})"
    else:
        chance = chance_of_count(a.risk, a.underconfidence)
        if chance > a.level / 2:
            return []
        shown = f"so many events, or fewer, had a chance of {pvalue(chance)}"
        if a.verdict == "underpredicts":
            shown = shown.replace("fewer", "more")
    return [f"Given these predictions, the number of events is off by more than chance: {shown}."]


def bands(a: Assessment) -> tuple[RiskBand, ...]:
    """The bands of predicted probability as they are shown."""
    return risk_bands(None if a.risk.is_weighted else a.counts, a.reliability, rounded=a.risk.rounded)


def band_range(band: RiskBand) -> str:
    """The predicted probabilities of a band."""
    if band.least == band.most:
        return risk_percent(band.most)
    if band.least == 0:
        return f"up to {risk_percent(band.most)}"
    if band.most == 1:
        return f"above {risk_percent(band.least)}"
    return f"{risk_percent(band.least)} to {risk_percent(band.most)}"


@dataclass(frozen=True)
class Place:
    """A range of predicted probability with fewer events than expected, or more."""

    words: str
    expected: float
    observed: float
    evidence: float


def _place_sentences(a: Assessment) -> list[str]:
    """In which range events are fewer or more than expected, where the verdict says that they are."""
    found: list[str] = []
    for is_over, only in ((True, "underpredicts"), (False, "overpredicts")):
        if a.verdict not in FOUND or a.verdict == only or a.risk.is_weighted:
            continue
        place = find_place(bands(a), is_over=is_over)
        if place is not None:
            expected = f"about {rough_count(place.expected)}" if place.expected else "none"
            numbers = f"{rough_count(place.observed)} where {expected} were expected"
            found.append(f"{'Fewer' if is_over else 'More'} events than expected {place.words}: {numbers}.")
    is_told = _impossible(a) or spread_sentences(a)
    if not found and a.verdict in ("too extreme", "too timid") and not is_told:
        return ["No single range stands out: it shows in all predictions together, weighted towards 0% and 100%."]
    return found


def find_place(bands: Sequence[RiskBand], *, is_over: bool, scale: float = 1.0) -> Place | None:
    """The run of neighbouring bands, but for the whole, whose events are furthest from expected.

    Of weights, ``scale`` is how many rows a unit of them stands for.
    """
    n = len(bands)
    runs = [bands[i:j] for i in range(n) for j in range(i + 1, n + 1) if j - i < n]
    found = []
    for run in runs:
        rows, expected, observed = (
            math.fsum(getattr(one, name) for one in run) for name in ("rows", "expected", "observed")
        )
        evidence = scale * _evidence(rows, expected, observed) if (observed < expected) == is_over else 0.0
        if evidence > _NOTABLE:
            found.append(Place(_range_words(run[0], run[-1]), expected, observed, evidence))
    return max(found, key=lambda place: place.evidence, default=None)


def _evidence(rows: float, expected: float, observed: float) -> float:
    """The logarithm of the likelihood ratio of the observed share of events against the expected one."""

    def part(seen: float, said: float) -> float:
        if seen <= 0:
            return 0.0
        return seen * math.log(seen / said) if said > 0 else math.inf

    return part(observed, expected) + part(rows - observed, rows - expected)


def _range_words(first: RiskBand, last: RiskBand) -> str:
    if first == last and first.least == first.most:
        return f"at a predicted probability of {risk_percent(first.most)}"
    if first.least == 0 and first.most > 0:
        return f"at predicted probabilities up to {risk_percent(last.most)}"
    if last.most == 1 and last.least < 1:
        return f"at predicted probabilities above {risk_percent(first.least)}"
    return f"at predicted probabilities from {risk_percent(first.least)} to {risk_percent(last.most)}"


def _mean_alone(a: Assessment) -> list[str]:
    """That the mean alone looks off, where nothing was found."""
    low, high = a.risk.overstatement_interval
    if a.verdict in FOUND or low <= 0 <= high:
        return []
    p = pvalue(deciding_side(a).pvalue_omnibus)
    return [
        f"The mean alone looks off, but the omnibus test, which accounts for all checks, does not confirm it (p {p})."
    ]


def _undetected(a: Assessment) -> list[str]:
    """What is still possible where nothing was found."""
    if a.verdict != "no evidence against calibration":
        return []
    return ["That does not exclude a difference in one range of predictions, or in one group of rows."]


def deciding_side(a: Assessment) -> RiskResult:
    """The side whose p-value the verdict rests on: the smaller."""
    return min(a.risk, a.underconfidence, key=lambda side: side.pvalue_omnibus)


def describe_pvalue(side: RiskResult, level: float) -> str:
    """What the p-value is of."""
    if side.method == "normal":
        return "approximate, from sums of unequal weights; the exact test needs the rows"
    groups = ""
    if side.groups:
        groups = f" for {side.groups:,} groups (design effect {significant(side.design_effect, 2)})"
    return f"omnibus, the smaller of both sides{groups}; decides at {level / 2:g}"


def notes(a: Assessment) -> list[str]:
    """What else a reader has to know, only where it applies."""
    risk = a.risk
    found = group_notes(a, "events")
    if risk.rounded:
        was = (
            "is 0 or 1 because it was rounded. It"
            if risk.rounded == 1
            else "are 0 or 1 because they were rounded. Each"
        )
        found.append(
            f"{risk.rounded:,} of {risk.n:,} predicted probabilities {was} is taken to lie a quarter of a rounding "
            f"step away from it. {logits_note(a)}"
        )
    found.extend(tie_notes(a, "predicted probability"))
    found.extend(_missing(a))
    off = a.bounds.get("auc", 0.0)
    if off >= 5e-5:
        words = f"the exact value differs by at most {significant(off, 1)}"
        found.append(f"the C-statistic is computed from a tally; {words}.")
    return found


def _missing(a: Assessment) -> list[str]:
    """Which of the main numbers have no value, and why, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for key, name in _TOLD.items():
        if key in a.metrics and key in a.reasons:
            reasons.setdefault(a.reasons[key].rstrip("."), []).append(name)
    found = [f"{', '.join(names)}: {why}." for why, names in reasons.items()]
    if math.isnan(a.metrics.get("auc", 0.0)):
        found.append("the C-statistic needs rows with the event and rows without it.")
    return found


def slice_title(a: Assessment) -> str:
    """How many slices are off, in one line."""
    if a.by == "truth":
        return "Slices by truth (descriptive: the truth is the outcome, so these get no verdict)"
    total, found = len(a.slices), count_verdicts(a)
    return f"Slices by {printable(a.by, 40)}: {found or 'none is off'}, of {total:,} (p adjusted for {total:,})"


def count_verdicts(a: Assessment) -> str:
    """How many slices, or classes, have which verdict; empty if none is off and none inconclusive."""
    numbers = {word: sum(part.verdict == word for part in a.slices) for word in COUNTED}
    return ", ".join(f"{number:,} {COUNTED[word]}" for word, number in numbers.items() if number)

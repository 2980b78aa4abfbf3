"""The sentences on an assessment of every class: does each of them occur as often as predicted?"""

from __future__ import annotations

import math

from surefoot._io.printable import printable
from surefoot.assessment.event_verdict import STRONG_FACTOR, is_within_factor, is_within_points
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice
from surefoot.figures.bands import risk_bands
from surefoot.figures.labels import significant
from surefoot.render.event_wording import COUNTED, FOUND, WORDS, count_verdicts, find_place, oe_words
from surefoot.render.numbers import pluralize, points, pvalue, ratio_interval, rough_count
from surefoot.render.severity import severity
from surefoot.render.shared_wording import group_notes, rows_of_weight, shares_words, weight_of_events
from surefoot.risk.result import RiskResult


def rows(a: Assessment) -> int:
    """The number of rows; each makes as many predictions as there are classes."""
    return a.slices[0].risk.n if a.slices else a.risk.n


def off(a: Assessment) -> list[Slice]:
    """The classes that are off, worst first."""
    return sorted((part for part in a.slices if part.verdict in FOUND), key=severity)


def headline(a: Assessment) -> str:
    """The verdict with its degree, and how many classes are off."""
    total, wrong = pluralize(len(a.slices), "class"), off(a)
    if a.verdict == "inconclusive":
        unsure = sum(part.verdict == "inconclusive" for part in a.slices)
        return f"Inconclusive for {total if unsure == len(a.slices) else f'{unsure:,} of {total}'}"
    if a.degree is None:
        return f"{WORDS[a.verdict]} in {total}"
    degree, words = a.degree.capitalize(), {str(part.verdict) for part in wrong}
    share, are = f"{len(wrong):,} of {total}", "is" if len(wrong) == 1 else "are"
    if len(words) == 1:
        word = COUNTED[words.pop()]
        return f"{degree} {word}: {share} {are} off" if word == a.verdict else f"{degree} off: {share} {are} {word}"
    if a.verdict == "mixed":
        return f"{degree} off in different ways: {share}"
    return f"{degree} off, mostly {a.verdict}: {share}"


def one_line(a: Assessment) -> str:
    """The verdict; over all classes as much is observed as expected."""
    return f"{headline(a).lower()}, {rows(a):,} rows"


def source(a: Assessment) -> str:
    """How many rows, of what, and how many classes."""
    where = f" of {printable(a.source)}" if a.source else ""
    return f"{pluralize(rows(a), 'row')}{where}; each of {pluralize(len(a.slices), 'class')} as an event"


def advice(a: Assessment) -> str:
    """One sentence on what to do."""
    mild = "but not by much: whether that matters depends on your use."
    several = len({part.verdict for part in off(a)}) > 1
    whose = "The probabilities of most classes that are off" if several else "The probabilities of classes"
    if a.verdict == "too extreme":
        act = f", {mild}" if a.degree == "slightly" else ": do not take them at face value."
        return f"{whose} are too extreme{act}"
    if a.verdict == "too timid":
        act = f", {mild}" if a.degree == "slightly" else ": true classes differ more than predicted ones."
        return f"{whose} are too close to each other{act}"
    if a.verdict == "mixed":
        act = f", {mild}" if a.degree == "slightly" else ": check those before you use them."
        ways = " in different ways" if several else ""
        return f"The probabilities of some classes are off{ways}{act}"
    if a.verdict == "no evidence against calibration":
        return f"In every class, predicted and observed share agree within {points(a.margin)} on average (95% CI)."
    start = f"With {pluralize(rows(a), 'row')}"
    worst = max(a.slices, key=lambda part: _factor_reach(part.risk))
    if all(is_within_points(part.risk, a.margin) for part in a.slices) and math.isfinite(worst.risk.oe_interval[1]):
        # what is not settled then is how many times as often as predicted a rare class occurs
        reach = ratio_interval(*worst.risk.oe_interval)
        return f"{start}, {_quoted(worst.value)} could occur {reach} times as often as predicted (95% CI)."
    worst = max(a.slices, key=lambda part: _points_reach(part.risk))
    most = points(_points_reach(worst.risk), up=True)
    return f"{start}, the share of {_quoted(worst.value)} could be off by up to {most} (95% CI)."


def _points_reach(r: RiskResult) -> float:
    """How far predicted and observed share may be apart."""
    return max(map(abs, r.overstatement_interval))


def _factor_reach(r: RiskResult) -> tuple[float, float]:
    """How far O/E may be from 1, either way, and how large it may be."""
    least, most = r.oe_interval
    return max(1 / least if least else math.inf, most), most


def sentences(a: Assessment) -> list[str]:
    """How many classes are off, and which most."""
    wrong = off(a)
    total = f"{len(a.slices):,}"
    found = []
    if wrong:
        words = f"Of {total} classes, {count_verdicts(a)} (p-values adjusted for {total} classes)."
        found = [words, _worst_sentence(wrong[0], rows_of_weight(a))]
    else:
        unsure = sum(part.verdict == "inconclusive" for part in a.slices)
        p = pvalue(deciding_pvalue(a))
        found = [f"No class is found to be off (smallest p-value, adjusted for {total} classes: {p})."]
        if unsure:
            found.append(f"In {unsure:,} of {total} classes {_not_excluded(a)} is not excluded.")
        else:
            found.append("That does not exclude a difference in one range of predictions, or in one group of rows.")
    return found


def _not_excluded(a: Assessment) -> str:
    """What may be hidden in the classes that are inconclusive: a difference in points, a factor, or either."""
    sides = [part.risk for part in a.slices if part.verdict == "inconclusive"]
    difference, factor = f"a difference of {points(a.margin)}", f"an O/E of 1/{STRONG_FACTOR:g} or {STRONG_FACTOR:g}"
    if all(map(is_within_factor, sides)):
        return difference
    return factor if all(is_within_points(one, a.margin) for one in sides) else f"{difference}, or {factor},"


def _worst_sentence(part: Slice, scale: float) -> str:
    """The class that is furthest off: the range of predictions if they are too extreme or too close to each other."""
    start = f"Furthest off is {_quoted(part.value)}: {COUNTED[str(part.verdict)]}"
    if part.verdict in ("too extreme", "too timid"):
        bands = risk_bands(None, part.reliability)
        places = [
            (place, words)
            for words, is_over in (("fewer", True), ("more", False))
            if (place := find_place(bands, is_over=is_over, scale=scale)) is not None
        ]
        if places:
            place, words = max(places, key=lambda one: one[0].evidence)
            numbers = f"{rough_count(place.observed)} where about {rough_count(place.expected)} were expected"
            return f"{start}, with {words} events than expected {place.words} ({numbers})."
        return f"{start}."
    numbers = f"expected {rough_count(part.stated)}, observed {rough_count(part.seen)}"
    if part.risk.is_weighted:
        numbers = f"by weight, {shares_words(part.stated, part.seen, weight_of_events(part.risk), 'it was')}"
    low, high = part.risk.oe_interval
    why = "; the test also looks at where events occurred, the interval at their sum alone" if low <= 1 <= high else ""
    return f"{start}, {numbers}{oe_words(part.risk)}{why}."


def _quoted(label: object) -> str:
    """A class in a sentence: text in quotes, numbers as they are."""
    return f"'{printable(label, 40)}'" if isinstance(label, str) else f"class {printable(label, 40)}"


def deciding_pvalue(a: Assessment) -> float:
    """The p-value that the verdict rests on: the smallest of the classes, two-sided and adjusted for their number."""
    found = [part.pvalue_adjusted for part in a.slices if not math.isnan(part.pvalue_adjusted)]
    return min(found, default=math.nan)


def describe_pvalue(a: Assessment) -> str:
    """What the p-value is of."""
    side = a.slices[0].risk
    if side.method == "normal":
        return "approximate, from sums of unequal weights; the exact test needs the rows"
    groups = f", for {side.groups:,} groups" if side.groups else ""
    total = pluralize(len(a.slices), "class")
    return f"omnibus, of the worst class, adjusted for {total}{groups}; decides at {a.level:g}"


def notes(a: Assessment) -> list[str]:
    """What else a reader has to know, only where it applies."""
    groups = a.slices[0].risk.groups if a.slices else None
    found = group_notes(a, "events")
    if groups:
        effects = [part.risk.design_effect for part in a.slices]
        most = f" (design effect up to {significant(max(effects), 2)})" if max(effects) >= 1.05 else ""
        belong = f"rows belong to {pluralize(groups, 'group')} ({a.group})"
        found = [f"{belong}: p-values and intervals account for it, approximately{most}."]
    never = [part for part in a.slices if not part.seen]
    if never and not math.isnan(never[0].seen):
        names = ", ".join(printable(part.value, 24) for part in never[:5]) + (", ..." if len(never) > 5 else "")
        found.append(
            f"{pluralize(len(never), 'class')} never occurs: {names}."
            if len(never) == 1
            else f"{pluralize(len(never), 'class')} never occur: {names}."
        )
    if a.risk.rounded:
        found.append(
            "some probabilities are 0 or 1 because they were rounded. Each is taken to lie a quarter of a rounding "
            "step away from it."
        )
    return [*found, *_missing(a)]


#: The metrics that are shown, with their names in a sentence.
_SHOWN = {
    "calibration_slope": "slope",
    "ici": "ICI",
    "e50": "E50",
    "e90": "E90",
    "emax": "Emax",
    "ece": "ECE",
    "auc": "C-statistic",
    "brier": "Brier",
    "scaled_brier": "scaled Brier",
    "log_loss": "log loss",
}


def _missing(a: Assessment) -> list[str]:
    """Which numbers are means over some of the classes, and why, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for key, name in _SHOWN.items():
        if key in a.metrics and key in a.reasons:
            reasons.setdefault(a.reasons[key].rstrip("."), []).append(name)
    found = []
    for why, names in reasons.items():
        rest = all(not math.isnan(a.metrics[key]) for key, name in _SHOWN.items() if name in names)
        mean = f"; {'each' if len(names) > 1 else 'it'} is the mean over the others" if rest else ""
        found.append(f"{', '.join(names)}: {why}{mean}.")
    return found


def slice_title(a: Assessment) -> str:
    """How many classes are off, in one line."""
    total = len(a.slices)
    return f"Classes: {count_verdicts(a) or 'none is off'}, of {total:,} (p adjusted for {total:,})"

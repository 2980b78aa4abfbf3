"""The main numbers of an event, and of every class as one, under the names of the textbooks."""

from __future__ import annotations

import math

from surefoot.assessment.result import Assessment
from surefoot.figures.labels import area, significant
from surefoot.render import class_wording, event_wording
from surefoot.render.numbers import (
    RARE,
    Number,
    area_interval,
    points,
    points_interval,
    pvalue,
    ratio,
    ratio_interval,
    round_down,
    round_up,
    score,
)

#: By section: name, key, and how to read it; what was not computed is not shown.
_CALIBRATION = (
    ("in the large", "calibration_in_the_large", "calibration in the large; below 0, too high"),
    ("intercept", "calibration_intercept", "calibration intercept, beside the slope"),
    ("slope", "calibration_slope", "calibration slope; below 1, too extreme"),
)
_CURVE = (
    ("ICI", "ici", "mean distance from the smoothed curve; 0 is best"),
    ("E50", "e50", "median distance"),
    ("E90", "e90", "distance that 9 in 10 predictions stay below"),
    ("Emax", "emax", "largest distance"),
    ("ECE", "ece", "mean distance in 15 bins; 0 is best"),
)
_TESTS = (
    ("Hosmer-Lemeshow", "hosmer_lemeshow", "chi squared of 10 groups; lower is better"),
    ("Spiegelhalter z", "spiegelhalter_z", "within ±1.96 for 95% of calibrated models"),
)
#: Their laws are those of independent rows.
_TESTS_OF_GROUPS = (
    ("Hosmer-Lemeshow", "hosmer_lemeshow", "chi squared of 10 groups of risk; grows where rows depend on each other"),
    ("Spiegelhalter z", "spiegelhalter_z", "its ±1.96 is of independent rows, which these are not"),
)
_SCORES = (
    ("Brier", "brier", "mean squared distance from outcomes; 0 is best"),
    ("scaled Brier", "scaled_brier", "1 is best, 0 no better than the overall share"),
    ("log loss", "log_loss", "0 is best"),
)


def of_event(a: Assessment) -> dict[str, list[Number]]:
    """Calibration first, then its tests, discrimination, scores, and what acting on predictions is worth."""
    found = {
        "Calibration": [*_ratio(a), *_listed(a, _CALIBRATION), _pvalue(a)],
        "Calibration error": _listed(a, _CURVE),
        "Tests": _listed(a, _TESTS_OF_GROUPS if a.risk.groups else _TESTS),
        "Discrimination": _concordance(a, "chance that events rank above others"),
        "Scores": [*_listed(a, _SCORES), *_net_benefit(a)],
    }
    return {name: numbers for name, numbers in found.items() if numbers}


def of_classes(a: Assessment) -> dict[str, list[Number]]:
    """The p-value of the worst class, and means over classes."""
    p = Number("p-value", pvalue(class_wording.deciding_pvalue(a)), class_wording.describe_pvalue(a))
    found = {
        "Calibration": [p, *_listed(a, (_CALIBRATION[2],))],
        "Calibration error": _listed(a, _CURVE),
        "Discrimination": _concordance(a, "one class against the rest"),
        "Scores": _listed(a, (_SCORES[0], _SCORES[2])),
    }
    return {
        f"{name}, mean over classes" if name != "Calibration" else name: [
            number if number.name == "p-value" or name != "Calibration" else _of_means(number) for number in numbers
        ]
        for name, numbers in found.items()
        if numbers
    }


def _of_means(number: Number) -> Number:
    return Number(number.name, number.value, f"{number.words}; mean over classes", number.is_main)


def _ratio(a: Assessment) -> list[Number]:
    r = a.risk
    size, _, unit = points(r.overstatement).partition(" ")
    found = []
    if math.isfinite(r.oe_ratio):
        words = f"95% CI {ratio_interval(*r.oe_interval)}; observed / expected events"
        found.append(Number("O/E", ratio(r.oe_ratio, *r.oe_interval), words))
    total = a.weight if r.is_weighted else r.n
    if max(r.expected_events, r.observed_events) < RARE * total:
        # points have no digits left
        return found
    apart = f"{unit}, 95% CI {points_interval(*r.overstatement_interval)}; mean prediction - observed share"
    return [*found, Number("difference", size, apart)]


def _pvalue(a: Assessment) -> Number:
    side = event_wording.deciding_side(a)
    return Number("p-value", pvalue(side.pvalue_omnibus), event_wording.describe_pvalue(side, a.level))


def _listed(a: Assessment, names: tuple[tuple[str, str, str], ...]) -> list[Number]:
    return [
        Number(name, number_text(key, a.metrics[key]), f"{interval_words(a, key)}{words}")
        for name, key, words in names
        if key in a.metrics
    ]


def number_text(key: str, value: float) -> str:
    """A metric as this view shows it."""
    if key in ("auc",):
        return area(value)
    return score(value) if key in _AS_SCORES else significant(value)


_AS_SCORES = ("brier", "scaled_brier", "log_loss", "ici", "e50", "e90", "emax", "ece", "net_benefit")


def interval_words(a: Assessment, key: str) -> str:
    """The interval before the words on a number, where there is one."""
    found = a.intervals.get(key)
    if found is None or found.is_absent:
        return ""
    if key == "auc":
        return f"95% CI {area_interval(found.low, found.high)}; "
    return f"95% CI {round_down(found.low)} to {round_up(found.high)}; "


def _concordance(a: Assessment, words: str) -> list[Number]:
    if "auc" not in a.metrics:
        return []
    return [Number("C-statistic (AUC)", area(a.metrics["auc"]), f"{interval_words(a, 'auc')}{words}")]


def _net_benefit(a: Assessment) -> list[Number]:
    if "net_benefit" not in a.metrics:
        return []
    total = a.weight if a.risk.is_weighted else a.risk.n
    everybody = 2 * a.risk.observed_events / total - 1
    words = f"if you act from 50% on; on all rows {score(everybody)}, on none 0"
    return [Number("net benefit", score(a.metrics["net_benefit"]), words)]

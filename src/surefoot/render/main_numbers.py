"""The main numbers of an assessment, formatted once: text, Markdown, notebook and report all read them here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from surefoot.assessment.result import Assessment
from surefoot.core.view import View
from surefoot.figures.labels import area, significant
from surefoot.render import event_numbers
from surefoot.render import prediction_wording as wording
from surefoot.render.numbers import (
    Number,
    percent,
    points,
    points_interval,
    probability,
    pvalue,
    ratio_interval,
    score,
    signed_percent,
)
from surefoot.risk.result import RiskResult


def risk_numbers(
    r: RiskResult,
    deciding: RiskResult,
    typical: tuple[float, float] | None = None,
    level: float | None = None,
) -> list[Number]:
    """Sizes first, then the p-value of the side that decides, then CSR."""
    size, _, unit = points(r.overstatement).partition(" ")
    apart = f"{unit}, 95% CI {points_interval(*r.overstatement_interval)}; mean confidence - accuracy"
    usual = "calibrated is 1"
    if typical is not None:
        usual = f"9 in 10 calibrated models: {significant(typical[0], 2)} to {significant(typical[1], 2)}"
    found = [
        Number("overstatement", size, apart),
        Number("p-value", pvalue(deciding.pvalue_omnibus), wording.describe_pvalue(deciding, level)),
        Number("CSR", significant(r.csr), wording.csr_bound(r) + usual),
    ]
    if math.isfinite(r.oe_ratio):
        errors = f"95% CI {ratio_interval(*r.oe_interval)}; observed / expected errors"
        found.insert(0, Number("O/E", significant(r.oe_ratio), errors))
    return found


def deflation_numbers(a: Assessment) -> list[Number]:
    """The deflation of the side that the verdict is about, with its definition; none where it has no value."""
    side = wording.tested_side(a)
    if math.isnan(side.deflation):
        return []
    words = wording.describe_deflation(a, side)
    return [Number("deflation", percent(side.deflation, zero="0%"), words, is_main=False)]


def value_numbers(metrics: Mapping[str, float]) -> list[Number]:
    """What the confidences are worth."""
    gain = signed_percent(metrics["gain"])
    weighted = f"weighted by confidence (cwA) {percent(metrics['cw_accuracy'])}, gain {gain}"
    found = [Number("accuracy", percent(metrics["accuracy"]), weighted)]
    if "auc" in metrics:
        found.append(Number("AUC", area(metrics["auc"]), f"weighted by confidence (cwAUC) {area(metrics['cw_auc'])}"))
    return found


#: Scores that people know from elsewhere: name, key, and how to read them.
COMMON_SCORES = (
    ("ECE", "ece", "expected calibration error, 15 bins; 0 is best"),
    ("Brier", "brier", "Brier score of correctness; 0 is best"),
    ("log loss", "log_loss", "log loss of correctness; 0 is best"),
)


def score_numbers(metrics: Mapping[str, float]) -> list[Number]:
    """The scores that everyone looks for, where they were computed."""
    return [Number(name, score(metrics[key]), words) for name, key, words in COMMON_SCORES if key in metrics]


def paper_numbers(a: Assessment) -> list[Number]:
    """The paper's probability of risk."""
    words = f"the paper's, which assumes a normal distribution; z {significant(a.risk.z)}"
    return [Number("P_risk", probability(a.risk.p_risk), words, is_main=False)]


def sections(a: Assessment) -> dict[str, list[Number]]:
    """The main numbers of the view, by section."""
    return _SECTIONS[a.view](a)


def _of_predictions(a: Assessment) -> dict[str, list[Number]]:
    typical = None if a.verdict == "overconfident" else a.typical_csr
    risk = [*risk_numbers(a.risk, wording.deciding_side(a), typical, a.level), *deflation_numbers(a), *paper_numbers(a)]
    found = {"Risk": risk, "Value": value_numbers(a.metrics), "Common scores": score_numbers(a.metrics)}
    return {name: numbers for name, numbers in found.items() if numbers}


_SECTIONS: dict[View, Callable[[Assessment], dict[str, list[Number]]]] = {
    "prediction": _of_predictions,
    "event": event_numbers.of_event,
    "classes": event_numbers.of_classes,
}

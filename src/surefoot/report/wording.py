"""What is said of an assessment, in the terminal and in the report alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from surefoot.report.numbers import claimed_by, counted, percent, percents, pvalue, raised, significant, whole

if TYPE_CHECKING:
    from surefoot.assessment import Assessment, Band
    from surefoot.risk.test import RiskResult

WORDS = {
    "overconfident": "Overconfident",
    "underconfident": "Underconfident",
    "no evidence against calibration": "No evidence against calibration",
}
_ADVICE = {
    "overconfident": "Do not take these confidences at face value.",
    "underconfident": "The model is right more often than it says.",
    "no evidence against calibration": "Nothing here says the confidences are too high.",
}
#: A deflation that nobody would call small.
_MUCH = 0.05
#: A share of rows with one confidence that is worth a word.
_SHARED = 0.5


def advice(a: Assessment) -> str:
    """One sentence on what to do."""
    hidden = a.risk.deflation_interval[1]
    if a.risk.certain_wrong:
        rows = counted(a.risk.certain_wrong, "row")
        was = "was" if rows == "1 row" else "were"
        return f"{rows} claimed certainty and {was} wrong: CSR is infinite, p-value 0."
    if a.verdict == "no evidence against calibration" and is_weighted(a):
        return "Nothing here says the confidences are too high; how much rows of different weight hide is not known."
    if a.verdict == "no evidence against calibration" and hidden > _MUCH:
        rows = counted(a.risk.n, "row")
        return f"{rows} can hide a deflation of up to {raised(100 * hidden, 2)}%: too few to reassure."
    return _ADVICE[a.verdict]


def is_weighted(a: Assessment) -> bool:
    """Whether rows weigh differently: then what is counted is weight, not rows."""
    return math.isnan(a.risk.deflation) and a.weight != a.risk.n


def mistakes(a: Assessment) -> str:
    """Stated against seen."""
    if is_weighted(a):
        shares = (percent(number / a.weight) for number in (a.stated, a.seen))
        return "Of all weight, the model allowed for {} to be mistaken; {} was.".format(*shares)
    said = f"The model allowed for {counted(a.stated, 'mistake')} and made {whole(a.seen)}."
    sure = [band for band in a.bands if band.below <= 0.01]
    rows, stated, seen = (sum(getattr(band, name) for band in sure) for name in ("rows", "stated", "seen"))
    if a.verdict == "overconfident" and stated and seen > stated:
        said += (
            f" On the {counted(rows, 'row')} it was more than 99% sure of, it allowed for {whole(stated)} and made "
            f"{whole(seen)}: {significant(seen / stated, 2)} times as many."
        )
    return said


def tested_side(a: Assessment) -> RiskResult:
    """The side that the verdict is about; against overconfidence if it is about none."""
    return a.underconfidence if a.verdict == "underconfident" else a.risk


def how_sure(side: RiskResult) -> str:
    if side.method == "normal":
        return "by the normal law: the exact one needs the rows where weights are unequal"
    return f"exact; with no row allowed to dominate {pvalue(side.pvalue_capped)}"


def how_large(a: Assessment, side: RiskResult) -> str:
    interval = percents(*side.deflation_interval)
    if a.verdict == "underconfident":
        return f"of doubt, {interval}; stated doubt × {significant(1 - side.deflation)} fits best"
    if a.verdict == "overconfident":
        return f"{interval}; stated confidence × {significant(1 - side.deflation)} fits best"
    return f"{interval}; at most this much is hidden in {counted(a.risk.n, 'row')}"


def notes(a: Assessment) -> list[str]:
    """What has to be said besides, only where it applies."""
    risk = a.risk
    said = []
    if risk.rounded:
        said.append(
            f"{risk.rounded:,} of {risk.n:,} confidences are 1.0 as a rounded number, not as a claim: CSR rests on a "
            "convention there; logits would be exact: Predictions.from_logits."
        )
    if risk.certain and not risk.certain_wrong:
        said.append(f"{risk.certain:,} of {risk.n:,} rows claim certainty and are right; CSR leaves them out.")
    said.extend(_shared(a))
    shown = ("csr", "cw_accuracy", "auc", "cw_auc")
    said.extend(f"{name}: {a.reasons[name]}." for name in shown if name in a.metrics and name in a.reasons)
    if risk.note:
        said.append(f"{risk.note[0].lower()}{risk.note[1:]}")
    off = max(a.bounds.get("auc", 0.0), a.bounds.get("cw_auc", 0.0))
    if off >= 5e-5:
        said.append(f"AUC and cwAUC are read from a tally and may be off by {significant(off, 1)}.")
    return said


def _shared(a: Assessment) -> list[str]:
    """Whether many rows share one confidence, as when a language model always says 90%."""
    if a.counts is None or not a.counts.is_exact or a.risk.n < 10:
        return []
    most = int(a.counts.rows.argmax())
    share, confidence = a.counts.rows[most] / a.counts.n, claimed_by(float(a.counts.doubt[most]))
    if a.counts.rows[most] == a.counts.n:
        return [f"all rows share one confidence ({confidence}): it tells no row from another."]
    if share < _SHARED:
        return []
    return [f"{math.floor(100 * share)}% of rows share one confidence ({confidence}): ranking by it says little."]


def claims(band: Band) -> str:
    """What the rows of a band claim."""
    from surefoot.report.numbers import claimed

    if band.least == 0:
        return f"above {claimed(1 - band.below)}"
    if band.below == 1:
        return f"below {claimed(1 - band.least)}"
    return f"{claimed(1 - band.below)} to {claimed(1 - band.least)}"

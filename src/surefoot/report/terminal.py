"""An assessment in plain text: what was read, verdict, risk, value, where it goes wrong, slices, notes."""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from surefoot.report.numbers import (
    claimed,
    count,
    counted,
    cut,
    factor,
    percent,
    percents,
    probability,
    pvalue,
    raised,
    signed_percent,
    significant,
    whole,
)

if TYPE_CHECKING:
    from surefoot.assessment import Assessment, Band
    from surefoot.risk.test import RiskResult
    from surefoot.slices import Slice

_WIDTH = 78
_SHOWN_SLICES = 3
_VERDICTS = {
    "overconfident": ("▼ OVERCONFIDENT", "Do not take these confidences at face value."),
    "underconfident": ("▲ UNDERCONFIDENT", "The model is right more often than it says."),
    "no evidence against calibration": (
        "NO EVIDENCE AGAINST CALIBRATION",
        "Nothing here says the confidences are too high.",
    ),
}
_MARKS: dict[str | None, str] = {"overconfident": "▼", "underconfident": "▲"}
_PLAIN = str.maketrans(
    {"▼": "v", "▲": "^", "→": "->", "×": "x", "−": "-", "∞": "inf", "—": "-", "σ": "sigma", "…": "..."}
)
#: A deflation that nobody would call small.
_MUCH = 0.05


def render(a: Assessment) -> str:
    """The whole text; only plain characters unless it goes to a terminal that shows others."""
    sections = (_read(a), _verdict(a), _sentence(a), _risk(a), _value(a), _where(a), _slices(a), _notes(a))
    text = "\n\n".join(section for lines in sections if (section := "\n".join(f"  {line}" for line in lines)))
    return text if _shows_symbols() else text.translate(_PLAIN)


def _shows_symbols() -> bool:
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and encoding.startswith("utf")


def _read(a: Assessment) -> Iterator[str]:
    classes = "" if a.classes is None else f", {counted(a.classes, 'class')}"
    weights = "" if a.weight == a.risk.n else f"; counted by weights that add up to {significant(a.weight)}"
    yield f"{counted(a.risk.n, 'row')}{classes}{weights}"


def _verdict(a: Assessment) -> Iterator[str]:
    word, sentence = _VERDICTS[a.verdict]
    hidden = a.risk.deflation_interval[1]
    if a.risk.certain_wrong:
        rows = counted(a.risk.certain_wrong, "row")
        was = "was" if rows == "1 row" else "were"
        sentence = f"{rows} claimed certainty and {was} wrong: CSR is infinite, p-value 0."
    elif a.verdict not in _MARKS and hidden > _MUCH:
        rows = counted(a.risk.n, "row")
        sentence = f"{rows} can hide a deflation of up to {raised(100 * hidden, 2)}%: too few to reassure."
    yield f"{word}   {sentence}"


def _sentence(a: Assessment) -> Iterator[str]:
    said = f"The model allowed for {counted(a.stated, 'mistake')} and made {whole(a.seen)}."
    sure = [band for band in a.bands if band.below <= 0.01]
    rows, stated, seen = (sum(getattr(band, name) for band in sure) for name in ("rows", "stated", "seen"))
    if a.verdict == "overconfident" and stated and seen > stated:
        said += (
            f" On the {counted(rows, 'row')} it was more than 99% sure of, it allowed for {whole(stated)} and made "
            f"{whole(seen)}: {significant(seen / stated, 2)} times as many."
        )
    yield from textwrap.wrap(said, _WIDTH)


def _risk(a: Assessment) -> Iterator[str]:
    side = a.underconfidence if a.verdict == "underconfident" else a.risk
    yield "Risk"
    bound = "" if math.isnan(a.risk.csr_lower) else f"at least {cut(a.risk.csr_lower)} (95%); "
    typical = None if a.verdict == "overconfident" else a.typical_csr
    usual = "calibrated is 1"
    if typical is not None:
        usual = f"9 in 10 calibrated models: {significant(typical[0], 2)} to {significant(typical[1], 2)}"
    yield _line("CSR", significant(a.risk.csr), bound + usual)
    yield _line("p-value", pvalue(side.pvalue), _how_sure(side))
    if not math.isnan(side.deflation):
        yield _line("deflation", _share(side.deflation), _how_large(a, side))
    yield _line("P_risk", probability(a.risk.p_risk), f"the paper's, by a normal law; z {significant(a.risk.z)}")


def _share(value: float) -> str:
    return "0%" if value == 0 else percent(value)


def _how_sure(side: RiskResult) -> str:
    if side.method == "normal":
        return "by the normal law: the exact one needs the rows where weights are unequal"
    return f"exact; with no row allowed to dominate {pvalue(side.pvalue_capped)}"


def _how_large(a: Assessment, side: RiskResult) -> str:
    interval = percents(*side.deflation_interval)
    if a.verdict == "underconfident":
        return f"of doubt, {interval}; stated doubt × {significant(1 - side.deflation)} fits best"
    if a.verdict == "overconfident":
        return f"{interval}; stated confidence × {significant(1 - side.deflation)} fits best"
    return f"{interval}; at most this much is hidden in {counted(a.risk.n, 'row')}"


def _value(a: Assessment) -> Iterator[str]:
    yield "Value"
    yield _line(
        "accuracy",
        percent(a.metrics["accuracy"]),
        f"weighted by confidence (cwA)   {percent(a.metrics['cw_accuracy']):>6}   "
        f"gain {signed_percent(a.metrics['gain'])}",
    )
    if "auc" in a.metrics:
        plain, weighted = a.metrics["auc"], a.metrics["cw_auc"]
        yield _line("AUC", _area(plain), f"weighted by confidence (cwAUC) {_area(weighted)}")


def _area(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:.4f}"


def _line(name: str, value: str, rest: str) -> str:
    # put into plain characters before it is aligned: some become longer
    shown = value if _shows_symbols() else value.translate(_PLAIN)
    return f"  {name:<13}{shown:>8}   {rest}"


def _where(a: Assessment) -> Iterator[str]:
    if len(a.bands) < 2:
        return
    yield "Where it goes wrong" if a.verdict == "overconfident" else "By claimed confidence"
    yield f"  {'claimed confidence':<22}{'rows':>9}    mistakes stated{'seen':>9}"
    for band in a.bands:
        times = factor(band.seen, band.stated) if a.verdict == "overconfident" and band.seen > band.stated else ""
        line = f"  {_claims(band):<22}{whole(band.rows):>9}{whole(band.stated):>19}{count(band.seen):>9}    {times}"
        yield line.rstrip()


def _claims(band: Band) -> str:
    if band.least == 0:
        return f"above {claimed(1 - band.below)}"
    if band.below == 1:
        return f"below {claimed(1 - band.least)}"
    return f"{claimed(1 - band.below)} to {claimed(1 - band.least)}"


def _slices(a: Assessment) -> Iterator[str]:
    if not a.slices:
        return
    if a.by == "truth":
        yield "Slices by truth (descriptive: the truth is the outcome, so these get no verdict)"
    else:
        over = sum(part.verdict == "overconfident" for part in a.slices)
        yield f"Slices by {a.by}: {over:,} of {len(a.slices):,} overconfident (p adjusted for {len(a.slices):,})"
    worst = sorted(a.slices, key=_badness)[:_SHOWN_SLICES]
    names = [_shortened(str(part.value)) for part in worst]
    width = max(map(len, names))
    for name, part in zip(names, worst, strict=True):
        yield f"  {_MARKS.get(part.verdict, ' ')} {name:<{width}} {_slice_numbers(part)}".rstrip()
    if len(a.slices) > len(worst):
        yield f"    {len(a.slices) - len(worst):,} more in .slices"


def _badness(part: Slice) -> Any:
    """Those named first, then by how sure, then by how large."""
    csr = part.risk.csr if not math.isnan(part.risk.csr) else 0.0
    p = part.risk.pvalue_combined if not math.isnan(part.risk.pvalue_combined) else 1.0
    return (part.verdict != "overconfident", p if p > 1e-12 else 0.0, -part.risk.deflation, -csr)


def _slice_numbers(part: Slice) -> str:
    mistakes = f"{whole(part.stated)} → {counted(part.seen, 'mistake')}"
    deflated = "" if math.isnan(part.risk.deflation) else f"deflation {_share(part.risk.deflation)}"
    sure = "" if math.isnan(part.pvalue_adjusted) else f"p {pvalue(part.pvalue_adjusted)}"
    return f"{deflated:<15} {mistakes:<20} CSR {significant(part.risk.csr):<6} {sure}"


def _shortened(name: str) -> str:
    """Names from outside: control characters escaped, long ones cut in the middle."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return shown if len(shown) <= 40 else f"{shown[:19]}…{shown[-20:]}"


def _notes(a: Assessment) -> Iterator[str]:
    risk = a.risk
    said = []
    if risk.rounded:
        said.append(
            f"{risk.rounded:,} of {risk.n:,} confidences are 1.0 in a narrow float type, a rounded number: CSR rests "
            "on a convention there; logits would be exact: Predictions.from_logits."
        )
    if risk.certain and not risk.certain_wrong:
        said.append(f"{risk.certain:,} of {risk.n:,} rows claim certainty and are right; CSR leaves them out.")
    shown = ("csr", "cw_accuracy", "auc", "cw_auc")
    said.extend(f"{name}: {a.reasons[name]}." for name in shown if name in a.metrics and name in a.reasons)
    if risk.note:
        said.append(f"{risk.note[0].lower()}{risk.note[1:]}")
    off = max(a.bounds.get("auc", 0.0), a.bounds.get("cw_auc", 0.0))
    if off >= 5e-5:
        said.append(f"AUC and cwAUC are read from a tally and may be off by {significant(off, 1)}.")
    for note in said:
        yield from textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="      ")

"""An assessment in plain text: what was read, verdict, notes, risk, value, where it goes wrong, slices."""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.figures.labels import area, significant
from surefoot.render import wording
from surefoot.render.numbers import (
    count,
    counted,
    factor,
    percent,
    points,
    points_between,
    probability,
    pvalue,
    ratio_between,
    signed_percent,
    whole,
)

if TYPE_CHECKING:
    from surefoot.assessment.assess import Assessment
    from surefoot.assessment.slices import Slice

_WIDTH = 78
_SHOWN_SLICES = 3
_MARKS: dict[str | None, str] = {"overconfident": "▼", "underconfident": "▲", "mixed": "▼▲"}
_HUES: dict[str | None, str] = {"overconfident": "31", "underconfident": "34", "mixed": "31"}
_PLAIN = str.maketrans(
    {"▼": "v", "▲": "^", "→": "->", "×": "x", "−": "-", "∞": "inf", "—": "-", "σ": "sigma", "…": "..."}
)
_BOLD, _DIM = "1", "2"


class Paper:
    """What the text is written on: which characters it shows, how wide it is, and whether in colour."""

    def __init__(self, *, symbols: bool, colour: bool = False, width: int = 88) -> None:
        self.symbols, self.colour, self.width = symbols, colour, width

    @classmethod
    def at_hand(cls, *, colour: bool = True) -> Paper:
        """Standard output: plain characters, without colour, unless it is a terminal that shows more."""
        encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
        # a process may have been started without an output
        is_terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if is_terminal else 88
        wants_colour = colour and is_terminal and "NO_COLOR" not in os.environ
        return cls(symbols=is_terminal and encoding.startswith("utf"), colour=wants_colour, width=columns)

    def plain(self, text: str) -> str:
        """The text in characters that can be shown: before it is aligned, for some become longer."""
        return text if self.symbols else text.translate(_PLAIN)

    def ink(self, text: str, *styles: str) -> str:
        """The text in colour, where there is any."""
        kept = ";".join(style for style in styles if style)
        return f"\x1b[{kept}m{text}\x1b[0m" if self.colour and kept and text else text


def render(a: Assessment, paper: Paper | None = None) -> str:
    """The whole text, with the first few slices."""
    page = _Page(a, paper or Paper.at_hand(colour=False))
    sections = (page.read(), page.verdict(), page.notes(), page.risk(), page.value(), page.where(), page.slices())
    text = "\n\n".join(section for lines in sections if (section := "\n".join(f"  {line}".rstrip() for line in lines)))
    return page.paper.plain(text)


class _Page:
    def __init__(self, a: Assessment, paper: Paper) -> None:
        self.a, self.paper, self.ink = a, paper, paper.ink

    def read(self) -> Iterator[str]:
        a = self.a
        if a.source:
            said = f"{counted(a.risk.n, 'row')} of {printable(a.source)}" + (f"; {a.columns}" if a.columns else "")
        else:
            said = counted(a.risk.n, "row") + ("" if a.classes is None else f", {counted(a.classes, 'class')}")
        weights = "" if a.weight == a.risk.n else f"; counted by weights that add up to {count(a.weight)}"
        yield from textwrap.wrap(said + weights, _WIDTH)

    def verdict(self) -> Iterator[str]:
        a = self.a
        mark = f"{_MARKS[a.verdict]} " if a.verdict in _MARKS else ""
        yield self.ink(f"{mark}{wording.headline(a).upper()}", _BOLD, _HUES.get(a.verdict, ""))
        yield from textwrap.wrap(wording.advice(a), _WIDTH)
        yield ""
        yield from textwrap.wrap(" ".join(wording.sentences(a)), _WIDTH)

    def notes(self) -> Iterator[str]:
        for note in wording.notes(self.a):
            for line in textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="      "):
                yield self.ink(line, _DIM)

    def risk(self) -> Iterator[str]:
        a, side = self.a, wording.tested_side(self.a)
        yield self.ink("Risk", _BOLD)
        r, colour = a.risk, _HUES.get(a.verdict, "")
        errors = "observed / expected errors"
        if math.isfinite(r.oe_ratio):
            yield self.line(
                "O/E", significant(r.oe_ratio), f"95% CI {ratio_between(*r.oe_interval)}; {errors}", _BOLD, colour
            )
        size = points(r.overstatement).partition(" ")[0]
        interval = points_between(*r.overstatement_interval)
        yield self.line("overstatement", size, f"points, 95% CI {interval}; mean confidence - accuracy", _BOLD, colour)
        decides = wording.deciding_side(a)
        yield self.line("p-value", pvalue(decides.pvalue_omnibus), wording.how_sure(decides), _BOLD)
        bound = wording.bound_of_csr(r)
        typical = None if a.verdict == "overconfident" else a.typical_csr
        usual = "calibrated is 1"
        if typical is not None:
            usual = f"9 in 10 calibrated models: {significant(typical[0], 2)} to {significant(typical[1], 2)}"
        yield self.line("CSR", significant(r.csr), bound + usual, _BOLD)
        if not math.isnan(side.deflation):
            yield self.line("deflation", _share(side.deflation), wording.how_large(a, side))
        rest = f"the paper's, which assumes a normal distribution; z {significant(r.z)}"
        yield self.line("P_risk", probability(a.risk.p_risk), rest)
        yield from self.ruler()

    def ruler(self) -> Iterator[str]:
        """CSR on a log scale against 1 and where calibrated models land; only where there is room for it."""
        a = self.a
        if not self.paper.symbols or self.paper.width < 80 or a.verdict != "overconfident" or a.typical_csr is None:
            return
        if not 0 < a.risk.csr < math.inf or math.isnan(a.risk.csr_lower):
            return
        decades = max(2, math.ceil(math.log10(a.risk.csr) + 0.2))
        if decades > 6:
            return
        size = 57

        def at(value: float) -> int:
            return min(size - 1, max(0, round((math.log10(max(value, 0.1)) + 1) / (decades + 1) * (size - 1))))

        low, high = a.typical_csr
        line = ["─"] * size
        for place in range(at(low), at(high) + 1):
            line[place] = ":"
        lower, here = at(max(a.risk.csr_lower, 0.1)), at(a.risk.csr)
        for place in range(lower, size):
            line[place] = "="
        line[0], line[at(1)], line[-1] = "|", "|", "→"
        line[lower], line[here] = "[", "▼"
        ticks = [" "] * (size + 8)
        for decade in range(-1, decades + 1):
            text = "0.1" if decade < 0 else f"{10**decade:,}"
            place = max(0, at(10.0**decade) - (len(text) // 2 if decade >= 0 else 0))
            ticks[place : place + len(text)] = text
        said = [" "] * (size + 30)
        band, own = "9 in 10 calibrated models", "this model"
        said[at(low) : at(low) + len(band)] = band
        place = max(at(low) + len(band) + 2, here - len(own) // 2)
        said[place : place + len(own)] = own
        yield ""
        yield "  " + self.ink("".join(ticks).rstrip(), _DIM)
        yield "  " + "".join(line)
        yield "  " + self.ink("".join(said).rstrip(), _DIM)

    def value(self) -> Iterator[str]:
        a = self.a
        yield self.ink("Value", _BOLD)
        yield self.line(
            "accuracy",
            percent(a.metrics["accuracy"]),
            f"weighted by confidence (cwA)   {percent(a.metrics['cw_accuracy']):>6}   "
            f"gain {signed_percent(a.metrics['gain'])}",
        )
        if "auc" in a.metrics:
            plain, weighted = a.metrics["auc"], a.metrics["cw_auc"]
            yield self.line("AUC", area(plain), f"weighted by confidence (cwAUC) {area(weighted)}")

    def line(self, name: str, value: str, rest: str, *styles: str) -> str:
        number = f"{self.paper.plain(value):>8}"
        return f"  {self.ink(f'{name:<13}', _DIM)}{self.ink(number, *styles)}   {rest}"

    def where(self) -> Iterator[str]:
        a = self.a
        if len(a.bands) < 2:
            return
        found = a.verdict in ("overconfident", "mixed")
        yield self.ink("Where it goes wrong" if found else "By confidence", _BOLD)
        yield self.ink(f"  {'confidence':<22}{'rows':>9}    expected errors{'observed':>10}", _DIM)
        for band in a.bands:
            times = factor(band.seen, band.stated) if found and band.seen > band.stated else ""
            numbers = f"{whole(band.rows):>9}{whole(band.stated):>19}{count(band.seen):>10}"
            yield f"  {wording.claims(band):<22}{numbers}    {self.ink(times, _HUES['overconfident'])}".rstrip()

    def slices(self) -> Iterator[str]:
        a = self.a
        if not a.slices:
            return
        if a.by == "truth":
            yield self.ink("Slices by truth (descriptive: the truth is the outcome, so these get no verdict)", _BOLD)
        else:
            over = sum(part.verdict == "overconfident" for part in a.slices)
            total = len(a.slices)
            kinds = ("underconfident", "mixed", "inconclusive")
            numbers = {kind: sum(part.verdict == kind for part in a.slices) for kind in kinds}
            also = "".join(f", {number:,} {kind}" for kind, number in numbers.items() if number)
            said = (
                f"Slices by {printable(a.by, 40)}: {over:,} of {total:,} overconfident{also} (p adjusted for {total:,})"
            )
            yield self.ink(said, _BOLD)
        worst = sorted(a.slices, key=severity)[:_SHOWN_SLICES]
        names = [printable(part.value, 40) for part in worst]
        width = max(map(len, names))
        for name, part in zip(names, worst, strict=True):
            mark = self.ink(_MARKS.get(part.verdict, " "), _HUES.get(part.verdict, ""))
            yield f"  {mark:<1} {name:<{width}} {self.slice_numbers(part)}".rstrip()
        if len(a.slices) > len(worst):
            yield f"    {len(a.slices) - len(worst):,} more in {'the report' if a.source else '.slices'}"

    def slice_numbers(self, part: Slice) -> str:
        mistakes = self.paper.plain(f"{whole(part.stated)} → {counted(part.seen, 'error')}")
        size = part.risk.overstatement
        apart = f"{'+' if size > 0 else ''}{points(size)}"
        sure = "" if math.isnan(part.pvalue_adjusted) else f"p {pvalue(part.pvalue_adjusted)}"
        csr = f"CSR {significant(part.risk.csr):<8} " if self.paper.width >= 80 else ""
        return f"{apart:<13} {mistakes:<20} {csr}{sure}"


def severity(part: Slice) -> Any:
    """Those named first, then by how much, then by how sure."""
    degrees = (None, "slightly", "clearly", "strongly")
    named = ("overconfident", "mixed", "underconfident")
    p = part.risk.pvalue_omnibus if not math.isnan(part.risk.pvalue_omnibus) else 1.0
    order = named.index(part.verdict) if part.verdict in named else len(named)
    return (order, -degrees.index(part.degree), p if p > 1e-12 else 0.0, -part.risk.overstatement)


def _share(value: float) -> str:
    return "0%" if value == 0 else percent(value)

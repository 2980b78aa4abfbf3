"""An assessment in plain text: what was read, verdict, notes, risk, value, where it goes wrong, slices."""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice
from surefoot.figures.labels import area, significant
from surefoot.figures.ruler import csr_axis
from surefoot.render import wording
from surefoot.render.looks import SYMBOLS, TERMINAL_COLOURS
from surefoot.render.numbers import (
    count,
    factor,
    percent,
    pluralize,
    points,
    points_interval,
    probability,
    pvalue,
    ratio_interval,
    rough_count,
    signed_percent,
)

_WIDTH = 78
_SHOWN_SLICES = 3
_PLAIN = str.maketrans(
    {"▼": "v", "▲": "^", "→": "->", "×": "x", "−": "-", "∞": "inf", "—": "-", "σ": "sigma", "…": "..."}
)
#: Codes of ANSI.
BOLD, DIM = "1", "2"


class Terminal:
    """What text is written for: which characters it shows, how wide it is, and whether in colour."""

    def __init__(self, *, symbols: bool, colour: bool = False, width: int = 88) -> None:
        self.symbols, self.colour, self.width = symbols, colour, width

    @classmethod
    def detect(cls, *, colour: bool = True) -> Terminal:
        """Detect standard output: plain characters, without colour, unless it is a terminal that shows more."""
        encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
        # a process may have been started without an output
        is_terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if is_terminal else 88
        wants_colour = colour and is_terminal and "NO_COLOR" not in os.environ
        return cls(symbols=is_terminal and encoding.startswith("utf"), colour=wants_colour, width=columns)

    def simplify(self, text: str) -> str:
        """Write the text in characters that can be shown; before it is aligned, for some become longer."""
        return text if self.symbols else text.translate(_PLAIN)

    def style(self, text: str, *styles: str) -> str:
        """Write the text in colour, where there is any."""
        kept = ";".join(style for style in styles if style)
        return f"\x1b[{kept}m{text}\x1b[0m" if self.colour and kept and text else text


def render(a: Assessment, terminal: Terminal | None = None) -> str:
    """The whole text, with the first few slices."""
    page = _Page(a, terminal or Terminal.detect(colour=False))
    parts = (page.header, page.verdict, page.notes, page.risk, page.value, page.by_confidence, page.slices)
    texts = ("\n".join(f"  {line}".rstrip() for line in lines()) for lines in parts)
    return page.terminal.simplify("\n\n".join(filter(None, texts)))


class _Page:
    """The sections of the text, each as its lines."""

    def __init__(self, a: Assessment, terminal: Terminal) -> None:
        self.a, self.terminal, self.style = a, terminal, terminal.style

    def header(self) -> Iterator[str]:
        a = self.a
        if a.source:
            words = f"{pluralize(a.risk.n, 'row')} of {printable(a.source)}" + (f"; {a.columns}" if a.columns else "")
        else:
            words = pluralize(a.risk.n, "row") + ("" if a.classes is None else f", {pluralize(a.classes, 'class')}")
        weights = "" if a.weight == a.risk.n else f"; counted by weights that add up to {count(a.weight)}"
        yield from textwrap.wrap(words + weights, _WIDTH)

    def verdict(self) -> Iterator[str]:
        a = self.a
        mark = f"{SYMBOLS[a.verdict]} " if a.verdict in SYMBOLS else ""
        yield self.style(f"{mark}{wording.headline(a).upper()}", BOLD, TERMINAL_COLOURS.get(a.verdict, ""))
        yield from textwrap.wrap(wording.advice(a), _WIDTH)
        yield ""
        yield from textwrap.wrap(" ".join(wording.sentences(a)), _WIDTH)

    def notes(self) -> Iterator[str]:
        for note in wording.notes(self.a):
            for line in textwrap.wrap(f"note: {note}", _WIDTH, subsequent_indent="      "):
                yield self.style(line, DIM)

    def risk(self) -> Iterator[str]:
        a, side = self.a, wording.tested_side(self.a)
        yield self.style("Risk", BOLD)
        r, colour = a.risk, TERMINAL_COLOURS.get(a.verdict, "")
        errors = "observed / expected errors"
        if math.isfinite(r.oe_ratio):
            ends = ratio_interval(*r.oe_interval)
            yield self.line("O/E", significant(r.oe_ratio), f"95% CI {ends}; {errors}", BOLD, colour)
        size = points(r.overstatement).partition(" ")[0]
        interval = points_interval(*r.overstatement_interval)
        yield self.line("overstatement", size, f"points, 95% CI {interval}; mean confidence - accuracy", BOLD, colour)
        decides = wording.deciding_side(a)
        yield self.line("p-value", pvalue(decides.pvalue_omnibus), wording.describe_pvalue(decides), BOLD)
        typical = None if a.verdict == "overconfident" else a.typical_csr
        usual = "calibrated is 1"
        if typical is not None:
            usual = f"9 in 10 calibrated models: {significant(typical[0], 2)} to {significant(typical[1], 2)}"
        yield self.line("CSR", significant(r.csr), wording.csr_bound(r) + usual, BOLD)
        if not math.isnan(side.deflation):
            yield self.line("deflation", percent(side.deflation, zero="0%"), wording.describe_deflation(a, side))
        rest = f"the paper's, which assumes a normal distribution; z {significant(r.z)}"
        yield self.line("P_risk", probability(a.risk.p_risk), rest)
        yield from self.ruler()

    def ruler(self) -> Iterator[str]:
        """CSR on a log scale against 1 and where calibrated models land; only where there is room for it."""
        r, typical, terminal = self.a.risk, self.a.typical_csr, self.terminal
        has_room = terminal.symbols and terminal.width >= 80
        if not has_room or self.a.verdict != "overconfident" or typical is None:
            return
        if not 0 < r.csr < math.inf or math.isnan(r.csr_lower):
            return
        axis = csr_axis(r.csr, typical)
        if axis.high > 1e6:
            return
        size = 57

        def at(value: float) -> int:
            return round(axis.clipped_share(value) * (size - 1))

        low, high, lower, here = at(typical[0]), at(typical[1]), at(r.csr_lower), at(r.csr)
        line = list("─" * size)
        line[low : high + 1] = ":" * (high + 1 - low)
        line[lower:] = "=" * (size - lower)
        line[0], line[at(1)], line[-1] = "|", "|", "→"
        line[lower], line[here] = "[", "▼"
        ticks = list(" " * (size + 8))
        for tick in axis.ticks:
            place = max(0, at(tick.value) - len(tick.label) // 2)
            ticks[place : place + len(tick.label)] = tick.label
        band, own = "9 in 10 calibrated models", "this model"
        gap = max(2, here - len(own) // 2 - low - len(band))
        legend = f"{' ' * low}{band}{' ' * gap}{own}"
        yield ""
        yield "  " + self.style("".join(ticks).rstrip(), DIM)
        yield "  " + "".join(line)
        yield "  " + self.style(legend, DIM)

    def value(self) -> Iterator[str]:
        a = self.a
        yield self.style("Value", BOLD)
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
        number = f"{self.terminal.simplify(value):>8}"
        return f"  {self.style(f'{name:<13}', DIM)}{self.style(number, *styles)}   {rest}"

    def by_confidence(self) -> Iterator[str]:
        a = self.a
        if len(a.bands) < 2:
            return
        found = a.verdict in ("overconfident", "mixed")
        yield self.style("Where it goes wrong" if found else "By confidence", BOLD)
        yield self.style(f"  {'confidence':<22}{'rows':>9}    expected errors{'observed':>10}", DIM)
        for band in a.bands:
            times = factor(band.seen, band.stated) if found and band.seen > band.stated else ""
            numbers = f"{rough_count(band.rows):>9}{rough_count(band.stated):>19}{count(band.seen):>10}"
            times = self.style(times, TERMINAL_COLOURS["overconfident"])
            yield f"  {wording.confidence_range(band):<22}{numbers}    {times}".rstrip()

    def slices(self) -> Iterator[str]:
        a = self.a
        if not a.slices:
            return
        if a.by == "truth":
            yield self.style("Slices by truth (descriptive: the truth is the outcome, so these get no verdict)", BOLD)
        else:
            over = sum(part.verdict == "overconfident" for part in a.slices)
            total = len(a.slices)
            kinds = ("underconfident", "mixed", "inconclusive")
            numbers = {kind: sum(part.verdict == kind for part in a.slices) for kind in kinds}
            also = "".join(f", {number:,} {kind}" for kind, number in numbers.items() if number)
            head = f"Slices by {printable(a.by, 40)}: {over:,} of {total:,} overconfident{also}"
            yield self.style(f"{head} (p adjusted for {total:,})", BOLD)
        worst = sorted(a.slices, key=severity)[:_SHOWN_SLICES]
        names = [printable(part.value, 40) for part in worst]
        width = max(map(len, names))
        for name, part in zip(names, worst, strict=True):
            mark = self.style(SYMBOLS.get(part.verdict, " "), TERMINAL_COLOURS.get(part.verdict, ""))
            yield f"  {mark:<1} {name:<{width}} {self.slice_numbers(part)}".rstrip()
        if len(a.slices) > len(worst):
            yield f"    {len(a.slices) - len(worst):,} more in {'the report' if a.source else '.slices'}"

    def slice_numbers(self, part: Slice) -> str:
        errors = self.terminal.simplify(f"{rough_count(part.stated)} → {pluralize(part.seen, 'error')}")
        size = part.risk.overstatement
        apart = f"{'+' if size > 0 else ''}{points(size)}"
        sure = "" if math.isnan(part.pvalue_adjusted) else f"p {pvalue(part.pvalue_adjusted)}"
        csr = f"CSR {significant(part.risk.csr):<8} " if self.terminal.width >= 80 else ""
        return f"{apart:<13} {errors:<20} {csr}{sure}"


def severity(part: Slice) -> Any:
    """The order of slices: by verdict, then by how much, then by how sure."""
    degrees = (None, "slightly", "clearly", "strongly")
    named = ("overconfident", "mixed", "underconfident")
    p = part.risk.pvalue_omnibus if not math.isnan(part.risk.pvalue_omnibus) else 1.0
    order = named.index(part.verdict) if part.verdict in named else len(named)
    return (order, -degrees.index(part.degree), p if p > 1e-12 else 0.0, -part.risk.overstatement)

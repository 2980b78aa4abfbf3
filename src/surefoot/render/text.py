"""An assessment in plain text: verdict, notes, risk, value, where it goes wrong, slices, and what to do next."""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Iterator

from surefoot._io.printable import printable
from surefoot.assessment.result import Assessment
from surefoot.assessment.slices import Slice
from surefoot.assessment.verdict import RISKY
from surefoot.core.view import View
from surefoot.figures.concentration import ENOUGH_ERRORS
from surefoot.figures.labels import significant
from surefoot.figures.ruler import csr_axis
from surefoot.render import event_tables, prediction_wording, wording
from surefoot.render.looks import BOTH_SIDES, SYMBOLS, TERMINAL_COLOURS
from surefoot.render.main_numbers import sections
from surefoot.render.next_steps import next_steps
from surefoot.render.numbers import Number, count, factor, pluralize, points, pvalue, rough_count
from surefoot.render.severity import severity
from surefoot.render.shared_wording import rows_of_weight

#: Columns that text is made for at least and at most, and those of running text.
_NARROWEST, _WIDEST, _PROSE = 50, 88, 78
#: Columns from which words stand beside a number, and not under it; and from which there is a ruler.
_BESIDE, _ROOMY = 72, 80
#: Slices, and classes, that are shown.
_SHOWN_SLICES, _SHOWN_CLASSES = 3, 10
_PLAIN = str.maketrans(
    {"▼": "v", "▲": "^", "→": "->", "×": "x", "−": "-", "∞": "inf", "—": "-", "σ": "sigma", "…": "..."}
)
#: Codes of ANSI.
BOLD, DIM = "1", "2"


class Terminal:
    """What text is written for: which characters it shows, how wide it is, and whether in colour."""

    def __init__(self, *, symbols: bool, colour: bool = False, width: int = _WIDEST) -> None:
        self.symbols, self.colour, self.width = symbols, colour, width

    @classmethod
    def detect(cls, *, colour: bool = True) -> Terminal:
        """Detect standard output: plain characters, without colour, unless it is a terminal that shows more."""
        encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
        # a process may have been started without an output
        is_terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        columns = os.get_terminal_size(sys.stdout.fileno()).columns if is_terminal else _WIDEST
        wants_colour = colour and is_terminal and "NO_COLOR" not in os.environ
        # a terminal that does not know its width says 0
        return cls(symbols=is_terminal and encoding.startswith("utf"), colour=wants_colour, width=columns or _WIDEST)

    @property
    def columns(self) -> int:
        """The columns that text may take, the indent among them."""
        return min(max(self.width, _NARROWEST), _WIDEST)

    def wrap(self, text: str, *, hanging: int = 0, width: int | None = None) -> list[str]:
        """The text in lines that fit; a command or a name that is longer stays whole."""
        width = min(self.columns - 2, _PROSE) if width is None else width
        return textwrap.wrap(
            self.simplify(text),
            width,
            subsequent_indent=" " * hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def simplify(self, text: str) -> str:
        """Write the text in characters that can be shown; before it is aligned, for some become longer."""
        return text if self.symbols else text.translate(_PLAIN)

    def style(self, text: str, *styles: str) -> str:
        """Write the text in colour, where there is any."""
        kept = ";".join(style for style in styles if style)
        return f"\x1b[{kept}m{text}\x1b[0m" if self.colour and kept and text else text


def render(a: Assessment, terminal: Terminal | None = None) -> str:
    """The whole text, with the first few slices."""
    page = _PAGES[a.view](a, terminal or Terminal.detect(colour=False))
    parts = (page.header, page.verdict, page.notes, page.numbers, page.by_confidence, page.slices, page.next_steps)
    texts = ("\n".join(f"  {line}".rstrip() for line in lines()) for lines in parts)
    return page.terminal.simplify("\n\n".join(filter(None, texts)))


class _Page:
    """The sections of the text, each as its lines."""

    #: The section whose main numbers are bold, and the numbers in the colour of the verdict.
    first, coloured = "Risk", ("O/E", "overstatement")

    def __init__(self, a: Assessment, terminal: Terminal) -> None:
        self.a, self.terminal, self.style = a, terminal, terminal.style
        longest = max(len(number.name) for numbers in sections(a).values() for number in numbers)
        #: The columns for names of numbers.
        self.names = max(13, longest + (longest > 13))

    @property
    def has_weights(self) -> bool:
        return self.a.weight != self.a.risk.n

    def header(self) -> Iterator[str]:
        a = self.a
        columns = f"; columns used: {a.columns}" if a.source and a.columns else ""
        weights = f"; counted by weights that add up to {count(a.weight)}" if self.has_weights else ""
        yield from self.terminal.wrap(f"{wording.source(a)}{columns}{weights}")

    def verdict(self) -> Iterator[str]:
        a = self.a
        mark = f"{SYMBOLS[a.verdict]} " if a.verdict in SYMBOLS else ""
        for line in self.terminal.wrap(f"{mark}{wording.headline(a).upper()}"):
            yield self.style(line, BOLD, TERMINAL_COLOURS.get(a.verdict, ""))
        yield from self.terminal.wrap(wording.advice(a))
        for warning in a.warnings:
            yield ""
            for line in self.terminal.wrap(f"Warning: {warning}", hanging=2):
                yield self.style(line, BOLD)
        yield ""
        yield from self.terminal.wrap(" ".join(wording.sentences(a)))

    def notes(self) -> Iterator[str]:
        for note in wording.notes(self.a):
            for line in self.terminal.wrap(f"note: {note}", hanging=6):
                yield self.style(line, DIM)

    def numbers(self) -> Iterator[str]:
        """Risk, value and common scores, a line for each number, and the ruler of CSR."""
        colour = "" if self.a.verdict in BOTH_SIDES[1:] else TERMINAL_COLOURS.get(self.a.verdict, "")
        is_first = True
        for section, numbers in sections(self.a).items():
            if not is_first:
                yield ""
            is_first = False
            yield self.style(section, BOLD)
            for number in numbers:
                bold = BOLD if section == self.first and number.is_main else ""
                yield from self.line(number, bold, colour if number.name in self.coloured else "")
            if section == self.first:
                yield from self.ruler()

    def line(self, number: Number, *styles: str) -> Iterator[str]:
        """Name, value and words: side by side, or in a narrow terminal the words below."""
        value = self.style(f"{self.terminal.simplify(number.value):>8}", *styles)
        head = f"  {self.style(f'{number.name:<{self.names}}', DIM)}{value}"
        columns = self.terminal.columns - 2
        if columns < _BESIDE:
            yield head
            yield from (f"    {line}" for line in self.terminal.wrap(number.words, width=columns - 4))
        else:
            margin = self.names + 13
            first, *rest = self.terminal.wrap(number.words, width=columns - margin) or [""]
            yield f"{head}   {first}"
            yield from (f"{'':{margin}}{line}" for line in rest)

    def ruler(self) -> Iterator[str]:
        """CSR on a log scale against 1 and where calibrated models land; only where there is room for it."""
        r, terminal = self.a.risk, self.terminal
        has_room = terminal.symbols and terminal.columns >= _ROOMY
        if not has_room or self.a.verdict != "overconfident":
            return
        # the range is computed only where it is shown
        if not 0 < r.csr < math.inf or math.isnan(r.csr_lower) or (typical := self.a.typical_csr) is None:
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

    def by_confidence(self) -> Iterator[str]:
        a, bands = self.a, prediction_wording.bands(self.a)
        if len(bands) < 2:
            return
        found, scale = a.verdict in RISKY, rows_of_weight(a)
        yield self.style("Where it goes wrong" if found else "By confidence", BOLD)
        is_narrow = self.terminal.columns - 2 < _BESIDE
        longest = max(len(prediction_wording.confidence_range(band)) for band in bands)
        name, rows, expected, observed = (max(10, longest), 8, 9, 9) if is_narrow else (max(22, longest + 2), 9, 19, 10)
        head = "expected" if is_narrow else "expected errors"
        yield self.style(f"  {'confidence':<{name}}{'rows':>{rows}}{head:>{expected}}{'observed':>{observed}}", DIM)
        for band in bands:
            claims = found and band.seen > band.stated and scale * band.seen >= ENOUGH_ERRORS
            times = factor(band.seen, band.stated) if claims else ""
            numbers = f"{rough_count(band.rows):>{rows}}{rough_count(band.stated):>{expected}}"
            line = f"  {prediction_wording.confidence_range(band):<{name}}{numbers}{count(band.seen):>{observed}}"
            gap = " " if is_narrow else "    "
            if len(f"{line}{gap}{times}") > self.terminal.columns - 2:
                times = ""
            yield f"{line}{gap}{self.style(times, TERMINAL_COLOURS['overconfident'])}".rstrip()

    def slices(self) -> Iterator[str]:
        a = self.a
        if not a.slices:
            return
        for line in self.terminal.wrap(wording.slice_title(a)):
            yield self.style(line, BOLD)
        worst = sorted(a.slices, key=severity)[:_SHOWN_SLICES]
        is_narrow = self.terminal.columns - 2 < _BESIDE
        names = [printable(part.value, 24 if self.terminal.columns < _WIDEST else 40) for part in worst]
        width = max(map(len, names))
        for name, part in zip(names, worst, strict=True):
            mark = self.style(
                self.terminal.simplify(SYMBOLS.get(part.verdict, " ")), TERMINAL_COLOURS.get(part.verdict, "")
            )
            if is_narrow:
                yield f"  {mark:<1} {name}".rstrip()
                yield f"    {self.slice_numbers(part)}".rstrip()
            else:
                yield f"  {mark:<1} {name:<{width}} {self.slice_numbers(part)}".rstrip()
        if len(a.slices) > len(worst):
            yield f"    ... and {len(a.slices) - len(worst):,} more"

    def slice_numbers(self, part: Slice) -> str:
        errors = self.terminal.simplify(f"{rough_count(part.stated)} → {pluralize(part.seen, 'error')}")
        size = part.risk.overstatement
        apart = f"{'+' if size > 0 else ''}{points(size)}"
        sure = "" if math.isnan(part.pvalue_adjusted) else f"p {pvalue(part.pvalue_adjusted)}"
        if self.terminal.columns < _ROOMY:
            return f"{apart}, {errors}" + (f", {sure}" if sure else "")
        return f"{apart:<13} {errors:<20} CSR {significant(part.risk.csr):<8} {sure}"

    def next_steps(self) -> Iterator[str]:
        yield self.style("What to do next", BOLD)
        for step in next_steps(self.a):
            width = min(self.terminal.columns - 4, _PROSE)
            yield from (f"  {line}" for line in self.terminal.wrap(step.words, width=width))
            yield from (f"    {line}" for line in step.command_lines(self.terminal.columns - 6))


class _EventPage(_Page):
    """The text of an event, or of every class as one."""

    first, coloured = "Calibration", ("O/E", "difference")

    @property
    def has_weights(self) -> bool:
        return self.a.risk.is_weighted

    def ruler(self) -> Iterator[str]:
        """CSR is not among the numbers of an event."""
        return iter(())

    def by_confidence(self) -> Iterator[str]:
        return self.table(event_tables.band_table(self.a))

    def slices(self) -> Iterator[str]:
        most = _SHOWN_CLASSES if self.a.view == "classes" else _SHOWN_SLICES
        return self.table(event_tables.slice_table(self.a, most))

    def table(self, found: event_tables.PlainTable | None) -> Iterator[str]:
        """A title, the titles of columns, and the rows with the mark of their verdict before them."""
        if found is None:
            return
        for line in self.terminal.wrap(found.title):
            yield self.style(line, BOLD)
        head, *rows = found.fitted(self.terminal.columns - 7).lines()
        has_marks = any(found.verdicts)
        margin = "   " if has_marks else ""
        yield self.style(f"  {margin}{head}", DIM)
        for verdict, row in zip(found.verdicts, rows, strict=True):
            symbol = self.terminal.simplify(SYMBOLS.get(verdict, ""))
            mark = self.style(f"{symbol:<2}", TERMINAL_COLOURS.get(verdict, ""))
            yield self.terminal.simplify(f"  {f'{mark} ' if has_marks else ''}{row}")
        if found.left_out:
            yield f"  {margin}... and {found.left_out:,} more"


_PAGES: dict[View, type[_Page]] = {"prediction": _Page, "event": _EventPage, "classes": _EventPage}

"""How a verdict looks: the kind of its mark, its symbol in text, and its colour in each medium."""

from __future__ import annotations

from surefoot.figures.figure import Kind

#: The kind of mark that stands for a verdict; all others are fair.
KINDS: dict[str | None, Kind] = {"overconfident": "over", "underconfident": "under", "mixed": "over"}
#: What stands before a verdict in text.
SYMBOLS: dict[str | None, str] = {"overconfident": "▼", "underconfident": "▲", "mixed": "▼▲"}
#: Colours of a terminal, as codes of ANSI.
TERMINAL_COLOURS: dict[str | None, str] = {"overconfident": "31", "underconfident": "34", "mixed": "31"}
#: Readable on white and on black, as a notebook's theme is not known.
NOTEBOOK_COLOURS: dict[str | None, str] = {"overconfident": "#d9622b", "underconfident": "#3f8ad8", "mixed": "#d9622b"}

"""How a verdict looks: the kind of its mark, its symbol in text, and its colour in each medium."""

from __future__ import annotations

from surefoot.figures.figure import Kind

#: The kind of mark that stands for a verdict; all others are fair.
KINDS: dict[str | None, Kind] = {
    "overconfident": "over",
    "underconfident": "under",
    "mixed": "over",
    "overpredicts": "over",
    "underpredicts": "under",
    "too extreme": "over",
    "too timid": "under",
}
#: What stands before a verdict in text.
SYMBOLS: dict[str | None, str] = {
    "overconfident": "▼",
    "underconfident": "▲",
    "mixed": "▼▲",
    "overpredicts": "▼",
    "underpredicts": "▲",
    # from low probabilities to high ones
    "too extreme": "▲▼",
    "too timid": "▼▲",
}
#: Verdicts of both sides at once, of which the mean says neither.
BOTH_SIDES = ("mixed", "too extreme", "too timid")
#: Colours of a terminal, as codes of ANSI.
TERMINAL_COLOURS: dict[str | None, str] = {
    verdict: {"over": "31", "under": "34"}[kind] for verdict, kind in KINDS.items()
}
#: Readable on white and on black, as a notebook's theme is not known.
NOTEBOOK_COLOURS: dict[str | None, str] = {
    verdict: {"over": "#d9622b", "under": "#3f8ad8"}[kind] for verdict, kind in KINDS.items()
}

"""Where a stream stands in words: what its monitor says, and the labels that no monitor bets on."""

from __future__ import annotations

from surefoot.render import monitor_view
from surefoot.render.numbers import pluralize
from surefoot.risk.stream.monitor import Monitor
from surefoot.service.store import Counts


def headline(counts: Counts, m: Monitor) -> str:
    """The answer in one line."""
    if counts.labelled and not m.rows:
        return "Nothing to watch yet: no label came after its prediction and in time"
    return monitor_view.headline(m)


def summary(counts: Counts, m: Monitor) -> str:
    """Where it stands, and how many labelled rows are in the totals alone."""
    others = counts.labelled - m.rows
    if others <= 0:
        return monitor_view.summary(m)
    many = "" if others == 1 else "s"
    said = f"{pluralize(others, 'prediction')} whose label came before{' them' if many else ' it'}, or too late,"
    said += f" count{'' if many else 's'} in reliability and totals alone."
    return f"{monitor_view.summary(m)} {said}" if m.rows else said

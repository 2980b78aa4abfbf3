"""The picture of slices that a search found."""

from __future__ import annotations

from typing import Any

from surefoot._io.printable import printable
from surefoot.figures.figure import Kind, Mark
from surefoot.render.found_slices import headline
from surefoot.render.mpl.display import COLOURS, MUTED, add_titles, clean_axes, draw_key, draw_mark, new_axes
from surefoot.render.numbers import count
from surefoot.search.found import FoundSlices

#: Slices drawn at most.
_MOST = 20
_KEY = {"over": "more errors than expected", "under": "fewer errors than expected"}
_EVENT_KEY = {"over": "fewer events than predicted", "under": "more events than predicted"}


def draw(found: FoundSlices, ax: Any = None) -> Any:
    """The overstatement of each slice with its interval, worst on top; a dotted line for all rows."""
    ax = new_axes() if ax is None else ax
    clean_axes(ax)
    kept = found[:_MOST][::-1]
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.axvline(100 * found.search.overstatement, color=MUTED, linestyle=":", linewidth=1)
    for place, one in enumerate(kept):
        kind: Kind = "over" if one.overstatement > 0 else "under"
        low, high = (100 * end for end in one.overstatement_interval)
        ax.plot([low, high], [place, place], color=COLOURS[kind], linewidth=1)
        draw_mark(ax, Mark(kind, 100 * one.overstatement, place))
    ax.set_yticks(range(len(kept)), [printable(one.name, 48) for one in kept])
    ax.set_ylim(-0.6, max(len(kept), 1) - 0.4)
    ax.grid(visible=False)
    title = headline(found)
    more = f": worst {len(kept)}" if len(found) > len(kept) else ""
    facts = f"n = {count(found.search.rows)},  dotted: all rows"
    add_titles(ax, f"{title}{more}", "overstatement in points, with its CI →", "", facts)
    key = _EVENT_KEY if found.search.is_event else _KEY
    draw_key(ax, key, ("over" if one.overstatement > 0 else "under" for one in kept))
    return ax

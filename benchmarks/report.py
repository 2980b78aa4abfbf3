"""The page of results, and where each line stands against the last run that was recorded."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.rows import Row

_COLUMNS = ("job", "ours", "against", "theirs", "wanted", "measured", "last recorded")
_NUMBER = re.compile(r"\d[\d,]*\.?\d*")


def milliseconds(seconds: float) -> str:
    return "-" if seconds != seconds else f"{seconds * 1e3:,.2f} ms"


def recorded(path: Path) -> dict[tuple[str, str], str]:
    """What was measured, by job and what it is compared with; nothing if there is no page."""
    if not path.exists():
        return {}
    cells = [[cell.strip() for cell in line.strip("| \n").split("|")] for line in path.read_text().splitlines()]
    at = _COLUMNS.index("measured")
    return {(row[0], row[2]): row[at] for row in cells if len(row) > at}


def notes(path: Path) -> str:
    """What the page says below the table, from its first heading on: it is written by hand, and stays."""
    _, mark, rest = path.read_text().partition("\n## ") if path.exists() else ("", "", "")
    return mark + rest


def against_last(now: str, last: str | None) -> str:
    """The measured number of the last run, and how many times it this one is; the rest is in the words of the line.

    >>> against_last("2.5 sorts", "5.0 sorts")
    '5.0 sorts (now 0.50 of it)'
    """
    if last is None:
        return "new"
    one, other = (_NUMBER.search(text) for text in (now, last))
    if one is None or other is None or not float(other[0].replace(",", "")):
        return last
    return f"{last} (now {float(one[0].replace(',', '')) / float(other[0].replace(',', '')):.2f} of it)"


def page(rows: list[Row], machine: str, last: dict[tuple[str, str], str], notes: str = "") -> str:
    lines = [
        "# Speed",
        "",
        "Ratios measured side by side in one run of `make bench`; times are the least of several, and depend on the machine.",
        "The last column is the line of the page that this one replaced.",
        "",
        f"Machine: {machine}.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|---|---:|---|---:|---|---|---|",
    ]
    for r in rows:
        before = against_last(r.ratio, last.get((r.job, r.against)))
        cells = (r.job, milliseconds(r.ours), r.against, milliseconds(r.theirs), r.wanted, r.ratio, before)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n{notes}"

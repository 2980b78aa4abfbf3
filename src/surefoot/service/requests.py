"""Rows as requests: not too many in each, and rows that may depend on each other in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from surefoot._io.printable import printable_value
from surefoot.service.batches import MOST_ROWS

Rows = list[dict[str, Any]]
#: Rows of one request, unless a group takes more.
ROWS = 1_000


class ScatteredGroup(ValueError):
    """Rows of a group that no single request can hold."""


def requests_of(batches: Iterable[Rows]) -> Iterator[Rows]:
    """The rows of some batches, in order, in requests.

    A server takes rows of one request for one unit if they have the same group. Rows of a group are therefore never
    in two requests; where that cannot be, the group is refused.

    Examples
    --------
    >>> rows = [{"id": str(i), "group": "a"} for i in range(1_500)] + [{"id": "b"}]
    >>> [len(request) for request in requests_of([rows])]
    [1500, 1]
    """
    held: Rows = []
    sent: set[Any] = set()
    for batch in batches:
        held += batch
        start = 0
        while len(held) - start > MOST_ROWS:
            request = _first(held[start : start + MOST_ROWS], sent)
            start += len(request)
            yield request
        del held[:start]
    while held:
        request = _first(held[:MOST_ROWS], sent)
        del held[: len(request)]
        yield request


def _first(window: Rows, sent: set[Any]) -> Rows:
    """The rows of the next request: up to ``ROWS``, or as few more as its groups take."""
    last = {row["group"]: i for i, row in enumerate(window) if row.get("group") is not None}
    stop, closes = 0, -1
    for i, row in enumerate(window):
        if i >= ROWS and stop:
            break
        if (group := row.get("group")) is not None:
            if group in sent:
                raise ScatteredGroup(
                    f"group {printable_value(group)} takes more than {MOST_ROWS:,} rows with those between them, and "
                    "one request holds no more; put rows of a group next to each other"
                )
            closes = max(closes, last[group])
        if closes <= i:
            stop = i + 1
    sent.update(row["group"] for row in window[:stop] if row.get("group") is not None)
    return window[:stop]

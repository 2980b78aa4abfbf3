"""Whether a column of a dataframe looks as if rows belonged to its values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from surefoot.predictions.dataframe import open_frame

#: Words in the names of columns whose values rows belong to.
_BELONG = frozenset(
    (
        *("patient", "subject", "person", "participant", "user", "customer", "client", "account", "household"),
        *("speaker", "author", "prompt", "question", "query", "conversation", "session", "document", "doc", "epoch"),
        *("site", "hospital", "cluster", "group"),
    )
)


_FEWEST = 10


def repeated_identifier(frame: Any, used: Iterable[Any] = ()) -> str:
    """A column of a dataframe that looks like what rows belong to: so named, and with values that come again."""
    opened = open_frame(frame)
    names = [name for name in opened.collect_schema().names() if isinstance(name, str)]
    taken = {one for one in used if isinstance(one, str)}
    for name in names:
        words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()
        if name not in taken and not _BELONG.isdisjoint(re.split(r"[^a-z]+", words)):
            column = opened[name]
            try:
                count = int(column.n_unique())
            except Exception:  # lists, objects: each package has its own error for what cannot be compared
                continue
            # of a few values each is a slice, not something that rows belong to; but for epochs, which repeat the rows
            if (2 if "epoch" in words else _FEWEST) <= count < len(column):
                return name
    return ""

"""A log of evaluations: rows that were made of its records, and which of their columns are what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from surefoot.files.finding import NAMES, Columns
from surefoot.files.json_lines import columns_of, first_look
from surefoot.files.reasons import WHY
from surefoot.files.source import BadFile, Batch

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows by which columns are told, and rows that are handed out together.
_HEAD, _TOGETHER = 2000, 20_000

Row = dict[str, Any]


def names_of(role: str) -> list[str]:
    """What a column of this role is called, in small letters."""
    return NAMES[role].split()


class Log:
    """Rows of a log, which is read anew for each pass.

    ``choose`` tells which columns are what by the first rows, or says in words why it cannot; without it columns are
    detected by name. ``repeats`` is the column whose values repeat where one question was asked several times.
    """

    is_text = True

    def __init__(
        self,
        name: str,
        rows: Callable[[], Iterator[Row]],
        *,
        choose: Callable[[str, list[Row]], Columns | str] | None = None,
        repeats: str = "",
    ) -> None:
        self.name, self._rows = name, rows
        first = list(islice(rows(), _HEAD))
        if not first:
            raise BadFile("it holds no records; there is nothing to assess", file=name)
        self._head = first_look(first)
        self.schema = self._head.schema
        chosen = None if choose is None else choose(name, first)
        #: The columns that play a role, or why that is not clear.
        self.columns = chosen if isinstance(chosen, Columns) else None
        self.unclear = chosen if isinstance(chosen, str) else ""
        #: The column by which rows belong together, because one question was asked several times.
        self.repeats = repeats if repeats and len({row[repeats] for row in first}) < len(first) else ""

    def head(self) -> pa.Table:
        return self._head

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        done, rows = 0, self._rows()
        wanted = [name for name in self.schema.names if name in columns or name == WHY]
        while some := list(islice(rows, _TOGETHER)):
            yield Batch(columns_of(self.name, some, wanted, numbers, self.schema, done), 0.0)
            done += len(some)

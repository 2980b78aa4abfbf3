"""A log of evaluations: rows that were made of its records, and which of their columns are what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.files.columns import NAMES, Columns
from surefoot.files.finding import Ambiguous
from surefoot.files.json_lines import columns_of, first_look
from surefoot.files.one_kind import OneKind
from surefoot.files.source import BadFile, Batch

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows by which columns are told, and rows that are handed out together.
_HEAD, _TOGETHER = 2000, 20_000

#: Roles beside which a log tells the others.
_TOLD = {"correct", "confidence", "doubt", "weight", "attempted"}

Row = dict[str, Any]


def names_of(role: str) -> list[str]:
    """What a column of this role is called, in small letters."""
    return NAMES[role].split()


class Log:
    """Rows of a log, which is read anew for each pass.

    ``choose`` tells which columns are what by the first rows and those that the user named, or says in words why it
    cannot; without it columns are detected by name. ``repeats`` is the column whose values repeat where one question
    was asked several times, which ``is_repeated`` says if the log does. ``notes`` tells what was read otherwise than it
    stands in the log.
    """

    is_text = True

    def __init__(
        self,
        name: str,
        rows: Callable[[], Iterator[Row]],
        *,
        choose: Callable[[str, list[Row], Mapping[str, Any]], Columns | str] | None = None,
        repeats: str = "",
        is_repeated: bool = False,
        notes: Callable[[], tuple[str, ...]] = tuple,
    ) -> None:
        self.name, self._rows, self._choose, self.notes = name, rows, choose, notes
        #: Its own columns by what another log calls them.
        self._called: dict[str, str] = {}
        first = list(islice(rows(), _HEAD))
        if not first:
            raise BadFile("it holds no records; there is nothing to assess", file=name)
        self._head = first_look(first)
        self.schema = self._head.schema
        self._first = first
        #: Columns of labels, which hold values of one kind.
        self.labels: frozenset[str] = frozenset()
        #: The column by which rows belong together, because one question was asked several times.
        self.repeats = repeats if repeats and (is_repeated or len({row[repeats] for row in first}) < len(first)) else ""

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The columns that the user named, and those that the log itself tells; raise if it is unclear about them."""
        if self._choose is None or not given.keys() <= _TOLD:
            return dict(given)
        chosen = self._choose(self.name, self._first, given)
        if isinstance(chosen, str):
            raise Ambiguous(chosen, file=self.name)
        return {role: column for role, column in vars(chosen).items() if column is not None} | {**given}

    def call_like(self, columns: Columns) -> None:
        """Call its outcome and its confidence as another log of the data set does, whose scorer has another name."""
        import pyarrow as pa

        if self._choose is None or {*columns.names()} <= {*self.schema.names}:
            return
        own = self.complete({})
        called = {getattr(columns, role): own.get(role) for role in ("correct", "confidence")}
        self._called = {name: str(one) for name, one in called.items() if name and one}
        others = [field for field in self.schema if field.name not in self._called]
        renamed = [self.schema.field(one).with_name(name) for name, one in self._called.items()]
        self.schema = pa.schema([*others, *renamed])
        told, listed = self.notes, " and ".join(printable(one) for one in self._called.values())
        self.notes = lambda: (*told(), f"Of {printable(self.name)}, the columns {listed} are used.")

    def head(self) -> pa.Table:
        return self._head

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        done, rows, kinds = 0, self._rows(), OneKind(self.name)
        wanted = [name for name in self.schema.names if name in columns]
        while some := list(islice(rows, _TOGETHER)):
            if self._called:
                some = [{**row, **{name: row.get(own) for name, own in self._called.items()}} for row in some]
            for label in filter(self.labels.__contains__, wanted):
                kinds.check(label, [row.get(label) for row in some], done)
            yield Batch(columns_of(self.name, some, wanted, numbers, self.schema, done), 0.0)
            done += len(some)

"""One file, as a reader of any format hands it out: its columns, a first look, and its rows in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from surefoot.errors import InvalidPredictions

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows, or bytes, that are tallied together.
_TOGETHER, _HEAVY = 1 << 22, 1 << 27


#: What is noted of a column whose numbers are known to be shares of 1, whatever it is called.
SHARES = {b"surefoot": b"shares of 1"}


class BadFile(InvalidPredictions):
    """A file that cannot be read: which, where, and what to do about it."""


class Source(Protocol):
    """A file of rows."""

    #: As the user wrote it.
    name: str
    #: The names and types of its columns, as far as its first rows tell.
    schema: pa.Schema
    #: Whether its numbers are written in decimals, and so may be rounded.
    is_text: bool

    def head(self) -> pa.Table:
        """Some of the first rows, all columns."""
        ...

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        """The rows in order, these columns only; ``numbers`` are to be read as such."""
        ...


@dataclass(frozen=True)
class Batch:
    """Some rows of a file, and how much of it has been read with them."""

    table: Any = field(repr=False)
    #: The share of the file that has been read, from 0 to 1.
    share: float = 1.0


def gather(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Batches put together until they hold enough rows for adding up tallies not to count."""
    import pyarrow as pa

    waiting: list[Any] = []
    share = 0.0
    for batch in batches:
        waiting.append(batch.table)
        share = batch.share
        if sum(table.num_rows for table in waiting) >= _TOGETHER or sum(table.nbytes for table in waiting) >= _HEAVY:
            yield Batch(pa.concat_tables(waiting, promote_options="permissive").combine_chunks(), share)
            waiting = []
    if waiting and sum(table.num_rows for table in waiting):
        yield Batch(pa.concat_tables(waiting, promote_options="permissive").combine_chunks(), share)

"""Labels of formats that give each value a type of its own: true, 1, "true" and "1" are never mixed in a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot._io.printable import printable_value
from surefoot.files.reasons import is_no_label
from surefoot.files.source import BadFile

_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text"}


class OneKind:
    """Columns of labels, some rows at a time: all rows of a column must hold values of one kind."""

    def __init__(self, file: str) -> None:
        self._file = file
        #: Of each column, the kind of its values, and the first of them with its row.
        self._first: dict[str, tuple[str, int, Any]] = {}

    def check(self, column: str, values: Sequence[Any], done: int) -> None:
        """Refuse a value of another kind than those before it; ``done`` rows of the file came before these."""
        kinds = {_kind(kind) for kind in set(map(type, values)) - {type(None)}}
        if column in self._first and kinds <= {self._first[column][0]}:
            return
        for row, value in enumerate(values):
            if value is None or is_no_label(value):
                continue
            kind = _kind(type(value))
            known, before, first = self._first.setdefault(column, (kind, done + row, value))
            if kind != known:
                raise BadFile(
                    f"which is {kind}, but row {before + 1:,} holds {printable_value(first)}, which is {known}",
                    column=column,
                    row=done + row,
                    value=value,
                    hint="labels of one column are of one kind: write them all in one way",
                    file=self._file,
                )
            if len(kinds) == 1:
                return


def _kind(kind: type) -> str:
    return _KINDS.get(kind, f"a {kind.__name__}")

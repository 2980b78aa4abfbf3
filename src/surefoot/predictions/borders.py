"""Who reads columns: arrays, tensors, or whoever describes a lazy frame; each says so where it is defined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.predictions.attempts import Attempts, read_attempts

if TYPE_CHECKING:
    from surefoot.predictions.border import Border

#: The kinds of columns there are, in the order in which they are tried; and what describes a lazy frame.
BORDERS: list[Border] = []
DESCRIBE: list[Any] = []


def border_of(*columns: Any) -> Border:
    """What reads these columns."""
    return next(border for border in BORDERS if border.takes(columns))


def attempts_of(attempted: Any, **columns: Any) -> Attempts:
    """Which rows were attempted, by the column that says so, or by outcomes in words."""
    border = border_of(attempted, *columns.values())
    border.check_together(attempted=attempted, **columns)
    return read_attempts(border, attempted, columns.get("correct"))

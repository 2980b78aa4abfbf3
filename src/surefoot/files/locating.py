"""Where in a data set of several files an error lies."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from surefoot.errors import InvalidPredictions
from surefoot.files.columns import Columns
from surefoot.files.source import BadFile, Source


class Locating:
    """Files read one after the other, whose rows are counted through."""

    name: str
    sources: list[Source]
    columns: Columns
    #: The row at which each file starts, among all rows that are kept.
    starts: list[int]
    #: Of each row that was left out, how many were kept before it; and how many were left out before each file.
    gaps: list[int]
    gaps_before: list[int]

    def locate(self, error: InvalidPredictions, start: int) -> BadFile:
        """An error of a constructor as one of the file: with its name, its column, and the row in it."""
        if error.row is None:
            return BadFile(str(error.at(column=None)).rstrip("."), file=self.name)
        row = error.row if isinstance(error.row, int) else error.row[0]
        columns = {"column": error.column or self._column_of(error.argument)}
        return BadFile.of(error, **columns, **self.where(start + row))

    def _column_of(self, argument: str) -> str:
        role = {"y_true": "truth", "y_pred": "predicted", "sample_weight": "weight"}.get(argument, argument)
        column = getattr(self.columns, role, None)
        return column if isinstance(column, str) else role

    def where(self, row: int) -> dict[str, Any]:
        """The file, and the row in it."""
        at = max(0, bisect_right(self.starts, row) - 1)
        left_out = bisect_right(self.gaps, row) - self.gaps_before[at]
        return {"file": self.sources[at].name, "row": row - self.starts[at] + left_out}

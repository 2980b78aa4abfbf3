"""Which rows of a file were attempted: those that were not leave the sums, and are counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import AmbiguousLabels, InvalidPredictions
from surefoot.files.finding import Ambiguous
from surefoot.files.locating import Locating
from surefoot.files.source import BadFile
from surefoot.predictions.attempts import Attempts, NothingAttempted, is_text
from surefoot.predictions.borders import attempts_of
from surefoot.predictions.columns import as_array

if TYPE_CHECKING:
    import pyarrow as pa


class Attempting(Locating):
    """Files whose columns may say which rows were attempted."""

    @contextmanager
    def located(self, start: int) -> Iterator[None]:
        """Errors of rows with the file and the row in it."""
        try:
            yield
        except (BadFile, Ambiguous, NothingAttempted):
            raise
        except AmbiguousLabels as error:
            raise Ambiguous(str(error).rstrip("."), file=self.name) from error
        except InvalidPredictions as error:
            raise self.locate(error, start) from error

    def attempts(self, table: pa.Table, start: int) -> Attempts | None:
        """Which rows were attempted, by the columns that tell it; None if all were."""
        flags, correct = (
            None if name is None else table.column(name) for name in (self.columns.attempted, self.columns.correct)
        )
        if flags is None and (correct is None or not is_text(correct)):
            return None
        with self.located(start):
            return attempts_of(flags, correct=correct)

    def no_row_counts(self, table: pa.Table, start: int) -> Any:
        """Of a batch whose rows add nothing, as they would to others, which were not attempted; else None."""
        attempts = self.attempts(table, start)
        flags = np.ones(table.num_rows, dtype=bool) if attempts is None else attempts.flags
        counts = flags
        if self.columns.weight is not None and flags.any():
            weight = table.column(self.columns.weight)
            counts = as_array("weight", weight if flags.all() else weight.filter(flags))
        return None if counts.any() else ~flags

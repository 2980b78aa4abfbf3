"""What a file holds, and how it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surefoot._io.printable import printable
from surefoot.core.tally import Label, Tally
from surefoot.files.accounting import Manner
from surefoot.files.columns import Columns
from surefoot.predictions import ArrayPredictions


@dataclass(frozen=True)
class Reading:
    """What a file holds: predictions, or the tally of more rows than memory should hold."""

    name: str
    held: ArrayPredictions | Tally
    columns: Columns | None
    #: The value each row is sliced by, where rows are held.
    by: Any = None
    #: Whether a single column holds the probability of the second label.
    is_second: bool = False
    #: The classes that probabilities are of.
    labels: tuple[Label, ...] | None = None
    #: What each row belongs to, where that was asked for; and a column that looks as if rows belonged to its values.
    groups: Any = None
    group: str = ""
    looks_grouped: str = ""
    #: The separator of columns, if it was given.
    delimiter: str = ""
    #: The options that chose a sheet, a table or a query, if any did.
    part: tuple[str, ...] = ()
    #: How numbers were read, and whether 1.0 in float64 may be a rounded float32.
    manner: Manner = Manner()  # noqa: RUF009 (frozen)
    float32: bool = True
    #: Other columns of the rows that are held, to be shown beside them; and whether an id among them names a row.
    shown: Any = None
    is_log: bool = False
    #: What was read otherwise than it stands in the file, in sentences.
    notes: tuple[str, ...] = ()
    #: All columns of the first file.
    all_columns: tuple[str, ...] = ()

    @property
    def event(self) -> Label | None:
        """The event that rows are about, if they are about one."""
        return self.held.event if isinstance(self.held, Tally) else self.held.event_label

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command line that read the same; empty if the columns cannot be named there.

        Those of the view come last, from ``--of`` on: a ``--positive`` there is the event, one of several columns.
        """
        if self.columns is None:
            return ()
        named = self.columns.options(self.all_columns, self.labels if self.is_second else None)
        if not named:
            return ()
        delimiter = ("--delimiter", self.delimiter) if self.delimiter else ()
        as_float64 = () if self.float32 else ("--as-float64",)
        named = (*named, *delimiter, *self.part, *self.manner.options(), *as_float64)
        if self.held.view == "prediction":
            return named
        is_named = self.event is None or "--positive" in named or self.labels in ((0, 1), (False, True))
        positive = () if is_named else ("--positive", str(self.event))
        return (*named, "--of", self.held.view, *positive)

    @property
    def said(self) -> str:
        """Which columns were taken for what."""
        if self.columns is None:
            return ""
        shown = {"is_predicted": self.held.view == "prediction"}
        if self.labels is None:
            words = self.columns.said(**shown)
        elif self.is_second:
            words = self.columns.said(None, self.labels[1], **shown)
        else:
            words = self.columns.said(len(self.labels), **shown)
        return words if self.event is None else f"{words}, event: {printable(str(self.event), 24)}"

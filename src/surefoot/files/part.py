"""Which part of a file holds the rows: a sheet of a workbook, or a table or a query of a database."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot._io.printable import printable
from surefoot.files.finding import Ambiguous


@dataclass(frozen=True)
class Part:
    """What the user chose, by the options ``--sheet``, ``--table`` and ``--query``."""

    sheet: str | None = None
    table: str | None = None
    query: str | None = None

    def options(self) -> tuple[str, ...]:
        """The options of the command line that choose the same."""
        return tuple(text for name, value in vars(self).items() if value is not None for text in (f"--{name}", value))

    def check(self, file: str, kind: str) -> None:
        """Raise for a choice that a file of this kind does not have: ``workbook``, ``database``, or another."""
        if self.table is not None and self.query is not None:
            raise Ambiguous("--table and --query choose rows in two ways; give one of them", file=file)
        if self.sheet is not None and kind != "workbook":
            raise Ambiguous("--sheet names a sheet of an Excel workbook, and this is none; drop it", file=file)
        if kind != "database" and (self.table is not None or self.query is not None):
            name = "--table" if self.table is not None else "--query"
            raise Ambiguous(f"{name} chooses rows of a database, and this is none; drop it", file=file)


def listed(names: list[str], most: int = 8) -> str:
    """Names in quotes, the first few of them."""
    shown = ", ".join(f"'{printable(name)}'" for name in names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown

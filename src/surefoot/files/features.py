"""A file for the search for slices: its predictions, and its other columns beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from surefoot._io.masking import masked
from surefoot._io.printable import printable
from surefoot.core.tally import Tally
from surefoot.core.view import View
from surefoot.files.accounting import Manner
from surefoot.files.opening import open_data
from surefoot.files.part import Part
from surefoot.files.reader import Reader
from surefoot.files.reasons import WHY
from surefoot.files.source import BadFile
from surefoot.predictions import ArrayPredictions
from surefoot.predictions.named_file import source_of

if TYPE_CHECKING:
    import pyarrow as pa

#: Words that stand for no number in a column of numbers written as text.
_GAPS = ("", "na", "n/a", "nan", "null", "none", "-", "?")
#: Digits that are a name, such as a postcode or an id: written with a leading zero, or more than a number keeps.
_NAMES = r"^[+-]?(0\d|\d{16})"


@dataclass(frozen=True)
class Features:
    """The rows of a file: predictions, and the columns to search."""

    predictions: ArrayPredictions
    frame: Any
    #: The columns to search, if they were named.
    columns: list[str] | None
    source: str
    path: str
    #: The options of the command line that read the same.
    options: tuple[str, ...]
    columns_used: str
    looks_grouped: str
    notes: tuple[str, ...]


def read_features(
    path: str,
    named: Mapping[str, Any],
    *,
    columns: Sequence[str] | None = None,
    delimiter: str | None = None,
    part: Part | None = None,
    positive: Any = None,
    float32: bool = True,
    labels: Any = None,
    floor: float | None = None,
    of: View | None = None,
    manner: Manner = Manner(),  # noqa: B008 (frozen)
) -> Features:
    """Read a file whole; columns that predictions are not read from are searched, or those that are named."""
    sources = open_data(path, delimiter, part)
    if isinstance(sources, Tally):
        raise BadFile("a saved tally holds no rows to search; give the file that it was made from", file=path)

    def reader(show: Sequence[str]) -> Reader:
        how: dict[str, Any] = {"positive": positive, "float32": float32, "of": of, "manner": manner}
        return Reader(masked(path), sources, named, None, labels, floor, None, show=show, **how)

    used = reader(()).columns
    there = [name for name in sources[0].schema.names if name != WHY]
    for name in columns or ():
        if name not in there:
            listed = ", ".join(f"'{printable(one)}'" for one in there[:8])
            raise BadFile(f"there is no column '{printable(name)}' to search; the columns are {listed}", file=path)
        if name in (used.truth, used.correct):
            raise BadFile(
                "tells whether rows are correct, so its groups would be made by the outcome",
                column=name,
                hint="leave it out",
                file=path,
            )
    wanted = list(dict.fromkeys(columns)) if columns else [name for name in there if name not in used.names()]
    if not wanted:
        raise BadFile("it has no columns but those of the predictions, so there is nothing to search", file=path)
    found = replace(reader(wanted).whole(), delimiter=delimiter or "", part=() if part is None else part.options())
    predictions, table = found.held, found.shown
    assert isinstance(predictions, ArrayPredictions)
    if all(source.is_text for source in sources):
        table = _with_numbers(table)
    return Features(
        predictions,
        table,
        None if columns is None else wanted,
        source_of(found),
        "" if found.name == "standard input" else found.name,
        found.options,
        found.said,
        found.looks_grouped,
        found.notes,
    )


def _with_numbers(table: pa.Table) -> pa.Table:
    """The same table, columns of text that hold nothing but numbers as numbers."""
    import pyarrow as pa

    columns = {name: _as_numbers(table.column(name)) for name in table.column_names}
    return pa.table(columns)


def _as_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if not (kinds.is_string(column.type) or kinds.is_large_string(column.type)):
        return column
    text = pc.utf8_trim_whitespace(column)
    is_gap = pc.is_in(pc.utf8_lower(text), value_set=pa.array(_GAPS, column.type))
    text = pc.if_else(is_gap, pa.scalar(None, column.type), text)
    if pc.any(pc.match_substring_regex(text, _NAMES)).as_py():
        return column
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = text.cast(kind)
        except pa.ArrowInvalid:
            continue
        # gaps alone are no numbers
        return column if numbers.null_count == len(numbers) else numbers
    return column

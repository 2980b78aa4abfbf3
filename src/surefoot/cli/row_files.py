"""Rows as a file: CSV, Parquet, Arrow or JSON lines."""

from __future__ import annotations

import re
from typing import Any

#: The kinds of files, by their suffixes.
FORMATS = (".csv", ".parquet", ".arrow", ".feather", ".jsonl")


def content(rows: Any, suffix: str) -> tuple[bytes, str]:
    """The rows as a file, by its suffix; and what there is to say of it."""
    import io
    import json

    import pyarrow as pa

    sink, said = io.BytesIO(), ""
    if suffix == ".csv":
        text, escaped = _as_csv(rows)
        sink.write(text.encode())
        if escaped:
            cells = f"{escaped:,} cell that starts" if escaped == 1 else f"{escaped:,} cells that start"
            said = (
                f"{cells} like a formula got an apostrophe in front, so that no spreadsheet runs it; .parquet and "
                ".jsonl keep the text as it is."
            )
    elif suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(rows, sink)
    elif suffix == ".jsonl":
        sink.write("".join(f"{json.dumps(row, default=str)}\n" for row in rows.to_pylist()).encode())
    else:
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows)
    return sink.getvalue(), said


def _as_csv(rows: Any) -> tuple[str, int]:
    """Text as it was, numbers with all their digits; and how many cells were escaped."""
    import csv
    import io
    import json

    escaped = 0

    def written(value: Any) -> Any:
        nonlocal escaped
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, list | dict):
            return json.dumps(value)
        if isinstance(value, str) and _is_formula(value):
            escaped += 1
            return f"'{value}"
        return value

    out = io.StringIO()
    # the ends of lines are what the writer quotes in cells: both of them, though lines end in one
    writer = csv.writer(_Lines(out), lineterminator="\r\n")
    writer.writerow(map(written, rows.column_names))
    columns = [map(written, column.to_pylist()) for column in rows.columns]
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue(), escaped


class _Lines:
    """Takes lines that end in a return and a line feed, and writes them with a line feed alone."""

    def __init__(self, out: Any) -> None:
        self._out = out

    def write(self, line: str) -> None:
        self._out.write(line.removesuffix("\r\n") + "\n")


#: What spreadsheets take for the start of a formula; and what they do not: a number, or signs alone.
_FORMULA, _NO_FORMULA = (
    re.compile(r"[=+\-@\t\r\n]"),
    re.compile(r"[+-]*|[+-][\d.,]+(e[+-]?\d+)?\s?%?|[+-]?(inf|infinity|nan)", re.I),
)


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NO_FORMULA.fullmatch(text) is None

"""Files of predictions without labels, read with the columns of a reference that has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot._io.masking import masked
from surefoot._io.printable import printable
from surefoot.core.tally import Tally
from surefoot.errors import InvalidPredictions
from surefoot.files.accounting import PERCENTAGES, Accounting, Manner
from surefoot.files.columns import Columns
from surefoot.files.finding import find_unlabelled
from surefoot.files.opening import open_data
from surefoot.files.part import Part
from surefoot.files.reader import Reader
from surefoot.files.rounding import decimals_of, sums_to_one
from surefoot.files.source import BadFile, Source
from surefoot.predictions.arguments import file_arguments, named_columns
from surefoot.predictions.borders import attempts_of
from surefoot.predictions.columns import as_array
from surefoot.predictions.unlabelled import Unlabelled, unlabelled

#: Roles that rows without labels may have.
_ROLES = ("predicted", "confidence", "doubt", "probabilities", "logits")


def read_both(
    new: Any,
    reference: Any,
    given: Mapping[str, Any],
    *,
    delimiter: str | None = None,
    part: Part | None = None,
    percent: bool | None = None,
) -> tuple[Any, Any, str]:
    """Rows without labels and their reference, of which each may be a file; and which columns were used, in words."""
    named, options = file_arguments(named_columns(given, "expect"))
    columns, words = None, ""
    manner = Manner(percent, may_drop=False)
    known: Accounting | None = None
    if isinstance(reference, str):
        labels, floor = options.pop("labels", None), options.pop("floor", None)
        sources = _sources(reference, delimiter, part)
        reader = Reader(masked(reference), sources, named, None, labels, floor, None, manner=manner, **options)
        reading = reader.whole()
        reference, columns, words, known = reading.held, reading.columns, reading.said, reader.accounting
    if isinstance(new, str):
        new, note = _read(new, named, columns, delimiter, part, manner, known)
        words = f"{words}{'. ' if words and note else ''}{note}"
    return new, reference, words


def _sources(path: str, delimiter: str | None, part: Part | None) -> list[Source]:
    sources = open_data(path, delimiter, part)
    if isinstance(sources, Tally):
        raise BadFile("a saved tally holds no rows; give the file that it was made of", file=path)
    return sources


def settle_all(accounting: Accounting, parts: Iterable[tuple[str, Iterable[Any]]], known: Accounting | None) -> Any:
    """The rows of files, given by their tables, with confidences from 0 to 1, on the scale of those that are known."""
    import pyarrow as pa

    settled = []
    for file, tables in parts:
        read = 0
        for table in tables:
            settled.append(accounting.settle(table, {"file": file, "row": read}))
            read += table.num_rows
    accounting.check_scale()
    if known is not None:
        accounting.check_scale_of(known)
    return pa.concat_tables(settled, promote_options="permissive")


def scores_of(sources: Sequence[Source], whole: Any, accounting: Accounting, known: Accounting | None) -> Any:
    """The probabilities or logits of files, or of a table that is read already, as a calibrator takes them."""
    roles = accounting.columns
    names = roles.names()
    parts: Iterable[tuple[str, Iterable[Any]]] = (
        [(accounting.name, [whole.select(names)])]
        if whole is not None
        else ((source.name, (batch.table for batch in source.batches(names, names))) for source in sources)
    )
    table = settle_all(accounting, parts, known)
    values = [as_array(name, table.column(name)) for name in names]
    if len(values) == 1:
        return values[0]
    given = np.stack(values, axis=1)
    return sums_to_one(given) if accounting.is_text and roles.logits is None else given


def _read(
    path: str,
    named: Mapping[str, Any],
    columns: Columns | None,
    delimiter: str | None,
    part: Part | None,
    manner: Manner,
    judged_by: Accounting | None,
) -> tuple[Unlabelled, str]:
    """The rows of a file, whose labels are not read; and notes if it has any, and if it holds percentages."""
    import pyarrow as pa

    sources, path = _sources(path, delimiter, part), masked(path)
    head = sources[0].head()
    note = ""
    if columns is None:
        columns = find_unlabelled(path, head, {role: named[role] for role in _ROLES if role in named})
    else:
        known = next((name for name in (columns.truth, columns.correct) if name in head.column_names), None)
        note = "" if known is None else f"Labels of {printable(path)} ({printable(known)}) are not used"
        flag = columns.attempted if columns.attempted in head.column_names else None
        columns = replace(columns, truth=None, correct=None, weight=None, attempted=flag)
        missing = [name for name in columns.names() if name not in head.column_names]
        if columns.predicted in missing and columns.predicted is not None:
            raise BadFile(f"it has no column '{printable(columns.predicted)}', which the reference has", file=path)
        if missing:
            listed = ", ".join(f"'{printable(name)}'" for name in head.column_names[:8])
            raise BadFile(
                f"it has no column '{printable(missing[0])}', by which the reference is read; the columns are {listed}",
                file=path,
            )
    is_text = all(source.is_text for source in sources)
    accounting = Accounting(path, columns, manner, is_text=is_text)
    names, numbers = columns.names(), columns.numbers()
    parts = ((source.name, (batch.table for batch in source.batches(names, numbers))) for source in sources)
    table = settle_all(accounting, parts, judged_by)
    if accounting.scale == "percent":
        note = f"{note}{'. ' if note else ''}{PERCENTAGES.rstrip('.')}"
    if not table.num_rows:
        raise BadFile("no rows; there is nothing to expect", file=path)
    skipped = 0
    if columns.attempted is not None:
        attempts = attempts_of(table.column(columns.attempted))
        skipped = attempts.skipped
        if skipped:
            table = table.filter(pa.array(attempts.flags))
        if not table.num_rows:
            raise BadFile("no row was attempted; there is nothing to expect", file=path)
        columns = replace(columns, attempted=None)
    try:
        return replace(_unlabelled(table, columns, is_text=is_text), not_attempted=skipped), note
    except InvalidPredictions as error:
        role = {"y_pred": "predicted"}.get(error.argument, error.argument)
        column = getattr(columns, role, None)
        raise BadFile.of(error, file=path, column=column if isinstance(column, str) else None) from error


def _unlabelled(table: Any, columns: Columns, *, is_text: bool) -> Unlabelled:
    held: dict[str, Any] = {
        role: table.column(name)
        for role, name in vars(columns).items()
        if isinstance(name, str) and role not in ("probabilities", "logits")
    }
    scores = columns.probabilities or columns.logits
    written: Any = None
    names: tuple[str, ...] = ()
    if isinstance(scores, tuple):
        stacked = np.stack([as_array(name, table.column(name)) for name in scores], axis=1)
        written = stacked.ravel()
        held["probabilities"] = sums_to_one(stacked) if is_text and columns.logits is None else stacked
        names = scores
    elif scores is not None:
        held["probabilities"] = table.column(scores)
        written = as_array(scores, held["probabilities"])
    elif columns.confidence is not None:
        written = as_array("confidence", held["confidence"])
    made = unlabelled(**held, from_logits=columns.logits is not None)
    decimals = decimals_of(written) if is_text and columns.logits is None and written is not None else None
    return replace(made, _names=names, _decimals=decimals)

"""From files to predictions: whole, tallied on the way if they are large, or followed as they grow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from surefoot._io.masking import masked
from surefoot.core.tally import Tally, sliced_otherwise
from surefoot.core.term import Term
from surefoot.core.view import View
from surefoot.files.accounting import Manner
from surefoot.files.harness import SampleLog
from surefoot.files.held import Reading
from surefoot.files.identifiers import text_of_ids
from surefoot.files.json_lines import JsonLinesFile
from surefoot.files.log import Log
from surefoot.files.opening import open_data, open_live
from surefoot.files.part import Part
from surefoot.files.reader import Progress, Reader
from surefoot.files.rounding import decimals_of
from surefoot.files.source import BadFile, Batch
from surefoot.predictions import ArrayPredictions
from surefoot.predictions.arguments import Columns as DataColumns
from surefoot.predictions.arguments import file_arguments, named_columns
from surefoot.predictions.attempts import NothingAttempted

#: Decimals that a stream of text is supposed to have before it has shown any.
_SUPPOSED = 6
#: Rows of a stream that are held back while they do not tell on which scale they are.
_WAITING = 100_000


def load(
    path: str | os.PathLike[str],
    *,
    logits: Any = None,
    delimiter: str | None = None,
    percent: bool | None = None,
    drop_missing: bool = False,
    confidence_pattern: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
    **columns: Unpack[DataColumns],
) -> ArrayPredictions:
    """Read predictions from a file.

    Formats: CSV, TSV, Parquet, Arrow, JSON lines, NPZ, Excel, SQLite, DuckDB, and logs of lm-evaluation-harness; also
    tables and queries of PostgreSQL. Columns are detected by name; name those that are not. All rows are read into
    memory. For larger files, assess the file itself (:func:`surefoot.assess`), which needs little memory.

    Parameters
    ----------
    path : str or path-like
        A file; a folder or a pattern such as ``"runs/*.csv"`` is read as one data set. Or the address of a database:
        ``"sqlite:///runs.db"``, ``"duckdb:///runs.duckdb"``, ``"postgresql://user@host/name"``.
    logits : str or list of str, optional
        The columns that hold logits, or the prefix of their names.
    delimiter : str, optional
        What separates the columns of a text file; detected by default.
    percent : bool, optional
        Whether confidences and probabilities without a percent sign are percentages; detected by default.
    drop_missing : bool, default False
        Leave out rows that lack a confidence or an outcome, instead of refusing the file.
    confidence_pattern : str, optional
        A regular expression that finds the confidence in a column of text, as its first group.
    sheet : str, optional
        The sheet of an Excel workbook; needed if several sheets have rows.
    table : str, optional
        The table of a database; needed if it has several.
    query : str, optional
        A ``SELECT`` whose rows are read, instead of a table.
    **columns : str or object
        The names of columns, and how to read them: ``y_true`` (or ``truth``), ``y_pred`` (``predicted``),
        ``confidence``, ``correct``, ``probabilities`` (``y_proba``), ``doubt``, ``sample_weight`` (``weight``),
        ``attempted``, ``labels``, ``pos_label``, ``from_logits``, ``floor``, ``float32``, ``of``, as in
        :func:`surefoot.assess`.

    Returns
    -------
    Predictions
        The rows, ready to be assessed.

    Raises
    ------
    InvalidPredictions
        If the file cannot be read, a column is missing or ambiguous, or a value is invalid; the message names the file,
        the row and the column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "predictions.csv")
    ...     _ = path.write_text("correct,confidence\\n1,0.9\\n0,0.6\\n")
    ...     load(path)
    Predictions(2 rows, accuracy 50.0%)
    """
    named, options = file_arguments(named_columns(columns, "load"))
    labels, floor = options.pop("labels", None), options.pop("floor", None)
    if logits is not None:
        named["logits"] = logits
    sources = open_data(os.fspath(path), delimiter, Part(sheet, table, query))
    if isinstance(sources, Tally):
        raise BadFile("a saved tally holds no rows; load it with surefoot.Tally.load", file=os.fspath(path))
    manner = Manner(percent, drop_missing, confidence_pattern)
    reader = Reader(masked(os.fspath(path)), sources, named, None, labels, floor, None, manner=manner, **options)
    held = reader.whole().held
    assert isinstance(held, ArrayPredictions)
    return held


def read(
    path: str,
    columns: Mapping[str, Any],
    *,
    by: str | None = None,
    delimiter: str | None = None,
    part: Part | None = None,
    metrics: Sequence[str] | None = None,
    terms: Sequence[Term] | None = None,
    progress: Progress | None = None,
    positive: str | None = None,
    float32: bool = True,
    group: str | None = None,
    labels: Any = None,
    floor: float | None = None,
    show: Sequence[str] = (),
    of: View | None = None,
    manner: Manner = Manner(),  # noqa: B008 (frozen)
    logged: Sequence[str] = (),
    kinds: tuple[type, ...] = (Log, SampleLog),
) -> Reading:
    """Read a file, and tally it on the way if it is large: for all metrics, for some only, or of some terms.

    With a ``group`` all rows are held in memory: a tally does not know which belong together. Columns to ``show`` are
    kept beside the rows, where these are held; of files of some ``kinds`` also those that are ``logged``.
    """
    sources = open_data(path, delimiter, part)
    if isinstance(sources, Tally):
        if by is not None and by != sources.by:
            raise BadFile(sliced_otherwise(sources.by, by), file=path)
        if group is not None or positive is not None or show or any(value is not None for value in columns.values()):
            raise BadFile("a saved tally has no columns; pass it without column options", file=path)
        if of is not None and of != sources.view:
            raise BadFile(f"this tally was made with of={sources.view!r}, and cannot tell of {of!r}", file=path)
        return Reading(path, sources, None)
    if logged and all(isinstance(source, kinds) for source in sources):
        own = [name for name in logged if all(name in source.schema.names for source in sources)]
        show = [*own, *show] if "id" in own else show
    if group is None:
        # one question asked several times
        group = next((source.repeats for source in sources if isinstance(source, Log) and source.repeats), None)
    reader = Reader(
        masked(path),
        sources,
        columns,
        by,
        labels,
        floor,
        progress,
        positive=positive,
        float32=float32,
        group=group,
        show=show,
        of=of,
        manner=manner,
    )
    found = reader.whole_or_tally(metrics, terms) if group is None else reader.whole()
    return replace(
        found,
        delimiter=delimiter or "",
        part=() if part is None else part.options(),
        is_log=all(isinstance(source, Log | SampleLog | JsonLinesFile) for source in sources),
    )


def follow(
    path: str,
    columns: Mapping[str, Any],
    *,
    identifier: str | None,
    delimiter: str | None,
    part: Part | None = None,
    positive: str | None = None,
    float32: bool = True,
    group: str | None = None,
    manner: Manner = Manner(),  # noqa: B008 (frozen)
    left_out: Callable[[int], object] = lambda rows: None,
    tell: Callable[[str], object] = lambda note: None,
) -> Iterator[tuple[ArrayPredictions, Any, Any]]:
    """The rows of a file in order, some at a time, with their ids and groups; of standard input as they arrive.

    A group whose rows follow each other is not parted. ``left_out`` is told how many rows were not attempted, and
    ``tell`` in the end which lacked something.
    """
    sources = open_live(delimiter) if path == "-" else open_data(path, delimiter, part)
    if isinstance(sources, Tally):
        raise BadFile("a saved tally holds no rows to follow", file=path)
    reader = Reader(
        masked(path),
        sources,
        columns,
        identifier,
        None,
        None,
        None,
        positive=positive,
        float32=float32,
        group=group,
        manner=manner,
    )
    labels = reader.labels_beforehand() if path == "-" else reader.labels_of_all()
    finest: int | None = 0
    done = 0
    for batch in _keep_groups_whole(_of_known_scale(reader), group):
        if not batch.table.num_rows:
            continue
        known = labels if labels is not None or path != "-" else reader.labels_so_far(batch.table)
        try:
            rows = reader.predictions(batch.table, done, known)
        except NothingAttempted as error:
            done += batch.table.num_rows
            left_out(error.skipped)
            continue
        left_out(rows.not_attempted)
        if reader.is_text and finest is not None:
            # a 1 that is written like numbers that were rounded was rounded too
            here = decimals_of(rows.confidence)
            finest = None if here is None else max(finest, here)
            if finest is not None and rows.certain:
                rows = rows.rounded_at(finest or _SUPPOSED)
        ids, groups = None, reader.group_values(batch.table, done)
        if identifier is not None:
            names = text_of_ids(batch.table.column(identifier))
            ids = [names[row] for row in rows.row_numbers().tolist()]
        groups = None if groups is None else rows.align("groups", groups)
        done += batch.table.num_rows
        yield rows, ids, groups
    if reader.accounting.dropped:
        tell(reader.accounting.notes()[0])


def _of_known_scale(reader: Reader) -> Iterator[Batch]:
    """The batches, held back until their numbers tell whether they are percentages: what is refused is not counted."""
    held: list[Batch] = []
    rows = 0
    for batch in reader.batches():
        held.append(batch)
        rows += batch.table.num_rows
        if reader.accounting.is_open:
            if rows > _WAITING:
                reader.accounting.check_scale()
            continue
        yield from held
        held, rows = [], 0


def _keep_groups_whole(batches: Iterator[Batch], group: str | None) -> Iterator[Batch]:
    """The same rows, the last ones of a batch held back while the next may go on with their group."""
    if group is None:
        yield from batches
        return
    import pyarrow as pa

    held: Any = None
    for batch in batches:
        table = batch.table if held is None else pa.concat_tables([held, batch.table], promote_options="permissive")
        column = table.column(group).to_pylist()
        cut = len(column)
        while cut and column[cut - 1] == column[-1]:
            cut -= 1
        held = table.slice(cut)
        if cut:
            yield Batch(table.slice(0, cut), batch.share)
    if held is not None and held.num_rows:
        yield Batch(held, 1.0)

"""A data set of one or several files, read in pieces: into memory while there are few rows, else into a tally."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._io.printable import printable
from surefoot.assessment.identifiers import repeated_identifier
from surefoot.core.tally import Tally
from surefoot.errors import AmbiguousLabels, InvalidPredictions, InvalidTally
from surefoot.files.delimited import DelimitedFile
from surefoot.files.finding import Ambiguous, Columns, find_columns
from surefoot.files.harness import COLUMNS, SampleLog
from surefoot.files.rounding import decimals_of
from surefoot.files.source import BadFile, Batch, Source, gather
from surefoot.files.streams import ahead
from surefoot.metrics import ALL
from surefoot.metrics.tallying import tally, terms_for
from surefoot.predictions import ArrayPredictions, Predictions
from surefoot.predictions.columns import as_array
from surefoot.predictions.labels import (
    as_labels,
    distinct,
    kind_of,
    labels_in_names,
    labels_of_count,
    labels_of_second,
)

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows and bytes up to which all rows are held in memory, so that every indicator can be had.
MOST_ROWS, MOST_BYTES = 2_000_000, 1 << 29
_MOST_SLICES = 10_000

Progress = Callable[[float, int], None]


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
    #: What each row belongs to, where that was asked for; and a column that looks as if rows belonged to its values.
    groups: Any = None
    looks_grouped: str = ""
    #: Other columns of the rows that are held, to be shown beside them.
    shown: Any = None

    #: All columns of the first file.
    all_columns: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the command line that name these columns; empty if they cannot be named there."""
        labels = self.held.labels if self.is_second else None
        return () if self.columns is None else self.columns.options(self.all_columns, labels)

    @property
    def said(self) -> str:
        """Which columns were taken for what."""
        if self.columns is None:
            return ""
        labels = self.held.labels if self.columns.probabilities or self.columns.logits else None
        if labels is None:
            return self.columns.said()
        return self.columns.said(None, labels[1]) if self.is_second else self.columns.said(len(labels))


class Reader:
    """The files of a data set, the columns that play a role, and what all rows must agree on."""

    def __init__(
        self,
        name: str,
        sources: list[Source],
        columns: Mapping[str, Any],
        by: str | None,
        labels: Any,
        floor: float | None,
        progress: Progress | None,
        *,
        positive: Any = None,
        float32: bool = True,
        group: str | None = None,
        show: Sequence[str] = (),
    ) -> None:
        self.name, self.sources, self.labels, self.floor = name, sources, labels, floor
        self.positive, self.float32 = positive, float32
        if name == "-":
            self.name = "standard input"
        self.progress = progress or (lambda share, rows: None)
        first = sources[0]
        told = any(value is not None for value in columns.values())
        self.columns = (
            COLUMNS if isinstance(first, SampleLog) and not told else find_columns(first.name, first.head(), columns)
        )
        self.by, self.group = by, group
        self.names = self.columns.names()
        self.show = tuple(dict.fromkeys(show))
        sliced = by if by not in ("predicted", "truth") else None
        for parts, what in ((sliced, "slice by"), (group, "group by"), *((name, "show") for name in self.show)):
            if parts is None:
                continue
            if parts not in first.schema.names:
                listed = ", ".join(f"'{printable(c)}'" for c in first.schema.names[:8])
                raise BadFile(
                    f"there is no column '{printable(parts)}' to {what}; the columns are {listed}",
                    file=first.name,
                )
            self.names = list(dict.fromkeys([*self.names, parts]))
        for source in sources:
            if isinstance(source, DelimitedFile):
                source.verbatim = frozenset(self.show) - {*self.columns.names(), sliced, group}
        self.looks_grouped = "" if group is not None else repeated_identifier(first.head(), {*self.names})
        #: The row at which each file starts, among all rows.
        self.starts: list[int] = []
        self.is_text = all(source.is_text for source in sources)
        self._check_types()
        if positive is not None and not self._is_second():
            raise Ambiguous(
                "--positive names the label of a single column of probabilities; no such column is used here",
                file=self.name,
            )
        self._finest: int | None = 0
        #: The first label of a stream that is not the positive one.
        self._negative: Any = None

    # -- passes ------------------------------------------------------------------------------------------------------

    def whole(self) -> Reading:
        """All rows, in memory."""
        return self._held([batch.table for batch in self.batches()])

    def whole_or_tally(self, metrics: Sequence[str] | None) -> Reading:
        """All rows while there are few, else their tally."""
        kept: list[pa.Table] = []
        batches = self.batches()
        rows = size = 0
        for batch in batches:
            kept.append(batch.table)
            rows, size = rows + batch.table.num_rows, size + batch.table.nbytes
            self.progress(batch.share, rows)
            if rows > MOST_ROWS or size > MOST_BYTES:
                break
        else:
            return self._held(kept)
        labels = self.labels if self.labels is not None else self.labels_of_all()
        decimals: int | None = 0 if self.is_text else None
        pieces: Iterator[Batch] = chain((Batch(table, 0.0) for table in kept), batches)
        while (total := self._tally(pieces, labels, decimals, metrics)) is None:
            # confidences that looked rounded were not, or not so much: once more, knowing it
            decimals, pieces = self._finest, self.batches()
        return self._reading(total)

    def _held(self, tables: list[pa.Table]) -> Reading:
        import pyarrow as pa

        if not sum(table.num_rows for table in tables):
            raise BadFile("no rows; there is nothing to assess", file=self.name)
        table = pa.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]
        predictions = self.predictions(table, 0, self.labels)
        if self.is_text and predictions.certain and self.floor is None:
            decimals = decimals_of(predictions.confidence)
            predictions = predictions.rounded_at(decimals) if decimals else predictions
        by = self.by_values(table, predictions)
        shown = table.select(self.show) if self.show else None
        return self._reading(predictions, by=by, groups=self.group_values(table), shown=shown)

    def _reading(self, held: ArrayPredictions | Tally, **of_rows: Any) -> Reading:
        of_rows |= {"is_second": self._is_second(), "looks_grouped": self.looks_grouped}
        return Reading(self.name, held, self.columns, all_columns=tuple(self.sources[0].schema.names), **of_rows)

    def _tally(
        self, batches: Iterator[Batch], labels: Any, decimals: int | None, metrics: Sequence[str] | None
    ) -> Tally | None:
        """The tally of all rows; None if confidences of 1 were judged, and later rows tell that it was wrongly."""
        total: Tally | None = None
        done, judged = 0, False
        for batch in gather(batches):
            if self._weighs_nothing(batch.table):
                done += batch.table.num_rows
                continue
            rows = self.predictions(batch.table, done, labels)
            if decimals is not None:
                here = decimals_of(rows.confidence)
                finest = None if here is None else max(decimals, here)
                if finest != decimals and judged:
                    self._finest = finest
                    return None
                decimals = finest
                if rows.certain:
                    judged = True
                    rows = rows.rounded_at(decimals) if decimals else rows
            start, done = done, done + len(rows)
            by = self.by_values(batch.table, rows, start)
            part = tally(rows, by=by) if metrics is None else self._first_page(rows, metrics, by)
            part = part if self.by is None else _rename_slices(part, self.by)
            try:
                total = part if total is None else total + part
            except InvalidTally as error:
                raise BadFile(str(error).rstrip("."), **self._where(done - 1)) from error
            if total.slices is not None and len(total.slices) > _MOST_SLICES:
                raise BadFile(
                    f"more than {_MOST_SLICES:,} slices by '{printable(str(self.by))}'",
                    file=self.name,
                )
            self.progress(batch.share, done)
        return total

    def _first_page(self, rows: ArrayPredictions, metrics: Sequence[str], by: Any) -> Tally:
        """The tally that an assessment of some metrics takes, and no more: of those that these rows can give."""
        held = [ALL[name] for name in metrics if ALL[name].additive and not ALL[name].missing(rows)]
        return rows.tally(terms_for(held, diagram=False), by=by)

    def batches(self) -> Iterator[Batch]:
        """The batches of all files, the next one read while this one is used."""
        self.starts, done = [], 0
        for number, source in enumerate(self.sources):
            self.starts.append(done)
            missing = next((name for name in self.names if name not in source.schema.names), None)
            if missing is not None:
                raise BadFile(
                    f"it has no column '{printable(missing)}', which the first file has",
                    file=source.name,
                )
            for batch in ahead(source.batches(self.names, self.columns.numbers())):
                done += batch.table.num_rows
                yield Batch(batch.table, (number + batch.share) / len(self.sources))

    # -- rows --------------------------------------------------------------------------------------------------------

    def predictions(self, table: pa.Table, start: int, labels: Any) -> ArrayPredictions:
        """The rows of a table, checked; ``start`` is the number of its first row among all."""
        try:
            return self._predictions(table, labels, start).rows()
        except BadFile:
            raise
        except AmbiguousLabels as error:
            raise Ambiguous(str(error).rstrip("."), file=self.name) from error
        except InvalidPredictions as error:
            raise self._locate(error, start) from error

    def _predictions(self, table: pa.Table, labels: Any, start: int) -> Predictions:
        roles = self.columns
        held = {role: table.column(name) for role, name in vars(roles).items() if isinstance(name, str)}
        common: dict[str, Any] = {"sample_weight": held.get("weight"), "floor": self.floor}
        literal: dict[str, Any] = {"float32": self.float32}
        if roles.probabilities is not None or roles.logits is not None:
            role = "probabilities" if roles.logits is None else "logits"
            scores, labels = self._scores(table, role, held["truth"], labels)
            common |= {"labels": labels, "y_pred": held.get("predicted"), "pos_label": self._pos_label()}
            if roles.logits is not None:
                return Predictions.from_logits(held["truth"], scores, **common)
            return Predictions.from_probabilities(held["truth"], scores, **common, **literal)
        claim: dict[str, Any] = {"confidence": held.get("confidence"), "doubt": held.get("doubt")}
        if roles.correct is not None:
            return Predictions.from_correct(held["correct"], **claim, **common, **literal)
        if self.is_text:
            self._check_kinds(held["truth"], held["predicted"], start)
        return Predictions.from_labels(held["truth"], held["predicted"], **claim, **common, **literal)

    def _pos_label(self) -> Any:
        """The positive label, read like those of the column of truth."""
        import pyarrow.types as kinds

        if not isinstance(self.positive, str):
            return self.positive
        truth = self.sources[0].schema.field(str(self.columns.truth)).type
        text = self.positive.strip()
        if kinds.is_boolean(truth) and text.casefold() in ("true", "false"):
            return text.casefold() == "true"
        if (kinds.is_integer(truth) or kinds.is_floating(truth)) and re.fullmatch(r"-?\d+(\.0+)?", text):
            return int(float(text))
        return self.positive

    def _check_kinds(self, truth: Any, predicted: Any, start: int) -> None:
        """In a text file one odd value makes a column of numbers one of strings: name it."""
        import pyarrow.types as kinds

        for role, column, other in (("truth", truth, predicted), ("predicted", predicted, truth)):
            if kinds.is_string(column.type) and kinds.is_integer(other.type):
                values = column.to_pylist()
                odd = (i for i, v in enumerate(values) if v is not None and not v.strip().lstrip("-").isdigit())
                row = next(odd, None)
                if row is not None:
                    raise BadFile(
                        "but the other labels are whole numbers",
                        column=getattr(self.columns, role),
                        value=values[row],
                        hint="labels are of one kind",
                        **self._where(start + row),
                    )

    def _scores(self, table: pa.Table, role: str, truth: Any, labels: Any) -> tuple[Any, Any]:
        """Probabilities or logits as a table, and the labels that their columns are named after, if they are."""
        names = getattr(self.columns, role)
        if isinstance(names, str):
            return table.column(names), labels
        columns = [as_array(name, table.column(name)) for name in names]
        whole = next((i for i, column in enumerate(columns) if column.dtype.kind != "f"), None)
        if whole is not None and role == "probabilities":
            raise InvalidPredictions(
                f"holds {columns[whole].dtype}, not numbers from 0 to 1", argument=role, column=names[whole]
            )
        if labels is None:
            values = as_labels("y_true", truth)
            labels = labels_in_names(distinct(values), kind_of(values), list(names))
        table_of = np.stack(columns, axis=1)
        return (_summed_to_one(table_of) if self.is_text and role == "probabilities" else table_of), labels

    def _locate(self, error: InvalidPredictions, start: int) -> BadFile:
        """An error of a constructor as one of the file: with its name, its column, and the row in it."""
        if error.row is None:
            return BadFile(str(error.at(column=None)).rstrip("."), file=self.name)
        row = error.row if isinstance(error.row, int) else error.row[0]
        columns = {"column": error.column or self._column_of(error.argument)}
        return BadFile.of(error, **columns, **self._where(start + row))

    def _column_of(self, argument: str) -> str:
        role = {"y_true": "truth", "y_pred": "predicted", "sample_weight": "weight"}.get(argument, argument)
        column = getattr(self.columns, role, None)
        return column if isinstance(column, str) else role

    def _where(self, row: int) -> dict[str, Any]:
        """The file, and the row in it."""
        at = max(0, bisect_right(self.starts, row) - 1)
        return {"file": self.sources[at].name, "row": row - self.starts[at]}

    def by_values(self, table: pa.Table, predictions: Predictions, start: int = 0) -> Any:
        if self.by is None or self.by in ("predicted", "truth"):
            if self.by is not None and getattr(predictions, self.by) is None:
                raise BadFile("it holds no labels to slice by, only whether rows are correct", file=self.name)
            return self.by
        return self._values(table, self.by, "sliced by it", start)

    def group_values(self, table: pa.Table, start: int = 0) -> Any:
        """What each row belongs to; None if that was not asked for."""
        return None if self.group is None else self._values(table, self.group, "grouped by it", start)

    def _values(self, table: pa.Table, name: str, how: str, start: int) -> Any:
        """The values of a column that parts the rows."""
        column = table.column(name)
        if column.null_count:
            row = next(i for i, value in enumerate(column.to_pylist()) if value is None)
            raise BadFile(
                f"is empty, but rows are {how}", column=name, hint="fill it or drop the row", **self._where(start + row)
            )
        try:
            values = np.asarray(column)
            return np.array([str(v) for v in values]) if values.dtype.kind not in "biuU" else values
        except (ValueError, TypeError) as error:
            raise BadFile(
                f"rows cannot be {how.replace(' it', '')} '{printable(name)}' ({error})",
                file=self.name,
            ) from error

    # -- what all rows must agree on ---------------------------------------------------------------------------------

    def _check_types(self) -> None:
        """What files call by one name must be of one type: else one would be rounded, or read, like the other."""
        first = self.sources[0].schema
        shown_only = {*self.show} - {*self.columns.names(), self.by, self.group}
        for name in self.names if not self.is_text else ():
            if name in shown_only:
                continue
            for source in self.sources[1:]:
                if name in source.schema.names:
                    wanted, own = (_plain_type(schema.field(name).type) for schema in (first, source.schema))
                    if own != wanted:
                        said = f"{printable(name)} is of type {own}, in the first file {wanted}"
                        raise BadFile(f"{said}; convert one", file=source.name)

    def _weighs_nothing(self, table: pa.Table) -> bool:
        """Whether no row of a batch counts: then it adds nothing, as its rows would to others."""
        if self.columns.weight is None:
            return False
        return not np.asarray(as_array("weight", table.column(self.columns.weight))).any()

    def labels_of_all(self) -> Any:
        """The labels of all rows, which no batch alone may hold; None where there are no scores to be named."""
        import pyarrow.compute as pc

        if self.columns.probabilities is None and self.columns.logits is None:
            return None
        found: set[Any] = set()
        for source in self.sources:
            for batch in source.batches([str(self.columns.truth)], ()):
                found.update(pc.unique(batch.table.column(str(self.columns.truth))).to_pylist())
        found.discard(None)
        truth = as_labels("y_true", np.array(sorted(found)))
        names = self._families()
        if self._is_second():
            return labels_of_second(distinct(truth), kind_of(truth), self._pos_label())
        from_names = labels_in_names(distinct(truth), kind_of(truth), list(names)) if names else None
        return from_names or labels_of_count(distinct(truth), kind_of(truth), self._classes())

    def labels_beforehand(self) -> Any:
        """The labels of a stream, of which only the first row is known."""
        import pyarrow.types as kinds

        if self.columns.probabilities is None and self.columns.logits is None:
            return None
        if self.positive is not None:
            return None
        names = self._families()
        truth = self.sources[0].schema.field(str(self.columns.truth)).type
        if kinds.is_integer(truth):
            first = as_labels("y_true", self.sources[0].head().column(str(self.columns.truth)))
            if 0 <= first[0] < self._classes():
                return (names and labels_in_names(distinct(first), kind_of(first), list(names))) or tuple(
                    range(self._classes())
                )
        elif kinds.is_boolean(truth) and self._classes() == 2:
            return (False, True)
        elif names and kinds.is_string(truth):
            first = as_labels("y_true", self.sources[0].head().column(str(self.columns.truth)))
            labels = labels_in_names(distinct(first), kind_of(first), list(names))
            if labels is not None:
                return labels
        raise Ambiguous(
            "the first row does not tell what the labels of a stream are; say which label the probability is of with "
            "--positive, or give columns of probabilities named after the labels, labels 0, 1, ..., or --predicted and "
            "--confidence",
            file=self.name,
        )

    def labels_so_far(self, table: pa.Table) -> Any:
        """The positive label of a stream, after the first other one that has come, or one that stands for it."""
        if self.positive is None or not self._is_second():
            return None
        positive = self._pos_label()
        if self._negative is None:
            values = (value for value in table.column(str(self.columns.truth)).to_pylist() if value is not None)
            self._negative = next((value for value in values if value != positive), None)
        unseen = f"not {positive}" if isinstance(positive, str) else 0 if positive else 1
        return (unseen if self._negative is None else self._negative, positive)

    def _families(self) -> tuple[str, ...]:
        scores = self.columns.probabilities or self.columns.logits
        return scores if isinstance(scores, tuple) else ()

    def _classes(self) -> int:
        """How many classes the scores are for."""
        if self._families():
            return len(self._families())
        if self._is_second():
            return 2
        size = getattr(self._score_type(), "list_size", None)
        if size is None:
            size = len(self.sources[0].head().column(str(self.columns.probabilities or self.columns.logits))[0])
        return int(size)

    def _is_second(self) -> bool:
        scores = self.columns.probabilities or self.columns.logits
        return isinstance(scores, str) and not hasattr(self._score_type(), "value_type")

    def _score_type(self) -> Any:
        return self.sources[0].schema.field(str(self.columns.probabilities or self.columns.logits)).type


def _summed_to_one(table: Any) -> Any:
    """Probabilities in text whose sums rounding has moved, by half a last digit a class at most, divided by them."""
    decimals = decimals_of(table.ravel())
    sums = table.sum(axis=1, keepdims=True)
    off = float(np.abs(sums - 1).max())
    if decimals and 9e-4 < off <= table.shape[1] * 0.5 * 10.0**-decimals * (1 + 1e-9):
        return table / sums
    return table


def _plain_type(kind: Any) -> str:
    """A type without the ways there are to store it."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(kind):
        kind = kind.value_type
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        return f"list of {kind.value_type}"
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return "text"
    return "whole numbers" if kinds.is_integer(kind) else str(kind)


def _rename_slices(part: Tally, by: str) -> Tally:
    return part if part.by == by else Tally(part.tables, part.labels, part.rounded, part.slices, by)

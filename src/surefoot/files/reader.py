"""A data set of one or several files, read in pieces: into memory while there are few rows, else into a tally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.assessment.identifiers import repeated_identifier
from surefoot.core.tally import Label, Tally, add_not_attempted
from surefoot.core.term import Term
from surefoot.core.view import View, check_view
from surefoot.errors import InvalidPredictions, InvalidTally
from surefoot.files.accounting import Accounting, Manner
from surefoot.files.databases import Sqlite
from surefoot.files.delimited import DelimitedFile
from surefoot.files.excel import ExcelFile
from surefoot.files.finding import Ambiguous, are_complete, find_columns
from surefoot.files.held import Reading
from surefoot.files.identifiers import keep_as_written, whole_numbers
from surefoot.files.json_lines import JsonLinesFile
from surefoot.files.labelling import Labelling
from surefoot.files.log import Log
from surefoot.files.notes import answers_beside, notes_of
from surefoot.files.rounding import decimals_of, sums_to_one
from surefoot.files.source import BadFile, Batch, Source, gather
from surefoot.files.streams import ahead
from surefoot.files.types import check_alike, check_lengths, check_roles, check_types
from surefoot.metrics import ALL
from surefoot.metrics.tallying import tally, terms_for
from surefoot.predictions import ArrayPredictions, Predictions
from surefoot.predictions.attempts import NothingAttempted
from surefoot.predictions.columns import as_array, as_text
from surefoot.predictions.events import view_of
from surefoot.predictions.labels import (
    as_labels,
    distinct,
)

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows and bytes up to which all rows are held in memory, so that every indicator can be had.
MOST_ROWS, MOST_BYTES = 2_000_000, 1 << 29

Progress = Callable[[float, int], None]


class Reader(Labelling):
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
        of: View | None = None,
        manner: Manner = Manner(),  # noqa: B008 (frozen)
    ) -> None:
        self.name, self.sources, self.labels, self.floor = name, sources, labels, floor
        self.positive, self.float32, self.of = positive, float32, check_view(of)
        if name == "-":
            self.name = "standard input"
        self.progress = progress or (lambda share, rows: None)
        first = sources[0]
        named = {role: column for role, column in columns.items() if column is not None}
        preset = None if named else getattr(first, "columns", None)
        given = first.complete(named) if isinstance(first, Log) else named
        self.columns = preset or find_columns(first.name, first.head(), given, is_event=self.of == "event")
        for source in () if named else sources[1:]:
            if isinstance(source, Log):
                source.call_like(self.columns)
        if preset is None and not are_complete(given):
            check_roles(sources, {"weight": self.columns.weight, "attempted": self.columns.attempted})
        self.manner = manner
        self._is_named = columns.get("confidence") is not None
        self._are_detected = not {"probabilities", "logits"} & given.keys() and preset is None
        self._answers = answers_beside(sources, self.columns)
        self.accounting = Accounting(self.name, self.columns, manner)
        self.by, self.group = by, group
        self.names = [*self.columns.names(), *filter(None, [self._answers])]
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
        self._names_of_rows = [
            one for one in (self.columns.truth, self.columns.predicted, sliced, group) if one is not None
        ]
        for source in sources:
            if isinstance(source, DelimitedFile):
                source.verbatim = frozenset(self.show) - {*self.columns.names()}
            if isinstance(source, JsonLinesFile | Log | ExcelFile | Sqlite):
                source.labels = frozenset(filter(None, (self.columns.truth, self.columns.predicted)))
        # 007 and 7, or 1.1 and 1.10, are two slices and two groups
        for parts in {sliced, group} - {None, *self.columns.names()}:
            keep_as_written(sources, str(parts))
        self.looks_grouped = (
            "" if group is not None else repeated_identifier(first.head(), {*self.columns.names(), sliced})
        )
        self.starts, self.gaps, self.gaps_before = [], [], []
        self.is_text = all(source.is_text for source in sources)
        if not self.is_text:
            shown_only = {*self.show} - {*self.columns.names(), by, group}
            check_types(sources, [name for name in self.names if name not in shown_only])
        if positive is not None and not self._is_second() and self.of != "event":
            raise Ambiguous(
                "--positive names the label of a single column of probabilities; no such column is used here",
                file=self.name,
            )
        self._finest: int | None = 0
        self._labels_found: tuple[Label, ...] | None = None
        #: The probabilities of all classes as they are written, where that is text.
        self._written: Any = None
        #: The first label of a stream that is not the positive one.
        self._negative: Any = None

    # -- passes ------------------------------------------------------------------------------------------------------

    def whole(self) -> Reading:
        """All rows, in memory."""
        return self._held([batch.table for batch in self.batches()])

    def whole_or_tally(self, metrics: Sequence[str] | None, terms: Sequence[Term] | None = None) -> Reading:
        """All rows while there are few, else their tally: of all metrics, of some, or of these terms and no others."""
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

        def add_up(rows: ArrayPredictions, by: Any) -> Tally:
            if terms is not None:
                return rows.tally(terms, by=by)
            return tally(rows, by=by) if metrics is None else self._first_page(rows, metrics, by)

        while (total := self._tally(pieces, labels, decimals, add_up)) is None:
            # confidences that looked rounded were not, or not so much: once more, knowing it
            decimals, pieces = self._finest, self.batches()
        slices = total.slices or {}
        if self._is_by_column and (numbers := whole_numbers(slices)) is not None:
            total = replace(total, slices={numbers[str(name)]: part for name, part in slices.items()})
        return self._reading(total)

    @property
    def _is_by_column(self) -> bool:
        return self.by not in (None, "predicted", "truth")

    def _held(self, tables: list[pa.Table]) -> Reading:
        import pyarrow as pa

        if not sum(table.num_rows for table in tables):
            lost = f" ({self.accounting.notes()[0].rstrip('.')})" if self.accounting.dropped else ""
            raise BadFile(f"no rows{lost}; there is nothing to assess", file=self.name)
        table = pa.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]
        try:
            predictions = self.predictions(table, 0, self.labels)
        except NothingAttempted as error:
            raise BadFile(str(error).rstrip("."), file=self.name) from error
        if self.is_text and self.floor is None and self._may_be_rounded(predictions):
            decimals = self._decimals_of(predictions)
            predictions = predictions.rounded_at(decimals) if decimals else predictions
        predictions = self._viewed(predictions)
        if self.gaps:
            predictions = replace(predictions, _numbers=self.accounting.numbers(predictions.row_numbers()))
        by = self.by_values(table, predictions)
        if self._is_by_column and (numbers := whole_numbers(np.unique(by).tolist())) is not None:
            by = np.array([numbers[str(name)] for name in by.tolist()])
        shown = table.select(self.show) if self.show else None
        groups = self.group_values(table)
        return self._reading(predictions, by=by, groups=groups, group=self.group or "", shown=shown)

    def _reading(self, held: ArrayPredictions | Tally, **of_rows: Any) -> Reading:
        of_rows |= {"is_second": self._is_second(), "labels": self._labels_found, "looks_grouped": self.looks_grouped}
        of_rows |= {"manner": self.manner, "float32": self.float32}
        of_rows |= {"notes": notes_of(self.sources, self.accounting, held)}
        return Reading(self.name, held, self.columns, all_columns=tuple(self.sources[0].schema.names), **of_rows)

    def _tally(
        self,
        batches: Iterator[Batch],
        labels: Any,
        decimals: int | None,
        add_up: Callable[[ArrayPredictions, Any], Tally],
    ) -> Tally | None:
        """The tally of all rows; None if confidences of 1 were judged, and later rows tell that it was wrongly."""
        total: Tally | None = None
        done, judged = 0, False
        #: Batches of which no row counts: the rows that were not attempted, also by slice.
        skipped, of_slices = 0, Counter[Label]()
        for batch in gather(batches):
            if (left_out := self.no_row_counts(batch.table, done)) is not None:
                skipped += int(left_out.sum())
                if self._is_by_column:
                    values = self._values(batch.table, str(self.by), "sliced by it", done)
                    of_slices.update(values[left_out].tolist())
                done += batch.table.num_rows
                continue
            rows = self.predictions(batch.table, done, labels)
            if decimals is not None:
                here = self._decimals_of(rows)
                finest = None if here is None else max(decimals, here)
                if finest != decimals and judged:
                    self._finest = finest
                    return None
                decimals = finest
                if self._may_be_rounded(rows):
                    judged = True
                    rows = rows.rounded_at(decimals) if decimals else rows
            rows = self._viewed(rows)
            start, done = done, done + batch.table.num_rows
            by = self.by_values(batch.table, rows, start)
            part = add_up(rows, by)
            part = part if self.by in (None, part.by) else replace(part, by=self.by)
            try:
                total = part if total is None else total + part
            except InvalidTally as error:
                raise BadFile(str(error).rstrip("."), **self.where(done - 1)) from error
            if total.slices is not None:
                self._check_slices(len(total.slices))
            self.progress(batch.share, done)
        if total is None and skipped:
            raise BadFile(str(NothingAttempted.among(skipped)).rstrip("."), file=self.name)
        return total if total is None else add_not_attempted(total, skipped, of_slices)

    def _decimals_of(self, rows: ArrayPredictions) -> int | None:
        """The decimals that confidences are written with; of all classes, before they were divided by their sums."""
        return decimals_of(rows.confidence if self._written is None else self._written)

    def _may_be_rounded(self, rows: ArrayPredictions) -> bool:
        """Whether a number is 1, or 0 where it is asked about, which text may have made of another."""
        return bool(rows.certain) or (
            self.of is not None and rows.probabilities is not None and not rows.probabilities.all()
        )

    def _viewed(self, rows: ArrayPredictions) -> ArrayPredictions:
        """The rows in the view that was asked for; what they are sliced by stays what it was."""
        self._labels_found = rows.labels if rows.has_probabilities else None
        try:
            return view_of(rows, self.of, self._pos_label() if self.of == "event" else None).rows()
        except InvalidPredictions as error:
            raise Ambiguous(str(error).rstrip("."), file=self.name) from error

    def _first_page(self, rows: ArrayPredictions, metrics: Sequence[str], by: Any) -> Tally:
        """The tally that an assessment of some metrics takes, and no more: of those that these rows can give."""
        held = [ALL[name] for name in metrics if ALL[name].additive and not ALL[name].missing(rows)]
        return rows.tally(terms_for(held, diagram=False, view=rows.view), by=by)

    def batches(self) -> Iterator[Batch]:
        """The batches of all files, the next one read while this one is used."""
        self.starts, done = [], 0
        self.accounting = Accounting(self.name, self.columns, self.manner, self._is_named, self.is_text, self._answers)
        self.gaps, self.gaps_before = self.accounting.gaps, []
        kinds: dict[str, str] = {}
        for number, source in enumerate(self.sources):
            self.starts.append(done)
            self.gaps_before.append(len(self.gaps))
            read = 0
            there = set(source.schema.names)
            missing = next((name for name in self.names if name not in there), None)
            if missing is not None:
                raise BadFile(f"it has no column '{printable(missing)}', which the first file has", file=source.name)
            for batch in ahead(source.batches(self.names, self.columns.numbers())):
                check_lengths(batch.table, self._names_of_rows, {"file": source.name, "row": read})
                table = self.accounting.settle(batch.table, {"file": source.name, "row": read})
                check_alike(kinds, table, source.name)
                read += batch.table.num_rows
                done += table.num_rows
                yield Batch(table, (number + batch.share) / len(self.sources))
        self.accounting.check_scale()

    # -- rows --------------------------------------------------------------------------------------------------------

    def predictions(self, table: pa.Table, start: int, labels: Any) -> ArrayPredictions:
        """The rows of a table, checked; ``start`` is the number of its first row among all."""
        attempts = self.attempts(table, start)
        with self.located(start):
            if attempts is None:
                return self._predictions(table, labels).rows()
            (cut,) = attempts.cut({"table": table}).values()
            with attempts.located():
                made = self._predictions(cut, labels)
            return attempts.mark(made).rows()

    def _predictions(self, table: pa.Table, labels: Any) -> Predictions:
        roles = self.columns
        held = {role: table.column(name) for role, name in vars(roles).items() if isinstance(name, str)}
        common: dict[str, Any] = {"sample_weight": held.get("weight"), "floor": self.floor}
        literal: dict[str, Any] = {"float32": self.float32}
        if roles.probabilities is not None or roles.logits is not None:
            role = "probabilities" if roles.logits is None else "logits"
            scores, labels = self._scores(table, role, held["truth"], labels)
            common |= {"labels": labels, "y_pred": held.get("predicted")}
            common |= {"pos_label": self._pos_label() if self._is_second() else None}
            if roles.logits is not None:
                return Predictions.from_logits(held["truth"], scores, **common)
            return Predictions.from_probabilities(held["truth"], scores, **common, **literal)
        claim: dict[str, Any] = {"confidence": held.get("confidence"), "doubt": held.get("doubt")}
        if roles.correct is not None:
            return Predictions.from_correct(held["correct"], **claim, **common, **literal)
        if self.is_text:
            self._check_kinds(held["truth"], held["predicted"])
        return Predictions.from_labels(held["truth"], held["predicted"], **claim, **common, **literal)

    def _check_kinds(self, truth: Any, predicted: Any) -> None:
        """In a text file one odd value makes a column of numbers one of strings: name it."""
        import pyarrow.types as kinds

        for role, column, other in (("truth", truth, predicted), ("predicted", predicted, truth)):
            if kinds.is_string(column.type) and kinds.is_integer(other.type):
                values = column.to_pylist()
                odd = (i for i, v in enumerate(values) if v is not None and not v.strip().lstrip("-").isdigit())
                row = next(odd, None)
                if row is not None:
                    raise InvalidPredictions(
                        "but the other labels are whole numbers",
                        argument=role,
                        row=row,
                        value=values[row],
                        hint="labels are of one kind",
                    )

    def _scores(self, table: pa.Table, role: str, truth: Any, labels: Any) -> tuple[Any, Any]:
        """Probabilities or logits as a table, and the labels that their columns are named after, if they are."""
        names = getattr(self.columns, role)
        if isinstance(names, str):
            return table.column(names), labels
        # looked up once: by its name each of many columns is searched for among all
        held = dict(zip(table.column_names, table.columns, strict=True))
        columns = [as_array(name, held[name]) for name in names]
        whole = next((i for i, column in enumerate(columns) if column.dtype.kind != "f"), None)
        if whole is not None and role == "probabilities":
            raise InvalidPredictions(
                f"holds {columns[whole].dtype}, not numbers from 0 to 1", argument=role, column=names[whole]
            )
        if labels is None:
            values = as_labels("y_true", truth)
            labels = self._labels_of_columns(values)
        table_of = np.stack(columns, axis=1)
        self._written = table_of.ravel() if self.is_text and role == "probabilities" else None
        return (sums_to_one(table_of) if self.is_text and role == "probabilities" else table_of), labels

    def by_values(self, table: pa.Table, predictions: Predictions, start: int = 0) -> Any:
        if self.by is None or self.by in ("predicted", "truth"):
            if self.by is not None and getattr(predictions, self.by) is None:
                raise BadFile("it holds no labels to slice by, only whether rows are correct", file=self.name)
            if self.by is not None:
                self._check_slices(len(distinct(getattr(predictions, self.by))))
            return self.by
        values = self._values(table, self.by, "sliced by it", start)
        self._check_slices(len(np.unique(values)))
        return values

    def _check_slices(self, count: int) -> None:
        """Refuse more slices than can be assessed, before any of them is."""
        if count > limits.SLICES:
            why = f"{count:,} slices by '{printable(str(self.by))}'; at most {limits.SLICES:,} are assessed"
            hint = "slice by a column of fewer values; of identifiers, --group tells which rows belong together"
            raise BadFile(why, hint=hint, file=self.name)

    def group_values(self, table: pa.Table, start: int = 0) -> Any:
        """What each row belongs to; None if that was not asked for."""
        return None if self.group is None else self._values(table, self.group, "grouped by it", start)

    def _values(self, table: pa.Table, name: str, how: str, start: int) -> Any:
        """The values of a column that parts the rows."""
        column = table.column(name)
        if column.null_count:
            row = next(i for i, value in enumerate(column.to_pylist()) if value is None)
            raise BadFile(
                f"is empty, but rows are {how}", column=name, hint="fill it or drop the row", **self.where(start + row)
            )
        try:
            values = np.asarray(column)
            return as_text([str(v) for v in values]) if values.dtype.kind not in "biuU" else values
        except (ValueError, TypeError) as error:
            why = f"rows cannot be {how.replace(' it', '')} '{printable(name)}' ({error})"
            raise BadFile(why, file=self.name) from error

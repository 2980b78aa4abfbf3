"""Every row of a file accounted for: on which scale its confidence is, and whether it has one, and an outcome."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._io.printable import printable, printable_value
from surefoot.files.cells import flags_of, numbers_of, which
from surefoot.files.columns import NAMES, Columns, plain
from surefoot.files.filled import FilledIn
from surefoot.files.finding import Ambiguous, is_answer, speaks
from surefoot.files.outcomes import EMPTY, Outcomes
from surefoot.files.reasons import DEFAULTED, NO_CONFIDENCE, NO_OUTCOME, PARTIAL, UNREADABLE, UNSTATED, WHY, is_no_label
from surefoot.files.source import SHARES, BadFile
from surefoot.files.stated import number_alone, stated
from surefoot.files.types import is_text_type
from surefoot.predictions.attempts import NO, SKIPPED, word

if TYPE_CHECKING:
    import pyarrow as pa

#: A percentage of that or less in every row is rather a rating; and what says that numbers are percentages.
_RATING, _PERCENT = 10, "pass --percent (sf.load: percent=True)"
_DROP = "pass --drop-missing (sf.load: drop_missing=True) to leave such rows out and count them"
#: Names that say that numbers are percentages.
_OF_PERCENT = re.compile(r"%|(?:percent(?:age)?|pct)(?![a-z])", re.I)
_SCALES = {"percent": "percentages", "share of 1": "shares of 1", "logarithm": "logarithms"}
PERCENTAGES = "Confidences are read as percentages (0 to 100)."
#: Stated values up to which the share of each is worth telling, and rows from which on.
_MOST_VALUES, _LEAST_ROWS = 12, 20
#: Answers by which it is told whether they state a confidence.
_LOOKED_AT = 2000


@dataclass(frozen=True)
class Manner:
    """How numbers are to be read: as percentages, found in text by a pattern, rows that lack one left out."""

    percent: bool | None = None
    drop_missing: bool = False
    pattern: str | None = None
    #: Whether rows may be left out where this is asked.
    may_drop: bool = True

    def options(self) -> tuple[str, ...]:
        """The options of the command line that say the same."""
        scale = () if self.percent is None else ("--percent" if self.percent else "--no-percent",)
        left_out = ("--drop-missing",) if self.drop_missing else ()
        return (*scale, *left_out, *(() if self.pattern is None else ("--confidence-pattern", self.pattern)))

    def compiled(self) -> re.Pattern[str] | None:
        if self.pattern is None:
            return None
        try:
            return re.compile(self.pattern, re.I)
        except re.error as error:
            raise Ambiguous(
                f"--confidence-pattern {printable(self.pattern)} is no regular expression ({error}); write one such as "
                "'sure: ([0-9]+%)', with the number in its first group"
            ) from None


@dataclass
class Accounting:
    """What becomes of the rows of a data set before they are predictions."""

    name: str
    columns: Columns
    manner: Manner
    #: Whether the user named the confidence: one that a judge filled in is then taken, and counted.
    is_named: bool = False
    #: Whether numbers are written in decimals; floats of programs are shares of 1 if they are 0 or 1.
    is_text: bool = True
    #: The column of answers that state what the confidence is, if there is one.
    answers: str = ""
    #: "percent" or "share of 1", once rows have told.
    scale: str = ""
    #: The file whose rows told.
    _told_by: str = ""
    #: The largest number without a unit, and the first that is 1 while nothing has told the scale.
    _largest: float = 0.0
    _one: dict[str, Any] | None = None
    rows: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    filled_in: int = 0
    #: Of each row that was left out, how many were kept before it.
    gaps: list[int] = field(default_factory=list)
    _values: Counter[float] = field(default_factory=Counter)
    #: The confidences of the batch at hand, nan where there is none.
    _stated: Any = None

    def __post_init__(self) -> None:
        self._outcomes, self._filled = Outcomes(), FilledIn()
        self._pattern = self.manner.compiled()
        roles = (self.columns.confidence, self.columns.doubt, self.columns.probabilities)
        self._claims = [n for role in roles if role is not None for n in ([role] if isinstance(role, str) else role)]
        named = {self.columns.confidence: "confidence", self.columns.doubt: "doubt"}
        #: Those that are called percentages, unless something else says what they are.
        self._of_percent = {name for name in self._claims if _OF_PERCENT.search(name)}
        self._arguments = {name: named.get(name, "probabilities") for name in self._claims}
        #: Other numbers, which are written as such and in no other way.
        self._plain = [name for name in self.columns.numbers() if name not in self._claims]

    def settle(self, table: pa.Table, where: Mapping[str, Any]) -> pa.Table:
        """The rows of a batch with their confidences from 0 to 1, less those that are to be left out.

        ``where`` tells the file, and the number of the first row in it.
        """
        attempted = self.attempted(table)
        reasons: dict[str, Any] = {}
        written_as = {name: table.column(name) for name in self._claims}
        settled = dict(zip(table.column_names, table.columns, strict=True))
        for name in self._claims:
            if table.schema.field(name).metadata == SHARES:
                self._of_percent.discard(name)
                if self.manner.percent is None and not self.scale:
                    self.scale, self._told_by = "share of 1", where["file"]
            if not _is_list(settled[name].type):
                settled[name] = self._numbers(name, settled[name], where, attempted, reasons)
        for name in self._plain:
            if is_text_type(settled[name].type):
                settled[name] = _as_floats(name, settled[name], where)
        # once for all columns: of a hundred thousand, each would be copied for each
        table = type(table).from_arrays(list(settled.values()), list(settled))
        for label in filter(None, (self.columns.truth, self.columns.predicted)):
            lacking = _lacks_label(table.column(label))
            if lacking.any():
                reasons.setdefault(NO_OUTCOME, []).append((label, lacking))
        if self.columns.correct is not None:
            name = self.columns.correct
            missing, partial = self._outcomes.lacking(name, table.column(name), where)
            reasons.setdefault(NO_OUTCOME, []).append((name, missing))
            reasons.setdefault(PARTIAL, []).append((name, partial))
        if WHY in table.column_names or (self.answers and self._stated is not None):
            table = self._graded(table, attempted, reasons)
        return self._without_missing(table, where, attempted, reasons, written_as)

    def _graded(self, table: pa.Table, attempted: Any, reasons: dict[str, Any]) -> pa.Table:
        """The rows of a log without the column that says what is wrong with them, which is among the reasons now."""
        why = np.full(table.num_rows, None)
        if WHY in table.column_names:
            why = np.array(table.column(WHY).to_pylist(), dtype=object)
            table = table.drop_columns([WHY])
        if self.answers and self._stated is not None:
            why[self._filled.rows(self._stated, table.column(self.answers))] = DEFAULTED
        if (why != None).any():  # noqa: E711 (of each)
            if self.is_named:
                self.filled_in += int((attempted & (why == DEFAULTED)).sum())
            for reason in (UNREADABLE, PARTIAL) if self.is_named else (DEFAULTED, UNREADABLE, PARTIAL):
                reasons.setdefault(reason, []).insert(0, (self.columns.confidence, why == reason))
        return table

    def attempted(self, table: pa.Table) -> Any:
        """Which rows were attempted, as far as columns tell; what is no answer to that is refused later."""
        flags = np.ones(table.num_rows, dtype=bool)
        if self.columns.attempted is not None:
            column = table.column(self.columns.attempted)
            if is_text_type(column.type):
                flags &= ~which(column, lambda text: word(text) in NO)
            else:
                flags &= np.asarray(column.to_numpy(), dtype=object) != 0
        if self.columns.correct is not None and is_text_type(table.column(self.columns.correct).type):
            flags &= ~which(table.column(self.columns.correct), lambda text: word(text) in SKIPPED)
        return flags

    # -- numbers -----------------------------------------------------------------------------------------------------

    def _numbers(self, name: str, column: Any, where: Any, attempted: Any, reasons: dict[str, Any]) -> Any:
        import pyarrow as pa
        import pyarrow.types as kinds

        has_unit = None
        if kinds.is_floating(column.type) or kinds.is_integer(column.type):
            values = numbers_of(column).astype(np.float64, copy=False)
            if self._are_shares(values) and attempted.all():
                self._told_by = self._told_by or where["file"]
                self.scale = "share of 1"
                if name == self.columns.confidence:
                    self._stated = values
                return column
            missing = flags_of(column.is_null(nan_is_null=True))
            unreadable = np.zeros(len(values), dtype=bool)
        elif is_text_type(column.type):
            values, missing, unreadable, has_unit = self._read_text(name, column)
        else:
            return column
        reasons.setdefault(NO_CONFIDENCE, []).append((name, missing))
        is_answer = has_unit is not None and plain(name.rpartition(".")[2]) not in NAMES["confidence"].split()
        reasons.setdefault(UNSTATED if is_answer else UNREADABLE, []).append((name, unreadable))
        known = attempted & ~missing & ~unreadable
        bare = known if has_unit is None else known & ~has_unit
        if re.search(r"log_?prob", name, re.I) and (values[known] <= 0).all():
            self.scale = "logarithm"
            values, has_unit = np.exp(values), known
        elif self._is_percent(name, values, bare, where, kinds.is_floating(column.type) and not self.is_text):
            values, has_unit = np.where(bare, values / 100, values), known
        if name == self.columns.confidence:
            self._stated = np.where(known, values, np.nan)
        return column if has_unit is None else pa.chunked_array([pa.array(values, mask=missing | unreadable)])

    def _are_shares(self, values: Any) -> bool:
        """Whether all numbers lie from 0 to 1, one of them between, and nothing has told of another scale.

        Two passes over the usual column answer what takes a dozen of any other. A nan fails every comparison.
        """
        if not len(values) or self.manner.percent is not None or self.scale not in ("", "share of 1"):
            return False
        least, most = float(values.min()), float(values.max())
        return least >= 0 and most <= 1 and (0 < least < 1 or 0 < most < 1)

    def _count(self, lacking: Any) -> None:
        """Count the stated values of rows that are kept, unless there are many."""
        if self._stated is None:
            return
        values = self._stated[~lacking] if lacking.any() else self._stated
        is_nan = np.isnan(values)
        values = values[~is_nan] if is_nan.any() else values
        if len(self._values) <= _MOST_VALUES and len(np.unique(values[:4096])) <= _MOST_VALUES:
            found, counts = np.unique(np.round(values, 6), return_counts=True)
            self._values.update(dict(zip(found[: 4 * _MOST_VALUES].tolist(), counts.tolist(), strict=False)))
        else:
            self._values.update(dict.fromkeys(np.unique(values[:4096])[: 2 * _MOST_VALUES].tolist(), 1))

    def _read_text(self, name: str, column: Any) -> tuple[Any, Any, Any, Any]:
        texts = column.to_pylist()
        # among answers that state a confidence, one that is only a number states none
        is_spoken = self._pattern is None and is_answer(name) and speaks(texts[:_LOOKED_AT])
        size = len(texts)
        values, has_unit = np.full(size, np.nan), np.zeros(size, dtype=bool)
        missing, unreadable = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
        for i, text in enumerate(texts):
            if text is None or text.strip().lower() in EMPTY:
                missing[i] = True
                continue
            found = stated(text, self._pattern)
            if found is None or (is_spoken and number_alone(text) is not None):
                unreadable[i] = True
            else:
                values[i], has_unit[i] = found
        return values, missing, unreadable, has_unit

    def _is_percent(self, name: str, values: Any, bare: Any, where: Any, is_float: bool) -> bool:
        """Whether numbers without a unit are percentages; rows that contradict those before are refused."""

        def refuse(rows: Any, reason: str, hint: str) -> BadFile:
            row = int(rows.argmax())
            place = {"column": name, "row": where["row"] + row, "file": where["file"]}
            place["argument"] = self._arguments[name]
            return BadFile(reason, value=float(values[row]), hint=hint, **place)

        is_large = bare & (values > 1)
        is_small = bare & (values > 0) & (values < 1)
        if self.manner.percent is not None:
            self.scale = "percent" if self.manner.percent else "share of 1"
        elif not self.scale and (is_large.any() or is_small.any()):
            self.scale = "percent" if int(is_large.sum()) > int(is_small.sum()) else "share of 1"
            self._told_by = where["file"]
        if self.scale == "percent":
            beyond = bare & ((values < 0) | (values > 100))
            if beyond.any():
                hint = "correct the row" if self.manner.percent else "if these are logits, name them with --logits"
                raise refuse(beyond, "but a percentage lies between 0 and 100", hint)
            self._largest = max(self._largest, float(values[bare].max(initial=0.0)))
        if self.manner.percent is not None:
            return self.manner.percent
        is_near = values < 1.01  # a share of 1 that is wrong by a little is refused as what it is
        against = is_small if self.scale == "percent" else is_large & (values <= 100) & ~is_near
        if against.any():
            is_elsewhere = self._told_by not in ("", where["file"])
            others = f"those of {printable(self._told_by)}" if is_elsewhere else "other rows"
            others += " hold percentages" if self.scale == "percent" else " lie between 0 and 1"
            hint = f"{_PERCENT} if all are percentages, or "
            hint += "write both files on one scale" if is_elsewhere else "correct the row"
            raise refuse(against, f"but {others}", hint)
        if not (self.scale or self._one or is_float) and (bare & (values == 1)).any():
            row = int((bare & (values == 1)).argmax())
            self._one = {"column": name, "row": where["row"] + row, "value": float(values[row]), "file": where["file"]}
        if self._one is not None and self.scale == "percent":
            raise self._unclear()
        return self.scale == "percent"

    @property
    def is_open(self) -> bool:
        """Whether a 1 has come that nothing explains so far: 1%, or 100%."""
        is_asked = self.manner.percent is None and isinstance(self.columns.confidence, str)
        return is_asked and self._one is not None and not self.scale

    def check_scale(self) -> None:
        """Raise if all rows together leave open on which scale they are."""
        if self.manner.percent is not None:
            return
        if self.is_open:
            raise self._unclear()
        if self._of_percent and self.is_text and self.scale == "share of 1":
            raise Ambiguous(
                f"'{printable(min(self._of_percent))}' is called a percentage, but none of its numbers is above 1",
                hint=f"{_PERCENT} for numbers such as 0.9%, or --no-percent (percent=False) for shares such as 0.9",
                file=self.name,
            )
        if self.scale == "percent" and self._largest <= _RATING:
            raise Ambiguous(
                f"no confidence is above {self._largest:g}, which could be a rating up to {_RATING}, or a percentage; "
                f"{_PERCENT} if it is one, or divide by the highest rating",
                file=self.name,
            )

    def check_scale_of(self, reference: Accounting) -> None:
        """Raise if these rows turned out to be on another scale than those that they are judged by."""
        if self.manner.percent is not None or not reference.scale:
            return
        if not self.scale and self._one is not None and reference.scale == "percent":
            raise self._unclear()
        if self.scale and self.scale != reference.scale:
            raise Ambiguous(
                f"its {self._claims[0]} is read as {_SCALES[self.scale]}, and that of {printable(reference.name)} as "
                f"{_SCALES[reference.scale]}; write both on one scale, or pass --percent if both are percentages",
                file=self.name,
            )

    def _unclear(self) -> Ambiguous:
        """The error of a 1 that nothing explains."""
        told = (
            "which could be 1% or 100%: the rows before it do not tell" if self.scale else "which could be 1% or 100%"
        )
        return Ambiguous(told, hint=f"{_PERCENT} for 1%, or --no-percent (percent=False) for 100%", **(self._one or {}))

    # -- rows that lack something ------------------------------------------------------------------------------------

    def _without_missing(
        self, table: pa.Table, where: Any, attempted: Any, reasons: Mapping[str, Any], written_as: Mapping[str, Any]
    ) -> pa.Table:
        import pyarrow as pa

        lacking = np.zeros(table.num_rows, dtype=bool)
        found: Counter[str] = Counter()
        first: tuple[int, str, str] | None = None
        for reason in (DEFAULTED, PARTIAL, NO_CONFIDENCE, UNREADABLE, UNSTATED, NO_OUTCOME):
            for name, flags in reasons.get(reason, ()):
                if not flags.any():
                    continue
                new = flags & attempted & ~lacking
                if new.any():
                    found[reason] += int(new.sum())
                    lacking |= new
                    here = (int(new.argmax()), reason, str(name))
                    first = here if first is None else min(first, here)
        self.rows += table.num_rows
        if first is None or self.manner.drop_missing:
            self._count(lacking)
        if first is None:
            return table
        if not self.manner.drop_missing:
            row, reason, name = first
            written = written_as.get(name, table.column(name))[row].as_py()
            hint = _DROP if self.manner.may_drop else "fill it in, or drop the row"
            if reason == DEFAULTED and self.columns.correct is not None:
                hint += (
                    f", or name --correct {printable(self.columns.correct)} --confidence {printable(name)} to take them"
                )
            raise BadFile(
                f"{_is_what(reason, written)} ({found.total():,} of the first {self.rows:,} rows {_has(found)})",
                column=name,
                row=where["row"] + row,
                hint=hint,
                file=where["file"],
            )
        self.dropped.update(found)
        kept_before = self.rows - self.dropped.total() - (table.num_rows - int(lacking.sum()))
        self.gaps += (kept_before + np.cumsum(~lacking)[lacking]).tolist()
        return table.filter(pa.array(~lacking))

    def numbers(self, kept: Any) -> Any:
        """The numbers that kept rows have among all that were read, those that were left out too."""
        return kept + np.searchsorted(self.gaps, kept, side="right")

    def notes(self) -> tuple[str, ...]:
        """What was read otherwise than it stands in the file, in sentences."""
        told = []
        if self.dropped:
            told.append(f"{_share(self.dropped.total(), self.rows)} are left out: they {_has(self.dropped)}.")
        if self.filled_in:
            told.append(
                f"The confidence of {_share(self.filled_in, self.rows)} was filled in by whoever graded the answer, "
                f"which states none. It is taken, because {printable(str(self.columns.confidence))} was named."
            )
        if self.scale == "percent":
            told.append(PERCENTAGES)
        if self.scale == "logarithm":
            of = (
                "the mean of its tokens"
                if re.search("mean|avg|average", str(self.columns.confidence), re.I)
                else "all its tokens"
            )
            told.append(
                f"Confidences are exp({printable(str(self.columns.confidence))}): an answer is as sure as {of}."
            )
        counted = self._values.total()
        if counted > 1 and len(self._values) == 1:
            told.append(f"All {counted:,} rows have the same confidence, {next(iter(self._values)):.4g}.")
        if counted >= _LEAST_ROWS and 1 < len(self._values) <= _MOST_VALUES:
            shares = ", ".join(f"{value:.4g} ({_part(n, counted)})" for value, n in self._values.most_common())
            told.append(f"Stated confidences, with their shares of rows: {shares}.")
        return tuple(told)


def _lacks_label(column: Any) -> Any:
    if is_text_type(column.type):
        return flags_of(column.is_null()) | which(column, is_no_label)
    return flags_of(column.is_null(nan_is_null=True))


def _as_floats(name: str, column: Any, where: Any) -> Any:
    """Numbers that came as text, because one of the rows around them is none; which that is."""
    import pyarrow as pa

    values: list[float | None] = []
    for row, text in enumerate(column.to_pylist()):
        try:
            values.append(None if text is None else float(text))
        except ValueError:
            why = "not a number; correct or drop the row"
            raise BadFile(why, column=name, row=where["row"] + row, value=text, file=where["file"]) from None
    return pa.chunked_array([pa.array(values, pa.float64())])


def _share(count: int, rows: int) -> str:
    return f"{count:,} of {rows:,} rows"


def _part(count: int, rows: int) -> str:
    """A part of rows in percent; what is there is not 0%, and what is not all is not 100%."""
    percent = round(100 * count / rows)
    return "<1%" if percent == 0 else ">99%" if percent == 100 and count < rows else f"{percent}%"


def _has(found: Counter[str]) -> str:
    if len(found) == 1:
        return f"have {next(iter(found))}"
    return "have " + ", ".join(f"{reason} ({count:,})" for reason, count in found.most_common())


def _is_what(reason: str, written: Any) -> str:
    """What is wrong with the first such row, after the name of its column."""
    if reason in (NO_CONFIDENCE, NO_OUTCOME):
        return "is missing" if written is None else f"is {printable_value(written)}"
    shown = "is" if written is None else f"is {printable_value(written)},"
    if reason == UNREADABLE and re.search(r"\d", str(written)):
        return f"{shown} not a number; if it states one in words of its own, say how with --confidence-pattern"
    return (
        shown
        + {
            UNSTATED: " which states no confidence, or not in a way that is known (see --confidence-pattern)",
            UNREADABLE: " not a number: words for confidence have no agreed meaning",
            DEFAULTED: " filled in by whoever graded the answer, which states no confidence",
            PARTIAL: " neither right nor wrong; outcomes in words are CORRECT, INCORRECT or NOT_ATTEMPTED",
        }[reason]
    )


def _is_list(kind: Any) -> bool:
    return hasattr(kind, "value_type") and not str(kind).startswith("dictionary")

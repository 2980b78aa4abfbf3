"""Tallies of lazy dataframes: sums pushed down into whatever engine holds the rows.

Terms become columns, digits of keys become columns, and one aggregation gives the totals: nothing but them is
collected. Sums over all rows are one aggregation, all bins together another (their tables are its margins), keys of few
classes one, and each class's scores one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import add, mul, sub, truediv
from typing import Any

import numpy as np

from surefoot.core.doubt_table import CELL, CELLS, FEW, ROWS, DoubtTable, exact_codes
from surefoot.core.expression import Expression, evaluate, program
from surefoot.core.keys import CLASS_SCORE, FARTHEST_LOG_ODDS, HALF, Digit, Key, score_steps
from surefoot.core.table import Floats, Sums, Table
from surefoot.core.tally import Label, Tally
from surefoot.core.term import Shape, Term, program_of
from surefoot.engines.base import Engine, Groups, group
from surefoot.errors import InvalidPredictions
from surefoot.predictions.checks import most_odds
from surefoot.predictions.dataframe import collect
from surefoot.predictions.frames import FramePredictions

INNER_LOG_ODDS = FARTHEST_LOG_ODDS + 1.0
#: Cells an octave of doubt is cut into, and where those of 1 begin.
OCTAVE, OCTAVES = 64.0, 1023

#: Parts that Polars adds up apart.
_PARTS = 32

#: Bins whose combinations are more than this are added up apart.
_MOST_CODES = 1 << 16

#: Rows looked at to see whether doubts may be few, and the least that is not lumped with 0.
_FIRST_ROWS = 100_000
SMALLEST = 1e-300


def tally(predictions: FramePredictions, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
    """The totals of terms; see :meth:`Predictions.tally`. Scores are never kept apart: rows stay where they are."""
    return NarwhalsEngine(predictions, by).tally(group(terms))


def engine_of(predictions: FramePredictions) -> NarwhalsEngine:
    """The engine of the rows of a frame."""
    return NarwhalsEngine(predictions, None)


class NarwhalsEngine(Engine):
    """Lazy frames of any package that Narwhals knows. Results are kept apart by slice; without slices, under None."""

    name = "Narwhals"
    #: Whether bins are added up in the aggregation by cells of doubt.
    adds_bins_to_doubts = False
    predictions: FramePredictions

    def __init__(self, predictions: FramePredictions, by: Any) -> None:
        import narwhals as nw

        super().__init__(predictions)
        if by is not None and not isinstance(by, str):
            raise InvalidPredictions(
                "is a column of values, but these predictions are in a lazy frame",
                argument="by",
                hint="pass the name of one of its columns",
            )
        self.nw = nw
        self.sliced_by = by
        self.by = {"sf_by": self._slice_column(by)} if by is not None else {}
        self.parts: dict[Any, dict[str, Table]] = {}

    @property
    def shape(self) -> Shape:
        return Shape(is_weighted=self.predictions.is_weighted)

    def tally(self, groups: Groups) -> Tally:
        self.tables(groups)
        return self._tally_of_slices(groups)

    def _tally_of_slices(self, groups: Groups) -> Tally:
        """The tally of the tables that are filed under their slices."""
        predictions, by = self.predictions, self.sliced_by
        labels = self.labels if any(key.classes for key in groups) else None
        tallies = {value: Tally(tables, labels, 0) for value, tables in sorted(self.parts.items())}
        named = predictions.slice_labels if by == "sf_slice" else predictions.labels
        if by in ("truth", "predicted", "sf_slice") and named is not None:
            tallies = {named[code]: part for code, part in tallies.items()}
        if by is None:
            return Tally(tallies[None].tables, labels, predictions.rounded)
        whole: Tally = sum(tallies.values())  # type: ignore[assignment]
        counting = {value: part for value, part in tallies.items() if value not in self.weightless}
        return Tally(whole.tables, whole.labels, predictions.rounded, counting, by)

    def tables(self, groups: Groups) -> dict[str, Any]:
        """The tables of all keys, filed under their slices."""
        bins = {key: terms for key, terms in groups.items() if key.digits and not key.classes}
        # sums over all rows apart from grouped ones: an engine vectorises them, and together they took longer
        plain = {key: terms for key, terms in groups.items() if key.operation == "cells" and not key.digits}
        if plain:
            self._file_cells(plain)
        # pairs of classes come first: they tell the labels
        classes = {key: groups[key] for key in sorted(groups, key=lambda key: -key.classes) if key.classes}
        classes = {key: terms for key, terms in classes.items() if key.operation == "cells"}
        for together in [classes] if self._are_few(classes) else [{key: terms} for key, terms in classes.items()]:
            self._file_classes(together)
        for key, terms in groups.items():
            if key.operation == "doubts" and self._file_doubts(key, terms, bins):
                bins = {}
            elif key.operation == "scores":
                self._file_scores(key, terms)
            elif key.operation in ("values", "rows"):
                getattr(super(), key.operation)(key, terms)
        if bins:
            self._file_cells(bins)
        return {}

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The classes: those that are known, or those that occur."""
        if self.predictions.labels is not None:
            return self.predictions.labels
        pairs = collect(self.predictions.frame.select("sf_truth", "sf_predicted").unique())
        return tuple(sorted({label for name in pairs.columns for label in pairs[name].to_list()}))

    @property
    def classes(self) -> int:
        return len(self.labels) if self.predictions.truth is not None else 0

    def sums_within(self, columns: Sequence[str], key: Key, terms: Sequence[Term]) -> list[dict[str, Any]]:
        """The totals of terms in each cell of a key, for each combination of columns of whole numbers.

        A row for each that occurs: the columns, the cell as ``sf_cell``, and the terms by name.
        """
        keys = {name: self._by_name(name) for name in columns}
        return self._sum({**keys, "sf_cell": self._number([key])}, terms, in_parts=False)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def _file_cells(self, groups: Groups) -> None:
        """Several keys in one aggregation, by all their cells together; the table of each is a margin of it."""
        widths = widths_of(groups)
        if len(groups) > 1 and widths[-1] > _MOST_CODES:
            for key, terms in groups.items():
                self._file_cells({key: terms})
            return
        digits = {"sf_bins": self._number(list(groups))} if any(key.digits for key in groups) else {}
        rows = self._sum(digits, [term for terms in groups.values() for term in terms])
        self._file_margins(groups, rows, np.array([row.get("sf_bins", 0) for row in rows], dtype=np.int64))

    def _file_margins(self, groups: Groups, rows: list[dict[str, Any]], numbers: Any) -> None:
        """The tables of several keys, of rows by a number that holds the cells of all."""
        for (key, terms), width in zip(groups.items(), widths_of(groups), strict=False):
            self._file(key, rows, numbers // width % math.prod(key.sizes(0)), terms)

    def _are_few(self, groups: Groups) -> bool:
        """Whether several keys of classes have so few cells together that one aggregation holds them."""
        if not groups or self.predictions.labels is None:
            return False
        return math.prod(digit.size or self.classes for digit in _digits_of(groups)) <= _MOST_CODES

    def _file_classes(self, groups: Groups) -> None:
        """Keys of classes in one aggregation, by all their digits; the table of each is a margin of it."""
        digits = _digits_of(groups)
        names = {id(digit.place): f"sf_d{i}" for i, digit in enumerate(digits)}
        columns = dict(zip(names.values(), self._places(digits), strict=True))
        rows = self._sum(columns, [term for terms in groups.values() for term in terms])
        # the columns of probabilities made positions of the labels; elsewhere they are the labels themselves
        if self.predictions.labels is None and any(key.classes == 2 for key in groups):
            held = [name for digit, name in zip(digits, names.values(), strict=True) if not digit.size]
            self.labels = tuple(sorted({row[name] for row in rows for name in held}))
        where = {label: i for i, label in enumerate(self.labels)}
        coded = self.predictions.labels is not None
        for key, terms in groups.items():
            upper, lower = (
                np.array(
                    [row[name] if coded or digit.size else where[row[name]] for row in rows],
                    dtype=np.int64,
                )
                for digit in key.digits
                for name in (names[id(digit.place)],)
            )
            self._file(key, rows, (upper << HALF) | lower, terms)

    def _file_scores(self, key: Key, terms: list[Term]) -> None:
        predictions, classes = self.predictions, self.classes
        assert predictions.probabilities is not None
        rows, codes = [], []
        for k in range(classes):
            # of P(second label) alone, the first label's log-odds are those of the second, negated
            name, sign = (f"sf_p{k}", 1) if len(predictions.probabilities) > 1 else ("sf_p1", 1 if k else -1)
            odds = self._log_odds(name, sign)
            (cell,) = self._evaluate([CLASS_SCORE.cell(classes)], {"log_odds": odds})
            found = self._sum({"sf_cell": self._whole(cell)}, terms, positive=self._is_class(k))
            rows += found
            codes += [(k << HALF) | int(row["sf_cell"]) for row in found]
        self._file(key, rows, np.array(codes, dtype=np.int64), terms, score_steps(classes))

    def _file_doubts(self, key: Key, terms: list[Term], bins: Groups) -> bool:
        """By value if the first rows, and then all, hold few; else by cells, and the rows of the outermost by value.

        Tells whether the bins were added up too.
        """
        if self._has_few_doubts():
            self._file(key, *self._by_doubt(terms), terms)
            return False
        cell = self._doubt_cell()
        together = bins if self.adds_bins_to_doubts else {}
        widths = widths_of(together)
        every = list(dict.fromkeys([*terms, *(term for own in together.values() for term in own)]))
        rows = self._sum({"sf_cell": self._number(list(together), cell)}, every, in_parts=False)
        numbers = np.array([row["sf_cell"] for row in rows], dtype=np.int64)
        self._file_margins(together, rows, numbers)
        cells = numbers // widths[-1]
        held = np.bincount(cells, [row[ROWS] for row in rows], CELLS)
        # the first and last cells hold rows that claim certainty: by value, and the next ones while they hold few rows
        held[0] = held[-1] = 0
        low, high = (int(np.searchsorted(np.cumsum(held[::step]), FEW, side="right")) for step in (1, -1))
        outer = (cells < max(low, 1)) | (cells > CELLS - 1 - max(high, 1))
        if outer.any():
            by_value, codes = self._by_doubt(terms, where=self._is_outer(cell, max(low, 1), max(high, 1)))
            rows = [*(row for row, out in zip(rows, outer, strict=True) if not out), *by_value]
            cells = np.append(cells[~outer], codes)
        self._file(key, rows, cells, terms)
        return bool(together)

    def _has_few_doubts(self) -> bool:
        nw, frame = self.nw, self.predictions.frame
        columns = frame.select(d=nw.col("sf_doubt"), c=nw.col("sf_confidence"))
        return all(len(collect(some.unique().head(FEW + 1))) <= FEW for some in (columns.head(_FIRST_ROWS), columns))

    def _by_doubt(self, terms: list[Term], where: Any = None) -> tuple[list[dict[str, Any]], Any]:
        keys = {"sf_d": self._by_name("sf_doubt"), "sf_c": self._by_name("sf_confidence")}
        rows = self._sum(keys, terms, where=where, in_parts=False)
        doubt, confidence = (np.array([row[name] for row in rows], dtype=np.float64) for name in ("sf_d", "sf_c"))
        return rows, exact_codes(doubt, confidence)

    def _is_outer(self, cell: Any, low: int, high: int) -> Any:
        """Whether a row lies in one of the first or last cells."""
        return (cell < low) | (cell > CELLS - 1 - high)

    def _doubt_cell(self) -> Any:
        """The cell of a row's doubt."""
        (cell,) = self._evaluate([CELL])
        return self._whole(cell)

    @cached_property
    def weightless(self) -> set[Any]:
        """Slices in which no row counts."""
        nw = self.nw
        weights = self.predictions.frame.select(**self.by, w=nw.col("sf_weight")).group_by("sf_by")
        return {row["sf_by"] for row in collect(weights.agg(nw.col("w").sum())).rows(named=True) if not row["w"]}

    # -- columns -------------------------------------------------------------------------------------------------------

    def _by_name(self, name: str) -> Any:
        return self.nw.col(name)

    def _whole(self, number: Any) -> Any:
        # some engines round when they cast
        return number.floor().cast(self.nw.Int64)

    def _is_class(self, label: int) -> Any:
        """1 for the rows of a class, 0 for others."""
        return (self.nw.col("sf_truth") == label).cast(self.nw.Float64)

    def _log_odds(self, name: str, sign: int) -> Any:
        """The log-odds of a column of probabilities, finite at 0 and 1 too; negated where the sign is."""
        nw = self.nw
        p = nw.col(name)
        within = ((p > 0) & (p < 1)).cast(nw.Float64)
        inside = p * within + 0.5 * (1 - within)
        beyond = (p >= 1).cast(nw.Float64) - (p <= 0).cast(nw.Float64)
        odds = inside.log() - (1 - inside).log() + beyond * INNER_LOG_ODDS
        if self.predictions.floor is not None:
            most = most_odds(self.predictions.floor)
            odds = odds.clip(-most, most)
        return odds * float(sign)

    def _digits(self, key: Key) -> list[Any]:
        """The digits of a cell: whole numbers, of classes what the column holds."""
        return self._places(key.digits)

    def _places(self, digits: Sequence[Digit]) -> list[Any]:
        found = self._evaluate([digit.place for digit in digits])
        return [self._whole(x) if digit.size else x for x, digit in zip(found, digits, strict=True)]

    def _number(self, keys: Sequence[Key], more: Any = None) -> Any:
        """One number for the cells of several keys, each a digit of it; ``more`` is the last."""
        widths = widths_of(keys)
        cells = [self._cell(key) * width for key, width in zip(keys, widths, strict=False) if key.digits]
        return sum(cells, start=0 if more is None else more * widths[-1])

    def _cell(self, key: Key) -> Any:
        """The number of a row's cell, when all cells of a key without classes are counted through."""
        cell, *digits = self._digits(key)
        for digit, size in zip(digits, key.sizes(0)[1:], strict=True):
            cell = cell * size + digit
        return cell

    def _evaluate(self, expressions: list[Expression], more: Mapping[str, Any] | None = None) -> list[Any]:
        return evaluate(program(expressions), self._column(more or {}), self.operations)

    @cached_property
    def operations(self) -> Mapping[str, Callable[..., Any]]:
        return _operations(self.nw, self.predictions.frame.implementation)

    def _column(self, more: Mapping[str, Any]) -> Callable[[str], Any]:
        """Columns by name, and some that are not in the frame."""
        return lambda name: more[name] if name in more else self._by_name(f"sf_{name}")

    def _slice_column(self, by: str) -> Any:
        nw, predictions = self.nw, self.predictions
        if by in ("truth", "predicted"):
            if predictions.view == "event" and by == "predicted":
                raise InvalidPredictions(
                    "but every row is about the same event", argument="by", value=by, hint="give a column of values"
                )
            if predictions.truth is None:
                raise InvalidPredictions(f"by is {by!r}, but these predictions hold only whether each was correct.")
            return nw.col(f"sf_{by}")
        schema = predictions.frame.collect_schema()
        if by not in schema:
            raise InvalidPredictions(f"by={by!r} is not a column of the frame.")
        dtype, column = schema[by], nw.col(by)
        if dtype in (nw.Categorical, nw.Enum) or isinstance(dtype, nw.Enum):
            column = column.cast(nw.String)
        elif not (dtype.is_numeric() or dtype in (nw.Boolean, nw.String)):
            raise InvalidPredictions(f"by={by!r} is of type {dtype}; slices are made by booleans, integers or strings.")
        bad = nw.col(by).is_null()
        if dtype.is_float() or dtype.is_decimal():
            wide = nw.col(by).cast(nw.Float64)
            bad = bad | wide.is_nan() | (wide != wide.floor()) | (wide.abs() > 2.0**53)
            column = wide.fill_null(0.0).fill_nan(0.0).clip(-(2.0**53), 2.0**53).cast(nw.Int64)
        found = collect(predictions.frame.select(b=bad.cast(nw.Float64)).select(nw.col("b").sum()))
        count = found["b"].to_list()[0]
        if count:
            raise InvalidPredictions(
                f"by={by!r}: {int(count):,} values are null or not whole numbers; fill, drop or bin them first."
            )
        return column

    # -- sums ----------------------------------------------------------------------------------------------------------

    def _sum(
        self,
        keys: Mapping[str, Any],
        terms: Sequence[Term],
        positive: Any = None,
        where: Any = None,
        in_parts: bool = True,
    ) -> list[dict[str, Any]]:
        """One aggregation: the totals of terms, a row for each combination of keys that occurs."""
        nw = self.nw
        steps = program_of(tuple(terms), self.shape)
        values = evaluate(steps, self._column({"positive": positive}), self.operations)
        # terms that come to the same are one column
        names = {term.name: f"sf_t{result}" for term, result in zip(terms, steps.results, strict=True)}
        columns = {
            names[term.name]: nw.col("sf_correct") * 0.0 + value if isinstance(value, float) else value
            for term, value in zip(terms, values, strict=True)
        }
        keys = {**self.by, **keys}
        frame = self.predictions.frame if where is None else self.predictions.frame.filter(where)
        number = next(iter(keys)) if len(keys) == 1 and "sf_bins" in keys else None
        in_parts = in_parts and bool(keys) and frame.implementation == nw.Implementation.POLARS
        if in_parts:
            # its grouped sums are plain ones: short sums, put together with their rounding, err less than a long one
            frame = nw.from_native(frame.to_native().with_row_index("sf_row"))
            part = nw.col("sf_row").cast(nw.Int64) % _PARTS
            # one key is faster than two
            keys = {number: keys[number] * _PARTS + part} if number else {**keys, "sf_part": part}
        # arithmetic inside an aggregation is refused by some engines: columns first, then plain sums of them
        prepared = frame.select(**keys, **columns)
        if prepared.implementation == nw.Implementation.DUCKDB:
            rows = _sum_by_duckdb(prepared.to_native(), list(keys), list(columns))
        else:
            sums = [nw.col(name).sum() for name in columns]
            found = collect(prepared.group_by(*keys).agg(*sums) if keys else prepared.select(*sums))
            rows = found.rows(named=True)
        if in_parts and number:
            rows = [{**row, number: row[number] // _PARTS} for row in rows]
        return [{**row, **{term.name: float(row[names[term.name]]) for term in terms}} for row in rows]

    def _file(
        self, key: Key, rows: list[dict[str, Any]], codes: Any, terms: list[Term], steps: int | None = None
    ) -> None:
        """Sort the rows of an aggregation into the tables of their slices."""
        slices = np.array([row.get("sf_by") for row in rows], dtype=object)
        totals = {term.name: np.array([row[term.name] for row in rows], dtype=np.float64) for term in terms}
        self._file_columns(key, slices, totals, codes, steps)

    def _file_columns(
        self, key: Key, slices: Any, totals: Mapping[str, Floats], codes: Any, steps: int | None = None
    ) -> None:
        """The same of columns: the slice of each row, its totals by term, and the code of its cell."""
        for value in dict.fromkeys(slices.tolist()):
            mine = np.flatnonzero(slices == value) if self.by else np.arange(len(slices))
            found, places = np.unique(codes[mine], return_inverse=True)
            if key.digits and not key.classes:  # all bins are kept
                found, places = np.arange(math.prod(key.sizes(0))), codes[mine]
            sums = {name: _add_up(places, values[mine], len(found)) for name, values in totals.items()}
            kind = DoubtTable if key.operation == "doubts" else Table
            codes_found = key.codes_of(found, 0) if key.digits and not key.classes else found
            table = kind(codes_found, sums, key.classes, steps).bounded()
            self.parts.setdefault(value, {})[key.name] = table


def _digits_of(keys: Iterable[Key]) -> list[Digit]:
    """The digits of several keys, each once."""
    return list({id(digit.place): digit for key in keys for digit in key.digits}.values())


def widths_of(keys: Iterable[Key]) -> list[int]:
    """What each of several keys counts in a number that holds the cells of all, and how many such numbers there are."""
    widths: list[int] = np.cumprod([1, *(math.prod(key.sizes(0)) for key in keys)], dtype=object).tolist()
    return widths


def _sum_by_duckdb(relation: Any, keys: list[str], columns: list[str]) -> list[dict[str, Any]]:
    """DuckDB's compensated sum, which its ordinary one is not."""
    # which makes nan of infinity
    sums = [
        f'CASE WHEN isinf(sum("{name}")) THEN sum("{name}") ELSE fsum("{name}") END AS "{name}"' for name in columns
    ]
    found = relation.aggregate(", ".join([*(f'"{name}"' for name in keys), *sums])).fetchall()
    return [dict(zip([*keys, *columns], row, strict=True)) for row in found]


def _add_up(places: Any, values: Floats, size: int) -> Sums:
    """Sums of partial sums, each with what it rounds away."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    # the first partial sum of every place, then the second, ...
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    sums = Sums.zeros(size)
    for turn in range(int(rank.max(initial=-1)) + 1):
        now = order[rank == turn]
        high = np.zeros(size)
        high[places[now]] = values[now]
        sums = sums.plus(high)
    return sums


def _operations(nw: Any, implementation: Any) -> dict[str, Callable[..., Any]]:
    """What terms are made of, as expressions.

    No branch is given what it fails on, for some engines evaluate them all; and conditions are numbers, not choices
    between constants, which others refuse.
    """

    def flag(condition: Any) -> Any:
        return condition.cast(nw.Float64)

    def reciprocal(x: Any) -> Any:
        return flag(x != 0) / (x + flag(x == 0))

    def log(x: Any) -> Any:
        safe = x + flag(x <= 0) * (1.0 - x)
        return nw.when(x > 0).then(safe.log()).otherwise(safe * -np.inf)

    def octave_cell(x: Any) -> Any:
        # 0, and what is hardly more, in the first
        octaves = (x.clip(SMALLEST, 1.0).log() * (OCTAVE / math.log(2.0))).floor() + OCTAVE * OCTAVES
        return octaves * flag(x > SMALLEST)

    shared: dict[str, Callable[..., Any]] = {
        **_ARITHMETIC,
        "greater": lambda a, b: flag(a > b),
        "at_least": lambda a, b: flag(a >= b),
        "equal": lambda a, b: flag(a == b),
        "floor": lambda x: x.floor(),
        "lesser": nw.min_horizontal,
        "clip": lambda x, least, most: x.clip(least, most),
        "octave_cell": octave_cell,
    }
    if implementation == nw.Implementation.POLARS:
        # Polars needs no such care, and is faster without
        return {
            **shared,
            "log": lambda x: x.log(),
            "reciprocal": lambda x: nw.when(x == 0).then(nw.lit(0.0)).otherwise(1.0 / x),
        }
    return {**shared, "log": log, "reciprocal": reciprocal}


_ARITHMETIC: dict[str, Callable[..., Any]] = {"add": add, "subtract": sub, "multiply": mul, "divide": truediv}

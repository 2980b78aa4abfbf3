"""Tallies of lazy dataframes: sums pushed down into whatever engine holds the rows.

Terms become columns, keys become columns, and one aggregation gives the totals: nothing but them is collected. Sums
over all rows are one aggregation, all bins together another (their tables are its margins), class pairs one, and each
class's scores one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import add, mul, sub, truediv
from typing import Any

import numpy as np

from surefoot.core.doubt_table import CELLS, CUTS, FEW, ROWS, DoubtTable, exact_codes
from surefoot.core.expression import evaluate
from surefoot.core.keys import FARTHEST_LOG_ODDS, HALF, Bins, ClassPair, ClassScore, Doubt, Everything, Key, score_steps
from surefoot.core.tally import Floats, Label, Sums, Table, Tally
from surefoot.core.term import Term, program_of
from surefoot.errors import InvalidPredictions
from surefoot.predictions.dataframe import collected
from surefoot.predictions.frames import FramePredictions

INNER_LOG_ODDS = FARTHEST_LOG_ODDS + 1.0

#: Parts that Polars adds up apart.
_PARTS = 32

#: Bins whose combinations are more than this are added up apart.
_MOST_CODES = 1 << 16

#: Rows looked at to see whether doubts may be few, and the least that is not lumped with 0.
_FIRST_ROWS = 100_000
SMALLEST = 1e-300


def tally_frame(predictions: FramePredictions, terms: Iterable[Term], by: str | None = None) -> Tally:
    """The totals of terms over a lazy frame; with ``by``, a column of it, also those of each slice."""
    if by is not None and not isinstance(by, str):
        raise InvalidPredictions(
            "by is a column of values, but these predictions lie in a lazy frame; name one of its."
        )
    pushed = _pushed(predictions, by)
    by_key: dict[Key, list[Term]] = {}
    for term in dict.fromkeys(terms):
        by_key.setdefault(term.key, []).append(term)
    parts: dict[Any, dict[str, Table]] = {}
    labels = predictions.labels
    everything, bins = (
        {key: group for key, group in by_key.items() if isinstance(key, kind)} for kind in (Everything, Bins)
    )
    # sums over all rows apart from grouped ones: an engine vectorises them, and together they took longer
    if everything:
        pushed.add_rows(parts, everything)
    for key, group in by_key.items():
        if isinstance(key, ClassPair):
            labels = pushed.add_pairs(parts, key, group, labels)
        elif isinstance(key, ClassScore):
            pushed.add_scores(parts, key, group)
        elif isinstance(key, Doubt) and pushed.add_doubts(parts, key, group, bins):
            bins = {}
    if bins:
        pushed.add_rows(parts, bins)
    speaks_of_classes = any(isinstance(key, ClassPair | ClassScore) for key in by_key)
    tallies = {
        value: Tally(tables, labels if speaks_of_classes else None, 0) for value, tables in sorted(parts.items())
    }
    if by in ("truth", "predicted") and predictions.labels is not None:
        tallies = {predictions.labels[code]: part for code, part in tallies.items()}
    if by is None:
        return Tally(tallies[None].tables, tallies[None].labels, predictions.rounded)
    whole: Tally = sum(tallies.values())  # type: ignore[assignment]
    counting = {value: part for value, part in tallies.items() if value not in pushed.weightless}
    return Tally(whole.tables, whole.labels, predictions.rounded, counting, by)


def _pushed(predictions: FramePredictions, by: str | None) -> Pushed:
    import narwhals as nw

    if predictions.frame.implementation == nw.Implementation.PYSPARK:
        from surefoot.engines.spark import PushedToSpark

        return PushedToSpark(predictions, by)
    return Pushed(predictions, by)


class Pushed:
    """The aggregations of one request. Results are kept apart by slice; without slices, under None."""

    #: Whether bins are added up in the aggregation by cells of doubt.
    adds_bins_to_doubts = False

    def __init__(self, predictions: FramePredictions, by: str | None) -> None:
        import narwhals as nw

        self.nw = nw
        self.predictions = predictions
        self.by = {"sf_by": self._slice_column(by)} if by is not None else {}
        self.operations = _operations(nw, predictions.frame.implementation)
        self.weightless = self._weightless() if by is not None else set()

    def add_rows(self, parts: dict[Any, dict[str, Table]], groups: Mapping[Everything | Bins, list[Term]]) -> None:
        """Several keys in one aggregation, by all their codes together; the table of each is a margin of it."""
        bins = [key for key in groups if isinstance(key, Bins)]
        digits = digits_of(bins)
        if len(bins) > 1 and digits[-1] > _MOST_CODES:
            for key, terms in groups.items():
                self.add_rows(parts, {key: terms})
            return
        number = self._number(bins)
        rows = self._summed({"sf_bins": number} if bins else {}, [term for terms in groups.values() for term in terms])
        numbers = np.array([row.get("sf_bins", 0) for row in rows], dtype=np.int64)
        for key, terms in groups.items():
            codes = numbers // digits[bins.index(key)] % key.size if isinstance(key, Bins) else numbers * 0
            self._file(parts, key, rows, codes.astype(np.int64), terms)

    def _number(self, bins: Sequence[Bins], more: Any = None) -> Any:
        """One number for all bins of a row, each a digit of it; ``more`` is the last."""
        digits = digits_of(bins)
        number = sum((self._bin(key) * digit for key, digit in zip(bins, digits, strict=False)), start=0)
        return number if more is None else number + more * digits[-1]

    def add_pairs(
        self, parts: dict[Any, dict[str, Table]], key: Key, terms: list[Term], labels: tuple[Label, ...] | None
    ) -> tuple[Label, ...]:
        rows = self._summed({name: self._named(name) for name in ("sf_truth", "sf_predicted")}, terms)
        if labels is not None:
            # the columns are positions in the labels already
            codes = [(row["sf_truth"] << HALF) | row["sf_predicted"] for row in rows]
            self._file(parts, key, rows, np.array(codes, dtype=np.int64), terms)
            return labels
        labels = tuple(sorted({row[name] for row in rows for name in ("sf_truth", "sf_predicted")}))
        where = {label: i for i, label in enumerate(labels)}
        codes = [(where[row["sf_truth"]] << HALF) | where[row["sf_predicted"]] for row in rows]
        self._file(parts, key, rows, np.array(codes, dtype=np.int64), terms)
        return labels

    def add_scores(self, parts: dict[Any, dict[str, Table]], key: Key, terms: list[Term]) -> None:
        predictions = self.predictions
        assert predictions.labels is not None
        assert predictions.probabilities is not None
        steps = score_steps(len(predictions.labels))
        rows, codes = [], []
        for k in range(len(predictions.labels)):
            # of P(second label) alone, the first label's log-odds are those of the second, negated
            name, sign = (f"sf_p{k}", 1) if len(predictions.probabilities) > 1 else ("sf_p1", 1 if k else -1)
            keys = {"sf_cell": self._cell(name, sign, steps)}
            found = self._summed(keys, terms, positive=self._is_class(k))
            rows += found
            codes += [(k << HALF) | int(row["sf_cell"]) for row in found]
        self._file(parts, key, rows, np.array(codes, dtype=np.int64), terms, steps)

    def add_doubts(
        self, parts: dict[Any, dict[str, Table]], key: Key, terms: list[Term], bins: Mapping[Any, list[Term]]
    ) -> bool:
        """By value if the first rows, and then all, hold few; else by cells, and the rows of the outermost by value.

        Tells whether the bins were added up too.
        """
        if self._has_few_doubts():
            self._file(parts, key, *self._by_doubt(terms), terms)
            return False
        cell = self._doubt_cell()
        together = list(bins) if self.adds_bins_to_doubts else []
        digits = digits_of(together)
        every = list(dict.fromkeys([*terms, *(term for own in together for term in bins[own])]))
        rows = self._summed({"sf_cell": self._number(together, cell)}, every, in_parts=False)
        numbers = np.array([row["sf_cell"] for row in rows], dtype=np.int64)
        for own, digit in zip(together, digits, strict=False):
            self._file(parts, own, rows, numbers // digit % own.size, bins[own])
        cells = numbers // digits[-1]
        held = np.bincount(cells, [row[ROWS] for row in rows], CELLS)
        # the first and last cells hold rows that claim certainty: by value, and the next ones while they hold few rows
        held[0] = held[-1] = 0
        low, high = (int(np.searchsorted(np.cumsum(held[::step]), FEW, side="right")) for step in (1, -1))
        outer = (cells < max(low, 1)) | (cells > CELLS - 1 - max(high, 1))
        if outer.any():
            by_value, codes = self._by_doubt(terms, where=self._is_outer(cell, max(low, 1), max(high, 1)))
            rows = [*(row for row, out in zip(rows, outer, strict=True) if not out), *by_value]
            cells = np.append(cells[~outer], codes)
        self._file(parts, key, rows, cells, terms)
        return bool(together)

    def _has_few_doubts(self) -> bool:
        nw, frame = self.nw, self.predictions.frame
        columns = frame.select(d=nw.col("sf_doubt"), c=nw.col("sf_confidence"))
        return all(len(collected(some.unique().head(FEW + 1))) <= FEW for some in (columns.head(_FIRST_ROWS), columns))

    def _by_doubt(self, terms: list[Term], where: Any = None) -> tuple[list[dict[str, Any]], Any]:
        keys = {"sf_d": self._named("sf_doubt"), "sf_c": self._named("sf_confidence")}
        rows = self._summed(keys, terms, where=where, in_parts=False)
        doubt, confidence = (np.array([row[name] for row in rows], dtype=np.float64) for name in ("sf_d", "sf_c"))
        return rows, exact_codes(doubt, confidence)

    def _is_outer(self, cell: Any, low: int, high: int) -> Any:
        """Whether a row lies in one of the first or last cells."""
        return (cell < low) | (cell > CELLS - 1 - high)

    def _doubt_cell(self) -> Any:
        """A cell of the logarithm of the lesser of doubt and confidence, as wide as those of arrays."""
        nw = self.nw
        doubt, confidence = nw.col("sf_doubt"), nw.col("sf_confidence")
        is_doubt = (doubt <= confidence).cast(nw.Float64)
        lesser = nw.min_horizontal(doubt, confidence)
        # 0, and what is hardly more, in the first
        steps = (lesser.clip(SMALLEST, 1.0).log() * (64.0 / math.log(2.0))).floor() + (64.0 * 1023.0)
        cell = steps * (lesser > SMALLEST).cast(nw.Float64)
        for cut in CUTS:
            cell = cell + (lesser >= cut).cast(nw.Float64)
        # counted down from the end for confidences
        return (cell + (float(CELLS - 1) - 2.0 * cell) * (1.0 - is_doubt)).cast(nw.Int64)

    def _weightless(self) -> set[Any]:
        """Slices in which no row counts."""
        nw = self.nw
        weights = self.predictions.frame.select(**self.by, w=nw.col("sf_weight")).group_by("sf_by")
        return {row["sf_by"] for row in collected(weights.agg(nw.col("w").sum())).rows(named=True) if not row["w"]}

    # -- columns -----------------------------------------------------------------------------------------------------

    def _named(self, name: str) -> Any:
        return self.nw.col(name)

    def _is_class(self, label: int) -> Any:
        """1 for the rows of a class, 0 for others."""
        return (self.nw.col("sf_truth") == label).cast(self.nw.Float64)

    def _slice_column(self, by: str) -> Any:
        nw, predictions = self.nw, self.predictions
        if by in ("truth", "predicted"):
            if predictions.truth is None:
                raise InvalidPredictions(f"by is {by!r}, but these predictions hold only whether each was correct.")
            return nw.col(f"sf_{by}")
        schema = predictions.frame.collect_schema()
        if by not in schema:
            raise InvalidPredictions(f"by={by!r} is no column of the frame.")
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
        found = collected(predictions.frame.select(b=bad.cast(nw.Float64)).select(nw.col("b").sum()))
        count = found["b"].to_list()[0]
        if count:
            raise InvalidPredictions(
                f"by={by!r}: {int(count):,} values are null or not whole numbers; fill, drop or bin them first."
            )
        return column

    def _bin(self, key: Bins) -> Any:
        """How many inner edges a row has passed."""
        nw = self.nw
        x = nw.col(f"sf_{key.column}")
        step = key.step
        if step is None:
            passed = [x > edge if key.closed == "right" else x >= edge for edge in key.edges]
            return nw.sum_horizontal(*(beyond.cast(nw.Int64) for beyond in passed))
        # a guess, mended by comparison with the edges on both sides: multiples of the step, to the last bit
        guess = (x * float(key.size)).floor()
        above, below = (guess + 1.0) * step, guess * step
        passed = [x > edge if key.closed == "right" else x >= edge for edge in (above, below)]
        # the edge above is passed by one too few, the edge below is not passed by one too many
        mended = guess + passed[0].cast(nw.Float64) + passed[1].cast(nw.Float64) - 1.0
        return mended.clip(0.0, float(key.size - 1)).cast(nw.Int64)

    def _cell(self, name: str, sign: int, steps: int) -> Any:
        """The cell of log-odds of a column of probabilities."""
        nw, farthest = self.nw, FARTHEST_LOG_ODDS * steps
        p = nw.col(name)
        within = ((p > 0) & (p < 1)).cast(nw.Float64)
        inside = p * within + 0.5 * (1 - within)
        beyond = (p >= 1).cast(nw.Float64) - (p <= 0).cast(nw.Float64)
        odds = inside.log() - (1 - inside).log() + beyond * INNER_LOG_ODDS
        return (odds * (sign * steps) + float(farthest)).clip(0.0, float(2 * farthest - 1)).floor().cast(nw.Int64)

    # -- sums --------------------------------------------------------------------------------------------------------

    def _summed(
        self,
        keys: Mapping[str, Any],
        terms: Sequence[Term],
        positive: Any = None,
        where: Any = None,
        in_parts: bool = True,
    ) -> list[dict[str, Any]]:
        """One aggregation: the totals of terms, a row for each combination of keys that occurs."""
        nw = self.nw
        steps = program_of(tuple(terms), is_weighted=self.predictions.is_weighted)
        values = evaluate(steps, self._column(positive), self.operations)
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
            rows = _summed_by_duckdb(prepared.to_native(), list(keys), list(columns))
        else:
            sums = [nw.col(name).sum() for name in columns]
            found = collected(prepared.group_by(*keys).agg(*sums) if keys else prepared.select(*sums))
            rows = found.rows(named=True)
        if in_parts and number:
            rows = [{**row, number: row[number] // _PARTS} for row in rows]
        return [{**row, **{term.name: float(row[names[term.name]]) for term in terms}} for row in rows]

    def _column(self, positive: Any) -> Callable[[str], Any]:
        nw = self.nw

        def column(name: str) -> Any:
            if name == "positive":
                return positive
            if name == "negative":
                return 1.0 - positive
            return 1.0 - nw.col("sf_correct") if name == "wrong" else nw.col(f"sf_{name}")

        return column

    def _file(
        self,
        parts: dict[Any, dict[str, Table]],
        key: Key,
        rows: list[dict[str, Any]],
        codes: Any,
        terms: list[Term],
        steps: int | None = None,
    ) -> None:
        """Sort the rows of an aggregation into the tables of their slices."""
        slices = np.array([row.get("sf_by") for row in rows], dtype=object)
        for value in dict.fromkeys(slices.tolist()):
            mine = np.flatnonzero(slices == value) if self.by else np.arange(len(rows))
            found, places = np.unique(codes[mine], return_inverse=True)
            if isinstance(key, Bins):  # all of them are kept
                found, places = np.arange(key.size), codes[mine]
            totals = {}
            for term in terms:
                values = np.array([rows[i][term.name] for i in mine])
                totals[term.name] = _added(places, values, len(found))
            table = DoubtTable(found, totals).bounded() if isinstance(key, Doubt) else Table(found, totals, steps)
            parts.setdefault(value, {})[key.name] = table


def digits_of(bins: Sequence[Bins]) -> list[int]:
    """What each of several bins counts in a number that holds them all, and how many such numbers there are."""
    digits: list[int] = np.cumprod([1, *(key.size for key in bins)], dtype=object).tolist()
    return digits


def _summed_by_duckdb(relation: Any, keys: list[str], columns: list[str]) -> list[dict[str, Any]]:
    """DuckDB's compensated sum, which its ordinary one is not."""
    sums = [f'fsum("{name}") AS "{name}"' for name in columns]
    found = relation.aggregate(", ".join([*(f'"{name}"' for name in keys), *sums])).fetchall()
    return [dict(zip([*keys, *columns], row, strict=True)) for row in found]


def _added(places: Any, values: Floats, size: int) -> Sums:
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

    if implementation == nw.Implementation.POLARS:
        # Polars needs no such care, and is faster without
        return {
            **_ARITHMETIC,
            "log": lambda x: x.log(),
            "reciprocal": lambda x: nw.when(x == 0).then(nw.lit(0.0)).otherwise(1.0 / x),
            "greater": lambda a, b: flag(a > b),
            "equal": lambda a, b: flag(a == b),
        }
    return {
        **_ARITHMETIC,
        "log": log,
        "reciprocal": reciprocal,
        "greater": lambda a, b: flag(a > b),
        "equal": lambda a, b: flag(a == b),
    }


_ARITHMETIC: dict[str, Callable[..., Any]] = {"add": add, "subtract": sub, "multiply": mul, "divide": truediv}

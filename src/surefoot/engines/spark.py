"""Aggregations pushed into Spark, as SQL.

Spark writes an expression out wherever it is used, and within conditions computes it each time: so what several terms
are made of becomes a column first. And each piece of an expression that is built from Python is a call to the JVM: as
text it is one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.core.doubt_table import CELL, CELLS
from surefoot.core.expression import Program, program
from surefoot.core.keys import CLASS_SCORE, HALF, Key, score_cells, score_steps
from surefoot.core.tally import Label, Tally
from surefoot.core.term import Term, program_of
from surefoot.engines.base import Groups, group
from surefoot.engines.narwhals import INNER_LOG_ODDS, OCTAVE, OCTAVES, SMALLEST, NarwhalsEngine, widths_of
from surefoot.errors import UnsupportedKey
from surefoot.predictions.checks import most_odds
from surefoot.predictions.frames import FramePredictions

if TYPE_CHECKING:
    import pyarrow as pa


def tally(predictions: FramePredictions, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
    """The totals of terms; see :meth:`Predictions.tally`. Scores are never kept apart: rows stay where they are."""
    return SparkEngine(predictions, by).tally(group(terms))


def tally_events(predictions: FramePredictions, terms: Iterable[Term], *, by: Any = None) -> dict[Label, Tally]:
    """The totals of each class as an event, of terms whose keys speak of no class."""
    return SparkEngine(predictions, by).tally_events(group(terms))


def engine_of(predictions: FramePredictions) -> SparkEngine:
    """The engine of the rows of a frame."""
    return SparkEngine(predictions, None)


class SparkEngine(NarwhalsEngine):
    """The same aggregations, each of them one job. Keys and conditions are SQL."""

    name = "Spark"
    # grouping costs Spark more than a few more groups
    adds_bins_to_doubts = True

    def __init__(self, predictions: FramePredictions, by: Any) -> None:
        super().__init__(predictions, by)
        if self.by:
            frame = self.predictions.frame.with_columns(**self.by)
            self.predictions, self.by = replace(self.predictions, frame=frame), {"sf_by": "sf_by"}

    def _evaluate(self, expressions: Any, more: Mapping[str, Any] | None = None) -> list[Any]:
        return _write(program(expressions), self._column(more or {}))

    def _by_name(self, name: str) -> str:
        return name

    def _whole(self, number: str) -> str:
        return f"CAST({number} AS BIGINT)"

    def _log_odds(self, name: str, sign: int = 1) -> str:
        beyond = _number(INNER_LOG_ODDS)
        odds = (
            f"CASE WHEN {name} <= 0 THEN -{beyond} WHEN {name} >= 1 THEN {beyond} "
            f"ELSE LN({name}) - LN(1.0D - {name}) END"
        )
        if self.predictions.floor is not None:
            most = _number(most_odds(self.predictions.floor))
            odds = f"LEAST(GREATEST({odds}, -{most}), {most})"
        return f"({_number(sign)} * {odds})"

    def _file_scores(self, key: Key, terms: list[Term]) -> None:
        # one job for all classes: each row comes once for each of them
        frame, names = self.predictions.frame.to_native(), self.predictions.probabilities
        assert names is not None
        if len(names) == 1:
            # of P(second label) alone, the first label's log-odds are those of the second, negated
            frame = frame.selectExpr("*", f"{self._log_odds(*names)} AS sf_second")
            frame = frame.selectExpr("*", "posexplode(array(-sf_second, sf_second)) AS (sf_class, sf_log_odds)")
        else:
            frame = frame.selectExpr("*", f"posexplode(array({', '.join(names)})) AS (sf_class, sf_p)")
            frame = frame.selectExpr("*", f"{self._log_odds('sf_p')} AS sf_log_odds")
        frame = frame.selectExpr("*", "CAST(sf_truth = sf_class AS DOUBLE) AS sf_positive")
        (cell,) = self._evaluate([CLASS_SCORE.cell(self.classes)])
        cells = int(score_cells(self.classes))
        table, names_of = self._aggregate(frame, {"sf_cell": f"sf_class * {cells}L + {self._whole(cell)}"}, terms)
        numbers = np.asarray(table.column("sf_cell"))
        slices = np.array(table.column("sf_by").to_pylist() if self.by else [None] * len(numbers), dtype=object)
        totals = {term.name: np.asarray(table.column(names_of[term.name])) for term in terms}
        codes = (numbers // cells << HALF) | numbers % cells
        self._file_columns(key, slices, totals, codes, score_steps(self.classes))

    def tally_events(self, groups: Groups) -> dict[Label, Tally]:
        """The tally of each class as an event: one job, in which each row comes once for each class."""
        widths = widths_of(groups)
        each = copy(self)
        each.predictions = replace(self.predictions, frame=self.nw.from_native(self._events()))
        number = each._number(list(groups)) or "0"
        terms = [term for own in groups.values() for term in own]
        rows = each._sum({"sf_event": f"sf_class * {widths[-1]}L + {number}"}, terms)
        numbers = np.array([row["sf_event"] for row in rows], dtype=np.int64)
        found = {}
        for k, label in enumerate(self.labels):
            own, mine = copy(self), np.flatnonzero(numbers // widths[-1] == k)
            own.parts = {}
            own._file_margins(groups, [rows[i] for i in mine], numbers[mine] % widths[-1])
            found[label] = own._tally_of_slices(groups)
        return found

    def _events(self) -> Any:
        """The rows once for each class, asked about it; see :meth:`FramePredictions.event`."""
        predictions, names = self.predictions, self.predictions.probabilities
        own, rest = predictions.sides()
        frame = predictions.frame.with_columns(sf_own=own, sf_rest=rest).to_native()
        if self.classes == 2:
            frame = frame.selectExpr("*", "explode(array(0, 1)) AS sf_class")
            p, otherwise = "sf_rest", "sf_own"
        else:
            assert names is not None
            frame = frame.selectExpr("*", f"array({', '.join(names)}) AS sf_each")
            frame = frame.selectExpr("*", "posexplode(sf_each) AS (sf_class, sf_p)")
            others = "AGGREGATE(TRANSFORM(sf_each, (x, i) -> IF(i = sf_class, 0.0D, x)), 0.0D, (a, x) -> a + x)"
            p = "sf_p"
            otherwise = f"CASE WHEN sf_p > 0.5D THEN LEAST(GREATEST({others}, 0.0D), 1.0D) ELSE 1.0D - sf_p END"
            if predictions.floor is not None:
                p = f"LEAST(GREATEST(sf_p, {_number(predictions.floor)}), {_number(1 - predictions.floor)})"
                otherwise = f"1.0D - {p}"
        return frame.selectExpr(
            *self.by,
            "sf_class",
            "sf_weight",
            "CAST(sf_truth = sf_class AS DOUBLE) AS sf_correct",
            f"CASE WHEN sf_predicted = sf_class THEN sf_own ELSE {p} END AS sf_confidence",
            f"CASE WHEN sf_predicted = sf_class THEN sf_rest ELSE {otherwise} END AS sf_doubt",
        )

    def _number(self, keys: Sequence[Key], more: Any = None) -> str:
        widths = widths_of(keys)
        cells = [f"{self._cell(key)} * {width}" for key, width in zip(keys, widths, strict=False) if key.digits]
        return " + ".join([*cells, *([] if more is None else [f"{more} * {widths[-1]}"])])

    def _cell(self, key: Key) -> str:
        cell: str
        cell, *digits = self._digits(key)
        for digit, size in zip(digits, key.sizes(0)[1:], strict=True):
            cell = f"({cell} * {size} + {digit})"
        return cell

    def _doubt_cell(self) -> str:
        frame = self.predictions.frame.to_native()
        if "sf_doubt_cell" not in frame.columns:
            frame, (cell,) = _stage(frame, program([CELL]), self._column({}), "sf_c")
            frame = frame.selectExpr("*", f"CAST({cell} AS BIGINT) AS sf_doubt_cell")
            self.predictions = replace(self.predictions, frame=self.nw.from_native(frame))
        return "sf_doubt_cell"

    def _is_outer(self, cell: str, low: int, high: int) -> str:
        # a bound of the value itself, so that few rows are looked at closely
        bound = _number(max(1.001 * 2.0 ** ((max(low, high) - OCTAVE * OCTAVES) / OCTAVE), SMALLEST))
        return f"LEAST(sf_doubt, sf_confidence) <= {bound} AND ({cell} < {low} OR {cell} > {CELLS - 1 - high})"

    def _sum(
        self,
        keys: Mapping[str, Any],
        terms: Sequence[Term],
        positive: Any = None,
        where: Any = None,
        in_parts: bool = True,
    ) -> list[dict[str, Any]]:
        frame = self.predictions.frame.to_native()
        table, names = self._aggregate(frame if where is None else frame.where(where), keys, terms)
        found = {name: table.column(name).to_pylist() for name in table.column_names}
        return [
            {
                **{key: found[key][row] for key in (*self.by, *keys)},
                **{term: found[name][row] for term, name in names.items()},
            }
            for row in range(table.num_rows)
        ]

    def _aggregate(self, frame: Any, keys: Mapping[str, str], terms: Sequence[Term]) -> tuple[pa.Table, dict[str, str]]:
        """One job: the totals of terms for each combination of keys, and the column that holds those of each term."""
        from pyspark.sql import functions

        steps = program_of(tuple(terms), self.shape)
        frame, values = _stage(frame, steps, self._column({}), "sf_s")
        keys = {**self.by, **keys}
        # terms that come to the same are one column
        names = {term.name: f"sf_t{result}" for term, result in zip(terms, steps.results, strict=True)}
        columns = dict(zip(names.values(), values, strict=True))
        held = [f"{value} AS {name}" for name, value in {**keys, **columns}.items()]
        sums = [functions.expr(f"SUM({name}) AS {name}") for name in columns]
        return frame.selectExpr(*held).groupBy(*keys).agg(*sums).toArrow(), names


#: Operations as SQL; those that look at an argument more than once.
_SQL = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / {1})",
    "log": "(CASE WHEN {0} > 0 THEN LN({0}) ELSE DOUBLE('-Infinity') END)",
    "reciprocal": "(CASE WHEN {0} = 0 THEN 0.0D ELSE 1.0D / {0} END)",
    "greater": "CAST({0} > {1} AS DOUBLE)",
    "at_least": "CAST({0} >= {1} AS DOUBLE)",
    "equal": "CAST({0} = {1} AS DOUBLE)",
    "floor": "CAST(FLOOR({0}) AS DOUBLE)",
    "lesser": "LEAST({0}, {1})",
    "clip": "LEAST(GREATEST({0}, {1}), {2})",
    "octave_cell": (
        f"(CASE WHEN {{0}} > {SMALLEST!r}D THEN CAST(FLOOR(LN({{0}}) * {OCTAVE / math.log(2.0)!r}D) AS DOUBLE) "
        f"+ {OCTAVE * OCTAVES!r}D ELSE 0.0D END)"
    ),
}
_LOOKS_TWICE = ("log", "reciprocal", "octave_cell")


def _write(steps: Program, column: Callable[[str], str]) -> list[str]:
    """What the expressions of a program come to, each written out."""
    return _texts(steps, column, lambda number, text: text)


def _texts(steps: Program, column: Callable[[str], str], keep: Callable[[int, str], str]) -> list[str]:
    values: list[str] = []
    for number, (operation, arguments) in enumerate(steps.steps):
        if operation == "column":
            values.append(column(arguments[0]))
        elif operation == "constant":
            values.append(_number(arguments[0]))
        elif operation in _SQL:
            values.append(keep(number, _SQL[operation].format(*(values[at] for at in arguments))))
        else:
            raise UnsupportedKey("Spark", operation)
    return [values[result] for result in steps.results]


def _stage(frame: Any, steps: Program, column: Callable[[str], str], prefix: str) -> tuple[Any, list[str]]:
    """The frame with a column for every step that is used more than once, and what the expressions come to."""
    uses = Counter(steps.results)
    stages: list[int] = []
    for operation, arguments in steps.steps:
        if operation not in ("column", "constant"):
            uses.update(dict.fromkeys(arguments, 2 if operation in _LOOKS_TWICE else 1))
    staged: dict[int, list[str]] = {}
    for number, (operation, arguments) in enumerate(steps.steps):
        leaf = operation in ("column", "constant")
        stage = 0 if leaf else max(stages[at] for at in arguments)
        stages.append(stage + (not leaf and uses[number] > 1))

    def keep(number: int, text: str) -> str:
        if uses[number] < 2:
            return text
        staged.setdefault(stages[number], []).append(f"{text} AS {prefix}{number}")
        return f"{prefix}{number}"

    values = _texts(steps, column, keep)
    for stage in sorted(staged):
        frame = frame.selectExpr("*", *staged[stage])
    return frame, values


def _number(value: float) -> str:
    return f"{float(value)!r}D"

"""Aggregations pushed into Spark, as SQL.

Spark writes an expression out wherever it is used, and within conditions computes it each time: so what several terms
are made of becomes a column first. And each piece of an expression that is built from Python is a call to the JVM: as
text it is one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from surefoot.core.doubt_table import CELLS, CUTS
from surefoot.core.expression import Program
from surefoot.core.keys import FARTHEST_LOG_ODDS, Bins
from surefoot.core.term import Term, program_of
from surefoot.engines.narwhals import INNER_LOG_ODDS, SMALLEST, Pushed, digits_of
from surefoot.predictions.frames import FramePredictions

_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "greater": ">", "equal": "="}
_STEPS = 64.0


class PushedToSpark(Pushed):
    """The same aggregations, each of them one job. Keys and conditions are SQL."""

    # grouping costs Spark more than a few more groups
    adds_bins_to_doubts = True

    def __init__(self, predictions: FramePredictions, by: str | None) -> None:
        super().__init__(predictions, by)
        if self.by:
            frame = self.predictions.frame.with_columns(**self.by)
            self.predictions, self.by = replace(self.predictions, frame=frame), {"sf_by": "sf_by"}

    def _named(self, name: str) -> str:
        return name

    def _is_class(self, label: int) -> str:
        return f"CAST(sf_truth = {label} AS DOUBLE)"

    def _number(self, bins: Sequence[Bins], more: Any = None) -> str:
        digits = digits_of(bins)
        parts = [f"{self._bin(key)} * {digit}" for key, digit in zip(bins, digits, strict=False)]
        return " + ".join([*parts, *([] if more is None else [f"{more} * {digits[-1]}"])])

    def _bin(self, key: Bins) -> str:
        """How many inner edges a row has passed: a guess, mended by comparison with the edges on both sides."""
        x, sign = f"sf_{key.column}", ">" if key.closed == "right" else ">="
        if key.step is None:
            return "(" + " + ".join(f"CAST({x} {sign} {_number(edge)} AS INT)" for edge in key.edges) + ")"
        step, last = _number(key.step), key.size - 1
        guess = f"FLOOR({x} * {_number(key.size)})"
        passed = [f"CAST({x} {sign} {edge} AS INT)" for edge in (f"({guess} + 1.0D) * {step}", f"{guess} * {step}")]
        return f"LEAST(GREATEST({guess} + {passed[0]} + {passed[1]} - 1, 0), {last})"

    def _cell(self, name: str, sign: int, steps: int) -> str:
        farthest = FARTHEST_LOG_ODDS * steps
        beyond = _number(INNER_LOG_ODDS)
        odds = (
            f"(CASE WHEN {name} <= 0 THEN -{beyond} WHEN {name} >= 1 THEN {beyond} "
            f"ELSE LN({name}) - LN(1.0D - {name}) END)"
        )
        place = f"{odds} * {_number(sign * steps)} + {_number(farthest)}"
        return f"CAST(LEAST(GREATEST(FLOOR({place}), 0), {2 * farthest - 1}) AS INT)"

    def _doubt_cell(self) -> str:
        frame = self.predictions.frame.to_native()
        if "sf_lesser" not in frame.columns:
            frame = frame.selectExpr("*", "LEAST(sf_doubt, sf_confidence) AS sf_lesser")
            frame = frame.selectExpr("*", f"LN(GREATEST(sf_lesser, {_number(SMALLEST)})) AS sf_log")
            cuts = " + ".join(f"CAST(sf_lesser >= {_number(cut)} AS INT)" for cut in CUTS)
            steps = f"CAST(FLOOR(sf_log * {_number(_STEPS / math.log(2.0))}) AS INT) + {int(_STEPS) * 1023}"
            # 0, and what is hardly more, in the first
            cell = f"CASE WHEN sf_lesser > {_number(SMALLEST)} THEN {steps} ELSE 0 END + {cuts}"
            frame = frame.selectExpr("*", f"{cell} AS sf_place")
            # counted down from the end for confidences
            cell = f"CASE WHEN sf_doubt <= sf_confidence THEN sf_place ELSE {CELLS - 1} - sf_place END"
            frame = frame.selectExpr("*", f"{cell} AS sf_doubt_cell")
            self.predictions = replace(self.predictions, frame=self.nw.from_native(frame))
        return "sf_doubt_cell"

    def _is_outer(self, cell: str, low: int, high: int) -> str:
        # a bound of the value itself, so that few rows are looked at closely
        bound = 1.001 * 2.0 ** ((max(low, high) - _STEPS * 1023) / _STEPS)
        return f"sf_lesser <= {_number(max(bound, SMALLEST))} AND ({cell} < {low} OR {cell} > {CELLS - 1 - high})"

    def _summed(
        self,
        keys: Mapping[str, Any],
        terms: Sequence[Term],
        positive: Any = None,
        where: Any = None,
        in_parts: bool = True,
    ) -> list[dict[str, Any]]:
        from pyspark.sql import functions

        frame = self.predictions.frame.to_native()
        frame = frame if where is None else frame.where(where)
        steps = program_of(tuple(terms), is_weighted=self.predictions.is_weighted)
        frame, values = _staged(frame, steps, positive)
        keys = {**self.by, **keys}
        # terms that come to the same are one column
        names = {term.name: f"sf_t{result}" for term, result in zip(terms, steps.results, strict=True)}
        columns = dict(zip(names.values(), values, strict=True))
        held = [f"{value} AS {name}" for name, value in {**keys, **columns}.items()]
        sums = [functions.expr(f"SUM({name}) AS {name}") for name in columns]
        table = frame.selectExpr(*held).groupBy(*keys).agg(*sums).toArrow()
        found = {name: table.column(name).to_pylist() for name in table.column_names}
        return [
            {**{key: found[key][row] for key in keys}, **{term: found[name][row] for term, name in names.items()}}
            for row in range(table.num_rows)
        ]


def _staged(frame: Any, steps: Program, positive: str | None) -> tuple[Any, list[str]]:
    """The frame with a column for every step that is used more than once, and what the expressions come to."""
    # conditions look at their argument more than once
    uses = Counter(steps.results)
    for operation, arguments in steps.steps:
        if operation not in ("column", "constant"):
            uses.update(dict.fromkeys(arguments, 2 if operation in ("log", "reciprocal") else 1))
    values: list[str] = []
    stages: list[int] = []
    staged: dict[int, list[str]] = {}
    for number, (operation, arguments) in enumerate(steps.steps):
        if operation in ("column", "constant"):
            values.append(_column(arguments[0], positive) if operation == "column" else _number(arguments[0]))
            stages.append(0)
            continue
        stage = max(stages[at] for at in arguments)
        made = _written(operation, *(values[at] for at in arguments))
        if uses[number] > 1:
            staged.setdefault(stage, []).append(f"{made} AS sf_s{number}")
            made, stage = f"sf_s{number}", stage + 1
        values.append(made)
        stages.append(stage)
    for stage in sorted(staged):
        frame = frame.selectExpr("*", *staged[stage])
    return frame, [values[result] for result in steps.results]


def _column(name: str, positive: str | None) -> str:
    if name in ("positive", "negative"):
        return f"{positive}" if name == "positive" else f"(1.0D - {positive})"
    return "(1.0D - sf_correct)" if name == "wrong" else f"sf_{name}"


def _written(operation: str, *parts: str) -> str:
    if operation == "log":
        return f"(CASE WHEN {parts[0]} > 0 THEN LN({parts[0]}) ELSE DOUBLE('-Infinity') END)"
    if operation == "reciprocal":
        return f"(CASE WHEN {parts[0]} = 0 THEN 0.0D ELSE 1.0D / {parts[0]} END)"
    text = f"({parts[0]} {_SYMBOLS[operation]} {parts[1]})"
    return f"CAST({text} AS DOUBLE)" if operation in ("greater", "equal") else text


def _number(value: float) -> str:
    return f"{float(value)!r}D"

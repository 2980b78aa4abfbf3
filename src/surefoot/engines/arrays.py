"""Tallies of arrays: one pass in blocks that stay in the cache, added up with their rounding errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from surefoot.expressions import evaluate
from surefoot.keys import (
    FARTHEST_LOG_ODDS,
    HALF,
    Bins,
    ClassPair,
    ClassScore,
    Codes,
    Everything,
    Key,
    Value,
    ordered_bits,
    score_steps,
)
from surefoot.predictions import Predictions
from surefoot.tallies import Floats, Sums, Table, Tally, Term

#: Rows a block. Within a block a sum may round once a row, so its relative error is at most 4096 * 2^-53 = 5e-13.
BLOCK = 4096

#: Up to this many codes are counted in a dense array; above, the codes that occur are found first.
_DENSE = 1 << 16

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "log": np.log,
    "greater": lambda a, b: np.greater(a, b).astype(np.float64),
    "equal": lambda a, b: np.equal(a, b).astype(np.float64),
}


def tally_arrays(predictions: Predictions, terms: Iterable[Term], *, exact: bool = False) -> Tally:
    """The totals of terms over all rows.

    Of bounded size by default: scores go into cells. With ``exact`` every distinct score is kept apart, a class at a
    time, for formulas to read; such a tally is not for keeping.
    """
    by_key: dict[Key, list[Term]] = {}
    for term in dict.fromkeys(terms):
        by_key.setdefault(term.key, []).append(term)
    tables: dict[str, Any] = {}
    for key, group in by_key.items():
        if isinstance(key, ClassScore):
            scores = ClassScores(predictions, group)
            tables[key.name] = scores if exact else scores.in_cells()
        else:
            tables[key.name] = _table(predictions, key, group)
    speaks_of_classes = any(isinstance(key, ClassPair | ClassScore) for key in by_key)
    return Tally(tables, predictions.labels if speaks_of_classes else None, predictions.rounded)


@dataclass(frozen=True)
class ClassScores:
    """The totals under each score of each class, found when asked for, so that they never lie in memory together."""

    predictions: Predictions
    terms: list[Term]

    def of_class(self, label: int) -> Table:
        """The table of one class's distinct scores; its codes are their bits, so they rise with the score."""
        codes = ordered_bits(self.predictions.ranking_scores(label))
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        row = self._row(label)
        known: dict[int, Any] = {}
        totals = {}
        for term in self.terms:
            values = evaluate(term.traced, row.__getitem__, _OPERATIONS, known)[order]
            high = np.add.reduceat(values, starts) if len(starts) < len(values) else values
            totals[term.name] = Sums(high, np.zeros(len(high)))
        return Table(codes[starts], totals)

    def in_cells(self) -> Table:
        """The table of all classes, with scores rounded to cells of log-odds."""
        assert self.predictions.labels is not None
        steps = score_steps(len(self.predictions.labels))
        parts = [self._class_in_cells(label, steps) for label in range(len(self.predictions.labels))]
        codes = np.concatenate([(np.int64(label) << HALF) | part.codes for label, part in enumerate(parts)])
        totals = {
            term.name: Sums(
                np.concatenate([part.totals[term.name].high for part in parts]),
                np.concatenate([part.totals[term.name].low for part in parts]),
            )
            for term in self.terms
        }
        return Table(codes, totals, steps)

    def _class_in_cells(self, label: int, steps: int) -> Table:
        farthest = FARTHEST_LOG_ODDS * steps
        odds = self.predictions.score_log_odds(label)
        cells = np.clip(np.floor(odds * steps), -farthest, farthest - 1).astype(np.int64) + farthest
        codes, where = np.unique(cells, return_inverse=True)
        return _summed(self.terms, codes, where, self._row(label), len(self.predictions))

    def _row(self, label: int) -> dict[str, Any]:
        positive = self.predictions.truth_codes == label
        return {
            **_columns(self.predictions, slice(None)),
            "positive": positive.astype(np.float64),
            "negative": (~positive).astype(np.float64),
        }


def _table(predictions: Predictions, key: Key, terms: list[Term]) -> Table:
    codes, where = _codes(predictions, key)
    return _summed(terms, codes, where, predictions, len(predictions))


def _summed(terms: list[Term], codes: Codes, where: npt.NDArray[np.intp] | None, source: Any, rows: int) -> Table:
    """Add up terms block by block, under ``codes[where]`` (one code for all rows if ``where`` is None)."""
    totals = {term.name: Sums.zeros(len(codes)) for term in terms}
    seen = np.zeros(len(codes), dtype=bool)
    with np.errstate(divide="ignore", over="ignore"):
        for start in range(0, rows, BLOCK):
            block = slice(start, min(start + BLOCK, rows))
            row = _columns(source, block) if isinstance(source, Predictions) else _cut(source, block)
            known: dict[int, Any] = {}
            here = None if where is None else where[block]
            for term in terms:
                values = evaluate(term.traced, row.__getitem__, _OPERATIONS, known)
                if here is None:
                    added: Floats = np.array([values.sum()])
                else:
                    added = np.bincount(here, values, len(codes)).astype(np.float64, copy=False)
                totals[term.name] = totals[term.name].plus(added)
            seen[slice(None) if here is None else here] = True
    if seen.all():
        return Table(codes, totals)
    return Table(codes[seen], {name: Sums(s.high[seen], s.low[seen]) for name, s in totals.items()})


def _codes(predictions: Predictions, key: Key) -> tuple[Codes, npt.NDArray[np.intp] | None]:
    """The codes that can occur, and for each row the position of its own among them."""
    if isinstance(key, Everything):
        return np.zeros(1, dtype=np.int64), None
    if isinstance(key, Bins):
        values = predictions.doubt if key.column == "doubt" else predictions.confidence.astype(np.float64)
        # an inner edge belongs to the bin below it when bins are closed on the right
        side: Literal["left", "right"] = "left" if key.closed == "right" else "right"
        return np.arange(key.size), np.searchsorted(np.array(key.edges), values, side=side)
    if isinstance(key, Value):
        codes, where = np.unique(ordered_bits(predictions.confidence.astype(np.float64)), return_inverse=True)
        return codes, where
    truth, predicted = predictions.truth_codes, predictions.predicted_codes
    assert isinstance(key, ClassPair)
    assert predictions.labels is not None
    count = len(predictions.labels)
    if count * count <= _DENSE:
        classes = np.arange(count, dtype=np.int64)
        return ((classes[:, None] << HALF) | classes).ravel(), truth * count + predicted
    codes, where = np.unique((truth.astype(np.int64) << HALF) | predicted, return_inverse=True)
    return codes, where


def _columns(predictions: Predictions, rows: slice) -> dict[str, Floats]:
    """The columns that terms speak of, as float64."""
    correct = predictions.correct[rows].astype(np.float64)
    ones = np.ones(len(correct))
    return {
        "one": ones,
        "weight": predictions.weight[rows] if predictions.is_weighted else ones,
        "correct": correct,
        "wrong": 1 - correct,
        "confidence": predictions.confidence[rows].astype(np.float64),
        "doubt": predictions.doubt_of(rows),
    }


def _cut(row: dict[str, Floats], block: slice) -> dict[str, Floats]:
    return {name: column[block] for name, column in row.items()}

"""Tallies of arrays: one pass in blocks that stay in the cache, added up with their rounding errors.

Large requests run in a compiled loop over all processors; small ones, and whatever that loop does not know (classes,
strings, narrow floats), in NumPy. Both give the same totals.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from surefoot.core.doubt_table import CELLS, EXTREMES, FEW, DoubtTable, cell_codes, exact_codes, extremes
from surefoot.core.expression import evaluate
from surefoot.core.keys import (
    HALF,
    Bins,
    ClassPair,
    ClassScore,
    Codes,
    Doubt,
    Everything,
    Key,
    Row,
    Value,
    ordered_bits,
)
from surefoot.core.tally import Sums, Table, Tally
from surefoot.core.term import Term, program_of
from surefoot.engines import numba_cache
from surefoot.engines.parallel import in_parallel, workers
from surefoot.engines.rankings import ClassScores
from surefoot.engines.rows import BLOCK, COMPILE_FROM, OPERATIONS, RUN_FROM, columns, kernel_columns, types_of
from surefoot.predictions import Predictions

if TYPE_CHECKING:
    from surefoot.engines.numba import Plan

#: Up to this many codes are counted in a dense array; above, the codes that occur are found first.
_DENSE = 1 << 16
#: A table of many codes takes larger blocks, or adding it up would cost more than filling it.
_LARGE_TABLE, _LARGE_BLOCK = 1 << 12, 1 << 16

Places = npt.NDArray[np.intp]


def tally_arrays(predictions: Predictions, terms: Iterable[Term], *, exact: bool = False) -> Tally:
    """The totals of terms over all rows.

    Of bounded size by default: scores go into cells. With ``exact`` every distinct score is kept apart, a class at a
    time, for formulas to read; such a tally is not for keeping.
    """
    by_key: dict[Key, list[Term]] = {}
    for term in dict.fromkeys(terms):
        by_key.setdefault(term.key, []).append(term)
    fused = [(key, group) for key, group in by_key.items() if isinstance(key, Everything | Bins)]
    tables: dict[str, Any] = _compiled_tables(predictions, fused) or {
        key.name: _table(predictions, key, group) for key, group in fused
    }
    for key, group in by_key.items():
        if isinstance(key, ClassScore):
            scores = ClassScores(predictions, group)
            tables[key.name] = scores if exact else scores.in_cells()
        elif isinstance(key, Row):
            tables[key.name] = _each_row(predictions, group)
        elif isinstance(key, Value):
            tables[key.name] = _sorted_rows(predictions, group)
        elif isinstance(key, Doubt):
            tables[key.name] = _compiled_doubts(predictions, group) or _table(predictions, key, group)
        elif key.name not in tables:
            tables[key.name] = _table(predictions, key, group)
    speaks_of_classes = any(isinstance(key, ClassPair | ClassScore) for key in by_key)
    return Tally(tables, predictions.labels if speaks_of_classes else None, predictions.rounded)


def _each_row(predictions: Predictions, terms: list[Term]) -> Table:
    """What each row adds, not added up."""
    values = _row_values(predictions, terms)
    zeros = np.zeros(len(predictions))
    totals = {term.name: Sums(value, zeros) for term, value in zip(terms, values, strict=True)}
    return Table(np.arange(len(predictions)), totals)


def _sorted_rows(predictions: Predictions, terms: list[Term]) -> Table:
    """Totals under each distinct confidence: rows are sorted once, and neighbours added up."""
    codes = ordered_bits(predictions.confidence_of(slice(None)))
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    zeros = np.zeros(len(starts))
    totals = {}
    for term, value in zip(terms, _row_values(predictions, terms), strict=True):
        ordered = value[order]
        totals[term.name] = Sums(np.add.reduceat(ordered, starts) if len(starts) < len(ordered) else ordered, zeros)
    return Table(codes[starts], totals)


def _row_values(predictions: Predictions, terms: list[Term]) -> list[npt.NDArray[np.float64]]:
    steps = program_of(tuple(terms), is_weighted=predictions.is_weighted)
    row = columns(predictions, slice(None))
    with np.errstate(divide="ignore", over="ignore"):
        return [np.broadcast_to(value, len(predictions)) for value in evaluate(steps, row.__getitem__, OPERATIONS)]


# -- compiled --------------------------------------------------------------------------------------------------------


def _compiled_tables(
    predictions: Predictions, by_key: list[tuple[Everything | Bins, list[Term]]]
) -> dict[str, Table] | None:
    """The tables of all these keys from one compiled pass, or None where NumPy is the better way."""
    if not by_key or len(predictions) < RUN_FROM:
        return None
    arrays = kernel_columns(predictions)
    if arrays is None:
        return None
    kernels = numba_cache.writer("numba")
    if kernels is None:
        return None
    shape = kernels.Shape(predictions.stores_doubt, predictions.is_weighted)
    written: Plan = kernels.plan(tuple((key, tuple(terms)) for key, terms in by_key), shape)
    types = types_of(arrays)
    if len(predictions) < COMPILE_FROM and not numba_cache.is_loaded(written.source, types):
        return None
    nothing = [array[:0] for array in arrays]
    kernel = numba_cache.compiled(written.source, types, lambda run: _run(run, nothing, written.size))
    if kernel is None:
        return None
    cuts = [len(predictions) * i // workers() for i in range(workers() + 1)]
    jobs = [
        partial(_run, kernel, [array[start:stop] for array in arrays], written.size) for start, stop in pairwise(cuts)
    ]
    total = Sums.zeros(written.size)
    for part in in_parallel(jobs):
        total = total.plus(part.high, part.low)
    return _read(written, total)


def _compiled_doubts(predictions: Predictions, terms: list[Term]) -> DoubtTable | None:
    """The table by doubt from one compiled pass, or None where NumPy is the better way."""
    if len(predictions) < RUN_FROM:
        return None
    arrays = kernel_columns(predictions)
    kernels = None if arrays is None else numba_cache.writer("numba_doubts")
    if arrays is None or kernels is None:
        return None
    shape = kernels.Shape(predictions.stores_doubt, predictions.is_weighted)
    source, columns = kernels.doubt_source(tuple(terms), shape)
    types = types_of(arrays)
    if len(predictions) < COMPILE_FROM and not numba_cache.is_loaded(source, types):
        return None
    nothing = [array[:0] for array in arrays]
    kernel = numba_cache.compiled(source, types, lambda run: run(*nothing, *kernels.State(columns).arguments()))
    if kernel is None:
        return None
    cuts = [len(predictions) * i // workers() for i in range(workers() + 1)]
    states = [kernels.State(columns) for _ in pairwise(cuts)]
    in_parallel(
        [
            partial(kernel, *(array[start:stop] for array in arrays), *state.arguments())
            for (start, stop), state in zip(pairwise(cuts), states, strict=True)
        ]
    )
    found: list[DoubtTable] = [state.table() for state in states]
    return reduce(operator.add, found)


def _run(kernel: Callable[..., None], arrays: list[npt.NDArray[Any]], size: int) -> Sums:
    sums = Sums.zeros(size)
    kernel(*arrays, sums.high, sums.low)
    return sums


def _read(written: Plan, total: Sums) -> dict[str, Table]:
    tables = {}
    for part in written.parts:
        here = slice(part.offset, part.offset + part.size * part.width)
        high, low = (numbers[here].reshape(part.size, part.width) for numbers in (total.high, total.low))
        totals = {name: Sums(high[:, column].copy(), low[:, column].copy()) for name, column in part.columns.items()}
        tables[part.key.name] = Table(np.arange(part.size), totals)
    return tables


# -- NumPy -----------------------------------------------------------------------------------------------------------


def _table(predictions: Predictions, key: Key, terms: list[Term]) -> Table:
    """Add up terms block by block under the codes of their key."""
    codes, places = _codes(predictions, key)
    steps = program_of(tuple(terms), is_weighted=predictions.is_weighted)
    totals = Sums.zeros((len(terms), len(codes)))
    seen = np.zeros(len(codes), dtype=bool)
    size = BLOCK if len(codes) <= _LARGE_TABLE else _LARGE_BLOCK
    with np.errstate(divide="ignore", over="ignore"):
        for start in range(0, len(predictions), size):
            block = slice(start, min(start + size, len(predictions)))
            row = columns(predictions, block)
            values = evaluate(steps, row.__getitem__, OPERATIONS)
            rows = block.stop - start
            if places is None:
                sums = [[value * rows if isinstance(value, float) else value.sum()] for value in values]
                totals = totals.plus(np.array(sums))
                continue
            values = [np.full(rows, value) if isinstance(value, float) else value for value in values]
            here = places(block)
            seen[here] = True
            totals = totals.plus(np.array([np.bincount(here, value, len(codes)) for value in values], dtype=np.float64))
    # all bins are kept, and of the codes of classes those that occur
    kept = slice(None) if isinstance(key, Everything | Bins) or seen.all() else seen
    named = {term.name: Sums(totals.high[i, kept], totals.low[i, kept]) for i, term in enumerate(terms)}
    return DoubtTable(codes[kept], named) if isinstance(key, Doubt) else Table(codes[kept], named)


def _codes(predictions: Predictions, key: Key) -> tuple[Codes, Callable[[slice], Places] | None]:
    """The codes that can occur, and what finds for each row of a block the position of its own among them."""
    if isinstance(key, Everything):
        return np.zeros(1, dtype=np.int64), None
    if isinstance(key, Bins):
        edges = np.array(key.edges)
        # an inner edge belongs to the bin below it when bins are closed on the right
        side: Literal["left", "right"] = "left" if key.closed == "right" else "right"
        column = predictions.doubt_of if key.column == "doubt" else predictions.confidence_of
        return np.arange(key.size), lambda block: np.searchsorted(edges, column(block), side=side)
    if isinstance(key, Doubt):
        return _doubt_codes(predictions)
    assert isinstance(key, ClassPair)
    assert predictions.labels is not None
    count = len(predictions.labels)
    if count * count <= _DENSE:
        classes = np.arange(count, dtype=np.int64)
        codes = ((classes[:, None] << HALF) | classes).ravel()
        return codes, lambda block: predictions.truth_codes(block) * count + predictions.predicted_codes(block)
    everywhere = slice(None)
    truth = predictions.truth_codes(everywhere).astype(np.int64)
    return _distinct((truth << HALF) | predictions.predicted_codes(everywhere))


def _positions(codes: Codes, of: Callable[[slice], Codes]) -> tuple[Codes, Callable[[slice], Places]]:
    return codes, lambda block: np.searchsorted(codes, of(block))


def _distinct(codes: Codes) -> tuple[Codes, Callable[[slice], Places]]:
    found, places = np.unique(codes, return_inverse=True)
    return found, lambda block: places[block]


def _doubt_codes(predictions: Predictions) -> tuple[Codes, Callable[[slice], Places]]:
    """The codes of a doubt table, found in passes that each look at a block at a time."""

    def exact(block: slice) -> Codes:
        return exact_codes(predictions.doubt_of(block), predictions.confidence_of(block))

    def cells(block: slice) -> Codes:
        return cell_codes(predictions.doubt_of(block), predictions.confidence_of(block))

    blocks = [slice(start, start + _LARGE_BLOCK) for start in range(0, len(predictions), _LARGE_BLOCK)]
    few = np.empty(0, dtype=np.int64)
    for block in blocks:
        few = np.union1d(few, exact(block))
        if len(few) > FEW:
            break
    else:
        return _positions(few, exact)
    held = np.zeros(CELLS, dtype=np.int64)
    for block in blocks:
        held += np.bincount(cells(block), minlength=CELLS)
    # the cells at either end that hold the extremes: more of them where rows are tied
    wanted, apart = EXTREMES, np.empty(0, dtype=np.int64)
    while True:
        low, high = np.searchsorted(np.cumsum(held), wanted), np.searchsorted(np.cumsum(held[::-1]), wanted)
        for block in blocks:
            cell = cells(block)
            outer = (cell <= low) | (cell >= CELLS - 1 - high)
            if outer.any():
                apart = extremes(np.union1d(apart, exact(block)[outer]))
        if len(apart) == 2 * EXTREMES or wanted >= len(predictions):
            break
        wanted *= 16
    inside = np.flatnonzero(held)
    codes = np.sort(np.concatenate([apart, inside]))
    of_cell = np.zeros(CELLS, dtype=np.intp)
    of_cell[inside] = np.searchsorted(codes, inside)

    def places(block: slice) -> Places:
        cell = cells(block)
        place = of_cell[cell]
        outer = np.flatnonzero((cell <= low) | (cell >= CELLS - 1 - high))
        own = exact(block)[outer]
        at = np.minimum(np.searchsorted(codes, own), len(codes) - 1)
        mine = codes[at] == own
        place[outer[mine]] = at[mine]
        return place

    return codes, places

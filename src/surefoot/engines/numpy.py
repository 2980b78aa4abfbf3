"""Tallies of arrays: one pass in blocks that stay in the cache, added up with their rounding errors.

Large requests run in a compiled loop over all processors; small ones, and whatever that loop does not know (many
classes, narrow floats), in NumPy. Both give the same totals.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from surefoot.core.doubt_table import CELLS, EXTREMES, FEW, DoubtTable, cell_program, exact_codes, extremes
from surefoot.core.expression import evaluate
from surefoot.core.keys import Codes, Key, ordered_bits
from surefoot.core.ordering import stable_order
from surefoot.core.table import Floats, Sums, Table
from surefoot.core.tally import Tally
from surefoot.core.term import Term, program_of
from surefoot.engines import numba_cache
from surefoot.engines.base import Engine, Groups, tally_in_memory
from surefoot.engines.parallel import in_parallel, workers
from surefoot.engines.rankings import ClassScores
from surefoot.engines.rows import (
    BLOCK,
    COMPILED_CELLS,
    OPERATIONS,
    RUN_FROM,
    columns,
    is_worth_compiling,
    kernel_columns,
    run_kernel,
    types_of,
)
from surefoot.predictions.arrays import ArrayPredictions

if TYPE_CHECKING:
    from surefoot.engines.numba import Plan

#: Up to this many cells are counted in a dense array; above, those that occur are found first.
_DENSE = 1 << 16
#: A table of many cells takes larger blocks, or adding it up would cost more than filling it.
_LARGE_TABLE, _LARGE_BLOCK = 1 << 12, 1 << 16

Places = npt.NDArray[np.intp]


def tally(predictions: ArrayPredictions, terms: Iterable[Term], *, exact: bool = False, by: Any = None) -> Tally:
    """The totals of terms; see :meth:`Predictions.tally`."""
    return tally_in_memory(NumpyEngine, predictions, terms, exact=exact, by=by)


class NumpyEngine(Engine):
    """Arrays, in NumPy or by compiled loops."""

    name = "NumPy"
    predictions: ArrayPredictions

    def cells(self, groups: Groups) -> dict[str, Any]:
        tables: dict[str, Any] = self._compiled_cells(groups)
        return tables | {key.name: self._cells(key, terms) for key, terms in groups.items() if key.name not in tables}

    def scores(self, key: Key, terms: list[Term]) -> Any:
        scores = ClassScores(self.predictions, terms)
        return scores if self.exact else scores.in_cells()

    def doubts(self, key: Key, terms: list[Term]) -> DoubtTable:
        table = self._compiled_doubts(terms) or self._doubts(terms)
        return replace(table, from_rows=self.every_doubt) if self.exact else table

    def every_doubt(self, terms: Sequence[Term]) -> DoubtTable:
        """Sums under each distinct doubt, however many there are."""
        codes = exact_codes(self.predictions.doubt_of(slice(None)), self.predictions.confidence_of(slice(None)))
        return DoubtTable(*self._under(codes, terms))

    def values(self, key: Key, terms: list[Term]) -> Table:
        return Table(*self._under(ordered_bits(self.predictions.confidence_of(slice(None))), terms))

    def _under(self, codes: Codes, terms: Sequence[Term]) -> tuple[Codes, dict[str, Sums]]:
        """Sums under each distinct code: rows are sorted once, and neighbours added up."""
        order = stable_order(codes)
        codes = codes[order]
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        zeros = np.zeros(len(starts))
        totals = {}
        for term, value in zip(terms, self._row_values(list(terms)), strict=True):
            ordered = value[order]
            totals[term.name] = Sums(np.add.reduceat(ordered, starts) if len(starts) < len(ordered) else ordered, zeros)
        return codes[starts], totals

    def rows(self, key: Key, terms: list[Term]) -> Table:
        zeros = np.zeros(len(self.predictions))
        named = zip(terms, self._row_values(terms), strict=True)
        return Table(np.arange(len(self.predictions)), {term.name: Sums(value, zeros) for term, value in named})

    def _row_values(self, terms: list[Term]) -> list[Floats]:
        steps = program_of(tuple(terms), self.shape)
        with np.errstate(divide="ignore", over="ignore"):
            values = evaluate(steps, columns(self.predictions, slice(None)), OPERATIONS)
        return [np.broadcast_to(value, len(self.predictions)) for value in values]

    # -- NumPy ---------------------------------------------------------------------------------------------------------

    def _cells(self, key: Key, terms: list[Term]) -> Table:
        sizes = key.sizes(self.classes)
        steps = program_of(tuple(terms), self.shape, key)
        count, digits = prod(sizes), len(sizes)
        if count > _DENSE:
            cells, at = np.unique(self._places(key, sizes), return_inverse=True)
            found = Sums.zeros((len(terms), len(cells)))
        else:
            cells, at, found = np.arange(count), None, Sums.zeros((len(terms), count))
        occurs = np.zeros(len(cells), dtype=bool)
        size = BLOCK if len(cells) <= _LARGE_TABLE else _LARGE_BLOCK
        with np.errstate(divide="ignore", over="ignore"):
            for start in range(0, len(self.predictions), size):
                block = slice(start, min(start + size, len(self.predictions)))
                values = evaluate(steps, columns(self.predictions, block), OPERATIONS)
                rows = block.stop - start
                if not digits:
                    sums = [[value * rows if isinstance(value, float) else value.sum()] for value in values]
                    found = found.plus(np.array(sums))
                    continue
                here = at[block] if at is not None else _number(values[:digits], sizes)
                occurs[here] = True
                added = [np.bincount(here, np.broadcast_to(value, rows), len(cells)) for value in values[digits:]]
                found = found.plus(np.array(added, dtype=np.float64))
        # all bins are kept, and of the cells of classes those that occur
        kept = slice(None) if not key.classes or occurs.all() else occurs
        named = {term.name: Sums(found.high[i, kept], found.low[i, kept]) for i, term in enumerate(terms)}
        return Table(key.codes_of(cells, self.classes)[kept], named, key.classes)

    def _places(self, key: Key, sizes: list[int]) -> Places:
        """The number of each row's cell, when all cells are counted through."""
        return _number(
            evaluate(program_of((), self.shape, key), columns(self.predictions, slice(None)), OPERATIONS), sizes
        )

    def _doubts(self, terms: list[Term]) -> DoubtTable:
        """Block by block under codes that were found before."""
        codes, places = self._doubt_codes()
        steps = program_of(tuple(terms), self.shape)
        found = Sums.zeros((len(terms), len(codes)))
        occurs = np.zeros(len(codes), dtype=bool)
        size = BLOCK if len(codes) <= _LARGE_TABLE else _LARGE_BLOCK
        with np.errstate(divide="ignore", over="ignore"):
            for start in range(0, len(self.predictions), size):
                block = slice(start, min(start + size, len(self.predictions)))
                values = evaluate(steps, columns(self.predictions, block), OPERATIONS)
                here = places(block)
                occurs[here] = True
                added = [np.bincount(here, np.broadcast_to(value, len(here)), len(codes)) for value in values]
                found = found.plus(np.array(added, dtype=np.float64))
        named = {term.name: Sums(found.high[i, occurs], found.low[i, occurs]) for i, term in enumerate(terms)}
        return DoubtTable(codes[occurs], named)

    def _doubt_codes(self) -> tuple[Codes, Callable[[slice], Places]]:
        """The codes of a doubt table, found in passes that each look at a block at a time."""

        predictions = self.predictions
        rule = cell_program(stores_doubt=predictions.stores_doubt)

        def exact(block: slice) -> Codes:
            return exact_codes(predictions.doubt_of(block), predictions.confidence_of(block))

        def cells(block: slice) -> Codes:
            (place,) = evaluate(rule, columns(predictions, block), OPERATIONS)
            codes: Codes = place.astype(np.int64)
            return codes

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

    # -- compiled ------------------------------------------------------------------------------------------------------

    def _compiled_cells(self, groups: Groups) -> dict[str, Table]:
        """The tables of as many keys as one compiled pass can hold; none where NumPy is the better way."""
        held = {key: terms for key, terms in groups.items() if prod(key.sizes(self.classes)) <= COMPILED_CELLS}
        if not held or len(self.predictions) < RUN_FROM:
            return {}
        arrays = kernel_columns(self.predictions, with_classes=any(key.classes for key in held))
        kernels = None if arrays is None else numba_cache.writer("numba")
        if arrays is None or kernels is None:
            return {}
        request = tuple((key, tuple(terms)) for key, terms in held.items())
        written: Plan = kernels.plan(request, self.shape, self.classes)
        types = types_of(arrays)
        if not (
            is_worth_compiling(written.source, len(self.predictions)) or numba_cache.is_loaded(written.source, types)
        ):
            return {}
        nothing = [array[:0] for array in arrays]
        kernel = numba_cache.compile_kernel(written.source, types, lambda run: run_kernel(run, nothing, written.size))
        if kernel is None:
            return {}
        jobs = [partial(run_kernel, kernel, part, written.size) for part in self._shares(arrays)]
        total = Sums.zeros(written.size)
        for part in in_parallel(jobs):
            total = total.plus(part.high, part.low)
        return written.read(total, self.classes)

    def _compiled_doubts(self, terms: list[Term]) -> DoubtTable | None:
        """The table by doubt from one compiled pass, or None where NumPy is the better way."""
        if len(self.predictions) < RUN_FROM:
            return None
        arrays = kernel_columns(self.predictions)
        kernels = None if arrays is None else numba_cache.writer("numba_doubts")
        if arrays is None or kernels is None:
            return None
        source, places = kernels.doubt_source(tuple(terms), self.shape)
        types = types_of(arrays)
        if not (is_worth_compiling(source, len(self.predictions)) or numba_cache.is_loaded(source, types)):
            return None
        nothing = [array[:0] for array in arrays]
        kernel = numba_cache.compile_kernel(
            source, types, lambda run: run(*nothing, *kernels.State(places).arguments())
        )
        if kernel is None:
            return None
        shares = self._shares(arrays)
        states = [kernels.State(places) for _ in shares]
        in_parallel([partial(kernel, *part, *state.arguments()) for part, state in zip(shares, states, strict=True)])
        found: list[DoubtTable] = [state.table() for state in states]
        return reduce(operator.add, found)

    def _shares(self, arrays: list[npt.NDArray[Any]]) -> list[list[npt.NDArray[Any]]]:
        """The rows of each processor."""
        cuts = [len(self.predictions) * i // workers() for i in range(workers() + 1)]
        return [[array[start:stop] for array in arrays] for start, stop in pairwise(cuts)]


def _number(digits: list[Any], sizes: list[int]) -> Places:
    """The number of each cell, given its digits."""
    number = digits[0]
    for digit, size in zip(digits[1:], sizes[1:], strict=True):
        number = number * size + digit
    places: Places = number.astype(np.intp)
    return places


def _positions(codes: Codes, of: Callable[[slice], Codes]) -> tuple[Codes, Callable[[slice], Places]]:
    return codes, lambda block: np.searchsorted(codes, of(block))

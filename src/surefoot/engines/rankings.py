"""The totals under each score of each class, found a class at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from surefoot.core.expression import evaluate, program
from surefoot.core.keys import CLASS_SCORE, HALF, Codes, ordered_bits, score_cells, score_steps
from surefoot.core.ordering import stable_order
from surefoot.core.table import Floats, Sums, Table
from surefoot.core.term import Shape, Term, program_of
from surefoot.engines import numba_cache
from surefoot.engines.packed_scores import PackedScores, packed_scores
from surefoot.engines.parallel import in_parallel, workers
from surefoot.engines.rows import OPERATIONS, RUN_FROM, columns, kernel_columns, types_of
from surefoot.predictions.arrays import ArrayPredictions

Result = TypeVar("Result")
Places = npt.NDArray[np.intp]

#: Scores from which loading a compiled sort takes less time than it saves.
COMPILE_FROM = 4_000_000
#: Rows a block when scores go into cells.
_CELL_BLOCK = 1 << 18
#: Scores that are fetched together, of as many classes as they make.
_TOGETHER = 1 << 21
#: Rows from which sorting them along with what they add, in buckets, takes less time than sorting their order.
_SORT_COMPILED_FROM = 1 << 17
#: Rows a positive from which negatives are pooled.
_FEW_POSITIVES = 32
#: Rows a bucket, so that sorting one stays in the cache.
_BUCKET = 1 << 14
#: Rows from which buckets are looked up by more bits.
_MANY = 1 << 20


@dataclass(frozen=True)
class ClassScores:
    """Tables of scores, made when asked for, so that those of many classes never lie in memory together."""

    predictions: ArrayPredictions
    terms: list[Term]

    @property
    def ranks_each(self) -> bool:
        """Whether each class is ranked by a score of its own, which of two classes is not one less the other's."""
        return self.predictions.scores is not None

    def holds(self, term: str) -> bool:
        return any(term == own.name for own in self.terms)

    def of_class(self, label: int) -> Table:
        """The table of one class's distinct scores; its codes are their bits, so they rise with the score."""
        (scores,) = self.predictions.ranking_scores([label])
        return self._table(ordered_bits(scores), label)

    def of_classes(self, labels: Sequence[int], read: Callable[[Any], Result]) -> list[Result]:
        """What ``read`` makes of the table of each class, several classes at a time.

        Negatives between two neighbouring scores of positives may stand there as one: no pair tells them apart.
        """
        size = max(1, min(_TOGETHER // len(self.predictions), len(labels) // (4 * workers())))
        groups = [labels[start : start + size] for start in range(0, len(labels), size)]
        results = in_parallel([partial(self._read, group, read) for group in groups])
        return [result for group in results for result in group]

    def _read(self, labels: Sequence[int], read: Callable[[Any], Result]) -> list[Result]:
        return [
            read(self._ranked(scores, label))
            for label, scores in zip(labels, self.predictions.ranking_scores(labels), strict=True)
        ]

    def _ranked(self, scores: Floats, label: int) -> Table | PackedScores:
        """The scores of a class in order, in the way that takes least for them."""
        codes = ordered_bits(scores)
        return (
            self._pool(codes, label)
            or packed_scores(self.predictions, scores, self.terms, label)
            or self._table(codes, label)
        )

    def _table(self, codes: Codes, label: int) -> Table:
        assert self.predictions.labels is not None
        work = len(codes) * len(self.predictions.labels) if len(codes) >= _SORT_COMPILED_FROM else 0
        return self._sort_compiled(codes, label, work) or self._sort(codes, label)

    def _sort_compiled(self, codes: Codes, label: int, work: int) -> Table | None:
        """The table from a compiled sort, or None where NumPy is the better way."""
        if work < RUN_FROM:
            return None
        arrays = kernel_columns(self.predictions) if work >= RUN_FROM and len(codes) < 1 << 32 else None
        if arrays is None:
            return None
        kernels = numba_cache.writer("numba_rankings")
        if kernels is None:
            return None
        source = kernels.ranking_source(tuple(self.terms), self._shape)
        types = types_of(arrays)
        if work < COMPILE_FROM and not numba_cache.is_loaded(source, types):
            return None
        kernel: Any = numba_cache.compile_kernel(source, types, partial(_try_out, arrays, len(self.terms)))
        if kernel is None:
            return None
        count, place, add = kernel
        least, shift, lookup, cuts, places, ends = _buckets(codes, count)
        columns = [self.predictions.is_truly(label).view(np.uint8), *arrays]
        keys, values = np.empty(len(codes), dtype=np.int64), np.empty((len(self.terms), len(codes)))
        in_parallel(
            [
                partial(
                    place, codes[rows], least, shift, lookup, own, *(column[rows] for column in columns), keys, values
                )
                for rows, own in zip(cuts, places, strict=True)
            ]
        )
        # each thread takes neighbouring buckets that hold its share of the rows
        shares = np.searchsorted(ends, np.linspace(0, len(codes), workers() + 1)[1:-1]).tolist()
        groups = [ends[start : stop + 1] for start, stop in pairwise([0, *shares, len(ends) - 1]) if start < stop]
        sizes = in_parallel([partial(add, keys, values, group) for group in groups])
        if sum(sizes) == len(codes):
            return self._as_table(keys, values)
        kept = [slice(group[0], group[0] + size) for group, size in zip(groups, sizes, strict=True)]
        return self._as_table(
            np.concatenate([keys[part] for part in kept]), np.concatenate([values[:, part] for part in kept], axis=1)
        )

    def _as_table(self, codes: Codes, totals: Floats) -> Table:
        zeros = np.zeros(len(codes))
        return Table(codes, {term.name: Sums(totals[i], zeros) for i, term in enumerate(self.terms)})

    def _sort(self, codes: Codes, label: int) -> Table:
        order = stable_order(codes)
        codes = codes[order]
        return self._added(codes, label, order, np.flatnonzero(np.append(True, codes[1:] != codes[:-1])))

    def _pool(self, codes: Codes, label: int) -> Table | None:
        """The table of the scores that positives have, and of all negatives between two of them; None if they are many.

        With many classes each has few rows of its own, and all that is left to do for most rows is to order them.
        """
        positive = self.predictions.is_truly(label)
        if np.count_nonzero(positive) * _FEW_POSITIVES > len(codes):
            return None
        of_positives = np.sort(codes[positive])
        order = stable_order(codes)
        codes = codes[order]
        edges = [np.searchsorted(codes, of_positives, side) for side in ("left", "right")]
        starts = np.unique(np.concatenate([[0], *edges]))
        return self._added(codes, label, order, starts[starts < len(codes)])

    def _added(self, codes: Codes, label: int, order: Places, starts: Places) -> Table:
        """What rows add, in rising order of their scores and between so many starts."""
        totals = {}
        for name, values in self._values(label).items():
            values = values[order]
            high = np.add.reduceat(values, starts) if len(starts) < len(values) else values
            totals[name] = Sums(high, np.zeros(len(high)))
        return Table(codes[starts], totals)

    def in_cells(self) -> Table:
        """The table of all classes, with scores rounded to cells of log-odds."""
        assert self.predictions.labels is not None
        count = len(self.predictions.labels)
        parts = in_parallel([partial(self._class_in_cells, label, count) for label in range(count)])
        codes = np.concatenate([(np.int64(label) << HALF) | part.codes for label, part in enumerate(parts)])
        totals = {
            term.name: Sums(
                np.concatenate([part.totals[term.name].high for part in parts]),
                np.concatenate([part.totals[term.name].low for part in parts]),
            )
            for term in self.terms
        }
        return Table(codes, totals, CLASS_SCORE.classes, score_steps(count))

    def _class_in_cells(self, label: int, classes: int) -> Table:
        """The table of one class, block by block, so that memory is bounded by the number of cells."""
        size, rule = score_cells(classes), program([CLASS_SCORE.cell(classes)])
        totals = {term.name: Sums.zeros(size) for term in self.terms}
        occurs = np.zeros(size, dtype=bool)
        for start in range(0, len(self.predictions), _CELL_BLOCK):
            rows = slice(start, start + _CELL_BLOCK)
            odds = self.predictions.score_log_odds(label, rows)
            (place,) = evaluate(rule, columns(self.predictions, rows, log_odds=odds), OPERATIONS)
            cells = place.astype(np.intp)
            occurs[cells] = True
            for name, values in self._values(label, rows).items():
                totals[name] = totals[name].plus(np.bincount(cells, values, size).astype(np.float64, copy=False))
        codes = np.flatnonzero(occurs)
        return Table(codes, {name: Sums(sums.high[codes], sums.low[codes]) for name, sums in totals.items()})

    def _values(self, label: int, rows: slice = slice(None)) -> dict[str, Floats]:
        """What each row adds to each term, for one class."""
        positive = self.predictions.is_truly(label, rows).astype(np.float64)
        column = columns(self.predictions, rows, positive=positive)
        values = evaluate(program_of(tuple(self.terms), self._shape), column, OPERATIONS)
        return {term.name: value for term, value in zip(self.terms, values, strict=True)}

    @property
    def _shape(self) -> Shape:
        return Shape(self.predictions.stores_doubt, self.predictions.is_weighted)


def _try_out(arrays: list[npt.NDArray[Any]], terms: int, kernel: Any) -> None:
    """Call each function of a kernel on no rows, with arrays of the types it will be given."""
    count, place, add = kernel
    none = np.zeros(0, dtype=np.int64)
    counts, values = np.zeros(1, dtype=np.int64), np.zeros((terms, 0))
    count(none, 0, 0, counts)
    place(none, 0, 0, counts, counts, np.zeros(0, dtype=np.uint8), *(array[:0] for array in arrays), none, values)
    add(none, values, counts)


def _buckets(codes: Codes, count: Any) -> tuple[int, int, Codes, list[slice], Codes, Codes]:
    """How to scatter codes into buckets of rising codes.

    The least code and the shift that leave the bits a bucket is looked up by, the lookup, the rows of each thread,
    where each thread puts its first row of each bucket, and where the buckets end.
    """
    least, most = int(codes.min()), int(codes.max())
    bits = 16 if len(codes) > _MANY else 12
    shift = max(0, (most - least).bit_length() - bits)
    edges = np.linspace(0, len(codes), workers() + 1).astype(np.intp).tolist()
    cuts = [slice(start, stop) for start, stop in pairwise(edges)]
    counts = np.zeros((len(cuts), 1 << bits), dtype=np.int64)
    in_parallel([partial(count, codes[rows], least, shift, counts[i]) for i, rows in enumerate(cuts)])
    # values of the upper bits follow each other into a bucket until it is full
    lookup = (np.cumsum(counts.sum(axis=0)) - 1) // _BUCKET
    lookup = np.maximum(lookup, 0)
    sizes = np.stack([np.bincount(lookup, own, int(lookup[-1]) + 1) for own in counts]).astype(np.int64)
    # a bucket holds the rows of the first thread, then those of the second, ...
    places = (np.cumsum(sizes.T).reshape(sizes.T.shape) - sizes.T).T.copy()
    return least, shift, lookup, cuts, places, np.append(0, np.cumsum(sizes.sum(axis=0)))

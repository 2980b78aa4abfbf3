"""Rankings of two classes by one column of probabilities: all that a row adds follows from its score and its label.

So a row is one number, the bits of its score with its label behind them. Sorting these is NumPy's fastest sort, and
nothing has to be sorted along with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.core.expression import evaluate
from surefoot.core.keys import Codes
from surefoot.core.table import Floats, Sums
from surefoot.core.term import Shape, Term, program_of
from surefoot.engines import numba_cache
from surefoot.engines.parallel import in_parallel, workers
from surefoot.engines.rows import OPERATIONS, read_only
from surefoot.predictions.arrays import ArrayPredictions

#: Rows from which loading the compiled loops takes less time than they save.
PACK_FROM = 2_000_000
#: Rows that are added up together, so that a sum rounds so many times and no more.
_PART = 1 << 15
_FOLLOWING = frozenset(("confidence", "positive"))


class PackedScores:
    """The rows of two classes in rising order of their scores, each packed into one number."""

    def __init__(self, keys: Codes, terms: Sequence[Term], shape: Shape) -> None:
        self._keys, self._terms, self._shape = keys, tuple(terms), shape

    def pairs(self, terms: tuple[Term, Term]) -> tuple[float, float, float]:
        """The pairs that rows of the first term win, those that rows of the second win, and the total of the first."""
        kernel = _compiled(terms, self._shape)
        assert kernel is not None
        edges = np.arange(0, len(self._keys), _PART)
        # rows of one score are not parted: an edge moves behind them
        behind = ((self._keys[edges[1:] - 1] >> 1) + 1) << 1
        edges = np.unique([0, *np.searchsorted(self._keys, behind), len(self._keys)]).astype(np.int64)
        sums = np.empty((len(edges) - 1, 4))
        (keys,) = read_only([self._keys])
        cuts = [len(sums) * i // workers() for i in range(workers() + 1)]
        in_parallel([partial(kernel[1], keys, edges[a : b + 1], sums[a:b]) for a, b in pairwise(cuts)])
        won, lost, winners, losers = sums.T
        before = [np.cumsum(one) - one for one in (winners, losers)]
        return (
            math.fsum(won + winners * before[1]),
            math.fsum(lost + losers * before[0]),
            math.fsum(winners),
        )

    @cached_property
    def totals(self) -> Mapping[str, Sums]:
        """The totals of each distinct score."""
        codes = self._keys >> 1
        score = codes.view(np.float64)
        columns = {"positive": (self._keys & 1).astype(np.float64), "confidence": np.maximum(score, 1 - score)}
        values = evaluate(program_of(self._terms, self._shape), columns.__getitem__, OPERATIONS)
        starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        zeros = np.zeros(len(starts))
        return {
            term.name: Sums(value if len(starts) == len(codes) else np.add.reduceat(value, starts), zeros)
            for term, value in zip(self._terms, values, strict=True)
        }


def packed_scores(
    predictions: ArrayPredictions, scores: Floats, terms: Sequence[Term], label: int
) -> PackedScores | None:
    """The rows in order of the probability of the second label; None where more than it is known of a row."""
    shape = Shape(predictions.stores_doubt, predictions.is_weighted)
    if (
        label != 1
        or len(scores) < PACK_FROM
        or predictions.probabilities is None
        or not predictions.has_second
        or predictions.is_weighted
        or len(terms) % 2
        or any(step[0] not in _FOLLOWING for kind, step in program_of(tuple(terms), shape).steps if kind == "column")
    ):
        return None
    kernels: list[Any] = [_compiled(pair, shape) for pair in zip(terms[::2], terms[1::2], strict=True)]
    if not kernels or None in kernels:
        return None
    pack, keys = kernels[0][0], np.empty(len(scores), dtype=np.int64)
    columns: list[npt.NDArray[Any]] = [
        scores,
        scores.view(np.int64),
        predictions.is_truly(1).view(np.uint8),
        predictions.confidence,
    ]
    if predictions.confidence.dtype != np.float64:
        return None
    cuts = [len(keys) * i // workers() for i in range(workers() + 1)]
    jobs = [
        partial(pack, *read_only([column[a:b] for column in columns]), keys[a:b]) for a, b in pairwise(cuts) if a < b
    ]
    if not all(in_parallel(jobs)):
        return None
    keys.sort()
    return PackedScores(keys, terms, shape)


def _compiled(pair: tuple[Term, Term], shape: Shape) -> Any:
    """The loops that pack rows and count their pairs; None where no code can be compiled."""
    kernels = numba_cache.writer("numba_rankings")
    if kernels is None:
        return None
    return numba_cache.compile_kernel(kernels.packed_source(*pair, shape), "float64", _try_out)


def _try_out(kernel: Any) -> None:
    """Call both loops on no rows, with arrays of the types they will be given."""
    pack, pairs = kernel
    floats: npt.NDArray[np.float64] = np.zeros(0)
    codes, flags, edges = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    pack(*read_only([floats, codes, flags, floats]), codes)
    pairs(*read_only([codes]), edges, np.zeros((0, 4)))

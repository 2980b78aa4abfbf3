"""Keys: what the sums of a term are kept apart by, and all that anybody has to know of them.

Most keys part the rows into cells: a cell is made of digits, each of which is an expression of the row. Whoever can
evaluate terms can evaluate digits, and needs to know no key by name. The others say by which operation of an engine
they are served.

The code of a cell is an integer. Codes that speak of classes hold the class in their upper half, and some another in
the lower half, so that tallies over different sets of labels can be brought together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from surefoot.core.expression import ROW, Expression, clip, floor

Codes = npt.NDArray[np.int64]
Closed = Literal["right", "left"]
#: What an engine does for a key: sums in cells; under each class's scores, by doubt, by the value of the confidence, or
#: no sums at all, each row by itself.
Operation = Literal["cells", "scores", "doubts", "values", "rows"]

HALF = 32  # bits of a code below the class
LOWER = (1 << HALF) - 1

#: Log-odds beyond which scores share a cell; exp(-40) is 4e-18.
FARTHEST_LOG_ODDS = 40


@dataclass(frozen=True)
class Digit:
    """One part of a cell: the place that a row takes, and how many places there are; None if one for each class."""

    place: Expression
    size: int | None


class Key:
    """What sums are kept apart by. Keys are equal when their names are."""

    name: str
    operation: ClassVar[Operation] = "cells"
    #: Whether its tables stay small however many rows there are, so that a tally may keep them.
    is_bounded: ClassVar[bool] = True
    #: How many halves of its codes speak of classes: none, the upper, or both.
    classes: ClassVar[int] = 0
    #: What makes a cell, at most two and the most significant first; of other operations than cells, nothing.
    digits: Sequence[Digit] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<key: {self.name}>"

    def sizes(self, classes: int) -> list[int]:
        """How many places each digit has, of so many classes."""
        return [classes if digit.size is None else digit.size for digit in self.digits]

    def reached(self, least: float) -> range:
        """The cells that rows may lie in if no confidence is below ``least``, of a key that speaks of no classes."""
        return range(prod(self.sizes(0)))

    def codes_of(self, places: Codes, classes: int) -> Codes:
        """The codes of cells, given their numbers when all cells are counted through."""
        if len(self.digits) < 2:
            return places
        _, width = self.sizes(classes)
        return ((places // width) << HALF) | places % width


class NoKey(Key):
    """One total over all rows."""

    name = "all rows"


@dataclass(frozen=True, eq=False, repr=False)
class Bins(Key):
    """Bins of a column, cut at inner edges; ``closed`` says on which side an edge belongs to its bin."""

    column: Literal["confidence", "doubt"]
    edges: tuple[float, ...]
    closed: Closed
    name: str

    @property
    def size(self) -> int:
        return len(self.edges) + 1

    def reached(self, least: float) -> range:
        if self.column == "confidence":
            return range(sum(edge < least for edge in self.edges), self.size)
        return range(sum(edge <= 1 - least for edge in self.edges) + 1)

    @property
    def step(self) -> float | None:
        """The width of the bins if the edges are its multiples to the last bit, as those of equal width are."""
        step = 1 / self.size
        return step if all(edge == i * step for i, edge in enumerate(self.edges, 1)) else None

    @cached_property
    def digits(self) -> Sequence[Digit]:  # type: ignore[override]
        return (Digit(self._place(), self.size),)

    def _place(self) -> Expression:
        """How many inner edges a row has passed."""
        x: Expression = getattr(ROW, self.column)

        def passed(edge: Expression | float) -> Expression:
            return x > edge if self.closed == "right" else x >= edge

        if self.step is None:
            return sum((passed(edge) for edge in self.edges[1:]), start=passed(self.edges[0]))
        # a guess, mended by comparison with the edges on both sides: multiples of the step, to the last bit. The edge
        # above is passed by one guessed too low, the edge below is not passed by one guessed too high
        guess = floor(x * float(self.size))
        mended = guess + passed((guess + 1.0) * self.step) + passed(guess * self.step) - 1.0
        return clip(mended, 0.0, float(self.size - 1))


class ClassPair(Key):
    """The pair (truth, predicted)."""

    name = "class pair"
    classes = 2
    digits = (Digit(ROW.truth, None), Digit(ROW.predicted, None))


@dataclass(frozen=True, eq=False, repr=False)
class PredictedBins(Key):
    """Bins of a column, within each predicted class."""

    bins: Bins
    classes: ClassVar[int] = 1

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"predicted class and {self.bins.name}"

    @cached_property
    def digits(self) -> Sequence[Digit]:  # type: ignore[override]
        return (Digit(ROW.predicted, None), *self.bins.digits)


class ClassScore(Key):
    """For each class, the score a row gives it: exact when a formula reads it, in cells when it is kept."""

    name = "class score"
    operation = "scores"
    classes = 1

    @staticmethod
    def cell(classes: int) -> Expression:
        """A number whose whole part is the cell of the log-odds that a row gives to a class, of so many classes."""
        # shifted to be positive before it is cut, so that cutting is rounding down
        cells = score_cells(classes)
        return clip(ROW.log_odds * float(score_steps(classes)) + cells / 2, 0.0, cells - 1.0)


class DoubtCell(Key):
    """The doubt itself while its values are few; else cells of it, but for the most extreme values."""

    name = "doubt"
    operation = "doubts"


class ExactConfidence(Key):
    """The confidence itself, to the last bit. Its tables grow with the data, so they are never kept."""

    name = "confidence itself"
    operation = "values"
    is_bounded = False


class EachRow(Key):
    """Each row by itself, in the order given. Its tables are as long as the data, so they are never kept."""

    name = "row"
    operation = "rows"
    is_bounded = False


ALL_ROWS = NoKey()
CLASS_PAIR = ClassPair()
CLASS_SCORE = ClassScore()
EACH_ROW = EachRow()
DOUBT_CELL = DoubtCell()
EXACT_CONFIDENCE = ExactConfidence()


def score_steps(classes: int) -> int:
    """How many cells a unit of log-odds is cut into: 82 thousand cells a class, fewer when there are many classes.

    A power of two that depends on nothing but the number of classes, so that tallies made apart agree.
    """
    steps = 1024
    while steps > 8 and classes * steps > 16 * 1024:
        steps //= 2
    return steps


def score_cells(classes: int) -> int:
    """How many cells of log-odds each of so many classes has."""
    return 2 * FARTHEST_LOG_ODDS * score_steps(classes)


def ordered_bits(values: npt.NDArray[np.float64]) -> Codes:
    """Integers in the order of the floats, one for each distinct value (0.0 and -0.0 are one)."""
    bits = values.view(np.int64)
    if not len(bits) or bits.min() >= 0:
        return bits
    bits = (values + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))


def from_ordered_bits(codes: Codes) -> npt.NDArray[np.float64]:
    """The floats that :func:`ordered_bits` was given."""
    return (codes ^ ((codes >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)

"""Keys: what the sums of a term are kept apart by.

The code of a key is an integer for each row. Codes that speak of classes hold the class in their upper half,
so that tallies over different sets of labels can be brought together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
Closed = Literal["right", "left"]

HALF = 32  # bits of a code below the class
LOWER = (1 << HALF) - 1

#: Log-odds beyond which scores share a cell; exp(-40) is 4e-18.
FARTHEST_LOG_ODDS = 40


@dataclass(frozen=True)
class Everything:
    """No key: one total over all rows."""

    @property
    def name(self) -> str:
        return "all rows"


@dataclass(frozen=True)
class Bins:
    """Bins of a column, cut at inner edges; ``closed`` says on which side an edge belongs to its bin."""

    column: Literal["confidence", "doubt"]
    edges: tuple[float, ...]
    closed: Closed
    name: str

    @property
    def size(self) -> int:
        return len(self.edges) + 1

    @property
    def step(self) -> float | None:
        """The width of the bins if the edges are its multiples to the last bit, as those of equal width are."""
        step = 1 / self.size
        return step if all(edge == i * step for i, edge in enumerate(self.edges, 1)) else None


@dataclass(frozen=True)
class ClassPair:
    """The pair (truth, predicted)."""

    @property
    def name(self) -> str:
        return "class pair"


@dataclass(frozen=True)
class Value:
    """The value of a column itself, to the last bit. Its tables grow with the data, so they are never kept."""

    column: Literal["confidence"]

    @property
    def name(self) -> str:
        return f"{self.column} itself"


@dataclass(frozen=True)
class ClassScore:
    """For each class, the score a row gives it: exact when a formula reads it, in cells when it is kept."""

    @property
    def name(self) -> str:
        return "class score"


@dataclass(frozen=True)
class Doubt:
    """The doubt itself while its values are few; else cells of it, but for the most extreme values."""

    @property
    def name(self) -> str:
        return "doubt"


@dataclass(frozen=True)
class Row:
    """Each row by itself, in the order given. Its tables are as long as the data, so they are never kept."""

    @property
    def name(self) -> str:
        return "row"


Key = Row | Everything | Bins | ClassPair | Value | ClassScore | Doubt

ALL_ROWS = Everything()
CLASS_PAIR = ClassPair()
CLASS_SCORE = ClassScore()
EACH_ROW = Row()
DOUBT_ITSELF = Doubt()
CONFIDENCE_ITSELF = Value("confidence")


def score_steps(n_classes: int) -> int:
    """How many cells a unit of log-odds is cut into: 82 thousand cells a class, fewer when there are many classes.

    A power of two that depends on nothing but the number of classes, so that tallies made apart agree.
    """
    steps = 1024
    while steps > 8 and n_classes * steps > 16 * 1024:
        steps //= 2
    return steps


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

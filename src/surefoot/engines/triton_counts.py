"""How many rows share each confidence of a narrow type and are right, or wrong, counted on a GPU.

Such a type has few numbers between a half and 1, float32 eight million: a billion rows are read once, and whatever is
made of confidence and correctness is then a sum over as many numbers, each with how many rows it stands for. Counts are
whole numbers, so that the order in which rows are counted does not show.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

_LANES = 1024
#: Counters that are kept in the cache; of more, each part has a pass over the rows.
_CACHED = 1 << 22
#: Powers of 2 down to which confidences are counted.
MOST_OCTAVES = 8
#: Rows that 32 bits can count.
MOST_ROWS = (1 << 31) - 1


class _Narrow(NamedTuple):
    """A narrow float type: integers of its size, the bits of a 1, and the bits that a power of 2 is cut into."""

    integers: Any
    one: int
    digits: int


_TYPES = {
    torch.float32: _Narrow(torch.int32, 0x3F800000, 23),
    torch.float16: _Narrow(torch.int16, 0x3C00, 10),
    torch.bfloat16: _Narrow(torch.int16, 0x3F80, 7),
}


class Counted(NamedTuple):
    """The distinct pairs of confidence and correctness, rising, and how many rows have each."""

    correct: Any
    confidence: Any
    times: Any


@triton.jit
def _count(correct, bits, counts, rows, start, stop, first, LANES: tl.constexpr):
    """Count the rows whose place, twice the bits of the confidence and 1 if it is correct, lies within a part."""
    at = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    inside = at < rows
    own = tl.load(bits + at, mask=inside, other=0).to(tl.int32)
    is_right = tl.load(correct + at, mask=inside, other=0) != 0
    place = (own - first) * 2 + is_right.to(tl.int32)
    tl.atomic_add(counts + place, 1, mask=inside & (place >= start) & (place < stop), sem="relaxed")


def takes(confidence: Any, least: float) -> bool:
    """Whether confidences, of which none is below ``least``, have few enough numbers to be counted."""
    return confidence.dtype in _TYPES and least >= 2.0**-MOST_OCTAVES and len(confidence) <= MOST_ROWS


def count(correct: Any, confidence: Any, least: float) -> Counted:
    """Count them."""
    kind, rows = _TYPES[confidence.dtype], len(confidence)
    octaves = next(octaves for octaves in range(MOST_OCTAVES + 1) if 2.0**-octaves <= least)
    first = kind.one - (octaves << kind.digits)
    # the places of 1 come last
    size = 2 * (kind.one - first + 1)
    counts = torch.zeros(size, dtype=torch.int32, device=confidence.device)
    bits = confidence.contiguous().view(kind.integers)
    # parts of one size: the places of 1, which are few, take no pass of their own
    part = triton.cdiv(size, max(1, size // _CACHED))
    for start in range(0, size, part):
        given = (correct.contiguous().view(torch.uint8), bits, counts, rows, start, min(size, start + part), first)
        _count[(triton.cdiv(rows, _LANES),)](*given, LANES=_LANES)
    (place,) = counts.nonzero(as_tuple=True)
    values = ((place >> 1) + first).to(kind.integers).view(confidence.dtype)
    return Counted((place & 1).bool(), values, counts[place])

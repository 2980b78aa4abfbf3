"""P(second label) in tensors, read in one pass: what is checked and what is predicted."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

_LANES = 1024


class Claimed(NamedTuple):
    """What a pass over P(second label) and true classes 0 and 1 found."""

    correct: Any
    predicted: Any
    #: Rows whose numbers or labels are not what is meant, that are 1 and of the second label, and that are near it.
    bad: int
    ones: int
    near: int


@triton.jit
def _claim(
    p,
    truth,
    correct,
    predicted,
    counts,
    rows,
    BOUND: tl.constexpr,
    LANES: tl.constexpr,
):
    program = tl.program_id(0)
    bad = tl.zeros([LANES], tl.int32)
    ones = tl.zeros([LANES], tl.int32)
    near = tl.zeros([LANES], tl.int32)
    # a bare literal may be rounded to float32 first
    bound = tl.full([1], BOUND, tl.float64)
    for tile in range(program, tl.cdiv(rows, LANES), tl.num_programs(0)):
        at = tl.cast(tile, tl.int64) * LANES + tl.arange(0, LANES)
        inside = at < rows
        own = tl.load(p + at, mask=inside, other=0.5).to(tl.float64)
        label = tl.load(truth + at, mask=inside, other=0)
        second = own > 0.5
        # nan is neither
        fits = (own >= 0.0) & (own <= 1.0) & (label >= 0) & (label <= 1)
        is_one = own == 1.0
        bad += (inside & (fits == 0)).to(tl.int32)
        ones += (inside & is_one).to(tl.int32)
        near += (inside & second & (own > bound)).to(tl.int32)
        tl.store(correct + at, (label == second.to(tl.int64)).to(tl.uint8), mask=inside)
        tl.store(predicted + at, second.to(tl.uint8), mask=inside)
    # whole numbers: the order in which they are added does not show
    tl.atomic_add(counts, tl.sum(bad).to(tl.int64))
    tl.atomic_add(counts + 1, tl.sum(ones).to(tl.int64))
    tl.atomic_add(counts + 2, tl.sum(near).to(tl.int64))


def claimed(p: Any, truth: Any, bound: float, programs: int) -> Claimed:
    """One pass over the rows by so many programs; numbers above the bound are near 1."""
    rows, device = len(p), p.device
    correct, predicted = torch.empty((2, rows), dtype=torch.uint8, device=device)
    programs = min(-(-rows // _LANES), programs)
    counts = torch.zeros(3, dtype=torch.int64, device=device)
    _claim[(programs,)](p.contiguous(), truth.contiguous(), correct, predicted, counts, rows, bound, LANES=_LANES)
    bad, ones, near = counts.tolist()
    return Claimed(correct.view(torch.bool), predicted, bad, ones, near)

"""Probabilities and logits in tensors, read in one pass: what is checked and what is predicted."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from surefoot.predictions.doubt import SMALLEST

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


def read_second(p: Any, truth: Any, bound: float, programs: int) -> Claimed:
    """One pass over the rows by so many programs; numbers above the bound are near 1."""
    rows, device = len(p), p.device
    correct, predicted = torch.empty((2, rows), dtype=torch.uint8, device=device)
    programs = min(-(-rows // _LANES), programs)
    counts = torch.zeros(3, dtype=torch.int64, device=device)
    _claim[(programs,)](p.contiguous(), truth.contiguous(), correct, predicted, counts, rows, bound, LANES=_LANES)
    bad, ones, near = counts.tolist()
    return Claimed(correct.view(torch.bool), predicted, bad, ones, near)


class Rows(NamedTuple):
    """What a pass over a table of probabilities or logits found, without a word to the host."""

    correct: Any
    predicted: Any
    confidence: Any
    doubt: Any


@triton.jit
def _read_row(
    values,
    truth,
    correct,
    predicted,
    confidence,
    doubt,
    counts,
    classes,
    LOGITS: tl.constexpr,
    LEAST: tl.constexpr,
    MOST: tl.constexpr,
    TOLERANCE: tl.constexpr,
    TINY: tl.constexpr,
    SIZE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, SIZE)
    inside = at < classes
    own = tl.load(values + row * classes + at, mask=inside, other=0.0).to(tl.float64)
    label = tl.load(truth + row)
    # bare literals may be rounded to float32 first
    tiny = tl.full([], TINY, tl.float64)
    tolerance = tl.full([], TOLERANCE, tl.float64)
    # nan is neither
    fits = (own >= LEAST) & (own <= MOST)
    shown = tl.where(inside, own, -float("inf"))
    largest = tl.max(shown, axis=0)
    # of equal ones the first
    top = tl.min(tl.where(shown == largest, at, SIZE), axis=0)
    is_other = inside & (at != top)
    if LOGITS:
        second = tl.max(tl.where(is_other, own, -float("inf")), axis=0)
        odds = largest - (second + tl.log(tl.sum(tl.where(is_other, tl.exp(own - second), 0.0), axis=0)))
        small = tl.exp(-tl.abs(odds))
        above = 1.0 / (1.0 + small)
        below = small / (1.0 + small)
        sure = tl.where(odds >= 0.0, above, below)
        rest = tl.maximum(tl.where(odds >= 0.0, below, above), tiny)
    else:
        sure = largest
        left = tl.sum(tl.where(is_other, own, 0.0), axis=0)
        is_off = (tl.abs(left + largest - 1.0) > tolerance).to(tl.int32)
        is_certain = (left == 0.0).to(tl.int32)
        # doubts above 0 have a finite reciprocal
        rest = tl.where(left > 0.0, tl.maximum(tl.minimum(left, 1.0), tiny), 0.0)
    is_bad = tl.max((inside & (fits == 0)).to(tl.int32), axis=0)
    is_foreign = ((label < 0) | (label >= classes)).to(tl.int32)
    tl.store(correct + row, (label == top).to(tl.uint8))
    tl.store(predicted + row, top.to(tl.int64))
    tl.store(confidence + row, sure)
    tl.store(doubt + row, rest)
    # whole numbers: the order in which they are added does not show
    tl.atomic_add(counts, is_bad.to(tl.int64), mask=is_bad > 0)
    tl.atomic_add(counts + 1, is_foreign.to(tl.int64), mask=is_foreign > 0)
    if not LOGITS:
        tl.atomic_add(counts + 2, is_off.to(tl.int64), mask=is_off > 0)
        tl.atomic_add(counts + 3, is_certain.to(tl.int64), mask=is_certain > 0)


def read_rows(values: Any, truth: Any, counts: Any, *, are_logits: bool, tolerance: float) -> Rows:
    """One pass over a table, a program a row; nothing waits for it.

    Added to ``counts``, four whole numbers, is how many rows have numbers that are not meant, a label that is no class,
    probabilities that do not add up to 1, and nothing left for other classes.
    """
    (rows, classes), device = values.shape, values.device
    correct = torch.empty(rows, dtype=torch.uint8, device=device)
    predicted = torch.empty(rows, dtype=torch.int64, device=device)
    confidence, doubt = torch.empty((2, rows), dtype=torch.float64, device=device)
    given = (values.contiguous(), truth.contiguous(), correct, predicted, confidence, doubt, counts)
    size, bound = triton.next_power_of_2(classes), sys.float_info.max
    _read_row[(rows,)](
        *given,
        classes,
        LOGITS=are_logits,
        LEAST=-bound if are_logits else 0.0,
        MOST=bound if are_logits else 1.0,
        TOLERANCE=tolerance,
        TINY=SMALLEST,
        SIZE=size,
        num_warps=4 if size <= 4096 else 16,
    )
    return Rows(correct.view(torch.bool), predicted, confidence, doubt)

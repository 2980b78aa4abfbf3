"""Pairs of positives and negatives counted along sorted scores on a GPU, in blocks that are each summed by themselves.

Torch's own running sums of a long tensor differ from run to run; these do not. Two passes over the sorted rows: what
each block comes to, and where its last group of equal scores ends; then, with what came before each block, the pairs.
Of many classes each has a program of its own, which walks along its blocks.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from surefoot.engines.triton import RANKED

_SCANNED = 1024


@triton.jit
def _larger(one, other):
    return tl.maximum(one, other)


@triton.jit
def _is_end(scores, at, rows):
    """Whether a row is the last of its score."""
    here = tl.load(scores + at, mask=at < rows, other=0.0)
    there = tl.load(scores + at + 1, mask=at + 1 < rows, other=0.0)
    return (at < rows) & ((here != there) | (at + 1 == rows))


@triton.jit
def file_block(scores, own, ordered, masses, ends, at, rows, block, blocks):
    """Keep the values of a block, what they come to, and what they had come to where its last group ended (or -1)."""
    tl.store(ordered + at, own, mask=at < rows)
    is_end = _is_end(scores, at, rows)
    positive = tl.cumsum(tl.maximum(own, 0.0))
    negative = tl.cumsum(tl.maximum(-own, 0.0))
    tl.store(masses + block, tl.max(positive))
    tl.store(masses + blocks + block, tl.max(negative))
    tl.store(ends + block, tl.max(tl.where(is_end, positive, -1.0)))
    tl.store(ends + blocks + block, tl.max(tl.where(is_end, negative, -1.0)))


@triton.jit
def _fetch(scores, values, order, ordered, masses, ends, rows, blocks, SIZE: tl.constexpr):
    """Bring values (positives above 0, negatives below) into order, and file them."""
    block = tl.program_id(0)
    at = block.to(tl.int64) * SIZE + tl.arange(0, SIZE)
    own = tl.load(values + tl.load(order + at, mask=at < rows, other=0), mask=at < rows, other=0.0)
    file_block(scores, own, ordered, masses, ends, at, rows, block, blocks)


@triton.jit
def _carry(masses, ends, before, ended, blocks, SIZE: tl.constexpr):
    """For each block the sum of the masses before it, and the sum where the last group before it ended."""
    start = tl.program_id(0).to(tl.int64) * blocks
    lanes = tl.arange(0, SIZE)
    none = tl.zeros([1], tl.float64)
    total = none
    reached = none
    for first in range(0, blocks, SIZE):
        at = first + lanes
        inside = at < blocks
        own = tl.load(masses + start + at, mask=inside, other=0.0)
        upto = total + tl.cumsum(own)
        earlier = upto - own
        end = tl.load(ends + start + at, mask=inside, other=-1.0)
        # sums do not fall, so that the last of them is the largest
        last = tl.maximum(tl.associative_scan(tl.where(end < 0.0, 0.0, earlier + end), 0, _larger), reached)
        tl.store(before + start + at, earlier, mask=inside)
        tl.store(ended + start + at + 1, last, mask=at + 1 < blocks)
        total = tl.max(upto, axis=0) + none
        reached = tl.max(last, axis=0) + none
    tl.store(ended + start + tl.arange(0, 1), none)


@triton.jit
def _count(scores, ordered, before, ended, pairs, rows, blocks, SIZE: tl.constexpr):
    """The pairs won and lost by the groups that end in each block: those below, and half of those they tie with."""
    block = tl.program_id(0)
    lanes = tl.arange(0, SIZE)
    at = block.to(tl.int64) * SIZE + lanes
    inside = at < rows
    own = tl.load(ordered + at, mask=inside, other=0.0)
    positive = tl.load(before + block) + tl.cumsum(tl.maximum(own, 0.0))
    negative = tl.load(before + blocks + block) + tl.cumsum(tl.maximum(-own, 0.0))
    # the group before a row's own ended where that one starts, less one
    here = tl.load(scores + at, mask=inside, other=0.0)
    earlier = tl.load(scores + at - 1, mask=inside & (at > 0), other=0.0)
    start = tl.associative_scan(tl.where((here != earlier) | (at == 0), lanes, -1), 0, _larger)
    ended_before = tl.maximum(start - 1, 0)
    before_positive = tl.where(start > 0, tl.gather(positive, ended_before, 0), tl.load(ended + block))
    before_negative = tl.where(start > 0, tl.gather(negative, ended_before, 0), tl.load(ended + blocks + block))
    won = (positive - before_positive) * (negative + before_negative) * 0.5
    lost = (negative - before_negative) * (positive + before_positive) * 0.5
    is_end = _is_end(scores, at, rows)
    tl.store(pairs + block, tl.sum(tl.where(is_end, won, 0.0)))
    tl.store(pairs + blocks + block, tl.sum(tl.where(is_end, lost, 0.0)))


class Pairs:
    """The pairs along rising scores. ``ordered`` and ``masses`` are to be filled before they are counted."""

    def __init__(self, scores: Any) -> None:
        self.scores = scores
        self.blocks = -(-len(scores) // RANKED)
        #: What each row adds, in order: to the positives above 0, to the negatives below.
        self.ordered = torch.empty(len(scores), dtype=torch.float64, device=scores.device)
        self.held = torch.empty((5, 2, self.blocks), dtype=torch.float64, device=scores.device)
        #: Of positives and of negatives, what each block adds, and what of it up to the last end of a group.
        self.masses, self.ends = self.held[1], self.held[2]

    def fetch(self, values: Any, order: Any) -> None:
        """Fill them with values that lie in another order."""
        filed = (self.ordered, self.masses, self.ends)
        _fetch[(self.blocks,)](self.scores, values, order, *filed, len(order), self.blocks, SIZE=RANKED)

    def count(self) -> tuple[float, float, float]:
        """Pairs won, pairs lost, and the mass of positives."""
        counted, masses, ends, before, ended = self.held
        _carry[(2,)](masses, ends, before, ended, self.blocks, SIZE=_SCANNED)
        given = (self.scores, self.ordered, before, ended, counted, len(self.scores), self.blocks)
        _count[(self.blocks,)](*given, SIZE=RANKED)
        (won, lost), (positives, _) = self.held[:2].sum(dim=2).tolist()
        return won, lost, positives


@triton.jit
def _count_class(scores, order, truth, up, down, pairs, rows, first, classes, SIZE: tl.constexpr):
    """The pairs of one class, whose scores rise: blocks one after the other, each with what came before it."""
    label = tl.program_id(0)
    start = label.to(tl.int64) * rows
    lanes = tl.arange(0, SIZE)
    none = tl.zeros([1], tl.float64)
    positive_before = none
    negative_before = none
    positive_ended = none
    negative_ended = none
    won = none
    lost = none
    for begin in range(0, rows, SIZE):
        at = begin + lanes
        inside = at < rows
        row = tl.load(order + start + at, mask=inside, other=0)
        is_positive = tl.load(truth + row, mask=inside, other=0) == label + first
        positive = positive_before + tl.cumsum(tl.load(up + row, mask=inside & is_positive, other=0.0))
        negative = negative_before + tl.cumsum(tl.load(down + row, mask=inside & (is_positive == 0), other=0.0))
        here = tl.load(scores + start + at, mask=inside, other=0.0)
        earlier = tl.load(scores + start + at - 1, mask=inside & (at > 0), other=0.0)
        later = tl.load(scores + start + at + 1, mask=at + 1 < rows, other=0.0)
        is_end = inside & ((here != later) | (at + 1 == rows))
        # the group before a row's own ended where that one starts, less one
        began = tl.associative_scan(tl.where((here != earlier) | (at == 0), lanes, -1), 0, _larger)
        before = tl.maximum(began - 1, 0)
        positive_there = tl.where(began > 0, tl.gather(positive, before, 0), positive_ended)
        negative_there = tl.where(began > 0, tl.gather(negative, before, 0), negative_ended)
        gained = (positive - positive_there) * (negative + negative_there) * 0.5
        given = (negative - negative_there) * (positive + positive_there) * 0.5
        won += tl.sum(tl.where(is_end, gained, 0.0))
        lost += tl.sum(tl.where(is_end, given, 0.0))
        # sums do not fall, so that the last of them is the largest
        positive_ended = tl.maximum(positive_ended, tl.max(tl.where(is_end, positive, 0.0)))
        negative_ended = tl.maximum(negative_ended, tl.max(tl.where(is_end, negative, 0.0)))
        positive_before = none + tl.max(positive)
        negative_before = none + tl.max(negative)
    one = tl.arange(0, 1)
    tl.store(pairs + label + one, won)
    tl.store(pairs + classes + label + one, lost)
    tl.store(pairs + 2 * classes + label + one, positive_before)


def count_classes(scores: Any, truth: Any, first: int, up: Any, down: Any) -> list[tuple[float, float, float]]:
    """For each row of a table, the scores of a class: pairs won, pairs lost, and the mass of positives.

    The first is of class ``first``. ``up`` is what a sample adds to the positives if it is of the class, ``down`` what
    it adds to the negatives if not.
    """
    classes, rows = scores.shape
    ordered, order = scores.sort(dim=1, stable=True)
    pairs = torch.empty((3, classes), dtype=torch.float64, device=scores.device)
    _count_class[(classes,)](ordered, order, truth, up, down, pairs, rows, first, classes, SIZE=RANKED)
    return [(won, lost, mass) for won, lost, mass in pairs.T.tolist()]

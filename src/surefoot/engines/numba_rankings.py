"""The source of the loops that sort rows by score and add up terms under each.

What each row adds is computed as the rows are read, and scattered with their codes into buckets of rising scores, small
enough that each is then sorted within the cache: by eleven bits at a time, the lowest first.
"""

from __future__ import annotations

from functools import lru_cache

from surefoot.core.term import Shape, Term, program_of
from surefoot.engines.numba import COLUMNS, HEAD, STRICT, Body

_SORTING = f'''
DIGIT = 2048


{STRICT}
def count(codes, least, shift, counts):
    """How many codes have each value of their upper bits."""
    for i in range(codes.shape[0]):
        counts[(codes[i] - least) >> shift] += 1


{STRICT}
def sort(keys, order, other_keys, other_order, counts):
    """Sort the keys of a bucket in place, and tell where each stood."""
    size = keys.shape[0]
    least, most = keys[0], keys[0]
    for j in range(size):
        least, most = min(least, keys[j]), max(most, keys[j])
        order[j] = j
    shift = 0
    swapped = False
    while shift < 63 and (most - least) >> shift:
        a, b = (other_keys, keys) if swapped else (keys, other_keys)
        a_order, b_order = (other_order, order) if swapped else (order, other_order)
        counts[:] = 0
        for j in range(size):
            counts[((a[j] - least) >> shift) & (DIGIT - 1)] += 1
        place = 0
        for value in range(DIGIT):
            here = counts[value]
            counts[value] = place
            place += here
        for j in range(size):
            value = ((a[j] - least) >> shift) & (DIGIT - 1)
            to = counts[value]
            counts[value] = to + 1
            b[to] = a[j]
            b_order[to] = a_order[j]
        swapped = not swapped
        shift += 11
    if swapped:
        keys[:] = other_keys[:size]
        order[:size] = other_order[:size]
'''


@lru_cache(maxsize=64)
def ranking_source(terms: tuple[Term, ...], shape: Shape) -> str:
    """The kernel for terms under a score: counting, placing and adding, each to be run over a part of the data."""
    body = Body(program_of(terms, shape))
    values, lines = body.results, body.indented()
    stores = "".join(f"        values[{j}, to] = {value}\n" for j, value in enumerate(values))
    begins = "".join(f"                values[{j}, at] = 0.0\n" for j in range(len(values)))
    adds = "".join(f"            values[{j}, at] += before[{j}, order[j]]\n" for j in range(len(values)))
    return f"""{HEAD}{_SORTING}

{STRICT}
def place(codes, least, shift, lookup, places, positive, {COLUMNS}, keys, values):
    for i in range(codes.shape[0]):
        bucket = lookup[(codes[i] - least) >> shift]
        to = places[bucket]
        places[bucket] = to + 1
        keys[to] = codes[i]
{lines}{stores}

{STRICT}
def add(keys, values, ends):
    largest = 0
    for bucket in range(ends.shape[0] - 1):
        largest = max(largest, ends[bucket + 1] - ends[bucket])
    other_keys, before = np.empty(largest, dtype=np.int64), np.empty(({len(values)}, largest))
    order, other_order = np.empty(largest, dtype=np.uint32), np.empty(largest, dtype=np.uint32)
    counts = np.empty(DIGIT, dtype=np.int64)
    at = ends[0] - 1
    for bucket in range(ends.shape[0] - 1):
        start, size = ends[bucket], ends[bucket + 1] - ends[bucket]
        if size == 0:
            continue
        sort(keys[start : start + size], order, other_keys, other_order, counts)
        before[:, :size] = values[:, start : start + size]
        for j in range(size):
            # what is written stands at or before what is read: distinct codes are never more than rows
            if j == 0 or keys[start + j] != keys[at]:
                at += 1
                keys[at] = keys[start + j]
{begins}{adds}    return at + 1 - ends[0]


run = (count, place, add)
"""


@lru_cache(maxsize=64)
def packed_source(winners: Term, losers: Term, shape: Shape) -> str:
    """The kernel for rows of two classes, each packed into a number: packing them, and counting pairs once sorted.

    A packed row is the bits of its score, and one more that says whether it is positive; its confidence follows from
    the score. ``pack`` tells whether it does in every row. ``pairs`` adds up, of each part between two edges, what the
    winners win, what the losers win, and the totals of both; rows of one score lie in one part.
    """
    body = Body(program_of((winners, losers), shape), column="{0}")
    win, lose = body.results
    return f"""{HEAD}
{STRICT}
def pack(scores, bits, positive, confidence, keys):
    follows = True
    for i in range(keys.shape[0]):
        score = scores[i]
        rest = 1.0 - score
        follows &= (score if score > rest else rest) == confidence[i]
        # 0 and -0 are one score
        keys[i] = ((bits[i] if score != 0.0 else 0) << 1) | positive[i]
    return follows


{STRICT}
def pairs(keys, edges, sums):
    for part in range(edges.shape[0] - 1):
        won, lost, winners, losers, own, other = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        last = np.int64(-1)
        for i in range(edges[part], edges[part + 1]):
            code = keys[i] >> 1
            if code != last:
                # what one side has below, and half of what it ties with
                won += own * (losers + other / 2)
                lost += other * (winners + own / 2)
                winners += own
                losers += other
                own, other, last = 0.0, 0.0, code
            score = np.int64(code).view(np.float64)
            rest = 1.0 - score
            confidence = score if score > rest else rest
            positive = np.float64(keys[i] & 1)
{body.indented().replace("        ", "            ")}            own += {win}
            other += {lose}
        sums[part, 0] = won + own * (losers + other / 2)
        sums[part, 1] = lost + other * (winners + own / 2)
        sums[part, 2] = winners + own
        sums[part, 3] = losers + other


run = (pack, pairs)
"""

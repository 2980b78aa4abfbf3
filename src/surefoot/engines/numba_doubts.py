"""The source of the loop that adds up terms under each doubt: a table of every value while they are few, then cells.

One pass. While distinct values are few they are found by hashing; when they are not, what they hold goes into cells,
but for the most extreme values at either end, which are kept apart in two short lists that rise. A value that a more
extreme one pushes out of its list goes into its cell.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.doubt_table import CELLS, CUT, CUTS, EXACT, EXTREMES, FEW, LAST, DoubtTable
from surefoot.core.table import Sums
from surefoot.core.term import Shape, Term, program_of
from surefoot.engines.numba import COLUMNS, HEAD, STRICT, Body
from surefoot.engines.rows import BLOCK

#: Places in the hash table, a power of two; rows after which sums are added up with their rounding errors.
_PLACES_BITS, _FLUSH = 14, 1 << 16
#: Values apart have their totals after those of the cells.
SLOTS = CELLS + FEW + 1

_STATE = f"""
CELLS, FEW, EXTREMES, LAST, CUT = {CELLS}, {FEW}, {EXTREMES}, {LAST}, {CUT}
EXACT = np.int64({int(EXACT)})
PLACES, SHIFT = {1 << _PLACES_BITS}, np.uint64({64 - _PLACES_BITS})
MODE, COUNT, LOW, HIGH, ROWS, FIRST, STOP = 0, 1, 2, 3, 4, 5, 6


{STRICT}
def cell_of(lesser, bits, is_doubt):
    cell = bits >> CUT
{"".join(f"    cell += lesser >= {cut!r}" + chr(10) for cut in CUTS)}
    return cell if is_doubt else LAST - cell


{STRICT}
def spread(code):
    return np.int64((np.uint64(code) * np.uint64(11400714819323198485)) >> SHIFT)


{STRICT}
def hashed(code, state, places, numbers):
    \"\"\"The slot of a value while values are few; -1 if it would be one too many.\"\"\"
    place = spread(code)
    while places[place] != 0:
        if places[place] == code:
            return CELLS + numbers[place]
        place = (place + 1) & (PLACES - 1)
    if state[COUNT] == FEW:
        return np.int64(-1)
    places[place] = code
    numbers[place] = state[COUNT]
    state[COUNT] += 1
    return CELLS + numbers[place]


{STRICT}
def plus(at, more, less, sums):
    \"\"\"A total and its rounding error, added to another, with what the addition rounds away (Knuth's two-sum).\"\"\"
    part, high, low = sums
    total = high[at] + more
    back = total - high[at]
    lost = (high[at] - (total - back)) + (more - back)
    high[at] = total
    if np.isfinite(total):
        low[at] += less + lost


{STRICT}
def moved(source, target, width, state, sums):
    \"\"\"What one slot holds, added to another.\"\"\"
    part, high, low = sums
    for j in range(width):
        a, b = source * width + j, target * width + j
        part[b] += part[a]
        plus(b, high[a], low[a], sums)
        part[a] = 0.0
        high[a] = 0.0
        low[a] = 0.0
    state[FIRST], state[STOP] = min(state[FIRST], target), max(state[STOP], target + 1)


{STRICT}
def flush(width, state, sums):
    \"\"\"Sums since the last time, added to the totals: of the cells that were touched, and of values apart.\"\"\"
    part, high, low = sums
    for j in range(state[FIRST] * width, state[STOP] * width):
        plus(j, part[j], 0.0, sums)
        part[j] = 0.0
    for j in range(CELLS * width, (CELLS + FEW) * width):
        if part[j] != 0.0:
            plus(j, part[j], 0.0, sums)
            part[j] = 0.0
    state[ROWS], state[FIRST], state[STOP] = 0, CELLS, 0


{STRICT}
def apart(value, is_doubt, count, values, slots, first, width, state, places, sums):
    \"\"\"The slot of a value among the most extreme of its side, put in order; -1 if it is none of them.\"\"\"
    lower, upper = 0, count
    while lower < upper:
        middle = (lower + upper) // 2
        if values[middle] < value:
            lower = middle + 1
        else:
            upper = middle
    if lower < count and values[lower] == value:
        return slots[lower], count
    if count == EXTREMES:
        if lower == EXTREMES:
            return np.int64(-1), count
        slot = slots[EXTREMES - 1]
        gone = values[EXTREMES - 1 : EXTREMES]
        bits = gone.view(np.int64)[0]
        moved(slot, cell_of(gone[0], bits, is_doubt), width, state, sums)
        code = EXACT + bits if is_doubt else -1 - bits
        if places[spread(code)] == code:
            places[spread(code)] = 0
    else:
        slot = np.int64(first + count)
        count += 1
    for k in range(count - 1, lower, -1):
        values[k] = values[k - 1]
        slots[k] = slots[k - 1]
    values[lower] = value
    slots[lower] = slot
    return slot, count


{STRICT}
def placed(value, bits, is_doubt, width, state, places, numbers, lists, sums):
    \"\"\"The slot of a value once values are many: its own if it is extreme, else its cell's.\"\"\"
    low_values, low_slots, high_values, high_slots = lists
    # many rows may share a value: where it was last found is remembered
    code = EXACT + bits if is_doubt else -1 - bits
    place = spread(code)
    if places[place] == code:
        return CELLS + numbers[place]
    slot = np.int64(-1)
    if is_doubt:
        count = state[LOW]
        if count < EXTREMES or value <= low_values[EXTREMES - 1]:
            slot, state[LOW] = apart(value, True, count, low_values, low_slots, CELLS, width, state, places, sums)
    else:
        count = state[HIGH]
        if count < EXTREMES or value <= high_values[EXTREMES - 1]:
            first = CELLS + EXTREMES
            slot, state[HIGH] = apart(value, False, count, high_values, high_slots, first, width, state, places, sums)
    if slot < 0:
        return cell_of(value, bits, is_doubt)
    places[place], numbers[place] = code, slot - CELLS
    return slot


{STRICT}
def into_cells(width, state, places, numbers, lists, sums):
    \"\"\"Values have become many: the most extreme stay apart, the others go into their cells.\"\"\"
    part, high, low = sums
    flush(width, state, sums)
    count = state[COUNT]
    codes = np.zeros(count, dtype=np.int64)
    for place in range(PLACES):
        if places[place] != 0:
            codes[numbers[place]] = places[place]
    old_high = high[CELLS * width : (CELLS + count) * width].copy()
    old_low = low[CELLS * width : (CELLS + count) * width].copy()
    high[CELLS * width : (CELLS + count) * width] = 0.0
    low[CELLS * width : (CELLS + count) * width] = 0.0
    places[:] = 0
    state[MODE] = 1
    bits = np.zeros(1, dtype=np.int64)
    number = bits.view(np.float64)
    for k in range(count):
        is_doubt = codes[k] >= EXACT
        bits[0] = codes[k] - EXACT if is_doubt else -1 - codes[k]
        slot = placed(number[0], bits[0], is_doubt, width, state, places, numbers, lists, sums)
        for j in range(width):
            plus(slot * width + j, old_high[k * width + j], old_low[k * width + j], sums)
"""


class Columns(NamedTuple):
    """The place of each term among the values of a slot, and how many values that are; the last counts rows."""

    places: dict[str, int]
    width: int


@lru_cache(maxsize=64)
def doubt_source(terms: tuple[Term, ...], shape: Shape) -> tuple[str, Columns]:
    """The kernel for these terms, and where each stands among the values that it adds up."""
    own = (Term("doubt", lambda row: row.doubt), Term("confidence", lambda row: row.confidence))
    body = Body(program_of((*own, *terms), shape))
    doubt, confidence = body.results[:2]
    values = {term.name: value for term, value in zip(terms, body.results[2:], strict=True)}
    distinct = [value for value in dict.fromkeys(values.values()) if value != "1.0"]
    width = len(distinct) + 1
    loop = body.indented()
    kept = "".join(f"        scratch[{j}, i] = {value}\n" for j, value in enumerate(distinct))
    adds = "".join(f"        part[at + np.uintp({j})] += scratch[{j}, i]\n" for j in range(len(distinct)))
    block = ", ".join(f"{column}[start:stop]" for column in COLUMNS.split(", "))
    source = f"""{HEAD}{_STATE}

{STRICT}
def look({COLUMNS}, lesser, is_doubt, scratch):
    \"\"\"What each row of a block adds, and the lesser of its doubt and its confidence.\"\"\"
    for i in range(confidence.shape[0]):
{loop}        is_doubt[i] = {doubt} <= {confidence}
        # so that -0.0 is 0.0
        lesser[i] = ({doubt} if {doubt} <= {confidence} else {confidence}) + 0.0
{kept}

{STRICT}
def cells_of(rows, lesser, bits, is_doubt, low_limit, high_limit, slots):
    \"\"\"The cell of each row; -1 where the value may be one to keep apart.\"\"\"
    for i in range(rows):
        cell = cell_of(lesser[i], bits[i], is_doubt[i])
        slots[i] = -1 if lesser[i] <= (low_limit if is_doubt[i] else high_limit) else cell


{STRICT}
def add(rows, lesser, bits, is_doubt, slots, scratch, state, places, numbers, lists, sums):
    part = sums[0]
    least, most = np.int64(CELLS), np.int64(-1)
    for i in range(rows):
        slot = slots[i]
        if slot < 0 and state[MODE] == 0:
            code = EXACT + bits[i] if is_doubt[i] else -1 - bits[i]
            slot = hashed(code, state, places, numbers)
            if slot < 0:
                into_cells({width}, state, places, numbers, lists, sums)
        if slot < 0:
            slot = placed(lesser[i], bits[i], is_doubt[i], {width}, state, places, numbers, lists, sums)
        if slot < CELLS:
            least, most = min(least, slot), max(most, slot)
        at = np.uintp(slot * {width})
{adds}        part[at + np.uintp({width - 1})] += 1.0
    state[ROWS] += rows
    state[FIRST], state[STOP] = min(state[FIRST], least), max(state[STOP], most + 1)


{STRICT}
def run({COLUMNS}, state, places, numbers, lists, sums):
    lesser, scratch = np.empty({BLOCK}), np.empty(({width}, {BLOCK}))
    bits = lesser.view(np.int64)
    is_doubt = np.empty({BLOCK}, dtype=np.bool_)
    slots = np.full({BLOCK}, -1, dtype=np.int64)
    low_values, low_slots, high_values, high_slots = lists
    for start in range(0, confidence.shape[0], {BLOCK}):
        stop = min(start + {BLOCK}, confidence.shape[0])
        look({block}, lesser, is_doubt, scratch)
        if state[MODE] == 1:
            low_limit = low_values[EXTREMES - 1] if state[LOW] == EXTREMES else np.inf
            high_limit = high_values[EXTREMES - 1] if state[HIGH] == EXTREMES else np.inf
            cells_of(stop - start, lesser, bits, is_doubt, low_limit, high_limit, slots)
        add(stop - start, lesser, bits, is_doubt, slots, scratch, state, places, numbers, lists, sums)
        if state[ROWS] >= {_FLUSH}:
            flush({width}, state, sums)
    flush({width}, state, sums)
"""
    places = {name: distinct.index(value) if value != "1.0" else width - 1 for name, value in values.items()}
    return source, Columns(places, width)


class State:
    """What the kernel writes into, and the table that is read from it."""

    def __init__(self, columns: Columns) -> None:
        self.columns, self.width = columns.places, columns.width
        self.state = np.array([0, 0, 0, 0, 0, CELLS, 0], dtype=np.int64)
        self.places, self.numbers = (np.zeros(1 << _PLACES_BITS, dtype=np.int64) for _ in range(2))
        #: The most extreme values of either side, rising, and the slots of their totals.
        self.low, self.high = ((np.zeros(EXTREMES), np.zeros(EXTREMES, dtype=np.int64)) for _ in range(2))
        # pages that are never touched take no memory
        part, self.totals, self.errors = (np.zeros(SLOTS * self.width) for _ in range(3))
        self.sums = (part, self.totals, self.errors)

    def arguments(self) -> tuple[Any, ...]:
        return self.state, self.places, self.numbers, (*self.low, *self.high), self.sums

    def table(self) -> DoubtTable:
        """The totals by doubt."""
        if self.state[0] == 0:
            used = self.places != 0
            codes, slots = self.places[used], CELLS + self.numbers[used]
        else:
            low, high = int(self.state[2]), int(self.state[3])
            cells = np.flatnonzero(self.totals[self.width - 1 : CELLS * self.width : self.width])
            doubts, confidences = self.low[0][:low].view(np.int64), self.high[0][:high].view(np.int64)
            codes = np.concatenate([EXACT + doubts, -1 - confidences, cells])
            slots = np.concatenate([self.low[1][:low], self.high[1][:high], cells])
        order = np.argsort(codes)
        at = slots[order] * self.width
        named = {
            name: Sums(self.totals[at + column], self.errors[at + column]) for name, column in self.columns.items()
        }
        return DoubtTable(codes[order], named)

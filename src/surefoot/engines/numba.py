"""From terms to the source of one loop over rows.

The terms of a request are written out as straight-line arithmetic, with common parts shared, in one function a key:
sums without key in a loop that the compiler vectorises, sums in cells in a loop of their own. Blocks of rows are read
by all of them while they are in the cache, and added up with their rounding errors.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from surefoot.core.expression import Program
from surefoot.core.keys import Key
from surefoot.core.table import Sums, Table
from surefoot.core.term import Shape, Term, program_of
from surefoot.engines.rows import BLOCK
from surefoot.errors import UnsupportedKey

COLUMNS = "correct, confidence, doubt, weight, truth, predicted"
#: Histograms side by side, so that rows of one cell do not wait for each other.
_LANES = 4
_TEXTS: dict[str, str] = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} / {1}",
    # of classes that are not true it is asked of 1 in nearly every row
    "log": "0.0 if {0} == 1.0 else np.log({0})",
    "reciprocal": "0.0 if {0} == 0.0 else 1.0 / {0}",
    "greater": "1.0 if {0} > {1} else 0.0",
    "at_least": "1.0 if {0} >= {1} else 0.0",
    "equal": "1.0 if {0} == {1} else 0.0",
    "floor": "np.floor({0})",
    "lesser": "{0} if {0} < {1} else {1}",
    "clip": "{1} if {0} < {1} else {2} if {0} > {2} else {0}",
}


class Body:
    """The lines of a loop body that evaluate a program, each value named once."""

    def __init__(self, steps: Program, column: str = "np.float64({0}[i])") -> None:
        self.lines: list[str] = []
        #: What each step comes to: the name of a value, or a number.
        names: list[str] = []
        for operation, arguments in steps.steps:
            if operation == "constant":
                names.append(repr(arguments[0]))
                continue
            if operation == "column":
                text = column.format(arguments[0])
            elif operation in _TEXTS:
                text = _TEXTS[operation].format(*(names[at] for at in arguments))
            else:
                raise UnsupportedKey("Numba", operation)
            names.append(f"v{len(self.lines)}")
            self.lines.append(f"{names[-1]} = {text}")
        self.results = [names[result] for result in steps.results]

    def indented(self) -> str:
        return "".join(f"        {line}\n" for line in self.lines)


class Part(NamedTuple):
    """Where the totals of one key stand in a kernel's results: a row of ``width`` numbers for each of its cells."""

    key: Key
    offset: int
    size: int
    width: int
    #: The number of each term in the row; terms that come to the same share one.
    columns: dict[str, int]


class Plan(NamedTuple):
    """A kernel's source, and where its results stand."""

    source: str
    size: int
    parts: tuple[Part, ...]

    def read(self, total: Sums, classes: int) -> dict[str, Table]:
        """The tables of all keys, of which those of classes hold the cells that occur."""
        tables = {}
        for part in self.parts:
            here = slice(part.offset, part.offset + part.size * part.width)
            high, low = (numbers[here].reshape(part.size, part.width) for numbers in (total.high, total.low))
            cells = np.flatnonzero(high[:, -1]) if part.key.classes else np.arange(part.size)
            totals = {name: Sums(high[cells, at], low[cells, at]) for name, at in part.columns.items()}
            tables[part.key.name] = Table(part.key.codes_of(cells, classes), totals, part.key.classes)
        return tables


@lru_cache(maxsize=256)
def plan(by_key: tuple[tuple[Key, tuple[Term, ...]], ...], shape: Shape, classes: int = 0) -> Plan:
    """Write the kernel for these terms."""
    functions, calls, scratch, parts = [], [], [], []
    offset = 0
    for number, (key, terms) in enumerate(by_key):
        body, places = Body(program_of(terms, shape)), Body(program_of((), shape, key))
        distinct = list(dict.fromkeys(body.results))
        columns = {term.name: distinct.index(value) for term, value in zip(terms, body.results, strict=True)}
        if key.classes:
            # rows are counted too, so that the cells of classes that occur are known
            distinct = [*(value for value in distinct if value != "1.0"), "1.0"]
            columns = {term.name: distinct.index(value) for term, value in zip(terms, body.results, strict=True)}
        sizes = key.sizes(classes)
        size = prod(sizes)
        parts.append(Part(key, offset, size, len(distinct), columns))
        if key.digits:
            functions.append(_cells(number, places, sizes, body, distinct, offset))
            calls.append(f"part_{number}({_BLOCK_COLUMNS}, block, lanes_{number}, places)")
            scratch.append(f"lanes_{number} = np.empty({_LANES * size * len(distinct)})")
        else:
            functions.append(_sums(number, body, distinct, offset))
            calls.append(f"part_{number}({_BLOCK_COLUMNS}, block)")
        offset += size * len(distinct)
    source = "\n".join([HEAD, *functions, _run(calls, scratch, offset)])
    return Plan(source, offset, tuple(parts))


HEAD = '''"""Generated by surefoot."""

import numpy as np
from numba import njit

'''

# sums may be taken in any order within a block, which is what lets them be vectorised; infinities keep their meaning
_FAST = '@njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})'
STRICT = '@njit(nogil=True, cache=True, error_model="numpy")'
_BLOCK_COLUMNS = ", ".join(f"{column}[start:stop]" for column in COLUMNS.split(", "))


def _sums(number: int, body: Body, values: list[str], offset: int) -> str:
    # what is the same number on every row needs no loop
    summed = [value for value in values if value.startswith("v")]
    start = "".join(f"    s_{value} = 0.0\n" for value in summed)
    lines = "".join(f"        {line}\n" for line in [*body.lines, *(f"s_{value} += {value}" for value in summed)])
    loop = f"    for i in range(confidence.shape[0]):\n{lines}" if summed else ""
    ends = "".join(
        f"    block[{offset + i}] = {f's_{value}' if value in summed else f'{value} * confidence.shape[0]'}\n"
        for i, value in enumerate(values)
    )
    return f"{_FAST}\ndef part_{number}({COLUMNS}, block):\n{start}{loop}{ends}"


def _cells(number: int, places: Body, sizes: list[int], body: Body, values: list[str], offset: int) -> str:
    """First the cell of every row of the block, in a loop that vectorises; then the sums, cell by cell."""
    size, width = prod(sizes), len(values)
    cell = places.results[0]
    for digit, one in zip(places.results[1:], sizes[1:], strict=True):
        cell = f"({cell}) * {float(one)!r} + {digit}"
    # unsigned, so that no index is looked at for being counted from the end
    adds = "".join(f"        lanes[at + np.uintp({j})] += {value}\n" for j, value in enumerate(values))
    added = " + ".join(f"lanes[{lane * size * width} + j]" for lane in range(_LANES))
    return (
        f"{STRICT}\ndef places_{number}({COLUMNS}, places):\n"
        f"    for i in range(confidence.shape[0]):\n{places.indented()}        places[i] = np.int32({cell})\n\n"
        f"{STRICT}\ndef part_{number}({COLUMNS}, block, lanes, places):\n"
        f"    lanes[:] = 0.0\n"
        f"    places_{number}({COLUMNS}, places)\n"
        f"    for i in range(confidence.shape[0]):\n{body.indented()}"
        f"        at = np.uintp(((i & {_LANES - 1}) * {size} + places[i]) * {width})\n{adds}"
        f"    for j in range({size * width}):\n        block[{offset} + j] = {added}\n"
    )


def _run(calls: list[str], scratch: list[str], size: int) -> str:
    prepared = "\n".join(
        f"    {line}" for line in [f"block = np.zeros({size})", f"places = np.empty({BLOCK}, dtype=np.int32)", *scratch]
    )
    done = "\n".join(f"        {call}" for call in calls)
    return f"""
{STRICT}
def run({COLUMNS}, high, low):
{prepared}
    for start in range(0, confidence.shape[0], {BLOCK}):
        stop = start + {BLOCK}
{done}
        # Knuth's two-sum: what each addition rounds away is carried along
        for j in range({size}):
            total = high[j] + block[j]
            back = total - high[j]
            lost = (high[j] - (total - back)) + (block[j] - back)
            high[j] = total
            if np.isfinite(total):
                low[j] += lost
"""

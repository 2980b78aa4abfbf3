"""From terms to the source of one loop over rows.

The terms of a request are written out as straight-line arithmetic, with common parts shared, in one function a key:
sums without key in a loop that the compiler vectorises, sums under bins in a loop of their own. Blocks of rows are read
by all of them while they are in the cache, and added up with their rounding errors.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from surefoot.core.expression import Expression, SymbolicRow
from surefoot.core.keys import Bins, Everything
from surefoot.core.term import Term
from surefoot.engines.rows import BLOCK

COLUMNS = "correct, confidence, doubt, weight"
_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
#: Histograms side by side, so that rows of one bin do not wait for each other.
_LANES = 4
#: Up to this many bins, a row is compared with every edge: that vectorises.
_COUNTED_EDGES = 32


class Shape(NamedTuple):
    """What of the columns is stored: the rest is arithmetic in the loop."""

    stores_doubt: bool
    is_weighted: bool


class Body:
    """The lines of a loop body, each value named once."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.lines: list[str] = []
        self.names: dict[Any, str] = {}

    def value(self, expression: Expression | float) -> str:
        """The name, or the number, that an expression has in the loop."""
        if not isinstance(expression, Expression):
            return repr(expression)
        if id(expression) not in self.names:
            self.names[id(expression)] = self._write(expression)
        return self.names[id(expression)]

    def _write(self, expression: Expression) -> str:
        operation = expression.operation
        if operation == "column":
            return self.column(expression.arguments[0])
        parts = [self.value(argument) for argument in expression.arguments]
        known = _simplified(operation, *parts)
        if known is not None:
            return known
        if operation in _SYMBOLS:
            return self._named(f" {_SYMBOLS[operation]} ".join(parts))
        if operation == "log":
            return self._named(f"np.log({parts[0]})")
        if operation == "reciprocal":
            return self._named(f"0.0 if {parts[0]} == 0.0 else 1.0 / {parts[0]}")
        comparison = {"greater": ">", "equal": "=="}[operation]
        return self._named(f"1.0 if {parts[0]} {comparison} {parts[1]} else 0.0")

    def column(self, column: str) -> str:
        if column == "one" or (column == "weight" and not self.shape.is_weighted):
            return "1.0"
        if column == "negative":
            return self._named(f"1.0 - {self.column('positive')}")
        if column == "wrong":
            return self._named(f"1.0 - {self.column('correct')}")
        if column == "doubt" and not self.shape.stores_doubt:
            return self._named(f"1.0 - {self.column('confidence')}")
        return self._named(f"np.float64({column}[i])")

    def _named(self, text: str) -> str:
        if text not in self.names:
            self.names[text] = f"v{len(self.lines)}"
            self.lines.append(f"{self.names[text]} = {text}")
        return self.names[text]


def _simplified(operation: str, *parts: str) -> str | None:
    """What arithmetic with 0 and 1 comes to; without weights much of it does."""
    if operation == "multiply" and "1.0" in parts:
        return parts[1] if parts[0] == "1.0" else parts[0]
    if operation == "multiply" and "0.0" in parts:
        return "0.0"
    if operation == "add" and "0.0" in parts:
        return parts[1] if parts[0] == "0.0" else parts[0]
    if operation in ("greater", "equal") and all(part in ("0.0", "1.0") for part in parts):
        holds = parts[0] > parts[1] if operation == "greater" else parts[0] == parts[1]
        return "1.0" if holds else "0.0"
    return None


class Part(NamedTuple):
    """Where the totals of one key stand in a kernel's results: a row of ``width`` numbers for each of its codes."""

    key: Everything | Bins
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


@lru_cache(maxsize=256)
def plan(by_key: tuple[tuple[Everything | Bins, tuple[Term, ...]], ...], shape: Shape) -> Plan:
    """Write the kernel for these terms."""
    functions, calls, scratch, parts = [], [], [], []
    offset = 0
    for number, (key, terms) in enumerate(by_key):
        body = Body(shape)
        x = body.value(getattr(SymbolicRow(), key.column)) if isinstance(key, Bins) else ""
        values = {term.name: body.value(term.traced) for term in terms}
        distinct = list(dict.fromkeys(values.values()))
        size = key.size if isinstance(key, Bins) else 1
        columns = {name: distinct.index(value) for name, value in values.items()}
        parts.append(Part(key, offset, size, len(distinct), columns))
        if isinstance(key, Bins):
            functions.append(_bins(number, key, x, body, distinct, offset))
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


def _bins(number: int, key: Bins, x: str, body: Body, values: list[str], offset: int) -> str:
    """First the bin of every row of the block, in a loop that vectorises; then the sums, bin by bin."""
    loop = "".join(f"        {line}\n" for line in body.lines)
    width, total = len(values), len(values) * key.size
    # unsigned, so that no index is looked at for being counted from the end
    adds = "".join(f"        lanes[at + np.uintp({j})] += {value}\n" for j, value in enumerate(values))
    added = " + ".join(f"lanes[{lane * total} + j]" for lane in range(_LANES))
    return (
        f"EDGES_{number} = np.array({list(key.edges)!r})\n\n"
        f"{STRICT}\ndef places_{number}({COLUMNS}, places):\n"
        f"    for i in range(confidence.shape[0]):\n{loop}{_place(number, key, x)}        places[i] = k\n\n"
        f"{STRICT}\ndef part_{number}({COLUMNS}, block, lanes, places):\n"
        f"    lanes[:] = 0.0\n"
        f"    places_{number}({COLUMNS}, places)\n"
        f"    for i in range(confidence.shape[0]):\n{loop}"
        f"        at = np.uintp(((i & {_LANES - 1}) * {key.size} + places[i]) * {width})\n{adds}"
        f"    for j in range({total}):\n        block[{offset} + j] = {added}\n"
    )


def _place(number: int, key: Bins, x: str) -> str:
    """Lines that set k to the bin of x: how many inner edges it has passed."""
    passed = ">" if key.closed == "right" else ">="
    step = key.step
    if step is not None:
        # a guess, mended by comparison with the edges on both sides: multiples of the step, to the last bit
        return (
            f"        g = np.floor({x} * {float(key.size)!r})\n"
            f"        g += 1.0 if {x} {passed} (g + 1.0) * {step!r} else 0.0\n"
            f"        g -= 0.0 if {x} {passed} g * {step!r} else 1.0\n"
            f"        g = 0.0 if g < 0.0 else g\n"
            f"        k = np.int32({float(key.size - 1)!r} if g > {float(key.size - 1)!r} else g)\n"
        )
    if key.size <= _COUNTED_EDGES:
        return "        k = np.int32(0)\n" + "".join(
            f"        k += np.int32({x} {passed} {edge!r})\n" for edge in key.edges
        )
    return (
        f"        k = np.int32(0)\n"
        f"        while k < {key.size - 1} and {x} {passed} EDGES_{number}[k]:\n            k += 1\n"
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

"""Row expressions: what a term says, written once and evaluated by every engine.

A term is called with a symbolic row and becomes a small graph of arithmetic, comparisons and ``log``.
Equal parts are one object, so an engine that remembers what it has evaluated shares them for free.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from operator import eq, ge, gt, mul, sub
from typing import Any, NamedTuple


class Expression:
    """A number for each row, built from columns. Comparisons give 1 where they hold and 0 elsewhere."""

    __slots__ = ("arguments", "operation")

    operation: str
    arguments: tuple[Any, ...]

    def __bool__(self) -> bool:
        raise TypeError("a term is arithmetic on whole columns; it cannot branch on a value")

    def __add__(self, other: Any) -> Expression:
        return _node("add", self, other)

    def __radd__(self, other: Any) -> Expression:
        return _node("add", other, self)

    def __sub__(self, other: Any) -> Expression:
        return _node("subtract", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _node("subtract", other, self)

    def __mul__(self, other: Any) -> Expression:
        return _node("multiply", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _node("multiply", other, self)

    def __truediv__(self, other: Any) -> Expression:
        return _node("divide", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _node("divide", other, self)

    def __pow__(self, power: int) -> Expression:
        if power != 2:
            raise TypeError(f"terms support squares, not powers of {power!r}")
        return _node("multiply", self, self)

    def __neg__(self) -> Expression:
        return _node("subtract", 0.0, self)

    def __gt__(self, other: Any) -> Expression:
        return _node("greater", self, other)

    def __lt__(self, other: Any) -> Expression:
        return _node("greater", other, self)

    def __ge__(self, other: Any) -> Expression:
        return _node("at_least", self, other)

    def __le__(self, other: Any) -> Expression:
        return _node("at_least", other, self)

    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        return _node("equal", self, other)

    __hash__ = None  # type: ignore[assignment]


def log(x: Expression) -> Expression:
    """Natural logarithm of each row's number; minus infinity at 0."""
    return _node("log", x)


def reciprocal(x: Expression) -> Expression:
    """1/x, and 0 where x is 0."""
    return _node("reciprocal", x)


def floor(x: Expression) -> Expression:
    """The largest whole number that is not above x."""
    return _node("floor", x)


def lesser(a: Any, b: Any) -> Expression:
    """The smaller of two numbers."""
    return _node("lesser", a, b)


def clip(x: Any, least: float, most: float) -> Expression:
    """x, brought into [least, most]."""
    return _node("clip", x, least, most)


def octave_cell(x: Expression) -> Expression:
    """The cell of a number from 0 to 1, 64 for every factor of two: 65,472 for 1, fewer for less, and 0 for 0.

    Engines that see the bits of a number cut each octave into equal parts, others into equal ratios.
    """
    return _node("octave_cell", x)


class SymbolicRow:
    """Stands for any row: its attributes are the columns, as expressions.

    ``correct``, ``wrong``, ``confidence``, ``doubt``, ``weight`` and ``one``; ``truth`` and ``predicted`` are the
    positions of the labels among the classes. Where each row is looked at once for each class: ``positive`` and
    ``negative``, whether the row is of the class or not, and ``log_odds``, those that the row gives to it.
    """

    def __getattr__(self, column: str) -> Expression:
        return _node("column", column)


ROW = SymbolicRow()


_known: dict[tuple[Any, ...], Expression] = {}
_lock = threading.Lock()


def _node(operation: str, *arguments: Any) -> Expression:
    """The one expression that says this: made on first mention, found again later."""
    arguments = tuple(_operand(argument) for argument in arguments)
    identity = (operation, *(id(a) if isinstance(a, Expression) else a for a in arguments))
    with _lock:
        node = _known.get(identity)
        if node is None:
            node = _known[identity] = object.__new__(Expression)
            node.operation, node.arguments = operation, arguments
        return node


def _operand(value: Any) -> Any:
    if isinstance(value, Expression | str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a term combines columns and plain numbers, not {value!r}")
    return float(value)


def trace(expression: Callable[[Any], Any]) -> Expression:
    """The graph of a row expression, found by calling it once with a symbolic row."""
    traced = expression(ROW)
    return traced if isinstance(traced, Expression) else _node("multiply", ROW.one, traced)


class Program(NamedTuple):
    """Expressions as a list of steps, each of operations on earlier ones: what they share is done once."""

    #: (operation, arguments): of a column its name, of a constant its value, else the numbers of earlier steps.
    steps: tuple[tuple[str, tuple[Any, ...]], ...]
    #: The step that gives each expression.
    results: tuple[int, ...]


#: Columns that are 1 less another.
COMPLEMENTS = {"wrong": "correct", "negative": "positive", "doubt": "confidence"}


def program(
    expressions: Iterable[Expression], ones: tuple[str, ...] = (), stored: tuple[str, ...] = ("doubt",)
) -> Program:
    """The steps that evaluate some expressions, with constants folded.

    Columns in ``ones`` are 1 on every row, and fall out of products. Of those that are 1 less another, only the
    ``stored`` ones are asked of the engine; the others become subtractions.
    """
    steps: list[tuple[str, tuple[Any, ...]]] = []
    numbers: dict[Any, int] = {}

    def number(operation: str, arguments: tuple[Any, ...]) -> int:
        step = (operation, arguments)
        if step not in numbers:
            steps.append(step)
            numbers[step] = len(steps) - 1
        return numbers[step]

    def constant(at: int) -> float | None:
        operation, arguments = steps[at]
        return arguments[0] if operation == "constant" else None

    def write(part: Any) -> int:
        if not isinstance(part, Expression):
            return number("constant", (part,))
        if part.operation == "column":
            name = part.arguments[0]
            if name in ones:
                return number("constant", (1.0,))
            if name in COMPLEMENTS and name not in stored:
                return write(1.0 - _node("column", COMPLEMENTS[name]))
            return number("column", (name,))
        arguments = tuple(write(argument) for argument in part.arguments)
        known = [constant(argument) for argument in arguments]
        if part.operation == "multiply" and 1.0 in known:
            return arguments[1 - known.index(1.0)]
        if part.operation == "add" and 0.0 in known:
            return arguments[1 - known.index(0.0)]
        if part.operation in _FOLDED and None not in known:
            return number("constant", (float(_FOLDED[part.operation](*known)),))
        return number(part.operation, arguments)

    results = tuple(write(expression) for expression in expressions)
    return Program(tuple(steps), results)


_FOLDED: dict[str, Callable[..., Any]] = {"greater": gt, "at_least": ge, "equal": eq, "subtract": sub, "multiply": mul}


def evaluate(steps: Program, column: Callable[[str], Any], operations: Mapping[str, Callable[..., Any]]) -> list[Any]:
    """What the expressions come to, with an engine's columns and operations."""
    values: list[Any] = []
    for operation, arguments in steps.steps:
        if operation == "column":
            values.append(column(arguments[0]))
        elif operation == "constant":
            values.append(arguments[0])
        else:
            values.append(operations[operation](*[values[argument] for argument in arguments]))
    return [values[result] for result in steps.results]

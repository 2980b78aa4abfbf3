"""Row expressions: what a term says, written once and evaluated by every engine.

A term is called with a symbolic row and becomes a small graph of arithmetic, comparisons and ``log``.
Equal parts are one object, so an engine that remembers what it has evaluated shares them for free.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from operator import eq, gt, mul, sub
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
            raise TypeError(f"terms know squares, not powers of {power!r}")
        return _node("multiply", self, self)

    def __neg__(self) -> Expression:
        return _node("subtract", 0.0, self)

    def __gt__(self, other: Any) -> Expression:
        return _node("greater", self, other)

    def __lt__(self, other: Any) -> Expression:
        return _node("greater", other, self)

    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        return _node("equal", self, other)

    __hash__ = None  # type: ignore[assignment]


def log(x: Expression) -> Expression:
    """Natural logarithm of each row's number; minus infinity at 0."""
    return _node("log", x)


def reciprocal(x: Expression) -> Expression:
    """1/x, and 0 where x is 0."""
    return _node("reciprocal", x)


class SymbolicRow:
    """Stands for any row: its attributes are the columns, as expressions."""

    def __getattr__(self, column: str) -> Expression:
        return _node("column", column)


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
    traced = expression(SymbolicRow())
    return traced if isinstance(traced, Expression) else _node("multiply", SymbolicRow().one, traced)


class Program(NamedTuple):
    """Expressions as a list of steps, each of operations on earlier ones: what they share is done once."""

    #: (operation, arguments): of a column its name, of a constant its value, else the numbers of earlier steps.
    steps: tuple[tuple[str, tuple[Any, ...]], ...]
    #: The step that gives each expression.
    results: tuple[int, ...]


def program(expressions: Iterable[Expression], ones: tuple[str, ...] = ()) -> Program:
    """The steps that evaluate some expressions. Columns in ``ones`` are 1 on every row, and fall out of products."""
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

    def written(part: Any) -> int:
        if not isinstance(part, Expression):
            return number("constant", (part,))
        if part.operation == "column":
            return number("constant", (1.0,)) if part.arguments[0] in ones else number("column", part.arguments)
        arguments = tuple(written(argument) for argument in part.arguments)
        known = [constant(argument) for argument in arguments]
        if part.operation == "multiply" and 1.0 in known:
            return arguments[1 - known.index(1.0)]
        if part.operation == "add" and 0.0 in known:
            return arguments[1 - known.index(0.0)]
        if part.operation in _FOLDED and None not in known:
            return number("constant", (float(_FOLDED[part.operation](*known)),))
        return number(part.operation, arguments)

    results = tuple(written(expression) for expression in expressions)
    return Program(tuple(steps), results)


_FOLDED: dict[str, Callable[[Any, Any], Any]] = {"greater": gt, "equal": eq, "subtract": sub, "multiply": mul}


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

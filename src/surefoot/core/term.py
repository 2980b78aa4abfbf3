"""Terms: what a row adds, and the key it is added under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from surefoot.core.expression import Expression, Program, program, trace
from surefoot.core.keys import ALL_ROWS, Key


@dataclass(frozen=True)
class Term:
    """A row expression to add up, and the key to add it under. Terms are equal when their names are."""

    name: str
    expression: Callable[[Any], Any] = field(compare=False)
    key: Key = field(default=ALL_ROWS, compare=False)

    @cached_property
    def traced(self) -> Expression:
        """What the term says, as an expression that any engine can evaluate."""
        return trace(self.expression)


class Shape(NamedTuple):
    """What of the columns is stored; the rest follows by arithmetic."""

    stores_doubt: bool = True
    is_weighted: bool = True


STORED = Shape()


@lru_cache(maxsize=1024)
def program_of(terms: tuple[Term, ...], shape: Shape = STORED, key: Key = ALL_ROWS) -> Program:
    """The steps that give the digits of a row's cell, and then what the row adds to each term."""
    expressions = [*(digit.place for digit in key.digits), *(term.traced for term in terms)]
    ones = ("one",) if shape.is_weighted else ("one", "weight")
    return program(expressions, ones, ("doubt",) if shape.stores_doubt else ())

"""Terms: what a row adds, and the key it is added under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

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


@lru_cache(maxsize=1024)
def program_of(terms: tuple[Term, ...], *, is_weighted: bool = True) -> Program:
    """The steps that give what a row adds to each term."""
    return program((term.traced for term in terms), ("one",) if is_weighted else ("one", "weight"))

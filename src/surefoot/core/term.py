"""Terms: the summand of a row, and the key it is summed under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from surefoot.core.expression import Expression, Program, program, trace
from surefoot.core.keys import ALL_ROWS, Key


@dataclass(frozen=True)
class Term:
    """A row expression to sum, and the key to sum it under.

    Metrics are formulas over the totals of terms. Terms are equal when their names are.

    Parameters
    ----------
    name : str
        The name under which a :class:`Tally` stores the total.
    expression : callable
        Called with a row, returns its summand. Use arithmetic, comparisons and ``log`` on ``row.correct``,
        ``row.wrong``, ``row.confidence``, ``row.doubt`` (1 - confidence) and ``row.weight``, so that every engine
        (NumPy, torch, dataframes) can evaluate it.
    key : Key, optional
        What totals are kept apart by (a bin, a class, a score); by default one total for all rows.

    Examples
    --------
    >>> import surefoot as sf
    >>> wrong = sf.Term("wrong weight", lambda row: row.weight * row.wrong)
    >>> p = sf.Predictions.from_correct([True, False, False], [0.9, 0.8, 0.7])
    >>> p.tally([wrong])[wrong]
    2.0
    """

    name: str
    expression: Callable[[Any], Any] = field(compare=False)
    key: Key = field(default=ALL_ROWS, compare=False)

    @cached_property
    def traced(self) -> Expression:
        """The expression of the term in a form that any engine can evaluate."""
        return trace(self.expression)


@dataclass(frozen=True)
class ClassTerm(Term):
    """A term of each class: summed over rows that say whether the class is true, and how probable it was.

    A :class:`Tally` holds its totals class by class, in ``events``.
    """

    inner: Term = field(kw_only=True, compare=False)


def of_each_class(term: Term) -> ClassTerm:
    """The same term, summed for each class as an event."""
    return ClassTerm(f"{term.name} of each class", term.expression, term.key, inner=term)


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

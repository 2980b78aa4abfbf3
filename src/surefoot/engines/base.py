"""What an engine is: it turns rows and terms into tables, each by the operation its key names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from surefoot.core.keys import Key
from surefoot.core.tally import Tally
from surefoot.core.term import Shape, Term
from surefoot.errors import UnsupportedKey
from surefoot.predictions.memory import InMemory

Groups = Mapping[Key, list[Term]]


class Engine:
    """The totals of terms over the rows of one source. What it does not know raises :class:`UnsupportedKey`.

    With ``exact``, scores are kept apart, a class at a time; else they go into cells.
    """

    name: ClassVar[str]

    def __init__(self, predictions: Any, *, exact: bool = False) -> None:
        self.predictions, self.exact = predictions, exact

    @property
    def shape(self) -> Shape:
        return Shape(self.predictions.stores_doubt, self.predictions.is_weighted)

    @property
    def classes(self) -> int:
        """How many classes there are; 0 where only correctness is known."""
        return len(self.predictions.labels or ())

    def tables(self, groups: Groups) -> dict[str, Any]:
        """The table of each key."""
        tables = self.cells({key: terms for key, terms in groups.items() if key.operation == "cells"})
        for key, terms in groups.items():
            if key.operation != "cells":
                tables[key.name] = getattr(self, key.operation)(key, terms)
        return tables

    def cells(self, groups: Groups) -> dict[str, Any]:
        """Sums in the cells that digits make, of several keys in as few passes as can be."""
        raise UnsupportedKey(self.name, "cells")

    def scores(self, key: Key, terms: list[Term]) -> Any:
        """Sums under each score of each class."""
        raise UnsupportedKey(self.name, key.name)

    def doubts(self, key: Key, terms: list[Term]) -> Any:
        """Sums by doubt: of each value while they are few, else of cells."""
        raise UnsupportedKey(self.name, key.name)

    def values(self, key: Key, terms: list[Term]) -> Any:
        """Sums under each distinct confidence."""
        raise UnsupportedKey(self.name, key.name)

    def rows(self, key: Key, terms: list[Term]) -> Any:
        """What each row adds, not added up."""
        raise UnsupportedKey(self.name, key.name)


def group(terms: Iterable[Term]) -> dict[Key, list[Term]]:
    """Terms by their key, each once."""
    by_key: dict[Key, list[Term]] = {}
    for term in dict.fromkeys(terms):
        by_key.setdefault(term.key, []).append(term)
    return by_key


def tally_in_memory(
    engine: type[Engine], predictions: InMemory, terms: Iterable[Term], *, exact: bool, by: Any
) -> Tally:
    """The totals over all rows, and with ``by`` those of each slice, which is predictions again."""
    groups = group(terms)
    labels = predictions.labels if any(key.classes for key in groups) else None
    whole = Tally(engine(predictions, exact=exact).tables(groups), labels, predictions.rounded)
    if by is None:
        return whole
    every = [term for own in groups.values() for term in own]
    parts = {
        value: tally_in_memory(engine, part, every, exact=exact, by=None)
        for value, part, _ in predictions.split(predictions.slicing(by))
    }
    return Tally(whole.tables, whole.labels, whole.rounded, parts, by if isinstance(by, str) else "slice")

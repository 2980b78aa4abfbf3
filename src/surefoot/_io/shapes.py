"""What a saved document has to look like: shapes, which say where a value is not what it has to be.

A shape is written once, beside the code that packs and unpacks the document, and is checked before anything is made of
what a file says. So that code can trust types and ranges, and raises only for what several values say together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from surefoot._io import limits
from surefoot._io.printable import printable_value

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
#: How numbers that JSON does not know are written.
INFINITE: tuple[str, ...] = ("inf", "-inf")


class Malformed(ValueError):
    """A document is not what it should be."""


class Shape(Protocol):
    """What a value has to be."""

    def check(self, value: Any, where: str) -> None:
        """Raise :class:`Malformed` unless the value is of this shape."""
        ...


def refuse(value: Any, where: str, expected: str) -> Malformed:
    """The error about a value: where it is, and what it should be."""
    return Malformed(f"{where or 'the document'} is {printable_value(value)}; it should be {expected}")


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    least: int = 0
    most: int = _MOST

    def check(self, value: Any, where: str) -> None:
        if type(value) is not int or not self.least <= value <= self.most:
            raise refuse(value, where, f"a whole number, at least {self.least}" if self.least > _LEAST else "whole")


@dataclass(frozen=True)
class Number:
    """A number, or one of some ``words`` for what JSON has no number for."""

    least: float = -math.inf
    most: float = math.inf
    words: tuple[str, ...] = ()

    def holds(self, value: Any) -> bool:
        if type(value) is float:
            return self.least <= value <= self.most
        if type(value) is int:
            # of JSON's whole numbers, those that a float can be
            return self.least <= value <= self.most and abs(value) < 1 << 1023
        return isinstance(value, str) and value in self.words

    def check(self, value: Any, where: str) -> None:
        if not self.holds(value):
            bounded = "" if self.least == -math.inf else f" from {self.least:g} to {self.most:g}"
            raise refuse(value, where, f"a number{bounded}")


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, bool):
            raise refuse(value, where, "true or false")


@dataclass(frozen=True)
class Text:
    """A text, no longer than it may be."""

    most: int = limits.NAME

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, str) or len(value) > self.most:
            raise refuse(value, where, f"text of at most {self.most:,} characters")


@dataclass(frozen=True)
class OneOf:
    """One of some texts."""

    choices: tuple[str, ...]

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, str) or value not in self.choices:
            raise refuse(value, where, f"one of {', '.join(self.choices)}")


@dataclass(frozen=True)
class Label:
    """The name of a class or a slice: true or false, a whole number or text."""

    def check(self, value: Any, where: str) -> None:
        is_whole = isinstance(value, int) and _LEAST <= value < 1 << 64
        if not is_whole and not (isinstance(value, str) and len(value) <= limits.LABEL):
            raise refuse(value, where, f"a label: true or false, a whole number or at most {limits.LABEL:,} characters")


@dataclass(frozen=True)
class Maybe:
    """Null, or a value of a shape."""

    inner: Shape

    def check(self, value: Any, where: str) -> None:
        if value is not None:
            self.inner.check(value, where)


@dataclass(frozen=True)
class ListOf:
    """A list of values of one shape."""

    item: Shape
    least: int = 0
    most: int = 1 << 62

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            raise refuse(value, where, "a list" if not self.least else f"a list of at least {self.least}")
        if isinstance(self.item, Number) and all(map(self.item.holds, value)):
            return
        for i, one in enumerate(value):
            self.item.check(one, f"{where}[{i}]")


@dataclass(frozen=True)
class MapOf:
    """An object that holds values of one shape under names of any kind."""

    item: Shape

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise refuse(value, where, "an object")
        for name, one in value.items():
            Text().check(name, f"a name in {where or 'the document'}")
            self.item.check(one, f"{where}.{name}" if where else name)


@dataclass(frozen=True)
class Record:
    """An object with certain fields; those that are optional were unknown to earlier versions."""

    fields: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise refuse(value, where, "an object")
        for name, shape in (*self.fields.items(), *self.optional.items()):
            if name in value:
                shape.check(value[name], f"{where}.{name}" if where else name)
            elif name in self.fields:
                raise Malformed(f"{where or 'the document'} has no '{name}'")


@dataclass(frozen=True)
class Row:
    """A list of so many values, each of its own shape."""

    items: tuple[Shape, ...]

    def check(self, value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) != len(self.items):
            raise refuse(value, where, f"a list of {len(self.items)}")
        for i, (shape, one) in enumerate(zip(self.items, value, strict=True)):
            shape.check(one, f"{where}[{i}]")


@dataclass(frozen=True)
class Later:
    """A shape that is asked for when it is needed: a document that holds documents of its own kind."""

    shape: Callable[[], Shape]

    def check(self, value: Any, where: str) -> None:
        self.shape().check(value, where)

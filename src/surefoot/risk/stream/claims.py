"""What callers of a monitor hand in: ids, and the confidences that were stated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot._io import limits
from surefoot.errors import InvalidPredictions
from surefoot.predictions import ArrayPredictions
from surefoot.risk.law.cells import Codes
from surefoot.risk.stream.id_set import MOST_DIGITS, Id, plain_id
from surefoot.risk.stream.issued import Issued

_TOO_LARGE = 10**MOST_DIGITS


def as_ids(ids: Any) -> list[Id]:
    """Ids as they are kept: text to the character, in which 7 and "7" are one and "007" is another."""
    alone = isinstance(ids, str | int | np.generic) or ids is None
    values = [ids] if alone else ids.ravel().tolist() if isinstance(ids, np.ndarray) else list(ids)
    plain: list[Id] = []
    for i, value in enumerate(values):
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise InvalidPredictions(f"ids[{i}] is {value!r}; ids are whole numbers or strings.")
        # what a saved monitor could not hold is refused before it is counted
        if isinstance(value, str) and len(value) > limits.LABEL:
            raise InvalidPredictions(f"ids[{i}] has {len(value):,} characters; an id has at most {limits.LABEL:,}.")
        if isinstance(value, int) and abs(value) >= _TOO_LARGE:
            raise InvalidPredictions(f"ids[{i}] is a number of more than {MOST_DIGITS:,} digits; pass it as text.")
        plain.append(plain_id(value))
    return plain


def as_columns(rows: int, confidence: Any) -> tuple[Any, ...]:
    return () if confidence is None else (as_column(rows, confidence),)


def as_column(rows: int, values: Any) -> Any:
    """A number alone is a column of one."""
    return [values] if values is not None and rows == 1 and np.ndim(values) == 0 else values


def is_same(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two claims are one, said as a confidence or as a doubt."""
    return all(math.isclose(x, y, rel_tol=1e-6) for x, y in zip(one, other, strict=True))


def describe_claims(one: tuple[float, float], other: tuple[float, float]) -> tuple[str, str]:
    """Two claims so that they can be told apart."""
    name, place = ("confidence", 0) if one[0] != other[0] else ("doubt", 1)
    return f"{name} {one[place]!r}", repr(other[place])


def claims_of(rows: ArrayPredictions) -> Iterator[tuple[float, float]]:
    every = slice(None)
    return zip(rows.confidence_of(every).tolist(), rows.doubt_of(every).tolist(), strict=True)


def check_confidences(issued: Issued, names: list[Id], rows: ArrayPredictions, awaited: Any) -> None:
    """Raise unless predictions that were expected come with the confidence they were issued with."""
    for i, (name, claim) in enumerate(zip(names, claims_of(rows), strict=True)):
        before = issued.claim(name)
        if awaited[i] and before is not None and not is_same(before, claim):
            earlier, now = describe_claims(before, claim)
            raise InvalidPredictions(
                f"ids[{i}] is {name!r}, which was issued with {earlier}; its label comes with {now}. Leave out the "
                "confidence, or give the one that was issued."
            )


def number_by_first(units: Codes) -> Codes:
    """The same units, numbered in the order in which they come."""
    _, first, where = np.unique(units, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[where]

"""Rows that were not attempted: neither right nor wrong. They leave every sum, and are counted.

They are left out in one place, before columns become predictions, so no engine and no metric knows of them. What stays
is which rows were attempted: for the count, and to cut what is given beside them (``by``, ``groups``) to the same rows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InvalidPredictions
from surefoot.predictions.checks import OUTCOME, Check, check_lengths, refuse_null
from surefoot.predictions.columns import Array, as_array, as_column, first_row, is_missing

if TYPE_CHECKING:
    from surefoot.predictions.base import Predictions
    from surefoot.predictions.border import Border

#: Outcomes in words, small letters only; and what flags are called in text.
RIGHT = ("correct", "c", "right", "yes", "true", "1", "pass", "passed", "+")
WRONG = ("incorrect", "i", "wrong", "no", "false", "0", "fail", "failed", "-")
SKIPPED = ("notattempted", "n", "refused", "abstained")
OUTCOMES = (*RIGHT, *WRONG, *SKIPPED)
#: Outcomes beside which a dash is none: people write it where there is none.
WORDS = tuple(one for one in (*RIGHT, *WRONG) if one not in "+-")
DASH_HINT = "a dash is an outcome beside + only: write no if it is one, or leave the cell empty"
#: Those that no label is called by.
GRADES = ("correct", "c", "incorrect", "i", *SKIPPED)
YES, NO = ("yes", "y", "true", "1"), ("no", "n", "false", "0")
#: What a word is read without: a hyphen within it, but not a sign before it.
SEPARATORS = r"[\s_]+|\b-+"
_HINT = f"{OUTCOME.hint}, or in words CORRECT, INCORRECT or NOT_ATTEMPTED (also C, I, N, refused, abstained)"
_FLAG_HINT = "it should be true or false, 1 or 0, yes or no"
#: The same of columns of lazy frames.
IN_WORDS = Check(
    lambda x: ~x.is_in([*RIGHT, *WRONG]),
    "",
    "are no outcomes",
    "an outcome is true or false, 1 or 0, or in words CORRECT, INCORRECT or NOT_ATTEMPTED",
    "{0} not in ('CORRECT', 'INCORRECT', 'NOT_ATTEMPTED')",
)
FLAG_IN_WORDS = Check(
    lambda x: ~x.is_in([*YES, *NO]),
    "",
    "are neither yes nor no",
    "it should be true or false, 1 or 0, yes or no",
    "{0} not in ('yes', 'no')",
)


class NothingAttempted(InvalidPredictions):
    """No row was attempted, so there is nothing to assess."""

    #: How many rows there are.
    skipped: int = 0

    @classmethod
    def among(cls, rows: int) -> NothingAttempted:
        """The error for so many rows."""
        reason = "the only row was not attempted" if rows == 1 else f"none of the {rows:,} rows was attempted"
        error = cls(f"{reason}, so there is nothing to assess")
        error.skipped = rows
        return error


@dataclass(frozen=True)
class Attempts:
    """Which of the rows that were given were attempted: booleans, where the columns lie."""

    flags: Any

    @property
    def skipped(self) -> int:
        """How many were not."""
        return len(self.flags) - int(self.flags.sum())

    def cut(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The attempted rows of columns that were given for all rows."""
        for name, column in columns.items():
            if column is not None and hasattr(column, "__len__"):
                check_lengths(attempted=self.flags, **{name: column})
        if not bool(self.flags.any()):
            raise NothingAttempted.among(len(self.flags))
        return {name: _take(column, self.flags) for name, column in columns.items()}

    @contextmanager
    def located(self) -> Iterator[None]:
        """Errors of the attempted rows with the number that a row has among all."""
        try:
            yield
        except NothingAttempted:
            raise NothingAttempted.among(len(self.flags)) from None
        except InvalidPredictions as error:
            if error.row is None:
                raise
            row, *rest = error.row if isinstance(error.row, tuple) else (error.row,)
            where = int(self.flags.nonzero()[0][row] if isinstance(self.flags, np.ndarray) else _nth(self.flags, row))
            raise error.at(row=(where, *rest) if rest else where) from error

    def mark(self, made: Predictions) -> Predictions:
        """Predictions of the attempted rows, which know how many there are besides."""
        if not self.skipped:
            return made
        inner = getattr(made, "attempted", None)
        flags = self.flags if inner is None else self.narrowed(inner).flags
        return replace(made, attempted=flags)  # type: ignore[type-var]

    def narrowed(self, flags: Any) -> Attempts:
        """The same, where of the attempted rows only some were after all."""
        both = self.flags & self.flags  # a copy, of arrays as of tensors
        both[self.flags] = flags
        return Attempts(both)

    def build(self, constructor: Any, columns: Mapping[str, Any], **options: Any) -> Predictions:
        """Predictions of the attempted rows, by a constructor."""
        cut = self.cut(columns)
        with self.located():
            made: Predictions = constructor(**cut, **options)
        return self.mark(made)


def read_attempts(border: Border, attempted: Any, correct: Any = None) -> Attempts:
    """Which rows were attempted: by a column that says so, by outcomes in words, or by both; one of them is given."""
    if attempted is None:
        return Attempts(_words_of("correct", correct, OUTCOMES, _HINT)[1])
    attempts = Attempts(border.outcome(_flags_in_words(attempted), "attempted"))
    if correct is None or not is_text(correct) or not attempts.flags.any():
        return attempts
    (own,) = attempts.cut({"correct": correct}).values()
    with attempts.located():
        return attempts.narrowed(_words_of("correct", own, OUTCOMES, _HINT)[1])


def read_outcome(correct: Any) -> Any:
    """Whether each row is correct; outcomes in words become booleans, and anything else stays what it is."""
    return _words_of("correct", correct, (*RIGHT, *WRONG), _HINT)[0] if is_text(correct) else correct


def is_text(given: Any) -> bool:
    """Whether a column holds text, by its type or its first value."""
    kind = str(getattr(given, "dtype", getattr(given, "type", ""))).lower()
    if isinstance(given, list | tuple) or kind in ("object", "category"):
        return isinstance(next((value for value in given if not is_missing(value)), None), str)
    return bool(re.match(r"<u|>u|str|large_string|utf8|categorical|enum|dictionary<values=(large_)?string", kind))


def word(value: str) -> str:
    """A word without capitals and separators.

    Examples
    --------
    >>> word("NOT_ATTEMPTED"), word("Not attempted"), word("not-attempted")
    ('notattempted', 'notattempted', 'notattempted')
    >>> word("-1"), word(" - ")
    ('-1', '-')
    """
    return re.sub(SEPARATORS, "", value.casefold())


def _flags_in_words(attempted: Any) -> Any:
    return _words_of("attempted", attempted, (*YES, *NO), _FLAG_HINT)[0] if is_text(attempted) else attempted


def _words_of(argument: str, given: Any, known: tuple[str, ...], hint: str) -> tuple[Array, Array]:
    """Which values mean yes, and which rows were attempted; raise for the first that is no word of those known."""
    found, where = _distinct_keys(argument, given)
    strange = np.array([key not in known for key in found])[where]
    if "-" in known and not strange.any() and not {*WORDS}.isdisjoint(found):
        strange, hint = np.array([key == "-" for key in found])[where], DASH_HINT
    if strange.any():
        (row,) = first_row(strange)
        value = as_column(argument, np.array(given, dtype=object) if isinstance(given, list | tuple) else given)[row]
        if is_missing(value):
            raise refuse_null(argument, row, str(value))
        raise InvalidPredictions(argument=argument, row=row, value=value, hint=hint)
    right = np.array([key in RIGHT or key in YES for key in found])[where]
    return right, np.array([key not in SKIPPED for key in found])[where]


def _distinct_keys(argument: str, given: Any) -> tuple[list[str], Array]:
    """The distinct words of a column, and which of them each row is."""
    if type(given).__module__.partition(".")[0] == "pyarrow":
        encoded = given.combine_chunks().dictionary_encode() if hasattr(given, "chunks") else given.dictionary_encode()
        words = encoded.dictionary.to_pylist()
        return [*map(_key, words), _key(None)], np.asarray(encoded.indices.fill_null(len(words)))
    values = as_column(argument, np.array(given, dtype=object) if isinstance(given, list | tuple) else given)
    found, where = np.unique(np.array([_key(value) for value in values.tolist()], dtype=object), return_inverse=True)
    return found.tolist(), where


def _key(value: Any) -> str:
    return word(value) if isinstance(value, str) else f"({value})"


def _nth(flags: Any, row: int) -> Any:
    """The place of the n-th flag that is set, of a tensor."""
    return flags.nonzero().reshape(-1)[row]


def _take(given: Any, flags: Any) -> Any:
    """The rows of a column or a table that are flagged, as the kind of thing that it is."""
    if given is None:
        return None
    if isinstance(given, list | tuple):
        return [value for value, keep in zip(given, flags.tolist(), strict=True) if keep]
    package = type(given).__module__.partition(".")[0]
    if package in ("torch", "numpy"):
        return given[_like(given, flags)]
    rows = np.flatnonzero(flags)
    if hasattr(given, "iloc"):
        return given.iloc[rows]
    if package == "pyarrow":
        return given.take(rows)
    return given[rows] if package in ("polars", "narwhals") else as_array("a column", given)[rows]


def _like(given: Any, flags: Any) -> Any:
    """Flags in the kind of array that a column is."""
    if type(given).__module__.startswith("torch") and isinstance(flags, np.ndarray):
        return sys.modules["torch"].as_tensor(flags, device=given.device)
    return flags

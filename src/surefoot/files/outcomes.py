"""The outcomes of a file: which rows have none, and which are neither right nor wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.files.cells import flags_of, numbers_of, which
from surefoot.files.source import BadFile
from surefoot.files.stated import number_alone
from surefoot.files.types import is_text_type
from surefoot.predictions.attempts import DASH_HINT, WORDS, word

#: What stands in a cell of numbers or outcomes that is empty.
EMPTY = {"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "missing"}
#: Outcomes in words that are neither.
_PARTLY = ("p", "partial", "partiallycorrect", "partlycorrect")


class Outcomes:
    """A column of outcomes, some rows at a time: all rows decide what a dash is."""

    def __init__(self) -> None:
        #: Whether dashes have been taken for errors, and whether words have come.
        self._has_dashes = self._has_words = False

    def lacking(self, name: str, column: Any, where: Mapping[str, Any]) -> tuple[Any, Any]:
        """The rows without an outcome, and those whose outcome is neither right nor wrong."""
        import pyarrow.types as kinds

        partial = np.zeros(len(column), dtype=bool)
        if not column.null_count and (kinds.is_boolean(column.type) or kinds.is_integer(column.type)):
            return partial, partial
        missing = flags_of(column.is_null(nan_is_null=True))
        if is_text_type(column.type):
            missing |= which(column, lambda text: text.strip().lower() in EMPTY) | self._dashes(name, column, where)
            partial = which(column, lambda text: word(text) in _PARTLY or _is_part(text))
        elif kinds.is_floating(column.type):
            values = numbers_of(column)
            partial = (values > 0) & (values < 1)
        return missing, partial

    def _dashes(self, name: str, column: Any, where: Mapping[str, Any]) -> Any:
        """The dashes that stand where there is no outcome: beside words, and not beside +."""
        dashes = which(column, lambda text: word(text) == "-")
        in_words = which(column, lambda text: word(text) in WORDS)
        self._has_words |= bool(in_words.any())
        if not self._has_words:
            self._has_dashes |= bool(dashes.any())
            return np.zeros_like(dashes)
        if self._has_dashes:
            row = int(in_words.argmax())
            why = "but an outcome before it is a dash"
            at = {"column": name, "row": where["row"] + row, "file": where["file"]}
            raise BadFile(why, value=column[row].as_py(), hint=DASH_HINT, **at)
        return dashes


def _is_part(text: str) -> bool:
    """Whether an outcome is a number between 0 and 1."""
    number = number_alone(text)
    return number is not None and 0 < number.number < 1

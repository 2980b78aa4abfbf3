"""What columns must be: sentences about a column, written once and evaluated wherever it lies.

A check is arithmetic and comparisons: arrays and tensors find the first row that fails it, lazy frames count such rows
in the one aggregation that looks at everything.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefoot.errors import InvalidPredictions

#: From here on a float stands for several whole numbers.
_AMBIGUOUS_FLOAT = 2.0**53
_LARGEST_WEIGHT = 1e50


@dataclass(frozen=True)
class Check:
    """Something that must hold on no row."""

    fails: Callable[[Any], Any]
    #: What is wrong with a value, and with several.
    reason: str
    reasons: str
    hint: str
    #: The filter that finds the rows; the column stands for {0}.
    filter: str

    def error(self, argument: str, row: Any, value: Any) -> InvalidPredictions:
        """The error for the first row that fails."""
        return InvalidPredictions(self.reason, argument=argument, row=row, value=value, hint=self.hint)

    def count_error(self, argument: str, column: str, count: int, facts: dict[str, Any]) -> InvalidPredictions:
        """The error for so many rows of a lazy frame."""
        hint = f"{self.hint}. To find them: {self.filter.format(column)}"
        return InvalidPredictions(self.reasons, argument=argument, column=column, count=count, hint=hint, **facts)


FRACTION = Check(
    lambda x: (x < 0) | (x > 1),
    "outside [0, 1]",
    "lie outside [0, 1]",
    "If these are logits, use from_logits=True or Predictions.from_logits; if they are percentages, divide by 100",
    "{0} < 0 or {0} > 1",
)
NOT_NEGATIVE = Check(lambda w: w < 0, "below 0", "are below 0", "weights say how often a row counts", "{0} < 0")
WEIGHT_IN_RANGE = Check(
    lambda w: (w > _LARGEST_WEIGHT) | ((w < 1 / _LARGEST_WEIGHT) & (w > 0)),
    "so small or large that squares and products of such weights leave the range of float64",
    "are so small or large that squares and products of such weights leave the range of float64",
    "Only their ratios matter: divide all by a common number",
    "{0} > 1e50 or 0 < {0} < 1e-50",
)
OUTCOME = Check(
    lambda x: (x != 0) & (x != 1),
    "",
    "are neither true nor false, 1 nor 0",
    "it should be true or false, 1 or 0",
    "{0} not in (0, 1)",
)
WHOLE = Check(
    # nan and infinities leave nan
    lambda x: ((x % 1) != 0) | (x >= _AMBIGUOUS_FLOAT) | (x <= -_AMBIGUOUS_FLOAT),
    "which is no label",
    "are no labels",
    "labels are booleans, integers or strings",
    "{0} is not whole",
)


def sums_to_one(tolerance: float) -> Check:
    """The probabilities of a row add up to 1."""
    return Check(
        lambda total: ((total - 1) > tolerance) | ((1 - total) > tolerance),
        "not to 1",
        "do not add up to 1",
        "If these are logits, use Predictions.from_logits; if they are scores of separate yes-or-no questions, assess "
        "each on its own",
        f"abs(sum - 1) > {tolerance:g}",
    )


def complements(tolerance: float, other: str) -> Check:
    """A confidence and its doubt, added up, are 1."""
    return Check(
        lambda total: ((total - 1) > tolerance) | ((1 - total) > tolerance),
        f"which does not add up to 1 with {other}",
        f"do not add up to 1 with {other}",
        "give one of them, or correct the other",
        f"abs({other} + {{0}} - 1) > {tolerance:g}",
    )


def check_floor(floor: Any) -> float | None:
    """The clip of confidences, or None."""
    if floor is None:
        return None
    if isinstance(floor, bool) or not isinstance(floor, numbers.Real) or not 2**-53 < float(floor) < 0.5:
        raise InvalidPredictions(
            argument="floor", value=floor, hint="it should be a small number, above 1.2e-16 and below 0.5, such as 1e-8"
        )
    return float(floor)


def most_odds(floor: float) -> float:
    """The log-odds of the largest probability that a clip leaves."""
    return math.log1p(-floor) - math.log(floor)


def check_lengths(*, rows: int | None = None, **columns: Any) -> int:
    """The common number of rows; raise if the columns differ in length or hold no rows at all."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    expected = rows if rows is not None else next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != expected:
            other = "the other columns hold" if rows is not None else f"{next(iter(lengths))} holds"
            raise InvalidPredictions(
                f"has {length:,} rows, but {other} {expected:,}",
                argument=name,
                hint=f"the first unmatched row is {min(length, expected)}",
            )
    if expected == 0:
        raise InvalidPredictions("holds no rows", argument=next(iter(lengths)), hint="there is nothing to assess")
    return expected


def check_classes(name: str, values: Any, truth: Any) -> int:
    """How many classes scores are for: one for each column, or two."""
    if values.ndim not in (1, 2):
        raise InvalidPredictions(
            f"has {values.ndim} dimensions",
            argument=name,
            hint="give P(second label) for each row, or one column for each class",
        )
    check_lengths(rows=None, **{"y_true": truth, name: values})
    if values.ndim == 1:
        return 2
    if values.shape[1] < 2:
        raise InvalidPredictions(
            f"has {values.shape[1]} column(s)",
            argument=name,
            hint="give one for each class, or x.ravel(), the probability of pos_label",
        )
    return int(values.shape[1])


def refuse_null(argument: str, row: int | tuple[int, ...], what: str) -> InvalidPredictions:
    """The error for a value that is not there, and what stands there instead."""
    return InvalidPredictions(f"is {what}", argument=argument, row=row, hint="fill it or drop the row")


def refuse_infinite(argument: str, row: tuple[int, ...], value: float) -> InvalidPredictions:
    """The error for a number that is none."""
    if value == float("-inf") and argument == "logits":
        return InvalidPredictions(
            "is -inf", argument=argument, row=row, hint="for a class that is masked out, give -1e4"
        )
    return refuse_null(argument, row, repr(value))


def refuse_positive(is_second: bool, pos_label: Any) -> None:
    """Raise if the positive label is named where every class has a column."""
    if pos_label is not None and not is_second:
        raise InvalidPredictions(
            "pos_label= names the class of a single column of probabilities",
            hint="for one column for each class use labels=",
        )

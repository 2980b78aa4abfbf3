"""What the doors check, beyond what holds for any column."""

from __future__ import annotations

import numbers
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from surefoot.errors import InvalidPredictions
from surefoot.predictions import doubt as doubts
from surefoot.predictions.columns import (
    Array,
    Numbers,
    as_column,
    as_fractions,
    check_lengths,
    first_row,
    is_missing,
    narrowed,
    refuse_null,
)
from surefoot.predictions.labels import (
    Label,
    as_labels,
    check_same_kind,
    default_labels,
    distinct,
    encode,
    given_labels,
    kind_of,
    labels_of_second,
)


def as_claim(confidence: Any, doubt: Any, floor: float | None, rows: int, *, float32: bool) -> doubts.Claim:
    """Confidence and doubt, whichever of them were given, checked against each other and clipped if asked for."""
    if confidence is None and doubt is None:
        raise InvalidPredictions("confidence is missing: give confidence=, or doubt= (1 - confidence).")
    stated = None if confidence is None else as_fractions("confidence", confidence)
    doubted = None if doubt is None else as_fractions("doubt", doubt)
    check_lengths(
        rows=rows,
        confidence=None if stated is None else stated.values,
        doubt=None if doubted is None else doubted.values,
    )
    clip = checked_floor(floor)
    if doubted is not None:
        claim = doubts.with_doubt(stated, doubted)
        return claim if clip is None else doubts.clipped(claim.confidence, clip)
    assert stated is not None
    if clip is not None:
        return doubts.clipped(stated.values, clip)
    return doubts.bare("confidence", narrowed(stated) if float32 else stated)


def checked_floor(floor: Any) -> float | None:
    """The clip of confidences, or None."""
    if floor is None:
        return None
    if isinstance(floor, bool) or not isinstance(floor, numbers.Real) or not 2**-53 < float(floor) < 0.5:
        raise InvalidPredictions(
            f"floor is {floor!r}; it should be a small number, above 1.2e-16 and below 0.5, such as 1e-8."
        )
    return float(floor)


def as_outcome(correct: Any) -> npt.NDArray[np.bool_]:
    """Whether each row is correct: booleans, or 0 and 1."""
    if isinstance(correct, list | tuple):
        correct = np.fromiter(correct, dtype=object, count=len(correct))
    values = as_column("correct", correct)
    if values.dtype == object:
        for row, value in enumerate(values):
            if is_missing(value):
                refuse_null("correct", row, value)
        if all(isinstance(value, bool | np.bool_ | int | np.integer | float | np.floating) for value in values):
            values = values.astype(np.float64)
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind in "iuf":
        other = (values != 0) & (values != 1)
        if other.any():
            row = first_row(other)[0]
            if is_missing(values[row].item()):
                refuse_null("correct", row, "nan")
            raise InvalidPredictions(f"correct[{row}] is {values[row].item()!r}; it should be true or false, 1 or 0.")
        return values.astype(bool)
    for row, value in enumerate(values.tolist()):
        if not isinstance(value, bool | int | float):
            raise InvalidPredictions(f"correct[{row}] is {value!r}; it should be true or false, 1 or 0.")
    raise InvalidPredictions(f"correct is of type {values.dtype}; it should hold true or false, 1 or 0.")


def count_classes(name: str, values: Any, truth: Any) -> int:
    """How many classes scores are for: one for each column, or two."""
    if values.ndim not in (1, 2):
        raise InvalidPredictions(
            f"{name} has {values.ndim} dimensions; give one value a row, the second label's, or a column a class."
        )
    check_lengths(rows=None, **{"y_true": truth, name: values})
    if values.ndim == 1:
        return 2
    if values.shape[1] < 2:
        raise InvalidPredictions(
            f"{name} has {values.shape[1]} column(s); give two or more, or one dimension for the second label."
        )
    return int(values.shape[1])


def check_sums(table: Numbers) -> None:
    """Raise unless the probabilities of every row add up to 1."""
    sums = table.values.sum(axis=1, dtype=np.float64)
    off = np.abs(sums - 1) > table.sum_tolerance
    if off.any():
        row = first_row(off)[0]
        refuse_sum(row, float(sums[row]))


def refuse_sum(row: int, total: float) -> NoReturn:
    raise InvalidPredictions(
        f"probabilities[{row}] adds up to {total:.6g}, not to 1. If these are logits, use Predictions.from_logits; if "
        "they are scores of separate yes-or-no questions, assess each on its own."
    )


def with_labels(
    truth: Array, labels: Any, count: int, *, is_second: bool, pos_label: Any
) -> tuple[tuple[Label, ...], npt.NDArray[np.intp]]:
    """The labels of the classes, and the position of each true label among them."""
    refuse_positive(is_second, pos_label)
    names = default_labels(truth, count) if labels is None and not is_second else None
    if labels is not None:
        names = given_labels(labels, truth, count)
    if is_second:
        names = labels_of_second(() if names else _distinct(truth), kind_of(truth), pos_label, names)
    assert names is not None
    return names, encode("y_true", truth, names)


def _distinct(truth: Array) -> tuple[Label, ...]:
    """The labels that occur; where they can only be 0 and 1, without a look at each."""
    is_binary = truth.dtype.kind == "b" or (truth.dtype.kind in "iu" and truth.min() >= 0 and truth.max() <= 1)
    return (0, 1) if is_binary else distinct(truth)


def refuse_positive(is_second: bool, pos_label: Any) -> None:
    """Raise if the positive label is named where every class has a column."""
    if pos_label is not None and not is_second:
        raise InvalidPredictions(
            "pos_label= says whose probability a single column is; for a column a class use labels=."
        )


def chosen_classes(y_pred: Any, names: tuple[Label, ...], largest: Array, rows: int) -> npt.NDArray[np.intp]:
    """The predicted class of each row: the largest, unless the caller says otherwise."""
    if y_pred is None:
        return largest.astype(np.intp)
    predicted = as_labels("y_pred", y_pred)
    check_lengths(rows=rows, y_pred=predicted)
    check_same_kind("y_pred", predicted, "labels", np.array(names))
    return encode("y_pred", predicted, names)

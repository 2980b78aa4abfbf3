"""What the caller holds, by position or by name, as predictions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

import numpy as np

from surefoot.errors import InvalidPredictions
from surefoot.predictions import Predictions
from surefoot.predictions.dataframe import is_frame, open_frame


def to_assess(x: Any, probabilities: Any, columns: dict[str, Any]) -> Predictions:
    """Predictions from whatever the caller holds; raise where it may mean two things."""
    if isinstance(x, Predictions):
        if probabilities is not None or columns:
            other = "probabilities" if probabilities is not None else next(iter(columns))
            raise InvalidPredictions(f"assess(predictions) takes no other data arguments; got {other!r}")
        return x
    if isinstance(x, tuple) and len(x) == 2 and probabilities is None:
        x, probabilities = x
    if is_frame(x):
        _check_named(columns, Predictions.from_frame, ("frame", "probabilities"))
        return Predictions.from_frame(x, probabilities=probabilities, **columns)
    if x is None:
        return _as_named(probabilities, columns)
    if probabilities is None:
        raise InvalidPredictions(
            "assess takes Predictions, a Tally, a dataframe, or true labels with probabilities; name other columns: "
            "assess(y_true=..., y_pred=..., confidence=...) or assess(correct=..., confidence=...)."
        )
    _check_named(columns, Predictions.from_probabilities, ("y_true", "probabilities"))
    if not {"labels", "pos_label"} & columns.keys():
        _refuse_ambiguous(x, probabilities)
    return Predictions.from_probabilities(x, probabilities, **columns)


def _as_named(probabilities: Any, columns: dict[str, Any]) -> Predictions:
    """Predictions from columns that are all named."""
    named = columns if probabilities is None else {"probabilities": probabilities, **columns}
    constructors: dict[str, Callable[..., Predictions]] = {
        "correct": Predictions.from_correct,
        "probabilities": Predictions.from_probabilities,
        "y_pred": Predictions.from_labels,
    }
    for needed, constructor in constructors.items():
        if needed in named:
            _check_named(named, constructor)
            return constructor(**named)
    for name in named:
        known = {each for constructor in constructors.values() for each in signature(constructor).parameters}
        if name not in known:
            raise TypeError(f"assess got an unexpected argument {name!r}; it takes {', '.join(sorted(known))}.")
    raise InvalidPredictions(
        "there is nothing to assess: give Predictions, a Tally, a dataframe, y_true= with probabilities=, y_true= with "
        "y_pred= and confidence=, or correct= with confidence=."
    )


def _refuse_ambiguous(x: Any, probabilities: Any) -> None:
    """Raise if two columns by position may be labels with P(1), or correctness with confidence."""
    try:
        if np.ndim(probabilities) != 1 or np.ndim(x) != 1:
            return
    except ValueError:  # rows of unequal length, which the constructor names
        return
    values = np.asarray(x.cpu() if hasattr(x, "cpu") else x)
    if all(value in (0, 1) for value in values.tolist()) if values.dtype == object else _is_zero_one(values):
        raise InvalidPredictions(
            "two columns by position can mean two things here. If the first holds true labels and the second the "
            "probability of 1: assess(y_true=x, probabilities=numbers), or Predictions.from_probabilities. If the "
            "first says whether each prediction was correct: assess(correct=x, confidence=numbers), or "
            "Predictions.from_correct."
        )


#: Words in the names of columns whose values rows belong to.
_BELONG = frozenset(
    (
        *("patient", "subject", "person", "participant", "user", "customer", "client", "account", "household"),
        *("speaker", "author", "prompt", "question", "query", "conversation", "session", "document", "doc", "epoch"),
        *("site", "hospital", "cluster", "group"),
    )
)


_FEWEST = 10


def repeated_identifier(frame: Any, used: Iterable[Any] = ()) -> str:
    """A column of a dataframe that looks like what rows belong to: so named, and with values that come again."""
    opened = open_frame(frame)
    names = [name for name in opened.collect_schema().names() if isinstance(name, str)]
    taken = {one for one in used if isinstance(one, str)}
    for name in names:
        words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()
        if name not in taken and not _BELONG.isdisjoint(re.split(r"[^a-z]+", words)):
            column = opened[name]
            try:
                count = int(column.n_unique())
            except Exception:  # lists, objects: each package has its own error for what cannot be compared
                continue
            # of a few values each is a slice, not something that rows belong to; but for epochs, which repeat the rows
            if (2 if "epoch" in words else _FEWEST) <= count < len(column):
                return name
    return ""


def _is_zero_one(values: Any) -> bool:
    return values.dtype.kind == "b" or (values.dtype.kind in "iuf" and bool(np.isin(values, (0, 1)).all()))


def _check_named(columns: dict[str, Any], constructor: Any, given: tuple[str, ...] = ()) -> None:
    """Raise for an argument that the constructor does not take, or that was given by position."""
    known = [name for name in signature(constructor).parameters if name not in given]
    for name in columns:
        if name not in known:
            raise TypeError(f"assess got an unexpected argument {name!r}; here it takes {', '.join(known)}.")

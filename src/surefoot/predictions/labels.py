"""Labels: booleans, integers or strings, never mixed and never silently equal."""

from __future__ import annotations

import os
import re
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from surefoot.core.tally import Label
from surefoot.errors import AmbiguousLabels, InvalidPredictions
from surefoot.predictions.checks import WHOLE, refuse_null
from surefoot.predictions.columns import Array, as_column, as_python, as_text, first_row, is_missing, is_wide

Kind = Literal["booleans", "integers", "strings"]

_BLOCK = 1 << 20


def kind_of(values: Array) -> Kind:
    """Which of the three kinds of label an array made by :func:`as_labels` holds."""
    return "booleans" if values.dtype == bool else "integers" if values.dtype.kind in "iu" else "strings"


def kind_of_label(label: Label) -> Kind:
    """Which of the three kinds a label is."""
    return "booleans" if isinstance(label, bool) else "integers" if isinstance(label, int) else "strings"


def as_labels(name: str, given: Any) -> Array:
    """A column of labels of one kind, as a bool, integer or unicode array; whole floats count as integers.

    Text that would be too wide as unicode is an array of objects.
    """
    if isinstance(given, list | tuple):
        # numpy would quietly turn [0, "a"] into strings and [True, 2] into integers
        given = np.fromiter(given, dtype=object, count=len(given))
    values = as_column(name, given)
    if values.dtype == object or values.dtype.kind == "T":  # T: numpy's strings of any length
        return _from_objects(name, values.astype(object))
    if values.dtype.kind in "bU":
        return values
    if values.dtype.kind in "iu":
        return _as_signed(name, values)
    if values.dtype.kind == "f":
        return _whole(name, values)
    first = f"{{name}}[0] is {values[:1].tolist()[0]!r}, of" if values.size else "it is of"
    way_out = "decode bytes to text" if values.dtype.kind == "S" else "convert it"
    raise InvalidPredictions(
        f"must hold booleans, integers or strings; {first} type {values.dtype}: {way_out}", argument=name
    )


def refuse_mixture(*columns: tuple[str, Kind, Label]) -> NoReturn:
    (name, kind, first), (other_name, other_kind, other) = columns
    raise InvalidPredictions(
        f"holds {kind} ({{name}}[0] is {first!r}), but {{other}} holds {other_kind} ({{other}}[0] is {other!r})",
        argument=name,
        other=other_name,
        hint="convert one of them",
    )


def distinct(*columns: Array) -> tuple[Label, ...]:
    """The labels that occur, sorted, as Python values."""
    # block by block, so that no copy of a long column is sorted
    blocks = [column[start : start + _BLOCK] for column in columns for start in range(0, len(column), _BLOCK)]
    found: set[Label] = set()
    for block in blocks:
        found.update(np.unique(block).tolist())
    return tuple(sorted(found))


def encode(values: Array, labels: tuple[Label, ...]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The position of each value in ``labels``, and which values are none of them."""
    if labels == tuple(range(len(labels))) and values.dtype.kind in "biu":
        # false and true are 0 and 1
        codes = values.astype(np.intp, copy=False)
        if not len(codes) or (codes.min() >= 0 and codes.max() < len(labels)):
            return codes, np.zeros(0, dtype=bool)
        return codes, (codes < 0) | (codes >= len(labels))
    if values.dtype == object or (values.dtype.kind == "U" and is_wide(labels, len(values))):
        places = {label: place for place, label in enumerate(labels)}
        found = np.fromiter((places.get(value, -1) for value in values), dtype=np.intp, count=len(values))
        return found, found < 0
    given = np.array(labels)
    order = np.argsort(given, kind="stable")
    place = np.searchsorted(given[order], values).clip(max=len(labels) - 1)
    return order[place], given[order][place] != values


def refuse_foreign(argument: str, row: int, value: Label, labels: tuple[Label, ...]) -> InvalidPredictions:
    """The error for a label that is none of the known ones."""
    return InvalidPredictions(
        f"which is none of the labels {quote(labels)}",
        argument=argument,
        row=row,
        value=value,
        hint="name the class of each column with labels=",
    )


def labels_of_count(found: tuple[Label, ...], kind: str, count: int) -> tuple[Label, ...]:
    """The labels of ``count`` classes, given those that occur."""
    if kind == "integers" and all(0 <= int(label) < count for label in found):
        return tuple(range(count))
    if kind == "booleans" and count == 2:
        return (False, True)
    if len(found) != count:
        raise InvalidPredictions(
            f"probabilities are for {count} classes, but y_true holds {len(found)} distinct labels {quote(found)}",
            hint="name the class of each column with labels=",
        )
    return found


def labels_of_second(
    found: tuple[Label, ...], kind: str, pos_label: Any = None, labels: tuple[Label, ...] | None = None
) -> tuple[Label, ...]:
    """The labels that one column of probabilities is of: the negative one, then the positive one.

    0 and 1, or false and true, speak for themselves. Of other labels nobody knows which is meant, and the wrong one
    would call every right prediction wrong: the caller has to say.
    """
    known: tuple[Label, ...] = labels or (
        (False, True)
        if kind == "booleans"
        else (0, 1)
        if kind == "integers" and all(label in (0, 1) for label in found)
        else ()
    )
    if pos_label is None and known:
        return known
    both = known or found
    if len(both) > 2:
        _refuse_number(both)
    if pos_label is None and len(both) == 1:
        raise AmbiguousLabels(
            f"y_true holds only the label {both[0]!r}, so the other class is not known; give "
            "labels=(negative, positive)."
        )
    if pos_label is None:
        choice = " or ".join(repr(label) for label in both) if len(both) == 2 else quote(both)
        raise AmbiguousLabels(
            f"y_true holds the labels {quote(both)}, and probabilities has one column: is it the probability of "
            f"{choice}? Name that label with pos_label= (on the command line --positive), or give "
            "labels=(negative, positive)."
        )
    positive = _as_label(pos_label, kind)
    if positive is None or (positive not in both and len(both) > 1):
        raise InvalidPredictions(f"pos_label is {pos_label!r}, which is none of the labels {quote(both)} of y_true.")
    others = tuple(label for label in both if label != positive)
    if len(others) != 1 or len(both) != 2:
        _refuse_number(both)
    return (others[0], positive)


def _refuse_number(found: tuple[Label, ...]) -> NoReturn:
    # of one label, the other may be unknown where labels cannot be named, as on the command line
    or_else = "write the outcomes as 0 and 1" if len(found) == 1 else "give one column for each class"
    raise InvalidPredictions(
        f"one column of probabilities fits two classes, but y_true holds {len(found)} distinct labels "
        f"{quote(found)}; name both with labels=(negative, positive), or {or_else}."
    )


def _as_label(value: Any, kind: str) -> Label | None:
    """A label of a kind, as a Python value; None if it is of another."""
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, float) and value.is_integer() and kind == "integers":
        value = int(value)
    kinds = {"booleans": bool, "integers": int, "strings": str}
    fits = isinstance(value, kinds[kind]) and isinstance(value, bool) == (kind == "booleans")
    return value if fits else None


def labels_in_names(found: tuple[Label, ...], kind: str, names: list[str]) -> tuple[Label, ...] | None:
    """The labels that columns are named after, less what all names begin with; None if the names are no labels.

    Raise if names are the labels of some rows and not of others: then an order would be guessed, and wrongly.
    """
    common = os.path.commonprefix(names)  # noqa: RUF071 (characters are meant)
    for shared in dict.fromkeys((0, len(common), common.rfind("_") + 1)):
        labels = _read_names([name[shared:] for name in names], kind)
        if labels is None:
            continue
        if set(found) <= set(labels) and len(set(labels)) == len(labels):
            return labels
        folded = {str(label).casefold() for label in labels}
        uncovered = [label for label in found if label not in labels]
        if len(uncovered) < len(found) or any(str(label).casefold() in folded for label in found):
            raise InvalidPredictions(
                f"y_true holds {uncovered[0]!r}, but the columns of classes are named after {quote(labels)}; "
                "name the class of each column with labels=."
            )
    return None


#: What the columns of two classes are called besides their labels.
_SIDES = {
    **dict.fromkeys(("false", "neg", "negative", "no", "n"), False),
    **dict.fromkeys(("true", "pos", "positive", "yes", "y"), True),
}


def _read_names(names: list[str], kind: str) -> tuple[Label, ...] | None:
    if kind == "strings":
        return tuple(names)
    said = [_SIDES.get(name.casefold()) for name in names]
    if kind == "booleans" or None not in said:
        return None if None in said else tuple(bool(side) if kind == "booleans" else int(bool(side)) for side in said)
    whole = [re.fullmatch(r"(-?\d{1,18})(\.0+)?", name) for name in names]
    return tuple(int(match[1]) for match in whole if match) if all(whole) else None


def check_labels(labels: Any, kind: str, count: int | None) -> tuple[Label, ...]:
    """The caller's ``labels``: one for each column, no two alike, of the kind of the truth."""
    if type(labels).__module__.partition(".")[0] == "torch":
        labels = labels.tolist()
    values = as_labels("labels", list(labels) if isinstance(labels, range) else labels)
    named = tuple(values.tolist())
    if not named:
        raise InvalidPredictions("labels is empty; name at least one class.")
    if count is not None and len(named) != count:
        raise InvalidPredictions(
            f"labels names {len(named)} classes {quote(named)}, but probabilities are for {count}."
        )
    if len(set(named)) != len(named):
        twice = next(label for i, label in enumerate(named) if label in named[:i])
        raise InvalidPredictions(
            f"labels[{named.index(twice, named.index(twice) + 1)}] is {twice!r} again; name each class once."
        )
    if kind_of(values) != kind:
        raise InvalidPredictions(
            f"y_true holds {kind}, but labels holds {kind_of(values)} (labels[0] is {named[0]!r}); convert one."
        )
    return named


def quote(labels: tuple[Label, ...], most: int = 6) -> str:
    """A short list of labels for a message."""
    names = [repr(label) if len(repr(label)) <= 40 else f"{repr(label)[:38]}…" for label in labels[:most]]
    return f"({', '.join(names)}{', …' if len(labels) > most else ''})"


def _from_objects(name: str, values: Array) -> Array:
    kinds: dict[str, int] = {}
    for row, value in enumerate(values):
        if is_missing(value):
            raise refuse_null(name, row, str(value))
        kinds.setdefault(_object_kind(name, row, value), row)
    if len(kinds) > 1:
        (one, at), (other, then) = list(kinds.items())[:2]
        raise InvalidPredictions(
            f"mixes {one} and {other}: {{name}}[{at}] is {values[at]!r}, {{name}}[{then}] is {values[then]!r}",
            argument=name,
            hint="convert them to one kind",
        )
    kind = next(iter(kinds), "integers")
    if kind == "strings":
        return as_text(values)
    if kind == "booleans":
        return values.astype(bool)
    try:
        return np.array([_whole_number(name, row, value) for row, value in enumerate(values)], dtype=np.int64)
    except OverflowError:
        row = next(i for i, value in enumerate(values) if not -(2**63) <= value < 2**63)
        raise InvalidPredictions(
            "too large for a label", argument=name, row=row, value=values[row], hint="use strings for such identifiers"
        ) from None


def _whole_number(argument: str, row: int, value: Any) -> int:
    """An integer, or a float that is one."""
    if isinstance(value, int | np.integer):
        return int(value)
    if WHOLE.fails(float(value)):
        raise refuse_fraction(argument, row, float(value))
    return int(value)


def refuse_fraction(argument: str, row: int, value: float) -> InvalidPredictions:
    """The error for a number that is no label."""
    error = WHOLE.error(argument, row, value)
    if value % 1 == 0:
        # such a float may have been another whole number
        return error.at(hint="floats of 2**53 and more stand for several whole numbers: give integers or text")
    if argument not in ("y_true", "y_pred"):
        return error
    return error.at(hint=f"{error.hint}. If these are probabilities, use Predictions.from_probabilities")


def _object_kind(name: str, row: int, value: Any) -> Kind:
    if isinstance(value, bool | np.bool_):
        return "booleans"
    if isinstance(value, int | np.integer | float | np.floating):
        return "integers"
    if isinstance(value, str):
        if value.endswith("\0"):
            raise InvalidPredictions(
                "which ends in a null character", argument=name, row=row, value=value, hint="strip it"
            )
        return "strings"
    raise InvalidPredictions(
        f"a {type(value).__name__}",
        argument=name,
        row=row,
        value=value,
        hint="labels are booleans, integers or strings",
    )


def _whole(argument: str, values: Array) -> Array:
    missing = np.isnan(values)
    if missing.any():
        raise refuse_null(argument, first_row(missing)[0], "nan")
    wide = values.astype(np.float64, copy=False)
    fails = WHOLE.fails(wide)
    if fails.any():
        row = first_row(fails)[0]
        raise refuse_fraction(argument, row, float(values[row]))
    return wide.astype(np.int64)


def _as_signed(name: str, values: Array) -> Array:
    if values.dtype == np.uint64 and values.size and values.max() >= 2**63:
        row = first_row(values >= 2**63)[0]
        raise InvalidPredictions(
            "too large for a label", argument=name, row=row, value=as_python(values[row]), hint="use strings"
        )
    # numpy compares uint64 with int64 as floats, where different labels can be equal
    return values.astype(np.int64) if values.dtype == np.uint64 else values

"""The data arguments that every function of predictions takes: by position or by name, read in one place."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterable, Mapping
from inspect import signature
from os import PathLike
from typing import Any, NamedTuple, get_args

import numpy as np

from surefoot.core.tally import Tally
from surefoot.core.view import ANY_VIEW, View, check_view
from surefoot.errors import InvalidPredictions
from surefoot.predictions.base import Predictions
from surefoot.predictions.borders import attempts_of, border_of
from surefoot.predictions.columns import as_array, dimensions
from surefoot.predictions.dataframe import FrameColumns, is_frame
from surefoot.predictions.documented import DEFAULTS, NAMED, OWN
from surefoot.predictions.documented import Columns as Columns
from surefoot.predictions.documented import takes_predictions as takes_predictions
from surefoot.predictions.events import view_of
from surefoot.predictions.labels import as_labels, distinct, kind_of, labels_in_names

#: Other names of some of them.
_ALIASES = {"truth": "y_true", "predicted": "y_pred", "y_proba": "probabilities", "weight": "sample_weight"}
#: How `Predictions.from_frame` calls them.
_OF_FRAMES = {"y_true": "truth", "y_pred": "predicted", "sample_weight": "weight"}
#: What says how to read the data; the other arguments are data.
_OPTIONS = frozenset(("labels", "pos_label", "from_logits", "sample_weight", "attempted", "floor", "float32", "of"))
#: Those of them that hold a value for each row.
_OF_ROWS = frozenset(("sample_weight", "attempted"))


class _Given(NamedTuple):
    """Three places, and named arguments under their first names."""

    x: Any
    second: Any
    third: Any
    named: dict[str, Any]


def as_predictions(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    columns: Mapping[str, Any] | None = None,
    *,
    function: str = "this function",
    is_ranking: bool = False,
    labels_choose: bool = False,
    needs_confidence: bool = True,
    views: frozenset[View] = ANY_VIEW,
) -> Predictions:
    """The predictions that the data arguments of a function stand for; raise if they could stand for two things.

    A ranking needs probabilities, so two columns by position cannot be correctness and confidence there. Where
    ``labels`` also choose among the classes, they are left to the function unless columns of probabilities need them.
    A function that does not need confidences takes labels alone. One that is not of all ``views`` refuses the others.
    """
    found = _as_predictions(
        x,
        second,
        third,
        columns or {},
        function=function,
        is_ranking=is_ranking,
        labels_choose=labels_choose,
        needs_confidence=needs_confidence,
    )
    if found.view not in views:
        asked = " or ".join(f"of={view!r}" for view in get_args(View) if view in views)
        raise InvalidPredictions(f"{function} is not defined for of={found.view!r}", hint=f"ask for it with {asked}")
    return found


def _as_predictions(
    x: Any,
    second: Any,
    third: Any,
    columns: Mapping[str, Any],
    *,
    function: str,
    is_ranking: bool,
    labels_choose: bool,
    needs_confidence: bool,
) -> Predictions:
    if isinstance(x, Predictions) and second is None and third is None and not columns:
        return x
    named = named_columns(columns, function)
    if isinstance(x, tuple) and len(x) in (2, 3) and second is None and third is None:
        x, second, third = (*x, None)[:3]
        # a pair has no names, so it is told of the constructors
        function = "Predictions.from_probabilities" if function == "assess" and not named else function
    given = _Given(x, second, third, named)
    if labels_choose and not _has_probabilities(given):
        named.pop("labels", None)
    if isinstance(x, Predictions):
        pos_label = named.pop("pos_label", None) if "of" in named else None
        of = named.pop("of", None)
        refuse_beside(f"{function}(predictions)", second, third, named)
        return view_of(x, of, pos_label)
    refuse_tally(x)
    if is_frame(x):
        return _from_frame(given)
    _refuse_other(x)
    return _from_arrays(given, function, is_ranking=is_ranking, needs_confidence=needs_confidence)


def _refuse_other(x: Any) -> None:
    """Raise for a first argument that holds no column, with what to do instead."""
    if type(x).__name__ == "Unlabelled":
        raise InvalidPredictions(
            "these predictions have no labels; surefoot.expect(predictions, reference=...) says what to expect of them"
        )
    if isinstance(x, str | PathLike):
        raise InvalidPredictions(f"the first argument is text ({str(x)!r}); read a file with surefoot.load({str(x)!r})")
    if hasattr(x, "predict_proba"):
        raise InvalidPredictions(
            f"the first argument is a model ({type(x).__name__}); call surefoot.assess_estimator(model, X, y)"
        )
    if isinstance(x, dict):
        raise InvalidPredictions("the first argument is a dict; make a dataframe of it, or unpack it: f(**columns)")


def named_columns(columns: Mapping[str, Any], function: str = "this function") -> dict[str, Any]:
    """The named arguments that were given, under their first names; raise for a name that there is not."""
    named: dict[str, Any] = {}
    typed: dict[str, str] = {}
    for name, value in columns.items():
        if name not in Columns.__annotations__:
            own = OWN.get(function, ())
            close = difflib.get_close_matches(name, (*own, *Columns.__annotations__), 1, 0.5)
            hint = f"did you mean {close[0]!r}? It" if close else "it"
            raise TypeError(
                f"{function} got an unexpected argument {name!r}; {hint} takes {', '.join((*own, *NAMED))}."
            )
        first = _ALIASES.get(name, name)
        if name in DEFAULTS and not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} is {value!r}; it should be True or False.")
        if value is None or (name in DEFAULTS and value == DEFAULTS[name]):
            continue
        if name == "of":
            check_view(value)
        if first in named:
            raise TypeError(f"{function} got {typed[first]!r} and {name!r}, which mean the same; give one of them.")
        named[first], typed[first] = value, name
    return named


def frame_arguments(named: Mapping[str, Any], of: str = "a dataframe") -> dict[str, Any]:
    """The same arguments as :meth:`Predictions.from_frame` calls them; each column must be a name."""
    for name, value in named.items():
        several = name == "probabilities" and isinstance(value, list | tuple)
        if name not in _OPTIONS - _OF_ROWS and not (several or isinstance(value, Hashable)):
            raise InvalidPredictions(
                f"is a {type(value).__name__}, but of {of} a column is given by its name", argument=name
            )
    return {_OF_FRAMES.get(name, name): value for name, value in named.items()}


def file_arguments(named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same arguments for a file: the names of its columns, and how to read them."""
    columns = frame_arguments(named, "a file")
    options: dict[str, Any] = {
        name: columns.pop(name) for name in ("labels", "floor", "float32", "of") if name in columns
    }
    if "pos_label" in columns:
        options["positive"] = columns.pop("pos_label")
    if columns.pop("from_logits", False):
        if "probabilities" not in columns:
            raise InvalidPredictions("from_logits= says that probabilities are logits", hint="name probabilities=")
        columns["logits"] = columns.pop("probabilities")
    return columns, options


def refuse_tally(x: Any) -> None:
    """Raise for a tally, which is no column."""
    if isinstance(x, Tally):
        raise InvalidPredictions(
            "is a Tally, which holds no rows",
            argument="y_true",
            hint="a metric that adds up is read with surefoot.metrics.ALL[name].of(tally)",
        )


def refuse_beside(what: str, second: Any = None, third: Any = None, named: Iterable[str] = ()) -> None:
    """Raise if data were given beside something that holds all of it."""
    extra = next(iter(named), None)
    if second is not None or third is not None or extra is not None:
        extra = extra or ("probabilities" if third is None else "y_pred")
        raise InvalidPredictions(f"{what} takes no other data arguments; got {extra!r}")


def _from_frame(given: _Given) -> Predictions:
    if given.second is not None or given.third is not None:
        raise InvalidPredictions(
            "the first argument is a dataframe, so the others are names of its columns; give them by name, such as "
            "y_true='label', y_proba='p'. If the dataframe holds nothing but labels, give its column"
        )
    return Predictions.from_frame(given.x, **frame_arguments(given.named))


def _from_arrays(given: _Given, function: str, *, is_ranking: bool, needs_confidence: bool) -> Predictions:
    x, second, third, named = given
    if "attempted" in named:
        return _from_attempted(given, function, is_ranking=is_ranking, needs_confidence=needs_confidence)
    data = dict(named)
    if x is not None:
        _put(data, "y_true", x)
    if third is not None:
        _put(data, "confidence", third)
    if second is not None:
        role = _role_of_second(second, data, is_ranking=is_ranking, needs_confidence=needs_confidence)
        _put(data, role, second)
        is_named = not {"y_true", "labels", "pos_label", "from_logits"}.isdisjoint(named) or _asks_of_labels(named)
        if role == "probabilities" and not (is_named or is_ranking):
            _refuse_ambiguous(x, second, function)
    options = {name: data.pop(name) for name in _OPTIONS & data.keys()}
    if "correct" in data:
        return _build(Predictions.from_correct, data, options)
    if "probabilities" in data:
        data["probabilities"], options = _name_columns(data, options)
        if options.pop("from_logits", False):
            data["logits"] = data.pop("probabilities")
            options.pop("float32", None)
            return _build(Predictions.from_logits, data, options)
        return _build(Predictions.from_probabilities, data, options)
    if "y_true" in data and "y_pred" in data:
        if not needs_confidence and data.keys().isdisjoint(("confidence", "doubt")):
            data["doubt"] = _no_doubt(data["y_true"])
        return _build(Predictions.from_labels, data, options)
    raise InvalidPredictions(
        f"{function} has too little to go on: give (y_true, probabilities), (y_true, y_pred, confidence), "
        "correct= with confidence=, Predictions, or a dataframe with the names of its columns"
    )


def _from_attempted(given: _Given, function: str, **how: bool) -> Predictions:
    """The predictions of the rows that were attempted; on the others nothing else need be known."""
    x, second, third, named = given
    columns = {name: value for name, value in named.items() if name not in _OPTIONS - {"sample_weight"}}
    columns |= {"the first argument": x, "the second argument": second, "the third argument": third}
    attempts = attempts_of(named["attempted"], **columns)
    cut = attempts.cut(columns)
    first, other, third = (cut.pop(f"the {place} argument") for place in ("first", "second", "third"))
    options = {name: value for name, value in named.items() if name not in columns and name != "attempted"}
    with attempts.located():
        made = _from_arrays(_Given(first, other, third, {**cut, **options}), function, **how)
    return attempts.mark(made)


def _role_of_second(second: Any, data: Mapping[str, Any], *, is_ranking: bool, needs_confidence: bool) -> str:
    """Whether the second place holds predicted labels or probabilities."""
    has_confidence = "confidence" in data or "doubt" in data
    if dimensions(second) > 1:
        if "probabilities" in data:
            raise TypeError("probabilities were given twice, by position and by name; give them once.")
        if has_confidence:
            raise InvalidPredictions(
                "is given beside probabilities of each class, which hold it already",
                argument="confidence" if "confidence" in data else "doubt",
                hint="drop it; options of a function are given by name, such as n_bins=10",
            )
        return "probabilities"
    if has_confidence or "probabilities" in data:
        return "y_pred"
    if is_ranking or not data.keys().isdisjoint(("pos_label", "from_logits")) or _asks_of_labels(data):
        return "probabilities"
    return "y_pred" if are_labels(second) or not needs_confidence else "probabilities"


def _asks_of_labels(named: Mapping[str, Any]) -> bool:
    """Whether the view is one of labels, so that 0 and 1 cannot be correctness."""
    return named.get("of") in ("event", "classes")


def _has_probabilities(given: _Given) -> bool:
    x, second, third, named = given
    if isinstance(x, Predictions):
        return False
    if "probabilities" in named:
        return True
    has_confidence = third is not None or not named.keys().isdisjoint(("confidence", "doubt", "correct"))
    return second is not None and not has_confidence and not are_labels(second)


def _name_columns(data: Mapping[str, Any], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Probabilities, with the labels that the columns of a dataframe are named after."""
    table = data["probabilities"]
    if not is_frame(table):
        return table, options
    names = [str(name) for name in FrameColumns(table, {}).names]
    if len(names) < 2 or "y_true" not in data or "pos_label" in options:
        return table, options
    truth = as_labels("y_true", data["y_true"])
    labels = labels_in_names(distinct(truth), kind_of(truth), names)
    return table, options if labels is None else {**options, "labels": labels}


def _no_doubt(y_true: Any) -> Any:
    border = border_of(y_true)
    return border.xp.zeros_like(border.labels("y_true", y_true), dtype=border.xp.float64)


def _put(data: dict[str, Any], name: str, value: Any) -> None:
    if name in data:
        raise TypeError(f"{name!r} was given twice, by position and by name; give it once.")
    data[name] = value


def _build(constructor: Any, data: dict[str, Any], options: dict[str, Any]) -> Predictions:
    """Predictions by one of the constructors; raise for data or options that it has no use for."""
    known = signature(constructor).parameters
    taken = next((name for name in data if name in known and name not in ("y_true", "confidence")), "y_true")
    extra = next((name for name in (*data, *options) if name not in known), None)
    if extra is not None:
        raise InvalidPredictions(f"does not go with {taken}=", argument=extra, hint=f"drop {extra}=")
    needed = next((name for name, one in known.items() if one.default is one.empty and name not in data), None)
    if needed is not None:
        raise InvalidPredictions(f"is missing beside {taken}=", argument=needed, hint=f"give {needed}=")
    predictions: Predictions = constructor(**data, **options)
    return predictions


def are_labels(given: Any) -> bool:
    """Whether a column is of labels rather than of probabilities: text, booleans, or integers in one dimension."""
    if hasattr(given, "is_floating_point"):  # a tensor
        return bool(given.ndim == 1 and not given.is_floating_point())
    if dimensions(given) != 1:
        return False
    try:
        values = as_array("y_pred", given)
    except InvalidPredictions:  # said by the constructor
        return False
    if values.dtype != object:
        return values.dtype.kind in "UTbiu"
    return bool(len(values)) and all(isinstance(value, str | bool | int | np.integer | np.bool_) for value in values)


def _refuse_ambiguous(x: Any, numbers: Any, function: str) -> None:
    """Raise if two columns by position may be labels with P(1), or correctness with confidence."""
    if dimensions(numbers) != 1 or dimensions(x) != 1:
        return
    try:
        values, second = as_array("y_true", x), as_array("probabilities", numbers)
    except InvalidPredictions:  # said by the constructor
        return
    if not len(values) or second.dtype == object:
        return
    if values.dtype == object:
        if not all(isinstance(value, bool | int | float) and value in (0, 1) for value in values.tolist()):
            return
    elif not (values.dtype.kind == "b" or (values.dtype.kind in "iuf" and bool(np.isin(values, (0, 1)).all()))):
        return
    is_boolean = values.dtype.kind == "b" or isinstance(values[0], bool)
    positive = "True" if is_boolean else "1"
    if function == "Predictions.from_probabilities":
        ways = "Predictions.from_probabilities(x, numbers)", "Predictions.from_correct(x, numbers)"
    else:
        ways = (
            f"{function}(y_true=x, probabilities=numbers), or add pos_label={positive}, or of='event' to ask whether "
            f"{positive} happens as often as predicted",
            f"{function}(correct=x, confidence=numbers)",
        )
    raise InvalidPredictions(
        f"{'booleans' if is_boolean else '0 and 1'} beside one column of numbers can mean two things. If they are true "
        f"labels and the numbers are the probability of {positive}: {ways[0]}. If they say whether each prediction "
        f"was correct: {ways[1]}"
    )

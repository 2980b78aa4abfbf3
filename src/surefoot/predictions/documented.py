"""What help() shows of the data arguments: one text for all functions of predictions."""

from __future__ import annotations

import re
from functools import cache
from inspect import Parameter, cleandoc, signature
from textwrap import fill, indent
from typing import Any, TypedDict, TypeVar

from surefoot.core.view import View

Function = TypeVar("Function")


class Columns(TypedDict, total=False):
    """What may be given by name; of a dataframe or a file, the names of its columns."""

    y_true: Any
    truth: Any
    y_pred: Any
    predicted: Any
    confidence: Any
    correct: Any
    probabilities: Any
    y_proba: Any
    doubt: Any
    labels: Any
    pos_label: Any
    from_logits: bool
    sample_weight: Any
    weight: Any
    attempted: Any
    floor: float | None
    float32: bool
    of: View | None


DEFAULTS = {"from_logits": False, "float32": True}

_POSITIONAL = {
    "x": (
        "Predictions, dataframe, or array-like of shape (n,)",
        "What to measure: :class:`Predictions`; a dataframe, whose columns are then named by the arguments below; "
        "or the true labels.",
    ),
    "second": (
        "array-like of shape (n,) or (n, K), optional",
        "Predicted probabilities, or predicted labels if their confidence is given as well. One column of "
        "probabilities beside labels 0 and 1 could also be correctness with confidence: name it, for example with "
        "``pos_label=1``.",
    ),
    "third": ("array-like of shape (n,), optional", "The confidence in each predicted label."),
}
NAMED = {
    "y_true": ("array-like of shape (n,) or str, optional", "True labels, given by name. Also called ``truth``."),
    "y_pred": ("array-like of shape (n,) or str, optional", "Predicted labels. Also called ``predicted``."),
    "confidence": (
        "array-like of shape (n,) or str, optional",
        "The probability that the model gives to each predicted label.",
    ),
    "correct": (
        "array-like of shape (n,) or str, optional",
        "Whether each prediction is correct, in place of labels.",
    ),
    "probabilities": (
        "array-like of shape (n,) or (n, K), str or list of str, optional",
        "Predicted probabilities: those of ``pos_label``, or one column for each of ``labels``. With a "
        "dataframe: a column, a list of columns, or the prefix of their names. Also called ``y_proba``.",
    ),
    "doubt": (
        "array-like of shape (n,) or str, optional",
        "1 - confidence, where you know it more precisely than that subtraction gives it.",
    ),
    "labels": (
        "sequence, optional",
        "The class of each column of probabilities; by default 0, 1, ... or the sorted labels.",
    ),
    "pos_label": (
        "label, optional",
        'The class whose probability a single column holds, and the event of ``of="event"``. Needed unless labels are '
        "0 and 1, or booleans.",
    ),
    "from_logits": ("bool, default False", "Whether the probabilities are logits (of one column, log-odds)."),
    "sample_weight": (
        "array-like of shape (n,) or str, optional",
        "The weight of each sample. Also called ``weight``.",
    ),
    "attempted": (
        "array-like of shape (n,) or str, optional",
        "Whether each row was attempted. Those that were not (refused, abstained) are neither right nor wrong: every "
        "number leaves them out, and they are counted apart.",
    ),
    "floor": ("float, optional", "Clip confidences to [floor, 1 - floor], as the paper does with 1e-8."),
    "float32": (
        "bool, default True",
        "Treat a float64 column that holds only float32 numbers as float32, where 1.0 is a rounded number.",
    ),
    "of": (
        '{"prediction", "event", "classes"}, default "prediction"',
        "What rows are about: whether the predicted label is right, whether ``pos_label`` occurs as often as its "
        "probability says (a risk model), or the same of every class.",
    ),
}


#: The options of a function that are not data, for the hint at a misspelt name.
OWN: dict[str, tuple[str, ...]] = {}


def takes_predictions(function: Function) -> Function:
    """Decorate a function of ``(x, second, third, /, *, ..., **columns)``: its help names and explains all of them."""
    shown = signature(function)  # type: ignore[arg-type]
    own = [one for one in shown.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    taken = {one.name for one in own}
    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=_annotation(name))
        for name in NAMED
        if name not in taken
    ]
    name: str = function.__name__  # type: ignore[attr-defined]
    OWN[name] = tuple(one.name for one in own if one.kind is Parameter.KEYWORD_ONLY)
    function.__signature__ = shown.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
    function.__doc__ = _document(function.__doc__, taken)
    return function


def _document(docstring: str | None, taken: set[str]) -> str | None:
    """A docstring with the data arguments among its parameters: places first, then its own, then names."""
    if docstring is None:  # python -OO
        return None
    text = cleandoc(docstring)
    head, mark, rest = text.partition("Parameters\n----------\n")
    if not mark:
        at = min((at for at in map(text.find, _SECTIONS) if at >= 0), default=len(text))
        head, rest = f"{text[:at].rstrip()}\n\n", f"\n{text[at:]}"
    end = min((at for at in map(rest.find, _SECTIONS) if at >= 0), default=len(rest))
    own, after = rest[:end].strip("\n"), rest[end:]
    # a function may have words of its own for one of them; those of a place come first, as it does
    described = {name.strip() for line in re.findall(r"^(\w[\w, ]*) :", own, re.MULTILINE) for name in line.split(",")}
    first, own = _split_places(own)
    places = [_entry(name, *_POSITIONAL[name]) for name in _POSITIONAL if name not in described]
    named = [_entry(name, *NAMED[name]) for name in NAMED if name not in taken | described]
    entries = [first, *places, own, *named]
    return f"{head}Parameters\n----------\n" + "\n".join(part for part in entries if part) + f"\n\n{after}".rstrip()


def _split_places(own: str) -> tuple[str, str]:
    """The entries of places, which stand first, and the others."""
    entries = re.split(r"\n(?=\w)", own)
    count = next((i for i, entry in enumerate(entries) if entry.split(" :")[0] not in _POSITIONAL), len(entries))
    return "\n".join(entries[:count]), "\n".join(entries[count:])


_SECTIONS = tuple(
    f"{name}\n{'-' * len(name)}\n"
    for name in ("Returns", "Raises", "Warns", "See Also", "Notes", "References", "Examples")
)


@cache
def _entry(name: str, kind: str, words: str) -> str:
    """What a docstring says of an argument; every function says the same, and filling lines takes time."""
    return f"{name} : {kind}\n{indent(fill(words, 106), '    ')}"


def _annotation(name: str) -> str:
    """The type of a named argument, as text like other annotations."""
    annotation: Any = Columns.__annotations__[name]
    return getattr(annotation, "__forward_arg__", str(annotation))

"""Bodies of requests: JSON, JSON lines or Arrow, checked row by row, as batches of predictions or of labels."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from surefoot._io.printable import printable, printable_value
from surefoot.service.arrow import read_rows
from surefoot.service.refused import Refused

#: Limits of a request; each is refused with its number.
MOST_ROWS, MOST_ID, MOST_NAME = 10_000, 200, 64
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: The doubt of a 1 that was rounded, at most: half of the last of its decimals, of which there is one.
_ROUNDED = 0.05
_NUMBER = re.compile(r"[+-]?[0-9.]+")
#: A whole number with decimals that are zero.
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0+")

JSON, LINES, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"
#: What curl says of a body if nothing else is said.
_CURL = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Prediction:
    """A prediction as it was issued, and its label if that was known already."""

    id: str
    confidence: float
    doubt: float
    predicted: str | None = None
    slice: str | None = None
    group: str | None = None
    correct: bool | None = None


@dataclass(frozen=True)
class Label:
    """What became of a prediction: whether it was correct, or its true class."""

    id: str
    correct: bool | None = None
    label: str | None = None


def check_slice(name: str | None) -> str | None:
    """The name of a slice in a query; None is all of them, and no name the rows without a slice."""
    return name if not name else _checked(name, "slice", MOST_ID)


def check_name(kind: str, name: str) -> str:
    """The name of a model or of a version."""
    if len(name) > MOST_NAME or not _NAME.fullmatch(name):
        raise Refused(
            404,
            f"{kind} {printable_value(name)} is no name: use up to {MOST_NAME} letters, digits, '.', '_' and '-', a "
            "letter or digit first",
        )
    return name


def predictions(body: bytes, content_type: str) -> list[Prediction]:
    """The predictions of a request."""
    return _read(body, content_type, "predictions", _prediction)


def labels(body: bytes, content_type: str) -> list[Label]:
    """The labels of a request."""
    return _read(body, content_type, "labels", _label)


def _read(body: bytes, content_type: str, what: str, row: Callable[[Any, str], Any]) -> list[Any]:
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("", JSON, _CURL):
        found = _parse(body, "the body")
        rows = found
        if isinstance(found, dict) and what in found:
            _refuse_others(found, (what,), f"{what} alone; other rows have a path of their own")
            rows = found[what]
    elif kind == LINES:
        lines = [(i, line) for i, line in enumerate(body.split(b"\n"), 1) if line.strip()]
        _check_number(len(lines))
        rows = [_parse(line, f"line {i}") for i, line in lines]
    elif kind == ARROW:
        rows = read_rows(body, MOST_ROWS)
    else:
        raise Refused(415, f"the body is {printable(kind)}; send {JSON}, {LINES} or {ARROW}")
    return _rows(rows, what, row)


def check_rows(what: str, rows: list[dict[str, Any]]) -> None:
    """Raise if a row is one that is refused whatever is stored: of ``"predictions"`` or of ``"labels"``."""
    read = {"predictions": _prediction, "labels": _label}[what]
    for i, row in enumerate(rows):
        read(row, f"{what}[{i}]")


def message(body: bytes) -> list[list[Prediction] | list[Label]]:
    """The predictions and the labels of a message: JSON or an Arrow stream.

    ``{"predictions": [...], "labels": [...]}`` says which is which; rows alone are predictions if the first has a
    confidence.
    """
    # an Arrow stream begins with a mark that no JSON begins with
    found = read_rows(body, MOST_ROWS) if body.startswith(b"\xff\xff\xff\xff") else _parse(body, "the message")
    if isinstance(found, dict) and ("predictions" in found or "labels" in found):
        _refuse_others(found, ("predictions", "labels"), "predictions and labels")
        parts = found
    else:
        first = found[0] if isinstance(found, list) and found else found
        is_prediction = isinstance(first, dict) and ("confidence" in first or "doubt" in first)
        parts = {"predictions" if is_prediction else "labels": found}
    # labels first: one that comes along with its prediction was known when that was sent
    readers: dict[str, Callable[[Any, str], Any]] = {"labels": _label, "predictions": _prediction}
    return [rows for what, read in readers.items() if (rows := _rows(parts.get(what, []), what, read))]


def _refuse_others(found: dict[str, Any], known: tuple[str, ...], words: str) -> None:
    """Raise if there is more beside the rows: it would be lost without a word."""
    other = next((name for name in found if name not in known), None)
    if other is not None:
        raise Refused(400, f"{printable(other)} is not known here; there are {words}")


def _rows(rows: Any, what: str, row: Callable[[Any, str], Any]) -> list[Any]:
    if isinstance(rows, dict):
        rows = [rows]
    if not isinstance(rows, list):
        raise Refused(400, f'the body holds no rows; send {{"{what}": [{{"id": ...}}, ...]}}')
    _check_number(len(rows))
    return list(_once((row(value, f"{what}[{i}]") for i, value in enumerate(rows)), what))


def _check_number(rows: int) -> None:
    if rows > MOST_ROWS:
        raise Refused(413, f"{rows:,} rows in one request; send at most {MOST_ROWS:,}")


def _once(rows: Iterable[Any], what: str) -> Iterable[Any]:
    """Each id once; the same row again is left out."""
    known: dict[str, Any] = {}
    for i, row in enumerate(rows):
        before = known.setdefault(row.id, row)
        if before is row:
            yield row
        elif before != row:
            raise Refused(400, f"{what}[{i}].id is {printable_value(row.id)} again, with other values")


def _parse(text: bytes, where: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError) as why:
        raise Refused(400, f"{where} is not JSON: {printable(str(why), 120)}") from why


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        # of two values one would be lost
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise ValueError(f"{printable_value(twice)} stands twice in one object")
    return found


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON number")


def _prediction(row: Any, where: str) -> Prediction:
    _fields(row, where, ("id", "confidence", "doubt", "predicted", "slice", "group", "correct"))
    confidence, doubt = _share(row, "confidence", where), _share(row, "doubt", where)
    if confidence is None and doubt is None:
        raise Refused(400, f"{where} has no confidence; send a number from 0 to 1")
    # a 1 beside a doubt was rounded
    apart = 0.0 if confidence is None or doubt is None else abs(confidence + doubt - 1.0)
    if apart > (_ROUNDED if confidence == 1 else 1e-6):
        raise Refused(400, f"{where}: confidence {confidence!r} and doubt {doubt!r} should add up to 1")
    # of both, the doubt is the one that was told with care: a confidence near 1 has few digits to tell it
    certain = float(confidence or 0.0) if doubt is None else 1.0 - doubt
    return Prediction(
        _id(row, where),
        certain,
        1.0 - certain if doubt is None else doubt,
        predicted=_class(row, "predicted", where),
        slice=_text(row, "slice", where),
        group=_text(row, "group", where),
        correct=_flag(row, where),
    )


def _label(row: Any, where: str) -> Label:
    _fields(row, where, ("id", "correct", "label"))
    found = Label(_id(row, where), _flag(row, where), _class(row, "label", where))
    if (found.correct is None) == (found.label is None):
        raise Refused(400, f"{where} needs either correct (true or false) or label (the true class)")
    return found


def _fields(row: Any, where: str, known: tuple[str, ...]) -> None:
    if not isinstance(row, dict):
        raise Refused(400, f"{where} is {printable(repr(row))}; send an object with an id")
    other = next((name for name in row if name not in known), None)
    if other is not None:
        raise Refused(400, f"{where}.{printable(other)} is not known; there are {', '.join(known)}")


def _id(row: dict[str, Any], where: str) -> str:
    value = row.get("id")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**MOST_NAME:
        value = str(value)
    if value is None:
        raise Refused(400, f"{where} has no id")
    return _checked(value, f"{where}.id", MOST_ID)


def _text(row: dict[str, Any], name: str, where: str) -> str | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool):
        value = "true" if value else "false"
    elif isinstance(value, int) and abs(value) < 10**MOST_NAME:
        value = str(value)
    return _checked(value, f"{where}.{name}", MOST_ID)


def _class(row: dict[str, Any], name: str, where: str) -> str | None:
    value = row.get(name)
    return None if value is None else _checked(class_text(value), f"{where}.{name}", MOST_ID)


def class_text(value: Any) -> Any:
    """A class as text, the same whether it came as a number, a flag or text; what is none of these stays.

    A column of whole numbers in which one is missing is written as 1.0 by some, and a flag as True.

    Examples
    --------
    >>> class_text(1), class_text(1.0), class_text("1.0"), class_text("007"), class_text("1.10")
    ('1', '1', '1', '007', '1.10')
    >>> class_text(-0.0), class_text("-0.0"), class_text("-0"), class_text("+1")
    ('0', '0', '0', '+1')
    >>> class_text(True), class_text("True"), class_text("Tuesday")
    ('true', 'true', 'Tuesday')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) < 10**MOST_NAME:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, str):
        if value.lower() in ("true", "false"):
            return value.lower()
        whole = _WHOLE.fullmatch(value)
        text = whole[1] if whole else value
        return "0" if text == "-0" else text
    return value


def is_class(predicted: str, label: str, whose: str) -> bool:
    """Whether a predicted class is the true one; raise if they are of kinds that are never equal.

    Examples
    --------
    >>> is_class("1", "1", "id 7"), is_class("true", "false", "id 7")
    (True, False)
    """
    flags = ("true", "false")
    if (predicted in flags) != (label in flags) and (_NUMBER.fullmatch(predicted) or _NUMBER.fullmatch(label)):
        raise Refused(
            409,
            f"{whose} was predicted as {printable_value(predicted)}, and its label is {printable_value(label)}: one is "
            "true or false and the other a number, which are never equal; send both alike",
        )
    return predicted == label


def _checked(value: Any, where: str, most: int) -> str:
    if not isinstance(value, str):
        raise Refused(400, f"{where} is {printable(repr(value))}; send text or a whole number")
    if not value or len(value) > most:
        raise Refused(400, f"{where} has {len(value):,} characters; send 1 to {most}")
    if not value.isprintable():
        raise Refused(400, f"{where} is {printable_value(value)}, which has characters that cannot be shown")
    return value


def _share(row: dict[str, Any], name: str, where: str) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Refused(400, f"{where}.{name} is {printable(repr(value))}; send a number from 0 to 1")
    return float(value)


def _flag(row: dict[str, Any], where: str) -> bool | None:
    value = row.get("correct")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise Refused(400, f"{where}.correct is {printable(repr(value))}; send true or false")

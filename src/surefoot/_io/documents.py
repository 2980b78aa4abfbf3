"""Saved state as JSON: marked with what it is, its schema version and a fingerprint; read with suspicion."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from surefoot._io.writing import write_whole

Thing = TypeVar("Thing")

_ENVELOPE = ("surefoot", "schema", "sha256")


def write(path: str | PathLike[str], kind: str, schema: int, body: dict[str, Any]) -> None:
    """Save a document: whole, or not at all."""
    write_whole(path, dump(kind, schema, body))


def dump(kind: str, schema: int, body: dict[str, Any]) -> str:
    """The text of a document, as a file holds it."""
    return _text({"surefoot": kind, "schema": schema, "sha256": _digest(body), **body}) + "\n"


def read(
    path: str | PathLike[str], kind: str, schema: int, unpack: Callable[[dict[str, Any]], Thing], error: type[Exception]
) -> Thing:
    """What ``unpack`` makes of a saved document; one that is damaged, foreign or newer raises ``error``."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except ValueError as why:
        raise error(f"{path}: not a saved {kind}, or a damaged one ({why}).") from why
    return parse(text, path, kind, schema, unpack, error)


def parse(
    text: str,
    path: str | PathLike[str],
    kind: str,
    schema: int,
    unpack: Callable[[dict[str, Any]], Thing],
    error: type[Exception],
) -> Thing:
    """As :func:`read`, of the text of a document; ``path`` says where it comes from."""
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as why:
        raise error(f"{path}: not a saved {kind}, or a damaged one ({why}).") from why
    if not isinstance(document, dict) or document.get("surefoot") != kind:
        raise error(f"{path}: not a saved {kind}.")
    found = document.get("schema")
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise error(f"{path}: damaged {kind} (schema is {found!r}).")
    if found > schema:
        raise error(
            f"{path}: written by a newer surefoot (schema {found}, this one reads up to {schema}); upgrade to read it."
        )
    body = {name: value for name, value in document.items() if name not in _ENVELOPE}
    try:
        digest = _digest(body)
    except ValueError as why:  # a number beyond what a float holds
        raise error(f"{path}: damaged {kind} ({why}).") from why
    if document.get("sha256") != digest:
        raise error(f"{path}: damaged {kind} (its checksum does not match its contents).")
    try:
        return unpack(body)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as why:
        raise error(f"{path}: damaged {kind} ({type(why).__name__}: {why}).") from why


def numbers(values: Any) -> list[Any]:
    """Floats as JSON holds them: counts without ".0", which are shorter, and infinities as words."""
    return [
        (int(v) if v.is_integer() and abs(v) < 2**53 else v) if abs(v) < _INFINITE else str(v) for v in values.tolist()
    ]


_INFINITE = float("inf")

#: What the fields of bands, bins and slices are called in JSON.
_NAMES = {"stated": "expected_errors", "seen": "observed_errors"}


def strict(fields: dict[str, Any]) -> dict[str, Any]:
    """Numbers that JSON cannot hold as None, with the reason beside them."""
    kept: dict[str, Any] = {}
    for name, value in fields.items():
        name = _NAMES.get(name, name)
        if isinstance(value, tuple):
            kept[name] = [strict(x) if isinstance(x, dict) else x if math.isfinite(x) else None for x in value]
        elif isinstance(value, float) and not math.isfinite(value):
            kept[name] = None
            kept[f"{name}_reason"] = "not defined on these rows" if math.isnan(value) else "infinite"
        else:
            kept[name] = value
    return kept


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def _digest(body: dict[str, Any]) -> str:
    """A fingerprint of the contents, so that damage is found and not computed with."""
    return hashlib.sha256(_text(body).encode()).hexdigest()


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")

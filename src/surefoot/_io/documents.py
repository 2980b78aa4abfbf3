"""Saved state as JSON: marked with what it is, its schema version and a fingerprint; read with suspicion."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
from collections.abc import Callable
from os import PathLike
from typing import Any, NoReturn, TypeVar

from surefoot._io import limits
from surefoot._io.printable import printable, printable_value
from surefoot._io.shapes import Shape
from surefoot._io.writing import write_whole

Thing = TypeVar("Thing")

_ENVELOPE = ("surefoot", "schema", "sha256")


def write(path: str | PathLike[str], kind: str, schema: int, body: dict[str, Any]) -> None:
    """Save a document: whole, or not at all; one that could not be read again is refused."""
    text = dump(kind, schema, body)
    if len(text) > limits.SAVED[kind]:
        most = limits.in_words(limits.SAVED[kind])
        raise OSError(
            errno.EFBIG,
            f"this {kind} would take {len(text):,} bytes; at most {most} can be read again. Nothing was written",
            str(path),
        )
    write_whole(path, text)


def dump(kind: str, schema: int, body: dict[str, Any]) -> str:
    """The text of a document, as a file holds it."""
    return _text({"surefoot": kind, "schema": schema, "sha256": _digest(body), **body}) + "\n"


def read(
    path: str | PathLike[str],
    kind: str,
    schema: int,
    shape: Shape,
    unpack: Callable[[dict[str, Any]], Thing],
    error: type[Exception],
) -> Thing:
    """What ``unpack`` makes of a saved document of a shape; what is damaged, foreign or newer raises ``error``."""
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size > limits.SAVED[kind]:
            raise _too_large(str(path), kind, error)
        # a pipe has no size: one byte more tells that it is too large
        content = stream.read(limits.SAVED[kind] + 1)
    return parse(content, str(path), kind, schema, shape, unpack, error)


def parse(
    content: bytes,
    name: str,
    kind: str,
    schema: int,
    shape: Shape,
    unpack: Callable[[dict[str, Any]], Thing],
    error: type[Exception],
) -> Thing:
    """As :func:`read`, of what a file of a name holds."""
    if len(content) > limits.SAVED[kind]:
        raise _too_large(name, kind, error)
    try:
        document = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as why:
        raise error(f"{name}: not a saved {kind}, or a damaged one ({why}).") from why
    if not isinstance(document, dict) or document.get("surefoot") != kind:
        raise error(f"{name}: not a saved {kind}.")
    found = document.get("schema")
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise error(f"{name}: damaged {kind} (schema is {printable_value(found)}).")
    if found > schema:
        raise error(
            f"{name}: written by a newer surefoot (schema {found}, this one reads up to {schema}); upgrade to read it."
        )
    body = {key: value for key, value in document.items() if key not in _ENVELOPE}
    try:
        digest = _digest(body)
    except (ValueError, RecursionError) as why:  # a number beyond what a float holds
        raise error(f"{name}: damaged {kind} ({why}).") from why
    if document.get("sha256") != digest:
        raise error(f"{name}: damaged {kind} (its checksum does not match its contents).")
    try:
        shape.check(body, "")
        return unpack(body)
    except ValueError as why:
        raise error(f"{name}: damaged {kind} ({printable(str(why), 300)}).") from why


def _too_large(name: str, kind: str, error: type[Exception]) -> Exception:
    """The error about a saved file that is larger than such files are."""
    most = limits.in_words(limits.SAVED[kind])
    return error(f"{name}: larger than {most}, which no saved {kind} is; nothing was read.")


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

"""JSON in one piece: an array of objects, an object of objects by id, or a log of Inspect AI."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.files.inspect_log import is_inspect, log_of_document
from surefoot.files.json_text import parse_json
from surefoot.files.log import Log
from surefoot.files.records import record
from surefoot.files.source import BadFile


def is_document(first: bytes) -> bool:
    """Whether a file that starts so is one document over several lines, or an array."""
    line = first.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0].strip()
    return line.startswith(b"[") or line == b"{"


def is_record_of_records(first: bytes) -> bool:
    """Whether the object on the first line is a document, if it is alone."""
    try:
        row = json.loads(first.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and (is_inspect(row) or _by_id(row) or _list_in(row) is not None)


def open_document(name: str, read: Callable[[], bytes], size: int) -> Log:
    """The records of a document."""
    most = limits.in_words(limits.DOCUMENT)
    if size > limits.DOCUMENT:
        raise BadFile(
            f"JSON in one piece of more than {most} is not read",
            hint="write one object on each line (JSON lines), which may have any size",
            file=name,
        )
    content = read()
    if len(content) > limits.DOCUMENT:
        raise BadFile(f"it unpacks to more than {most} of JSON in one piece", file=name)
    document = parse_json(name, content, "not JSON", hint="is the file cut off?")
    if is_inspect(document):
        return log_of_document(name, document)
    records = document
    if isinstance(document, dict) and _by_id(document):
        records = [{"id": key, **value} for key, value in document.items()]
    elif isinstance(document, dict):
        found = _list_in(document)
        records = [document] if found is None else document[found]
    strange = next((i for i, one in enumerate(records) if not isinstance(one, dict)), None)
    if not records or strange is not None:
        what = "it is empty" if not records else f"{printable(json.dumps(records[strange])[:60])} is no JSON object"
        raise BadFile(what, row=strange, hint="records are objects with a confidence and an outcome", file=name)
    return Log(name, lambda: map(record, records))


def _by_id(document: dict[str, Any]) -> bool:
    """Whether an object holds an object for each id."""
    return bool(document) and all(isinstance(value, dict) for value in document.values())


def _list_in(document: dict[str, Any]) -> str | None:
    """The one list of objects in an object, such as its results."""
    lists = [
        name
        for name, value in document.items()
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
    ]
    return lists[0] if len(lists) == 1 else None

"""A file in place of data: read above this layer, by whoever has Arrow."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any

from surefoot.core.term import Term
from surefoot.errors import InvalidPredictions
from surefoot.predictions.arguments import file_arguments


def read_file(
    path: str | PathLike[str],
    named: Mapping[str, Any],
    *,
    by: Any = None,
    groups: Any = None,
    metrics: Sequence[str] | None = None,
    terms: Sequence[Term] | None = None,
) -> Any:
    """What a file holds and how it was read; the columns, slices and groups are named, or found by their names."""
    for role, column in (("by", by), ("groups", groups)):
        if column is not None and not isinstance(column, str):
            raise InvalidPredictions("is no name; of a file, give the name of a column", argument=role)
    columns, options = file_arguments(dict(named))
    if "positive" in options:
        options["positive"] = str(options["positive"])
    read = import_module("surefoot.files.reading").read
    return read(os.fspath(path), columns, by=by, group=groups, metrics=metrics, terms=terms, **options)


def source_of(reading: Any) -> str:
    """The name of the file that was read, without its folder."""
    name: str = reading.name
    return os.path.basename(name) if os.path.isfile(name) else name

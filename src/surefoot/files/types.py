"""What the files of a data set must agree on: the types of their columns, and how long names in them are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.files.columns import NAMES, plain
from surefoot.files.source import BadFile, Source

if TYPE_CHECKING:
    import pyarrow as pa


_VIEWS = ("list_view", "large_list_view")


def check_types(sources: Sequence[Source], names: Sequence[str]) -> None:
    """What files call by one name must be of one type: else one would be rounded, or read, like the other."""
    first = sources[0].schema
    _check_storage(sources[0], names)
    for name in names:
        for source in sources[1:]:
            if name in source.schema.names:
                _check_storage(source, [name])
                wanted, own = (_plain_type(schema.field(name).type) for schema in (first, source.schema))
                if own != wanted:
                    said = f"{printable(name)} is of type {own}, in the first file {wanted}"
                    raise BadFile(f"{said}; convert one", file=source.name)


def _check_storage(source: Source, names: Sequence[str]) -> None:
    """Refuse columns that Arrow can store and computes little with: runs of equal values, and views of lists."""
    import pyarrow.types as kinds

    # older versions do not know views of lists
    odd = [kinds.is_run_end_encoded, *(getattr(kinds, f"is_{one}") for one in _VIEWS if hasattr(kinds, f"is_{one}"))]
    for name in names:
        kind = source.schema.field(name).type
        if any(one(kind) for one in odd):
            raise BadFile(f"is stored as {kind}", column=name, hint="store it as a plain column", file=source.name)


def check_roles(sources: Sequence[Source], roles: Mapping[str, str | None]) -> None:
    """Refuse a column of weights, or of what was attempted, that the first file lacks: its rows would count as others.

    ``roles`` are those that were looked for, with the column that plays each.
    """
    for role, column in roles.items():
        for source in sources[1:] if column is None else ():
            own = next((name for name in source.schema.names if plain(name) in NAMES[role].split()), None)
            if own is not None:
                raise BadFile(
                    f"it has a column '{printable(own)}', which the first file lacks; add it there, or name the "
                    "columns that count",
                    file=source.name,
                )


def check_alike(known: dict[str, str], table: pa.Table, file: str) -> None:
    """Refuse a column that holds text in one file and numbers in another; ``known`` is what was seen before."""
    for name in table.column_names:
        kind = _kind(table.column(name).type)
        if kind and known.setdefault(name, kind) != kind:
            raise BadFile(
                f"{printable(name)} holds {kind}, and {known[name]} before; write it in one way in all rows", file=file
            )


def _kind(stored: Any) -> str:
    """Roughly what a column holds; empty if it holds nothing, or what is checked elsewhere."""
    import pyarrow.types as kinds

    kind = type_of_values(stored)
    if kinds.is_boolean(kind):
        return "booleans"
    if kinds.is_integer(kind) or kinds.is_floating(kind):
        return "numbers"
    return "text" if is_text_type(kind) else ""


def check_lengths(table: pa.Table, names: Sequence[str], where: Mapping[str, Any]) -> None:
    """Refuse labels, slices and ids that are longer than names are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in names:
        column = table.column(name)
        if pa.types.is_dictionary(column.type) and any(_is_long(chunk.dictionary) for chunk in column.chunks):
            column = pa.chunked_array([chunk.dictionary for chunk in column.chunks])
        if not is_text_type(column.type):
            continue
        # bytes, of which there are at least as many as characters, are counted without reading them
        if (pc.max(pc.binary_length(column)).as_py() or 0) <= limits.LABEL:
            continue
        lengths = pc.utf8_length(column)
        if (longest := pc.max(lengths).as_py()) > limits.LABEL:
            row = pc.index(pc.greater(lengths, limits.LABEL), True).as_py()
            raise BadFile(
                f"holds a name of {longest:,} characters; at most {limits.LABEL:,} are read",
                column=name,
                row=where["row"] + row,
                hint="name the columns of labels with --truth and --predicted; is a line or a quote missing?",
                file=where["file"],
            )


def _is_long(values: Any) -> bool:
    """Whether one of the values of an encoded column may be longer than names are."""
    import pyarrow.compute as pc

    return is_text_type(values.type) and (pc.max(pc.binary_length(values)).as_py() or 0) > limits.LABEL


def type_of_values(kind: Any) -> Any:
    """The type of the values of a column, which may be held once each."""
    import pyarrow.types as kinds

    return kind.value_type if kinds.is_dictionary(kind) else kind


def is_text_type(kind: Any) -> bool:
    """Whether a column of this type holds text."""
    import pyarrow.types as kinds

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind))


def _plain_type(kind: Any) -> str:
    """A type without the ways there are to store it."""
    import pyarrow.types as kinds

    kind = type_of_values(kind)
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        return f"list of {kind.value_type}"
    if is_text_type(kind):
        return "text"
    return "whole numbers" if kinds.is_integer(kind) else str(kind)

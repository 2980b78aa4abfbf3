"""What the files of a data set must agree on: the types of their columns, and how long names in them are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.files.source import BadFile, Source

if TYPE_CHECKING:
    import pyarrow as pa


def check_types(sources: Sequence[Source], names: Sequence[str]) -> None:
    """What files call by one name must be of one type: else one would be rounded, or read, like the other."""
    first = sources[0].schema
    for name in names:
        for source in sources[1:]:
            if name in source.schema.names:
                wanted, own = (_plain_type(schema.field(name).type) for schema in (first, source.schema))
                if own != wanted:
                    said = f"{printable(name)} is of type {own}, in the first file {wanted}"
                    raise BadFile(f"{said}; convert one", file=source.name)


def check_lengths(table: pa.Table, names: Sequence[str], where: Mapping[str, Any]) -> None:
    """Refuse labels, slices and ids that are longer than names are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in names:
        column = table.column(name)
        if pa.types.is_dictionary(column.type) and any(_is_long(chunk.dictionary) for chunk in column.chunks):
            column = pa.chunked_array([chunk.dictionary for chunk in column.chunks])
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
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
    import pyarrow as pa
    import pyarrow.compute as pc

    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return is_text and (pc.max(pc.binary_length(values)).as_py() or 0) > limits.LABEL


def _plain_type(kind: Any) -> str:
    """A type without the ways there are to store it."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(kind):
        kind = kind.value_type
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        return f"list of {kind.value_type}"
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return "text"
    return "whole numbers" if kinds.is_integer(kind) else str(kind)

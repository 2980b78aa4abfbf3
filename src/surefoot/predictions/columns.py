"""Whatever the caller holds a column in, to a checked NumPy array.

Lists, arrays (any byte order, any strides, read-only too), masked arrays, tensors on the host, and columns of pandas,
Polars and PyArrow. Nothing is copied that need not be.
"""

from __future__ import annotations

import numbers
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InvalidPredictions
from surefoot.predictions.checks import refuse_infinite, refuse_null
from surefoot.predictions.doubt import SMALLEST, Numbers, raise_tiny

Array = npt.NDArray[Any]

#: Bytes up to which text is held as NumPy's, each as wide as the longest; beyond, each distinct one is held once.
_WIDE = 1 << 27
_SERIES_PACKAGES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def as_array(name: str, given: Any) -> Array:
    """The caller's column as a NumPy array of native byte order, without nulls of any kind but nan."""
    if given is None:
        raise InvalidPredictions("is missing", argument=name)
    if isinstance(given, np.ma.MaskedArray):
        return _unmask(name, given)
    package = type(given).__module__.partition(".")[0]
    if package == "torch":
        return _from_tensor(name, given)
    if package == "pyarrow" and (array := _from_arrow(name, given)) is not None:
        return array
    if package in _SERIES_PACKAGES:
        return _from_series(name, given)
    if isinstance(given, str | bytes | dict | set | frozenset) or not hasattr(given, "__len__"):
        kind = type(given).__name__
        raise InvalidPredictions(
            f"is a {kind}, not a column of values", argument=name, hint="give a list, an array or a series"
        )
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidPredictions(
            f"cannot be read as an array ({error})", argument=name, hint="are its rows equally long?"
        ) from error
    return _native(array)


def as_column(name: str, given: Any) -> Array:
    """As :func:`as_array`, and with one dimension."""
    array = as_array(name, given)
    if array.ndim != 1:
        raise refuse_shape(name, array.shape)
    return array


def refuse_shape(argument: str, shape: tuple[int, ...]) -> InvalidPredictions:
    """The error for what is no single column."""
    hint = ""
    if len(shape) == 2 and shape[1] == 1:
        hint = f"give {argument}.ravel()"
    elif len(shape) == 2 and argument in ("y_true", "y_pred"):
        hint = f"if its rows are one-hot, give {argument}.argmax(axis=1)"
    size = " x ".join(map(str, shape)) or "a single value"
    return InvalidPredictions(
        f"must have one dimension, one value for each row; it is {size}", argument=argument, hint=hint
    )


def as_numbers(name: str, given: Any, dimensions: int = 1, *, fractions: bool = True) -> Numbers:
    """Finite floats, kept in their own type where that is float16, float32 or float64; integers if not fractions."""
    if isinstance(given, list | tuple):
        given = _from_list(name, given)
    array = as_column(name, given) if dimensions == 1 else as_array(name, given)
    if str(getattr(given, "dtype", "")).endswith("bfloat16"):
        return Numbers(_finite(name, array.astype(np.float32)), "bfloat16")
    if array.dtype == object:
        array = _numbers_from_objects(name, array)
    if array.dtype.kind in "iu" and not fractions:
        array = array.astype(np.float64)
    if array.dtype.kind in "iu":
        raise InvalidPredictions(
            f"holds integers ({{name}}[{_first_index(array)}] is {_first(array)!r}), not numbers from 0 to 1",
            argument=name,
            hint="if these are percentages divide by 100, if they are labels pass them as y_pred, if 0 and 1 are meant "
            "convert to float",
        )
    if array.dtype.kind != "f":
        raise InvalidPredictions(
            f"must hold numbers; {{name}}[{_first_index(array)}] is {_first(array)!r} (type {array.dtype})",
            argument=name,
            hint="Convert it to float",
        )
    if array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    array = _finite(name, array)
    return Numbers(_plain_zeros(array) if fractions else array, array.dtype.name)


def _plain_zeros(array: Array) -> Array:
    """The same numbers without a zero that has a sign, and without those that are all but zero.

    Tables by doubt are keyed by the bits of a number: -0.0 would be another one than 0.0, and far from it. Odds of the
    subnormal numbers, which have lost their digits, are beyond what float64 holds.
    """
    bits = array.view(f"i{array.dtype.itemsize}") if array.flags.c_contiguous else None
    least = SMALLEST if array.dtype == np.float64 else np.finfo(array.dtype).tiny
    if not array.size or (bits is not None and bits.min() >= array.dtype.type(least).view(bits.dtype)):
        return array
    plain: Array = array + array.dtype.type(0.0)
    return raise_tiny(plain) if array.dtype == np.float64 else plain


def _from_list(name: str, given: Any) -> Any:
    """A list as an array that has not been made of one type: NumPy would turn [0.9, "x"] into strings."""
    if len(given) and isinstance(given[0], np.ndarray):
        return as_array(name, given)
    try:
        array = np.array(given, dtype=object)
    except ValueError as error:
        raise InvalidPredictions(
            f"cannot be read as an array ({error})", argument=name, hint="are its rows equally long?"
        ) from error
    return array.astype(np.float64) if set(map(type, array.flat)) == {float} else array


def is_wide(texts: Any, rows: int) -> bool:
    """Whether so many rows of these texts are too many for NumPy's text."""
    return rows * 4 * max(map(len, texts), default=0) > _WIDE


def as_text(values: Any, rows: Any = slice(None)) -> Array:
    """Some of the rows of a sequence of text; as objects where one long text would make all others as wide."""
    texts = np.fromiter(values, dtype=object, count=len(values))
    if not is_wide(texts, len(texts[rows])):
        narrow: Array = texts.astype(np.str_)[rows]
        return narrow
    once: dict[str, str] = {}
    held: Array = np.fromiter((once.setdefault(text, text) for text in texts), dtype=object, count=len(texts))[rows]
    return held


def as_python(value: Any) -> Any:
    """One value of an array as a Python object."""
    return value.item() if hasattr(value, "item") else value


def first_row(offends: Array) -> tuple[int, ...]:
    """The index of the first element that offends."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(offends)), offends.shape))


def is_missing(value: Any) -> bool:
    """Whether a Python object is one of the ways to say that a value is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _first(array: Array) -> Any:
    value = array.flat[0] if array.size else None
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "Mm" else value


def _first_index(array: Array) -> str:
    return ", ".join("0" for _ in range(array.ndim))


def _native(array: Array) -> Array:
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _finite(name: str, values: Array) -> Array:
    # a sum is finite only if every term is; it is the cheapest way to find that nothing is wrong
    with np.errstate(over="ignore", invalid="ignore"):
        if not values.size or np.isfinite(values.sum(dtype=np.float64)):
            return values
    bad = ~np.isfinite(values)
    if bad.any():
        where = first_row(bad)
        raise refuse_infinite(name, where, float(values[where]))
    return values


def _unmask(name: str, given: np.ma.MaskedArray[Any, Any]) -> Array:
    mask = np.ma.getmaskarray(given)
    if mask.any():
        raise refuse_null(name, first_row(mask), "masked")
    return _native(np.asarray(given.data))


def _numbers_from_objects(name: str, array: Array) -> Array:
    for where, value in np.ndenumerate(array):
        if is_missing(value):
            raise refuse_null(name, where, str(value))
        if isinstance(value, bool | np.bool_) or not (
            isinstance(value, numbers.Real) or type(value).__name__ == "Decimal"
        ):
            raise InvalidPredictions(
                "not a number",
                argument=name,
                row=where,
                value=value,
                hint="if the rows are equally long numbers, give a two-dimensional float array",
            )
    types = set(map(type, array.flat))
    if len(types) == 1 and issubclass(narrow := next(iter(types)), np.floating):
        return array.astype(narrow)
    try:
        if types and all(issubclass(kind, int | np.integer) for kind in types):
            return array.astype(np.int64)
        return array.astype(np.float64)
    except (OverflowError, ValueError, TypeError) as error:
        raise InvalidPredictions(f"cannot be read as numbers: {error}", argument=name) from error


def check_tensor(name: str, given: Any) -> None:
    """Raise for tensors whose values cannot be computed with as they lie."""
    kind = str(given.dtype).removeprefix("torch.")
    if given.is_nested:
        raise InvalidPredictions("is a nested tensor", argument=name, hint="give one with as many values in each row")
    if str(given.layout) != "torch.strided":
        raise InvalidPredictions("is a sparse tensor", argument=name, hint=f"give {name}.to_dense()")
    if given.is_quantized:
        raise InvalidPredictions("is a quantized tensor", argument=name, hint=f"give {name}.dequantize()")
    if kind.startswith("float") and kind not in ("float16", "float32", "float64"):
        raise InvalidPredictions(
            f"is a tensor of {kind}, whose few digits are no confidences", argument=name, hint=f"give {name}.float()"
        )


def _from_tensor(name: str, given: Any) -> Array:
    if given.device.type != "cpu":
        raise InvalidPredictions(
            f"is a tensor on {given.device}",
            argument=name,
            hint="give all columns there, or move it to the CPU with .cpu()",
        )
    check_tensor(name, given)
    tensor = given.detach()
    return np.asarray((tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy())


def _from_arrow(name: str, given: Any) -> Array | None:
    """An Arrow column of plain numbers, truths, text or lists of numbers; None for what else there is.

    Numbers are looked at, not copied, and the way past Arrow's own conversion does not load pandas.
    """
    pa: Any = sys.modules["pyarrow"]
    if isinstance(given, pa.ChunkedArray):
        given = given.combine_chunks()
    if isinstance(given, pa.ChunkedArray) or not isinstance(given, pa.Array):
        return None
    kind = given.type
    if given.null_count:
        row = next(i for i in range(len(given)) if not given[i].is_valid)
        raise refuse_null(name, row, "null")
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _from_lists(name, given)
    if pa.types.is_boolean(kind):
        flags: Array = np.from_dlpack(given.cast(pa.uint8())).view(bool)
        return flags
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.asarray(np.from_dlpack(given)) if len(given) else np.empty(0, kind.to_pandas_dtype())
    if pa.types.is_dictionary(kind) and not pa.types.is_string(kind.value_type):
        return None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        coded = given if pa.types.is_dictionary(kind) else given.dictionary_encode()
        words = coded.dictionary.to_pylist() or [""]
        return as_text(words, np.from_dlpack(coded.indices)) if len(given) else np.array(words)[:0]
    return None


def _from_lists(name: str, given: Any) -> Array | None:
    """Lists of equal length as a table."""
    pa: Any = sys.modules["pyarrow"]
    inner = given.flatten()
    if not len(given) or not pa.types.is_floating(inner.type):
        return None
    if not pa.types.is_fixed_size_list(given.type):
        lengths = np.diff(np.from_dlpack(given.offsets))
        uneven = np.flatnonzero(lengths != lengths[0])
        if len(uneven):
            row = int(uneven[0])
            raise InvalidPredictions(
                f"has {lengths[row]} values, but {{name}}[0] has {lengths[0]}", argument=name, row=row
            )
    if inner.null_count:
        row = next(i for i in range(len(inner)) if not inner[i].is_valid) * len(given) // len(inner)
        raise refuse_null(name, row, "null")
    return np.asarray(np.from_dlpack(inner)).reshape(len(given), -1)


def _from_series(name: str, given: Any) -> Array:
    import narwhals as nw

    given = _as_series(given)
    try:
        series = nw.from_native(given, series_only=True)
    except TypeError:
        return _frame_values(name, given)
    if series.null_count():
        row = int(series.is_null().arg_true()[0])
        raise refuse_null(name, row, "null")
    if series.dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    if isinstance(series.dtype, nw.List | nw.Array):
        table = rectangle(name, series.to_list())
        # lists come out as Python floats; what type they were stored in decides what rounding may have hidden
        return table.astype(np.float32) if series.dtype.inner == nw.Float32 and table.dtype.kind == "f" else table
    try:
        return _native(np.asarray(series.to_numpy()))
    except Exception as error:  # each dataframe package has exceptions of its own for types NumPy lacks
        raise InvalidPredictions(f"is of type {series.dtype}, which cannot be read: {error}", argument=name) from error


def rectangle(name: str, rows: list[Any]) -> Array:
    """Rows of equal length as a two-dimensional array."""
    for row, values in enumerate(rows):
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InvalidPredictions(
                argument=name,
                row=row,
                value=values,
                hint="it should be a number, or a list with one number for each class",
            )
        if len(values) != len(rows[0]):
            raise InvalidPredictions(
                f"has {len(values)} values, but {{name}}[0] has {len(rows[0])}", argument=name, row=row
            )
    return as_array(name, rows)


def _as_series(given: Any) -> Any:
    """Columns that are not yet what Narwhals takes for one."""
    package = type(given).__module__.partition(".")[0]
    if package == "pyarrow" and isinstance(given, sys.modules["pyarrow"].Array):
        return sys.modules["pyarrow"].chunked_array([given])
    if package == "pandas" and not hasattr(given, "iloc"):  # an index, a categorical, an extension array
        return sys.modules["pandas"].Series(given)
    return given


def _frame_values(name: str, given: Any) -> Array:
    """The numbers of a dataframe, for probabilities with a column a class."""
    import narwhals as nw

    try:
        frame = nw.from_native(given, eager_only=True)
    except Exception as error:
        raise InvalidPredictions(f"is a {type(given).__name__} that cannot be read: {error}", argument=name) from error
    return side_by_side(name, [column.to_native() for column in frame.iter_columns()])


def side_by_side(name: str, columns: list[Any]) -> Array:
    """Columns of floats as one table."""
    if not columns:
        raise InvalidPredictions("has no columns", argument=name)
    return np.stack([as_numbers(name, column).values for column in columns], axis=1)


def dimensions(given: Any) -> int:
    """How many dimensions a column or a table has; 1 where its rows are of unequal length, which is said elsewhere."""
    try:
        return int(np.ndim(given))
    except ValueError:
        return 1

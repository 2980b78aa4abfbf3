"""Whatever the caller holds a column in, to a checked NumPy array.

Lists, arrays (any byte order, any strides, read-only too), masked arrays, tensors on the host, and columns of pandas,
Polars and PyArrow. Nothing is copied that need not be.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from surefoot.errors import InvalidPredictions

Array = npt.NDArray[Any]

_SERIES_PACKAGES = ("pandas", "polars", "pyarrow", "modin", "cudf")
_HALF_STEP_BELOW_ONE = {"bfloat16": 2.0**-9, "float16": 2.0**-12, "float32": 2.0**-25, "float64": 2.0**-54}
_COMPLEMENT_TOLERANCE = {"bfloat16": 3e-2, "float16": 4e-3, "float32": 1e-6, "float64": 1e-12}
_LARGEST_WEIGHT = 1e50
#: The types that wider columns are often made of: their binary digits, and how many numbers must use the last one for
#: the type to be theirs. A fraction of few digits is easily one of float16 by chance.
NARROW_TYPES = {"bfloat16": (8, 16), "float16": (11, 8), "float32": (24, 1)}
#: The share of numbers that must use it; of real ones half do.
_LAST_DIGIT_SHARE = 0.1
_SUM_TOLERANCE = {"bfloat16": 3e-2, "float16": 1e-2}


@dataclass(frozen=True)
class Numbers:
    """A column, or a table, of finite numbers, in an array or a tensor, and the float type they came in."""

    values: Any
    float_type: str
    #: Whether they came in float64, although every one of them is a number of the narrower type.
    is_stored_wide: bool = False

    @property
    def half_step(self) -> float:
        """Half the distance from 1 to the number before it: what rounding to 1 can hide."""
        return _HALF_STEP_BELOW_ONE[self.float_type]

    @property
    def is_narrow(self) -> bool:
        """Whether the type is so narrow that a confidence of 1 is a rounded number, not a claim."""
        return self.float_type != "float64"

    @property
    def sum_tolerance(self) -> float:
        """How far from 1 the probabilities of a row may add up."""
        return _SUM_TOLERANCE.get(self.float_type, 1e-3)

    @property
    def complement_tolerance(self) -> float:
        """How far from 1 a confidence and its doubt may add up."""
        return _COMPLEMENT_TOLERANCE[self.float_type]


def as_array(name: str, given: Any) -> Array:
    """The caller's column as a NumPy array of native byte order, without nulls of any kind but nan."""
    if given is None:
        raise InvalidPredictions(f"{name} is missing.")
    if isinstance(given, np.ma.MaskedArray):
        return _unmasked(name, given)
    package = type(given).__module__.partition(".")[0]
    if package == "torch":
        return _from_tensor(name, given)
    if package == "pyarrow" and (array := _from_arrow(name, given)) is not None:
        return array
    if package in _SERIES_PACKAGES:
        return _from_series(name, given)
    if isinstance(given, str | bytes | dict | set | frozenset) or not hasattr(given, "__len__"):
        kind = type(given).__name__
        raise InvalidPredictions(f"{name} is a {kind}, not a column of values; give a list, an array or a series.")
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidPredictions(f"{name} cannot be read as an array ({error}); are its rows equally long?") from error
    return _native(array)


def as_column(name: str, given: Any) -> Array:
    """As :func:`as_array`, and with one dimension."""
    array = as_array(name, given)
    if array.ndim != 1:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise InvalidPredictions(f"{name} must have one dimension, one value a row; it is {shape}.")
    return array


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
            f"{name} holds integers ({name}[{_first_index(array)}] is {_first(array)!r}), but should hold numbers from "
            "0 to 1; if these are percentages divide by 100, if labels they go elsewhere, if 0 and 1 are meant convert "
            "to float."
        )
    if array.dtype.kind != "f":
        raise InvalidPredictions(
            f"{name} must hold numbers; {name}[{_first_index(array)}] is {_first(array)!r} (type {array.dtype}). "
            "Convert it to float."
        )
    if array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    return Numbers(_finite(name, array), array.dtype.name)


def narrowed(column: Numbers) -> Numbers:
    """A column whose every number is one of a narrower type, as of that type.

    Models compute in float32 or less and are often saved as float64: a 1.0 there is a rounded number as it was before.
    Short fractions such as 0.5 or 0.75 are numbers of every type and no sign of one: some must need all its digits.
    """
    values = column.values
    if column.float_type not in ("float64", "float32") or not values.size:
        return column
    # most columns are told by their first few numbers
    some = values.ravel()[:1024].astype(np.float64)
    for name, (digits, _) in NARROW_TYPES.items():
        if name == column.float_type or (to_digits(some, digits) != some).any():
            continue
        wide = values.astype(np.float64)
        inner = wide[(wide > 0) & (wide < 1)]
        last = int((to_digits(inner, digits - 1) != inner).sum())
        if (to_digits(wide, digits) == wide).all() and is_type_used(name, len(inner), last):
            # float16 does not hold what is smaller than 6e-8, and nothing holds bfloat16: values stay, the type is said
            return Numbers(wide.astype(np.float32), name, is_stored_wide=True)
    return column


def to_digits(x: Any, digits: int) -> Any:
    """Float64 numbers, of an array, a tensor or a frame, rounded to so many binary digits: Veltkamp's splitting."""
    ahead = x * (2.0 ** (53 - digits) + 1)
    return ahead - (ahead - x)


def is_type_used(name: str, inner: int, with_last_digit: int) -> bool:
    """Whether so many numbers between 0 and 1, of which some use the last digit of a type, are of that type."""
    return with_last_digit >= max(NARROW_TYPES[name][1], _LAST_DIGIT_SHARE * inner)


def _from_list(name: str, given: Any) -> Any:
    """A list as an array that has not been made of one type: NumPy would turn [0.9, "x"] into strings."""
    if len(given) and isinstance(given[0], np.ndarray):
        return as_array(name, given)
    try:
        array = np.array(given, dtype=object)
    except ValueError as error:
        raise InvalidPredictions(f"{name} cannot be read as an array ({error}); are its rows equally long?") from error
    return array.astype(np.float64) if set(map(type, array.flat)) == {float} else array


def as_fractions(name: str, given: Any) -> Numbers:
    """A column of numbers from 0 to 1."""
    column = as_numbers(name, given)
    check_fractions(name, column.values)
    return column


def check_fractions(name: str, values: Array) -> None:
    """Raise, naming the first offender, unless every value lies in [0, 1]."""
    if values.size and (values.min() < 0 or values.max() > 1):
        where = first_row((values < 0) | (values > 1))
        refuse_outside(name, where, float(values[where]))


def refuse_outside(name: str, where: tuple[int, ...], value: float) -> NoReturn:
    raise InvalidPredictions(
        f"{name}{_index(where)} is {value!r}, outside [0, 1]. If these are logits, use Predictions.from_logits; if "
        "they are percentages, divide by 100."
    )


def as_weight(given: Any, rows: int) -> Array | None:
    """Sample weights as float64: finite, not negative, not all zero; None if none were given."""
    if given is None:
        return None
    if str(getattr(given, "dtype", "")) in ("bool", "torch.bool"):
        given = np.asarray(given).astype(np.float64)
    weight: Array = as_numbers("sample_weight", given, fractions=False).values.astype(np.float64, copy=False)
    check_lengths(sample_weight=weight, rows=rows)
    check_weight(weight, lambda offends: first_row(offends)[0])
    return weight


def check_weight(weight: Any, first: Callable[[Any], int]) -> None:
    """Raise unless weights, in an array or a tensor, can be used; ``first`` finds the first row that offends."""
    if (weight < 0).any():
        row = first(weight < 0)
        raise InvalidPredictions(
            f"sample_weight[{row}] is {float(weight[row])!r}, below 0; weights say how often a row counts."
        )
    if not weight.any():
        raise InvalidPredictions("sample_weight[0] is 0.0, as are all others: no row would count.")
    extreme = (weight > _LARGEST_WEIGHT) | ((weight < 1 / _LARGEST_WEIGHT) & (weight > 0))
    if extreme.any():
        row = first(extreme)
        raise InvalidPredictions(
            f"sample_weight[{row}] is {float(weight[row])!r}; squares and products of such weights leave the range of "
            "float64. Only their ratios matter: divide all by a common number."
        )


def check_lengths(*, rows: int | None = None, **columns: Array | None) -> int:
    """The common number of rows; raise if the columns differ in length or hold no rows at all."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    expected = rows if rows is not None else next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != expected:
            other = "the other columns hold" if rows is not None else f"{next(iter(lengths))} holds"
            raise InvalidPredictions(
                f"{name} has {length:,} rows, but {other} {expected:,}; the first row without a partner is "
                f"{min(length, expected)}."
            )
    if expected == 0:
        raise InvalidPredictions(f"{next(iter(lengths))} holds no rows; there is nothing to assess.")
    return expected


def first_row(offends: Array) -> tuple[int, ...]:
    """The index of the first element that offends."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(offends)), offends.shape))


def refuse_null(name: str, row: int | tuple[int, ...], value: Any) -> NoReturn:
    where = _index(row if isinstance(row, tuple) else (row,))
    raise InvalidPredictions(f"{name}{where} is {value}; fill it or drop the row.")


def is_missing(value: Any) -> bool:
    """Whether a Python object is one of the ways to say that a value is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _index(where: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, where))}]"


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
        refuse_infinite(name, where, float(values[where]))
    return values


def refuse_infinite(name: str, where: tuple[int, ...], value: float) -> NoReturn:
    if value == -np.inf and name == "logits":
        raise InvalidPredictions(f"{name}{_index(where)} is -inf; for a class that is masked out, give -1e4.")
    refuse_null(name, where, value)


def _unmasked(name: str, given: np.ma.MaskedArray[Any, Any]) -> Array:
    mask = np.ma.getmaskarray(given)
    if mask.any():
        refuse_null(name, first_row(mask), "masked")
    return _native(np.asarray(given.data))


def _numbers_from_objects(name: str, array: Array) -> Array:
    for where, value in np.ndenumerate(array):
        if is_missing(value):
            refuse_null(name, where, value)
        if isinstance(value, bool | np.bool_) or not (
            isinstance(value, numbers.Real) or type(value).__name__ == "Decimal"
        ):
            raise InvalidPredictions(
                f"{name}{_index(where)} is {value!r}, not a number; if the rows are equally long numbers, "
                "give a two-dimensional float array."
            )
    types = set(map(type, array.flat))
    if len(types) == 1 and issubclass(narrow := next(iter(types)), np.floating):
        return array.astype(narrow)
    try:
        if types and all(issubclass(kind, int | np.integer) for kind in types):
            return array.astype(np.int64)
        return array.astype(np.float64)
    except (OverflowError, ValueError, TypeError) as error:
        raise InvalidPredictions(f"{name} cannot be read as numbers: {error}.") from error


def _from_tensor(name: str, given: Any) -> Array:
    if given.device.type != "cpu":
        raise InvalidPredictions(
            f"{name} is a tensor on {given.device}; give all columns there, or bring it to the host with .cpu()."
        )
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
        refuse_null(name, row, "null")
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
        words = np.array(coded.dictionary.to_pylist() or [""])
        return words[np.from_dlpack(coded.indices)] if len(given) else words[:0]
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
            raise InvalidPredictions(f"{name}[{row}] has {lengths[row]} values, but {name}[0] has {lengths[0]}.")
    if inner.null_count:
        row = next(i for i in range(len(inner)) if not inner[i].is_valid) * len(given) // len(inner)
        refuse_null(name, row, "null")
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
        refuse_null(name, row, "null")
    if series.dtype == nw.Decimal:
        series = series.cast(nw.Float64)
    if isinstance(series.dtype, nw.List | nw.Array):
        table = rectangle(name, series.to_list())
        # lists come out as Python floats; what type they were stored in decides what rounding may have hidden
        return table.astype(np.float32) if series.dtype.inner == nw.Float32 and table.dtype.kind == "f" else table
    try:
        return _native(np.asarray(series.to_numpy()))
    except Exception as error:  # each dataframe package has exceptions of its own for types NumPy lacks
        raise InvalidPredictions(f"{name} is of type {series.dtype}, which cannot be read: {error}.") from error


def rectangle(name: str, rows: list[Any]) -> Array:
    """Rows of equal length as a two-dimensional array."""
    for row, values in enumerate(rows):
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InvalidPredictions(f"{name}[{row}] is {values!r}; it should be a number, or a list with one a class.")
        if len(values) != len(rows[0]):
            raise InvalidPredictions(f"{name}[{row}] has {len(values)} values, but {name}[0] has {len(rows[0])}.")
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
        raise InvalidPredictions(f"{name} is a {type(given).__name__} that cannot be read: {error}.") from error
    return side_by_side(name, [column.to_native() for column in frame.iter_columns()])


def side_by_side(name: str, columns: list[Any]) -> Array:
    """Columns of floats as one table."""
    if not columns:
        raise InvalidPredictions(f"{name} has no columns.")
    return np.stack([as_numbers(name, column).values for column in columns], axis=1)

"""Doubt, 1 - confidence, without losing its digits: of arrays and of tensors alike.

``xp`` is the module that an array or a tensor is of, NumPy or torch: both know the functions used here by one name.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from surefoot.errors import RoundedConfidenceWarning

#: Doubts above 0 are at least this, so that 1/doubt is finite: the smallest normal float64.
SMALLEST = float(np.finfo(np.float64).tiny)

ROUNDED_HALF_STEPS = 16
_FEW_DECIMALS = 3
_NEAR_STEPS = 100
#: Rows of a table that are widened together hold so many numbers.
WIDENED = {"numpy": 1 << 17, "torch": 1 << 26}

_HALF_STEP_BELOW_ONE = {"bfloat16": 2.0**-9, "float16": 2.0**-12, "float32": 2.0**-25, "float64": 2.0**-54}
_COMPLEMENT_TOLERANCE = {"bfloat16": 3e-2, "float16": 4e-3, "float32": 1e-6, "float64": 1e-12}
_SUM_TOLERANCE = {"bfloat16": 3e-2, "float16": 1e-2}
#: The types that wider columns are often made of: their binary digits, and how many numbers must use the last one for
#: the type to be theirs. A fraction of few digits is easily one of float16 by chance.
NARROW_TYPES = {"bfloat16": (8, 16), "float16": (11, 8), "float32": (24, 1)}
#: The share of numbers that must use it; of real ones half do.
_LAST_DIGIT_SHARE = 0.1


@dataclass(frozen=True)
class Numbers:
    """A column, or a table, of finite numbers, in an array or a tensor, and the float type they came in."""

    values: Any
    float_type: str
    #: Whether they came in a wider type, although every one of them is a number of the narrower type.
    is_stored_wide: bool = False
    #: The largest of them, where it is known.
    most: float = 1.0
    #: A number that none is below.
    least: float = 0.0

    @property
    def half_step(self) -> float:
        """Half the distance from 1 to the number before it: what rounding to 1 can hide."""
        return _HALF_STEP_BELOW_ONE[self.float_type]

    @property
    def is_narrow(self) -> bool:
        """Whether the type is so narrow that a confidence of 1 is a rounded number, not a claim."""
        return self.float_type != "float64"

    @property
    def doubt_of_one(self) -> float:
        """The doubt of a confidence of 1 that comes alone: 0 unless the type is narrow."""
        return ROUNDED_HALF_STEPS * self.half_step if self.is_narrow else 0.0

    @property
    def near_one(self) -> float:
        """The number above which the doubt of a confidence has lost its digits."""
        return 1 - 2 * _NEAR_STEPS * self.half_step

    @property
    def sum_tolerance(self) -> float:
        """How far from 1 the probabilities of a row may add up."""
        return _SUM_TOLERANCE.get(self.float_type, 1e-3)

    @property
    def complement_tolerance(self) -> float:
        """How far from 1 a confidence and its doubt may add up."""
        return _COMPLEMENT_TOLERANCE[self.float_type]


#: The doubt that a confidence of 1 gets in each narrow type.
NARROW_DOUBTS = tuple(Numbers((), kind).doubt_of_one for kind in ("float32", "float16", "bfloat16"))


class Claim(NamedTuple):
    """How sure each row is.

    Confidence; its doubt, None if that is 1 - confidence; the rows that are 1 by rounding, None if none are; the
    doubt that these have where no doubt is stored; and a number that no confidence is below.
    """

    confidence: Any
    doubt: Any = None
    rounded: Any = None
    doubt_of_one: float = 0.0
    least: float = 0.0


def widen(x: Any) -> Any:
    """As float64, without a copy where it is."""
    return x.astype(np.float64, copy=False) if isinstance(x, np.ndarray) else x.double()


def count(flags: Any) -> int:
    """How many of some flags are set."""
    return int(np.count_nonzero(flags) if isinstance(flags, np.ndarray) else flags.sum())


def narrow(column: Numbers, cast: Callable[[Any, str], Any]) -> Numbers:
    """A column whose every number is one of a narrower type, as of that type; ``cast`` stores it so.

    Models compute in float32 or less and are often saved as float64: a 1.0 there is a rounded number as it was before.
    Short fractions such as 0.5 or 0.75 are numbers of every type and no sign of one: some must need all its digits.
    """
    values = column.values
    if column.float_type not in ("float64", "float32") or not len(values):
        return column
    # most columns are told by their first few numbers
    some = widen(values.ravel()[:1024])
    for name, (digits, _) in NARROW_TYPES.items():
        if name == column.float_type or (round_to_digits(some, digits) != some).any():
            continue
        wide = widen(values)
        inner = wide[(wide > 0) & (wide < 1)]
        last = int((round_to_digits(inner, digits - 1) != inner).sum())
        if (round_to_digits(wide, digits) == wide).all() and is_type_used(name, len(inner), last):
            return replace(column, values=cast(values, name), float_type=name, is_stored_wide=True)
    return column


def round_to_digits(x: Any, digits: int) -> Any:
    """Float64 numbers, of an array, a tensor or a frame, rounded to so many binary digits: Veltkamp's splitting."""
    ahead = x * (2.0 ** (53 - digits) + 1)
    return ahead - (ahead - x)


def is_type_used(name: str, inner: int, with_last_digit: int) -> bool:
    """Whether so many numbers between 0 and 1, of which some use the last digit of a type, are of that type."""
    return with_last_digit >= max(NARROW_TYPES[name][1], _LAST_DIGIT_SHARE * inner)


def clip_to_floor(confidence: Any, floor: float) -> Claim:
    """The paper's clip: confidence within [floor, 1 - floor], and doubt what remains to 1."""
    return Claim(widen(confidence).clip(floor, 1 - floor))


def claim_alone(argument: str, confidence: Numbers) -> Claim:
    """A confidence that comes alone: its doubt is 1 - confidence, and a narrow type's 1 is a rounded number."""
    values, least = confidence.values, confidence.least
    if confidence.most < confidence.near_one:
        return Claim(values, least=least)
    at_one = values == 1
    ones = count(at_one)
    # the bound is compared in the column's own type, which holds it exactly
    near = count(values > confidence.near_one)
    warn_of_rounding(argument, confidence, len(values), ones if confidence.is_narrow else 0, near - ones)
    if not confidence.is_narrow or not ones:
        return Claim(values, least=least)
    return Claim(values, None, at_one, confidence.doubt_of_one, least)


#: How many times smaller a rounded doubt is in the mean than what it is supposed to be where errors are counted, which
#: is on the safe side there. Of an event both sides count: a number rounded to 1 lies half a half-step below it.
SAFE_SIDE = 32.0


def doubt_of_rounded_text(decimals: int) -> float:
    """The doubt of a 1 in decimal text: 16 half-steps as of other types; of so few digits that these are much, one.

    Examples
    --------
    >>> doubt_of_rounded_text(4), doubt_of_rounded_text(2)
    (0.0008, 0.005)
    """
    half_step = 0.5 * 10.0**-decimals
    return ROUNDED_HALF_STEPS * half_step if decimals >= _FEW_DECIMALS else half_step


def raise_tiny(doubt: Any) -> Any:
    """Doubt as float64, with subnormal numbers raised to the smallest normal one."""
    wide = widen(doubt)
    if isinstance(wide, np.ndarray) and wide.size and wide.min() >= SMALLEST:
        return wide
    tiny = (wide > 0) & (wide < SMALLEST)
    if not bool(tiny.any()):
        return wide
    return np.where(tiny, SMALLEST, wide) if isinstance(wide, np.ndarray) else wide.masked_fill(tiny, SMALLEST)


def confidence_of_second(probabilities: Any, chosen: Any, xp: Any) -> Any:
    """The probability of the chosen class, given P(second label)."""
    wide = widen(probabilities)
    return xp.where(chosen == 1, wide, 1 - wide)


def claim_of_columns(table: Numbers, chosen: Any, at: Any, xp: Any) -> Claim:
    """The chosen column of each row is its confidence; the sum of the others its doubt. ``at`` numbers the rows."""
    values = table.values
    parts = []
    size = max(1, WIDENED[xp.__name__] // values.shape[1])
    for start in range(0, len(values), size):
        block = slice(start, start + size)
        others = widen(values[block]) + 0.0
        others[at[: len(others)], chosen[block]] = 0.0
        parts.append(others.sum(axis=1))
    doubt = xp.concatenate(parts)
    warn_of_certain_rows(table.float_type, len(values), count(doubt == 0) if table.is_narrow else 0)
    return Claim(values[at, chosen], raise_tiny(doubt.clip(0.0, 1.0)))


def claim_of_second(probability: Numbers, second: Any, xp: Any) -> Claim:
    """From P(second label): doubt is p itself where the first label is predicted, 1 - p where the second is.

    ``second`` says which rows are predicted to be of the second; None if those are where it is the likelier.
    """
    alone = Claim(None)
    if probability.most >= probability.near_one:
        own = probability.values if second is None else xp.where(second, probability.values, 0.0)
        alone = claim_alone("probabilities", replace(probability, values=own))
    confidence, doubt = split_second(probability.values, second, alone.rounded, alone.doubt_of_one, xp)
    return Claim(confidence, doubt, alone.rounded)


def split_second(p: Any, second: Any, rounded: Any, doubt_of_one: float, xp: Any) -> tuple[Any, Any]:
    """Confidence and doubt, given which rows are of the second label and which of them are 1 by rounding.

    Block by block, so that memory is read once and written once.
    """
    confidence, doubt = (xp.empty_like(p, dtype=xp.float64) for _ in range(2))
    for start in range(0, len(p), WIDENED[xp.__name__]):
        rows = slice(start, start + WIDENED[xp.__name__])
        wide = widen(p[rows])
        rest = 1 - wide
        if second is None:
            own, other = xp.maximum(wide, rest), xp.minimum(wide, rest)
        else:
            own, other = xp.where(second[rows], wide, rest), xp.where(second[rows], rest, wide)
        if rounded is not None:
            other = xp.where(rounded[rows], xp.full_like(other, doubt_of_one), other)
        confidence[rows], doubt[rows] = own, raise_tiny(other)
    return confidence, doubt


def warn_of_certain_rows(float_type: str, rows: int | None, certain: int) -> None:
    """Say that rows of narrow probabilities leave nothing to the other classes; how many there are may be unknown."""
    if certain:
        _warn(
            f"{certain:,}{'' if rows is None else f' of {rows:,}'} rows of {float_type} probabilities leave exactly "
            "nothing for the other classes, and count as confidence 1. If that is rounding (some models return "
            "1 - p), give logits, the one column of P(second label), or floor="
        )


def warn_of_rounding(argument: str, confidence: Numbers, rows: int, rounded: int, near: int) -> None:
    """Say how many of so many confidences are 1 by rounding, and how many lie near it; nothing if none do."""
    if not near and not rounded:
        return
    findings = []
    if rounded:
        findings.append(
            f"{rounded:,} of {rows:,} values of {argument} are 1.0 in {confidence.float_type}, a rounded number, "
            f"not certainty; their doubt is taken as {confidence.doubt_of_one:.2g}"
        )
    if confidence.is_stored_wide:
        findings.append(
            f"all values of {argument} are {confidence.float_type} numbers stored as a wider type: float32=False "
            "(--as-float64) takes them literally"
        )
    if near:
        findings.append(
            f"{near:,} of {rows:,} values of {argument} lie within {_NEAR_STEPS} {confidence.float_type} steps of "
            "1, so their doubt has lost its digits"
        )
    _warn(f"{'; '.join(findings)}. Logits keep them: Predictions.from_logits, or give doubt=")


def _warn(message: str) -> None:
    warnings.warn(f"{message}.", RoundedConfidenceWarning, stacklevel=_caller_depth())


def _caller_depth() -> int:
    """How many frames up the first caller outside this package is, so that the warning points at the user's line."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("surefoot"):
        frame, depth = frame.f_back, depth + 1
    return depth

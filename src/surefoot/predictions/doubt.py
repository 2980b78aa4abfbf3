"""Doubt, 1 - confidence, without losing its digits."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._stats.logistic import expit
from surefoot.errors import InvalidPredictions, RoundedConfidenceWarning
from surefoot.predictions.columns import Array, Numbers, first_row

Floats = npt.NDArray[np.float64]

#: Doubts above 0 are at least this, so that 1/doubt is finite: the smallest normal float64.
SMALLEST = float(np.finfo(np.float64).tiny)

ROUNDED_HALF_STEPS = 16
#: The doubt that a confidence of 1 gets in each narrow type.
NARROW_DOUBTS = tuple(ROUNDED_HALF_STEPS * Numbers((), kind).half_step for kind in ("float32", "float16", "bfloat16"))
_FEW_DECIMALS = 3
_NEAR_STEPS = 100
_FARTHEST = 1e300


class Claim(NamedTuple):
    """How sure each row is: confidence, its doubt (None if 1 - confidence), and the rounded rows (None if none)."""

    confidence: Array
    doubt: Floats | None = None
    rounded: npt.NDArray[np.bool_] | None = None


def clipped(confidence: Array, floor: float) -> Claim:
    """The paper's clip: confidence within [floor, 1 - floor], and doubt what remains to 1."""
    return Claim(np.clip(confidence.astype(np.float64), floor, 1 - floor))


def bare(name: str, confidence: Numbers) -> Claim:
    """A confidence that comes alone: its doubt is 1 - confidence, and a narrow type's 1 is a rounded number."""
    values = confidence.values
    at_one = values == 1
    # the bound is compared in the column's own type, which holds it exactly
    warn_if_near_one(
        name,
        confidence,
        int(np.count_nonzero(at_one)),
        lambda bound: int(np.count_nonzero(values > values.dtype.type(bound))),
    )
    if not confidence.is_narrow or not at_one.any():
        return Claim(values)
    doubt = 1 - values.astype(np.float64)
    doubt[at_one] = ROUNDED_HALF_STEPS * confidence.half_step
    return Claim(values, doubt, at_one)


def of_rounded_text(decimals: int) -> float:
    """The doubt of a 1 in decimal text: 16 half-steps as of other types; of so few digits that these are much, one.

    Examples
    --------
    >>> of_rounded_text(4), of_rounded_text(2)
    (0.0008, 0.005)
    """
    half_step = 0.5 * 10.0**-decimals
    return ROUNDED_HALF_STEPS * half_step if decimals >= _FEW_DECIMALS else half_step


def with_doubt(confidence: Numbers | None, doubt: Numbers) -> Claim:
    """The caller's own doubt, and the confidence that goes with it; both, if given, must agree."""
    exact = raised(doubt.values)
    if confidence is None:
        return Claim(1 - exact, exact)
    tolerance = max(confidence.complement_tolerance, doubt.complement_tolerance)
    apart = np.abs(confidence.values.astype(np.float64) + exact - 1) > tolerance
    if apart.any():
        row = first_row(apart)[0]
        raise InvalidPredictions(
            f"doubt[{row}] is {float(exact[row])!r}, but confidence[{row}] is {float(confidence.values[row])!r}: they "
            "should add up to 1. Give one of them, or correct the other."
        )
    return Claim(confidence.values, exact)


def raised(doubt: Array) -> Floats:
    """Doubt as float64, with subnormal numbers raised to the smallest normal one."""
    wide: Floats = doubt.astype(np.float64, copy=False)
    tiny = (wide > 0) & (wide < SMALLEST)
    return np.where(tiny, SMALLEST, wide) if tiny.any() else wide


def of_columns(table: Numbers, chosen: npt.NDArray[np.intp]) -> Claim:
    """The chosen column of each row is its confidence; the sum of the others its doubt."""
    probabilities = table.values
    rows = np.arange(len(chosen))
    confidence = probabilities[rows, chosen]
    doubt = np.empty(len(chosen))
    for start in range(0, len(chosen), 1 << 14):
        block = slice(start, start + (1 << 14))
        others = probabilities[block].astype(np.float64)
        others[np.arange(len(others)), chosen[block]] = 0
        doubt[block] = others.sum(axis=1)
    warn_of_certain_rows(table, int(np.count_nonzero(doubt == 0)))
    return Claim(confidence, raised(np.minimum(doubt, 1)))


def warn_of_certain_rows(table: Numbers, certain: int) -> None:
    """Say that rows of narrow probabilities leave nothing to the other classes."""
    if certain and table.is_narrow:
        _warn(
            f"{certain:,} of {len(table.values):,} rows of {table.float_type} probabilities leave exactly nothing for "
            "the other classes, and are taken for claims of certainty. If that is rounding (some models return "
            "1 - p), give logits, the one column of P(second label), or floor="
        )


def chosen_confidence(probabilities: Array, chosen: npt.NDArray[np.intp]) -> Floats:
    """The probability of the chosen class: of a column for each, or of P(second label)."""
    if probabilities.ndim == 2:
        return probabilities[np.arange(len(chosen)), chosen].astype(np.float64)
    wide = probabilities.astype(np.float64)
    return np.where(chosen == 1, wide, 1 - wide)


def of_second(probability: Numbers, second: npt.NDArray[np.bool_]) -> Claim:
    """From P(second label): doubt is p itself where the first label is predicted, 1 - p where the second is."""
    p = probability.values
    claimed = bare("probabilities", replace(probability, values=np.where(second, p, 0)))
    wide = p.astype(np.float64)
    doubt = np.where(second, 1 - wide if claimed.doubt is None else claimed.doubt, wide)
    return Claim(np.where(second, wide, 1 - wide), raised(doubt), claimed.rounded)


def of_logits(logits: Floats, chosen: npt.NDArray[np.intp]) -> tuple[Claim, Floats]:
    """Confidence and doubt of the chosen class, and the log-odds of every class, from log-sums over the others.

    Logits are finite, so no row claims certainty: where the doubt is below what float64 holds, it is the smallest.
    """
    odds = log_odds(logits)
    own = odds[np.arange(len(chosen)), chosen]
    return Claim(expit(own), np.maximum(expit(-own), SMALLEST)), odds


def log_odds(logits: Floats) -> Floats:
    """For each class, its logit less the log-sum-exp of the other classes' logits."""
    odds = np.empty(logits.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(logits), 1 << 10):
            block = slice(start, start + (1 << 10))
            odds[block] = log_odds_of_block(logits[block], np.arange(len(logits[block])), np)
    return odds


def log_odds_of_block(logits: Any, at: Any, xp: Any) -> Any:
    """As :func:`log_odds`, of arrays or tensors: ``xp`` is NumPy or torch, ``at`` its 0, 1, ... for the rows."""
    order = xp.argmax(logits, axis=1)
    top = logits[at, order]
    rest = logits + 0.0
    rest[at, order] = -np.inf
    second = xp.amax(rest, axis=1)
    # others of the top class: relative to the runner-up, so that nothing cancels
    beside = xp.exp(rest - second[:, None])
    top_others = second + xp.log(beside.sum(axis=1))
    everything = top + xp.log1p(xp.exp(top_others - top))
    # for any other class, what it adds to the whole is at most half: the difference is well conditioned
    share = beside * xp.exp(second - everything)[:, None]
    odds = logits - everything[:, None] - xp.log1p(-share)
    odds[at, order] = top - top_others
    # differences of logits beyond the range of float64
    return xp.clip(odds, -_FARTHEST, _FARTHEST)


def near_one(confidence: Numbers) -> float:
    """The number above which the doubt of a confidence has lost its digits."""
    return 1 - 2 * _NEAR_STEPS * confidence.half_step


def warn_if_near_one(name: str, confidence: Numbers, ones: int, above: Callable[[float], int]) -> None:
    """Say that confidences are 1 by rounding, or so near that their doubt is; ``above`` counts those above a bound."""
    near = above(near_one(confidence)) - ones
    warn_of_rounding(name, confidence, len(confidence.values), ones if confidence.is_narrow else 0, near)


def warn_of_rounding(name: str, confidence: Numbers, rows: int, rounded: int, near: int) -> None:
    """Say how many of so many confidences are 1 by rounding, and how many lie near it; nothing if none do."""
    if not near and not rounded:
        return
    said = []
    if rounded:
        said.append(
            f"{rounded:,} of {rows:,} values of {name} are 1.0 in {confidence.float_type}, a rounded number, "
            f"not certainty; their doubt is taken as {ROUNDED_HALF_STEPS * confidence.half_step:.2g}"
        )
    if confidence.is_stored_wide:
        said.append(
            f"all values of {name} are {confidence.float_type} numbers stored as a wider type: float32=False "
            "(--as-float64) takes them literally"
        )
    if near:
        said.append(
            f"{near:,} of {rows:,} values of {name} lie within {_NEAR_STEPS} {confidence.float_type} steps of "
            "1, so their doubt has lost its digits"
        )
    _warn(f"{'; '.join(said)}. Logits keep them: Predictions.from_logits, or give doubt=")


def _warn(message: str) -> None:
    warnings.warn(f"{message}.", RoundedConfidenceWarning, stacklevel=_caller_depth())


def _caller_depth() -> int:
    """How many frames up the first caller outside this package is, so that the warning points at the user's line."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("surefoot"):
        frame, depth = frame.f_back, depth + 1
    return depth

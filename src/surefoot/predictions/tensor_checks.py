"""What the doors check and find when columns are tensors, without a copy to the host."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.errors import InvalidPredictions
from surefoot.predictions.checks import checked_floor, refuse_positive, refuse_sum
from surefoot.predictions.columns import (
    NARROW_TYPES,
    Numbers,
    check_lengths,
    is_type_used,
    refuse_infinite,
    refuse_outside,
    to_digits,
)
from surefoot.predictions.doubt import (
    ROUNDED_HALF_STEPS,
    SMALLEST,
    near_one,
    warn_if_near_one,
    warn_of_certain_rows,
)
from surefoot.predictions.labels import (
    LARGEST_WHOLE_FLOAT,
    Kind,
    Label,
    given_labels_of,
    labels_of_count,
    labels_of_second,
    refuse_float,
    refuse_foreign,
    refuse_mixture,
)

Tensor = Any


@dataclass(frozen=True)
class Measured(Numbers):
    """Numbers, and the least and the most of them."""

    least: float = 0.0
    most: float = 0.0


#: Numbers of a table that are widened to float64 at a time.
_WIDENED = 1 << 26


# -- checks ----------------------------------------------------------------------------------------------------------


def check_together(**columns: Any) -> None:
    """Raise unless all columns are tensors on one device."""
    import torch

    given = {name: column for name, column in columns.items() if column is not None}
    places = {name: column.device for name, column in given.items() if isinstance(column, torch.Tensor)}
    away = [(name, place) for name, place in places.items() if place.type != "cpu"]
    name, device = away[0] if away else (None, None)
    for other, column in given.items():
        if not isinstance(column, torch.Tensor):
            raise InvalidPredictions(
                f"{other} is a {type(column).__name__}, but {name or 'another column'} is a tensor; "
                f"make it one on the same device, with torch.tensor(..., device={str(device or 'cpu')!r})."
            )
        if device is not None and column.device != device:
            raise InvalidPredictions(
                f"{other} is a tensor on {column.device}, but {name} is on {device}; bring them together with .to()."
            )
    if device is not None and device.type == "mps":
        raise InvalidPredictions(f"{name} is a tensor on {device}, which has no float64; bring it to the host: .cpu().")


def refuse_missing(**columns: Any) -> None:
    """Raise if a column that is needed was not given."""
    for name, given in columns.items():
        if given is None:
            raise InvalidPredictions(f"{name} is missing.")


def as_column(name: str, given: Any) -> Tensor:
    refuse_missing(**{name: given})
    if given.ndim != 1:
        shape = " x ".join(map(str, given.shape)) or "a single value"
        raise InvalidPredictions(f"{name} must have one dimension, one value a row; it is {shape}.")
    return given.detach()


def kind_of(values: Tensor) -> Kind:
    return "booleans" if str(values.dtype) == "torch.bool" else "integers"


def as_labels(name: str, given: Any) -> Tensor:
    values = as_column(name, given)
    if values.dtype.is_complex:
        raise InvalidPredictions(f"{name} is of type {values.dtype}; labels are booleans or integers.")
    if values.dtype.is_floating_point:
        wide = values.double()
        broken = (wide != wide.floor()) | (wide.abs() > LARGEST_WHOLE_FLOAT)
        if broken.any():
            row = first_row(broken)
            value = float(wide[row])
            if value != value:
                refuse_infinite(name, (row,), value)
            refuse_float(name, row, value)
        return wide.long()
    if kind_of(values) == "booleans":
        return values
    whole = values.long()
    if str(values.dtype) == "torch.uint64" and (whole < 0).any():
        row = first_row(whole < 0)
        raise InvalidPredictions(f"{name}[{row}] is {values[row].item()!r}, too large for a label.")
    return whole


def as_numbers(name: str, given: Any, *, fractions: bool = True, dimensions: int | None = None) -> Measured:
    """Finite floats, kept in their own type; from 0 to 1 if they are fractions."""
    import torch

    values = given.detach() if dimensions is None else as_column(name, given)
    kind = str(values.dtype).removeprefix("torch.")
    if name == "logits" and kind == "bool":
        raise InvalidPredictions("logits must hold numbers, not true and false; convert them with .float().")
    if not values.dtype.is_floating_point and not fractions and not values.dtype.is_complex:
        values, kind = values.double(), "float64"
    if kind not in ("float64", "float32", "float16", "bfloat16"):
        what = "integers" if not values.dtype.is_floating_point else kind
        raise InvalidPredictions(
            f"{name} holds {what}, but should hold numbers from 0 to 1 in float64, float32, float16 or bfloat16; "
            "convert it with .float()."
        )
    if not values.numel():
        return Measured(values, kind)
    # one look at the smallest and the largest tells of nan and infinities too
    least, most = torch.stack(values.aminmax()).tolist()
    if not math.isfinite(least) or not math.isfinite(most):
        where = _first_of(~torch.isfinite(values))
        refuse_infinite(name, where, float(values[where]))
    if fractions and (least < 0 or most > 1):
        where = _first_of((values < 0) | (values > 1))
        refuse_outside(name, where, float(values[where]))
    return Measured(values, kind, least=least, most=most)


def check_sums(table: Numbers) -> None:
    import torch

    sums = table.values.sum(dim=1, dtype=torch.float64)
    off = (sums - 1).abs() > table.sum_tolerance
    if off.any():
        row = first_row(off)
        refuse_sum(row, float(sums[row]))


def with_labels(
    truth: Tensor, labels: Any, count: int, *, is_second: bool, pos_label: Any
) -> tuple[tuple[Label, ...], Tensor]:
    """The labels of the classes, and the position of each true label among them."""
    kind = kind_of(truth)
    refuse_positive(is_second, pos_label)
    names: tuple[Label, ...] | None = None
    if labels is not None:
        names = given_labels_of(labels.tolist() if hasattr(labels, "tolist") else labels, kind, count)
    if is_second:
        names = labels_of_second(() if names else tuple(truth.unique().tolist()), kind, pos_label, names)
    elif names is not None:
        pass
    elif kind == "integers" and int(truth.min()) >= 0 and int(truth.max()) < count:
        names = tuple(range(count))
    else:
        names = labels_of_count(tuple(truth.unique().tolist()), kind, count)
    return names, _encoded("y_true", truth, names)


def _encoded(name: str, values: Tensor, names: tuple[Label, ...]) -> Tensor:
    import torch

    if names == tuple(range(len(names))) and kind_of(values) == "integers":
        codes, foreign = values, (values < 0) | (values >= len(names))
    else:
        given, order = torch.tensor(names, device=values.device).long().sort()
        place = torch.searchsorted(given, values.long()).clamp_(max=len(names) - 1)
        codes, foreign = order[place], given[place] != values.long()
    if foreign.any():
        row = first_row(foreign)
        refuse_foreign(name, row, values[row].item(), names)
    return codes


def chosen_classes(y_pred: Any, names: tuple[Label, ...], largest: Tensor, rows: int) -> Tensor:
    if y_pred is None:
        return largest
    predicted = as_labels("y_pred", y_pred)
    check_lengths(rows=rows, y_pred=predicted)
    kind: Kind = "booleans" if isinstance(names[0], bool) else "integers"
    if kind_of(predicted) != kind:
        refuse_mixture(("y_pred", kind_of(predicted), predicted[0].item()), ("labels", kind, names[0]))
    return _encoded("y_pred", predicted, names)


# -- doubt -----------------------------------------------------------------------------------------------------------


def narrowed(values: Tensor) -> Tensor:
    """As :func:`surefoot.predictions.columns.narrowed`."""
    import torch

    if str(values.dtype) not in ("torch.float64", "torch.float32") or not values.numel():
        return values
    some = values.detach().ravel()[:1024].double()
    for name, (digits, _) in NARROW_TYPES.items():
        kind = getattr(torch, name)
        if kind == values.dtype or (to_digits(some, digits) != some).any():
            continue
        wide = values.detach().double()
        inner = wide[(wide > 0) & (wide < 1)]
        last = int((to_digits(inner, digits - 1) != inner).sum())
        if (wide.to(kind).double() == wide).all() and is_type_used(name, len(inner), last):
            return values.detach().to(kind)
    return values


def as_claim(confidence: Any, doubt: Any, floor: Any, rows: int, *, float32: bool) -> dict[str, Any]:
    if confidence is None and doubt is None:
        raise InvalidPredictions("confidence is missing: give confidence=, or doubt= (1 - confidence).")
    stated = None if confidence is None else as_numbers("confidence", confidence, dimensions=1)
    doubted = None if doubt is None else as_numbers("doubt", doubt, dimensions=1)
    check_lengths(
        rows=rows,
        confidence=None if stated is None else stated.values,
        doubt=None if doubted is None else doubted.values,
    )
    clip = checked_floor(floor)
    if doubted is not None:
        exact = _raised(doubted.values)
        own = 1 - exact if stated is None else stated.values
        if stated is not None:
            apart = (own.double() + exact - 1).abs() > max(stated.complement_tolerance, doubted.complement_tolerance)
            if apart.any():
                row = first_row(apart)
                raise InvalidPredictions(
                    f"doubt[{row}] is {float(exact[row])!r}, but confidence[{row}] is {float(own[row])!r}: they should "
                    "add up to 1. Give one of them, or correct the other."
                )
        return {"_confidence": own, "_doubt": exact} if clip is None else clipped(own, clip)
    assert stated is not None
    if clip is not None:
        return clipped(stated.values, clip)
    own = narrowed(stated.values) if float32 else stated.values
    if own.dtype != stated.values.dtype:
        kind = str(own.dtype).removeprefix("torch.")
        stated = replace(stated, values=own, float_type=kind, is_stored_wide=True)
    return _bare("confidence", stated)


def doubt_of_one(column: Numbers) -> float:
    """The doubt of a confidence of 1 that came alone: 0 unless its type is narrow."""
    return ROUNDED_HALF_STEPS * column.half_step if column.is_narrow else 0.0


def _bare(name: str, column: Measured) -> dict[str, Any]:
    """A confidence that comes alone."""
    values = column.values
    if column.most < near_one(column):
        return {"_confidence": values}
    at_one = values == 1
    ones = int(at_one.sum())
    warn_if_near_one(name, column, ones, lambda bound: int((values > bound).sum()))
    if not column.is_narrow or not ones:
        return {"_confidence": values}
    return {"_confidence": values, "doubt_of_one": doubt_of_one(column), "_rounded": at_one}


def clipped(confidence: Tensor, floor: float) -> dict[str, Any]:
    return {"_confidence": confidence.double().clamp(floor, 1 - floor)}


def _raised(doubt: Tensor) -> Tensor:
    wide = doubt.double()
    return wide.masked_fill((wide > 0) & (wide < SMALLEST), SMALLEST)


def chosen_confidence(values: Tensor, chosen: Tensor) -> Tensor:
    if values.ndim == 2:
        return values.gather(1, chosen[:, None])[:, 0]
    wide = values.double()
    return wide.where(chosen == 1, 1 - wide)


def of_second(probability: Measured, chosen: Tensor) -> dict[str, Any]:
    """From P(second label): doubt is p itself where the first label is predicted, 1 - p where the second is."""
    second = chosen == 1
    values = probability.values.where(second, probability.values.new_zeros(()))
    claimed = _bare("probabilities", replace(probability, values=values))
    rounded = claimed.get("_rounded")
    confidence, doubt = claim_of_second(probability.values, second, rounded, claimed.get("doubt_of_one", 0.0))
    return {"_confidence": confidence, "_doubt": doubt, "_rounded": rounded}


def claim_of_second(p: Tensor, second: Tensor, rounded: Tensor | None, doubt_of_one: float) -> tuple[Tensor, Tensor]:
    """Confidence and doubt, given which rows are of the second label and which of them are 1 by rounding."""
    wide = p.double()
    rest = 1 - wide
    doubt = rest.where(second, wide)
    if rounded is not None:
        doubt = doubt.masked_fill(rounded, doubt_of_one)
    return wide.where(second, rest), _raised(doubt)


def of_columns(table: Numbers, chosen: Tensor) -> dict[str, Any]:
    """The chosen column of each row is its confidence; the sum of the others its doubt."""
    import torch

    values = table.values
    doubt = torch.empty(len(values), dtype=torch.float64, device=values.device)
    for rows in blocks(values):
        others = values[rows].to(torch.float64, copy=True)
        others.scatter_(1, chosen[rows][:, None], 0.0)
        doubt[rows] = others.sum(dim=1)
    warn_of_certain_rows(table, int((doubt == 0).sum()))
    return {"_confidence": chosen_confidence(values, chosen), "_doubt": _raised(doubt.clamp_(max=1))}


def blocks(table: Tensor) -> list[slice]:
    """Rows of a table that are widened together."""
    size = max(1, _WIDENED // table.shape[1])
    return [slice(start, start + size) for start in range(0, len(table), size)]


def first_row(offends: Tensor) -> int:
    return int(offends.int().argmax())


def _first_of(offends: Tensor) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(first_row(offends.reshape(-1)), tuple(offends.shape)))

"""Averages over classes."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from surefoot.core.metric import Outcome, undefined
from surefoot.core.table import Floats
from surefoot.core.tally import Label

Average = Literal["macro", "micro", "weighted"] | None


def check_average(average: Any, *allowed: Average) -> None:
    if not isinstance(average, str | None) or average not in allowed:
        raise ValueError(f"average is {average!r}; it should be one of {', '.join(map(repr, allowed))}.")


def average_classes(values: Floats, support: Floats, average: Average, labels: tuple[Label, ...]) -> Any:
    """The plain or support-weighted mean over the classes where the value is defined; all of them for None."""
    defined = ~np.isnan(values)
    note = "" if defined.all() else _undefined_classes(labels, defined)
    if average is None:
        return Outcome(values, note) if note else values
    weights = support[defined] if average == "weighted" else np.ones(int(defined.sum()))
    if not weights.sum():
        return undefined(note)
    mean = math.fsum(values[defined] * weights) / math.fsum(weights)
    return Outcome(mean, f"{note}, and left out of the mean") if note else mean


def _undefined_classes(labels: tuple[Label, ...], defined: Any) -> str:
    absent = [repr(label) for label, ok in zip(labels, defined, strict=True) if not ok]
    listed = ", ".join(absent[:5]) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
    return f"not defined for class {listed}" if len(absent) == 1 else f"not defined for classes {listed}"

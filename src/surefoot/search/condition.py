"""What the rows of a group have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from surefoot._io.printable import printable
from surefoot.core.tally import Label


@dataclass(frozen=True)
class Condition:
    """What a column holds in the rows of a group: a value, a number within limits, or nothing.

    Attributes
    ----------
    column : str
        The column.
    value : bool, int, float, str or None
        The value, of a column of categories; None of a bin of numbers, and of missing values.
    above, up_to : float
        Of a bin of numbers, its limits: above the first, and up to the second; infinite where there is none.
    is_missing : bool
        Whether the column holds nothing in these rows.
    """

    column: str
    value: Label | float | None = None
    above: float = -math.inf
    up_to: float = math.inf
    is_missing: bool = False

    def __str__(self) -> str:
        name = printable(self.column, 40)
        if self.is_missing:
            return f"{name} is missing"
        if self.value is not None:
            return f"{name} = {printable(self.value, 40)}"
        low, high = numbers(self.above, self.up_to)
        if math.isinf(self.above):
            return f"{name} up to {high}"
        return f"{name} above {low}" if math.isinf(self.up_to) else f"{name} above {low}, up to {high}"

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain data.

        Returns
        -------
        dict
            The column, and its ``value``, its limits, or ``"is_missing"``; a limit that is infinite is None.
        """
        if self.is_missing:
            return {"column": self.column, "is_missing": True}
        if self.value is not None:
            return {"column": self.column, "value": self.value}
        ends = (None if math.isinf(end) else end for end in (self.above, self.up_to))
        return {"column": self.column, **dict(zip(("above", "up_to"), ends, strict=True))}


def numbers(low: float, high: float) -> tuple[str, str]:
    """Two limits in as few digits, from four on, as tell them apart."""
    for digits in range(4, 18):
        texts = _plain(low, digits), _plain(high, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _plain(value: float, digits: int) -> str:
    """A number without an exponent where it is of a usual size; whole numbers in full."""
    if abs(value) < 1e15 and value == math.floor(value):
        return f"{int(value):,}"
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

"""Numbers written in decimals: to how many have they been rounded?"""

from __future__ import annotations

from typing import Any

import numpy as np

#: More decimals than that say that nothing was rounded on purpose.
_MOST = 9
_LOOKED_AT = 4096


def decimals_of(confidence: Any) -> int | None:
    """The decimals that confidences are written with; None if so many that they are not rounded.

    Some thousand rows are looked at, evenly spread. Confidences of exactly 0 and 1 say nothing: of them alone, 0.

    Examples
    --------
    >>> import numpy as np
    >>> decimals_of(np.array([0.25, 0.125, 1.0])), decimals_of(np.array([1 / 3, 1.0]))
    (3, None)
    """
    values = np.asarray(confidence[:: max(1, len(confidence) // _LOOKED_AT)], dtype=np.float64)
    values = values[(values > 0) & (values < 1)]
    if not len(values):
        return 0
    for decimals in range(1, _MOST + 1):
        scaled = values * 10.0**decimals
        if (np.abs(scaled - np.round(scaled)) < 1e-6).all():
            return decimals
    return None


def sums_to_one(table: Any) -> Any:
    """Probabilities in text whose sums rounding has moved, by half a last digit a class at most, divided by them."""
    decimals = decimals_of(table.ravel())
    sums = table.sum(axis=1, keepdims=True)
    off = float(np.abs(sums - 1).max())
    if decimals and 9e-4 < off <= table.shape[1] * 0.5 * 10.0**-decimals * (1 + 1e-9):
        return table / sums
    return table

"""Thresholds of confidence: readable numbers, the same for all data, so that sums between them add up.

From 0 to 0.99 they have three digits; beyond, two digits more than there are nines, up to 0.9999999. A threshold and a
confidence are compared as they stand, to the last bit: a row lies in the cell of the highest threshold that it reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from surefoot.core.expression import ROW, Expression, clip, floor
from surefoot.core.keys import Digit, Key
from surefoot.core.table import Floats

#: Digits of the coarsest and of the finest thresholds.
_FEWEST, _MOST = 3, 8


def _thresholds() -> Floats:
    coarse = [n / 1000 for n in range(990)]
    fine = [
        n / scale for scale in (10**k for k in range(_FEWEST + 1, _MOST + 1)) for n in range(scale - 100, scale - 10)
    ]
    return np.array([*coarse, *fine, (10**_MOST - 10) / 10**_MOST])


#: All thresholds, rising. A quotient of whole numbers is the float that its decimal digits name.
THRESHOLDS = _thresholds()


class ThresholdCell(Key):
    """The highest threshold that the confidence reaches, by its number."""

    name = "threshold"

    @cached_property
    def digits(self) -> Sequence[Digit]:  # type: ignore[override]
        return (Digit(_place(), len(THRESHOLDS)),)


def _place() -> Expression:
    confidence = ROW.confidence
    nines: Expression | float = 0.0
    scale: Expression | float = 10.0**_FEWEST
    for digits in range(_FEWEST - 1, _MOST - 1):
        passed = confidence >= (10**digits - 1) / 10**digits
        nines, scale = nines + passed, scale * (1.0 + 9.0 * passed)
    # a guess, mended by comparison with the thresholds on both sides
    guess = floor(confidence * scale)
    number = guess + (confidence >= (guess + 1.0) / scale) + (confidence >= guess / scale) - 1.0
    return clip(number - scale + 1000.0 + 90.0 * nines, 0.0, len(THRESHOLDS) - 1.0)


THRESHOLD_CELL = ThresholdCell()

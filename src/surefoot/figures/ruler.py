"""The axis on which CSR is shown against 1 and against calibrated models."""

from __future__ import annotations

import math

from surefoot.figures.figure import Axis, Tick
from surefoot.figures.labels import decade

#: CSR drawn at least and at most: what lies outside stands at the end of the axis.
_LEAST, _MOST = 1e-3, 1e12


def csr_axis(csr: float, typical: tuple[float, float] | None) -> Axis:
    """A log axis with 0.1, 1 and 100 on it, this model, and where calibrated models begin; about seven ticks."""
    drawn = min(max(csr, _LEAST), _MOST)
    first = min(-1, math.floor(math.log10(min(drawn, 0.1 if typical is None else max(typical[0], _LEAST)))))
    last = max(2, math.ceil(math.log10(drawn * 1.5)))
    step = max(1, (last - first) // 6)
    powers = (power for power in range(first, last + 1) if power == 0 or (power - first) % step == 0)
    ticks = tuple(Tick(10.0**power, decade(power)) for power in powers)
    return Axis("CSR", 10.0**first, 10.0**last, ticks, is_log=True)

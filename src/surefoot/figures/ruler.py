"""The axis on which CSR is shown against 1 and against calibrated models."""

from __future__ import annotations

import math
from dataclasses import replace

from surefoot.figures.figure import Axis, Tick
from surefoot.figures.labels import decade
from surefoot.figures.placing import fitting_ticks

#: CSR drawn at least and at most: what lies outside stands at the end of the axis.
_LEAST, _MOST = 1e-3, 1e12


def csr_axis(csr: float, typical: tuple[float, float] | None) -> Axis:
    """A log axis with 0.1, 1 and 100 on it, this model, and where calibrated models begin; ticks as there is room."""
    drawn = min(max(csr, _LEAST), _MOST)
    first = min(-1, math.floor(math.log10(min(drawn, 0.1 if typical is None else max(typical[0], _LEAST)))))
    last = max(2, math.ceil(math.log10(drawn * 1.5)))
    bare = Axis("CSR", 10.0**first, 10.0**last, (), is_log=True)

    def every(step: int) -> tuple[Tick, ...]:
        powers = (power for power in range(first, last + 1) if power % step == 0)
        return tuple(Tick(10.0**power, decade(power, 5)) for power in powers)

    return replace(bare, ticks=fitting_ticks(bare, map(every, range(1, last - first + 1))))

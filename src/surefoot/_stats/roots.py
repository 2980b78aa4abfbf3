"""Where a function crosses zero. ``scipy.optimize`` knows too, and takes a tenth of a second more to load."""

from __future__ import annotations

from collections.abc import Callable

#: Steps after which only the middle is tried: of a function that jumps, parabolas can make ever so small ones.
_PATIENCE = 60


def root(function: Callable[[float], float], low: float, high: float, xtol: float) -> float:
    """The zero of a function between two points where it has different signs, by Chandrupatla's method (1997).

    Examples
    --------
    >>> round(root(lambda x: x * x - 2, 0.0, 2.0, 1e-12), 9)
    1.414213562
    """
    b, a = low, high
    f_b, f_a = function(b), function(a)
    if f_a * f_b > 0:
        raise ValueError(f"the function has one sign at {low!r} and {high!r}")
    c, f_c = a, f_a
    share, turn = 0.5, 0
    while True:
        turn += 1
        x = a + share * (b - a)
        f_x = function(x)
        if f_x * f_a > 0:
            c, f_c = a, f_a
        else:
            c, b, f_c, f_b = b, a, f_b, f_a
        a, f_a = x, f_x
        best, f_best = (a, f_a) if abs(f_a) < abs(f_b) else (b, f_b)
        narrow = (4e-16 * abs(best) + xtol / 2) / abs(b - a) if b != a else 1.0
        if f_best == 0 or narrow > 0.5:
            return best
        # a parabola through the last three points, where that is safe; else the middle
        along, across = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
        share = 0.5
        if turn < _PATIENCE and across**2 < along and (1 - across) ** 2 < 1 - along:
            share = f_a / (f_b - f_a) * f_c / (f_b - f_c) + (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (f_c - f_b)
        share = min(1 - narrow, max(narrow, share))

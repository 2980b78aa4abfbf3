"""Numbers as they are written in a figure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from surefoot.figures.figure import Tick

#: A multiplication sign between spaces that no line is broken at.
_TIMES = "\u00a0×\u00a0"


def significant(value: float, digits: int = 3) -> str:
    """So many significant digits, with thousands commas: 13.4, 0.0398, 8.09, 2.63e+06."""
    if math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if not -4 <= exponent < 6:
        return f"{value:.{digits - 1}e}"
    return f"{round(value, digits - 1 - exponent):,.{max(0, digits - 1 - exponent)}f}"


def typeset(text: str) -> str:
    """The same for print: powers of ten with superscript exponents, kept on one line, and true minus signs.

    Examples
    --------
    >>> typeset("3.8e-05, -1.5") == "3.8\\u00a0×\\u00a010⁻⁵, −1.5"
    True
    """
    text = re.sub(r"(\d(?:\.\d+)?)e([+-]\d+)", lambda m: f"{m[1]}{_TIMES}{power_of_ten(int(m[2]))}", text)
    text = text.replace(f"< 1{_TIMES}10", "< 10")
    return re.sub(r"(?<![\w⁻])-(?=\d)", "−", text)


def power_of_ten(exponent: int) -> str:
    """Ten with a superscript exponent: 10⁻⁵."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def decade(exponent: int, first_power: int = 7) -> str:
    """A power of ten on an axis: 0.1, 1,000, and from ``first_power`` on 10⁷."""
    if -4 < exponent <= 0:
        return f"{10.0**exponent:g}"
    return f"{10**exponent:,}" if 0 < exponent < first_power else power_of_ten(exponent)


def area(value: float) -> str:
    """An area under a curve, in four decimals."""
    return "—" if math.isnan(value) else f"{value:.4f}"


def short_count(n: float) -> str:
    """A count over a bar: 812, 9.2k, 1.3M."""
    if n < 1000:
        return f"{n:,.0f}"
    return f"{n / 1000:.1f}k" if n < 999_950 else f"{n / 1e6:,.1f}M"


def percent_ticks(shares: Iterable[float], digits: int = 6) -> tuple[Tick, ...]:
    """Ticks at shares, labelled in percent with as many digits as they need."""
    return tuple(Tick(share, f"{100 * share:.{digits}g}%") for share in shares)


#: The ticks of an axis from 0% to 100%.
QUARTERS = percent_ticks((0, 0.25, 0.5, 0.75, 1))

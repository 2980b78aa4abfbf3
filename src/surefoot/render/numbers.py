"""Numbers as people read them, in text; those of figures are in :mod:`surefoot.figures.labels`."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from surefoot.figures.labels import significant

#: Differences from 0 or 1 that rounding makes.
_DUST = 1e-13


def count(value: float) -> str:
    """A count in full; of weights, one decimal below 100."""
    if value == round(value) or value >= 100:
        return f"{round(value):,}"
    return f"{value:.1f}"


def rough_count(value: float) -> str:
    """A count in running text: whole numbers from 10 on, two digits below."""
    return f"{round(value):,}" if value >= 9.95 or value == round(value) else significant(value, 2)


def pluralize(number: float, noun: str) -> str:
    """A count with its noun: 1 row, 2 rows."""
    text = rough_count(number)
    return f"{text} {noun}" if text == "1" else f"{text} {noun}{'es' if noun.endswith('s') else 's'}"


def percent(value: float, *, zero: str = "0.0%") -> str:
    """One decimal, but never 100% or 0% for what is not."""
    if math.isnan(value):
        return "—"
    if abs(value) < _DUST or abs(value - 1) < _DUST:
        return f"{round(value):.1%}" if value else zero
    if 0 < value < 1 and f"{value:.1%}" in ("100.0%", "0.0%"):
        return precise_percent(value) if value > 0.5 else f"{significant(100 * value, 1)}%"
    return f"{value:.1%}"


def score(value: float) -> str:
    """A score such as ECE: four decimals, three digits of what is smaller."""
    if math.isnan(value) or math.isinf(value) or 0 < abs(value) < 0.001:
        return significant(value)
    return f"{value:.4f}"


def probability(value: float) -> str:
    """A percentage that never reads 100%."""
    return "> 99.9%" if value > 0.999 else percent(value)


def signed_percent(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:+.1%}".replace("-", "−")


def precise_percent(confidence: float) -> str:
    """A confidence with two digits of its doubt: 99.988%, 99.99%, never 100% below 1."""
    doubt = 1 - confidence
    if doubt <= 0 or doubt >= 1:
        return f"{confidence:.0%}"
    # digits of the doubt, rounded to two, as a plain decimal number of percent
    digits = Decimal(f"{doubt:.1e}") * 100
    return f"{(100 - digits).normalize():f}%"


def factor(seen: float, stated: float) -> str:
    """How many times as many, in two digits: ×33, ×6.3."""
    if not stated or not seen:
        return ""
    text = significant(seen / stated, 2)
    return "" if text == "1.0" else f"×{text}"


def pvalue(value: float) -> str:
    """Two digits: 0.54, 3.8e-05, > 0.99; 0 only if it is."""
    if math.isnan(value):
        return "—"
    if value > 0.99:
        return "> 0.99"
    if value == 0:
        return "0"
    if value < 1e-300:
        return "< 1e-300"
    return f"{value:.1e}" if value < 0.001 else significant(value, 2)


def confidence_percent(doubt: float) -> str:
    """A confidence by its doubt, which holds the digits: 99.988%, and near certainty 1 - 3.2e-20."""
    if 0 < doubt < 1e-12:
        return f"1 − {doubt:.1e}"
    return "100%" if doubt <= 0 else precise_percent(1 - doubt) if doubt < 0.1 else percent(1 - doubt)


def stated_percent(doubt: float) -> str:
    """A confidence as it was given, by its doubt: 50%, 97.5%, and with all its nines near certainty."""
    if doubt < 1e-4:
        return confidence_percent(doubt)
    return f"{100 * (1 - doubt):.{4 if doubt >= 0.1 else 6}g}%"


def reciprocal(p: float) -> str:
    """A chance as a count: once in 26,000."""
    return significant(1 / p, 2)


def round_down(value: float, digits: int = 3) -> str:
    """A lower bound, cut and never rounded up."""
    return _round_towards(value, digits, ROUND_FLOOR)


def round_up(value: float, digits: int = 3) -> str:
    """An upper bound, raised and never rounded down."""
    return _round_towards(value, digits, ROUND_CEILING)


def _round_towards(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value) or value == 0:
        return significant(value, digits)
    exact = Decimal(value)
    return significant(float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding)), digits)


def area_interval(low: float, high: float) -> str:
    """An interval of areas, four decimals, its ends never to the kind side: 0.9967 to 0.9977."""
    return f"{math.floor(low * 1e4) / 1e4:.4f} to {math.ceil(high * 1e4 - 1e-9) / 1e4:.4f}"


def percent_interval(low: float, high: float) -> str:
    """An interval of shares, one decimal, its ends never to the kind side: 1.7% to 2.5%."""
    if math.isnan(low) or math.isnan(high):
        return "—"
    ends = (math.floor(low * 1000) / 10, math.ceil(high * 1000 - 1e-9) / 10)
    return " to ".join("0%" if end == 0 else f"{end:.1f}%" for end in ends)


def points(value: float, *, up: bool = False) -> str:
    """A difference of percentages in points, as a bound from above never rounded down.

    Examples
    --------
    >>> points(0.054), points(0.01), points(0.0002), points(0.0541, up=True)
    ('5.4 points', '1 point', '0.02 points', '5.5 points')
    """
    size = 100 * value
    text = _point(math.ceil(round(10 * size, 9)) / 10 if up else size)
    return f"{text} point" if text == "1" else f"{text} points"


def points_interval(low: float, high: float) -> str:
    """The ends of an interval in points: 3.6 to 7.3."""
    ends = [100 * low, 100 * high]
    if max(map(abs, ends)) >= 0.1:
        # never to the kind side
        ends = [math.floor(round(10 * ends[0], 9)) / 10, math.ceil(round(10 * ends[1], 9)) / 10]
    return " to ".join(map(_point, ends))


def ratio_interval(low: float, high: float) -> str:
    """The ends of an interval of a ratio, in three digits that are never to the kind side."""
    return f"{round_down(low)} to {round_up(high)}"


def _point(value: float) -> str:
    """One decimal; one digit of what is smaller."""
    if abs(value) < 5e-4:
        return "0"
    return f"{round(value, 1):g}" if abs(value) >= 0.095 else f"{value:.1g}"

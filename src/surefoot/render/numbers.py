"""Numbers as people read them, in text; those of figures are in :mod:`surefoot.figures.labels`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from surefoot.figures.labels import significant

#: Differences from 0 or 1 that rounding makes.
_DUST = 1e-13
#: The share below which percentages say nothing: it is one in so many.
RARE = 1e-4
#: Digits of a ratio, and how many more at most where fewer would hide that it is not 1.
_DIGITS, _MOST_DIGITS = 3, 8


@dataclass(frozen=True)
class Number:
    """A number with its name and how to read it; ``is_main`` where it belongs on the shortest list."""

    name: str
    value: str
    words: str
    is_main: bool = True


def count(value: float) -> str:
    """A count in full; of weights, one decimal below 100, and two digits below 1."""
    if value == round(value) or value >= 100:
        return f"{round(value):,}"
    if 0 < value < 1:
        return significant(value, 2)
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


def percents(*values: float) -> list[str]:
    """Shares that are compared, in as many digits as tell them apart; what is rarer than 0.01% as one in so many.

    Examples
    --------
    >>> percents(0.0006, 0.0014), percents(0.27, 0.117), percents(8e-05, 0.0)
    (['0.06%', '0.14%'], ['27.0%', '11.7%'], ['1 in 12,000', '0.0%'])
    """
    largest = max(map(abs, values))
    if 0 < largest < RARE:
        return [one_in(value) if value else "0.0%" for value in values]
    texts = [percent(value) for value in values]
    # at most two decimals, but three digits of what is rare
    most = max(2, 1 - math.floor(math.log10(100 * largest)) + 1) if largest else 1
    decimals = 2
    while len(set(texts)) < len(set(values)) and decimals <= most:
        texts = [f"{value:.{decimals}%}" for value in values]
        decimals += 1
    return texts


def one_in(share: float) -> str:
    """A small share as one in so many, in two digits."""
    if share < 1e-10:
        return "below 1 in 10,000,000,000"
    many = 1 / share
    size = 10 ** (math.floor(math.log10(many)) - 1)
    return f"1 in {round(many / size) * size:,.0f}"


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


def exact_percent(value: float | Decimal) -> str:
    """A share with all the digits that it was given: 1%, 91.5%, 99.99999%."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    return f"{(100 * exact).normalize():f}%"


def rate_percent(value: float) -> str:
    """A rate of errors: one decimal, two digits below 1%: 4.1%, 0.95%, 0.012%."""
    return f"{significant(100 * value, 2)}%" if 0 < value < 0.00995 else percent(value, zero="0%")


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


def risk_percent(probability: float) -> str:
    """A predicted probability in three digits, near 1 in as many as its complement needs: 0.0523%, 45.2%, 99.96%."""
    if 0 < probability < RARE:
        return one_in(probability)
    if probability <= 0.5:
        return f"{significant(100 * probability)}%" if probability else "0%"
    doubt = 1 - probability
    return f"{100 * probability:.3g}%" if doubt >= 0.1 else confidence_percent(doubt)


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
    return f"{text} point" if text in ("1", "-1") else f"{text} points"


def points_interval(low: float, high: float) -> str:
    """The ends of an interval in points: 3.6 to 7.3."""
    ends = [100 * low, 100 * high]
    if max(map(abs, ends)) >= 0.1:
        # never to the kind side
        ends = [math.floor(round(10 * ends[0], 9)) / 10, math.ceil(round(10 * ends[1], 9)) / 10]
    return " to ".join(map(_point, ends))


def ratio_interval(low: float, high: float) -> str:
    """The ends of an interval of a ratio, in three digits that are never to the kind side.

    More digits where three would make an interval that leaves out 1 seem to include it.

    Examples
    --------
    >>> ratio_interval(0.776, 0.8351), ratio_interval(0.99912, 0.99968)
    ('0.776 to 0.836', '0.9991 to 0.9997')
    """
    digits = _ratio_digits(low, high)
    return f"{round_down(low, digits)} to {round_up(high, digits)}"


def ratio(value: float, low: float = math.nan, high: float = math.nan) -> str:
    """A ratio in as many digits as its interval is written in."""
    digits = _ratio_digits(low, high)
    # 1.000 is no more than 1.00
    return significant(value, digits if digits == _DIGITS or f"{value:.2f}" == "1.00" else _DIGITS)


def _ratio_digits(low: float, high: float) -> int:
    """As many digits as keep an interval on its own side of 1."""
    for digits in range(_DIGITS, _MOST_DIGITS):
        least, most = (
            float(end.replace(",", "")) if _is_plain(end) else math.nan
            for end in (round_down(low, digits), round_up(high, digits))
        )
        if not ((low > 1 and least <= 1) or (high < 1 and most >= 1)):
            return digits
    return _MOST_DIGITS


def _is_plain(text: str) -> bool:
    return text[-1].isdigit()


def _point(value: float) -> str:
    """One decimal; one digit of what is smaller."""
    if abs(value) < 5e-4:
        return "0"
    return f"{round(value, 1):g}" if abs(value) >= 0.095 else f"{value:.1g}"

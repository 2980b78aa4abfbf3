"""Numbers as they are printed."""

import math

import pytest

from surefoot.figures.labels import typeset
from surefoot.render.numbers import confidence_percent, factor, percent, precise_percent, significant


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (13.3733, "13.4"),
        (0.03978, "0.0398"),
        (8.09, "8.09"),
        (999.6, "1,000"),
        (2631578.9, "2.63e+06"),
        (0, "0"),
        (math.inf, "∞"),
        (math.nan, "—"),
        (1.234e-7, "1.23e-07"),
        (9.996, "10.0"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.99988, "99.988%"),
        (0.9999, "99.99%"),
        (0.99, "99%"),
        (0.9, "90%"),
        (0.9756, "97.6%"),
        (1.0, "100%"),
        (1 - 1e-12, "99.9999999999%"),
    ],
)
def test_a_confidence_keeps_two_digits_of_its_doubt(value: float, text: str) -> None:
    assert precise_percent(value) == text


def test_percentages_and_factors() -> None:
    assert percent(0.9359) == "93.6%"
    assert percent(0.99999) == "99.999%"
    assert percent(1.0) == "100.0%"
    assert factor(40, 1.2) == "×33"
    assert factor(0, 1.2) == ""


def test_numbers_for_print() -> None:
    assert typeset("3.8e-05") == "3.8\u00a0×\u00a010⁻⁵"
    assert typeset("< 1e-300") == "< 10⁻³⁰⁰"
    assert typeset("2.63e+06, -1.5 and 2-3") == "2.63\u00a0×\u00a010⁶, −1.5 and 2-3"
    assert confidence_percent(1.2e-4) == "99.988%"
    assert confidence_percent(3.2e-20) == "1 − 3.2e-20"
    assert confidence_percent(0.0) == "100%"

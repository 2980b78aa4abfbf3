"""Whether the tests of the page see a count that is changed: each of these changes fails one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import pytest
import test_page
import test_page_claims
import test_page_counts

Check = Callable[..., None]

CHANGES = {
    "certain and wrong": ("A row of confidence 1 is wrong on 43 splits", "A row of confidence 1 is wrong on 34 splits"),
    "by slack": ("makes a difference to 1 of the cells", "makes a difference to 9 of the cells"),
    "by one by slack": ("makes a difference to 1 of the cells", "makes a difference to 2 of the cells"),
    "without weights": ("without class weights 6 of 55", "without class weights 26 of 55"),
    "without weights by one": ("without class weights 6 of 55", "without class weights 7 of 55"),
    "beyond three": ("beyond three: 1, 5, 43", "beyond three: 9, 25, 3"),
    "beyond three by one": ("beyond three: 1, 5, 43", "beyond three: 1, 6, 43"),
    "beyond one": ("raw 18 of 55, isotonic", "raw 17 of 55, isotonic"),
    "clip": ("on 2 splits (no post-hoc 1, isotonic 1, platt 0)", "on 9 splits (no post-hoc 4, isotonic 4, platt 1)"),
    "clip by": ("platt 0), by 0.02", "platt 0), by 0.05"),
    "so few": ("so few above in 0.2% of our runs", "so few above in 40% of our runs"),
    "so few on average": ("4.5 of 10 above on average", "4.4 of 10 above on average"),
    "order of P_risk": ("isotonic 0.8700 > raw 0.4015 > platt", "isotonic 0.8700 > raw 0.7015 > platt"),
    "order of cwA": ("isotonic 0.9005 > platt 0.8957 > raw", "isotonic 0.9505 > platt 0.8957 > raw"),
    "order of cwAUC": ("raw 0.9139 > platt 0.9101", "raw 0.9139 > platt 0.9102"),
    "printed cwAUC": ("raw 0.9235 > platt 0.9176", "raw 0.9935 > platt 0.9176"),
    "printed P_risk": ("raw 0.4622 > platt 0.2196", "raw 0.4632 > platt 0.2196"),
    "printed CSR": ("CSR above 100 on 10 of 15 sets", "CSR above 100 on 12 of 15 sets"),
    "our CSR": ("CSR above 100 on 43 of 50 splits", "CSR above 100 on 42 of 50 splits"),
    "flips": ("on 6 of 11 sets splits disagree", "on 5 of 11 sets splits disagree"),
    "not greater": ("not greater in 1 of 165", "not greater in 0 of 165"),
    "negative": ("26 of 165 negative", "27 of 165 negative"),
    "raw CSR and sigma": ("8 of 10 | 7 of 10 | 96 of 135", "9 of 10 | 9 of 10 | 96 of 135"),
    "control's parts": ("9 of 10 | 6 of 10 | 99 of 135 | 93 of 135", "9 of 10 | 6 of 10 | 98 of 135 | 94 of 135"),
    "control's width": (
        "93 of 135 | 1.00 |\n| one search, on split 42; mean",
        "93 of 135 | 1.02 |\n| one search, on split 42; mean",
    ),
    "control's cells": ("283 of 430 (65.8%) | 90 of 160", "284 of 430 (66.0%) | 91 of 160"),
    "a column": ("| gain | 8 of 10 (0.598) |", "| gain | 7 of 10 (1.000) |"),
    "a side": ("(0.699) | 4 | 8 |", "(0.699) | 5 | 7 |"),
    "Table 2, range": ("| 0.8461 to 0.8688 | 0.864 to 0.884 |", "| 0.7461 to 0.9688 | 0.664 to 0.984 |"),
    "Table 2, mean": ("| 0.8255 | 0.8478 | 0.1709 |", "| 0.9255 | 0.9478 | 0.9709 |"),
    "Table 2, counts": ("7/15 | 3/15 |\n| isotonic, printed", "1/15 | 1/15 |\n| isotonic, printed"),
    "Table 2, one count": ("7/15 | 3/15 |\n| isotonic, printed", "8/15 | 3/15 |\n| isotonic, printed"),
    "Table 2, printed": ("| 0.4622 | 6/15 | 2/15 |", "| 0.4622 | 6/15 | 3/15 |"),
    "Table 2, splits": ("2/10 to 5/10 | 0/10 to 2/10", "2/10 to 5/10 | 0/10 to 3/10"),
    "question on Random 0.5": (
        "Tables 8 and 9 have six, and Bell at 99.18%",
        "Tables 8 and 9 have five, and Bell at 9.18%",
    ),
    "question on Tight Lo": ("Tight Lo has AUC 0.5000 and cwAUC 0.4987", "Tight Lo has AUC 0.5000 and cwAUC 0.4887"),
    "ways of weighting": ("six ways of weighting", "nine ways of weighting"),
    "copies outside": ("an exact copy would have 0.7 outside", "an exact copy would have 3.7 outside"),
    "rows": ("| 6,633 | 2,211 | 2,211 |", "| 9,633 | 9,211 | 9,211 |"),
    "rows of the test": ("| 6,633 | 2,211 | 2,211 |", "| 6,633 | 2,211 | 2,212 |"),
    "rounds": ("| 5 to 13 | 98 to 475 |", "| 5 to 13 | 98 to 575 |"),
    "depth": ("| 5 to 13 | 98 to 475 |", "| 5 to 12 | 98 to 475 |"),
    "agree": ("| Table 5 | rate | 60 | 60 |", "| Table 5 | rate | 60 | 59 |"),
    "both risky": ("| no post-hoc | 55 | 7 | 8 | 0 | 36 | 4 |", "| no post-hoc | 55 | 8 | 8 | 0 | 36 | 3 |"),
    "a split that differs": ("| credit | 3 | platt | 1.057 |", "| credit | 2 | platt | 1.057 |"),
    "a printed cell": ("| Bell | 0.4984 / 0.4993 |", "| Bell | 0.4994 / 0.4993 |"),
    "hours": ("about an hour on two cores", "about ten minutes on two cores"),
}


def checks() -> Iterator[Check]:
    """The tests that need nothing but the page, with each of their parameters."""
    for module in (test_page_counts, test_page_claims, test_page):
        for name, check in vars(module).items():
            if not name.startswith("test_") or not inspect.isfunction(check):
                continue
            marks = [mark for mark in getattr(check, "pytestmark", ()) if mark.name == "parametrize"]
            names = [mark.args[0] for mark in marks]
            if set(inspect.signature(check).parameters) == {"page", *names}:
                for values in product(*(mark.args[1] for mark in marks)):
                    yield partial(check, **dict(zip(names, values, strict=True)))


def fails(check: Check, page: str) -> bool:
    try:
        check(page=page)
    except Exception:  # whatever it is, pytest calls it a failure
        return True
    return False


@pytest.fixture(scope="module")
def page() -> str:
    return test_page.PAGE_FILE.read_text(encoding="utf-8")


def test_the_page_itself_passes(page: str) -> None:
    every = list(checks())
    assert len(every) > 30
    assert not any(fails(check, page) for check in every)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_count_is_seen(page: str, change: str) -> None:
    before, after = CHANGES[change]
    assert before in page
    changed = page.replace(before, after, 1)
    assert any(fails(check, changed) for check in checks())

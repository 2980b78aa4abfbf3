"""Every metric has a value that another method gives, and meets it."""

import pytest
from expected import EXPECTED, Case

from surefoot.metrics import ALL

CASES = [
    pytest.param(name, case, id=f"{name}, {case.source}, {number}")
    for name, cases in EXPECTED.items()
    for number, case in enumerate(cases, 1)
]


def test_no_metric_is_without_an_independent_value() -> None:
    assert EXPECTED.keys() == ALL.keys()
    assert [name for name, cases in EXPECTED.items() if not cases or not all(case.source for case in cases)] == []


@pytest.mark.parametrize(("name", "case"), CASES)
def test_the_value_is_the_expected_one(name: str, case: Case) -> None:
    assert ALL[name](case.predictions) == pytest.approx(case.value, rel=case.rel, abs=case.abs)

"""The short way through the usual column of confidences comes to what the long way does."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot.files.accounting import Accounting, Manner
from surefoot.files.columns import Columns

VALUES = (
    [0.2, 0.9],
    [0.0, 1.0],
    [1.0, 1.0],
    [0.0, 0.5, 1.0],
    [0.5, float("nan")],
    [0.5, None],
    [None, None],
    [60.0, 0.9],
    [60.0, 85.0],
    [1.0, 100.0],
    [1.005, 0.3],
    [-0.2, 0.4],
    [-0.2, -3.0],
    [],
)


def outcome(batches: list[list[Any]], manner: Manner, name: str, *, is_text: bool) -> tuple[Any, ...]:
    """What becomes of these batches: values, notes and counts, or the error."""
    one = Accounting("a.csv", Columns(correct="correct", confidence=name), manner, is_text=is_text)
    kept: list[Any] = []
    try:
        for values in batches:
            flags = pa.array([i % 2 for i in range(len(values))], pa.int64())
            table = pa.table({"correct": flags, name: pa.array(values, pa.float64())})
            kept += one.settle(table, {"file": "a.csv", "row": len(kept)}).column(name).to_pylist()
        one.check_scale()
    except sf.InvalidPredictions as error:
        return (str(error),)
    return kept, one.notes(), one.scale, dict(one.dropped), one.rows, one.gaps


@pytest.mark.parametrize("name", ["confidence", "log_prob"])
@pytest.mark.parametrize("is_text", [True, False])
def test_numbers_from_0_to_1_take_a_short_way_to_the_same_end(
    name: str, is_text: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    manners = [Manner(), Manner(drop_missing=True), Manner(percent=True), Manner(percent=False)]
    rng = np.random.default_rng(0)
    cases = [[first, second] for first in VALUES for second in VALUES]
    cases += [[VALUES[i] for i in rng.integers(0, len(VALUES), 3)] for _ in range(100)]
    short = [outcome(case, manner, name, is_text=is_text) for case in cases for manner in manners]
    monkeypatch.setattr(Accounting, "_are_shares", lambda self, values: False)
    long = [outcome(case, manner, name, is_text=is_text) for case in cases for manner in manners]
    assert [repr(one) for one in short] == [repr(one) for one in long]
    assert len({len(one) for one in short}) == 2

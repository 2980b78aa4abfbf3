"""The evidence of a stream over time."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.figures.evidence import change_figure, wealth_figure


@pytest.mark.parametrize(
    ("rows", "ticks"),
    [
        (1, [0, 1]),
        (5, [0, 1, 2, 4, 5]),
        (10, [0, 2, 5, 8, 10]),
        (2000, [0, 500, 1000, 1500, 2000]),
    ],
)
def test_ticks_are_whole_rows_with_their_own_labels(rows: int, ticks: list[int]) -> None:
    m = sf.Monitor()
    m.update(np.ones(rows, dtype=bool), np.full(rows, 0.9))
    for figure in (wealth_figure(m), change_figure(m)):
        assert [tick.value for tick in figure.x.ticks] == ticks
        assert [tick.label for tick in figure.x.ticks] == [f"{tick:,}" for tick in ticks]

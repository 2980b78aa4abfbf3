"""What an engine does not know it refuses by one named error; what keys say of themselves is enough to serve them."""

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.core.expression import ROW, floor, octave_cell, program
from surefoot.core.keys import EACH_ROW, EXACT_CONFIDENCE, Digit, Key
from surefoot.core.term import Term
from surefoot.engines.base import Engine
from surefoot.engines.numba import Body
from surefoot.errors import UnsupportedKey

FRAME = pl.DataFrame(
    {"truth": ["a", "b", "a", "b"], "predicted": ["a", "a", "b", "b"], "confidence": [0.6, 0.7, 0.8, 0.9]}
)


@pytest.mark.parametrize("key", [EACH_ROW, EXACT_CONFIDENCE])
def test_a_lazy_frame_does_not_serve_keys_as_long_as_the_data(key: Key) -> None:
    lazy = sf.Predictions.from_frame(FRAME.lazy())
    with pytest.raises(UnsupportedKey, match=f"the Polars engine does not know {key.name}"):
        lazy.tally([Term("weight of it", lambda row: row.weight, key)])


def test_an_engine_that_has_nothing_says_so() -> None:
    class Nothing(Engine):
        name = "empty"

    with pytest.raises(UnsupportedKey) as caught:
        Nothing(None).tables({EACH_ROW: []})
    assert (caught.value.engine, caught.value.key) == ("empty", "cells")


def test_a_compiled_loop_refuses_an_operation_it_does_not_know() -> None:
    with pytest.raises(UnsupportedKey, match="Numba engine does not know octave_cell"):
        Body(program([octave_cell(ROW.doubt)]))


def test_a_key_that_no_engine_has_heard_of_is_served_by_its_digits() -> None:
    class RightAndTenth(Key):
        """Whether a row is right, and the tenth its confidence lies in."""

        name = "right and tenth of confidence"
        digits = (Digit(ROW.correct, 2), Digit(floor(ROW.confidence * 10.0), 11))

    term = Term("rows by right and tenth", lambda row: row.one, RightAndTenth())
    tallies = [sf.Predictions.from_frame(frame).tally([term]).table(RightAndTenth()) for frame in (FRAME, FRAME.lazy())]
    # wrong at 0.7 and 0.8, right at 0.6 and 0.9; 11 places for each
    expected = np.zeros(22)
    expected[[7, 8, 11 + 6, 11 + 9]] = 1
    for table in tallies:
        full = np.zeros(22)
        full[(table.codes >> 32) * 11 + (table.codes & 0xFFFFFFFF)] = table.totals[term.name].value
        np.testing.assert_array_equal(full, expected)

"""Thousands of malformed inputs: nothing but a documented exception escapes."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import surefoot as sf

# pandas 2 warns when Hypothesis prints a frame of float16
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning:pandas")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.sampled_from([pd.NA, pd.NaT, np.datetime64("NaT", "s"), object(), (), [], {}, 2**70, 1e-320, np.float16(1)]),
)
sane = st.one_of(
    st.sampled_from([0, 1]), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from(["a", "b"]), st.booleans()
)
mixed_lists = st.lists(st.one_of(sane, scalars), max_size=5)
sane_lists = st.one_of(
    st.lists(st.sampled_from([0, 1]), min_size=3, max_size=3),
    st.lists(st.sampled_from(["a", "b"]), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=3, max_size=3),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.complex_number_dtypes(),
    hnp.unicode_string_dtypes(max_len=3),
    hnp.byte_string_dtypes(max_len=3),
    hnp.datetime64_dtypes(),
    hnp.timedelta64_dtypes(),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))


def quietly(make: Any) -> Any:
    def build(values: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return make(values)
        except Exception:
            return values

    return build


columns = st.one_of(
    sane_lists,
    mixed_lists,
    arrays,
    scalars,
    sane_lists.map(quietly(pd.Series)),
    sane_lists.map(quietly(pl.Series)),
    sane_lists.map(quietly(pa.array)),
    mixed_lists.map(quietly(pd.Series)),
    mixed_lists.map(quietly(pl.Series)),
    mixed_lists.map(quietly(pa.array)),
    mixed_lists.map(quietly(lambda v: np.array(v, dtype=object))),
    arrays.map(quietly(lambda a: np.ma.array(a, mask=np.arange(a.size).reshape(a.shape) % 2))),
    arrays.map(quietly(pd.DataFrame)),
    st.just(iter([0.5])),
)
options = st.one_of(st.none(), st.none(), columns)

DOCUMENTED = (sf.InvalidPredictions, sf.MetricUnavailable)
CONSTRUCTORS = {
    "from_labels": (3, ("doubt", "sample_weight")),
    "from_correct": (2, ("doubt", "sample_weight")),
    "from_probabilities": (2, ("labels", "y_pred", "sample_weight")),
    "from_logits": (2, ("labels", "y_pred", "sample_weight")),
}


@settings(max_examples=3000)
@given(data=st.data(), constructor=st.sampled_from(sorted(CONSTRUCTORS)))
def test_nothing_but_a_documented_exception_escapes_a_constructor(data: st.DataObject, constructor: str) -> None:
    count, named = CONSTRUCTORS[constructor]
    arguments = [data.draw(columns) for _ in range(count)]
    keywords = {name: data.draw(options) for name in named}
    floor = data.draw(st.one_of(st.none(), st.none(), scalars))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            p = getattr(sf.Predictions, constructor)(*arguments, floor=floor, **keywords)
            sf.assess(p)
        except DOCUMENTED as error:
            assert str(error)


@settings(max_examples=500)
@given(
    frame=st.dictionaries(st.sampled_from(["truth", "predicted", "confidence", "p0", "p1"]), columns), data=st.data()
)
def test_nothing_but_a_documented_exception_escapes_a_frame(frame: dict[str, Any], data: st.DataObject) -> None:
    role = st.one_of(st.none(), st.sampled_from(["truth", "predicted", "confidence", "p", "p0", ""]))
    named = {
        name: data.draw(role) for name in ("truth", "predicted", "confidence", "correct", "probabilities", "weight")
    }
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened = quietly(make)(frame)
            try:
                sf.Predictions.from_frame(opened, **named)
            except DOCUMENTED as error:
                assert str(error)

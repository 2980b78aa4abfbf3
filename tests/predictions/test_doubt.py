"""How sure a row is: doubt that does not cancel, certain rows, and ones that are rounded."""

import warnings

import ml_dtypes
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import surefoot as sf
from surefoot import InvalidPredictions, Predictions


def test_numbers_of_half_types_in_float32_are_of_these_types() -> None:
    rng = np.random.default_rng(3)
    p = 1 / (1 + np.exp(-rng.normal(4, 3, 3000)))
    for kind in (np.float16, ml_dtypes.bfloat16):
        confidence = np.maximum(p, 1 - p).astype(kind)
        with pytest.warns(sf.RoundedConfidenceWarning):
            expected = Predictions.from_correct(np.ones(3000, dtype=bool), confidence)
        for wide in (np.float32, np.float64):
            with pytest.warns(sf.RoundedConfidenceWarning, match="stored as a wider type"):
                found = Predictions.from_correct(np.ones(3000, dtype=bool), confidence.astype(wide))
            assert found.rounded == expected.rounded
            assert (found.doubt == expected.doubt).all()


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_narrow_numbers_stored_as_float64_are_narrow(kind: str) -> None:
    rng = np.random.default_rng(0)
    p = 1 / (1 + np.exp(-rng.normal(8, 6, 2000)))
    y = (rng.random(2000) < p).astype(int)
    narrow = p.astype(kind)
    y[np.argmax(narrow == 1)] = 0
    wide = narrow.astype(np.float64)
    assert (wide == 1).any()
    with pytest.warns(sf.RoundedConfidenceWarning):
        expected = Predictions.from_probabilities(y, narrow)
    with pytest.warns(sf.RoundedConfidenceWarning, match=f"{kind} numbers stored as a wider type"):
        found = Predictions.from_probabilities(y, wide)
    assert np.isfinite(sf.csr(found))
    assert sf.csr(found) == sf.csr(expected)
    assert found.rounded == expected.rounded > 0
    with pytest.warns(sf.RoundedConfidenceWarning, match=f"{kind} numbers stored as a wider type"):
        correct = Predictions.from_correct(expected.correct, np.maximum(narrow, 1 - narrow).astype(np.float64))
    assert correct.rounded >= expected.rounded
    with pytest.warns(sf.RoundedConfidenceWarning, match=f"{kind} numbers stored as a wider type"):
        lazy = Predictions.from_frame(pl.DataFrame({"y": y, "p": wide}).lazy(), truth="y", probabilities="p")
    assert lazy.rounded == expected.rounded
    assert sf.assess(lazy)["csr"] == pytest.approx(sf.csr(expected), rel=1e-12)
    literal = Predictions.from_probabilities(y, wide, float32=False)
    assert sf.csr(literal) == np.inf
    frame = pl.DataFrame({"y": y, "p": wide})
    assert Predictions.from_frame(frame, truth="y", probabilities="p", float32=False).certain == literal.certain
    assert Predictions.from_frame(frame.lazy(), truth="y", probabilities="p", float32=False).rounded == 0


def test_numbers_of_few_digits_or_of_all_are_float64() -> None:
    rng = np.random.default_rng(1)
    for values in (rng.random(500), rng.integers(0, 1024, 500) / 1024, np.round(rng.random(500), 2), np.full(9, 0.5)):
        confidence = np.append(values, 1.0)
        p = Predictions.from_correct(np.ones(len(confidence), dtype=bool), confidence)
        assert (p.certain, p.rounded) == (int((confidence == 1).sum()), 0)


def test_a_lazy_float32_column_warns_too() -> None:
    frame = pl.DataFrame({"k": [True, False], "c": [1.0, 0.7]}, schema={"k": pl.Boolean, "c": pl.Float32}).lazy()
    with pytest.warns(sf.RoundedConfidenceWarning, match="1 of 2 values of column 'c'"):
        assert Predictions.from_frame(frame, correct="k", confidence="c").rounded == 1


@pytest.mark.parametrize("gap", [1.0, 10.0, 40.0, 100.0, 700.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_doubt_from_logits_does_not_cancel(gap: float, dtype: type) -> None:
    from math import exp

    for logits in (np.array([[gap, 0.0]], dtype), np.array([[gap + 500, 500.0]], dtype), np.array([-gap], dtype)):
        p = Predictions.from_logits([0], logits)
        assert p.doubt[0] == pytest.approx(exp(-gap) / (1 + exp(-gap)), rel=1e-6 if dtype == np.float32 else 1e-12)
    three = Predictions.from_logits([0], np.array([[gap, 0.0, 0.0]], dtype))
    assert three.doubt[0] == pytest.approx(2 * exp(-gap) / (1 + 2 * exp(-gap)), rel=1e-6)


def test_a_logit_gap_of_40_gives_4e_18() -> None:
    assert Predictions.from_logits([0], [[40.0, 0.0]]).doubt[0] == pytest.approx(4.248354255291589e-18, rel=1e-12)
    beyond = Predictions.from_logits([0], [[5000.0, 0.0]])
    assert 0 < beyond.doubt[0] < 1e-307
    assert beyond.certain == 0


def test_doubt_from_columns_is_the_sum_of_the_others() -> None:
    p = Predictions.from_probabilities([0], np.array([[1.0, 1e-20, 2e-20]]))
    assert p.doubt[0] == pytest.approx(3e-20, rel=1e-15)
    assert p.certain == 0
    q = Predictions.from_probabilities([0, 1], [1e-20, 1.0])
    assert q.doubt.tolist() == [1e-20, 0.0]
    assert q.certain == 1


def test_certain_rows_are_counted_apart() -> None:
    p = Predictions.from_correct([True, True, False], [1.0, 0.5, 0.5])
    assert (p.certain, p.certain_wrong) == (1, 0)
    assert sf.csr(p) == 1.0
    q = Predictions.from_correct([False, True], [1.0, 0.5])
    assert sf.csr(q) == float("inf")
    assert sf.csr_z(q) == float("inf")
    assert sf.p_risk(q) == 1.0
    assert sf.csr_sigma(q) == 1.0
    ignored = Predictions.from_correct([False, True], [1.0, 0.5], sample_weight=[0, 1])
    assert sf.csr(ignored) == 0.0
    assert ignored.certain == 0


def test_nothing_but_certainty_is_nan_with_a_reason() -> None:
    p = Predictions.from_correct([True, True], [1.0, 1.0])
    with pytest.warns(sf.UndefinedMetricWarning, match="every confidence is 1"):
        assert np.isnan(sf.csr(p))


@pytest.mark.parametrize(("dtype", "doubt"), [(np.float32, 2**-21), (np.float16, 2**-8), (ml_dtypes.bfloat16, 2**-5)])
def test_a_narrow_one_is_rounded_not_certain(dtype: type, doubt: float) -> None:
    c = np.array([1.0, 0.5, 0.75]).astype(dtype)
    with pytest.warns(sf.RoundedConfidenceWarning, match="1 of 3 values of confidence are 1.0 in"):
        p = Predictions.from_correct([False, True, True], c)
    assert (p.rounded, p.certain) == (1, 0)
    assert p.doubt.tolist() == [doubt, 0.5, 0.25]
    assert p[np.array([True, False, False])].rounded == 1
    assert p[1:].rounded == 0
    with pytest.warns(sf.RoundedConfidenceWarning):
        assert Predictions.from_probabilities([1, 0, 1], np.array([1.0, 0.25, 0.75]).astype(dtype)).rounded == 1


def test_a_wide_one_is_certain() -> None:
    assert Predictions.from_correct([True, True], [1.0, 0.5]).certain == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_confidences_within_100_steps_of_one_are_warned_about(dtype: type) -> None:
    step = np.spacing(dtype(1)) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Predictions.from_correct([True, True], np.array([1 - 101 * step, 0.5], dtype=dtype))
    with pytest.warns(sf.RoundedConfidenceWarning, match="within 100"):
        Predictions.from_correct([True, True], np.array([1 - 99 * step, 0.5], dtype=dtype))


def test_floor_clips_in_float64_and_leaves_nothing_certain_or_rounded() -> None:
    p = Predictions.from_correct([True, True, False], np.array([1.0, 0.0, 0.5], dtype=np.float32), floor=1e-8)
    assert p.confidence.tolist() == [1 - 1e-8, 1e-8, 0.5]
    assert p.doubt[0] == 1 - (1 - 1e-8)
    assert (p.certain, p.rounded) == (0, 0)
    q = Predictions.from_probabilities([0, 1], [[1.0, 0.0], [0.5, 0.5]], floor=1e-8)
    assert q.confidence.tolist() == [1 - 1e-8, 0.5]


def test_subnormal_doubts_are_raised_to_the_smallest_normal_number() -> None:
    p = Predictions.from_correct([False, True], doubt=[5e-324, 0.5])
    assert p.doubt[0] == np.finfo(float).tiny
    assert np.isfinite(sf.csr(p))


def test_a_floor_too_small_to_keep_rows_from_certainty_is_refused() -> None:
    with pytest.raises(InvalidPredictions, match="floor is 1e-17"):
        Predictions.from_correct([False, True], [1.0, 0.5], floor=1e-17)


def test_confidence_and_doubt_in_float64_must_agree_closely() -> None:
    with pytest.raises(InvalidPredictions, match=r"doubt\[0\]"):
        Predictions.from_correct([False, True], [0.9999995, 0.5], doubt=[1e-12, 0.5])


def test_narrow_numbers_in_lists_and_list_columns_stay_narrow() -> None:
    with pytest.warns(sf.RoundedConfidenceWarning):
        assert Predictions.from_correct([0, 1], [np.float32(1), np.float32(0.5)]).rounded == 1
    table = np.array([[0.3, 0.7], [0.6, 0.4]], dtype=np.float32)
    for frame in (pl.DataFrame({"y": [0, 1], "p": table}), pa.table({"y": [0, 1], "p": pa.array(list(table))})):
        assert Predictions.from_frame(frame, truth="y", probabilities="p").probabilities.dtype == np.float32


def test_narrow_tables_that_leave_nothing_are_said_to_claim_certainty() -> None:
    with pytest.warns(sf.RoundedConfidenceWarning, match="1 of 2 rows of float32 probabilities"):
        p = Predictions.from_probabilities([0, 1], np.array([[1, 0], [0.4, 0.6]], dtype=np.float32))
    assert p.certain == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Predictions.from_probabilities([0, 1], np.ones(2, np.float32), floor=1e-8)

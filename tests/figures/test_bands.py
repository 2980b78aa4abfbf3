"""Bands of confidence as they are shown: fixed, by value, or deciles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.figures.bands import shown_bands
from surefoot.figures.reliability import Band
from surefoot.render.prediction_wording import bands, confidence_range

STATED = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]


def ranges(a: sf.Assessment) -> list[str]:
    return [confidence_range(band) for band in bands(a)]


def totals(found: Sequence[Band]) -> tuple[float, float, float]:
    return tuple(sum(getattr(band, name) for band in found) for name in ("rows", "stated", "seen"))  # type: ignore[return-value]


@pytest.fixture(scope="module")
def verbalised() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    c = rng.choice(STATED, 400)
    return rng.random(400) < c - 0.1, c


def test_each_stated_confidence_is_a_band_that_reads_as_it_was_stated(verbalised) -> None:
    correct, c = verbalised
    a = sf.assess(correct=correct, confidence=c)
    assert ranges(a) == ["100%", "99%", "95%", "90%", "80%", "70%", "60%", "50%"]
    for band, value in zip(bands(a), sorted(STATED, reverse=True), strict=True):
        own = c == value
        assert band.rows == own.sum()
        assert band.seen == (~correct[own]).sum()
        assert band.stated == pytest.approx(own.sum() * (1 - value))
    assert "\n    100% " in str(a)


def test_a_confidence_of_1_that_was_rounded_reads_100_percent_too(verbalised) -> None:
    correct, c = verbalised
    with pytest.warns(sf.RoundedConfidenceWarning):
        p = sf.Predictions.from_correct(correct, c.astype(np.float16))
    a = sf.assess(p)
    assert a.risk.rounded == (c == 1).sum()
    assert ranges(a)[0] == "100%"
    assert bands(a)[0].rows == a.risk.rounded


def test_a_stated_95_percent_is_not_taken_for_a_rounded_one(tmp_path: Path) -> None:
    stated = [0.6, 0.95, 0.99, 1.0]
    rows = [f'{{"correct": {str(i % 7 > 0).lower()}, "confidence": {stated[i % 4]}}}' for i in range(200)]
    (tmp_path / "answers.jsonl").write_text("\n".join(rows) + "\n")
    a = sf.assess(tmp_path / "answers.jsonl")
    assert ranges(a) == ["100%", "99%", "95%", "60%"]


def test_deciles_where_nine_in_ten_rows_share_a_fixed_band() -> None:
    rng = np.random.default_rng(2)
    c = rng.uniform(0.3, 0.88, 20_000)
    a = sf.assess(correct=rng.random(20_000) < c, confidence=c)
    found = bands(a)
    assert len(a.bands) == 1
    assert len(found) == 10
    assert all(1_700 <= band.rows <= 2_300 for band in found)
    for band in found:
        own = (1 - c >= band.least) & (1 - c < band.below)
        assert band.rows == own.sum()
        assert band.stated == pytest.approx((1 - c[own]).sum())
    assert totals(found) == pytest.approx(totals(a.bands))
    assert ranges(a)[0].startswith("above ")
    assert ranges(a)[-1].startswith("below ")


def test_rows_and_tallies_have_the_same_bands_and_lazy_frames_to_within_a_cell() -> None:
    rng = np.random.default_rng(3)
    c = 1 - 10 ** rng.uniform(-7, -4.2, 20_000)
    p = sf.Predictions.from_correct(rng.random(20_000) < c, c)
    own, tallied = sf.assess(p), sf.assess(sf.tally(p))
    lazy = sf.assess(pl.LazyFrame({"correct": p.correct, "confidence": c}), correct="correct", confidence="confidence")
    assert len(bands(own)) == 10
    for one, other in zip(bands(own), bands(tallied), strict=True):
        assert (one.least, one.below, one.rows, one.seen) == (other.least, other.below, other.rows, other.seen)
    for one, other in zip(bands(own), bands(lazy), strict=True):
        assert other.rows == pytest.approx(one.rows, rel=0.1)
        assert other.below == pytest.approx(one.below, rel=0.02)
    assert totals(bands(lazy)) == pytest.approx(totals(bands(own)))


def test_few_rows_get_fewer_bands_and_weighted_ones_fixed_bands() -> None:
    rng = np.random.default_rng(4)
    c = rng.uniform(0.4, 0.85, 40)
    correct = rng.random(40) < c
    assert len(bands(sf.assess(correct=correct, confidence=c))) == 4
    weighted = sf.assess(correct=correct, confidence=c, sample_weight=rng.uniform(1, 2, 40))
    assert bands(weighted) == weighted.bands


def test_spread_confidences_keep_the_fixed_bands() -> None:
    rng = np.random.default_rng(5)
    c = 1 - 10 ** rng.uniform(-5, -0.3, 2000)
    a = sf.assess(correct=rng.random(2000) < c, confidence=c)
    assert bands(a) == a.bands
    assert ranges(a) == ["above 99.99%", "99.9% to 99.99%", "99% to 99.9%", "90% to 99%", "below 90%"]


def test_nothing_to_divide_stays_as_it_is() -> None:
    a = sf.assess(correct=[True] * 90 + [False] * 10, confidence=[0.7] * 100)
    assert ranges(a) == ["70%"]
    assert shown_bands((), a.counts) == ()

"""What a comparison prints."""

from __future__ import annotations

import numpy as np

import surefoot as sf


def test_many_models_become_rows() -> None:
    p = sf.Predictions.from_correct([True, False] * 50, [0.9, 0.7] * 50)
    text = str(sf.compare({f"model {i}": p for i in range(6)}))
    assert "model 5" in text
    assert max(map(len, text.splitlines())) < 120


def test_the_more_overconfident_is_not_called_further_off_than_an_underconfident_one() -> None:
    rng = np.random.default_rng(0)
    meek = sf.Predictions.from_correct(rng.random(2000) < 0.99, np.full(2000, 0.5))
    bold = sf.Predictions.from_correct(rng.random(2000) < 0.87, np.full(2000, 0.9))
    assert "further off" not in str(sf.compare({"meek": meek, "bold": bold}))


def test_the_better_calibrated_of_two_cautious_models_is_not_called_risky() -> None:
    rng = np.random.default_rng(3)
    meek = sf.Predictions.from_correct([True] * 300, rng.uniform(0.7, 0.8, 300))
    sure = sf.Predictions.from_correct([True] * 300, np.full(300, 0.99))
    text = str(sf.compare({"meek": meek, "sure": sure}))
    assert "sure is less cautious than meek" in text
    assert "riskier" not in text

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


def events(p: dict[str, float], observed: int) -> str:
    """What a comparison prints of models that give each of 1,000 rows, some of them events, the same probability."""
    happened = np.arange(1000) < observed
    wiggle = np.where(np.arange(1000) % 2 == 0, 0.001, -0.001)
    models = {
        name: sf.Predictions.from_probabilities(
            happened.astype(int), mean + (i + 1) * wiggle, labels=[0, 1], of="event", pos_label=1
        )
        for i, (name, mean) in enumerate(p.items())
    }
    return " ".join(str(sf.compare(models)).split())


def test_a_model_that_may_be_calibrated_is_not_called_worse() -> None:
    # the 95% interval of 480 in 1,000 reaches from 44.9% to 51.1%
    text = events({"truth": 0.5, "low": 0.485}, 480)
    assert "truth predicts higher than low" in text
    assert "better calibrated" not in text


def test_a_model_that_is_off_is_called_worse_on_the_same_side_or_beyond_what_the_other_may_be() -> None:
    assert "low is better calibrated on average than high" in events({"high": 0.6, "low": 0.5}, 480)
    # 12 points too high, and between 1.9 too high and 5.1 too low
    assert "low is better calibrated on average than high" in events({"high": 0.6, "low": 0.465}, 480)
    # 4 points too high, and between 1.1 too high and 5.1 too low
    text = events({"high": 0.52, "low": 0.46}, 480)
    assert "high predicts higher than low" in text
    assert "better calibrated" not in text


def test_a_calibrated_model_is_seldom_called_worse_than_a_lower_one() -> None:
    named = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = rng.beta(2, 5, 1000)
        y = (rng.random(1000) < p).astype(int)
        models = {
            name: sf.Predictions.from_probabilities(y, q, labels=[0, 1], of="event", pos_label=1)
            for name, q in (("truth", p), ("low", 0.97 * p))
        }
        named += "low is better calibrated" in " ".join(str(sf.compare(models)).split())
    # its own interval leaves out the truth on one side once in forty times
    assert named <= 2

"""E-values, however they are reached."""

import numpy as np
import pytest

import surefoot as sf


def test_one_mixture_is_behind_every_e_value() -> None:
    rng = np.random.default_rng(3)
    confidence = rng.uniform(0.5, 1, 300)
    correct = rng.random(300) < 0.95 * confidence
    p = sf.Predictions.from_correct(correct, confidence)
    alone = sf.risk_test(p)
    m = sf.Monitor(alternative="overconfident")
    m.update(correct, confidence)
    # of groups of one row, gains are averaged over one
    grouped = sf.risk_test(p, groups=np.arange(300))
    assert [m.log_e, grouped.log_e] == pytest.approx([alone.log_e] * 2, rel=1e-9)
    both = sf.Monitor()
    both.update(correct, confidence)
    other = sf.risk_test(p, alternative="underconfident").log_e
    assert both.log_e == pytest.approx(sf.e_mean([alone.log_e, other]), rel=1e-9)

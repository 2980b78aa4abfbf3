"""What recalibration would bring: of the rows that count, with an interval from groups."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.render.next_steps import next_steps


def numbers(a: sf.Assessment) -> list[float]:
    found = a.recalibrated
    assert found is not None
    return [found.log_loss, found.log_loss_after, found.saved, *found.saved_interval]


def test_rows_without_weight_are_in_no_step() -> None:
    """A third of the rows does not count, and all of it is wrong: what is said is said of the others."""
    rng = np.random.default_rng(0)
    confidence, weight = 0.5 + 0.5 * rng.beta(6, 1, 3000), (np.arange(3000) % 3 > 0).astype(float)
    correct = (rng.random(3000) < confidence**2) & (weight > 0)
    a = sf.assess(correct=correct, confidence=confidence, sample_weight=weight)
    counting = sf.assess(correct=correct[weight > 0], confidence=confidence[weight > 0])
    assert numbers(a) == pytest.approx(numbers(counting), rel=1e-9)
    recalibrate, act_alone = next_steps(a)
    assert "leave out those of weight 0" in recalibrate.words
    alone = eval(act_alone.command, {"sf": sf, "a": a})
    assert (alone.rows, alone.threshold) == (2000, next(one.threshold for one in a.offers if one.coverage > 0.05))


def test_what_recalibration_brings_to_groups_is_as_uncertain_as_so_many_groups() -> None:
    """Five copies of each row tell no more than the rows."""
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1, 600)
    correct = rng.random(600) < confidence**2
    once = sf.assess(correct=correct, confidence=confidence)
    copies = sf.assess(correct=correct.repeat(5), confidence=confidence.repeat(5), groups=np.arange(600).repeat(5))
    *values, low, high = numbers(copies)
    *expected, least, most = numbers(once)
    assert values == pytest.approx(expected, rel=1e-5)
    # a little wider: Student's t with as many degrees of freedom as groups tell
    assert 1 <= (high - low) / (most - least) < 1.02

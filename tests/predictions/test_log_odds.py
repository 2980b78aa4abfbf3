"""Log-odds that are made of logits when they are asked for, against the definition in long arithmetic."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

import surefoot as sf

getcontext().prec = 60
RNG = np.random.default_rng(3)
TABLES = {
    "float64": RNG.normal(size=(60, 5)) * 8,
    "float32": (RNG.normal(size=(60, 5)) * 20).astype(np.float32),
    "float16": RNG.normal(size=(60, 3)).astype(np.float16),
    "two classes": RNG.normal(size=(60, 2)) * 30,
    "tied": np.round(RNG.normal(size=(60, 3))),
    "far apart": RNG.normal(size=(20, 4)) * 1e3,
}


def log_odds(row: np.ndarray, label: int) -> Decimal:
    """The logit of a class, less the logarithm of what the others' exponentials add up to."""
    logits = [Decimal(float(x)) for x in row]
    return logits[label] - sum(x.exp() for k, x in enumerate(logits) if k != label).ln()


def test_classes_beyond_what_narrow_floats_count_keep_their_probabilities() -> None:
    """In float16, 2,048 + 1 is 2,048."""
    logits = np.zeros((2, 2500), np.float16)
    logits[0, 2049], logits[1, 2300] = 9, 8
    found = sf.Predictions.from_logits(np.array([2049, 2300]), logits).probabilities
    for row, label, top in ((0, 2049, 9), (1, 2300, 8)):
        whole = np.exp(top) + 2499
        assert found[row, label] == pytest.approx(np.exp(top) / whole, rel=1e-12)
        np.testing.assert_allclose(np.delete(found[row], label), 1 / whole, rtol=1e-12)


@pytest.mark.parametrize("name", TABLES)
def test_log_odds_and_probabilities_are_those_of_the_definition(name: str) -> None:
    logits = TABLES[name]
    p = sf.Predictions.from_logits(RNG.integers(0, logits.shape[1], len(logits)), logits)
    expected = [[log_odds(row, k) for k in range(logits.shape[1])] for row in logits]
    # a difference of two numbers as large as the logits, each with a few roundings: so far off may the log-odds be, and
    # by such a share a probability
    off = 8 * 2.0**-53 * max(1.0, float(np.abs(logits).max()))
    near = {"rel": 1e-15, "abs": off}
    for k in range(logits.shape[1]):
        odds = [float(row[k]) for row in expected]
        assert p.score_log_odds(k, slice(None)).tolist() == pytest.approx(odds, **near)
        assert p[10:15].score_log_odds(k, slice(None)).tolist() == pytest.approx(odds[10:15], **near)
        assert p.score_log_odds(k, slice(3, 9)).tolist() == pytest.approx(odds[3:9], **near)
    shares = [[float(1 / (1 + (-one).exp())) for one in row] for row in expected]
    assert p.probabilities == pytest.approx(np.array(shares), rel=2 * off, abs=1e-300)
    top = logits.argmax(axis=1)
    doubts = [float(1 / (1 + row[k].exp())) for row, k in zip(expected, top, strict=True)]
    assert p.doubt.tolist() == pytest.approx([max(d, 2.3e-308) for d in doubts], rel=2 * off)


def test_the_confidence_of_a_class_that_is_not_the_first_is_its_probability() -> None:
    logits = TABLES["float64"]
    chosen = RNG.integers(0, 5, len(logits))
    p = sf.Predictions.from_logits(chosen, logits, y_pred=chosen)
    expected = [float(1 / (1 + (-log_odds(row, k)).exp())) for row, k in zip(logits, chosen, strict=True)]
    assert p.confidence.tolist() == pytest.approx(expected, rel=1e-13)


def test_one_column_of_logits_is_the_log_odds_of_the_second_label() -> None:
    z = RNG.normal(size=50) * 30
    p = sf.Predictions.from_logits((z > 1).astype(int), z)
    assert p.has_second
    assert p.score_log_odds(1, slice(None)).tolist() == z.tolist()
    event = p.event(0)
    assert event.score_log_odds((event.labels or ()).index(True), slice(None)).tolist() == (-z).tolist()
    assert p.probabilities.shape == (50,)


def test_logits_of_many_classes_are_not_copied_and_probabilities_are_made_when_asked_for() -> None:
    logits = RNG.normal(size=(2000, 50)).astype(np.float32)
    p = sf.Predictions.from_logits(RNG.integers(0, 50, 2000), logits)
    assert np.shares_memory(p._log_odds.logits, logits)
    assert p.has_probabilities
    sf.assess(p)
    assert "probabilities" not in vars(p)

"""Which calibrator: compared on held-out rows, and one named."""

import json

import numpy as np
import pytest
from scipy.special import expit

import surefoot as sf
from surefoot.calibrators import Isotonic, Platt, SafeBins, SafePlatt
from surefoot.plots import CalibratorsDisplay


def overconfident(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, n)
    return (rng.random(n) < expit(x)).astype(int), expit(3 * x)


def test_the_recommended_one_is_safe_and_useful() -> None:
    y, p = overconfident(3000)
    found = sf.calibrate(y, p)
    best = found.trials[found.recommended]
    assert best.is_safe
    assert not best.is_risky
    assert found.trials["raw"].is_risky
    assert best.saved.low > 0
    quiet = [trial.log_loss for trial in found.trials.values() if trial.is_safe and not trial.is_risky]
    assert best.log_loss == min(quiet)
    assert best.log_loss <= found.trials["platt"].log_loss + 0.01
    assert json.loads(json.dumps(found.to_dict()["recommended"])) == found.recommended
    assert "Recommended" in str(found)
    # it has seen all rows
    alone = type(found.calibrator)(**found.calibrator.get_params()).fit(p, y)
    assert found.calibrator.predict_proba(p).tolist() == alone.predict_proba(p).tolist()


def test_given_test_rows_are_used_and_numbers_are_theirs() -> None:
    y, p = overconfident(1500)
    y_test, p_test = overconfident(1000, 1)
    found = sf.calibrate(y, p, y_test, p_test, methods={"mine": SafePlatt(), "Platt": Platt()})
    assert set(found.trials) == {"raw", "mine", "Platt"}
    raw = sf.Predictions.from_probabilities(y_test, p_test)
    assert found.trials["raw"].log_loss == pytest.approx(
        sf.log_loss(sf.Predictions.from_probabilities(y_test, p_test, floor=1e-8)), rel=1e-9
    )
    mine = SafePlatt().fit(p, y).predictions(y_test, p_test)
    assert found.trials["mine"].assessment.risk.csr == pytest.approx(sf.csr(mine), rel=1e-12)
    assert (found.trials["mine"].predictions.predicted == raw.predicted).all()
    # the paired interval, by hand
    losses = [-np.log(np.where(q.correct, 1 - q.doubt, q.doubt).clip(1e-8, 1 - 1e-8)) for q in (raw, mine)]
    difference = losses[0] - losses[1]
    error = difference.std() / np.sqrt(1000)
    saved = found.trials["mine"].saved
    assert (saved.low, saved.value) == pytest.approx((difference.mean() - 1.96 * error, difference.mean()), abs=1e-5)


def test_plateaus_are_said_and_drawn() -> None:
    y, p = overconfident(400)
    found = sf.calibrate(y, p, methods={"Isotonic": Isotonic(), "SafeBins": SafeBins()})
    assert "exactly 0 or 1" in found.trials["Isotonic"].note
    display = found.plot()
    assert isinstance(display, CalibratorsDisplay)
    assert display.frame()["name"] == ["raw", "Isotonic", "SafeBins"]


def test_words_several_classes_and_logits() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, (900, 3))
    words = np.array(["a", "b", "c"])[
        (np.cumsum(np.exp(z / 2) / np.exp(z / 2).sum(1, keepdims=True), 1) < rng.random((900, 1))).sum(1).clip(0, 2)
    ]
    found = sf.calibrate(words, z, from_logits=True)
    assert found.calibrator.classes_.tolist() == ["a", "b", "c"]
    assert found.calibrator.predict_proba(z).shape == (900, 3)
    assert sf.calibrate(*overconfident(300)).trials.keys() == found.trials.keys()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"methods": {"Platt": Platt()}}, "none with a proof"),
        ({"methods": {"raw": SafePlatt()}}, "'raw'"),
        ({"methods": {"x": "SafePlatt"}}, "give calibrators by name"),
        ({"y_test": [1, 0]}, "together"),
        ({"share": 1.5}, "share is 1.5"),
        ({"rng": 0}, "rng is 0"),
        ({"methods": [SafePlatt()]}, "by name"),
        ({"methods": {"s": SafePlatt(from_logits=True)}}, "same from_logits"),
    ],
)
def test_bad_requests_are_named(options, said) -> None:
    y, p = overconfident(50)
    with pytest.raises(ValueError, match=said):
        sf.calibrate(y, p, **options)

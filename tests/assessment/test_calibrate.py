"""Which calibrator: compared on held-out rows, and one named."""

import json

import numpy as np
import pytest
from scipy.special import expit

import surefoot as sf
from surefoot.assessment.calibrate import calibrate
from surefoot.calibrators import METHODS, Isotonic, Platt, SafeBins, SafePlatt, load
from surefoot.calibrators.registry import NAMED, new_calibrator
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
    # it has seen the rows that were not held out, and only these
    kept = np.random.default_rng(0).permutation(3000)[1500:]
    alone = type(found.calibrator)(**found.calibrator.get_params()).fit(p[kept], y[kept])
    assert found.calibrator.predict_proba(p).tolist() == alone.predict_proba(p).tolist()


def test_log_loss_is_that_of_the_metric() -> None:
    y, p = overconfident(800, seed=5)
    found = sf.calibrate(y, p)
    raw = found.trials["raw"]
    for trial in found.trials.values():
        assert trial.log_loss == sf.log_loss(trial.predictions)
        if np.isfinite(trial.log_loss):
            assert trial.saved.value == pytest.approx(raw.log_loss - trial.log_loss, abs=1e-12)
    held = np.random.default_rng(0).permutation(800)[:400]
    halves = [held[::2], held[1::2]]
    tried = [
        new_calibrator("safe_bins").fit(p[fit], y[fit]).predictions(y[test], p[test])
        for fit, test in (halves, halves[::-1])
    ]
    assert found.choice["safe_bins"] == pytest.approx(np.mean([sf.log_loss(part) for part in tried]), rel=1e-12)


@pytest.mark.filterwarnings("ignore::surefoot.errors.CertaintyWarning")
@pytest.mark.parametrize("name", NAMED)
def test_every_name_makes_a_calibrator_of_its_own_that_files_know(name: str, tmp_path) -> None:
    y, p = overconfident(300)
    one, other = new_calibrator(name), new_calibrator(name, from_logits=True)
    assert one is not other
    assert (one.from_logits, other.from_logits) == (False, True)
    assert not hasattr(NAMED[name], "classes_")
    assert METHODS[type(one).__name__] is type(one)
    one.fit(p, y).save(tmp_path / "one.json")
    assert repr(load(tmp_path / "one.json")) == repr(one) == repr(NAMED[name])


def test_the_choice_does_not_look_at_the_rows_that_are_fitted() -> None:
    """Other labels of the rows that are fitted change the fit, and not what was chosen or by how much."""
    y, p = overconfident(600)
    kept = np.random.default_rng(0).permutation(600)[300:]
    other = y.copy()
    other[kept] = 1 - other[kept]
    one, two = sf.calibrate(y, p), sf.calibrate(other, p)
    assert one.choice == two.choice
    assert one.recommended == two.recommended == min(one.choice, key=one.choice.get)
    assert one.calibrator.predict_proba(p).tolist() != two.calibrator.predict_proba(p).tolist()


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
        ({"methods": {"Platt": Platt()}}, "no method has a guarantee"),
        ({"methods": {"raw": SafePlatt()}}, "'raw'"),
        ({"methods": {"x": "SafePlatt"}}, "it must be a calibrator"),
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


@pytest.mark.parametrize("name", [name for name in NAMED if NAMED[name].is_safe])
@pytest.mark.parametrize("case", ["random", "low rows all wrong", "all right", "all wrong", "three classes"])
def test_no_calibrator_with_a_proof_calls_anything_impossible(name: str, case: str) -> None:
    rng = np.random.default_rng(0)
    if case == "three classes":
        probabilities = rng.dirichlet([0.3, 0.3, 0.3], 300)
        probabilities[:50] = [1.0, 0.0, 0.0]
        y = rng.integers(0, 3, 300)
        fresh = np.vstack([probabilities, np.eye(3)])
    else:
        probabilities = rng.uniform(0.5, 1, 300)
        chance = {
            "low rows all wrong": np.where(probabilities < 0.7, 0.0, probabilities),
            "all right": 1.0,
            "all wrong": 0.0,
        }
        y = (rng.random(300) < chance.get(case, probabilities)).astype(int)
        fresh = np.linspace(0, 1, 2001)
    table = (
        new_calibrator(name)
        .fit(probabilities, y, labels=[0, 1, 2] if case == "three classes" else [0, 1])
        .predict_proba(fresh)
    )
    assert (table > 0).all()
    assert (table < 1).all()
    assert table.sum(axis=1) == pytest.approx(1.0)


def test_the_log_loss_of_what_was_called_impossible_is_infinite() -> None:
    rng = np.random.default_rng(1)
    p = np.round(rng.uniform(0, 1, 400))
    y = np.where(rng.random(400) < 0.9, p, 1 - p).astype(int)
    found = calibrate(y, p)
    assert found.trials["raw"].log_loss == np.inf
    assert np.isfinite(found.trials[found.recommended].log_loss)
    assert found.trials[found.recommended].saved.value == np.inf
    assert "inf" in str(found)


def test_a_saved_calibrator_keeps_what_its_rows_support(tmp_path) -> None:
    rng = np.random.default_rng(2)
    p = rng.uniform(0.5, 1, 200)
    model = new_calibrator("venn_abers_pessimistic").fit(p, (rng.random(200) < np.where(p < 0.6, 0, p)).astype(int))
    model.save(tmp_path / "c.json")
    again = sf.calibrators.load(tmp_path / "c.json")
    fresh = np.linspace(0, 1, 101)
    assert (again.predict_proba(fresh) == model.predict_proba(fresh)).all()


def test_the_recommendation_shows_the_numbers_that_it_rests_on() -> None:
    rng = np.random.default_rng(3)
    p = rng.uniform(0.02, 0.98, 600)
    found = sf.calibrate((rng.random(600) < p).astype(int), p)
    text = " ".join(str(found).split())
    assert f"(log loss {found.choice[found.recommended]:.4f}; " in text
    # the table is of another fit, and says so
    assert "another may have a lower log loss in the table" in text
    assert "isotonic: isotonic" not in text

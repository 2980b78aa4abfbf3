"""Calibrators: the numbers of other packages, the theorem, and what is kept."""

import json
import math
import warnings

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit

import surefoot as sf
from surefoot._io import documents
from surefoot.calibrators import (
    METHODS,
    Beta,
    Deflation,
    Isotonic,
    Platt,
    SafeBins,
    SafePlatt,
    Temperature,
    VennAbers,
    load,
)
from surefoot.calibrators.deflation import surprise

EVERY = [
    Platt(),
    Platt(top_label=True),
    Isotonic(),
    Temperature(),
    Beta(),
    VennAbers(),
    VennAbers("pessimistic"),
    VennAbers("pooled"),
    Deflation(),
    Deflation("maximum_likelihood"),
    Deflation("pac"),
    SafePlatt(),
    SafeBins(),
]
SAFE = [model for model in EVERY if model.is_safe]


def two(n: int, seed: int = 0, sharpness: float = 2.0):
    """P(second label) of an overconfident model, and the truth."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, n)
    return expit(sharpness * x), (rng.random(n) < expit(x)).astype(int)


def many(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, (n, 4))
    truth = (np.cumsum(np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), axis=1) < rng.random(n)[:, None]).sum(axis=1)
    wide = np.exp(2 * z)
    return wide / wide.sum(axis=1, keepdims=True), truth.clip(0, 3)


def quiet(model, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.CertaintyWarning)
        return type(model)(**model.get_params()).fit(*arguments)


# -- other packages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [8, 100, 3000])
def test_platt_is_scikit_learn_s_or_nearer_the_optimum(n, weighted) -> None:
    from sklearn.calibration import _SigmoidCalibration

    p, y = two(n)
    weight = np.random.default_rng(1).integers(1, 4, n).astype(float) if weighted else None
    theirs = _SigmoidCalibration().fit(p, y, weight)
    ours = Platt().fit(p, y, weight)
    w = np.ones(n) if weight is None else weight
    yes, no = w[y == 1].sum(), w[y == 0].sum()
    target = np.where(y == 1, (yes + 1) / (yes + 2), 1 / (no + 2))

    def loss(q):
        return -(w * (target * np.log(q) + (1 - target) * np.log1p(-q))).sum()

    found, expected = ours.predict_proba(p)[:, 1], theirs.predict(p)
    assert loss(found) <= loss(expected) * (1 + 1e-12)
    # a gradient of zero is the optimum, whatever scikit-learn stopped at
    assert abs((w * (found - target)).sum()) < 1e-7 * w.sum()
    assert abs((w * (found - target) * p).sum()) < 1e-7 * w.sum()
    assert found == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_is_scikit_learn_s(weighted) -> None:
    from sklearn.isotonic import IsotonicRegression

    p, y = two(500)
    p = p.round(2)  # ties
    weight = np.random.default_rng(1).integers(0, 3, 500).astype(float) if weighted else None
    theirs = IsotonicRegression(out_of_bounds="clip").fit(p, y, weight)
    asked = np.linspace(0, 1, 1001)
    found = quiet(Isotonic(), p, y, weight).predict_proba(asked)[:, 1]
    assert found == pytest.approx(theirs.predict(asked), abs=1e-12)


def test_isotonic_warns_of_plateaus_at_the_ends() -> None:
    with pytest.warns(sf.CertaintyWarning, match="exactly 0 or 1 for 4 of 6"):
        Isotonic().fit([0.1, 0.2, 0.4, 0.6, 0.8, 0.9], [0, 0, 1, 0, 1, 1])


def test_several_classes_are_scikit_learn_s_one_against_the_rest() -> None:
    from surefoot.paper.training import calibrate

    fit, truth = many(800)
    test, _ = many(300, 1)
    for ours, method in ((Platt(), "sigmoid"), (Isotonic(), "isotonic")):
        found = quiet(ours, fit, truth).predict_proba(test)
        assert found == pytest.approx(calibrate(method, fit, truth, test), abs=2e-4 if method == "sigmoid" else 1e-12)


def test_temperature_has_the_least_log_loss() -> None:
    p, y = two(2000)
    found = Temperature().fit(p, y)
    inverse = found.maps_[0].inverse

    def loss(beta):
        q = expit(beta * logit(p))
        return -np.log(np.where(y == 1, q, 1 - q)).mean()

    assert loss(inverse) <= min(loss(inverse * 1.001), loss(inverse / 1.001))
    assert inverse == pytest.approx(0.5, abs=0.06)  # confidences were made twice as sharp as they should be
    assert found.predict_proba(p)[:, 1] == pytest.approx(expit(inverse * logit(p)), rel=1e-9)


@pytest.mark.parametrize("pool", [0, 4])
def test_venn_abers_is_isotonic_regression_with_one_row_more(pool) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 12, 25) / 12
    happened = rng.random(25) < x
    events = (x, np.zeros(25), happened, np.ones(25))
    from surefoot.calibrators.calibrator import Events

    model = VennAbers("pooled" if pool else "pessimistic")
    if pool:
        assert math.ceil(math.sqrt(25)) == 5
        pool = 5
    fitted = model._fit_map(Events(*events))
    for asked in np.append(np.unique(x), np.linspace(0.01, 0.99, 40)):
        for answer, column in ((0, fitted.low), (1, fitted.high)):
            values, answers = np.append(x, asked), np.append(happened, answer).astype(float)
            at, place = np.unique(values, return_inverse=True)
            n, e = np.bincount(place), np.bincount(place, answers)
            own = place[-1]
            if pool:  # the largest, at least so many rows, as one group
                start = max(i for i in range(len(at)) if n[i:].sum() >= pool)
                n, e = np.append(n[:start], n[start:].sum()), np.append(e[:start], e[start:].sum())
                own = min(own, start)
            expected = isotonic_regression(e / n, weights=n.astype(float)).x[own]
            found = column[np.searchsorted(fitted.start, asked, side="right") - 1]
            assert found == pytest.approx(expected, abs=1e-12), (asked, answer)


@pytest.mark.heavy
def test_venn_abers_is_that_of_its_package() -> None:
    venn_abers = pytest.importorskip("venn_abers")
    p, y = two(400)
    p, asked = p.round(3), two(200, 1)[0].round(3)
    columns = [np.stack([1 - q, q], axis=1) for q in (p, asked)]
    theirs = venn_abers.VennAbersCalibrator().predict_proba(p_cal=columns[0], y_cal=y, p_test=columns[1])
    assert VennAbers().fit(p, y).predict_proba(asked) == pytest.approx(np.asarray(theirs), abs=1e-6)


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0, -1.0])
def test_beta_is_that_of_its_package(sharpness) -> None:
    betacal = pytest.importorskip("betacal")
    p, y = two(2000, sharpness=sharpness)
    theirs = betacal.BetaCalibration(parameters="abm").fit(p.reshape(-1, 1), y).predict(p)
    found = Beta().fit(p, y).predict_proba(p)[:, 1]

    def loss(q):
        return -np.log(np.where(y == 1, q, 1 - q)).mean()

    assert loss(found) <= loss(theirs) + 1e-9
    assert found == pytest.approx(theirs, abs=2e-3)


# -- the theorem -----------------------------------------------------------------------------------------------------

ERROR = 0.97  # of a row with log-odds x: .97 expit(-.6 x) + .002


def draw(n: int, rng):
    """The world of the theory's table: reported log-odds, and whether the prediction is right."""
    x = rng.normal(4, 2, n)
    q = ERROR * expit(-0.6 * x) + 0.002
    # the confidence in the decision, here always the second label
    return expit(x), (rng.random(n) >= q).astype(int), q


@pytest.mark.parametrize("model", SAFE, ids=repr)
@pytest.mark.parametrize("n", [50, 200, 1000])
def test_fresh_rows_have_a_mean_csr_of_at_most_one(model, n) -> None:
    rng = np.random.default_rng(n)
    repeats = {50: 120, 200: 60, 1000: 25}[n]
    fresh, _, true = draw(4000, rng)
    # decisions below one half are of the first label: keep to those of the second, as the world is made
    keep = fresh > 0.5
    fresh, true = fresh[keep], true[keep]
    ratios = []
    for _ in range(repeats):
        p, y, _ = draw(n, rng)
        p, y = p[p > 0.5], y[p > 0.5]
        doubt = 1 - type(model)(**model.get_params()).fit(p, y, labels=[0, 1]).predict_proba(fresh)[:, 1]
        ratios.append((true / doubt).mean())
    error = np.std(ratios) / math.sqrt(repeats)
    assert np.mean(ratios) <= 1 + 3 * error
    if isinstance(model, Deflation) and model.kind == "pac":
        assert np.mean(np.array(ratios) > 1) <= model.alpha + 3 * math.sqrt(model.alpha * (1 - model.alpha) / repeats)


@pytest.mark.parametrize("n", [50, 200, 1000])
def test_isotonic_fails_it(n) -> None:
    rng = np.random.default_rng(n)
    fresh, _, true = draw(4000, rng)
    fresh, true = fresh[fresh > 0.5], true[fresh > 0.5]
    ratios = []
    for _ in range(20):
        p, y, _ = draw(n, rng)
        doubt = 1 - quiet(Isotonic(), p[p > 0.5], y[p > 0.5]).predict_proba(fresh)[:, 1]
        ratios.append((true / np.maximum(doubt, 1e-8)).mean())
    assert np.median(ratios) > 100


def test_deflation_leaves_room_for_one_more_mistake() -> None:
    """The definition itself, at every stated doubt."""
    rng = np.random.default_rng(0)
    doubt = rng.beta(0.5, 4, 300)
    wrong = rng.random(300) < np.sqrt(doubt)
    model = Deflation().fit(1 - doubt / 2, (~wrong).astype(int), labels=[0, 1])
    stated, count = np.unique(doubt[wrong] / 2, return_counts=True)
    for asked in (1e-9, 1e-4, 0.01, 0.1, 0.4):
        lost = float(model.maps_[0].shortfall[np.searchsorted(model.maps_[0].start, asked, side="right") - 1])
        one_more = 1 / (asked + lost * (1 - asked))
        assert surprise(stated, count, lost) + one_more <= 301 * (1 + 1e-12)
        less = lost * 0.98
        if less:
            assert surprise(stated, count, less) + 1 / (asked + less * (1 - asked)) > 301


def test_maximum_likelihood_deflation_brings_csr_to_one() -> None:
    p, y = two(3000)
    raw = sf.Predictions.from_probabilities(y, p)
    model = Deflation("maximum_likelihood").fit(p, y)
    assert sf.csr(raw) > 1.2
    assert sf.csr(model.predictions(y, p)) == pytest.approx(1, abs=1e-9)
    assert float(model.maps_[0].shortfall[0]) == pytest.approx(sf.risk_test(raw).deflation, rel=1e-6)


# -- what they are used for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", EVERY, ids=repr)
@pytest.mark.parametrize("data", [two, many], ids=["two", "many"])
def test_rows_add_up_and_decisions_of_the_top_label_stay(model, data) -> None:
    p, y = data(400)
    fitted = quiet(model, p, y)
    found = fitted.predict_proba(p)
    assert found.shape == (400, 2 if p.ndim == 1 else p.shape[1])
    assert found.sum(axis=1) == pytest.approx(np.ones(400), abs=1e-12)
    assert (found >= 0).all()
    raw = sf.Predictions.from_probabilities(y, p)
    kept = fitted.predictions(y, p)
    assert (kept.predicted == raw.predicted).all()
    assert kept.correct.tolist() == raw.correct.tolist()


# a sigmoid of logits is another one than of probabilities
@pytest.mark.parametrize("model", [model for model in EVERY if not isinstance(model, Platt)], ids=repr)
def test_logits_are_probabilities_that_kept_their_digits(model) -> None:
    p, y = two(300)
    of_logits = type(model)(**{**model.get_params(), "from_logits": True})
    found = quiet(of_logits, logit(p), y).predict_proba(logit(p))
    assert found == pytest.approx(quiet(model, p, y).predict_proba(p), abs=1e-6)


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_a_saved_one_is_the_same(model, tmp_path) -> None:
    p, y = many(200)
    names = np.array(["a", "b", "c", "d"])[y]
    fitted = quiet(model, p, names)
    fitted.save(tmp_path / "calibrator.json")
    loaded = load(tmp_path / "calibrator.json")
    assert repr(loaded) == repr(fitted)
    assert loaded.classes_.tolist() == ["a", "b", "c", "d"]
    assert loaded.predict_proba(p).tolist() == fitted.predict_proba(p).tolist()
    assert json.loads((tmp_path / "calibrator.json").read_text())["surefoot"] == "calibrator"


def test_bad_files_and_calls_are_refused(tmp_path) -> None:
    path = tmp_path / "calibrator.json"
    Platt().fit(*two(50)).save(path)
    text = path.read_text()
    for broken in (text[:-20], text.replace("Platt", "Plutt"), text.replace('"schema":1', '"schema":99'), "[]"):
        path.write_text(broken)
        with pytest.raises(sf.InvalidCalibrator):
            load(path)
    with pytest.raises(sf.InvalidCalibrator, match="not fitted"):
        Platt().predict_proba([0.5])
    with pytest.raises(sf.InvalidPredictions, match="outside"):
        Platt().fit(*two(50)).predict_proba([1.5])
    with pytest.raises(sf.InvalidPredictions, match="unequal weights"):
        SafePlatt().fit(*two(50), np.arange(50.0))
    with pytest.raises(ValueError, match="kind is 'best'"):
        VennAbers("best")
    with pytest.raises(TypeError):
        Platt().set_params(colour="red")


def test_other_parameters_and_failed_fits_leave_nothing_behind() -> None:
    p, y = two(60)
    model = VennAbers().fit(p, y)
    model.set_params(kind="pessimistic")
    with pytest.raises(sf.InvalidCalibrator, match="not fitted"):
        model.predict_proba(p)
    safe = SafePlatt().fit(p, y)
    with pytest.raises(sf.InvalidPredictions):
        safe.fit(p, np.where(y == 1, "b", "a"), np.arange(60) + 1.0)
    assert safe.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="from_logits is 'no'"):
        SafePlatt(from_logits="no").fit(p, y)


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_forged_files_are_refused(model, tmp_path) -> None:
    """The fingerprint is no secret: what was read is looked at too."""
    path = tmp_path / "calibrator.json"
    quiet(model, *two(80)).save(path)
    whole = json.loads(path.read_text())
    body = {name: value for name, value in whole.items() if name not in ("surefoot", "schema", "sha256")}
    (own,) = body["maps"]
    name = next(name for name, value in own.items() if not isinstance(value, bool))
    for forged in ([], [own, own], [{**own, name: [-5.0, 2.0] if isinstance(own[name], list) else "x"}]):
        documents.write(path, "calibrator", 1, {**body, "maps": forged})
        with pytest.raises(sf.InvalidCalibrator):
            load(path)
    path.write_text(path.read_text().replace(":1,", ":1e999,", 1))
    with pytest.raises(sf.InvalidCalibrator):
        load(path)


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_they_clone(model) -> None:
    from sklearn.base import clone

    assert repr(clone(model)) == repr(model)
    assert set(METHODS) == {type(one).__name__ for one in EVERY}
    assert model.guarantee
    assert model.cost


@pytest.mark.parametrize("scale", [0.02, 1.0, 40.0])
@pytest.mark.parametrize("from_logits", [True, False])
def test_temperature_is_found_however_far_it_is(scale: float, from_logits: bool) -> None:
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax, softmax

    rng = np.random.default_rng(0)
    z = rng.normal(size=(800, 4))
    y = (softmax(z, axis=1).cumsum(axis=1) < rng.random(800)[:, None]).sum(axis=1)
    z *= scale

    def loss(logarithm: float) -> float:
        return -float(log_softmax(z * np.exp(logarithm), axis=1)[np.arange(800), y].sum())

    expected = np.exp(minimize_scalar(loss, bounds=(np.log(1e-3), np.log(1e3)), method="bounded").x)
    found = Temperature(from_logits=from_logits).fit(z if from_logits else softmax(z, axis=1), y)
    assert found.maps_[0].inverse == pytest.approx(expected, rel=1e-4)


def test_temperature_of_what_no_temperature_mends_is_as_far_as_can_be() -> None:
    y = np.arange(6) % 3
    sure = np.full((6, 3), 0.05)
    sure[np.arange(6), y] = 0.9
    assert Temperature().fit(sure, y).maps_[0].inverse == 1e3
    assert Temperature().fit(sure, (y + 1) % 3).maps_[0].inverse == 1e-3

"""Scorers in scikit-learn's own machinery."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import surefoot as sf
from surefoot.calibrators import METHODS, Calibrated
from surefoot.sklearn import SCORERS

X, Y = load_breast_cancer(return_X_y=True)
MODEL = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.mark.filterwarnings("ignore::surefoot.errors.AmbiguousViewWarning")
def test_every_metric_with_a_better_side_has_one() -> None:
    assert set(SCORERS) == {name for name, metric in sf.metrics.ALL.items() if metric.direction != "none"}
    found = cross_validate(MODEL, X, Y, scoring=SCORERS, cv=3)
    assert {f"test_{name}" for name in SCORERS} <= set(found)
    assert all(np.isfinite(found[f"test_{name}"]).all() for name in ("csr", "cw_accuracy", "cw_auc", "brier"))


def test_scores_are_the_metrics_larger_being_better() -> None:
    model = clone(MODEL).fit(X[:300], Y[:300])
    p = sf.Predictions.from_probabilities(Y[300:], model.predict_proba(X[300:]))
    score = {name: SCORERS[name](model, X[300:], Y[300:]) for name in ("cw_accuracy", "brier", "csr")}
    assert score["cw_accuracy"] == sf.cw_accuracy(p)
    assert score["brier"] == -sf.brier(p)
    assert score["csr"] == -abs(sf.csr(p) - 1)


def test_numbers_of_events_are_of_the_second_class_or_of_each() -> None:
    model = clone(MODEL).fit(X[:300], Y[:300])
    risk, names = model.predict_proba(X[300:])[:, 1], np.array(["benign", "malignant"])
    named = clone(MODEL).fit(X[:300], names[Y[:300]])
    expected = sf.ici(Y[300:], risk)
    assert SCORERS["ici"](model, X[300:], Y[300:]) == -expected
    assert SCORERS["ici"](named, X[300:], names[Y[300:]]) == pytest.approx(-expected, rel=1e-9)
    assert SCORERS["net_benefit"](model, X[300:], Y[300:]) == sf.net_benefit(Y[300:], risk)
    iris, kinds = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(iris[::2], kinds[::2])
    table = model.predict_proba(iris[1::2])
    of_each = [sf.scaled_brier((kinds[1::2] == k).astype(int), table[:, k]) for k in range(3)]
    assert SCORERS["scaled_brier"](model, iris[1::2], kinds[1::2]) == pytest.approx(np.mean(of_each))
    for name in ("oe_ratio", "calibration_in_the_large", "calibration_intercept"):
        with pytest.raises(sf.MetricUnavailable, match="is of one event, and this classifier has 3 classes"):
            SCORERS[name](model, iris[1::2], kinds[1::2])


def test_grid_search_and_labels_of_any_kind() -> None:
    names = np.array(["benign", "malignant"])[Y]
    search = GridSearchCV(MODEL, {"logisticregression__C": [1e-3, 1.0]}, scoring=SCORERS["cw_accuracy"], cv=3)
    assert search.fit(X, names).best_params_ == {"logisticregression__C": 1.0}


def test_a_fold_that_lacks_a_class() -> None:
    iris, kinds = load_iris(return_X_y=True)
    # rows come sorted by class: each fold is of one class only, and the model has never seen it
    found = cross_validate(
        LogisticRegression(max_iter=500), iris, kinds, scoring=SCORERS["cw_accuracy"], cv=KFold(5), error_score="raise"
    )
    guesses = cross_val_predict(LogisticRegression(max_iter=500), iris, kinds, cv=KFold(5))
    assert len(found["test_score"]) == 5
    assert len(guesses) == 150


def test_weights_are_routed() -> None:
    weights = np.random.default_rng(0).uniform(size=len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = clone(SCORERS["cw_accuracy"]).set_score_request(sample_weight=True)
        model = LogisticRegression(max_iter=10_000).set_fit_request(sample_weight=False)
        cv = KFold(3)
        found = cross_validate(model, X, Y, scoring=scorer, params={"sample_weight": weights}, cv=cv)["test_score"]
    for score, (fit, held) in zip(found, cv.split(X), strict=True):
        fitted = LogisticRegression(max_iter=10_000).fit(X[fit], Y[fit])
        expected = sf.Predictions.from_probabilities(
            Y[held], fitted.predict_proba(X[held]), sample_weight=weights[held]
        )
        assert score == pytest.approx(sf.cw_accuracy(expected))


def test_models_without_probabilities_are_refused() -> None:
    with pytest.raises(sf.InvalidPredictions, match="no predict_proba"):
        SCORERS["csr"](Perceptron().fit(X, Y), X, Y)


def test_what_is_not_defined_is_nan() -> None:
    class Certain:
        classes_ = np.array([0, 1])

        def predict_proba(self, rows: np.ndarray) -> np.ndarray:
            return np.tile([1.0, 0.0], (len(rows), 1))

    assert np.isnan(SCORERS["correctness_slope"](Certain(), X[:9], np.zeros(9, dtype=int)))


@pytest.mark.filterwarnings("ignore::surefoot.errors.AmbiguousViewWarning")
@pytest.mark.parametrize("name", SCORERS)
def test_every_function_goes_into_make_scorer(name: str) -> None:
    model = clone(MODEL).fit(X[:300], Y[:300])
    metric, ready = sf.metrics.ALL[name], SCORERS[name](model, X[300:], Y[300:])
    of = {} if "prediction" in metric.views else {"of": "event"}
    made = make_scorer(getattr(sf, name), response_method="predict_proba", pos_label=1, **of)
    value = made(model, X[300:], Y[300:])
    if metric.direction == "lower":
        value = -value
    elif metric.direction != "higher":
        value = -abs(value - metric.ideal) if metric.ideal is not None else -value
    assert ready == pytest.approx(value, rel=1e-9, nan_ok=True)


def test_make_scorer_with_many_classes() -> None:
    iris, kinds = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(iris[::2], kinds[::2])
    made = make_scorer(sf.ece, response_method="predict_proba", greater_is_better=False)
    assert made(model, iris[1::2], kinds[1::2]) == SCORERS["ece"](model, iris[1::2], kinds[1::2])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::surefoot.errors.CertaintyWarning")
def test_calibrators_take_the_place_of_scikit_learns_and_work_with_them(method: str) -> None:
    """As `CalibratedClassifierCV(model)`, of it, and within it."""
    for model in (
        Calibrated(MODEL, method, cv=2),
        Calibrated(CalibratedClassifierCV(MODEL, cv=2), method, cv=2),
        CalibratedClassifierCV(Calibrated(MODEL, method, cv=2), cv=2),
    ):
        table = clone(model).fit(X[:300], Y[:300]).predict_proba(X[300:])
        assert table.shape == (len(X) - 300, 2)
        assert table.sum(axis=1) == pytest.approx(1)
        assert (table.argmax(axis=1) == Y[300:]).mean() > 0.9

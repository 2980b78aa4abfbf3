"""The paper's models: XGBoost by histograms, stopped early, calibrated on rows of their own.

Balanced class weights in training, and the plain log-loss of unweighted rows for stopping, are what the printed numbers
reveal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import MissingPackage
from surefoot.paper.datasets import Samples
from surefoot.paper.protocol import PATIENCE

Floats = npt.NDArray[np.float64]


def packages() -> tuple[Any, Any]:
    """XGBoost and Optuna."""
    try:
        import optuna
        import xgboost
    except ImportError as error:
        raise MissingPackage("the paper's models need XGBoost and Optuna: pip install 'surefoot[paper]'.") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return xgboost, optuna


@dataclass(frozen=True)
class Parts:
    """Rows for training, for calibration and for the test."""

    train: npt.NDArray[np.intp]
    calibration: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]

    def fewer(self, data: Samples, most: int | None, seed: int) -> Parts:
        """The same with so many rows for training at most, stratified."""
        from sklearn.model_selection import train_test_split

        if most is None or len(self.train) <= most:
            return self
        own = data.classes[self.train]
        train, _ = train_test_split(self.train, train_size=most, random_state=seed, stratify=own)
        return replace(self, train=train)


def split(data: Samples, seed: int) -> Parts:
    """Stratified 60/20/20, the test first; an official test is kept, and the rest parted 75/25."""
    from sklearn.model_selection import train_test_split

    every = np.arange(len(data.classes))
    if data.is_test is None:
        rest, test = train_test_split(every, test_size=0.2, random_state=seed, stratify=data.classes)
    else:
        rest, test = every[~data.is_test], every[data.is_test]
    train, calibration = train_test_split(rest, test_size=0.25, random_state=seed, stratify=data.classes[rest])
    return Parts(train, calibration, test)


def class_weights(classes: npt.NDArray[np.int64]) -> Floats:
    """Weights by which every class counts the same."""
    counts = np.bincount(classes)
    weights: Floats = len(classes) / (np.count_nonzero(counts) * counts[classes])
    return weights


def fixed_parameters(classes: int) -> dict[str, Any]:
    """What is not searched: one thread, so that a model is the same on every machine."""
    common = {"tree_method": "hist", "nthread": 1, "seed": 42, "verbosity": 0}
    if classes == 2:
        return {**common, "objective": "binary:logistic", "eval_metric": "logloss"}
    return {**common, "objective": "multi:softprob", "num_class": classes, "eval_metric": "mlogloss"}


@dataclass(frozen=True)
class Model:
    """What a trained model says of the rows of calibration and of the test, a column a class, and its rounds."""

    calibration: Floats
    test: Floats
    rounds: int


def train(
    data: Samples, parts: Parts, parameters: dict[str, float], *, rounds: int, stops_early: bool, is_weighted: bool
) -> Model:
    """A model of the training part.

    It is trained for so many rounds, or until the log-loss of the calibration part has not fallen for 30 rounds, and
    then it speaks from its best round.
    """
    xgb, _ = packages()
    X, y = data.features[parts.train], data.classes[parts.train]
    own = xgb.QuantileDMatrix(X, y, weight=class_weights(y) if is_weighted else None, nthread=1)
    held = xgb.QuantileDMatrix(data.features[parts.calibration], data.classes[parts.calibration], ref=own, nthread=1)
    early: dict[str, Any] = {"evals": [(held, "held")], "early_stopping_rounds": PATIENCE} if stops_early else {}
    model = xgb.train({**fixed_parameters(len(data.labels)), **parameters}, own, rounds, verbose_eval=False, **early)
    best = int(model.best_iteration) + 1 if stops_early else rounds
    found = []
    for rows in (parts.calibration, parts.test):
        raw = model.predict(xgb.DMatrix(data.features[rows], nthread=1), iteration_range=(0, best)).astype(np.float64)
        found.append(np.stack([1 - raw, raw], axis=1) if raw.ndim == 1 else raw / raw.sum(axis=1, keepdims=True))
    return Model(found[0], found[1], best)


def calibrate(method: str, fit: Floats, classes: npt.NDArray[np.int64], test: Floats) -> Floats:
    """scikit-learn's isotonic or sigmoid calibration of probabilities, one class against the rest."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    every = np.arange(len(classes))
    model = CalibratedClassifierCV(
        FrozenEstimator(_Given(fit.shape[1])), method=method, ensemble=False, cv=[(every, every)]
    )
    found: Floats = model.fit(fit, classes).predict_proba(test)
    return found


class _Given:
    """A classifier whose features are its probabilities."""

    def __init__(self, classes: int) -> None:
        self.classes_ = np.arange(classes)

    def fit(self, X: Any, y: Any) -> _Given:
        return self

    def predict(self, X: Any) -> Any:
        return X.argmax(axis=1)

    def predict_proba(self, X: Any) -> Any:
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier", target_tags=TargetTags(required=True), classifier_tags=ClassifierTags()
        )


def log_loss(probability: Floats, classes: npt.NDArray[np.int64]) -> float:
    """The mean negative logarithm of the probability of the true class."""
    own = np.clip(probability[np.arange(len(classes)), classes], 1e-15, 1)
    return -math.fsum(np.log(own)) / len(own)

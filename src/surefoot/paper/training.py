"""The paper's models: XGBoost by histograms, tuned by Optuna, stopped early, calibrated on rows of their own.

The protocol is what the printed numbers reveal: balanced class weights in training, the plain log-loss of unweighted
rows for stopping and for choosing, one search space for all sets, fixed beforehand.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import MissingPackage
from surefoot.paper.datasets import Samples

Floats = npt.NDArray[np.float64]
#: Rounds at most, and rounds without gain after which training stops.
ROUNDS, PATIENCE = 1000, 30


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


@dataclass(frozen=True)
class Setting:
    """Parameters that a search has found, and how it found them."""

    parameters: dict[str, float]
    rounds: int
    loss: float
    trials: int
    folds: int
    is_weighted: bool
    #: Rows of the training part that the search looked at.
    rows: int = 0


def suggest(trial: Any) -> dict[str, float]:
    """The search space, one for all sets."""
    return {
        "max_depth": trial.suggest_int("max_depth", 3, 12),
        "eta": trial.suggest_float("eta", 0.01, 0.3, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.5, 1.0),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.5, 10.0, log=True),
        "alpha": trial.suggest_float("alpha", 1e-8, 10.0, log=True),
        "lambda": trial.suggest_float("lambda", 1e-8, 10.0, log=True),
        "gamma": trial.suggest_float("gamma", 1e-8, 1.0, log=True),
    }


class Search:
    """A search that can be stopped at any time: each trial is kept on disk when it is done."""

    def __init__(
        self,
        name: str,
        data: Samples,
        folder: Path,
        *,
        folds: int,
        is_weighted: bool,
        seed: int = 42,
        most_rows: int | None = None,
    ) -> None:
        from sklearn.model_selection import StratifiedKFold, train_test_split

        self.xgb, self.optuna = packages()
        self.name = f"{name}-{'weighted' if is_weighted else 'plain'}-{folds}"
        self.folds, self.is_weighted, self.seed = folds, is_weighted, seed
        train = split(data, seed).train
        if most_rows is not None and len(train) > most_rows:
            own = data.classes[train]
            train, _ = train_test_split(train, train_size=most_rows, random_state=seed, stratify=own)
        self.rows = len(train)
        X, y = data.features[train], data.classes[train]
        self.classes = len(data.labels)
        with warnings.catch_warnings():
            # of wine's rarest class there are fewer rows than folds
            warnings.simplefilter("ignore", UserWarning)
            cuts = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y))
        # binned once for all trials
        self.pairs = []
        for fit, held in cuts:
            own = self.xgb.QuantileDMatrix(
                X[fit], y[fit], weight=class_weights(y[fit]) if is_weighted else None, nthread=1
            )
            self.pairs.append((own, self.xgb.QuantileDMatrix(X[held], y[held], ref=own, nthread=1)))
        backend = self.optuna.storages.journal.JournalFileBackend(str(folder / f"{self.name}.journal"))
        self.study = self.optuna.create_study(
            storage=self.optuna.storages.JournalStorage(backend),
            study_name=self.name,
            load_if_exists=True,
            direction="minimize",
        )

    def done(self) -> int:
        """Trials that are whole."""
        states = self.optuna.trial.TrialState
        return len(self.study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED)))

    def run(self, trials: int, report: Callable[[int], None] = lambda done: None) -> Setting:
        """Go on until so many trials are done."""
        while (done := self.done()) < trials:
            # numbers that do not repeat those of an earlier run
            self.study.sampler = self.optuna.samplers.TPESampler(seed=self.seed + done)
            self.study.optimize(
                self._loss, n_trials=min(10, trials - done), callbacks=[lambda s, t: report(self.done())]
            )
        best = self.study.best_trial
        rounds = round(float(np.mean(best.user_attrs["rounds"])))
        return Setting(
            dict(best.params), max(1, rounds), float(best.value), trials, self.folds, self.is_weighted, self.rows
        )

    def _loss(self, trial: Any) -> float:
        parameters = {**_fixed_parameters(self.classes), **suggest(trial)}
        losses, rounds = [], []
        for number, (own, held) in enumerate(self.pairs):
            model = self.xgb.train(
                parameters, own, ROUNDS, evals=[(held, "held")], early_stopping_rounds=PATIENCE, verbose_eval=False
            )
            losses.append(float(model.best_score))
            rounds.append(int(model.best_iteration) + 1)
            trial.report(float(np.mean(losses)), number)
            if number == 0 and self.done() > 15 and losses[0] > 1.5 * self.study.best_value:
                # hopeless after the first fold
                raise self.optuna.TrialPruned
        trial.set_user_attr("rounds", rounds)
        return float(np.mean(losses))


def class_weights(classes: npt.NDArray[np.int64]) -> Floats:
    """Weights by which every class counts the same."""
    counts = np.bincount(classes)
    weights: Floats = len(classes) / (np.count_nonzero(counts) * counts[classes])
    return weights


def _fixed_parameters(classes: int) -> dict[str, Any]:
    common = {"tree_method": "hist", "nthread": 1, "seed": 42, "verbosity": 0}
    if classes == 2:
        return {**common, "objective": "binary:logistic", "eval_metric": "logloss"}
    return {**common, "objective": "multi:softprob", "num_class": classes, "eval_metric": "mlogloss"}


def probabilities(data: Samples, parts: Parts, tuned: Setting, threads: int = 1) -> tuple[Floats, Floats]:
    """Of a model trained on the training part: for the rows of calibration and of the test, a column a class."""
    xgb, _ = packages()
    X, y = data.features[parts.train], data.classes[parts.train]
    own = xgb.QuantileDMatrix(X, y, weight=class_weights(y) if tuned.is_weighted else None, nthread=threads)
    fixed = {**_fixed_parameters(len(data.labels)), "nthread": threads}
    model = xgb.train({**fixed, **tuned.parameters}, own, tuned.rounds)
    found = []
    for rows in (parts.calibration, parts.test):
        raw = model.predict(xgb.DMatrix(data.features[rows], nthread=threads)).astype(np.float64)
        found.append(np.stack([1 - raw, raw], axis=1) if raw.ndim == 1 else raw / raw.sum(axis=1, keepdims=True))
    return found[0], found[1]


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


def stored_setting(name: str, *, is_weighted: bool) -> Setting | None:
    """The parameters that come along, found by the full protocol."""
    text = (files("surefoot.paper") / "tuned.json").read_text(encoding="utf-8")
    kept = json.loads(text).get(name, {}).get("weighted" if is_weighted else "plain")
    return None if kept is None else Setting(**kept)


def log_loss(probability: Floats, classes: npt.NDArray[np.int64]) -> float:
    """The mean negative logarithm of the probability of the true class."""
    own = np.clip(probability[np.arange(len(classes)), classes], 1e-15, 1)
    return -math.fsum(np.log(own)) / len(own)

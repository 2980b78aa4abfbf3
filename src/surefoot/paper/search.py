"""The search for parameters: Optuna's TPE over one space for all sets, stopped and resumed at any time."""

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

from surefoot.errors import InvalidPredictions
from surefoot.paper.datasets import Samples
from surefoot.paper.protocol import FIXED, PATIENCE, ROUNDS
from surefoot.paper.training import class_weights, fixed_parameters, packages, split

#: Bounds of the search: the deepest tree, and the smallest step. A tree this deep stops growing by itself.
DEEPEST, SMALLEST_STEP = 20, 0.02
#: A trial is given up if its first fold is by so much worse than the best trial's on the same fold.
_HOPELESS = 1.05


@dataclass(frozen=True)
class Setting:
    """Parameters that a search has found, and how it found them."""

    parameters: dict[str, float]
    #: The mean over folds of the round at which training stopped.
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
        "max_depth": trial.suggest_int("max_depth", 3, DEEPEST),
        "eta": trial.suggest_float("eta", SMALLEST_STEP, 0.3, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.5, 1.0),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.5, 10.0, log=True),
        "alpha": trial.suggest_float("alpha", 1e-8, 10.0, log=True),
        "lambda": trial.suggest_float("lambda", 1e-8, 10.0, log=True),
        "gamma": trial.suggest_float("gamma", 1e-8, 1.0, log=True),
    }


class MissingSetting(InvalidPredictions):
    """Parameters that were asked for without a search, and do not come along."""


class Search:
    """A search on the training part of a split; each trial is kept on disk when it is done."""

    def __init__(
        self, name: str, data: Samples, folder: Path, *, seed: int, folds: int, is_weighted: bool = True
    ) -> None:
        from sklearn.model_selection import StratifiedKFold

        self.xgb, self.optuna = packages()
        self.name = f"{name}-{'weighted' if is_weighted else 'plain'}-{folds}-split{seed}"
        self.folds, self.is_weighted, self.seed = folds, is_weighted, seed
        train = split(data, seed).train
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
            dict(best.params), max(1, rounds), float(best.value), self.done(), self.folds, self.is_weighted, self.rows
        )

    def _loss(self, trial: Any) -> float:
        parameters = {**fixed_parameters(self.classes), **suggest(trial)}
        losses, rounds = [], []
        for number, (own, held) in enumerate(self.pairs):
            model = self.xgb.train(
                parameters, own, ROUNDS, evals=[(held, "held")], early_stopping_rounds=PATIENCE, verbose_eval=False
            )
            losses.append(float(model.best_score))
            rounds.append(int(model.best_iteration) + 1)
            trial.report(losses[-1], number)
            if number == 0 and losses[0] > _HOPELESS * self._first_of_best():
                raise self.optuna.TrialPruned
        trial.set_user_attr("rounds", rounds)
        return float(np.mean(losses))

    def _first_of_best(self) -> float:
        """The loss of the best trial so far on the first fold."""
        complete = self.study.get_trials(deepcopy=False, states=(self.optuna.trial.TrialState.COMPLETE,))
        return float(min(complete, key=lambda one: one.value).intermediate_values[0]) if complete else math.inf


def stored_setting(name: str, *, is_weighted: bool = True, seed: int | None = None) -> Setting | None:
    """The parameters that come along: of a split's own search, or of the one that serves every split."""
    if name in FIXED:
        parameters, rounds = FIXED[name]
        return Setting(dict(parameters), rounds, math.nan, 0, 0, is_weighted)
    text = (files("surefoot.paper") / "tuned.json").read_text(encoding="utf-8")
    own = json.loads(text).get(name, {})
    kept = own.get("weighted" if is_weighted else "plain") if seed is None else own.get("splits", {}).get(str(seed))
    return None if kept is None else Setting(**kept)

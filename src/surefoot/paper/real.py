"""The paper's fifteen data sets: trained, calibrated, and every number of its real tables, for several splits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._io.writing import write_whole
from surefoot.assessment.assess import assess
from surefoot.paper.calibrators import judge
from surefoot.paper.datasets import SETS, Samples, load
from surefoot.paper.training import Parts, Search, Setting, calibrate, log_loss, probabilities, split, stored_setting
from surefoot.predictions import Predictions
from surefoot.risk.indicator_tests import ecd_test, tcal_test

REGIMES = ("raw", "isotonic", "platt")
#: Where the calibrators that the paper does not have are kept.
BESIDE = "calibrators"
#: The paper's clip.
FLOOR = 1e-8
#: The paper leaves wine uncalibrated: some of its classes have hardly a row to calibrate on.
UNCALIBRATED = ("wine",)
_METHODS = {"isotonic": "isotonic", "platt": "sigmoid"}

#: Of the large sets: trials, folds, and rows of the training part that are searched on.
SMALLER = {"covertype": (10, 3, 60_000), "mnist": (6, 3, 10_000)}
#: Images of 3,072 numbers take days to search: one setting for them all, few rounds.
FIXED = {"cifar10": ({"max_depth": 6, "eta": 0.3, "subsample": 0.8, "colsample_bytree": 0.5}, 40)}

Report = Callable[[str], None]


@dataclass(frozen=True)
class Budget:
    """How much is searched, and on how many splits the result is looked at."""

    trials: int = 60
    folds: int = 5
    seeds: tuple[int, ...] = (42, 0, 1, 2, 3)

    def seeds_of(self, name: str) -> tuple[int, ...]:
        """The splits of a set: of the large ones, which take a quarter of an hour each, the first two."""
        return self.seeds[:2] if name in SMALLER or name in FIXED else self.seeds

    def search_of(self, name: str) -> tuple[int, int, int | None]:
        """Trials and folds of a set, and the rows of its training part that are searched on, if not all."""
        trials, folds, most_rows = SMALLER.get(name, (self.trials, self.folds, None))
        return min(trials, self.trials), min(folds, self.folds), most_rows

    @classmethod
    def fast(cls) -> Budget:
        """Enough to see the machinery run."""
        return cls(3, 3, (42,))


def run(
    folder: Path,
    data_folder: Path | None,
    budget: Budget,
    *,
    names: Sequence[str] = tuple(SETS),
    use_stored: bool = False,
    is_weighted: bool = True,
    download: bool = True,
    report: Report = lambda words: None,
) -> dict[tuple[str, int], dict[str, Any]]:
    """Every data set on every split; what is already in the folder is not done again."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    kind = "weighted" if is_weighted else "plain"
    for name in names:
        data: Samples | None = None
        tuned: Setting | None = None
        for seed in budget.seeds_of(name):
            path = folder / f"real-{name}-{kind}-{seed}.json"
            kept = _read_kept(path, name, budget, use_stored)
            if kept is None:
                data = data or load(name, data_folder, download=download)
                tuned = tuned or _tune(name, data, folder, budget, use_stored, is_weighted, report)
                report(f"{name}: split {seed}")
                kept = {"tuned": {**asdict(tuned), "loss": None if math.isnan(tuned.loss) else tuned.loss}}
                kept |= evaluate_set(name, data, tuned, seed)
                write_whole(path, json.dumps(kept))
            found[name, seed] = {**kept["regimes"], BESIDE: kept.get(BESIDE, {})}
    return found


def _read_kept(path: Path, name: str, budget: Budget, use_stored: bool) -> dict[str, Any] | None:
    """What an earlier run found with as large a search; None if there is none."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        how = (kept["tuned"]["trials"], kept["tuned"]["folds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kept if use_stored or name in FIXED or how == budget.search_of(name)[:2] else None


def _tune(
    name: str, data: Samples, folder: Path, budget: Budget, use_stored: bool, is_weighted: bool, report: Report
) -> Setting:
    if name in FIXED:
        return fixed_setting(name, is_weighted=is_weighted)
    if use_stored:
        found = stored_setting(name, is_weighted=is_weighted)
        if found is not None:
            return found
        report(f"{name}: no parameters come along, so they are searched for")
    trials, folds, most_rows = budget.search_of(name)
    search = Search(name, data, folder, folds=folds, is_weighted=is_weighted, most_rows=most_rows)
    return search.run(trials, lambda done: report(f"{name}: trial {done} of {trials}"))


def fixed_setting(name: str, *, is_weighted: bool) -> Setting:
    """The setting of a set that is not searched."""
    parameters, rounds = FIXED[name]
    return Setting(parameters, rounds, math.nan, 0, 0, is_weighted)


def setting_of(name: str) -> Setting:
    """The parameters that come along, or are fixed."""
    if name in FIXED:
        return fixed_setting(name, is_weighted=True)
    found = stored_setting(name, is_weighted=True)
    assert found is not None
    return found


def evaluate_set(name: str, data: Samples, tuned: Setting, seed: int) -> dict[str, Any]:
    """The numbers of each regime, and of every calibrator beside them."""
    parts = split(data, seed)
    fit, test = probabilities(data, parts, tuned)
    truth, scores = calibrations(name, data, parts, fit, test)
    decision = scores["raw"].argmax(axis=1)
    return {
        "regimes": {regime: measure(truth, own, decision) for regime, own in scores.items()},
        BESIDE: judge(fit, data.classes[parts.calibration], test, truth),
    }


def regimes(name: str, data: Samples, tuned: Setting, seed: int) -> tuple[Any, dict[str, Any]]:
    """The true classes of a split's test rows, and their probabilities in each regime."""
    parts = split(data, seed)
    return calibrations(name, data, parts, *probabilities(data, parts, tuned))


def calibrations(name: str, data: Samples, parts: Parts, fit: Any, test: Any) -> tuple[Any, dict[str, Any]]:
    """As :func:`regimes`, of a model's probabilities.

    The raw model's decision is to be kept: calibration changes only the confidence in it.
    """
    scores = {"raw": test}
    for regime, method in _METHODS.items():
        is_left = name in UNCALIBRATED
        scores[regime] = test if is_left else calibrate(method, fit, data.classes[parts.calibration], test)
    return data.classes[parts.test], scores


def measure(truth: Any, scores: Any, decision: Any) -> dict[str, float]:
    """Every column of the paper's real tables, and beside them what it does not have."""
    labels = list(range(scores.shape[1]))
    p = Predictions.from_probabilities(truth, scores, labels=labels, y_pred=decision, floor=FLOOR).rows()
    a = assess(p)
    # as the models state it, without the clip: a claim of certainty is one
    exact = assess(Predictions.from_probabilities(truth, scores, labels=labels, y_pred=decision), metrics=())
    return {
        "n": len(p),
        "acc": a["accuracy"],
        "cwa": a["cw_accuracy"],
        "gain": a["gain"],
        "csr": a["csr"],
        "sigma": a["csr_sigma"],
        "p_risk": a["p_risk"],
        "auc": a["auc"],
        "cwauc": a["cw_auc"],
        "auc_gain": a["auc_gain"],
        "ece_15": a["ece"],
        "brier": a["brier"],
        "ecd": a["ecd"],
        "ecd_test": float(ecd_test(p).decision),
        "tce_0.05": a["tce"],
        "tcal": a["tcal"],
        "tcal_reject": float(tcal_test(p, rng=np.random.default_rng(0)).rejected),
        "mcaldist": a["mcaldist"],
        "cwsa_0.5": a["cwsa"],
        "cwsa_plus_0.5": a["cwsa_plus"],
        "log_loss": log_loss(np.clip(scores, FLOOR, 1), truth),
        "pvalue_combined": exact.risk.pvalue_combined,
        "log_e": min(exact.risk.log_e, 1e300),
        "deflation": exact.risk.deflation,
        "certain": exact.risk.certain,
        "certain_wrong": exact.risk.certain_wrong,
    }

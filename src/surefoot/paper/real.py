"""The paper's fifteen data sets: every number of its real tables, for several splits and protocols."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from surefoot._io.writing import write_whole
from surefoot.assessment.assess import assess
from surefoot.metrics.size_ratio import P_RISK
from surefoot.paper.calibrators import judge
from surefoot.paper.datasets import SETS
from surefoot.paper.models import Trained, Trainer
from surefoot.paper.protocol import COMPARABLE, PAGE, Budget, Protocol
from surefoot.paper.training import Model, calibrate, log_loss
from surefoot.predictions import Predictions
from surefoot.risk.indicator_tests import ecd_test, tcal_test
from surefoot.risk.test import risk_test

REGIMES = ("raw", "isotonic", "platt")
#: Where the calibrators that the paper does not have are kept, and how the model came about.
BESIDE, HOW = "calibrators", "model"
#: The paper's clip, and others that are as small against one over the number of rows.
FLOOR = 1e-8
FLOORS = (1e-12, 1e-10, 1e-8, 1e-6)
#: The paper leaves wine uncalibrated: some of its classes have hardly a row to calibrate on.
UNCALIBRATED = ("wine",)
_METHODS = {"isotonic": "isotonic", "platt": "sigmoid"}
#: Raised when the numbers below change, so that kept ones are not taken for them.
_EDITION = 1

Report = Callable[[str], None]
#: By data set and split: the numbers of each regime, of other calibrators, and of the model.
Found = dict[tuple[str, int], dict[str, Any]]


def run(
    folder: Path,
    data_folder: Path | None,
    budget: Budget,
    *,
    names: Sequence[str] = tuple(SETS),
    protocol: Protocol = PAGE,
    use_stored: bool = False,
    download: bool = True,
    report: Report = lambda words: None,
) -> Found:
    """Every data set on every split; what is already in the folder is not done again."""
    found: Found = {}
    for name in names:
        trainer = Trainer(name, folder, data_folder, budget, use_stored=use_stored, download=download, report=report)
        for seed in budget.seeds_of(name):
            made = trainer.trained(protocol, seed)
            path = folder / f"real-{name}-{protocol.name}-{seed}.json"
            kept = _read_kept(path, made)
            if kept is None:
                report(f"{name}: split {seed}, its numbers")
                kept = evaluate_model(name, made, with_others=protocol is PAGE and name in COMPARABLE)
                write_whole(path, json.dumps(kept))
            found[name, seed] = kept
    return found


def _how(made: Trained) -> dict[str, Any]:
    """What a model was trained by, as it is kept."""
    setting = {key: None if value != value else value for key, value in asdict(made.setting).items()}
    return {
        "setting": setting,
        "searches_each": made.is_of_split,
        "rounds": made.model.rounds,
        "train": made.train,
        "fit": len(made.fit),
        "edition": _EDITION,
    }


def _read_kept(path: Path, made: Trained) -> dict[str, Any] | None:
    """What an earlier run found of the same model; None if there is none."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return kept if kept[HOW] == _how(made) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def evaluate_model(name: str, made: Trained, *, with_others: bool) -> dict[str, Any]:
    """The numbers of each regime, and of every calibrator beside them."""
    scores = calibrations(name, made.model, made.fit)
    decision = scores["raw"].argmax(axis=1)
    found: dict[str, Any] = {regime: measure(made.truth, own, decision) for regime, own in scores.items()}
    others = judge(made.model.calibration, made.fit, made.model.test, made.truth) if with_others else {}
    return {**found, BESIDE: others, HOW: _how(made)}


def calibrations(name: str, model: Model, fit: Any) -> dict[str, Any]:
    """The probabilities of test rows in each regime.

    The raw model's decision is to be kept: calibration changes only the confidence in it.
    """
    scores = {"raw": model.test}
    for regime, method in _METHODS.items():
        is_left = name in UNCALIBRATED
        scores[regime] = model.test if is_left else calibrate(method, model.calibration, fit, model.test)
    return scores


def measure(truth: Any, scores: Any, decision: Any) -> dict[str, float]:
    """Every column of the paper's real tables, and beside them what it does not have."""
    labels = list(range(scores.shape[1]))

    def clipped(floor: float | None) -> Predictions:
        return Predictions.from_probabilities(truth, scores, labels=labels, y_pred=decision, floor=floor)

    p = clipped(FLOOR).rows()
    a = assess(p)
    # as the models state it, without the clip: a claim of certainty is one
    exact = risk_test(clipped(None))
    return {
        "n": len(p),
        "acc": a["accuracy"],
        "cwa": a["cw_accuracy"],
        "delta_cwa": a["cw_accuracy"] - a["accuracy"],
        "gain": a["gain"],
        "csr": a["csr"],
        "sigma": a["csr_sigma"],
        "p_risk": a["p_risk"],
        "auc": a["auc"],
        "cwauc": a["cw_auc"],
        "delta_auc": a["cw_auc"] - a["auc"],
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
        "pvalue_combined": exact.pvalue_combined,
        "log_e": min(exact.log_e, 1e300),
        "deflation": exact.deflation,
        "certain_right": float(exact.certain - exact.certain_wrong),
        "certain_wrong": float(exact.certain_wrong),
        **{f"p_risk_{floor:g}": P_RISK(clipped(floor)) for floor in FLOORS},
    }

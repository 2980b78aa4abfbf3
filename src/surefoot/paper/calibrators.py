"""Beside the paper's isotonic and Platt: every calibrator of ours, on the same models and rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.calibrators.calibrator import Calibrator
from surefoot.calibrators.registry import NAMED
from surefoot.metrics import ALL
from surefoot.paper.tables import markdown_table
from surefoot.predictions import Predictions
from surefoot.risk.test import risk_test

#: The paper's clip, for the numbers that a claim of certainty would make infinite.
FLOOR = 1e-8
METHODS: dict[str, Calibrator | None] = {"raw": None, **NAMED}
Judgements = dict[str, dict[str, float]]


def judge(fit: Any, classes: Any, test: Any, truth: Any) -> Judgements:
    """What each calibrator, fitted to some rows, makes of others; the raw model's decision is kept."""
    labels = list(range(test.shape[1]))
    decision = test.argmax(axis=1)
    found = {}
    for name, method in METHODS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = test if method is None else method.unfitted().fit(fit, classes, labels=labels).predict_proba(test)
            clipped, exact = (
                Predictions.from_probabilities(truth, table, labels=labels, y_pred=decision, floor=floor)
                for floor in (FLOOR, None)
            )
            found[name] = {
                **{metric: float(ALL[metric](clipped)) for metric in ("log_loss", "brier", "cw_accuracy", "csr")},
                "pvalue_combined": risk_test(exact).pvalue_combined,
            }
    return found


def table(found: Mapping[tuple[str, int], Judgements]) -> str:
    """Means over sets and splits, and on how many sets a calibrator is risky, as a Markdown table."""
    heads = "log loss", "Brier", "cwA", "median CSR", "risky splits", "risky sets", "log loss less Platt's"
    rows = []
    platt = _mean(found, "platt", "log_loss")
    names = list(dict.fromkeys(name for name, _ in found))
    for method, made in METHODS.items():
        risky = {key: own[method]["pvalue_combined"] < 0.01 for key, own in found.items()}
        # a set by its first split
        first = {name: next(is_so for (which, _), is_so in risky.items() if which == name) for name in names}
        cells = (
            f"{_mean(found, method, 'log_loss'):.4f}",
            f"{_mean(found, method, 'brier'):.4f}",
            f"{_mean(found, method, 'cw_accuracy'):.4f}",
            f"{np.median([own[method]['csr'] for own in found.values()]):.3g}",
            f"{sum(risky.values())} of {len(risky)}",
            f"{sum(first.values())} of {len(first)}",
            f"{_mean(found, method, 'log_loss') - platt:+.4f}",
        )
        rows.append([method, "yes" if made is not None and made.is_safe else "", *cells])
    return markdown_table(["method", "proof", *heads], rows, words=2)


def _mean(found: Mapping[tuple[str, int], Judgements], method: str, quantity: str) -> float:
    """The mean over sets of the mean over their splits."""
    names = dict.fromkeys(name for name, _ in found)
    of_sets = [np.mean([own[method][quantity] for (which, _), own in found.items() if which == name]) for name in names]
    return math.fsum(of_sets) / len(of_sets)

"""The data behind the files that earlier versions wrote (`tests/data/version-0.1.0`)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import surefoot as sf


def samples() -> dict[str, Any]:
    """Predictions of several kinds: binary, classes named by text with weights, correctness alone, logits."""
    rng = np.random.default_rng(17)
    p = rng.beta(0.7, 0.7, 300)
    binary = sf.Predictions.from_probabilities((rng.random(300) < p**1.2).astype(int), p)
    table = rng.dirichlet([2.0, 1.0, 0.7], 240)
    truth = (rng.random(240)[:, None] > np.cumsum(table**0.8 / (table**0.8).sum(1, keepdims=True), axis=1)).sum(1)
    named = sf.Predictions.from_probabilities(
        np.array(["cat", "dog", "owl"])[truth],
        table,
        labels=["cat", "dog", "owl"],
        sample_weight=rng.integers(0, 4, 240).astype(float),
    )
    confidence = np.round(rng.beta(4, 1, 200), 2)
    bare = sf.Predictions.from_correct((rng.random(200) < confidence) | (confidence == 1), confidence)
    logits = rng.normal(0, 3, (150, 4))
    drawn = sf.Predictions.from_logits((logits + rng.gumbel(0, 1.5, (150, 4))).argmax(1), logits)
    return {"binary": binary, "named": named, "bare": bare, "logits": drawn}


def numbers(p: Any) -> dict[str, Any]:
    """What is computed from one sample: every metric, both tests, every interval."""
    found: dict[str, Any] = {}
    for name, metric in sf.metrics.ALL.items():
        if not metric.missing(p):
            with warnings.catch_warnings():
                # of two classes, old names point to new ones
                warnings.simplefilter("ignore", sf.AmbiguousViewWarning)
                found[name] = float(metric(p))
    for side in ("overconfident", "underconfident"):
        result = sf.risk_test(p, alternative=side)
        for name in RISK:
            found[f"{side} {name}"] = float(getattr(result, name))
        found |= {f"{side} {one.name}": float(one.pvalue) for one in result.directions}
    for name, interval in sf.intervals(p).items():
        found |= {f"{name} low": float(interval.low), f"{name} high": float(interval.high)}
    return found


RISK = (
    *("csr", "sigma", "z", "p_risk", "pvalue", "pvalue_mid", "pvalue_capped", "pvalue_combined", "pvalue_omnibus"),
    *("log_e", "deflation", "csr_lower", "n", "errors", "certain", "rounded", "skewness", "expected_errors"),
    *("observed_errors", "oe_ratio", "overstatement"),
)

#: Stated probabilities that saved calibrators are asked to correct.
STATED = np.array([0.001, 0.03, 0.2, 0.45, 0.5, 0.61, 0.8, 0.97, 0.9995])

"""Twelve data sets whose verdict, degree and sentences are known: all five words, and what is easily told wrong."""

import numpy as np

import surefoot as sf


def _of(doubt, chance, rng) -> sf.Predictions:
    return sf.Predictions.from_correct(rng.random(len(doubt)) >= chance, doubt=doubt)


def _sure_and_middle(rng):
    doubt = np.append(np.exp(rng.uniform(np.log(1e-7), np.log(0.1), 1000)), 1 - rng.uniform(0.5, 0.7, 1500))
    return doubt, np.where(doubt > 0.2, doubt + 0.1, doubt)


def _mixed(rng):
    doubt = np.append(rng.uniform(0.0005, 0.01, 2000), rng.uniform(0.25, 0.5, 2000))
    return doubt, np.where(doubt < 0.02, 8 * doubt, doubt - 0.1)


def _tail_only(rng):
    doubt = np.append(np.full(3300, 1e-4), np.sort(rng.uniform(0.2, 0.4, 500)))
    wrong = np.zeros(3800, dtype=bool)
    wrong[:4] = True
    # as many as expected everywhere: where the sum of doubts passes a whole number
    wrong[3300:] = np.diff(np.floor(np.cumsum(doubt[3300:])), prepend=0) > 0
    return sf.Predictions.from_correct(~wrong, doubt=doubt)


def _clustered(rng):
    """Ten samples a patient, all wrong or all right together."""
    doubt = np.repeat(rng.uniform(0.05, 0.4, 200), 10)
    wrong = np.repeat(rng.random(200), 10) < doubt
    return sf.Predictions.from_correct(~wrong, doubt=doubt)


def _verbalised(rng):
    """A language model that says 60% to 100% in round numbers, and is right three times in four."""
    confidence = rng.choice([0.6, 0.7, 0.8, 0.9, 0.95, 1.0], 800, p=[0.02, 0.03, 0.1, 0.35, 0.35, 0.15])
    return sf.Predictions.from_correct(rng.random(800) < 0.75, np.minimum(confidence, 0.99))


def _certain_wrong(rng):
    confidence = np.append(np.ones(200), rng.uniform(0.6, 0.9, 800))
    correct = rng.random(1000) < confidence
    correct[:3] = False
    return sf.Predictions.from_correct(correct, confidence)


def reference_sets() -> dict[str, sf.Predictions]:
    """By name, always the same."""
    rng = np.random.default_rng(2026)
    uniform = rng.uniform(0.05, 0.5, 20_000)
    many = np.random.default_rng(7).uniform(0.02, 0.5, 2_000_000)
    skewed = np.clip(rng.beta(0.5, 3.0, 6000), 1e-9, 1)
    return {
        "near-certain rows beside a middle 10 points too confident": _of(*_sure_and_middle(rng), rng),
        "every confidence ten points too high": _of(uniform[:3000], uniform[:3000] + 0.1, rng),
        "right more often than it says": _of(uniform[:3000], 0.6 * uniform[:3000], rng),
        "too sure near certainty, too timid in the middle": _of(*_mixed(rng), rng),
        "calibrated, 20,000 rows": _of(uniform, uniform, rng),
        "calibrated, 40 rows": _of(uniform[:40], uniform[:40], rng),
        "errors eight times too many near certainty": _of(skewed, np.where(skewed < 0.01, 8 * skewed, skewed), rng),
        "four errors above 99.99%, as many as expected in all": _tail_only(rng),
        "two million rows, 0.2 points too confident": _of(many, many + 0.002, np.random.default_rng(8)),
        "rows with confidence 1 that were wrong": _certain_wrong(rng),
        "ten rows a patient": _clustered(rng),
        "a language model's round numbers": _verbalised(rng),
    }

"""The synthetic experiments: confidences drawn once for all modes, outcomes for each, the paper's numbers of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from surefoot.core.metric import Metric
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.engines.parallel import in_parallel
from surefoot.metrics.ranking import AUC, AUC_GAIN, CW_AUC
from surefoot.metrics.size_ratio import CSR, CSR_SIGMA, CSR_Z, ODDS, P_RISK, SURPRISE
from surefoot.metrics.terms import CERTAIN_WRONG, CONFIDENCE, CORRECT, CORRECT_CONFIDENCE, DOUBTFUL, WEIGHT
from surefoot.metrics.weighted import ACCURACY, CW_ACCURACY, GAIN, gain_between
from surefoot.predictions import Predictions
from surefoot.synthetic import MODES, PROFILES, Mode

Flags = npt.NDArray[np.bool_]

#: Numbers that the paper prints of each experiment.
QUANTITIES = ("acc", "cwa", "gain", "csr", "sigma", "over_1_sigma", "over_3_sigma", "p_risk")
#: And of each experiment on rankings.
AREAS = ("acc", "cwa", "delta_cwa", "gain", "auc", "cwauc", "delta_auc", "auc_gain")
_SHARES = {"acc": ACCURACY, "cwa": CW_ACCURACY}
_METRICS = {**_SHARES, "csr": CSR, "sigma": CSR_SIGMA, "z": CSR_Z, "p_risk": P_RISK}
#: What is printed of single runs, and what is added up for it.
_RANKED = (ACCURACY, CW_ACCURACY, GAIN, AUC, CW_AUC, AUC_GAIN)
_RANKED_TERMS = tuple(dict.fromkeys(term for metric in _RANKED for term in metric.terms))
#: Areas that differ by less are equal.
_EQUAL = 1e-12
#: Rows drawn together, and in how many parts at least; each part has random numbers of its own, so that the parts have
#: to be the same on every machine.
_TOGETHER, _PARTS = 1 << 19, 2


@dataclass(frozen=True)
class Plan:
    """How many times each size is repeated, and the experiments on rankings, of 1,000 rows."""

    sizes: dict[int, int]
    seed: int = 0
    #: Repetitions of the experiments on rankings.
    ranked: int = 500

    @classmethod
    def full(cls, seed: int = 0) -> Plan:
        """So often that our own error is a fraction of the paper's, which repeats 100 times."""
        return cls({100: 2000, 1000: 2000, 10_000: 2000, 100_000: 200, 1_000_000: 20}, seed)

    @classmethod
    def like_the_paper(cls, seed: int = 0) -> Plan:
        """As often as the paper."""
        return cls({100: 100, 1000: 100, 10_000: 100, 100_000: 100}, seed)


#: By profile and mode: each quantity in every repetition.
Results = dict[tuple[str, str], dict[str, Floats]]


def simulate(size: int, repetitions: int, seed: int, done: Callable[[str], None] = lambda profile: None) -> Results:
    """All profiles and modes at one size."""
    found: Results = {}
    for profile in PROFILES:
        chunks = list(_chunks(repetitions, size))
        seeds = np.random.SeedSequence([seed, size, list(PROFILES).index(profile)]).spawn(len(chunks))
        jobs = [_Job(profile, size, count, own) for count, own in zip(chunks, seeds, strict=True)]
        parts = in_parallel(jobs)
        for mode in MODES:
            found[profile, mode] = {name: np.concatenate([part[mode][name] for part in parts]) for name in QUANTITIES}
        done(profile)
    return found


def _chunks(repetitions: int, size: int) -> Iterator[int]:
    """Repetitions in parts of bearable size, which do not depend on the machine."""
    each = max(1, min(_TOGETHER // size, math.ceil(repetitions / _PARTS)))
    for start in range(0, repetitions, each):
        yield min(each, repetitions - start)


def _draw_correct(name: str, mode: Mode, confidence: Floats, doubt: Floats, rng: np.random.Generator) -> Flags:
    drawn = rng.random(confidence.shape)
    if name == "perfect":
        # without the rounding of 1 - doubt
        return drawn >= doubt
    return drawn < mode.accuracy(confidence.ravel(), doubt.ravel()).reshape(confidence.shape)


@dataclass(frozen=True)
class _Job:
    profile: str
    size: int
    repetitions: int
    seed: np.random.SeedSequence

    def __call__(self) -> dict[str, dict[str, Floats]]:
        rng = np.random.default_rng(self.seed)
        shape = (self.repetitions, self.size)
        confidence, doubt = PROFILES[self.profile].draw(self.repetitions * self.size, rng)
        confidence, doubt = confidence.reshape(shape), doubt.reshape(shape)
        surprise = 1 / doubt
        every = surprise.sum(axis=1)
        rows, none = np.full(self.repetitions, float(self.size)), np.zeros(self.repetitions)
        odds = (confidence * surprise).sum(axis=1)
        shared = {WEIGHT: rows, DOUBTFUL: rows, CERTAIN_WRONG: none, ODDS: odds, CONFIDENCE: confidence.sum(axis=1)}
        found = {}
        for name, mode in MODES.items():
            right = _draw_correct(name, mode, confidence, doubt, rng)
            correct = right.astype(np.float64)
            surprises = every - np.einsum("ij,ij->i", surprise, correct)
            if name == "perfect" or (surprises < 0.1 * self.size).any():
                # where nearly all is right, a difference of two large sums would be noise
                surprises = np.where(right, 0.0, surprise).sum(axis=1)
            totals = {CORRECT: correct.sum(axis=1), CORRECT_CONFIDENCE: np.einsum("ij,ij->i", confidence, correct)}
            found[name] = evaluate(_METRICS, {**shared, **totals, SURPRISE: surprises})
            z = found[name].pop("z")
            found[name]["gain"] = gain_between(found[name]["cwa"], found[name]["acc"])
            found[name] |= {f"over_{k}_sigma": (z > k).astype(np.float64) for k in (1, 3)}
        return found


class _Totals(dict[str, float]):
    """The totals of one repetition: all that the formulas of these metrics read of a tally."""

    view = "prediction"

    def __getitem__(self, term: Any) -> float:
        return super().__getitem__(term.name)


def evaluate(metrics: Mapping[str, Metric], totals: Mapping[Term, Floats]) -> dict[str, Floats]:
    """Metrics in every repetition, by their own formulas, from the totals of each."""
    names, columns = [term.name for term in totals], [column.tolist() for column in totals.values()]
    tallies = [cast(Tally, _Totals(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]
    return {name: np.array([metric.evaluate(t).value for t in tallies]) for name, metric in metrics.items()}


def rankings(size: int, repetitions: int, seed: int) -> dict[tuple[str, str], dict[str, Floats]]:
    """AUC and cwAUC of two classes, the macro average of both, by profile and mode.

    The class that is not predicted gets the lesser of c and 1 - c: the predicted one always has the larger score, as
    the printed numbers show.
    """
    jobs = [_RankingJob(profile, size, repetitions, seed) for profile in PROFILES]
    return {key: value for part in in_parallel(jobs) for key, value in part.items()}


@dataclass(frozen=True)
class _RankingJob:
    profile: str
    size: int
    repetitions: int
    seed: int

    def __call__(self) -> dict[tuple[str, str], dict[str, Floats]]:
        rng = np.random.default_rng([self.seed, self.size, list(PROFILES).index(self.profile), 1])
        found: dict[str, list[list[float]]] = {mode: [] for mode in MODES}
        for _ in range(self.repetitions):
            confidence, doubt = PROFILES[self.profile].draw(self.size, rng)
            for name, mode in MODES.items():
                correct = _draw_correct(name, mode, confidence, doubt, rng)
                truth = rng.random(self.size) < 0.5
                found[name].append(_areas(confidence, correct, truth))
        return {
            (self.profile, mode): dict(zip(AREAS, np.array(values).T, strict=True)) for mode, values in found.items()
        }


def _areas(confidence: Floats, correct: Flags, truth: Flags) -> list[float]:
    guess = truth == correct
    lesser = np.minimum(confidence, 1 - confidence)
    scores = np.stack([np.where(guess, lesser, confidence), np.where(guess, confidence, lesser)], axis=1)
    made = Predictions.from_scores(truth, scores, y_pred=guess, confidence=confidence)
    tally = made.tally(_RANKED_TERMS, exact=True)
    accuracy, cwa, gain, auc, cwauc, auc_gain = (float(metric.evaluate(tally).value) for metric in _RANKED)
    # two areas that are equal differ by rounding
    if abs(cwauc - auc) <= _EQUAL:
        cwauc, auc_gain = auc, 0.0
    return [accuracy, cwa, cwa - accuracy, gain, auc, cwauc, cwauc - auc, auc_gain]

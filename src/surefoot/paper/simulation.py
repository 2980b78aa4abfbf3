"""The synthetic experiments: confidences drawn once for all modes, outcomes for each, the paper's numbers of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats
from surefoot.engines.parallel import in_parallel, workers
from surefoot.metrics.size_ratio import normal_cdf
from surefoot.synthetic import MODES, PROFILES

Flags = npt.NDArray[np.bool_]

#: Numbers that the paper prints of each experiment.
QUANTITIES = ("acc", "cwa", "gain", "csr", "sigma", "over_1_sigma", "over_3_sigma", "p_risk")
#: Rows drawn together.
_TOGETHER = 1 << 19


@dataclass(frozen=True)
class Plan:
    """How many times each size is repeated, and the experiments on rankings, of 1,000 rows."""

    sizes: dict[int, int]
    seed: int = 0
    #: Repetitions of the experiments on rankings.
    ranked: int = 400

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


def simulated(size: int, repetitions: int, seed: int, done: Callable[[str], None] = lambda profile: None) -> Results:
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
    """Repetitions in parts of bearable size, enough of them for all processors."""
    each = max(1, min(_TOGETHER // size, math.ceil(repetitions / workers())))
    for start in range(0, repetitions, each):
        yield min(each, repetitions - start)


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
        total = confidence.sum(axis=1)
        sigma = np.sqrt((confidence * surprise).sum(axis=1)) / self.size
        found = {}
        for name, mode in MODES.items():
            drawn = rng.random(shape)
            right = (
                drawn >= doubt
                if name == "perfect"
                else drawn < mode.accuracy(confidence.ravel(), doubt.ravel()).reshape(shape)
            )
            correct = right.astype(np.float64)
            accuracy = correct.mean(axis=1)
            weighted = np.einsum("ij,ij->i", confidence, correct) / total
            csr = (surprise.sum(axis=1) - np.einsum("ij,ij->i", surprise, correct)) / self.size
            if name == "perfect" or (csr < 0.1).any():
                # where nearly all is right, a difference of two large sums would be noise
                csr = np.where(right, 0.0, surprise).sum(axis=1) / self.size
            found[name] = _told(accuracy, weighted, csr, sigma)
        return found


def _told(accuracy: Floats, weighted: Floats, csr: Floats, sigma: Floats) -> dict[str, Floats]:
    least = np.minimum(accuracy, weighted)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(least == 1, 0.0, (weighted - accuracy) / (1 - least))
    z = (csr - 1) / sigma
    return {
        "acc": accuracy,
        "cwa": weighted,
        "gain": gain,
        "csr": csr,
        "sigma": sigma,
        "over_1_sigma": (z > 1).astype(np.float64),
        "over_3_sigma": (z > 3).astype(np.float64),
        "p_risk": np.where(csr > 1, np.array([normal_cdf(float(value)) for value in z]), 0.0),
    }


def rankings(size: int, repetitions: int, seed: int) -> dict[tuple[str, str], dict[str, Floats]]:
    """AUC and cwAUC of two classes, the macro average of both, by profile and mode.

    The class that is not predicted gets the lesser of c and 1 - c: the predicted one always has the larger score, as
    the printed numbers show.
    """
    jobs = [_Ranked(profile, size, repetitions, seed) for profile in PROFILES]
    return {key: value for part in in_parallel(jobs) for key, value in part.items()}


@dataclass(frozen=True)
class _Ranked:
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
                drawn = rng.random(self.size)
                correct = drawn >= doubt if name == "perfect" else drawn < mode.accuracy(confidence, doubt)
                truth = rng.random(self.size) < 0.5
                found[name].append(_areas(confidence, correct, truth))
        columns = ("acc", "cwa", "delta_cwa", "gain", "auc", "cwauc", "delta_auc", "auc_gain")
        return {
            (self.profile, mode): dict(zip(columns, np.array(values).T, strict=True)) for mode, values in found.items()
        }


def _areas(confidence: Floats, correct: Flags, truth: Flags) -> list[float]:
    from surefoot.metrics.ranking import pair_probability
    from surefoot.metrics.weighted import gained

    lesser = np.minimum(confidence, 1 - confidence)
    guess = truth == correct
    plain: list[float] = []
    weighted: list[float] = []
    for label in (False, True):
        scores = np.where(guess == label, confidence, lesser)
        positive = truth == label
        order = np.argsort(scores, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(scores[order]) != 0))
        for areas, weight in ((plain, np.ones(len(scores))), (weighted, confidence)):
            inside, outside = (np.add.reduceat((weight * side)[order], starts) for side in (positive, ~positive))
            areas.append(pair_probability(inside, outside))
    accuracy, cwa = float(correct.mean()), float((confidence * correct).sum() / confidence.sum())
    auc, cwauc = float(np.mean(plain)), float(np.mean(weighted))
    return [accuracy, cwa, cwa - accuracy, gained(cwa, accuracy), auc, cwauc, cwauc - auc, gained(cwauc, auc)]

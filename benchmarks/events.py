"""Events and classes: false alarms of the event view, of all classes together, and power beside textbook tests.

Each part is a function of a cell and a number of data sets; ``python -m benchmarks.validity --events`` runs them all.

Most data sets of a calibrated model are far from an alarm. So data sets are drawn many at a time for the same
predictions and ranked among each other by all that the test looks at. The test itself is called for those that are the
most extreme: generously more than may alarm. Of the others it is known that their p-values are larger, up to chances
that each function states; full assessments of a few hundred data sets, extreme ones and others, must agree.
"""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import chi2, norm

import surefoot as sf
from surefoot.risk.effects import OF_EVENTS
from surefoot.risk.event_intervals import event_intervals
from surefoot.risk.law.cells import Cells
from surefoot.risk.omnibus import TestedSide, _upper_ranks
from surefoot.risk.test import TERMS, both_sides

EVENT_SIZES = (30, 100, 300, 1000, 3000, 10_000)
#: Verdicts that say that a model is not calibrated.
FOUND = ("overpredicts", "underpredicts", "too extreme", "too timid", "mixed")

#: Probabilities of an event, over the whole of [0, 1].
EVENT_PROFILES = {
    "uniform": lambda n, rng: rng.random(n),
    "Beta(2, 2)": lambda n, rng: rng.beta(2, 2, n),
    "rare, Beta(0.5, 10)": lambda n, rng: rng.beta(0.5, 10, n),
    "very rare, about 0.001": lambda n, rng: np.minimum(np.exp(rng.normal(math.log(1e-3), 0.7, n)), 1),
    "both ends, Beta(0.2, 0.2)": lambda n, rng: rng.beta(0.2, 0.2, n),
    "uniform, with exact 0 and 1": lambda n, rng: np.select(
        [(u := rng.random(n)) < 0.2, u > 0.8], [0, 1], rng.random(n)
    ),
    "five values": lambda n, rng: rng.choice([0.05, 0.1, 0.25, 0.5, 0.8], n),
    "log-odds normal(-1, 1.5)": lambda n, rng: expit(rng.normal(-1, 1.5, n)),
    "near 1 only": lambda n, rng: 1 - 10 ** rng.uniform(-5, -1, n),
    "one value, 0.2": lambda n, rng: np.full(n, 0.2),
}

#: Numbers of classes and of rows, and how many data sets of each are assessed in full.
CLASS_CELLS = {(3, 300): 20, (3, 2000): 20, (10, 300): 8, (10, 2000): 4, (100, 300): 1, (100, 2000): 0}


class Agreement(NamedTuple):
    """How many data sets were assessed in full, how many verdicts found something, and how many agree."""

    compared: int
    found: int
    agreed: int


class Apart(Cells):
    """Samples that are never merged into groups, so that each keeps its place."""

    @cached_property
    def merged(self) -> Cells:
        return self


def most_extreme(p: np.ndarray, happened: np.ndarray, count: int) -> np.ndarray:
    """For each side, which data sets (rows) are among so many of the most extreme by all that the test looks at."""
    kept = (p > 0) & (p < 1)
    found = []
    for is_mirrored in (False, True):
        chance, otherwise = (p, 1 - p) if is_mirrored else (1 - p, p)
        fired = (happened if is_mirrored else ~happened)[:, kept].astype(float)
        ones, total = np.ones(kept.sum()), float((chance > 0).sum())
        cells = Apart(chance[kept], otherwise[kept], ones, ones, fired[0], total, True, is_mirrored, True)
        ranks = [_upper_ranks(*value) for value in TestedSide(cells, 0.0).values(fired).values()]
        found.append(_upper_ranks(-np.min(ranks, axis=0), 0.5) <= count)
    return np.array(found)


def of_event(happened: np.ndarray, p: np.ndarray) -> sf.Predictions:
    return sf.Predictions.from_probabilities(happened.astype(int), p, labels=[0, 1], of="event", pos_label=1)


def pvalues(one: sf.Predictions) -> tuple[float, float]:
    """The omnibus p-values of an event, against too few and against too many."""
    over, under = both_sides(one.tally((*TERMS, *OF_EVENTS), exact=True))
    return over.pvalue_omnibus, under.pvalue_omnibus


def event_alarms(cell: tuple[str, int, int], sets: int, checked: int = 2) -> tuple[np.ndarray, Agreement]:
    """How often a calibrated model is called anything at 5%, and either side by itself; and assessments that agree.

    The test is called for the 7.5% that are the most extreme of 500 on a side: one with a p-value below 5% is missed
    with a chance of less than 0.1%.
    """
    name, size, batch = cell
    rng = np.random.default_rng([41, list(EVENT_PROFILES).index(name), size, batch])
    p = EVENT_PROFILES[name](size, rng)
    happened = rng.random((sets, size)) < p
    extreme = most_extreme(p, happened, round(0.075 * sets)).any(axis=0)
    called, alarms = np.zeros(3), {}
    for i in np.flatnonzero(extreme).tolist():
        over, under = pvalues(of_event(happened[i], p))
        alarms[i] = min(over, under) <= 0.025
        called += alarms[i], over <= 0.05, under <= 0.05
    some = (*sorted(alarms, key=lambda i: -alarms[i])[:checked], *np.flatnonzero(~extreme)[:checked].tolist())
    pairs = [(is_found(of_event(happened[i], p)), alarms.get(i, False)) for i in some]
    return called / sets, _agreement(pairs)


def class_alarms(cell: tuple[int, int], sets: int) -> tuple[float, Agreement]:
    """How often any class of a calibrated model is called anything at 5%; and assessments that agree.

    By Holm's method one is if its two-sided p-value is at most 5% over the number of classes. The test is called for
    data sets whose rank on a side leaves a chance of less than 0.1% that such a p-value is missed.
    """
    classes, size = cell
    rng = np.random.default_rng([42, classes, size])
    share = 0.025 / classes
    count = next(n for n in range(1, sets) if _more_than(n, share * sets) < 0.001)
    probabilities = rng.dirichlet(np.full(classes, 0.5), size)
    steps = np.cumsum(probabilities, axis=1)[:, :-1]
    truth = np.stack([(steps < rng.random((size, 1))).sum(axis=1) for _ in range(sets)])
    alarms = np.zeros(sets, dtype=bool)
    for k in range(classes):
        extreme = most_extreme(probabilities[:, k], truth == k, count).any(axis=0)
        for i in np.flatnonzero(extreme & ~alarms).tolist():
            alarms[i] = min(pvalues(of_classes(truth[i], probabilities).event(k))) <= share
    checked = CLASS_CELLS.get(cell, 0)
    some = (*np.flatnonzero(alarms)[: (checked + 1) // 2], *np.flatnonzero(~alarms)[: checked // 2])
    pairs = [(is_found(of_classes(truth[i], probabilities)), bool(alarms[i])) for i in some]
    return float(alarms.mean()), _agreement(pairs)


def is_found(one: sf.Predictions) -> bool:
    """Whether a full assessment says that the model is not calibrated."""
    return sf.assess(one, metrics=()).verdict in FOUND


def _agreement(pairs: list[tuple[bool, bool]]) -> Agreement:
    return Agreement(len(pairs), sum(found for found, _ in pairs), sum(found == alarm for found, alarm in pairs))


def of_classes(truth: np.ndarray, probabilities: np.ndarray) -> sf.Predictions:
    labels = list(range(probabilities.shape[1]))
    return sf.Predictions.from_probabilities(truth, probabilities, labels=labels, of="classes")


def _more_than(count: int, mean: float) -> float:
    """The chance that a Poisson number is at least ``count``."""
    return float(chi2.cdf(2 * mean, 2 * count))


# -- power -------------------------------------------------------------------------------------------------------------

POWER_SIZES = (300, 1000, 3000)
POWER_PROFILES = ("log-odds normal(-1, 1.5)", "rare, Beta(0.5, 10)")
#: How often the event happens where it is predicted with probability p.
EVENT_TRUTHS = {
    "overpredicts by 20%": lambda p: p / 1.2,
    "slope 0.7": lambda p: expit(logit(p) * 0.7 + 0.3 * logit(p).mean()),
}
TESTS = ("event view", "Hosmer-Lemeshow", "Spiegelhalter", "slope")


def event_power(cell: tuple[str, str, int], sets: int) -> np.ndarray:
    """The share of data sets on which each test, at 5%, finds that predictions are not calibrated."""
    truth, name, size = cell
    rng = np.random.default_rng([43, list(EVENT_TRUTHS).index(truth), POWER_PROFILES.index(name), size])
    found = np.zeros(len(TESTS))
    for _ in range(sets):
        p = np.maximum(EVENT_PROFILES[name](size, rng), 1e-12)
        one = of_event(rng.random(size) < EVENT_TRUTHS[truth](p), p)
        slope = event_intervals(one)["calibration_slope"]
        found += (
            min(pvalues(one)) <= 0.025,
            # of predictions that were not fitted to these rows: as many degrees of freedom as groups
            sf.hosmer_lemeshow(one) > chi2.isf(0.05, 10),
            abs(sf.spiegelhalter_z(one)) > norm.isf(0.025),
            slope.low > 1 or slope.high < 1,
        )
    return found / sets

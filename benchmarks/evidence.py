"""Late labels, groups, comparisons, plans, and intervals at their edges: the second half of VALIDITY.md.

Each part is a function of a cell, a seed and a number of data sets; ``python -m benchmarks.validity`` runs them all.
"""

import math
import warnings

import numpy as np
from scipy.optimize import least_squares
from scipy.special import expit, ndtr, ndtri

import surefoot as sf
from surefoot.assessment.calibrate import NAMED, recommended
from surefoot.assessment.slices import holm
from surefoot.assessment.verdict import judge_predictions
from surefoot.figures.reliability import bands, reliability
from surefoot.metrics.tallying import ALWAYS, BANDS, DIAGRAM
from surefoot.risk.differences import riskier
from surefoot.risk.effects import effects_of
from surefoot.risk.groups import dependence_of
from surefoot.risk.law.counts import counts_of
from surefoot.risk.test import TERMS, both_sides
from surefoot.synthetic import PROFILES

NAMES = list(PROFILES)


def drawn(profile: str, size: int, rng: np.random.Generator) -> np.ndarray:
    """Doubts strictly between 0 and 1."""
    return np.clip(PROFILES[profile].draw(size, rng)[1], 1e-12, 1 - 1e-12)


def together(groups: np.ndarray, correlation: float, rng: np.random.Generator) -> np.ndarray:
    """Uniform numbers, normal behind them, with that correlation within a group."""
    shared = rng.standard_normal(int(groups.max()) + 1)[groups]
    own = rng.standard_normal(len(groups))
    return ndtr(math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own)


# -- late labels -------------------------------------------------------------------------------------------------------

#: How many rows late the label of a row comes, by whether it is a mistake.
DELAYS = {
    "no delay": lambda wrong, rng: np.zeros(len(wrong), dtype=int),
    "random, up to 200 rows": lambda wrong, rng: rng.integers(0, 200, len(wrong)),
    "mistakes first, by 50 rows": lambda wrong, rng: np.where(wrong, 0, 50),
    "mistakes first, by 500 rows": lambda wrong, rng: np.where(wrong, 0, 500),
    "confirmations first, by 50 rows": lambda wrong, rng: np.where(wrong, 50, 0),
}
TOGETHER = {f"ten issued together, correlation {r:g}": r for r in (0.3, 0.75, 1.0)}
LATE = (*DELAYS, *TOGETHER)
_STEP = 25


def late_stream(case: str, q: np.ndarray, rate: np.ndarray, rng, **options) -> sf.Monitor:
    """A stream as it is issued and labelled, watched at every step."""
    m = sf.Monitor(**options)
    if case in TOGETHER:
        groups = np.arange(len(q)) // 10
        wrong = together(groups, TOGETHER[case], rng) < rate
        for start in range(0, len(q), 10):
            rows = np.arange(start, start + 10)
            m.expect(rows, 1 - q[rows], doubt=q[rows])
            m.update(~wrong[rows], ids=rows)
        return m
    wrong = rng.random(len(q)) < rate
    due = np.arange(len(q)) + DELAYS[case](wrong, rng)
    order = np.argsort(due, kind="stable")
    done = 0
    for start in range(0, len(q), _STEP):
        rows = np.arange(start, min(start + _STEP, len(q)))
        m.expect(rows, 1 - q[rows], doubt=q[rows], groups=rows)
        come = int(np.searchsorted(due[order], rows[-1], side="right"))
        if come > done:
            m.update(~wrong[order[done:come]], ids=order[done:come])
        done = come
    return m


def late_labels(case: str, streams: int) -> tuple[float, float, float, float, float]:
    """Of calibrated streams: alarms, and rows to a false drift. Of 0.9 c: found, and at which row, in the middle."""
    rng = np.random.default_rng([31, LATE.index(case)])
    alarms, firsts, found, rows = [], [], [], []
    for i in range(streams):
        q = drawn(NAMES[i % len(NAMES)], 1000, rng)
        alarms.append(late_stream(case, q, q, rng).alarm)
    for i in range(max(10, streams // 10)):
        q = drawn(NAMES[i % len(NAMES)], 5000, rng)
        m = late_stream(case, q, q, rng, mean_time_between_false_alarms=500)
        firsts.append((m.drift_rows or [5000])[0])
    for i in range(max(10, streams // 10)):
        q = drawn(("uniform", "skew_high", "tight_hi", "normal", "log_uniform_high")[i % 5], 5000, rng)
        m = late_stream(case, q, 1 - 0.9 * (1 - q), rng, alternative="overconfident")
        found.append(m.alarm)
        rows.append(m.alarm_row or 5001)
    return np.mean(alarms), np.mean(firsts), np.mean(found), np.median(rows), np.max(rows)


# -- groups ------------------------------------------------------------------------------------------------------------

CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
GROUPS = ((20, 1), (20, 10), (20, 50), (50, 10), (200, 5), (200, 50), (1000, 2), (1000, 10))


def grouped_rows(profile: str, count: int, size: int, correlation: float, rng, truth=None) -> tuple:
    """Rows of groups, and the group of each; calibrated, row by row."""
    q = drawn(profile, count * size, rng)
    groups = np.repeat(np.arange(count), size)
    wrong = together(groups, correlation, rng) < (q if truth is None else truth(q))
    return sf.Predictions.from_correct(~wrong, 1 - q, doubt=q), groups


def group_alarms(cell: tuple[int, int, float], sets: int) -> tuple[float, float, float]:
    """The overconfident side called at 5%: by the omnibus test, by CSR, and by the e-value."""
    count, size, correlation = cell
    rng = np.random.default_rng([32, count, size, round(100 * correlation)])
    found = []
    for i in range(sets):
        p, groups = grouped_rows(NAMES[i % len(NAMES)], count, size, correlation, rng)
        r = sf.risk_test(p, groups=groups)
        found.append((r.pvalue_omnibus <= 0.05, r.pvalue <= 0.05, r.e_value >= 20))
    return tuple(np.mean(found, axis=0))


def group_power(cell: tuple[int, int, float], sets: int) -> tuple[float, float]:
    """Share found of accuracy 0.9 c, at 5%: with all rows and their groups, and with one row of each."""
    count, size, correlation = cell
    rng = np.random.default_rng([39, count, size, round(100 * correlation)])
    found = []
    for i in range(sets):
        profile = NAMES[i % len(NAMES)]
        p, groups = grouped_rows(profile, count, size, correlation, rng, lambda q: 1 - 0.9 * (1 - q))
        first = p[np.arange(0, count * size, size)]
        found.append(
            (sf.risk_test(p, groups=groups).pvalue_omnibus <= 0.05, sf.risk_test(first).pvalue_omnibus <= 0.05)
        )
    return tuple(np.mean(found, axis=0))


# -- intervals ---------------------------------------------------------------------------------------------------------

#: Shares of positives and accuracies of the models whose intervals are tried, and sizes.
POPULATIONS = (
    *((0.5, a) for a in (0.5, 0.75, 0.9, 0.99, 0.999)),
    *((0.2, a) for a in (0.85, 0.95, 0.99)),
    *((0.04, a) for a in (0.965, 0.99, 0.999)),
)
SIZES = (30, 100, 1000, 10_000)
GROUP_COUNTS = (10, 15, 30, 100)


class Population:
    """Log-odds with a normal law, whose mean and spread give a share of positives and an accuracy.

    Model probabilities are 1.3 times too extreme. Of groups, sizes are unequal, and a part of the log-odds, and another
    that the model does not know, is shared.
    """

    def __init__(self, positives: float, accuracy: float) -> None:
        z = ndtri((np.arange(20_001) + 0.5) / 20_001)

        def off(x):
            p = expit(x[0] * math.exp(x[1]) + math.exp(x[1]) * z)
            return [10 * (p.mean() - positives), np.maximum(p, 1 - p).mean() - accuracy]

        start = [float(ndtri(positives)), 1.0]
        self.mean, self.spread = (lambda x: (x[0] * math.exp(x[1]), math.exp(x[1])))(least_squares(off, start).x)

    def draw(self, rows: int, rng, groups: np.ndarray | None = None) -> sf.Predictions:
        z, unknown = rng.standard_normal(rows), 0.0
        if groups is not None:
            count = int(groups.max()) + 1
            z = math.sqrt(0.7) * z + math.sqrt(0.3) * rng.standard_normal(count)[groups]
            unknown = 0.7 * rng.standard_normal(count)[groups]
        odds = self.mean + self.spread * z
        y = rng.random(rows) < expit(odds + unknown)
        return sf.Predictions.from_probabilities(y.astype(int), expit(1.3 * odds), labels=[0, 1])


def unequal_groups(count: int, rng) -> np.ndarray:
    return np.repeat(np.arange(count), 1 + rng.geometric(0.1, count))


def targets_of(population: Population, grouped: bool) -> dict[str, float]:
    rng = np.random.default_rng(7)
    warnings.simplefilter("ignore")
    big = population.draw(2_000_000, rng, np.arange(2_000_000) // 10 if grouped else None)
    found = {name: sf.metrics.ALL[name](big) for name in ("accuracy", "cw_accuracy", "auc", "cw_auc", "ece")}
    found |= {f"cw_{n} - {n}": found[f"cw_{n}"] - found[n] for n in ("accuracy", "auc")}
    errors, expected = 1 - found["accuracy"], 1 - sf.mean_confidence(big)
    return {**found, "overstatement": errors - expected, "O/E": errors / expected}


def interval_coverage(cell: tuple[float, float, int, bool], samples: int) -> dict[str, tuple[float, float]]:
    """Of each interval, the share that holds the value, of those there are, and the share that there are."""
    positives, accuracy, size, grouped = cell
    rng = np.random.default_rng([33, round(1000 * positives), round(1000 * accuracy), size, grouped])
    population = Population(positives, accuracy)
    targets = targets_of(population, grouped)
    hits, given = dict.fromkeys(targets, 0), dict.fromkeys(targets, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(samples):
            groups = unequal_groups(size, rng) if grouped else None
            p = population.draw(size if groups is None else len(groups), rng, groups)
            found = {name: (one.low, one.high) for name, one in sf.intervals(p, groups=groups).items()}
            r = effects_of(p.tally(TERMS), None if groups is None else dependence_of(p, groups))
            found |= {"overstatement": r.overstatement_interval, "O/E": r.oe_interval}
            for name, target in targets.items():
                low, high = found.get(name, (math.nan, math.nan))
                if not math.isnan(low):
                    given[name] += 1
                    hits[name] += low - 1e-9 <= target <= high + 1e-9
    return {name: (hits[name] / max(given[name], 1), given[name] / samples) for name in targets}


# -- comparisons -------------------------------------------------------------------------------------------------------

#: How well each of two calibrated models sees what decides: correlations.
PAIRS = {
    "alike": (0.8, 0.8),
    "sharp against coarse": (0.98, 0.4),
    "sharper against sharp": (0.9999, 0.99),
    "coarse, and one that knows nothing": (0.5, 0.05),
}


def calibrated_models(sights: tuple[float, ...], rows: int, rng) -> dict[str, sf.Predictions]:
    """Models of one truth, each calibrated, that see it through noise of their own."""
    hidden = rng.standard_normal(rows)
    found = {}
    for i, sight in enumerate(sights):
        seen = sight * hidden + math.sqrt(1 - sight**2) * rng.standard_normal(rows)
        odds = sight * seen / math.sqrt(1 - sight**2)
        doubt = ndtr(-np.abs(odds))
        found[f"model {i}"] = sf.Predictions.from_correct((seen > 0) == (hidden > 0), 1 - doubt, doubt=doubt)
    return found


def compared(cell: tuple[str, int], sets: int) -> float:
    """How often two calibrated models are told apart at 5%."""
    pair, rows = cell
    rng = np.random.default_rng([34, list(PAIRS).index(pair), rows])
    found = [calibrated_models(PAIRS[pair], rows, rng) for _ in range(sets)]
    return float(np.mean([riskier(*models.values(), same_rows=True) <= 0.05 for models in found]))


def family(rows: int, sets: int) -> float:
    """How often any of ten calibrated models is told apart from the first, adjusted."""
    rng = np.random.default_rng([35, rows])
    found = []
    for _ in range(sets):
        first, *others = calibrated_models((0.8,) * 11, rows, rng).values()
        found.append(min(holm([riskier(other, first, same_rows=True) for other in others])) <= 0.05)
    return float(np.mean(found))


# -- the deep tail -----------------------------------------------------------------------------------------------------


def deep_tail(seed: int, cases: int) -> tuple[float, float]:
    """The least and the largest ratio of the exact p-value to enumeration, with doubts from 1e-300 to 0.5."""
    rng = np.random.default_rng([36, seed])
    least, most, done = math.inf, 0.0, 0
    while done < cases:
        n = int(rng.integers(2, 16))
        deep = 10 ** rng.uniform(rng.choice([-300, -16, -12]), math.log10(0.5), n)
        plain = rng.choice([0.5, float(rng.uniform(0.05, 0.5))], n)
        q = np.where(rng.random(n) < rng.choice([0.2, 1.0]), deep, plain)
        wrong = rng.random(n) < rng.choice([0.1, 0.3, 0.5])
        # where sums differ by their rounding alone, they may be told apart or not
        apart, alike = (enumerated(q, wrong, steps) for steps in (1, 8))
        # what is smaller than any float has no ratio
        if not wrong.any() or apart < math.log(1e-300):
            continue
        p = sf.risk_test(sf.Predictions.from_correct(~wrong, doubt=q)).pvalue
        least, most, done = min(least, p / math.exp(apart)), max(most, p / math.exp(alike)), done + 1
    return least, most


def enumerated(q: np.ndarray, wrong: np.ndarray, steps: int) -> float:
    """The logarithm of the chance of a sum at least as large, up to so many steps of its last digit; by all subsets."""
    bits = ((np.arange(1 << len(q))[:, None] >> np.arange(len(q))) & 1).astype(bool)
    reached = bits @ (1 / q) >= float((1 / q)[wrong].sum()) * (1 - steps * 2.0**-53)
    logs = (bits @ np.log(q) + ~bits @ np.log1p(-q))[reached]
    return float(logs.max() + math.log(np.exp(logs - logs.max()).sum())) if len(logs) else -math.inf


# -- plans -------------------------------------------------------------------------------------------------------------

PLANNED = tuple((profile, deflation) for profile in NAMES for deflation in (0.3, 0.1))


def planned(cell: tuple[str, float], sets: int) -> tuple[int, list[float]]:
    """The rows that are planned for a power of 80%, and the share of verdicts that find it, there and beyond."""
    profile, deflation = cell
    rng = np.random.default_rng([37, NAMES.index(profile), round(100 * deflation)])
    n = sf.required_n(1 - drawn(profile, 5000, rng), deflation=deflation)
    shares = []
    for times in (1, 1.1, 1.3, 1.6, 2):
        found = 0
        for _ in range(sets):
            q = drawn(profile, math.ceil(n * times), rng)
            p = sf.Predictions.from_correct(rng.random(len(q)) >= q + deflation * (1 - q), doubt=q)
            found += verdict_of(p) in ("overconfident", "mixed")
        shares.append(found / sets)
    return n, shares


def verdict_of(p: sf.Predictions) -> str:
    """The verdict of an assessment, without the rest of it."""
    t = p.tally([*ALWAYS, *BANDS, *DIAGRAM, *TERMS])
    return judge_predictions(*both_sides(t), counts_of(t), bands(t), reliability(t), level=0.05, margin=0.02).verdict


# -- calibrators -------------------------------------------------------------------------------------------------------


def after_choice(rows: int, sets: int, seed: int = 0) -> tuple[float, float, dict[str, int]]:
    """Mean CSR of the calibrator that was chosen and fitted, on new rows, its standard error, and who was chosen."""
    rng = np.random.default_rng([38, rows, seed])
    safe = {name: model for name, model in NAMED.items() if model.is_safe}
    found, chosen = [], {}
    for _ in range(sets):
        x, new = rng.normal(0, 2, rows), rng.normal(0, 2, 1000)
        y = (rng.random(rows) < expit(x)).astype(int)
        # as calibrate does, without the trials that it shows
        held = rng.permutation(rows) < rows // 2
        raw = sf.Predictions.from_probabilities(y[held], expit(2 * x[held]), labels=[0, 1])
        name, _ = recommended(safe, raw, expit(2 * x[held]), [0, 1])
        chosen[name] = chosen.get(name, 0) + 1
        model = type(safe[name])(**safe[name].get_params()).fit(expit(2 * x[~held]), y[~held], labels=[0, 1])
        p = model.predict_proba(expit(2 * new))[:, 1]
        # the chance that the raw model's decision is wrong, over the doubt that is given it
        wrong = np.where(new > 0, expit(-new), expit(new))
        found.append(float((wrong / np.where(new > 0, 1 - p, p)).mean()))
    return float(np.mean(found)), float(np.std(found) / math.sqrt(sets)), chosen

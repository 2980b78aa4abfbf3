"""Late labels, groups, comparisons, plans, and intervals at their edges: the second half of VALIDITY.md.

Each part is a function of a cell, a seed and a number of data sets; ``python -m benchmarks.validity`` runs them all.
"""

import math
import warnings

import numpy as np
from scipy.special import ndtr

import surefoot as sf
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

"""Events whose numbers can be counted by hand: rows and events at each predicted probability."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

import surefoot as sf

#: By the verdict they deserve: predicted probability, rows, and in how many of them the event happened.
SETS: dict[str, tuple[tuple[float, int, int], ...]] = {
    # expected 50 + 93 + 130 = 273, observed 20 + 40 + 58 = 118
    "overpredicts": ((0.1, 500, 20), (0.3, 310, 40), (0.65, 200, 58)),
    "underpredicts": ((0.1, 500, 100), (0.3, 310, 150), (0.65, 200, 170)),
    # observed shares 15%, 50%, 85%: on a line of log-odds of slope log(17/3) / log(19)
    "too extreme": ((0.05, 400, 60), (0.5, 200, 100), (0.95, 400, 340)),
    # observed shares 10%, 50%, 90%: slope log(9) / log(7/3)
    "too timid": ((0.3, 400, 40), (0.5, 200, 100), (0.7, 400, 360)),
    "no evidence against calibration": ((0.1, 4000, 400), (0.5, 2000, 1000), (0.9, 4000, 3600)),
    "inconclusive": ((0.2, 20, 4), (0.6, 20, 12)),
}


def columns(groups: Sequence[tuple[float, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes, as words, and predicted probabilities."""
    happened = [["died"] * events + ["alive"] * (rows - events) for _, rows, events in groups]
    p = np.repeat([p for p, _, _ in groups], [rows for _, rows, _ in groups])
    return np.array([one for some in happened for one in some]), p


def event(groups: Sequence[tuple[float, int, int]], **options: object) -> sf.Predictions:
    """Predictions of the event that somebody died."""
    truth, p = columns(groups)
    return sf.Predictions.from_probabilities(
        truth,
        p,
        labels=["alive", "died"],
        of="event",
        pos_label="died",
        **options,  # type: ignore[arg-type]
    )


@cache
def assessed(name: str) -> sf.Assessment:
    """The assessment of one of the sets."""
    return sf.assess(event(SETS[name]))


def classes(rows: int, k: int, *, power: float = 1.0, seed: int = 0) -> sf.Predictions:
    """Predictions of k classes: calibrated, or with a power above 1 too extreme."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), rows)
    truth = (p.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(0, k - 1)
    names = [f"class {i}" for i in range(k)]
    sharp = p**power
    shares = sharp / sharp.sum(axis=1, keepdims=True)
    return sf.Predictions.from_probabilities(np.array(names)[truth], shares, labels=names, of="classes")


@cache
def assessed_classes(rows: int = 2000, k: int = 15, power: float = 1.8) -> sf.Assessment:
    """Their assessment."""
    return sf.assess(classes(rows, k, power=power))

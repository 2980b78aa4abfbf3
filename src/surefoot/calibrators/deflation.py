"""Deflation: every confidence times one number below 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from surefoot._io.arguments import check_share
from surefoot._stats.binomial import limits
from surefoot._stats.logarithms import log_mean
from surefoot._stats.roots import root
from surefoot.calibrators.calibrator import SAFE, EventCalibrator, Events, Map, check_steps
from surefoot.core.table import Floats

Kind = Literal["safe", "maximum_likelihood", "pac"]
#: Shortfalls that are tried, from the least to all.
SHORTFALLS = np.append(0.0, np.geomspace(1e-12, 1.0, 2048))
#: The share of alpha that is kept for the doubt of all rows alike.
_KEPT = 0.01
#: Shares of the largest bet, over which wealth is averaged.
_BETS = 2.0 ** -np.arange(14)

_GUARANTEES = {
    "safe": SAFE,
    "maximum_likelihood": "None: the CSR is at most 1 on the rows it was fitted to only.",
    "pac": "With probability 1 - alpha over the calibration rows, the expected CSR of fresh samples is at most 1.",
}


@dataclass(frozen=True)
class Shortfalls(Map):
    """From which doubt on, the share of confidence that is taken away."""

    start: Floats
    shortfall: Floats

    def __post_init__(self) -> None:
        check_steps(self.start, self.shortfall)

    def __call__(self, probability: Floats, log_odds: Floats) -> tuple[Floats, Floats]:
        lost = self.shortfall[np.searchsorted(self.start, probability, side="right") - 1]
        confidence = (1 - probability) * (1 - lost)
        return probability + lost * (1 - probability), confidence


class Deflation(EventCalibrator):
    r"""Deflation: multiply every confidence by the same factor below 1.

    It corrects the confidence in the decision; decisions stay the same.

    Parameters
    ----------
    kind : {"safe", "maximum_likelihood", "pac"}, default="safe"
        How to choose the factor, see Notes.
    alpha : float, default=0.1
        For ``"pac"``: the chance that the guarantee fails.
    from_logits : bool, default=False
        Whether you pass logits instead of probabilities; it is never guessed.

    Attributes
    ----------
    classes_ : numpy.ndarray of shape (n_classes,)
        The classes, in the order of the columns of ``predict_proba``.
    maps_ : tuple
        The fitted functions: one for each class, or one in all.
    support_ : Support or None
        What keeps probabilities away from 0 and 1, for calibrators with a guarantee.
    cost : str
        What the method costs, in a sentence.

    Notes
    -----
    The corrected confidence is :math:`(1 - \lambda) c`. The shortfall :math:`\lambda` is

    - ``"safe"``: for each sample the least with which the calibration rows and this sample, counted as an error, have a
      CSR of at most 1;
    - ``"maximum_likelihood"``: the one that brings the CSR of the calibration rows to 1;
    - ``"pac"``: the least for which, and for all larger ones, a bet against "the mean surprise is 1 or more" wins
      1/``alpha``.

    Examples
    --------
    >>> model = Deflation("maximum_likelihood").fit([0.9] * 10, [1] * 8 + [0] * 2)
    >>> model.predict_proba([0.9])[:, 1].round(6).tolist()
    [0.8]
    """

    cost = "One parameter: every confidence is lowered by the same share, and by more if there are few rows."
    takes_weights = False
    _map = Shortfalls

    def __init__(self, kind: Kind = "safe", *, alpha: float = 0.1, from_logits: bool = False) -> None:
        if kind not in get_args(Kind):
            raise ValueError(f"kind is {kind!r}; it should be 'safe', 'maximum_likelihood' or 'pac'.")
        check_share("alpha", alpha, "0.1")
        super().__init__(top_label=True, from_logits=from_logits)
        self.kind, self.alpha = kind, alpha

    @property
    def is_safe(self) -> bool:
        return self.kind != "maximum_likelihood"

    @property
    def guarantee(self) -> str:
        return _GUARANTEES[self.kind]

    def _fit_map(self, events: Events) -> Shortfalls:
        wrong, times = np.unique(events.probability[events.happened], return_counts=True)
        count = times.astype(np.float64)
        rows = len(events.probability)
        if self.kind == "safe":
            return safe_shortfalls(wrong, count, rows)
        lost = (
            likeliest_shortfall(wrong, count, rows)
            if self.kind == "maximum_likelihood"
            else certain_shortfall(wrong, count, rows, (1 - _KEPT) * self.alpha)
        )
        return Shortfalls(np.zeros(1), np.array([lost]))

    def _overall(self, errors: int, rows: int) -> float:
        if self.kind != "pac":
            return super()._overall(errors, rows)
        # a limit of the share of mistakes that fails with what is left of alpha
        return float(limits(errors, rows, 1 - 2 * _KEPT * self.alpha)[1])


def surprise(wrong: Floats, count: Floats, shortfall: float) -> float:
    """What the mistakes come to when every confidence is deflated."""
    with np.errstate(divide="ignore"):
        return float((count / (wrong + shortfall * (1 - wrong))).sum())


def likeliest_shortfall(wrong: Floats, count: Floats, rows: float) -> float:
    """The shortfall that brings the CSR to 1; none if it is not above."""
    if surprise(wrong, count, 0.0) <= rows:
        return 0.0
    if surprise(wrong, count, 1.0) >= rows:
        return 1.0
    log = root(lambda x: surprise(wrong, count, math.exp(x)) - rows, math.log(1e-300), 0.0, 1e-12)
    # on the side where the CSR is not above 1
    lost = min(1.0, math.exp(log))
    while surprise(wrong, count, lost) > rows and lost < 1:
        lost = min(1.0, lost * (1 + 1e-12))
    return lost


def safe_shortfalls(wrong: Floats, count: Floats, rows: int) -> Shortfalls:
    """For each doubt the least shortfall on a grid with which one more mistake at it keeps the CSR at most 1."""
    # with a shortfall, the doubts from which on another mistake has room
    room = rows + 1 - np.array([surprise(wrong, count, lost) for lost in SHORTFALLS])
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(room > 0, (1 / room - SHORTFALLS) / (1 - SHORTFALLS), np.inf)
    least[-1] = 0.0  # all confidence taken: a mistake weighs 1, and there is room for one a row
    least = np.maximum.accumulate(np.maximum(least, 0.0)[::-1])[::-1]
    # rising doubts, falling shortfalls; the last of equals is the least shortfall
    start, shortfall = least[::-1], SHORTFALLS[::-1]
    kept = np.append(start[1:] != start[:-1], True) & (start <= 1)
    return Shortfalls(start[kept], shortfall[kept])


def certain_shortfall(wrong: Floats, count: Floats, rows: int, alpha: float) -> float:
    """The least shortfall of which, and of all larger ones, a bet shows that the mean surprise is below 1."""
    right = rows - int(count.sum())
    kept = 1.0
    for lost in np.geomspace(0.999, 1e-9, 600).tolist():
        most = 1 / lost
        bets = _BETS * (0.999 / (most - 1))
        surprises = 1 / (wrong + lost * (1 - wrong))
        wealth = right * np.log1p(bets) + np.log1p(bets[:, None] * (1 - surprises)) @ count
        if log_mean(wealth) < math.log(1 / alpha):
            break
        kept = lost
    return kept

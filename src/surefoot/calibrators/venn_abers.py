"""Venn-Abers: isotonic regression with the row itself added, once as it happened and once as it did not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from surefoot.calibrators.calibrator import SAFE, EventCalibrator, Events, Map, check_steps
from surefoot.core.table import Floats

Kind = Literal["merged", "pessimistic", "pooled"]

_GUARANTEES = {
    "merged": "On fresh exchangeable samples the mean CSR is at most 1 plus the error rate.",
    "pessimistic": SAFE,
    "pooled": SAFE,
}


@dataclass(frozen=True)
class Pairs(Map):
    """From which stated probability on, what isotonic regression says with the row added as 0 and as 1."""

    start: Floats
    low: Floats
    high: Floats
    is_merged: bool

    def __post_init__(self) -> None:
        check_steps(self.start, self.low, self.high)

    def __call__(self, probability: Floats, log_odds: Floats) -> tuple[Floats, Floats]:
        run = np.searchsorted(self.start, probability, side="right") - 1
        low, high = self.low[run], self.high[run]
        if not self.is_merged:
            return high, 1 - high
        whole = 1 - low + high
        return high / whole, (1 - low) / whole


class VennAbers(EventCalibrator):
    r"""Venn-Abers calibration: isotonic regression that never returns 0 or 1.

    Parameters
    ----------
    kind : {"merged", "pessimistic", "pooled"}, default="merged"
        How to combine the two fits, see Notes. ``"pessimistic"`` and ``"pooled"`` have a guarantee, correct the
        confidence in the decision, and leave decisions the same.
    top_label : bool, default=False
        Whether to correct only the confidence in the decision, rather than each class against the rest.
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
    The sample is added to the calibration rows, once with label 0 and once with label 1; both isotonic fits are
    evaluated at it, :math:`p_0 \le p_1`.

    - ``"merged"``: :math:`p_1 / (1 - p_0 + p_1)`, as the package ``venn-abers``;
    - ``"pessimistic"``: the doubt (1 - confidence) of the fit with the sample added as an error;
    - ``"pooled"``: the same, with the :math:`\sqrt n` least confident rows in one group, so that the doubt does not
      reach 1 there.

    References
    ----------
    Vovk, Petej and Fedorova, Large-scale probabilistic predictors with and without guarantees of validity, NeurIPS
    (2015).

    Examples
    --------
    >>> model = VennAbers().fit([0.2, 0.4, 0.6, 0.8], [0, 0, 1, 1])
    >>> model.predict_proba([0.9])[:, 1].round(3).tolist()
    [0.75]
    """

    cost = 'Higher log loss at the least confident rows for "pessimistic"; very little for the other kinds.'
    takes_weights = False
    _map = Pairs

    def __init__(self, kind: Kind = "merged", *, top_label: bool = False, from_logits: bool = False) -> None:
        if kind not in get_args(Kind):
            raise ValueError(f"kind is {kind!r}; it should be 'merged', 'pessimistic' or 'pooled'.")
        super().__init__(top_label=top_label, from_logits=from_logits)
        self.kind = kind

    @property
    def is_safe(self) -> bool:
        return self.kind != "merged"

    @property
    def is_of_top_label(self) -> bool:
        return self.is_safe or self.top_label

    @property
    def guarantee(self) -> str:
        return _GUARANTEES[self.kind]

    def _fit_map(self, events: Events) -> Pairs:
        at, place = np.unique(events.probability, return_inverse=True)
        rows, yes = (np.bincount(place, value).astype(np.float64) for value in (None, events.happened))
        pool = math.ceil(math.sqrt(len(place))) if self.kind == "pooled" else 0
        fits = _WithOneMore(rows, yes, pool)
        # between two values, at a value, between the next two, ...
        starts, low, high = [-math.inf], [fits.between(0, 0)], [fits.between(0, 1)]
        for k, value in enumerate(at.tolist()):
            starts += [value, math.nextafter(value, math.inf)]
            low += [fits.at(k, 0), fits.between(k + 1, 0)]
            high += [fits.at(k, 1), fits.between(k + 1, 1)]
        both = np.array([low, high])
        changes = np.append(True, (both[:, 1:] != both[:, :-1]).any(axis=0))
        start = np.array(starts)[changes]
        start[0] = 0.0
        return Pairs(start, both[0, changes], both[1, changes], not self.is_safe)


class _WithOneMore:
    """Isotonic regression of groups with one row more, read at that row.

    The blocks of all groups before a place, and of all after it, are known for every place at once: stacks that share
    what lies below. The new row's block then takes in neighbours as long as they are out of order.
    """

    def __init__(self, rows: Floats, yes: Floats, pool: int) -> None:
        self.rows, self.yes, self.pool = rows, yes, pool
        count = len(rows)
        upto = np.cumsum(rows[::-1])
        #: Where the pooled rows begin: of the groups alone, and with one row more among them.
        self.alone = max(0, count - 1 - int(np.searchsorted(upto, pool))) if pool else count
        self.joined = max(0, count - 1 - int(np.searchsorted(upto + 1, pool))) if pool else count
        self.before = _Stacks(rows, yes, is_rising=True)
        after_rows, after_yes = rows, yes
        if pool and self.alone < count:
            after_rows = np.append(rows[: self.alone], rows[self.alone :].sum())
            after_yes = np.append(yes[: self.alone], yes[self.alone :].sum())
        self.after = _Stacks(after_rows[::-1], after_yes[::-1], is_rising=False)
        self.after_count = len(after_rows)

    def between(self, k: int, happened: int) -> float:
        """With a row before group k, by itself."""
        if not self.pool or self.alone >= k:
            return self._read(float(happened), 1.0, k, k)
        return self._pooled(min(k, self.joined), happened)

    def at(self, k: int, happened: int) -> float:
        """With a row in group k."""
        if not self.pool or self.alone > k:
            return self._read(self.yes[k] + happened, self.rows[k] + 1.0, k, k + 1)
        return self._pooled(min(k, self.joined), happened)

    def _pooled(self, start: int, happened: int) -> float:
        yes, rows = float(self.yes[start:].sum()) + happened, float(self.rows[start:].sum()) + 1.0
        return self._read(yes, rows, start, self.after_count)

    def _read(self, yes: float, rows: float, before: int, after: int) -> float:
        left, right = self.before, self.after
        low, high = left.tops[before], right.tops[self.after_count - after]
        while True:
            if high >= 0 and right.yes[high] * rows <= yes * right.rows[high]:
                yes, rows, high = yes + right.yes[high], rows + right.rows[high], right.below[high]
            elif low >= 0 and left.yes[low] * rows >= yes * left.rows[low]:
                yes, rows, low = yes + left.yes[low], rows + left.rows[low], left.below[low]
            else:
                return float(yes / rows)


class _Stacks:
    """The blocks of the first 0, 1, 2, ... groups, each stack by its top."""

    def __init__(self, rows: Floats, yes: Floats, *, is_rising: bool) -> None:
        self.yes: list[float] = []
        self.rows: list[float] = []
        self.below: list[int] = []
        self.tops = [-1]
        for n, e in zip(rows.tolist(), yes.tolist(), strict=True):
            top = self.tops[-1]
            while top >= 0 and (
                self.yes[top] * n >= e * self.rows[top] if is_rising else self.yes[top] * n <= e * self.rows[top]
            ):
                n, e, top = n + self.rows[top], e + self.yes[top], self.below[top]
            self.yes.append(e)
            self.rows.append(n)
            self.below.append(top)
            self.tops.append(len(self.yes) - 1)

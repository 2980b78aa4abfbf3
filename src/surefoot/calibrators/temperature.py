"""Temperature scaling: all logits are divided by one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._stats.logarithms import log_sum
from surefoot._stats.roots import root
from surefoot.calibrators.calibrator import Calibrator, check_finite
from surefoot.core.table import Floats
from surefoot.engines.parallel import in_parallel, workers
from surefoot.predictions import ArrayPredictions
from surefoot.predictions.log_odds import LogOdds

_LOWEST, _HIGHEST = 1e-3, 1e3
_FLOOR = -745.0
#: Numbers that are worked on together, and looks at the table at most.
_TOGETHER, _PATIENCE = 1 << 15, 12


@dataclass(frozen=True)
class Sharpness:
    """The inverse of the temperature."""

    inverse: float

    def __post_init__(self) -> None:
        check_finite(self.inverse)


class Temperature(Calibrator):
    r"""Temperature scaling: divide the logits by the number that gives the least log loss.

    The order of the classes, and so the decision, stays the same. Probabilities are taken as logits by their
    logarithms.

    Parameters
    ----------
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
    .. math:: p'_k \propto e^{z_k / T}

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML (2017).

    Examples
    --------
    >>> model = Temperature().fit([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0])
    >>> model.predict_proba([0.9])[:, 1].round(4).tolist()
    [0.75]
    """

    cost = "One parameter; a poor fit where classes or regions need different corrections."
    guarantee = "None: with few rows it may raise confidences that are already too high."
    _map = Sharpness

    def fit(self, probabilities: Any, y: Any, sample_weight: Any = None, *, labels: Any = None) -> Any:
        rows = self._predictions(y, probabilities, sample_weight, labels)
        assert rows.labels is not None
        loss = _Loss(log_probabilities(rows), rows.codes("truth"), rows.weight)
        self.classes_, self.maps_ = np.array(rows.labels), (Sharpness(loss.least()),)
        return self

    def _map_count(self, classes: int) -> int:
        return 1

    def predict_proba(self, probabilities: Any) -> Floats:
        rows = self._without_truth(probabilities)
        (sharpness,) = self.maps_
        return _shares(log_probabilities(rows) * sharpness.inverse)


class _Loss:
    """The log loss as a function of the inverse temperature, which is convex.

    Each look reads the table once, a few rows at a time: what lies between fits in the cache.
    """

    def __init__(self, z: Floats, truth: npt.NDArray[np.intp], weight: Floats) -> None:
        # the largest of each row is 0, so that no exponential overflows and variances keep their digits
        z -= z.max(axis=1, keepdims=True)
        self._z, self._weight = z, weight
        self._own = z[np.arange(len(z)), truth]

    def least(self) -> float:
        """Where it is least: by Newton's method, kept between two points that lie around it."""
        low, high, here = _LOWEST, _HIGHEST, 1.0
        slope, curve = self._look(here)
        if slope <= 0 and self._look(_HIGHEST)[0] <= 0:
            return _HIGHEST
        if slope > 0 and self._look(_LOWEST)[0] >= 0:
            return _LOWEST
        for _ in range(_PATIENCE):
            low, high = (low, here) if slope > 0 else (here, high)
            there = here - slope / curve if curve else math.inf
            # digits double with every step
            if slope == 0 or abs(there - here) <= 1e-7 * here:
                return there if slope else here
            here = there if low < there < high else math.sqrt(low * high)
            slope, curve = self._look(here)
        return root(lambda inverse: self._look(inverse)[0], low, high, 1e-12)

    def _look(self, inverse: float) -> tuple[float, float]:
        """The first and the second derivative: mean and variance of the logits as the model would draw them."""
        cuts = _cuts(self._z)
        share = -(-len(cuts) // workers())
        parts = [cuts[start : start + share] for start in range(0, len(cuts), share)]
        slopes, curves = zip(*in_parallel([partial(self._add, inverse, part) for part in parts]), strict=True)
        return math.fsum(slopes), math.fsum(curves)

    def _add(self, inverse: float, cuts: Sequence[slice]) -> tuple[float, float]:
        slope = curve = 0.0
        for rows in cuts:
            z = self._z[rows]
            shares = z * inverse
            np.exp(shares, out=shares)
            total = shares.sum(axis=1)
            mean = np.einsum("ij,ij->i", shares, z) / total
            shares *= z
            variance = np.einsum("ij,ij->i", shares, z) / total - mean**2
            slope += float((self._weight[rows] * (mean - self._own[rows])).sum())
            curve += float((self._weight[rows] * variance).sum())
        return slope, curve


def _cuts(table: Floats) -> list[slice]:
    """Rows that are worked on together."""
    size = max(1, _TOGETHER // table.shape[1])
    return [slice(start, start + size) for start in range(0, len(table), size)]


def _fill(rows: ArrayPredictions, table: Floats, part: slice) -> None:
    """The logarithms of some rows: the whole of a row is known, so none has to be made of the odds of its class."""
    odds = rows._log_odds
    if isinstance(odds, LogOdds):
        np.subtract(odds.logits[part], odds.everything[part, None], out=table)
    else:
        with np.errstate(divide="ignore"):
            np.log(rows.probabilities[part], out=table)


def log_probabilities(rows: ArrayPredictions) -> Floats:
    """Logarithms of the probabilities of all classes, from the log-odds where these are known."""
    assert rows.labels is not None
    logarithm = np.empty((len(rows), len(rows.labels)))
    if not rows.has_second and len(rows.labels) > 2:
        fill = [partial(_fill, rows, logarithm[part], part) for part in _cuts(logarithm)]
        in_parallel(fill)
    else:
        for k in range(len(rows.labels)):
            logarithm[:, k] = -np.logaddexp(0, -rows.score_log_odds(k, slice(None)))
    return np.maximum(logarithm, _FLOOR, out=logarithm)


def _shares(z: Floats) -> Floats:
    shares: Floats = np.exp(z - log_sum(z, axis=1)[:, None])
    return shares

r"""Which class a wrong prediction truly is of: a conditional logit model of the errors among reference rows.

Among the classes that were not predicted, the true one is k with a probability proportional to

.. math:: f_{kj} \exp(\gamma_1 \log p_k + \gamma_2 (\log p_k)^2)

where p are the model's own probabilities, j is the predicted class, and f is how much more often than that the
confusion occurred. Without probabilities only f is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.core.table import Floats
from surefoot.predictions import ArrayPredictions

Codes = npt.NDArray[np.intp]

#: A confusion that was never seen may occur: it counts as seen this often, and as expected as often.
_PSEUDO = 1.0
#: Probabilities below which nothing is told apart.
_LEAST = 1e-9
#: What coefficients are before any error is seen, and by how much they may differ, as standard deviations.
_BEFORE, _DEVIATIONS = np.array([1.0, 0.0]), np.array([1.0, 0.5])
_MOST_ERRORS = 20_000


@dataclass(frozen=True)
class Shares:
    """The shares of the classes among the errors of each row, and how they move with each coefficient."""

    values: Floats
    #: (coefficients, rows, classes)
    slopes: Floats
    covariance: Floats
    #: How often each confusion (true, predicted) was seen, and one more.
    known: Floats


class ConfusionModel:
    """What the errors among reference rows say of those of other rows."""

    def __init__(self, reference: ArrayPredictions) -> None:
        assert reference.labels is not None
        self._count = len(reference.labels)
        wrong = ~np.asarray(reference.correct, dtype=bool)
        truth, predicted = reference.codes("truth")[wrong], reference.codes("predicted")[wrong]
        errors = reference[wrong]
        features = self._features(errors, predicted)
        self._coefficients, self._covariance = _BEFORE, np.diag(_DEVIATIONS**2)
        if features.shape[0] and len(truth):
            some = slice(None, None, max(1, len(truth) // _MOST_ERRORS))
            self._coefficients, self._covariance = _fit(features[:, some], truth[some], predicted[some])
        shares = _softmax(self._utility(features, len(truth)), predicted)
        seen = np.zeros((self._count, self._count))
        np.add.at(seen, (truth, predicted), 1.0)
        expected = np.zeros((self._count, self._count))
        np.add.at(expected.T, predicted, shares)
        self.known = seen + _PSEUDO
        self._factors = self.known / (expected + _PSEUDO)

    def shares(self, rows: ArrayPredictions) -> Shares:
        predicted = rows.codes("predicted")
        features = self._features(rows, predicted)
        utility = self._utility(features, len(rows)) + np.log(self._factors)[:, predicted].T
        values = _softmax(utility, predicted)
        if not features.shape[0]:
            return Shares(values, features, np.zeros((0, 0)), self.known)
        means = (values * features).sum(axis=2, keepdims=True)
        return Shares(values, values * (features - means), self._covariance, self.known)

    def _features(self, rows: ArrayPredictions, predicted: Codes) -> Floats:
        """Logarithms of probabilities and their squares, one table each; none where there are no probabilities."""
        if rows.probabilities is None or self._count == 2 or not len(rows):
            return np.zeros((0, len(rows), self._count))
        logs = np.log(np.maximum(rows.probabilities.astype(np.float64), _LEAST))
        logs[np.arange(len(rows)), predicted] = -np.inf
        # of the likeliest of the others, which is 0
        logs -= logs.max(axis=1, keepdims=True)
        logs[np.arange(len(rows)), predicted] = 0.0
        return np.stack([logs, logs**2 / 10])

    def _utility(self, features: Floats, rows: int) -> Floats:
        if not features.shape[0]:
            return np.zeros((rows, self._count))
        total: Floats = np.tensordot(self._coefficients, features, axes=1)
        return total


def _softmax(utility: Floats, predicted: Codes) -> Floats:
    """Shares of all classes but the predicted ones."""
    utility = utility.copy()
    utility[np.arange(len(utility)), predicted] = -np.inf
    if not len(utility):
        return utility
    shares: Floats = np.exp(utility - utility.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _fit(features: Floats, truth: Codes, predicted: Codes) -> tuple[Floats, Floats]:
    """Coefficients of a conditional logit model with a normal prior, and their covariance, by Newton's method."""
    prior = np.diag(1 / _DEVIATIONS**2)
    at = np.arange(len(truth))
    chosen = features[:, at, truth].sum(axis=1)

    def loss(values: Floats) -> float:
        utility = np.tensordot(values, features, axes=1)
        utility[at, predicted] = -np.inf
        top = utility.max(axis=1)
        total = top + np.log(np.exp(utility - top[:, None]).sum(axis=1))
        away = values - _BEFORE
        return float(total.sum() - values @ chosen + away @ prior @ away / 2)

    def curve(values: Floats) -> tuple[Floats, Floats]:
        shares = _softmax(np.tensordot(values, features, axes=1), predicted)
        means = np.einsum("nk,fnk->fn", shares, features)
        second = np.einsum("fnk,gnk->fg", shares * features, features) - means @ means.T
        return means.sum(axis=1) - chosen + prior @ (values - _BEFORE), second + prior

    values: Floats = _BEFORE
    here = loss(values)
    for _ in range(50):
        slope, bend = curve(values)
        step = -np.linalg.solve(bend, slope)
        while (there := loss(values + step)) > here and np.abs(step).max() > 1e-10:
            step = step / 2
        if there > here:
            break
        gained, here, values = here - there, there, values + step
        if gained <= 1e-10 * (1 + abs(here)):
            break
    covariance: Floats = np.asarray(np.linalg.inv(curve(values)[1]), dtype=np.float64)
    return values, covariance

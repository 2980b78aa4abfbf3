r"""How probable each possible label of a row is, learnt from rows whose labels are known.

The calibrator says how likely a prediction is to be right. A safe calibrator says less than that on purpose, and one
curve for all classes misses that some are predicted worse. So a logistic regression of correctness on the reference
starts from the calibrator's log-odds, and moves away from them as far as the reference rows demand:

.. math:: \operatorname{logit} P(\text{right}) = \operatorname{logit} \hat c + \beta^\top x

x holds 1, the stated log-odds and the stated confidence, so that on the reference the expected accuracy, cwA, log loss
and Brier score are the observed ones; bends of the curve, where rows are many; and the same for each predicted class.
All are shrunk towards 0 as a normal prior would. Which other class a wrong prediction is of is a model of its own
(:mod:`surefoot.decisions.confusions`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot._stats.logistic import expit
from surefoot.core.table import Floats
from surefoot.decisions.confusions import Codes, ConfusionModel, Shares
from surefoot.predictions import ArrayPredictions

#: Log-odds beyond which nothing is told apart.
_FARTHEST = 30.0
#: Prior standard deviations: of the level, of the shape of the curve, of a class's own level and of its own shape.
_LEVEL, _SHAPE, _CLASS_LEVEL, _CLASS_SHAPE = 3.0, 1.0, 1.0, 0.5
#: Predicted classes that may have their own curve, and how many rows each needs.
_MOST_CLASSES, _FEWEST_ROWS = 60, 20
#: Errors for each bend of the curve, and bends at most.
_ERRORS_A_BEND, _MOST_BENDS = 50, 8


@dataclass(frozen=True)
class Outcomes:
    """For rows without labels: how likely each prediction is to be right, and whose class it is otherwise.

    ``shares`` are those of the other classes among the errors of a row; None where classes are not known.
    ``features`` and ``covariance`` say how the log-odds of being right may be off.
    """

    rows: ArrayPredictions
    right: Floats
    shares: Shares | None
    predicted: Codes | None
    features: Floats
    covariance: Floats
    #: How many reference rows of the rarer kind, right or wrong, all this rests on; and rows of the rarest class.
    telling: float
    rarest: float

    @property
    def wrong(self) -> Floats:
        return 1 - self.right

    @property
    def table(self) -> Floats:
        """The probability of each class in each row."""
        assert self.shares is not None
        assert self.predicted is not None
        table: Floats = self.shares.values * self.wrong[:, None]
        table[np.arange(len(table)), self.predicted] = self.right
        return table


class OutcomeModel:
    """What reference rows say of the outcomes of others."""

    def __init__(self, reference: ArrayPredictions, fitted: Floats) -> None:
        """``fitted`` are the corrected confidences of the reference rows."""
        self.labels = reference.labels if reference.truth is not None else None
        right = reference.correct.astype(np.float64)
        self.telling = float(min(right.sum(), len(right) - right.sum()))
        lines = _lines(reference)
        self._centres, self._scales = lines.mean(axis=0), np.array([_scale(line) for line in lines.T])
        # beyond what the reference shows, rows are taken for the most extreme ones that it has
        self._least, self._most = lines.min(axis=0), lines.max(axis=0)
        # nor is any outcome taken to be likelier, or less likely, than so many rows can show
        least = 1 / (len(right) + 2)
        fitted = np.clip(fitted, least, 1 - least)
        self._range = float(fitted.min()), float(fitted.max())
        bends = int(np.clip(np.log2(max(self.telling, 1) / _ERRORS_A_BEND), 0, _MOST_BENDS))
        self._knots = (
            np.unique(np.quantile(lines[:, 0], np.arange(1, bends + 1) / (bends + 1))) if bends else np.zeros(0)
        )
        self.rarest = self.telling
        if self.labels is not None:
            counts = np.bincount(reference.codes("truth"), minlength=len(self.labels))
            self.rarest = float(counts[counts > 0].min())
        self._classes = self._classes_with_rows(reference)
        self._confusions = None if self.labels is None else ConfusionModel(reference)
        features = self._features(reference)
        self._coefficients, self.covariance = _penalised_fit(features, right, logit(fitted))

    def weigh(self, new: ArrayPredictions, corrected: Floats) -> Outcomes:
        """The outcomes of rows without labels, whose confidences the calibrator has ``corrected``."""
        features = self._features(new)
        right = expit(logit(np.clip(corrected, *self._range)) + features @ self._coefficients)
        shares, predicted = None, None
        if self._confusions is not None:
            shares, predicted = self._confusions.shares(new), new.codes("predicted")
        return Outcomes(new, right, shares, predicted, features, self.covariance, self.telling, self.rarest)

    def _classes_with_rows(self, reference: ArrayPredictions) -> list[int]:
        """The predicted classes that have a curve of their own: those with most rows."""
        if self.labels is None:
            return []
        counts = np.bincount(reference.codes("predicted"), minlength=len(self.labels))
        often = [int(k) for k in np.argsort(-counts, kind="stable")[:_MOST_CLASSES] if counts[k] >= _FEWEST_ROWS]
        return often if len(often) > 1 or (often and counts[often[0]] < len(reference)) else []

    def _features(self, rows: ArrayPredictions) -> Floats:
        """What the log-odds of being right may depend on besides the calibrator, each times its prior deviation."""
        stated = np.clip(_lines(rows), self._least, self._most)
        lines = (stated - self._centres) / self._scales
        bends = np.maximum(0, stated[:, :1] - self._knots) / self._scales[0]
        ones = np.ones((len(rows), 1))
        columns = [_LEVEL * ones, _SHAPE * lines, _SHAPE * bends]
        if self._classes:
            codes = rows.codes("predicted")
            assert self.labels is not None
            # two classes may each have their own curve; of many, each has its own level and slope
            shape = np.concatenate([lines[:, :2], bends], axis=1) if len(self.labels) == 2 else lines[:, :1]
            for k in self._classes:
                is_own = (codes == k)[:, None]
                columns += [_CLASS_LEVEL * is_own, _CLASS_SHAPE * shape * is_own]
        return np.concatenate(columns, axis=1)


def logit(p: Floats) -> Floats:
    """Log-odds, cut where nothing is told apart any more."""
    with np.errstate(divide="ignore"):
        odds: Floats = np.clip(np.log(p) - np.log1p(-p), -_FARTHEST, _FARTHEST)
    return odds


def _log_odds(rows: ArrayPredictions) -> Floats:
    """The log-odds of the stated confidence."""
    with np.errstate(divide="ignore"):
        stated = np.log(rows.confidence_of(slice(None))) - np.log(rows.doubt)
    odds: Floats = np.clip(stated, -_FARTHEST, _FARTHEST)
    return odds


def _lines(rows: ArrayPredictions) -> Floats:
    """The stated log-odds, the confidence and, of several classes, how the doubt is shared among the others."""
    columns = [_log_odds(rows), rows.confidence_of(slice(None))]
    if rows.probabilities is not None and rows.probabilities.ndim == 2 and rows.probabilities.shape[1] > 2:
        others = rows.probabilities.astype(np.float64)
        others[np.arange(len(rows)), rows.codes("predicted")] = 0
        total = others.sum(axis=1)
        columns.append(others.max(axis=1) / np.where(total > 0, total, 1))
    return np.stack(columns, axis=1)


def _scale(values: Floats) -> float:
    """The spread of a column; 1 where it does not vary, so that the column is 0."""
    spread = float(values.std())
    return spread if spread > 1e-9 else 1.0


def _penalised_fit(features: Floats, target: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Coefficients with a standard normal prior each, and their covariance, by Newton's method."""
    coefficients = np.zeros(features.shape[1])
    ridge = np.eye(features.shape[1])

    def loss(values: Floats) -> float:
        z = offset + features @ values
        return float((np.logaddexp(0, z) - target * z).sum() + values @ values / 2)

    here = loss(coefficients)
    for _ in range(50):
        p = expit(offset + features @ coefficients)
        slope = features.T @ (p - target) + coefficients
        curve = (features * (p * (1 - p))[:, None]).T @ features + ridge
        step = -np.linalg.solve(curve, slope)
        while (there := loss(coefficients + step)) > here and np.abs(step).max() > 1e-10:
            step = step / 2
        if there > here:
            break
        gained, here, coefficients = here - there, there, coefficients + step
        if gained <= 1e-10 * (1 + abs(here)):
            break
    p = expit(offset + features @ coefficients)
    curve = (features * (p * (1 - p))[:, None]).T @ features + ridge
    return coefficients, np.linalg.inv(curve)

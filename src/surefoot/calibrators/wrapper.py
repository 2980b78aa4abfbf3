"""A classifier together with its calibrator, as one estimator of scikit-learn's kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from surefoot.calibrators.calibrator import Calibrator
from surefoot.calibrators.registry import METHODS
from surefoot.core.table import Floats
from surefoot.predictions.base import border_of


class Calibrated(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are corrected by rows it has not seen.

    ``method`` is a calibrator or the name of one. A classifier inside scikit-learn's ``FrozenEstimator`` is taken as it
    is, and all rows given to :meth:`fit` go to the calibrator: then the guarantee of a safe one holds to the letter.
    Otherwise the calibrator is fitted to the probabilities that ``cv`` folds predict for each other, and the classifier
    to all rows. Weights go to the classifier, and to calibrators that take them.

    :meth:`predict` follows the corrected probabilities. What is guaranteed of a safe calibrator is the confidence in
    the classifier's own decision, ``estimator_.predict(X)``: the two differ where little confidence is left.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = make_classification(600, random_state=0)
    >>> model = Calibrated(GaussianNB(), "SafePlatt").fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 2)
    """

    def __init__(self, estimator: Any, method: str | Calibrator = "SafePlatt", *, cv: int = 5) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Calibrated:
        """Fit classifier and calibrator."""
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
            if not sample_weight.any():
                raise ValueError("sample_weight is zero on every row; no weight would count.")
            sample_weight = border_of(sample_weight).weight(sample_weight, len(sample_weight))
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_ = self.estimator
            check_classification_targets(y)
            table, truth, weight = self.estimator.predict_proba(X), np.asarray(y), sample_weight
        else:
            X, y = validate_data(self, X, y, accept_sparse=True, dtype=None, ensure_all_finite=False)
            check_classification_targets(y)
            truth, weight = y, sample_weight
            classes, counts = np.unique(y, return_counts=True)
            if len(classes) < 2:
                raise ValueError(f"y holds one class only, {classes[0]!r}; a classifier needs two or more.")
            if counts.min() < 2:
                raise ValueError(
                    f"y holds one row of class {classes[counts.argmin()]!r}; calibration needs two or more."
                )
            folds = StratifiedKFold(min(self.cv, int(counts.min())), shuffle=True, random_state=0)
            given = {} if sample_weight is None else {"sample_weight": sample_weight}
            if given and not has_fit_parameter(self.estimator, "sample_weight"):
                given = {}
            table = cross_val_predict(self.estimator, X, y, cv=folds, method="predict_proba", params=given)
            self.estimator_ = clone(self.estimator).fit(X, y, **given)
        self.classes_ = self.estimator_.classes_
        self.calibrator_ = self._calibrator()
        taken = weight if self.calibrator_.takes_weights else None
        self.calibrator_.fit(table, _codes(truth, self.classes_), taken, labels=list(range(len(self.classes_))))
        return self

    def _calibrator(self) -> Calibrator:
        if isinstance(self.method, Calibrator):
            if self.method.from_logits:
                raise ValueError("method takes logits, but classifiers give probabilities; leave out from_logits.")
            made: Calibrator = clone(self.method)
            return made
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; there are {', '.join(METHODS)}.")
        return METHODS[self.method]()

    def predict_proba(self, X: Any) -> Floats:
        """Corrected probabilities, a column a class."""
        check_is_fitted(self)
        return self.calibrator_.predict_proba(self.estimator_.predict_proba(self._check(X)))

    def predict(self, X: Any) -> Any:
        """The class of the largest corrected probability."""
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _check(self, X: Any) -> Any:
        if isinstance(self.estimator_, FrozenEstimator):
            return X
        return validate_data(self, X, accept_sparse=True, dtype=None, ensure_all_finite=False, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        from sklearn.utils import get_tags

        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _codes(values: Any, classes: Any) -> Any:
    """Positions among the classes, which may be of any kind."""
    order = np.argsort(classes)
    place = order[np.searchsorted(classes, values, sorter=order).clip(max=len(classes) - 1)]
    foreign = classes[place] != values
    if foreign.any():
        row = int(np.argmax(foreign))
        raise ValueError(f"y[{row}] is {values[row]!r}, which is no class of the classifier: {classes.tolist()!r}.")
    return place

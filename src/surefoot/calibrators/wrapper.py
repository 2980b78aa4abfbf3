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
from surefoot.predictions.borders import border_of


class Calibrated(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier together with its calibrator, as one estimator.

    A classifier inside scikit-learn's ``FrozenEstimator`` is used as it is, and all rows passed to :meth:`fit` go to
    the calibrator; then the guarantee of a safe calibrator holds exactly. Otherwise the calibrator is fitted to
    cross-validated probabilities, and the classifier to all rows.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``predict_proba``, or a fitted one inside ``FrozenEstimator``.
    method : str or Calibrator, default="SafePlatt"
        A calibrator, or the name of one in ``surefoot.calibrators.METHODS``.
    cv : int, default=5
        The number of cross-validation folds; not used with ``FrozenEstimator``.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    calibrator_ : Calibrator
        The fitted calibrator.
    classes_ : numpy.ndarray of shape (n_classes,)
        The classes.

    Notes
    -----
    :meth:`predict` follows the corrected probabilities. The guarantee of a safe calibrator is about the confidence in
    the classifier's own decision, ``estimator_.predict(X)``; the two may differ where the confidence is low.

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
        """Fit the classifier and the calibrator.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The features.
        y : array-like of shape (n,)
            The true labels, of two classes or more.
        sample_weight : array-like of shape (n,), optional
            Passed to the classifier if it takes weights, and to the calibrator if it does.

        Returns
        -------
        Calibrated
            The estimator itself.

        Raises
        ------
        ValueError
            If ``y`` holds one class only, one row of a class, or a class that a frozen classifier does not know.
        """
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight, dtype=np.float64)
            if not sample_weight.any():
                raise ValueError("sample_weight is zero on every row; at least one row needs a positive weight.")
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
                raise ValueError("method expects logits, but classifiers return probabilities; leave out from_logits.")
            made: Calibrator = clone(self.method)
            return made
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; it should be a calibrator or one of {', '.join(METHODS)}.")
        return METHODS[self.method]()

    def predict_proba(self, X: Any) -> Floats:
        """Return corrected probabilities.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The features.

        Returns
        -------
        numpy.ndarray of shape (n, n_classes)
            A column for each of ``classes_``.
        """
        check_is_fitted(self)
        return self.calibrator_.predict_proba(self.estimator_.predict_proba(self._check(X)))

    def predict(self, X: Any) -> Any:
        """Return the class of the largest corrected probability.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The features.

        Returns
        -------
        numpy.ndarray of shape (n,)
            The predicted labels.
        """
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
        raise ValueError(f"y[{row}] is {values[row]!r}, which is not a class of the classifier: {classes.tolist()!r}.")
    return place

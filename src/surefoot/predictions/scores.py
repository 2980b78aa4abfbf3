"""How predictions are made of scores: numbers that order rows, class by class, and need be no probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.predictions.borders import border_of

if TYPE_CHECKING:
    from surefoot.predictions.base import Predictions


class OfScores:
    """What :class:`Predictions` of scores are made by."""

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        scores: Any,
        *,
        labels: Any = None,
        y_pred: Any = None,
        confidence: Any = None,
    ) -> Predictions:
        """Make predictions from true labels and a score of each class, where scores need not sum to 1.

        For models that score each class on its own, such as one against the rest. Rankings (:func:`auc`,
        :func:`cw_auc`, :func:`roc_curve`) order the rows of each class by its own score, so that of two classes the
        average is over both; everything else is about the confidence in the predicted class. What needs probabilities
        of all classes is not available.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels: booleans, integers or strings.
        scores : array-like of shape (n, K)
            One column for each of ``labels``, of numbers from 0 to 1.
        labels : sequence, optional
            The class of each column. By default those that the columns of a frame are named after; else 0, 1, ... if
            ``y_true`` holds such integers, else the sorted labels.
        y_pred : array-like of shape (n,), optional
            Predicted labels; by default the class of the largest score, of equal ones the first.
        confidence : array-like of shape (n,), optional
            The confidence in each predicted label, from 0 to 1; by default its score.

        Returns
        -------
        Predictions
            The rows, checked.

        Raises
        ------
        InvalidPredictions
            If a value cannot be right, or the scores are tensors on an accelerator.

        Examples
        --------
        >>> from surefoot import Predictions, auc
        >>> p = Predictions.from_scores([0, 1, 1], [[0.6, 0.4], [0.3, 0.3], [0.2, 0.9]])
        >>> p.predicted.tolist(), p.confidence.tolist()
        ([0, 0, 1], [0.6, 0.3, 0.9])
        >>> auc(p, average=None).tolist()
        [1.0, 0.5]
        """
        return border_of(y_true, scores, y_pred, confidence).from_scores(
            y_true, scores, labels=labels, y_pred=y_pred, confidence=confidence
        )

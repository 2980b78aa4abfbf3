"""The classical metrics of a confusion matrix, weighted by confidence.

Each is a formula of (tp, fp, fn, tn) for one class against the rest, given numbers or arrays; its weighted twin puts
confidence in the place of counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from inspect import cleandoc
from typing import Any, Protocol, Unpack

import numpy as np

from surefoot.core.metric import Metric, undefined
from surefoot.core.table import Floats
from surefoot.metrics.averages import Average, average_classes
from surefoot.metrics.confusion import Confusion, Formula, asked_labels, confusion_metric
from surefoot.predictions import as_predictions
from surefoot.predictions.arguments import Columns, takes_predictions

_ARGUMENTS = """
Parameters
----------
average : {"macro", "micro", "weighted"} or None, default "macro"
    ``"macro"`` is the mean over classes, ``"weighted"`` the mean weighted by the confidence on the true samples of each
    class, ``"micro"`` sums the cells over classes first, and ``None`` gives an array with one value for each class. A
    class with nothing to divide by is nan with a warning, and left out of the mean.
labels : sequence, optional
    Which classes, in which order. With columns of probabilities, the class of each column.

Returns
-------
float, or array of shape (K,) with ``average=None``
    The value of the metric; higher is better.
"""


class Twin(Protocol):
    """A confidence-weighted metric of a confusion matrix, as a function."""

    __name__: str

    def __call__(
        self,
        x: Any = None,
        second: Any = None,
        third: Any = None,
        /,
        *,
        average: Average = "macro",
        **columns: Unpack[Columns],
    ) -> float | Floats: ...


def cw_metric(formula: Formula, *, whole: Callable[[Confusion], Any] | None = None) -> Twin:
    """Make a confidence-weighted metric of any formula of (tp, fp, fn, tn).

    In the cells of the confusion matrix each sample counts by its confidence instead of 1.

    Parameters
    ----------
    formula : callable
        ``formula(tp, fp, fn, tn)``. It is called with NumPy arrays, one value for each class against the rest (with
        sums, for ``average="micro"``); what it returns is averaged over classes. If it does not take arrays, as with an
        ``if``, it is called with the numbers of one class after the other.
    whole : callable, optional
        ``whole(confusion)`` computes the macro form from the whole :class:`Confusion` instead.

    Returns
    -------
    callable
        A function with the arguments of :func:`cw_precision`, named ``cw_`` and the name of the formula.

    Examples
    --------
    >>> cw_prevalence = cw_metric(lambda tp, fp, fn, tn: (tp + fn) / (tp + fp + fn + tn))
    >>> cw_prevalence([0, 1, 1], [0, 1, 0], [0.5, 0.75, 0.25], average=None).round(3).tolist()
    [0.333, 0.667]
    """
    name = f"cw_{getattr(formula, '__name__', 'formula').strip('<>')}"

    def twin(
        x: Any = None,
        second: Any = None,
        third: Any = None,
        /,
        *,
        average: Average = "macro",
        **columns: Unpack[Columns],
    ) -> float | Floats:
        predictions = as_predictions(x, second, third, columns, function=name, labels_choose=True)
        chosen = asked_labels(predictions, columns.get("labels"))
        metric = confusion_metric(name, formula, average, chosen, whole=whole)
        result = metric(predictions)
        return result if isinstance(result, np.ndarray) else float(result)

    twin.__name__ = twin.__qualname__ = name
    text = cleandoc(formula.__doc__ or f"Confidence-weighted {name[3:]}.")
    told, heading, examples = text.partition("Examples\n--------\n")
    twin.__doc__ = f"{told.rstrip()}\n{_ARGUMENTS}\n{heading}{examples}".rstrip()
    return takes_predictions(twin)


def _ratio(part: Any, base: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.equal(base, 0), np.nan, np.divide(part, base))


def precision(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted precision: of the confidence in predictions of a class, the share that is correct.

    .. math:: \mathrm{cwTP} / (\mathrm{cwTP} + \mathrm{cwFP})

    Examples
    --------
    >>> round(cw_precision([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.8333
    """
    return _ratio(tp, tp + fp)


def recall(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted recall: of the confidence on samples of a class, the share that predicts it.

    .. math:: \mathrm{cwTP} / (\mathrm{cwTP} + \mathrm{cwFN})

    Examples
    --------
    >>> round(cw_recall([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.875
    """
    return _ratio(tp, tp + fn)


def specificity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted specificity: of the confidence on other classes' samples, the share that avoids this class.

    .. math:: \mathrm{cwTN} / (\mathrm{cwTN} + \mathrm{cwFP})

    Examples
    --------
    >>> round(cw_specificity([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.875
    """
    return _ratio(tn, tn + fp)


def npv(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted negative predictive value: of the confidence in other classes, the share not of this one.

    .. math:: \mathrm{cwTN} / (\mathrm{cwTN} + \mathrm{cwFN})

    Examples
    --------
    >>> round(cw_npv([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.8333
    """
    return _ratio(tn, tn + fn)


@cache
def fbeta(beta: float) -> Formula:
    """The formula of F-beta for one beta."""
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta < math.inf:
        raise ValueError(f"beta is {beta!r}; it should be a number above 0.")
    square = beta**2

    def formula(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        return _ratio((1 + square) * tp, (1 + square) * tp + square * fn + fp)

    formula.__name__ = "fbeta"
    favoured = "recall" if beta > 1 else "precision"
    formula.__doc__ = f"Weighted harmonic mean of precision and recall; beta {beta:g} favours {favoured}."
    return formula


def f1(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted F1: the harmonic mean of precision and recall.

    .. math:: 2\,\mathrm{cwTP} / (2\,\mathrm{cwTP} + \mathrm{cwFP} + \mathrm{cwFN})

    Examples
    --------
    >>> round(cw_f1([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.8286
    """
    return fbeta(1.0)(tp, fp, fn, tn)


def jaccard(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted Jaccard index: of the confidence where a class is true or predicted, the share of both.

    .. math:: \mathrm{cwTP} / (\mathrm{cwTP} + \mathrm{cwFP} + \mathrm{cwFN})

    Examples
    --------
    >>> round(cw_jaccard([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.7083
    """
    return _ratio(tp, tp + fp + fn)


def balanced_accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted balanced accuracy: the mean recall, so that rare classes count as much as common ones.

    .. math:: \tfrac12 (\mathrm{cwRecall} + \mathrm{cwSpecificity})

    With ``average="macro"`` the mean of :func:`cw_recall` over the classes that occur, as in scikit-learn; with None
    the mean of recall and specificity of each class against the rest.

    Examples
    --------
    >>> round(cw_balanced_accuracy([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.875
    """
    return (recall(tp, fp, fn, tn) + specificity(tp, fp, fn, tn)) / 2


def mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted Matthews correlation between true and predicted labels; 0 is chance.

    .. math:: \frac{\mathrm{cwTP}\,\mathrm{cwTN} - \mathrm{cwFP}\,\mathrm{cwFN}}
        {\sqrt{(\mathrm{cwTP}+\mathrm{cwFP})(\mathrm{cwTP}+\mathrm{cwFN})
        (\mathrm{cwTN}+\mathrm{cwFP})(\mathrm{cwTN}+\mathrm{cwFN})}}

    With ``average="macro"`` the coefficient of the whole matrix, as in scikit-learn; with None one class against the
    rest. nan, with a warning, if only one class is true or predicted (scikit-learn returns 0).

    Examples
    --------
    >>> round(cw_mcc([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.7071
    """
    # roots one by one: their product stays finite where the product of the sums would not
    scale = np.sqrt(tp + fp) * np.sqrt(tp + fn) * np.sqrt(tn + fp) * np.sqrt(tn + fn)
    return _ratio(tp * tn - fp * fn, scale)


def kappa(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    r"""Confidence-weighted Cohen's kappa: agreement of true and predicted labels beyond chance; 0 is chance.

    .. math:: \frac{p_o - p_e}{1 - p_e}

    With ``average="macro"`` the coefficient of the whole matrix, as in scikit-learn; with None one class against the
    rest. nan, with a warning, if only one class occurs.

    Examples
    --------
    >>> round(cw_kappa([0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5]), 4)
    0.6667
    """
    return _ratio(2 * (tp * tn - fp * fn), (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))


def _mean_recall(confusion: Confusion) -> Any:
    recalls = recall(confusion.tp, confusion.fp, confusion.fn, confusion.tn)
    return average_classes(recalls, confusion.tp + confusion.fn, "macro", confusion.labels)


def _whole_mcc(confusion: Confusion) -> Any:
    tp, fp, fn, tn = confusion.among
    # sums over classes of what is never negative where it is not; totals less sums of squares would cancel
    spread = math.sqrt((tp + fp) @ (tn + fn)) * math.sqrt((tp + fn) @ (tn + fp))
    return float((tp * tn - fp * fn).sum()) / spread if spread else undefined("only one class is true or predicted")


def _whole_kappa(confusion: Confusion) -> Any:
    tp, fp, fn, tn = confusion.among
    beyond_chance = float((tp + fn) @ (tn + fn))
    return float((tp * tn - fp * fn).sum()) / beyond_chance if beyond_chance else undefined("only one class occurs")


cw_precision = cw_metric(precision)
cw_recall = cw_metric(recall)
cw_specificity = cw_metric(specificity)
cw_npv = cw_metric(npv)
cw_f1 = cw_metric(f1)
cw_jaccard = cw_metric(jaccard)
cw_balanced_accuracy = cw_metric(balanced_accuracy, whole=_mean_recall)
cw_mcc = cw_metric(mcc, whole=_whole_mcc)
cw_kappa = cw_metric(kappa, whole=_whole_kappa)


@takes_predictions
def cw_fbeta(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    beta: float = 2.0,
    average: Average = "macro",
    **columns: Unpack[Columns],
) -> float | Floats:
    r"""Confidence-weighted F-beta: a weighted harmonic mean of precision and recall.

    .. math:: \frac{(1+\beta^2)\,\mathrm{cwTP}}{(1+\beta^2)\,\mathrm{cwTP} + \beta^2\,\mathrm{cwFN} + \mathrm{cwFP}}

    Parameters
    ----------
    beta : float, default 2.0
        How many times as much recall counts as precision.
    average : {"macro", "micro", "weighted"} or None, default "macro"
        As in :func:`cw_precision`.

    Returns
    -------
    float, or array of shape (K,) with ``average=None``
        From 0 to 1; higher is better.

    Examples
    --------
    >>> cw_fbeta([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], [0.5, 0.5, 1.0, 0.5, 0.5], beta=0.5)
    0.625
    """
    return cw_metric(fbeta(beta))(x, second, third, average=average, **columns)


def _macro_metric(
    formula: Formula, title: str, whole: Callable[[Confusion], Any] | None = None, lowest: float = 0.0
) -> Metric:
    """The macro form, as it stands in ``ALL``; its notation is that of the formula's docstring."""
    notation = (formula.__doc__ or "").partition(".. math::")[2].partition("\n\n")[0]
    name = f"cw_{formula.__name__}"
    summary = cleandoc(formula.__doc__ or "").partition("\n")[0]
    words = summary.partition(": ")[2] or summary
    reading = words[:1].upper() + words[1:]
    return confusion_metric(
        name,
        formula,
        whole=whole,
        title=title,
        reading=reading,
        notation=" ".join(notation.split()),
        lowest=lowest,
    )


CW_PRECISION = _macro_metric(precision, "Confidence-weighted precision")
CW_RECALL = _macro_metric(recall, "Confidence-weighted recall")
CW_SPECIFICITY = _macro_metric(specificity, "Confidence-weighted specificity")
CW_NPV = _macro_metric(npv, "Confidence-weighted negative predictive value")
CW_F1 = _macro_metric(f1, "Confidence-weighted F1")
CW_FBETA = _macro_metric(fbeta(2.0), "Confidence-weighted F-beta, beta 2")
CW_JACCARD = _macro_metric(jaccard, "Confidence-weighted Jaccard index")
CW_BALANCED_ACCURACY = _macro_metric(balanced_accuracy, "Confidence-weighted balanced accuracy", _mean_recall)
CW_MCC = _macro_metric(mcc, "Confidence-weighted Matthews correlation", _whole_mcc, -1.0)
CW_KAPPA = _macro_metric(kappa, "Confidence-weighted Cohen's kappa", _whole_kappa, -1.0)

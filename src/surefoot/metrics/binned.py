"""Calibration error in bins of confidence."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, Unpack

import numpy as np

from surefoot._io.arguments import check_whole
from surefoot.core.expression import evaluate, program
from surefoot.core.keys import EXACT_CONFIDENCE, HALF, Bins, Closed, Codes, Key, PredictedBins
from surefoot.core.metric import Metric
from surefoot.core.table import Floats
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.core.view import OF_PREDICTIONS
from surefoot.engines.rows import OPERATIONS
from surefoot.metrics.function import measure
from surefoot.metrics.terms import WEIGHT
from surefoot.predictions.arguments import Columns, takes_predictions


def check_bins(n_bins: Any, closed: Any = "right") -> None:
    check_whole("n_bins", n_bins)
    if not isinstance(closed, str) or closed not in ("right", "left"):
        raise ValueError(f"closed is {closed!r}; it should be 'right', bins (a, b], or 'left', bins [a, b).")


def equal_width(n_bins: int, closed: Closed) -> Bins:
    """Bins of equal width on [0, 1]. Inner edges are compared, not multiplied out: 0.6 falls where linspace puts it."""
    edges = tuple(np.linspace(0, 1, int(n_bins) + 1)[1:-1].tolist())
    return Bins("confidence", edges, closed, f"{n_bins} bins of confidence closed on the {closed}")


def bin_codes(bins: Bins, values: Floats) -> Codes:
    """The bin of each value, by the bins' own rule."""
    (place,) = evaluate(program([bins.digits[0].place]), lambda _: values, OPERATIONS)
    codes: Codes = place.astype(np.int64)
    return codes


def gap_terms(key: Key) -> tuple[Term, Term]:
    """Weight, and stated accuracy less seen accuracy, under a key of confidence."""
    return (
        Term(f"weight by {key.name}", lambda row: row.weight, key),
        Term(f"gap by {key.name}", lambda row: row.weight * (row.confidence - row.correct), key),
    )


def _read(t: Tally, terms: tuple[Term, ...]) -> tuple[Floats, Floats]:
    """The weight and the gap under every code."""
    weight, gap = (t.table(term.key).totals[term.name].value for term in terms)
    return weight, gap


@cache
def ece_metric(n_bins: int = 15, closed: Closed = "right") -> Metric:
    """Expected calibration error in this many bins of equal width."""
    _, gap = gap_terms(equal_width(n_bins, closed))

    def formula(t: Tally) -> float:
        return float(np.abs(t.table(gap.key).totals[gap.name].value).sum() / t[WEIGHT])

    return Metric(
        "ece",
        (WEIGHT, gap),
        formula,
        title=f"Expected calibration error, {n_bins} bins",
        reading="Mean gap between confidence and accuracy. Small gaps near certainty, where risk lives, hardly count.",
        notation=r"\sum_m \frac{|B_m|}{N} \bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Guo, Pleiss, Sun and Weinberger, ICML (2017)",
    )


@cache
def top_label_ece_metric(
    n_bins: int = 15, closed: Closed = "right", average: Literal["weighted", "macro"] = "weighted"
) -> Metric:
    """Expected calibration error within each predicted class."""
    terms = gap_terms(PredictedBins(equal_width(n_bins, closed)))

    def formula(t: Tally) -> float:
        weight, gap = _read(t, terms)
        if average == "weighted":
            return float(np.abs(gap).sum() / weight.sum())
        _, predicted = np.unique(t.table(terms[0].key).codes >> HALF, return_inverse=True)
        weights, gaps = (np.bincount(predicted, values) for values in (weight, np.abs(gap)))
        return float((gaps[weights > 0] / weights[weights > 0]).mean())

    return Metric(
        "top_label_ece",
        terms,
        formula,
        title=f"Top-label calibration error, {n_bins} bins",
        reading="As ECE within each predicted class: gaps of classes that are over- and underconfident do not cancel.",
        notation=r"\sum_k \sum_m \frac{|B_{km}|}{N} \bigl|\mathrm{acc}(B_{km}) - \mathrm{conf}(B_{km})\bigr|",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Gupta and Ramdas, ICLR (2022)",
        views=OF_PREDICTIONS,
    )


@cache
def mce_metric(n_bins: int = 15, closed: Closed = "right") -> Metric:
    """Maximum calibration error in this many bins of equal width."""
    terms = gap_terms(equal_width(n_bins, closed))

    def formula(t: Tally) -> float:
        weight, gap = _read(t, terms)
        occupied = weight > 0
        return float((np.abs(gap[occupied]) / weight[occupied]).max())

    return Metric(
        "mce",
        terms,
        formula,
        title=f"Maximum calibration error, {n_bins} bins",
        reading="The gap in the worst bin, which is often the one with the fewest samples.",
        notation=r"\max_m \bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Naeini, Cooper and Hauskrecht, AAAI (2015)",
    )


@cache
def equal_mass_ece_metric(n_bins: int = 15) -> Metric:
    """Expected calibration error in this many bins of equal weight."""
    terms = gap_terms(EXACT_CONFIDENCE)

    def formula(t: Tally) -> float:
        weight, gap = _read(t, terms)
        upto = np.cumsum(weight)
        # rows of equal confidence stay together, in the bin where the last of them falls
        # (a group that ends at a cut belongs below it, also when its sum of weights has rounded up)
        cuts = np.arange(1, n_bins) * upto[-1] * (1 + 1e-12)
        bins = np.searchsorted(cuts, upto * n_bins, side="left")
        return float(np.abs(np.bincount(bins, gap)).sum() / upto[-1])

    return Metric(
        "equal_mass_ece",
        terms,
        formula,
        title=f"Expected calibration error, {n_bins} bins of equal mass",
        reading="As ECE, with the same number of samples in each bin.",
        notation=r"\sum_m \frac{|B_m|}{N} \bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|",
        ideal=0.0,
        direction="lower",
        range=(0.0, 1.0),
        reference="Nguyen and O'Connor, EMNLP (2015); also called ACE",
    )


@takes_predictions
def ece(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 15,
    closed: Closed = "right",
    **columns: Unpack[Columns],
) -> float:
    r"""Expected calibration error: the mean gap between confidence and accuracy over bins of equal width.

    Lower is better. A low value does not show that a model is safe: ECE can be below 1/N while CSR is as large as you
    like.

    Parameters
    ----------
    n_bins : int, default=15
        The number of bins.
    closed : {"right", "left"}, default="right"
        Which edge belongs to a bin: ``"right"`` for (a, b] as in Guo et al. and scikit-learn, ``"left"`` for [a, b) as
        in netcal. 0 belongs to the first bin and 1 to the last either way.

    Returns
    -------
    float
        From 0 to 1; 0 if confidence equals accuracy in every bin.

    See Also
    --------
    equal_mass_ece : bins with equal numbers of samples.
    smooth_ece : no bins.
    csr : sees errors near certainty, which ECE hardly counts.

    Notes
    -----
    .. math:: \mathrm{ECE} = \sum_m \frac{|B_m|}{N} \bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|

    Empty bins add nothing.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, On calibration of modern neural networks, ICML (2017).

    Examples
    --------
    >>> ece([1, 1], [1, 0], [0.75, 0.25], n_bins=2)
    0.25
    """
    check_bins(n_bins, closed)
    metric = ece_metric(int(n_bins), closed)
    return measure(metric, x, second, third, columns)


@takes_predictions
def top_label_ece(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 15,
    closed: Closed = "right",
    average: Literal["weighted", "macro"] = "weighted",
    **columns: Unpack[Columns],
) -> float:
    r"""Top-label calibration error: the mean gap between confidence and accuracy within each predicted class.

    Lower is better. It is never below :func:`ece` with the same bins, where the gaps of one class may hide those of
    another.

    Parameters
    ----------
    n_bins : int, default=15
        The number of bins.
    closed : {"right", "left"}, default="right"
        Which edge belongs to a bin: ``"right"`` for (a, b] as in Guo et al. and scikit-learn, ``"left"`` for [a, b) as
        in netcal. 0 belongs to the first bin and 1 to the last either way.
    average : {"weighted", "macro"}, default="weighted"
        How classes count: by how often they are predicted (Gupta and Ramdas), or equally, over the classes that are
        predicted, as in MAPIE.

    Returns
    -------
    float
        From 0 to 1; 0 if confidence equals accuracy in every bin of every class.

    Notes
    -----
    .. math:: \sum_k \sum_m \frac{|B_{km}|}{N} \bigl|\mathrm{acc}(B_{km}) - \mathrm{conf}(B_{km})\bigr|

    where :math:`B_{km}` are the samples of bin m for which class k is predicted.

    References
    ----------
    Gupta and Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR (2022).

    Examples
    --------
    >>> y_true, y_pred = ["a", "a", "b", "a"], ["a", "a", "b", "b"]
    >>> confidence = [0.75, 0.75, 0.75, 0.75]
    >>> ece(y_true, y_pred, confidence), top_label_ece(y_true, y_pred, confidence)
    (0.0, 0.25)
    """
    check_bins(n_bins, closed)
    if average not in ("weighted", "macro"):
        raise ValueError(f"average is {average!r}; it should be 'weighted' or 'macro'.")
    metric = top_label_ece_metric(int(n_bins), closed, average)
    return measure(metric, x, second, third, columns)


@takes_predictions
def mce(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 15,
    closed: Closed = "right",
    **columns: Unpack[Columns],
) -> float:
    r"""Maximum calibration error: the largest gap between confidence and accuracy in any occupied bin.

    Lower is better. A single sample that is alone in its bin can decide it.

    Parameters
    ----------
    n_bins : int, default=15
        The number of bins.
    closed : {"right", "left"}, default="right"
        Which edge belongs to a bin: ``"right"`` for (a, b] as in Guo et al. and scikit-learn, ``"left"`` for [a, b) as
        in netcal. 0 belongs to the first bin and 1 to the last either way.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    .. math:: \mathrm{MCE} = \max_m \bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|

    References
    ----------
    Naeini, Cooper and Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI (2015).

    Examples
    --------
    >>> mce([1, 1, 1], [1, 1, 0], [0.75, 0.75, 0.5], n_bins=2)
    0.5
    """
    check_bins(n_bins, closed)
    metric = mce_metric(int(n_bins), closed)
    return measure(metric, x, second, third, columns)


@takes_predictions
def equal_mass_ece(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    n_bins: int = 15,
    **columns: Unpack[Columns],
) -> float:
    r"""Expected calibration error over bins with equal numbers of samples (by weight), also called ACE.

    Lower is better.

    Parameters
    ----------
    n_bins : int, default=15
        The number of bins.

    Returns
    -------
    float
        From 0 to 1; 0 if confidence equals accuracy in every bin.

    Notes
    -----
    .. math:: \sum_m \frac{|B_m|}{N} \bigl|\mathrm{acc}(B_m) - \mathrm{conf}(B_m)\bigr|

    Sample i of N, in order of confidence, is in bin m if :math:`i/N` lies in :math:`((m-1)/M, m/M]`. Samples of equal
    confidence stay together, in the bin of the last of them, so the order of rows does not matter. It needs the rows; a
    :class:`Tally` is not enough.

    References
    ----------
    Nguyen and O'Connor, Posterior calibration and exploratory analysis for natural language processing models, EMNLP
    (2015).

    Examples
    --------
    >>> equal_mass_ece([1, 1], [1, 0], [0.75, 0.25], n_bins=2)
    0.25
    """
    check_bins(n_bins)
    metric = equal_mass_ece_metric(int(n_bins))
    return measure(metric, x, second, third, columns)

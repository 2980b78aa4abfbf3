"""Confidence-weighted selective accuracy: what confident predictions earn, minus what confident errors cost."""

from __future__ import annotations

from functools import cache
from typing import Any, Unpack

from surefoot.core.metric import Metric, Outcome, undefined
from surefoot.core.tally import Tally
from surefoot.core.term import Term
from surefoot.core.view import OF_PREDICTIONS
from surefoot.metrics.function import measure
from surefoot.predictions.arguments import Columns, takes_predictions

_REFERENCE = "Shahnazari et al., arXiv 2505.18622 (2025)"


def _terms(threshold: float) -> tuple[Term, Term, Term]:
    def accepted(row: Any) -> Any:
        return row.weight * ((row.confidence > threshold) + (row.confidence == threshold))

    at = f"confidence from {threshold!r}"
    return (
        Term(f"weight with {at}", accepted),
        Term(f"margin of correct rows, {at}", lambda row: accepted(row) * row.correct * (row.confidence - threshold)),
        Term(f"margin of wrong rows, {at}", lambda row: accepted(row) * row.wrong * (row.confidence - threshold)),
    )


def _metric(name: str, threshold: float, title: str, notation: str, least: float, *, counts_wrong: bool) -> Metric:
    weight, right, wrong = terms = _terms(threshold)

    def formula(t: Tally) -> float | Outcome:
        if not t[weight]:
            return undefined(f"no confidence reaches {threshold}, so nothing is accepted")
        return (t[right] - counts_wrong * t[wrong]) / (1 - threshold) / t[weight]

    return Metric(
        name,
        terms,
        formula,
        title=title,
        about="score",
        reading=(
            f"Mean over samples of confidence {threshold:g} or more: a correct one earns its margin above that"
            + (", an error loses it." if counts_wrong else ", an error counts 0.")
        ),
        notation=notation,
        ideal=1.0,
        direction="higher",
        range=(least, 1.0),
        reference=_REFERENCE,
        views=OF_PREDICTIONS,
    )


@cache
def cwsa_metric(threshold: float = 0.5) -> Metric:
    """CWSA over the rows whose confidence reaches the threshold."""
    notation = r"\frac{1}{|S|} \sum_{i \in S} \frac{c_i - \tau}{1 - \tau} (2 y_i - 1)"
    return _metric("cwsa", threshold, "Confidence-weighted selective accuracy", notation, -1.0, counts_wrong=True)


@cache
def cwsa_plus_metric(threshold: float = 0.5) -> Metric:
    """CWSA+ over the rows whose confidence reaches the threshold."""
    notation = r"\frac{1}{|S|} \sum_{i \in S} \frac{c_i - \tau}{1 - \tau} y_i"
    return _metric(
        "cwsa_plus", threshold, "Confidence-weighted selective accuracy, gains only", notation, 0.0, counts_wrong=False
    )


def check_threshold(threshold: Any) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < 1:
        raise ValueError(f"threshold is {threshold!r}; it should be a number from 0 to below 1, such as 0.5.")
    return float(threshold)


@takes_predictions
def cwsa(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    threshold: float = 0.5,
    **columns: Unpack[Columns],
) -> float:
    r"""Confidence-weighted selective accuracy: correct predictions earn their confidence, errors lose it.

    Higher is better. Only samples whose confidence reaches the threshold count.

    Parameters
    ----------
    threshold : float, default=0.5
        Samples with at least this confidence are accepted; from 0 to below 1.

    Returns
    -------
    float
        From -1 to 1; nan, with a warning, if no sample is accepted.

    See Also
    --------
    cwsa_plus : errors count 0.

    Notes
    -----
    .. math:: \mathrm{CWSA} = \frac{1}{|S|} \sum_{i \in S} \frac{c_i - \tau}{1 - \tau} (2 y_i - 1),
              \quad S = \{i : c_i \ge \tau\}

    The mean is over accepted samples, as in the article; its code averages over all.

    Examples
    --------
    >>> cwsa([1, 1], [1, 0], [1.0, 0.75])
    0.25
    """
    return measure(cwsa_metric(check_threshold(threshold)), x, second, third, columns)


@takes_predictions
def cwsa_plus(
    x: Any = None,
    second: Any = None,
    third: Any = None,
    /,
    *,
    threshold: float = 0.5,
    **columns: Unpack[Columns],
) -> float:
    r"""Confidence-weighted selective accuracy, gains only: as :func:`cwsa`, but errors count 0.

    Higher is better. It does not see how confident errors are.

    Parameters
    ----------
    threshold : float, default=0.5
        Samples with at least this confidence are accepted; from 0 to below 1.

    Returns
    -------
    float
        From 0 to 1; nan, with a warning, if no sample is accepted.

    Notes
    -----
    .. math:: \frac{1}{|S|} \sum_{i \in S} \frac{c_i - \tau}{1 - \tau} y_i

    Examples
    --------
    >>> cwsa_plus([1, 1], [1, 0], [1.0, 0.75])
    0.5
    """
    return measure(cwsa_plus_metric(check_threshold(threshold)), x, second, third, columns)
